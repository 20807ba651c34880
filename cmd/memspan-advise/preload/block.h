/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CMD_ADVISE_PRELOAD_BLOCK_H
#define CMD_ADVISE_PRELOAD_BLOCK_H

/* The blocks of an advised program that are large enough to be placed, and the call sites that
 * allocated them.
 *
 * While the program is sampled, the whole pages of a block are exchanged for shared pages of a
 * memory file: these can be unmapped without a loss, so that the next access to them is a page
 * fault that the kernel serves and tells of. No signal, and no system call that fails. */

#include <memspan/placement.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BLOCKS_MAX = 1 << 16, SITES_MAX = 1 << 12 };

/* What one call site has allocated. Guarded by block_lock. */
struct site {
    const char *frames;
    uint64_t count;
    uint64_t live_bytes;
    uint64_t peak_bytes;
    uint64_t total_bytes;
    double lifetime_s; /* of all its blocks, added */
    double exposure_s; /* of its probes (sample.h), added */
    uint64_t hits;     /* probes that were accessed */
    uint64_t edges;    /* of these, at an edge of their window */
};

/* A live block. Guarded by block_lock, but for the size of one's own. */
struct block {
    void *address; /* NULL: unused, TAKEN_OUT: was used */
    size_t size_bytes;
    uint64_t offset; /* of its pages in the memory file */
    double born_s;
    struct site *site;
    bool shared; /* its pages are the memory file's, and sampled */
    bool placed; /* memory of libmemspan's, for a program without samples */
};

extern pthread_mutex_t block_lock;

/* Sites in the order of their first block. */
size_t block_sites(struct site **sites_p);

/* Seconds of the monotonic clock. */
double block_now_s(void);

/* Make the memory file; before the first block_add() that is to be sampled. */
bool block_open(void);

/* A block is live. Sampled, when there is a memory file and not @p placed; its contents are kept if
 * @p filled, else zero or undefined as they were. Called by the block's thread before it is used.
 */
void block_add(void *address, size_t size_bytes, bool filled, bool placed);

/* The block is about to be freed: its pages are ordinary again. False: no block starts there. */
bool block_remove(void *address, struct block *block_p);

/* As it is now. */
bool block_find(void *address, struct block *block_p);

/* The end: blocks that are still live have lived until now. */
void block_close(void);

/* Windows are what is probed: aligned, as the kernel maps the neighbours of a page too. */
enum { WINDOW_BYTES = 64 << 10 };

/* A window of a live, sampled block of @p site, by chance; 0: there is none. Holding block_lock. */
uintptr_t block_window(const struct site *site, uint64_t chance, struct block **block_p);

#endif /* CMD_ADVISE_PRELOAD_BLOCK_H */
