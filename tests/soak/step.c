/* SPDX-License-Identifier: BSD-3-Clause */
/* step.c: what a step does; and what a forked child does. */

#include "soak.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_BLOCKS = 64 };

/* ---- many at once ---- */

static void end_burst(struct soak_thread *t)
{
    size_t stride = 1 + soak_random_below(&t->random, SOAK_BURST - 1);

    for (size_t i = 0; i < SOAK_BURST; i++) { /* not in the order of before */
        struct soak_block *b = &t->burst[i * stride % SOAK_BURST];
        if (b->address != NULL) {
            soak_block_free(t, b);
        }
    }
    t->burst_count = 0;
}

/* Full slabs, in a while freed again, perhaps by the thread's next life. */
static void burst(struct soak_thread *t)
{
    struct soak_pool *p = &soak_shared[soak_random_below(&t->random, soak_shared_count)];
    size_t size         = 1 + soak_random_below(&t->random, 16 << soak_random_below(&t->random, 7));

    if (t->burst_count > 0) {
        end_burst(t);
        return;
    }
    if ((p->pool_size != SIZE_MAX) || p->life || p->may_run_out) {
        return;
    }
    while ((t->burst_count < SOAK_BURST) &&
           soak_block_take_plain(t, p, size, &t->burst[t->burst_count])) {
        t->burst_count++;
    }
}

/* ---- between threads ---- */

static void hand_over(struct soak_thread *t, struct soak_block *b)
{
    struct soak_thread *to = &soak_threads[soak_random_below(&t->random, soak_options.threads)];
    size_t place           = soak_random_below(&t->random, SOAK_INBOX);
    struct soak_block *parcel;

    if (b->pool->keep) {
        return;
    }
    parcel     = malloc(sizeof(*parcel));
    *parcel    = *b;
    b->address = NULL;
    t->live_bytes -= (t->live_bytes < parcel->size_bytes) ? t->live_bytes : parcel->size_bytes;
    parcel = atomic_exchange(&to->inbox[place], parcel);
    if (parcel != NULL) {
        soak_block_free(t, parcel);
        free(parcel);
    }
}

static void unpack(struct soak_thread *t)
{
    size_t place              = soak_random_below(&t->random, SOAK_INBOX);
    size_t slot               = soak_random_below(&t->random, SOAK_SLOTS);
    bool adopt                = soak_random_once_in(&t->random, 4);
    struct soak_block *parcel = atomic_exchange(&t->inbox[place], NULL);

    if (parcel == NULL) {
        return;
    }
    if (adopt && (t->slots[slot].address == NULL)) {
        t->slots[slot] = *parcel;
        t->live_bytes += parcel->size_bytes;
    } else {
        soak_block_free(t, parcel);
    }
    free(parcel);
}

void soak_empty(struct soak_thread *t)
{
    end_burst(t);
    for (size_t i = 0; i < SOAK_INBOX; i++) {
        struct soak_block *parcel = atomic_exchange(&t->inbox[i], NULL);
        if (parcel != NULL) {
            soak_block_free(t, parcel);
            free(parcel);
        }
    }
    for (size_t i = 0; i < SOAK_SLOTS; i++) {
        if (t->slots[i].address != NULL) {
            soak_block_free(t, &t->slots[i]);
        }
    }
}

void soak_end_life(struct soak_thread *t)
{
    for (size_t i = 0; i < SOAK_SLOTS; i++) {
        if ((t->slots[i].address != NULL) && t->slots[i].pool->life) {
            soak_block_free(t, &t->slots[i]);
        }
    }
    for (size_t i = 0; i < SOAK_OWN; i++) {
        if ((t->own[i] != NULL) && t->own[i]->life) {
            soak_world_destroy_own(t, i);
        }
    }
}

/* ---- a child ---- */

/* Host memory only: a driver does not survive fork(). */
static void work_in_child(struct soak_thread *t)
{
    struct soak_block blocks[CHILD_BLOCKS] = {{0}};

    for (size_t i = 0; i < 4 * CHILD_BLOCKS; i++) {
        struct soak_block *b = &blocks[i % CHILD_BLOCKS];
        struct soak_pool *p  = &soak_shared[soak_random_below(&t->random, soak_shared_count)];

        if (b->address != NULL) {
            soak_block_free(t, b);
        } else if (p->host && (p->pool_size == SIZE_MAX)) {
            (void)soak_block_take(t, p, b);
        }
    }
    for (size_t i = 0; i < CHILD_BLOCKS; i++) {
        if (blocks[i].address != NULL) {
            soak_block_free(t, &blocks[i]);
        }
    }
    for (size_t i = 0; i < SOAK_SLOTS; i++) {
        if ((t->slots[i].address != NULL) && t->slots[i].pool->host) {
            soak_block_free(t, &t->slots[i]);
        }
    }
    memspan_trim();
    if (memspan_check() != MEMSPAN_OK) {
        soak_fail(t, "in a forked child: %s", memspan_error_text());
    }
}

static void fork_a_child(struct soak_thread *t)
{
    pid_t child;
    int status;

    child = fork();
    if (child == 0) {
        alarm(45); /* a lock that is never released ends as a failure */
        work_in_child(t);
        _exit(EXIT_SUCCESS);
    }
    if ((child < 0) || (waitpid(child, &status, 0) != child) || (status != 0)) {
        soak_fail(t, "the forked child ended with status %#x", (child < 0) ? -1 : status);
    }
}

/* ---- asking the library about itself ---- */

static void ask_statistics(struct soak_thread *t)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};
    struct soak_pool *p             = soak_world_pick(t);

    if ((memspan_allocator_get_stats(p->handle, &stats) != MEMSPAN_OK) ||
        (memspan_allocator_get_stats(MEMSPAN_ALLOCATOR_NULL, &stats) != MEMSPAN_OK)) {
        soak_fail(t, "%s: no counters: %s", p->name, memspan_error_text());
    }
    if (soak_random_once_in(&t->random, 8)) {
        int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (memspan_stats_print(fd) != MEMSPAN_OK) {
            soak_fail(t, "statistics cannot be printed: %s", memspan_error_text());
        }
        close(fd);
    }
}

static void ask_allocator(struct soak_thread *t)
{
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};
    struct soak_pool *p           = soak_world_pick(t);

    if (memspan_allocator_describe(p->handle, &info) != MEMSPAN_OK) {
        soak_fail(t, "%s: %s", p->name, memspan_error_text());
    }
    if ((info.kind_given != p->kind) || (info.pool_size_bytes != p->pool_size)) {
        soak_fail(t, "%s: is described otherwise than when it was made", p->name);
    }
}

static void use_stale(const struct soak_thread *t)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};
    memspan_allocator_info_t info   = {.struct_size = sizeof(info)};

    if (t->stale == MEMSPAN_ALLOCATOR_NULL) {
        return;
    }
    if ((memspan_alloc(t->stale, 10) != NULL) || (memspan_calloc(t->stale, 1, 10) != NULL) ||
        (memspan_allocator_describe(t->stale, &info) == MEMSPAN_OK) ||
        (memspan_allocator_get_stats(t->stale, &stats) == MEMSPAN_OK) ||
        (memspan_allocator_destroy(t->stale) == MEMSPAN_OK)) {
        soak_fail(t, "a handle that was destroyed is taken for an allocator");
    }
}

static void change_own(struct soak_thread *t)
{
    size_t place = soak_random_below(&t->random, SOAK_OWN);

    if (t->own[place] == NULL) {
        soak_world_make_own(t, place);
    } else {
        soak_world_destroy_own(t, place);
    }
}

/* ---- a step ---- */

static void use_block(struct soak_thread *t, struct soak_block *b)
{
    size_t what = soak_random_below(&t->random, 100);

    if (what < 40) {
        soak_block_free(t, b);
    } else if (what < 55) {
        hand_over(t, b);
    } else if (what < 80) {
        soak_block_resize(t, b);
    } else if (what < 90) {
        soak_block_describe(t, b);
    } else {
        soak_verify(t, b, b->size_bytes, b->size_bytes);
    }
}

void soak_step(struct soak_thread *t)
{
    size_t what;
    struct soak_block *b;

    t->random = soak_random_at(soak_options.seed, t->index, t->step);
    what      = soak_random_below(&t->random, 10000);
    b         = &t->slots[soak_random_below(&t->random, SOAK_SLOTS)];
    if (what < 3) {
        if (soak_options.forks) {
            fork_a_child(t);
        }
    } else if (what < 20) {
        if (memspan_check() != MEMSPAN_OK) {
            soak_fail(t, "%s", memspan_error_text());
        }
    } else if (what < 50) {
        (void)memspan_trim();
    } else if (what < 100) {
        ask_statistics(t);
    } else if (what < 200) {
        ask_allocator(t);
    } else if (what < 250) {
        use_stale(t);
    } else if (what < 255) {
        burst(t);
    } else if (what < 500) {
        change_own(t);
    } else if (what < 1500) {
        unpack(t);
    } else if (b->address != NULL) {
        use_block(t, b);
    } else {
        (void)soak_block_take(t, soak_world_pick(t), b);
    }
    t->step++;
}
