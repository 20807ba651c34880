/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BACKEND_H
#define MEMSPAN_BACKEND_H

#include <memspan/device.h>
#include <memspan/queue.h>
#include <memspan/transfer.h>

/** @file backend.h
 * The contract of a backend: one table of functions for one driver.
 *
 * A plug-in is a shared object on MEMSPAN_BACKEND_PATH that exports
 *     const memspan_backend_t *memspan_backend_entry(void);
 * Built-in backends fill the same table. An operation that a backend lacks is NULL in the table and
 * a clear bit in its devices' capabilities.
 *
 * Calling rules. open() is called first and once; it must fail, with a reason, where the driver is
 * absent, too old or broken. After it, several threads may call any functions at once. close() is
 * called last, when no other function runs. Once exit() has begun only reach() and reach_source()
 * are called. A function that fails calls services->fail() and returns its result: the caller's
 * error record then has the driver's code and text. A backend leaves the process as the program set
 * it up: the current device or context does not change.
 *
 * Devices are numbered 0 .. n-1 within a backend (ordinals); MEMSPAN_HOST stands for the host. */

MEMSPAN_BEGIN_DECLS

/** Contract version. A table with another version is refused by name. */
#define MEMSPAN_BACKEND_ABI 1

/** Log levels of services->log. */
enum memspan_log_level {
    MEMSPAN_LOG_ERROR = 0, /**< a request failed */
    MEMSPAN_LOG_WARN  = 1, /**< served, but weaker or slower than requested */
    MEMSPAN_LOG_INFO  = 2, /**< devices found and choices made, once */
    MEMSPAN_LOG_DEBUG = 3, /**< each coarse allocation */
    MEMSPAN_LOG_TRACE = 4  /**< each call */
};

/** Services of the library for a backend. Valid from open() to the end of the process. */
typedef struct memspan_services {
    size_t struct_size;
    /** Record an error of the calling thread and return @p status.
     * @p call: the driver's function; @p native_code, @p native_text: its result ("" if none).
     * @p hint: a remedy, or NULL. @p format: the request, and the failure. */
    memspan_status_t (*fail)(memspan_status_t status, const char *backend, const char *call,
                             long native_code, const char *native_text, const char *hint,
                             const char *format, ...) __attribute__((format(printf, 7, 8)));
    /** Log one line (no newline). */
    void (*log)(enum memspan_log_level level, const char *backend, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
    /** The value in force of a MEMSPAN_* variable ("" when it has none); never NULL. */
    const char *(*option)(const char *name);
    /** Write to standard error where the block at or near @p address was allocated and freed
     * (MEMSPAN_DEBUG=guard). Takes locks: not for a signal handler. */
    void (*tell)(const void *address);
    /** The value in force of a variable in numbers: the bytes of a SIZE, the position of the word
     * of a CHOICE (from 0); 0 for others. */
    uint64_t (*option_number)(const char *name);
    /** The value of a variable is malformed: log that, once, and put the default in force. @p
     * format: the mistake in it. Returns MEMSPAN_ERR_CONFIG, recorded. */
    memspan_status_t (*option_refuse)(const char *name, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
} memspan_services_t;

/** How the value of a variable is read. */
typedef enum memspan_option_form {
    MEMSPAN_OPTION_CHOICE = 0, /**< one of the words in the form, "off|on" */
    MEMSPAN_OPTION_SIZE,       /**< a number with k, m, g or t */
    MEMSPAN_OPTION_TEXT,       /**< the backend checks it: services->option_refuse() */
    MEMSPAN_OPTION_SECURE_TEXT /**< TEXT that is ignored in a set-user-id process */
} memspan_option_form_t;

/** An environment variable of a backend. The library reads it, checks it, and lists it for
 * memspan_option_describe(), as it does its own. */
typedef struct memspan_backend_option {
    const char *name; /**< MEMSPAN_BACKEND_..., with the backend's name in capitals */
    memspan_option_form_t form;
    const char *form_text; /**< the form as shown: "off|on", "size" */
    const char *fallback;  /**< the value when unset */
    const char *help;      /**< one sentence */
} memspan_backend_option_t;

/** How the pages of a request are distributed over its NUMA nodes. */
typedef enum memspan_spread {
    MEMSPAN_SPREAD_ANY = 0,     /**< all on one node, the first with enough free */
    MEMSPAN_SPREAD_NEAREST,     /**< on the node nearest to the calling thread */
    MEMSPAN_SPREAD_BLOCKED,     /**< one contiguous range per node, equal sizes */
    MEMSPAN_SPREAD_INTERLEAVED, /**< round robin, part_size_bytes at a time */
    MEMSPAN_SPREAD_PARTS,       /**< by parts[] (a memory partitioner) */
    MEMSPAN_SPREAD_TOUCHED      /**< each page by first touch, among the nodes */
} memspan_spread_t;

enum memspan_request_flag {
    MEMSPAN_REQUEST_PINNED = 1u << 0, /**< must never move or be swapped */
    MEMSPAN_REQUEST_ZEROED =
        1u << 1, /**< zero bytes requested; MEMSPAN_BLOCK_ZEROED: whether they are */
    MEMSPAN_REQUEST_STRICT = 1u << 2, /**< these NUMA nodes or failure */
    MEMSPAN_REQUEST_SHARED = 1u << 3, /**< for ipc_export() and dmabuf_export() */
    MEMSPAN_REQUEST_SPARSE =
        1u
        << 4 /**< few pages will be touched: no huge pages unless page_size_bytes requests them */
};

/** One part of a request with MEMSPAN_SPREAD_PARTS. */
typedef struct memspan_part {
    int node;          /**< operating-system number of the NUMA node */
    size_t size_bytes; /**< a multiple of the page size but for the last */
} memspan_part_t;

/** Request for a chunk. The library sets all members; sizes are multiples of the page size. */
typedef struct memspan_request {
    size_t struct_size;
    memspan_kind_t kind;
    size_t size_bytes;
    size_t align_bytes;     /**< power of two, at least the page size */
    size_t page_size_bytes; /**< requested page size; 0: the backend decides */
    unsigned flags;         /**< enum memspan_request_flag */
    int resident_ordinal;   /**< first residence: an ordinal, or MEMSPAN_HOST */
    const int *nodes;       /**< operating-system numbers of NUMA nodes; NULL: any */
    size_t node_count;
    memspan_spread_t spread;
    size_t part_size_bytes; /**< 0: a page, also a transparent huge one */
    const memspan_part_t *parts;
    size_t part_count;
} memspan_request_t;

enum memspan_block_flag {
    MEMSPAN_BLOCK_PINNED     = 1u << 0,
    MEMSPAN_BLOCK_ZEROED     = 1u << 1,
    MEMSPAN_BLOCK_MIGRATABLE = 1u << 2
};

/** The memory given for a request. The library owns it until it is passed to free(). */
typedef struct memspan_block {
    void *address;
    size_t size_bytes;
    size_t page_size_bytes; /**< page size in use; 0 unknown */
    unsigned flags;         /**< enum memspan_block_flag */
    int node;               /**< NUMA node that it is bound to, or -1 */
    void *cookie;           /**< private to the backend */
} memspan_block_t;

/** Callback of resize(): the library accepts the block's new range. Called once, after the range is
 * reserved and before the old one is released. Returns 0 to refuse: resize() then fails with
 * MEMSPAN_ERR_NO_MEMORY. It calls no function of the backend. */
typedef int (*memspan_resize_accept_t)(void *context, void *address, size_t size_bytes);

/** A driver's facts about an address. */
typedef struct memspan_pointer_facts {
    memspan_kind_t kind;
    int ordinal;          /**< its device, or MEMSPAN_HOST */
    int resident_ordinal; /**< current residence, or MEMSPAN_HOST */
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
    /** It checks accesses against its blocks: each block of a page or more is a request of its own
     * and is freed at once, and smaller blocks are not kept for reuse. */
    MEMSPAN_BACKEND_CHECKS = 1u << 3,
    /** open() may run on a thread of its own, which a hanging driver then blocks instead of the
     * program. Nothing that open() makes may belong to the thread. */
    MEMSPAN_BACKEND_OPENS_APART = 1u << 4,
    /** Of a plug-in: the thread that first needs its devices calls open(). Without this flag a
     * plug-in's entry, open() and device queries run on a thread of their own; a plug-in that
     * exceeds MEMSPAN_DRIVER_TIMEOUT is off. */
    MEMSPAN_BACKEND_OPENS_HERE = 1u << 5,
    /** pointer_describe() knows all device memory of its driver in this process, other libraries'
     * too. The backend serves the OpenMP runtime's devices that it recognises by that. */
    MEMSPAN_BACKEND_KNOWS_MEMORY = 1u << 6
};

/** The table. abi, struct_size and name come first and never move. "Required" members must not be
 * NULL; members of one group are all set or all NULL. @p state comes from open(). */
typedef struct memspan_backend {
    uint32_t abi;         /**< MEMSPAN_BACKEND_ABI */
    uint32_t struct_size; /**< sizeof(memspan_backend_t) of the backend's build */
    const char *name;     /**< required; [a-z][a-z0-9_]*, at most 15 characters */
    const char *title;    /**< required; "OpenCL through the ICD loader" */
    unsigned flags;       /**< enum memspan_backend_flag */

    /** Required. Open the driver. MEMSPAN_ERR_OFF with a reason where there is none. */
    memspan_status_t (*open)(const memspan_services_t *services, void **state_p);
    /** Required. Undo open(); all blocks are free. */
    void (*close)(void *state);
    /** Required. Number of devices. */
    int (*device_count)(void *state);
    /** Required. Fill all of @p info_p but struct_size, number and backend. Called again for fresh
     * free_bytes; must be cheap (no allocation, no kernel). */
    memspan_status_t (*device_describe)(void *state, int ordinal, memspan_device_info_t *info_p);
    /** Required. How @p from (an ordinal, or MEMSPAN_HOST) reaches memory of @p kind whose home is
     * @p home; access NONE where the driver gives no answer. */
    memspan_reach_t (*reach)(void *state, int home, memspan_kind_t kind, int from);
    /** Required. Allocate for device @p ordinal. MEMSPAN_ERR_NO_MEMORY when it has too little. */
    memspan_status_t (*alloc)(void *state, int ordinal, const memspan_request_t *request,
                              memspan_block_t *block_p);
    /** Required. Free a block. Waits for work that uses it where the driver requires that. */
    memspan_status_t (*free)(void *state, int ordinal, const memspan_block_t *block);

    /** Group import: make host pages (a multiple of the page size) reachable by @p ordinal.
     * *address_p is their device address: the library accepts only the same address. */
    memspan_status_t (*import)(void *state, int ordinal, void *address, size_t size_bytes,
                               void **address_p, void **cookie_p);
    memspan_status_t (*release)(void *state, int ordinal, void *address, size_t size_bytes,
                                void *cookie);

    /** Optional. The driver's facts about an address that is not of this library. */
    memspan_status_t (*pointer_describe)(void *state, const void *pointer,
                                         memspan_pointer_facts_t *facts_p);

    /** Group work: operations run in order on @p queue; NULL is the device's default queue. They
     * may return before they are complete; synchronize() waits, and lets the host access managed
     * memory. copy(): each side is memory of this backend, or memory that the host reaches. */
    memspan_status_t (*copy)(void *state, int ordinal, void *queue, void *to, const void *from,
                             size_t size_bytes);
    memspan_status_t (*fill)(void *state, int ordinal, void *queue, void *to, unsigned char byte,
                             size_t size_bytes);
    memspan_status_t (*synchronize)(void *state, int ordinal, void *queue);

    /** Group queue. */
    memspan_status_t (*queue_create)(void *state, int ordinal, void **queue_p);
    memspan_status_t (*queue_destroy)(void *state, int ordinal, void *queue);

    /** Optional. Start to migrate managed memory to @p to (an ordinal, or MEMSPAN_HOST). */
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

    /** Optional. A dma-buf file descriptor for [address, address + size_bytes), which the caller
     * closes; the range begins *offset_p bytes into the buffer. */
    memspan_status_t (*dmabuf_export)(void *state, int ordinal, const void *address,
                                      size_t size_bytes, int *fd_p, uint64_t *offset_p);

    /** Optional; a table may end before it (struct_size). Source of reach()'s result: the driver's
     * call or attribute and its value, in at most @p size_bytes with the null. */
    void (*reach_source)(void *state, int home, memspan_kind_t kind, int from, char *text,
                         size_t size_bytes);

    /** Optional; a table may end before it (struct_size). Resize a block without copying: in place,
     * or by moving its pages. @p request: as alloc() would get it now. MEMSPAN_ERR_UNSUPPORTED,
     * without an error record: not this block, the library copies. After any failure the block is
     * unchanged. */
    memspan_status_t (*resize)(void *state, int ordinal, const memspan_request_t *request,
                               memspan_block_t *block_p, memspan_resize_accept_t accept,
                               void *context);

    /** Optional; a table may end before it (struct_size). Return whole pages of a part of a block
     * to the system; their contents are not needed. The part stays allocated and reads as zero when
     * next used. @p first: first purge of this block. Called while the program's threads are
     * stopped: it takes no lock, does not wait and records no error. Returns 0 where these pages
     * cannot be returned, which are then unchanged. */
    int (*purge)(void *state, int ordinal, const memspan_block_t *block, void *address,
                 size_t size_bytes, int first);

    /** Optional; a table may end before it. Memory of @p kind at @p home is about to be allocated
     * for a space that includes @p from: from now on the answer of reach() must hold, without
     * another call of this backend on @p from. Called often; must be cheap when it holds already.
     */
    memspan_status_t (*connect)(void *state, int home, memspan_kind_t kind, int from);

    /** Optional; a table may end before them. The backend's own variables, in force before open():
     * services->option() has their values. */
    const memspan_backend_option_t *options;
    size_t option_count;

    /** Optional; a table may end before it. copy() of @p block_count > 1 blocks of @p block_bytes >
     * 0, the starts of which are the strides apart. MEMSPAN_ERR_UNSUPPORTED, without an error
     * record: not these strides, the library copies block by block. */
    memspan_status_t (*copy_blocks)(void *state, int ordinal, void *queue, void *to,
                                    size_t to_stride_bytes, const void *from,
                                    size_t from_stride_bytes, size_t block_bytes,
                                    size_t block_count);

    /** Optional; a table may end before it. Move the pages of a live block to where @p request, as
     * alloc() would get it, wants memory; the address stays. The program uses the block meanwhile.
     * MEMSPAN_ERR_NO_MEMORY: no space, or not all pages could be moved. */
    memspan_status_t (*move)(void *state, int ordinal, const memspan_request_t *request,
                             memspan_block_t *block_p);

    /** Group event; a table may end before it. None of these calls waits for work: the library
     * makes them under a lock of all queues. event_record(): the event is the end of the work that
     * is on @p queue now. *event_p NULL: a new event; else one of this queue, recorded again.
     * event_wait(): later work of @p queue, which may be another device's, starts after the work of
     * the event as last recorded; the host does not wait. MEMSPAN_ERR_UNSUPPORTED, without an error
     * record: not these two, the library waits. event_done(): *done_p 1 when that work is complete,
     * or failed; does not wait. event_destroy(): also of an event whose queue is gone. */
    memspan_status_t (*event_record)(void *state, int ordinal, void *queue, void **event_p);
    memspan_status_t (*event_wait)(void *state, int ordinal, void *queue, void *event);
    memspan_status_t (*event_done)(void *state, int ordinal, void *event, int *done_p);
    memspan_status_t (*event_destroy)(void *state, int ordinal, void *event);

    /** Optional; a table may end before it. A queue of the program, @p native of @p type, for the
     * calls that take one. queue_destroy() ends the record alone: it neither waits for the native
     * queue, which may be gone, nor ends it. MEMSPAN_ERR_UNSUPPORTED, without an error record: no
     * queue of this driver is of that type. */
    memspan_status_t (*queue_adopt)(void *state, int ordinal, memspan_queue_type_t type,
                                    void *native, void **queue_p);

    /** Optional; a table may end before it. Attach a managed block as a whole to @p queue, whose
     * work alone uses it after the work that is there now; NULL: to no queue. Freeing the block and
     * the end of the queue detach it. */
    memspan_status_t (*attach)(void *state, int ordinal, void *queue, const memspan_block_t *block);
    /** Group hold; a table may end before it. queue_hold(): later work of @p queue starts after one
     * more queue_release() than the holds before it have; does not wait. MEMSPAN_ERR_UNSUPPORTED,
     * without an error record: not this queue, the library waits. queue_release(): on any thread,
     * once for each hold; the device works meanwhile, so it takes no lock under which a call waits
     * for the device. A queue is destroyed when all its holds are released. */
    memspan_status_t (*queue_hold)(void *state, int ordinal, void *queue);
    memspan_status_t (*queue_release)(void *state, int ordinal, void *queue);

    /** Group order; a table may end before it. Of a backend that checks: the places of a block in
     * the order of @p queue. queue_allocated(): it is for the work that follows on the queue.
     * queue_freed(): it is freed after the work that is on the queue now. That call waits for this
     * work; free() or other memory at that address comes after it. The backend ends a program whose
     * work is not in that order. */
    memspan_status_t (*queue_allocated)(void *state, int ordinal, void *queue, const void *address,
                                        size_t size_bytes);
    memspan_status_t (*queue_freed)(void *state, int ordinal, void *queue, const void *address,
                                    size_t size_bytes);

    /** Group host; a table may end before it. Of devices whose memory is pages of the host.
     * host_open(): *host_p is where the host and its network reach the first byte of that part of a
     * device block at any time, also while the device works. MEMSPAN_ERR_UNSUPPORTED, with the
     * reason as error record, where the driver does not allow that. host_close(): of an equal
     * part; it precedes free(). */
    memspan_status_t (*host_open)(void *state, int ordinal, const void *address, size_t size_bytes,
                                  void **host_p);
    memspan_status_t (*host_close)(void *state, int ordinal, const void *address,
                                   size_t size_bytes);
} memspan_backend_t;

/** The symbol that a plug-in exports. */
#define MEMSPAN_BACKEND_ENTRY "memspan_backend_entry"
typedef const memspan_backend_t *(*memspan_backend_entry_t)(void);

/** The argument of open(), for libraries on top of this one: their failures then fill the same
 * error record. Any thread; opens no driver; never NULL. */
MEMSPAN_API const memspan_services_t *memspan_services_get(void);

MEMSPAN_END_DECLS
#endif /* MEMSPAN_BACKEND_H */
