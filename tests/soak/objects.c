/* SPDX-License-Identifier: BSD-3-Clause */
/* objects.c: memspan-soak-objects [OPERATIONS [SEED]]: random operations on small and medium
 * blocks, of one thread or handed between two, held to a model that costs little: 10^9 of them take
 * some minutes.
 *
 * Each thread has an allocator with a pool_size of its own beside a common one without. What it
 * asks of its own is refused exactly where the model says. A block carries its place in its first
 * and last word, so that no two overlap. After each round the counters are those of the model. */

#include <inttypes.h>
#include <memspan/memspan.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 2, PLACES = 1500, ROUNDS = 20, OVERHEAD = 4, LEAST = 16, POOL = 200000 };

struct place {
    unsigned char *address;
    size_t bytes;
    bool limited;
};

struct worker {
    memspan_allocator_h own; /* with a pool_size */
    uint64_t random;
    uint64_t operations; /* in a round */
    int64_t left;        /* of pool_size: its own blocks are freed by it alone */
    uint64_t live_bytes; /* of the common allocator, as far as this thread has changed it */
    uint64_t live_count;
    uint64_t refused;
    struct place places[PLACES];
    _Atomic(struct place *) parcel; /* for the other thread to free */
    pthread_t thread;
};

static struct worker workers[THREADS];
static memspan_allocator_h common;

static void fail(const struct worker *w, const char *what, size_t bytes)
{
    fprintf(stderr, "objects: thread %d: %s (%zu bytes, %" PRId64 " left): %s\n",
            (int)(w - workers), what, bytes, w->left, memspan_error_text());
    abort();
}

static uint64_t next(struct worker *w) /* xorshift64 */
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random;
}

/* Most are small, some beyond what slabs have; of these, some have one of a few sizes. */
static size_t pick_size(struct worker *w)
{
    static const size_t medium[] = {8193, 9000, 9001, 16384, 20000, 33333, 65536, 66000};
    uint64_t r                   = next(w);
    unsigned shift               = (unsigned)((r >> 40) % 10);

    if ((r >> 50) % 8 == 0) {
        return medium[r % (sizeof(medium) / sizeof(medium[0]))];
    }
    return LEAST + (size_t)(r % (UINT64_C(16) << shift));
}

static void mark(struct place *place)
{
    memcpy(place->address, &place->address, sizeof(void *));
    memcpy(place->address + place->bytes - sizeof(void *), &place->address, sizeof(void *));
}

static void check(const struct worker *w, const struct place *place)
{
    if ((memcmp(place->address, &place->address, sizeof(void *)) != 0) ||
        (memcmp(place->address + place->bytes - sizeof(void *), &place->address, sizeof(void *)) !=
         0)) {
        fail(w, "a block was written to", place->bytes);
    }
}

static void count(struct worker *w, const struct place *place, int sign)
{
    if (place->limited) {
        w->left -= sign * (int64_t)(place->bytes + OVERHEAD);
    } else {
        w->live_bytes += (uint64_t)(sign * (int64_t)place->bytes);
        w->live_count += (uint64_t)(int64_t)sign;
    }
}

static void take(struct worker *w, struct place *place)
{
    place->bytes   = pick_size(w);
    place->limited = (next(w) >> 20) % 2 == 0;
    place->address = memspan_alloc(place->limited ? w->own : common, place->bytes);
    if ((place->address != NULL) !=
        (!place->limited || ((int64_t)place->bytes + OVERHEAD <= w->left))) {
        fail(w, (place->address != NULL) ? "given beyond pool_size" : "refused", place->bytes);
    }
    if (place->address != NULL) {
        count(w, place, 1);
        mark(place);
    } else {
        w->refused++;
    }
}

static void release(struct worker *w, struct place *place)
{
    check(w, place);
    if (memspan_free(place->address) != MEMSPAN_OK) {
        fail(w, "not freed", place->bytes);
    }
    count(w, place, -1);
    place->address = NULL;
}

static void resize(struct worker *w, struct place *place)
{
    size_t bytes  = pick_size(w);
    bool fits     = !place->limited || ((int64_t)bytes - (int64_t)place->bytes <= w->left);
    void *address = memspan_realloc(MEMSPAN_ALLOCATOR_NULL, place->address, bytes);

    if ((address != NULL) != fits) {
        fail(w, fits ? "not resized" : "resized beyond pool_size", bytes);
    }
    if (address != NULL) {
        if (memcmp(address, &place->address, sizeof(void *)) != 0) {
            fail(w, "resizing lost what was in the block", bytes);
        }
        count(w, place, -1);
        place->address = address;
        place->bytes   = bytes;
        count(w, place, 1);
        mark(place);
    }
}

/* Leaves a block for the other thread, and frees what that has left. */
static void exchange(struct worker *w, struct place *place)
{
    struct worker *other = &workers[(w == &workers[0]) ? 1 : 0];
    struct place *parcel = place->limited ? NULL : malloc(sizeof(*parcel));

    if (parcel != NULL) {
        *parcel        = *place;
        place->address = NULL;
        parcel         = atomic_exchange(&other->parcel, parcel);
    }
    if (parcel != NULL) {
        release(w, parcel);
        free(parcel);
    }
}

static void *work(void *argument)
{
    struct worker *w = argument;

    for (uint64_t i = 0; i < w->operations; i++) {
        uint64_t r          = next(w);
        struct place *place = &w->places[(r >> 8) % PLACES];
        struct place *parcel;

        if (place->address == NULL) {
            take(w, place);
        } else if (r % 16 == 0) {
            resize(w, place);
        } else if (r % 16 == 1) {
            exchange(w, place);
        } else {
            release(w, place);
        }
        parcel = (r % 64 == 0) ? atomic_exchange(&w->parcel, NULL) : NULL;
        if (parcel != NULL) {
            release(w, parcel);
            free(parcel);
        }
    }
    return NULL;
}

static void compare(memspan_allocator_h allocator, uint64_t bytes, uint64_t blocks)
{
    memspan_allocator_stats_t s = {.struct_size = sizeof(s)};

    if ((memspan_allocator_get_stats(allocator, &s) != MEMSPAN_OK) || (s.live_bytes != bytes) ||
        (s.live_count != blocks) || (s.charged_bytes != bytes + OVERHEAD * blocks) ||
        (s.peak_bytes < bytes) || (s.allocated_count != s.freed_count + s.live_count) ||
        (memspan_check() != MEMSPAN_OK)) {
        fprintf(stderr,
                "objects: %" PRIu64 " bytes in %" PRIu64 " blocks, not %" PRIu64 " in %" PRIu64
                ": %s\n",
                s.live_bytes, s.live_count, bytes, blocks, memspan_error_text());
        abort();
    }
}

static void compare_all(void)
{
    uint64_t bytes  = 0;
    uint64_t blocks = 0;

    for (int t = 0; t < THREADS; t++) {
        struct worker *w   = &workers[t];
        uint64_t own_bytes = 0;
        uint64_t own_count = 0;

        for (int i = 0; i < PLACES; i++) {
            if ((w->places[i].address != NULL) && w->places[i].limited) {
                own_bytes += w->places[i].bytes;
                own_count++;
            }
        }
        compare(w->own, own_bytes, own_count);
        bytes += w->live_bytes;
        blocks += w->live_count;
    }
    compare(common, bytes, blocks);
}

int main(int argc, char **argv)
{
    uint64_t operations            = (argc > 1) ? strtoull(argv[1], NULL, 0) : 2000000;
    uint64_t seed                  = (argc > 2) ? strtoull(argv[2], NULL, 0) : 1;
    const memspan_trait_t traits[] = {{MEMSPAN_TRAIT_POOL_SIZE, POOL},
                                      {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}};

    if (memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, NULL, 0, &common) != MEMSPAN_OK) {
        return 1;
    }
    for (int t = 0; t < THREADS; t++) {
        workers[t].random     = seed * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)t + 1;
        workers[t].left       = POOL;
        workers[t].operations = operations / (ROUNDS * THREADS);
        if (memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 2, &workers[t].own) !=
            MEMSPAN_OK) {
            return 1;
        }
    }
    for (int round = 0; round < ROUNDS; round++) { /* threads end: the next adopt their slabs */
        for (int t = 0; t < THREADS; t++) {
            if (pthread_create(&workers[t].thread, NULL, work, &workers[t]) != 0) {
                return 1;
            }
        }
        for (int t = 0; t < THREADS; t++) {
            pthread_join(workers[t].thread, NULL);
        }
        compare_all();
    }
    printf("%" PRIu64 " operations, seed %" PRIu64 ", %" PRIu64 " refused: as the model says\n",
           operations, seed, workers[0].refused + workers[1].refused);
    return (workers[0].refused > 0) ? 0 : 1;
}
