/* SPDX-License-Identifier: BSD-3-Clause */
/* model.c: what an allocator's counters must be, what its limit must allow and must refuse.
 *
 * A limit is divided into shares, one a thread, and a thread asks for what fits in its share (never
 * to be refused, whatever the others do) or for more than all the rest could give (always to be
 * refused). A block may be freed by another thread: from before that call to after it, it is
 * unknown whether its bytes count, and they are in "returning". So what a thread may surely have is
 * at least left before the call, and what it may have at most is left + returning after it. */

#include "soak.h"
#include <inttypes.h>

int64_t soak_left(const struct soak_pool *p, unsigned thread)
{
    return (p->pool_size == SIZE_MAX) ? INT64_MAX : atomic_load(&p->left[thread]);
}

void soak_charge(struct soak_pool *p, unsigned thread, int64_t bytes)
{
    atomic_fetch_sub(&p->left[thread], bytes);
}

void soak_return_begin(struct soak_pool *p, unsigned thread, int64_t bytes)
{
    atomic_fetch_add(&p->returning[thread], bytes);
}

/* In this order, so that a reader of returning and then left sees the bytes once at least. */
void soak_return_end(struct soak_pool *p, unsigned thread, int64_t bytes)
{
    atomic_fetch_add(&p->left[thread], bytes);
    atomic_fetch_sub(&p->returning[thread], bytes);
}

void soak_chain_begin(const struct soak_thread *t, struct soak_pool *first,
                      struct soak_chain *chain)
{
    chain->count = 0;
    /* A destroyed allocator is asked only for its own blocks, never as a fallback. */
    for (struct soak_pool *p = first; (p != NULL) && ((p == first) || !p->dead); p = p->next) {
        chain->pools[chain->count]  = p;
        chain->left[chain->count++] = soak_left(p, t->index);
        if (chain->count == SOAK_CHAIN_MAX) {
            soak_fail(t, "%s: the test has no room for so many fallbacks", first->name);
        }
    }
}

static void check_giver(const struct soak_thread *t, const struct soak_pool *p, int64_t need)
{
    int64_t returning = atomic_load(&p->returning[t->index]);
    int64_t most      = atomic_load(&p->left[t->index]) + returning;
    int64_t others    = (int64_t)p->pool_size - p->share;

    if ((p->pool_size != SIZE_MAX) && !p->dead && (need > most + others)) {
        soak_fail(t,
                  "%s: %" PRId64 " bytes were given beyond pool_size=%zu, of which at most %" PRId64
                  " were left",
                  p->name, need, p->pool_size, most + others);
    }
}

void soak_chain_end(const struct soak_thread *t, const struct soak_chain *chain,
                    struct soak_pool *giver, int64_t need_first, int64_t need)
{
    for (size_t i = 0; i < chain->count; i++) {
        struct soak_pool *p = chain->pools[i];
        int64_t wanted      = (i == 0) ? need_first : need;

        if (p == giver) {
            check_giver(t, p, need);
            return;
        }
        if ((wanted <= chain->left[i]) && !p->may_run_out && !p->dead) {
            soak_fail(
                t, "%s: wrongly refused %" PRId64 " bytes, %" PRId64 " of pool_size are left (%s)",
                p->name, wanted, chain->left[i], memspan_error_text());
        }
        atomic_fetch_add(&p->failed, 1);
        if ((giver != NULL) && (i == 0)) {
            atomic_fetch_add(&p->fallbacks, 1);
        } else if (giver != NULL) {
            atomic_fetch_add(&p->maybe_fallbacks, 1);
        }
    }
    if (giver != NULL) {
        soak_fail(t, "%s: a block came from %s, which is none of its fallbacks",
                  chain->pools[0]->name, giver->name);
    }
}

void soak_count_alloc(struct soak_pool *p, size_t bytes)
{
    atomic_fetch_add(&p->live_bytes, bytes);
    atomic_fetch_add(&p->live_count, 1);
    atomic_fetch_add(&p->allocated, 1);
}

void soak_count_free(struct soak_pool *p, size_t bytes)
{
    atomic_fetch_sub(&p->live_bytes, bytes);
    atomic_fetch_sub(&p->live_count, 1);
}

/* ---- when nothing runs ---- */

static void expect_between(const char *name, const char *counter, uint64_t found, uint64_t least,
                           uint64_t most)
{
    if ((found < least) || (found > most)) {
        soak_fail(NULL, "%s: %s is %" PRIu64 ", not %" PRIu64 "..%" PRIu64, name, counter, found,
                  least, most);
    }
}

struct sums {
    uint64_t live_bytes, live_count, allocated, maybe_allocated, failed, fallbacks, maybe_fallbacks;
};

static void compare(const char *name, const memspan_allocator_stats_t *stats,
                    const struct sums *model)
{
    uint64_t charged = model->live_bytes + model->live_count * SOAK_OVERHEAD;

    expect_between(name, "live_bytes", stats->live_bytes, model->live_bytes, model->live_bytes);
    expect_between(name, "live_count", stats->live_count, model->live_count, model->live_count);
    expect_between(name, "charged_bytes", stats->charged_bytes, charged, charged);
    expect_between(name, "allocated_count", stats->allocated_count, model->allocated,
                   model->allocated + model->maybe_allocated);
    expect_between(name, "freed_count", stats->freed_count,
                   stats->allocated_count - stats->live_count,
                   stats->allocated_count - stats->live_count);
    expect_between(name, "failed_count", stats->failed_count, model->failed, model->failed);
    expect_between(name, "fallback_count", stats->fallback_count, model->fallbacks,
                   model->fallbacks + model->maybe_fallbacks);
    expect_between(name, "peak_bytes", stats->peak_bytes, stats->live_bytes, UINT64_MAX);
}

static struct sums gone; /* of allocators whose model was dropped */

static void add(struct sums *sums, struct soak_pool *p)
{
    sums->live_bytes += atomic_load(&p->live_bytes);
    sums->live_count += atomic_load(&p->live_count);
    sums->allocated += atomic_load(&p->allocated);
    sums->maybe_allocated += atomic_load(&p->maybe_allocated);
    sums->failed += atomic_load(&p->failed);
    sums->fallbacks += atomic_load(&p->fallbacks);
    sums->maybe_fallbacks += atomic_load(&p->maybe_fallbacks);
}

void soak_model_gone(struct soak_pool *p)
{
    add(&gone, p);
}

static void compare_pool(struct soak_pool *p)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};
    struct sums model               = {0};

    add(&model, p);
    for (unsigned i = 0; i < soak_options.threads; i++) {
        if (atomic_load(&p->returning[i]) != 0) {
            soak_fail(NULL, "the test itself lost track of %s", p->name);
        }
    }
    if (p->dead) {
        if (memspan_allocator_get_stats(p->handle, &stats) == MEMSPAN_OK) {
            soak_fail(NULL, "%s: has counters although it was destroyed", p->name);
        }
        return;
    }
    if (memspan_allocator_get_stats(p->handle, &stats) != MEMSPAN_OK) {
        soak_fail(NULL, "%s: no counters: %s", p->name, memspan_error_text());
    }
    compare(p->name, &stats, &model);
}

void soak_compare_all(void)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};
    struct sums all                 = gone;

    for (size_t i = 0; i < soak_shared_count; i++) {
        compare_pool(&soak_shared[i]);
        add(&all, &soak_shared[i]);
    }
    for (unsigned t = 0; t < soak_options.threads; t++) {
        for (struct soak_pool *p = soak_threads[t].made; p != NULL; p = p->older) {
            compare_pool(p);
            add(&all, p);
        }
    }
    if (memspan_allocator_get_stats(MEMSPAN_ALLOCATOR_NULL, &stats) != MEMSPAN_OK) {
        soak_fail(NULL, "no counters of all allocators: %s", memspan_error_text());
    }
    compare("all allocators", &stats, &all);
    if (memspan_check() != MEMSPAN_OK) {
        soak_fail(NULL, "%s", memspan_error_text());
    }
}
