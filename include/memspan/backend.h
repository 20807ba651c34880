/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BACKEND_H
#define MEMSPAN_BACKEND_H

#include <memspan/device.h>
#include <memspan/transfer.h>

/** @file backend.h
 * The contract of a backend: one table of functions for one driver.
 *
 * A plug-in is a shared object on MEMSPAN_BACKEND_PATH that exports
 *     const memspan_backend_t *memspan_backend_entry(void);
 * Built-in backends fill the same table. What a backend cannot do is NULL in the table and a clear
 * bit in its devices' capabilities; the library never guesses.
 *
 * Calling rules. open() comes first and once; it must fail, with a reason, where the driver is
 * absent, too old or broken. After it, every function may be called by several threads at once.
 * close() comes last, when nothing else runs. A function that fails calls services->fail() and
 * returns what that returns, so that the caller's record holds the driver's own code and words.
 * A backend changes nothing of the process that its driver's user would notice: the current device
 * or context is left as found.
 *
 * Devices are numbered 0 .. n-1 within a backend (ordinals); MEMSPAN_HOST stands for the host. */

MEMSPAN_BEGIN_DECLS

/** Contract version. A table with another version is refused by name. */
#define MEMSPAN_BACKEND_ABI 1

/** Log levels of services->log. */
enum memspan_log_level {
    MEMSPAN_LOG_ERROR = 0, /**< something asked for was not done */
    MEMSPAN_LOG_WARN  = 1, /**< done, but weaker or slower than asked */
    MEMSPAN_LOG_INFO  = 2, /**< what was found and chosen, once */
    MEMSPAN_LOG_DEBUG = 3, /**< each coarse allocation */
    MEMSPAN_LOG_TRACE = 4  /**< each call */
};

/** What the library offers to a backend. Valid from open() to the end of the process. */
typedef struct memspan_services {
    size_t struct_size;
    /** Record an error of the calling thread and return @p status.
     * @p call: the driver's function; @p native_code, @p native_text: what it said ("" if nothing).
     * @p hint: what would help, or NULL. @p format: what was asked, and what went wrong. */
    memspan_status_t (*fail)(memspan_status_t status, const char *backend, const char *call,
                             long native_code, const char *native_text, const char *hint,
                             const char *format, ...) __attribute__((format(printf, 7, 8)));
    /** Log one line (no newline). */
    void (*log)(enum memspan_log_level level, const char *backend, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
    /** The value in force of a MEMSPAN_* variable ("" when it has none); never NULL. */
    const char *(*option)(const char *name);
    /** Write to standard error what is kept of the block at or near @p address: where it was
     * allocated and freed (MEMSPAN_DEBUG=guard). Takes locks: not for a signal handler. */
    void (*tell)(const void *address);
} memspan_services_t;

/** How the pages of a request are spread over its nodes. */
typedef enum memspan_spread {
    MEMSPAN_SPREAD_ANY = 0,     /**< all in one of the nodes, the first with room */
    MEMSPAN_SPREAD_NEAREST,     /**< near the calling thread, among the nodes */
    MEMSPAN_SPREAD_BLOCKED,     /**< one run of pages a node, equal shares */
    MEMSPAN_SPREAD_INTERLEAVED, /**< page by page, part_size_bytes at a time */
    MEMSPAN_SPREAD_PARTS,       /**< as parts[] says (a memory partitioner) */
    MEMSPAN_SPREAD_TOUCHED      /**< each page near whoever touches it first, among the nodes */
} memspan_spread_t;

enum memspan_request_flag {
    MEMSPAN_REQUEST_PINNED = 1u << 0, /**< must never move or be swapped */
    MEMSPAN_REQUEST_ZEROED =
        1u << 1, /**< zero bytes wanted; say in the block whether it was done */
    MEMSPAN_REQUEST_STRICT = 1u << 2, /**< these nodes or failure */
    MEMSPAN_REQUEST_SHARED = 1u << 3  /**< for ipc_export() and dmabuf_export() */
};

/** One part of a request with MEMSPAN_SPREAD_PARTS. */
typedef struct memspan_part {
    int node;          /**< operating-system number of the NUMA node */
    size_t size_bytes; /**< a multiple of the page size but for the last */
} memspan_part_t;

/** A coarse allocation. Everything is set by the library; sizes are multiples of the page size. */
typedef struct memspan_request {
    size_t struct_size;
    memspan_kind_t kind;
    size_t size_bytes;
    size_t align_bytes;     /**< power of two, at least the page size */
    size_t page_size_bytes; /**< pages wanted; 0: the backend decides */
    unsigned flags;         /**< enum memspan_request_flag */
    int resident_ordinal;   /**< where it should live at first: an ordinal, or MEMSPAN_HOST */
    const int *nodes;       /**< operating-system numbers of NUMA nodes; NULL: any */
    size_t node_count;
    memspan_spread_t spread;
    size_t part_size_bytes; /**< 0: a page */
    const memspan_part_t *parts;
    size_t part_count;
} memspan_request_t;

enum memspan_block_flag {
    MEMSPAN_BLOCK_PINNED     = 1u << 0,
    MEMSPAN_BLOCK_ZEROED     = 1u << 1,
    MEMSPAN_BLOCK_MIGRATABLE = 1u << 2
};

/** What was given for a request. Owned by the library until it is passed to free(). */
typedef struct memspan_block {
    void *address;
    size_t size_bytes;
    size_t page_size_bytes; /**< pages really used; 0 unknown */
    unsigned flags;         /**< enum memspan_block_flag */
    int node;               /**< node it is bound to, or -1 */
    void *cookie;           /**< the backend's own */
} memspan_block_t;

/** Part of resize(): the library's consent to where the block will be. Called once, when the range
 * is the backend's and before anything of the old one is given up. 0: resize() fails with
 * MEMSPAN_ERR_NO_MEMORY. It calls no function of the backend. */
typedef int (*memspan_resize_accept_t)(void *context, void *address, size_t size_bytes);

/** What a driver knows of an address. */
typedef struct memspan_pointer_facts {
    memspan_kind_t kind;
    int ordinal;          /**< device it belongs to, or MEMSPAN_HOST */
    int resident_ordinal; /**< where it is now, or MEMSPAN_HOST */
    void *base;
    size_t size_bytes;
} memspan_pointer_facts_t;

enum memspan_backend_flag {
    /** Ordinals are the device numbers of the OpenMP offload runtime in this process. */
    MEMSPAN_BACKEND_NUMBERS_DEVICES = 1u << 0,
    /** Its one device is the host (there is exactly one such backend). */
    MEMSPAN_BACKEND_IS_HOST = 1u << 1,
    /** Opened only when MEMSPAN_DEVICES names it. */
    MEMSPAN_BACKEND_OPT_IN = 1u << 2,
    /** It checks accesses against what it gave: from a page up every block is asked of it by itself
     * and given back at once, and what is smaller does not wait for reuse either. */
    MEMSPAN_BACKEND_CHECKS = 1u << 3,
    /** open() may be called on a thread of its own, so that a driver that hangs while it starts
     * does not hold up the program: nothing that open() makes belongs to the thread. */
    MEMSPAN_BACKEND_OPENS_APART = 1u << 4,
    /** Of a plug-in: open() is called by the thread that first needs its devices. Without it a
     * plug-in is opened as OPENS_APART says, and asked for its table and its devices so too: what
     * takes longer than MEMSPAN_DRIVER_TIMEOUT is off. */
    MEMSPAN_BACKEND_OPENS_HERE = 1u << 5
};

/** The table. abi, struct_size and name come first and never move. "required" members may not be
 * NULL; members of one group are all set or all NULL. @p state is what open() gave. */
typedef struct memspan_backend {
    uint32_t abi;         /**< MEMSPAN_BACKEND_ABI */
    uint32_t struct_size; /**< sizeof(memspan_backend_t) of the backend's build */
    const char *name;     /**< required; [a-z][a-z0-9_]*, at most 15 characters */
    const char *title;    /**< required; "OpenCL through the ICD loader" */
    unsigned flags;       /**< enum memspan_backend_flag */

    /** Required. Open the driver. MEMSPAN_ERR_OFF with a reason where there is none. */
    memspan_status_t (*open)(const memspan_services_t *services, void **state_p);
    /** Required. Undo open(); all blocks have been freed. */
    void (*close)(void *state);
    /** Required. How many devices. */
    int (*device_count)(void *state);
    /** Required. Fill all of @p info_p but struct_size, number and backend. Called again for fresh
     * free_bytes; must be cheap (no allocation, no kernel). */
    memspan_status_t (*device_describe)(void *state, int ordinal, memspan_device_info_t *info_p);
    /** Required. How @p from (an ordinal, or MEMSPAN_HOST) reaches memory of @p kind whose home is
     * @p home; access NONE where the driver does not say. */
    memspan_reach_t (*reach)(void *state, int home, memspan_kind_t kind, int from);
    /** Required. Allocate for device @p ordinal. MEMSPAN_ERR_NO_MEMORY when there is not enough. */
    memspan_status_t (*alloc)(void *state, int ordinal, const memspan_request_t *request,
                              memspan_block_t *block_p);
    /** Required. Give a block back. Waits for work that uses it where the driver demands that. */
    memspan_status_t (*free)(void *state, int ordinal, const memspan_block_t *block);

    /** Group import: make host pages (a multiple of the page size) reachable by @p ordinal.
     * *address_p is where the device sees them: the library accepts only the same address. */
    memspan_status_t (*import)(void *state, int ordinal, void *address, size_t size_bytes,
                               void **address_p, void **cookie_p);
    memspan_status_t (*release)(void *state, int ordinal, void *address, size_t size_bytes,
                                void *cookie);

    /** Optional. What the driver knows of an address that is not ours. */
    memspan_status_t (*pointer_describe)(void *state, const void *pointer,
                                         memspan_pointer_facts_t *facts_p);

    /** Group work: all run in order on @p queue; NULL is the device's own queue. They may return
     * before the work is done; synchronize() waits for it, and makes managed memory the host's.
     * copy(): each side is memory of this backend, or memory that the host may touch. */
    memspan_status_t (*copy)(void *state, int ordinal, void *queue, void *to, const void *from,
                             size_t size_bytes);
    memspan_status_t (*fill)(void *state, int ordinal, void *queue, void *to, unsigned char byte,
                             size_t size_bytes);
    memspan_status_t (*synchronize)(void *state, int ordinal, void *queue);

    /** Group queue. */
    memspan_status_t (*queue_create)(void *state, int ordinal, void **queue_p);
    memspan_status_t (*queue_destroy)(void *state, int ordinal, void *queue);

    /** Optional. Start moving managed memory to @p to (an ordinal, or MEMSPAN_HOST). */
    memspan_status_t (*prefetch)(void *state, int ordinal, void *queue, const void *pointer,
                                 size_t size_bytes, int to);
    /** Optional. Start a built-in kernel. */
    memspan_status_t (*launch)(void *state, int ordinal, void *queue,
                               const memspan_kernel_call_t *call);

    /** Group ipc: share a block with another process on this node. */
    memspan_status_t (*ipc_export)(void *state, int ordinal, const memspan_block_t *block,
                                   void *token, size_t *token_size_p);
    memspan_status_t (*ipc_import)(void *state, int ordinal, const void *token, size_t token_size,
                                   memspan_block_t *block_p);
    memspan_status_t (*ipc_close)(void *state, int ordinal, const memspan_block_t *block);

    /** Optional. A dma-buf file descriptor for [address, address + size): the caller closes it. */
    memspan_status_t (*dmabuf_export)(void *state, int ordinal, const void *address,
                                      size_t size_bytes, int *fd_p, uint64_t *offset_p);

    /** Optional; a table may end before it (struct_size). Who says what reach() answers: the
     * driver's call or attribute and its value, in at most @p size_bytes with the end. */
    void (*reach_source)(void *state, int home, memspan_kind_t kind, int from, char *text,
                         size_t size_bytes);

    /** Optional; a table may end before it (struct_size). Another size for a block without copying
     * its contents: where it stands, or by moving its pages. @p request: what alloc() would be
     * asked for now. MEMSPAN_ERR_UNSUPPORTED, which needs no record: not this block; the library
     * copies. On any failure the block is as before. */
    memspan_status_t (*resize)(void *state, int ordinal, const memspan_request_t *request,
                               memspan_block_t *block_p, memspan_resize_accept_t accept,
                               void *context);

    /** Optional; a table may end before it (struct_size). Give the pages of a part of a block back
     * to the system: whole pages, whose bytes are not needed. The part stays allocated, and is zero
     * when it is next used. @p first: no part of this block was given back before. Called while
     * threads of the program wait: it takes no lock, waits for nothing and records nothing. 0:
     * these pages cannot be given back, and are as before. */
    int (*purge)(void *state, int ordinal, const memspan_block_t *block, void *address,
                 size_t size_bytes, int first);

    /** Optional; a table may end before it. Memory of @p kind at @p home is about to be taken for a
     * space that names @p from as well: what reach() promised of it must hold from now on, without
     * a call of this backend's on @p from. Asked often; must be cheap when it holds already. */
    memspan_status_t (*connect)(void *state, int home, memspan_kind_t kind, int from);
} memspan_backend_t;

/** What a plug-in exports under this name. */
#define MEMSPAN_BACKEND_ENTRY "memspan_backend_entry"
typedef const memspan_backend_t *(*memspan_backend_entry_t)(void);

/** What open() of a backend is given, for other libraries that are built upon this one: their
 * failures then stand in the same record. Any thread; opens nothing. */
MEMSPAN_API const memspan_services_t *memspan_services_get(void);

MEMSPAN_END_DECLS
#endif /* MEMSPAN_BACKEND_H */
