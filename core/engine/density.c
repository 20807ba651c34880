/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/engine/density.h"
#include "core/base/fork.h"
#include "core/base/option.h"
#include "core/base/platform.h"
#include "core/engine/pressure.h"
#include "core/engine/provider.h"
#include "core/topology/pages.h"
#include <string.h>

enum {
    HUGE_BYTES         = 2 << 20,
    LARGE_BYTES        = 1 << 20,  /* smaller blocks are touched in full */
    PROBED_LEAST_BYTES = 16 << 20, /* so that base pages of 2 MiB count for little */
    FULL_PERCENT       = 75,       /* of one block: huge pages cost a third more at most */
    WHOLE_PERCENT      = 95,       /* of a live one: the daemon fills the holes */
    DENSE_PERCENT      = 50,
    SPARSE_PERCENT     = 25,
    PROBE_TURNS        = 8,
    SIZES              = 64,
    RECENT             = 8, /* blocks of a size that wait for a measurement */
    GROWTH_MOST        = 8, /* a block that grows more at once proves nothing for the rest */
};

enum state { UNKNOWN, DENSE, SPARSE };

/* Only ordinary host memory has a choice: other pages are locked, imported or of a requested size,
 * or the user has decided. */
static bool chooses(const struct msp_provider *p, size_t size_bytes)
{
    return (p->spec.device->number == MEMSPAN_HOST) && (p->spec.kind == MEMSPAN_KIND_HOST) &&
           !p->eager && (p->spec.importer_count == 0) && (p->spec.page_size_bytes == 0) &&
           (size_bytes >= HUGE_BYTES) &&
           (strcmp(msp_option_text(MSP_OPTION_HUGE_PAGES), "advise") == 0);
}

/* ---- chunks of one block ---- */

/* Blocks of [2^n, 2^(n+1)) bytes. */
struct size_use {
    size_t full;   /* bytes of live blocks that were seen touched in full */
    size_t proven; /* the most of them at once, less those that turned out sparse */
    size_t huge;   /* bytes of live blocks that were advised unseen */
    unsigned turns;
    unsigned next; /* of recent, to be replaced */
    struct msp_chunk *recent[RECENT];
};

/* They guard all that follows, and the pages of chunks of one block. */
MSP_LOCK_STATIC(density_lock, MSP_RANK_DENSITY);
static struct size_use uses[SIZES];
static size_t full_bytes; /* over all sizes */
static size_t full_most;
static size_t huge_bytes;

static struct size_use *use_of(size_t size_bytes)
{
    return &uses[63 - __builtin_clzll(size_bytes)];
}

static size_t larger(size_t a, size_t b)
{
    return (a > b) ? a : b;
}

/* Lock held. */
static void count_full(struct msp_chunk *chunk)
{
    struct size_use *use = use_of(chunk->size_bytes);

    chunk->pages = MSP_PAGES_FULL;
    use->full += chunk->size_bytes;
    use->proven = larger(use->proven, use->full);
    full_bytes += chunk->size_bytes;
    full_most = larger(full_most, full_bytes);
}

static void forget(struct size_use *use, const struct msp_chunk *chunk)
{
    unsigned i;

    for (i = 0; i < RECENT; i++) {
        use->recent[i] = (use->recent[i] == chunk) ? NULL : use->recent[i];
    }
}

/* Blocks may be filled after the next one is taken: those that are not full wait. Lock held. */
static void measure_recent(struct size_use *use)
{
    unsigned i;

    for (i = 0; i < RECENT; i++) {
        struct msp_chunk *chunk = use->recent[i];
        int percent = (chunk == NULL) ? 0 : msp_pages_touched(chunk->address, chunk->size_bytes);

        if (percent < FULL_PERCENT) {
            continue;
        }
        count_full(chunk);
        use->recent[i] = NULL;
        if (percent >= WHOLE_PERCENT) {
            msp_pages_allow_huge(chunk->address, chunk->size_bytes);
        }
    }
}

/* Whether that many bytes more may have huge pages before anything is known of them. In all they
 * and the full blocks have what full blocks had at once, and, where memory is left, as much again.
 * Lock held. */
static bool is_proven(struct size_use *use, size_t size_bytes)
{
    uint64_t left = msp_pressure_free_bytes() / 4;
    size_t most   = full_most + ((left < full_most) ? (size_t)left : full_most);

    return (use->huge + size_bytes <= use->proven) &&
           (huge_bytes + full_bytes + size_bytes <= most) && (++use->turns % PROBE_TURNS != 0);
}

static bool takes_huge(size_t size_bytes)
{
    struct size_use *use = use_of(size_bytes);
    bool huge;

    msp_lock(&density_lock);
    measure_recent(use);
    huge = is_proven(use, size_bytes);
    msp_unlock(&density_lock);
    return huge;
}

static void enter(struct msp_chunk *chunk, bool huge)
{
    struct size_use *use = use_of(chunk->size_bytes);

    msp_lock(&density_lock);
    chunk->pages = huge ? MSP_PAGES_HUGE : MSP_PAGES_SMALL;
    if (huge) {
        use->huge += chunk->size_bytes;
        huge_bytes += chunk->size_bytes;
    } else {
        use->recent[use->next++ % RECENT] = chunk;
    }
    msp_unlock(&density_lock);
}

memspan_status_t msp_density_take_block(const struct msp_request *request,
                                        struct msp_chunk **chunk_p)
{
    struct msp_request asked = *request;
    bool counts              = chooses(asked.provider, asked.size_bytes);
    memspan_status_t status;

    asked.sparse = counts && !takes_huge(asked.size_bytes);
    status       = msp_chunk_take(&asked, chunk_p);
    if (counts && (status == MEMSPAN_OK)) {
        enter(*chunk_p, !asked.sparse);
    }
    return status;
}

/* A block without touched pages proves nothing. */
static void measure_last(struct size_use *use, struct msp_chunk *chunk)
{
    int percent = msp_pages_touched(chunk->address, chunk->size_bytes);

    if (percent >= FULL_PERCENT) {
        count_full(chunk);
    } else if ((percent > 0) && (percent < SPARSE_PERCENT)) {
        use->proven -= (use->proven < chunk->size_bytes) ? use->proven : chunk->size_bytes;
    }
}

void msp_density_leave(struct msp_chunk *chunk)
{
    struct size_use *use = use_of(chunk->size_bytes);

    msp_lock(&density_lock); /* another chunk's end may measure this one */
    if (chunk->pages == MSP_PAGES_GIVEN) {
        msp_unlock(&density_lock);
        return;
    }
    measure_recent(use); /* those that are full at once count together */
    forget(use, chunk);
    if (chunk->pages == MSP_PAGES_SMALL) {
        measure_last(use, chunk);
    }
    if (chunk->pages == MSP_PAGES_FULL) {
        use->full -= chunk->size_bytes;
        full_bytes -= chunk->size_bytes;
    } else if (chunk->pages == MSP_PAGES_HUGE) {
        use->huge -= chunk->size_bytes;
        huge_bytes -= chunk->size_bytes;
    }
    chunk->pages = MSP_PAGES_GIVEN;
    msp_unlock(&density_lock);
}

bool msp_density_stays_sparse(const struct msp_chunk *chunk, size_t size_bytes)
{
    return (chunk->size_bytes < HUGE_BYTES) && chooses(chunk->provider, size_bytes) &&
           ((size_bytes / GROWTH_MOST > chunk->size_bytes) ||
            (msp_pages_touched(chunk->address, chunk->size_bytes) < SPARSE_PERCENT));
}

/* ---- chunks that are divided ---- */

/* A chunk without touched pages decides nothing: programs allocate first and fill then. */
static enum state measure(struct msp_density *d)
{
    const unsigned char *address = atomic_load_explicit(&d->address, memory_order_relaxed);
    size_t size                  = atomic_load_explicit(&d->size_bytes, memory_order_relaxed);
    enum state state             = atomic_load_explicit(&d->state, memory_order_relaxed);
    int percent                  = (address == NULL) ? 0 : msp_pages_touched(address, size);

    if (percent >= DENSE_PERCENT) {
        state = DENSE;
    } else if ((percent > 0) && (percent < SPARSE_PERCENT)) {
        state = SPARSE;
    }
    atomic_store_explicit(&d->state, state, memory_order_relaxed);
    return state;
}

static void note(struct msp_density *d, const unsigned char *address, size_t size_bytes)
{
    atomic_store_explicit(&d->address, address, memory_order_relaxed);
    atomic_store_explicit(&d->size_bytes, size_bytes, memory_order_relaxed);
}

memspan_status_t msp_density_take_divided(const struct msp_request *request, size_t need_bytes,
                                          struct msp_chunk **chunk_p)
{
    struct msp_density *d    = &request->provider->divided;
    struct msp_request asked = *request;
    bool counts = (need_bytes >= LARGE_BYTES) && chooses(asked.provider, asked.size_bytes);
    memspan_status_t status;

    asked.sparse = counts && (measure(d) != DENSE);
    status       = msp_chunk_take(&asked, chunk_p);
    if (!counts || (status != MEMSPAN_OK)) {
        return status;
    }
    if (asked.sparse) {
        note(d, (*chunk_p)->address, (*chunk_p)->size_bytes);
    } else if (asked.size_bytes >= PROBED_LEAST_BYTES) {
        msp_pages_keep_small((*chunk_p)->address, HUGE_BYTES);
        note(d, (*chunk_p)->address, HUGE_BYTES);
    }
    return status;
}

void msp_density_allow_again(const struct msp_chunk *chunk)
{
    size_t probe = (chunk->size_bytes >= PROBED_LEAST_BYTES) ? HUGE_BYTES : 0;

    if (chooses(chunk->provider, chunk->size_bytes)) {
        msp_pages_allow_huge(chunk->address + probe, chunk->size_bytes - probe);
    }
}
