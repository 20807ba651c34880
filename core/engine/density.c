/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/engine/density.h"
#include "core/base/platform.h"
#include "core/engine/provider.h"
#include "core/topology/pages.h"

enum {
    HUGE_BYTES         = 2 << 20,
    LARGE_BYTES        = 1 << 20,  /* smaller blocks are touched in full */
    PROBED_LEAST_BYTES = 16 << 20, /* so that base pages of 2 MiB count for little */
    DENSE_PERCENT      = 50,
    SPARSE_PERCENT     = 25,
};

enum state { UNKNOWN, DENSE, SPARSE };

/* Only ordinary host memory has a choice: other pages are locked, imported or of a requested size.
 */
static bool chooses(const struct msp_provider *p, size_t size_bytes)
{
    return (p->spec.device->number == MEMSPAN_HOST) && (p->spec.kind == MEMSPAN_KIND_HOST) &&
           !p->eager && (p->spec.importer_count == 0) && (p->spec.page_size_bytes == 0) &&
           (size_bytes >= HUGE_BYTES);
}

/* A chunk without touched pages decides nothing: programs allocate first and fill then. */
static enum state measure(struct msp_density *d)
{
    const unsigned char *address = atomic_load_explicit(&d->address, memory_order_relaxed);
    size_t size                  = atomic_load_explicit(&d->size_bytes, memory_order_relaxed);
    bool huge                    = atomic_load_explicit(&d->huge, memory_order_relaxed);
    enum state state             = atomic_load_explicit(&d->state, memory_order_relaxed);
    int percent                  = (address == NULL) ? 0 : msp_pages_touched(address, size);

    if ((percent >= DENSE_PERCENT) && !huge) {
        state = DENSE;
    } else if ((percent > 0) && (percent < SPARSE_PERCENT)) {
        state = SPARSE;
    }
    atomic_store_explicit(&d->state, state, memory_order_relaxed);
    return state;
}

static void note(struct msp_density *d, const unsigned char *address, size_t size_bytes, bool huge)
{
    atomic_store_explicit(&d->address, address, memory_order_relaxed);
    atomic_store_explicit(&d->size_bytes, size_bytes, memory_order_relaxed);
    atomic_store_explicit(&d->huge, huge, memory_order_relaxed);
}

memspan_status_t msp_density_take_block(const struct msp_request *request,
                                        struct msp_chunk **chunk_p)
{
    struct msp_density *d    = &request->provider->whole;
    struct msp_request asked = *request;
    bool counts              = chooses(asked.provider, asked.size_bytes);
    memspan_status_t status;

    asked.sparse = counts && (measure(d) == SPARSE);
    status       = msp_chunk_take(&asked, chunk_p);
    if (counts && (status == MEMSPAN_OK)) {
        note(d, (*chunk_p)->address, (*chunk_p)->size_bytes, !asked.sparse);
    }
    return status;
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
        note(d, (*chunk_p)->address, (*chunk_p)->size_bytes, false);
    } else if (asked.size_bytes >= PROBED_LEAST_BYTES) {
        msp_pages_keep_small((*chunk_p)->address, HUGE_BYTES);
        note(d, (*chunk_p)->address, HUGE_BYTES, false);
    }
    return status;
}

bool msp_density_stays_sparse(const struct msp_chunk *chunk, size_t size_bytes)
{
    const struct msp_density *d = &chunk->provider->whole;
    int percent;

    if ((chunk->size_bytes >= HUGE_BYTES) || !chooses(chunk->provider, size_bytes)) {
        return false;
    }
    percent = msp_pages_touched(chunk->address, chunk->size_bytes);
    return (percent == 0) ? (atomic_load_explicit(&d->state, memory_order_relaxed) == SPARSE)
                          : (percent < SPARSE_PERCENT);
}
