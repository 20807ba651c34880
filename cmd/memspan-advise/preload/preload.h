/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CMD_ADVISE_PRELOAD_H
#define CMD_ADVISE_PRELOAD_H

#include <memspan/placement.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* block.c: the blocks of an advised program that are large enough to be placed, and the call sites
 * that allocated them.
 *
 * While the program is sampled, the whole pages of a block are exchanged for shared pages of a
 * memory file: these can be unmapped without a loss, so that the next access to them is a page
 * fault that the kernel serves and reports. No signal, and no system call that fails. */

enum {
    BLOCKS_MAX  = 1 << 18,
    SITES_MAX   = 1 << 12,
    SAMPLED_MAX = 1 << 13, /* at a time: each takes two of the mappings that a process may have */
    SAMPLED_OF_SITE = 64,
    SEGMENTS        = 8, /* parts of a block that may be used in different ways */
};

/* The allocations of one call site. Guarded by the tables' lock. */
struct site {
    const char *frames;
    uint64_t count;
    uint64_t live_count;
    uint64_t live_bytes;
    uint64_t peak_bytes;
    double lifetime_s;           /* of its blocks, added; of a live one, less the time now */
    double byte_seconds;         /* of its blocks, size times lifetime, likewise */
    double exposure_s[SEGMENTS]; /* of its probes (sample.c), added, by the part of the block */
    uint64_t hits[SEGMENTS];     /* probes that were accessed */
    uint64_t edges;              /* of these, at an edge of their window */
    struct block *sampled[SAMPLED_OF_SITE];
    size_t sampled_count;
};

/* A live block. Guarded by the tables' lock. */
struct block {
    struct block *next; /* of its bucket, or of the unused ones */
    void *address;
    size_t size_bytes;
    size_t capacity_bytes; /* up to which it grows in place, and its pages were exchanged */
    uint64_t offset;       /* of its pages in the memory file */
    struct site *site;
    bool mapped; /* its pages are a memory file's */
    bool shared; /* with others that map the file, and sampled */
};

/* The tables' lock. */
void block_lock(void);
void block_unlock(void);

/* Sites in the order of their first block. */
size_t block_sites(struct site **sites_p);

/* The most bytes that were live at once, over all sites. Holding the lock. */
uint64_t block_peak_bytes(void);

/* Make the memory file; before the first block_add() that is to be sampled. False with errno. */
bool block_open(void);

/* A block is live, and may grow to @p capacity_bytes. Sampled, when there is a memory file, it has
 * a window, and not too many are; its contents are kept if @p filled, else zero or undefined as
 * they were. Called by the block's thread before it is used. False: there is no space in the
 * tables. */
bool block_add(void *address, size_t size_bytes, size_t capacity_bytes, bool filled);

/* The block is about to be freed: its pages are ordinary again. False: no block starts there. */
bool block_remove(void *address);

/* The bytes of the block that starts there; 0: none does. */
size_t block_find(void *address);

/* The calling code requests another size of the block: it gets it, if the block is of the same site
 * and has the space. */
bool block_fit(void *address, size_t size_bytes);

/* The block has got another size where it is; the memory behind it may have another owner now. */
void block_resized(void *address, size_t size_bytes);

/* Windows are the unit of probing: aligned, as the kernel maps the neighbours of a page too. */
enum { WINDOW_BYTES = 64 << 10 };

/* A window of a live, sampled block of @p site, by chance, and the segment that it is in; 0: there
 * is none. Holding the lock. */
uintptr_t block_window(const struct site *site, uint64_t chance, size_t *segment_p);

/* Around each call that makes a copy of the process; fork() calls them by itself. */
void block_before_fork(void);
void block_after_fork(void);
void block_after_fork_in_child(void);

/* Sampling is over, and no call makes a system call from now on: blocks keep the pages they have.
 */
void block_leave(void);

/* sample.c: how often, and how, the program uses its blocks.
 *
 * A probe is a window of a block whose pages are unmapped. The time until it is accessed gives the
 * rate of accesses; where it is entered gives their kind: a stream enters a window at one of its
 * edges, accesses in no order anywhere. */

/* Begin to sample on a thread of its own, which calls @p save_profile now and then: the program may
 * end without notice. */
void sample_start(void (*save_profile)(void));

/* End; blocks of probes are counted up to now. */
void sample_stop(void);

/* The pages from @p start on are about to be those of no block. Holding the tables' lock. */
void sample_forget(uintptr_t start, uintptr_t end);

/* Where accesses are known from: "page faults", "page tables: REASON", "nothing: REASON". */
const char *sample_source(void);

/* seen.c: the observations of a site's probes, over all segments of its blocks. */
struct seen {
    double exposure_s;
    uint64_t hits;
    double rate; /* accesses of a window a second */
};

/* The caller holds the tables' lock, or has a copy. */
struct seen seen_of_site(const struct site *site);

/* preload.c: memory for a block that is watched or placed, else NULL; @p caller: the calling code.
 * And back: false, where it is no such block. */
void *preload_take(size_t align_bytes, size_t size_bytes, const void *caller);
bool preload_give(void *address);

/* next.c: the allocator of the process, which has all other blocks. */
void *next_malloc(size_t size_bytes);
void *next_calloc(size_t count, size_t size_bytes);
void *next_realloc(void *address, size_t size_bytes);
void *next_memalign(size_t align_bytes, size_t size_bytes);
void next_free(void *address);
size_t next_usable_size(void *address);

/* The function of that name that comes after this library's, or a C++ library's; or NULL. */
void *next_symbol(const char *name);

/* call.c: calls of the program that this library intercepts, in the C library's place: processes
 * made without fork()'s handlers (_Fork(), clone(), syscall()), and filters of system calls, which
 * would kill the program for this library's system calls.
 *
 * System calls that the program makes by instructions of its own are not seen. */

/* Find the C library's functions. @p leave is called before the program's first filter. */
void call_open(void (*leave)(void));

/* Has the program more filters than the process that started it was under? */
bool call_is_filtered(void);

#endif /* CMD_ADVISE_PRELOAD_H */
