/* SPDX-License-Identifier: BSD-3-Clause */
/* Put and get of every size and alignment, between every two places where symmetric memory and the
 * program's own may be, strided ones too; bytes beside what was written stay as they were. */

#include "tests/shmem/check.h"
#include <stdlib.h>
#include <string.h>

enum { ROOM = 70000, GUARD = 64 };

static unsigned char in_data[ROOM];
static unsigned char in_data_too[ROOM] = {1};
static unsigned char *in_heap;
static int me;
static int count;

static void fill(unsigned char *at, size_t size, uint64_t message)
{
    size_t i;

    for (i = 0; i < size; i++) {
        at[i] = check_byte(message, i);
    }
}

static void expect(const unsigned char *at, size_t size, uint64_t message, const char *what)
{
    size_t i;

    for (i = 0; i < size; i++) {
        CHECK(at[i] == check_byte(message, i), "%s: byte %zu of %zu is %u", what, i, size, at[i]);
    }
}

/* Every PE puts to the next one and gets from it. */
static void ring(unsigned char *symmetric, unsigned char *own, size_t size, size_t shift,
                 const char *what)
{
    int next     = (me + 1) % count;
    int previous = (me + count - 1) % count;

    memset(symmetric, 0xee, size + (2 * GUARD) + shift);
    shmem_barrier_all();
    fill(own, size, (uint64_t)me + 1);
    shmem_putmem(symmetric + GUARD + shift, own, size, next);
    memset(own, 0, size); /* a put has taken its source when it returns */
    shmem_barrier_all();
    expect(symmetric + GUARD + shift, size, (uint64_t)previous + 1, what);
    CHECK(symmetric[GUARD + shift - 1] == 0xee, "%s: before, size %zu", what, size);
    CHECK(symmetric[GUARD + shift + size] == 0xee, "%s: after, size %zu", what, size);

    memset(own, 0, size + 1);
    shmem_getmem(own, symmetric + GUARD + shift, size, next);
    expect(own, size, (uint64_t)me + 1, what);
    CHECK(own[size] == 0, "%s: get, after, size %zu", what, size);
    shmem_barrier_all();
}

static void sizes(void)
{
    static const size_t size[] = {0,    1,    2,    3,    4,     5,     7,     8,     9,
                                  15,   16,   17,   31,   32,    33,    63,    64,    65,
                                  100,  255,  256,  1000, 1024,  3071,  3072,  3073,  4095,
                                  4096, 4097, 5000, 8192, 16383, 16384, 16385, 65535, 65536};
    unsigned char *own         = malloc(ROOM);
    size_t i;
    size_t shift;

    for (i = 0; i < sizeof size / sizeof size[0]; i++) {
        for (shift = 0; shift < 9; shift += (size[i] > 300) ? 7 : 1) {
            ring(in_heap, own, size[i], shift, "heap");
            ring(in_data, own, size[i], shift, "zeroed variable");
            ring(in_data_too, own, size[i], shift, "variable with a value");
            ring(in_heap, in_data, size[i], shift, "heap from a variable");
        }
    }
    free(own);
}

static void strided(void)
{
    long *to     = (long *)(void *)in_heap;
    long *from   = (long *)(void *)in_data;
    int next     = (me + 1) % count;
    int previous = (me + count - 1) % count;
    int i;

    for (i = 0; i < 100; i++) {
        to[i]   = -1;
        from[i] = (me * 1000) + i;
    }
    shmem_barrier_all();
    shmem_long_iput(to, from, 3, 2, 20, next);
    shmem_barrier_all();
    for (i = 0; i < 100; i++) {
        long want = ((i % 3 == 0) && (i < 60)) ? (previous * 1000) + (2 * (i / 3)) : -1;

        CHECK(to[i] == want, "iput: element %d is %ld, not %ld", i, to[i], want);
    }
    shmem_barrier_all();
    for (i = 0; i < 100; i++) {
        to[i] = -1;
    }
    shmem_long_ibget(to, from, 5, 4, 2, 10, next);
    for (i = 0; i < 50; i++) {
        long want = (i % 5 < 2) ? (next * 1000) + (4 * (i / 5)) + (i % 5) : -1;

        CHECK(to[i] == want, "ibget: element %d is %ld, not %ld", i, to[i], want);
    }
    shmem_barrier_all();
}

static void words(void)
{
    long *heap = (long *)(void *)in_heap;
    int pe;

    for (pe = 0; pe < count; pe++) {
        shmem_long_p(&heap[me], 7000 + me, pe);
    }
    shmem_barrier_all();
    for (pe = 0; pe < count; pe++) {
        CHECK(heap[pe] == 7000 + pe, "p of PE %d: %ld", pe, heap[pe]);
        CHECK(shmem_long_g(&heap[me], pe) == 7000 + me, "g of PE %d", pe);
    }
    shmem_barrier_all();
}

static void questions(void)
{
    long local = 0;
    int pe;

    for (pe = 0; pe < count; pe++) {
        long *peer = shmem_ptr(in_heap, pe);

        CHECK(shmem_pe_accessible(pe) == 1, "PE %d", pe);
        CHECK(shmem_addr_accessible(in_heap, pe) == 1, "heap of PE %d", pe);
        CHECK(shmem_addr_accessible(in_data, pe) == 1, "variable of PE %d", pe);
        CHECK(shmem_addr_accessible(&local, pe) == 0, "stack of PE %d", pe);
        CHECK((peer != NULL) == check_is_near(pe), "PE %d", pe);
        CHECK(shmem_ptr(&local, pe) == NULL, "stack of PE %d", pe);
        if (pe == (me + 1) % count) {
            if (peer != NULL) {
                peer[0] = 4000 + me; /* a store is a put */
            } else {
                shmem_long_p((long *)(void *)in_heap, 4000 + me, pe);
            }
        }
    }
    CHECK(shmem_pe_accessible(count) == 0 && shmem_pe_accessible(-1) == 0, "wild PEs");
    CHECK(shmem_ptr(in_heap, count) == NULL, "wild PE");
    shmem_barrier_all();
    CHECK(*(long *)(void *)in_heap == 4000 + ((me + count - 1) % count),
          "stored through a pointer");
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    me      = shmem_my_pe();
    count   = shmem_n_pes();
    in_heap = shmem_malloc(ROOM);
    CHECK(in_heap != NULL, "heap");
    CHECK(in_data_too[0] == 1, "a variable has lost its value");
    sizes();
    strided();
    words();
    questions();
    shmem_free(in_heap);
    shmem_finalize();
    return (in_data_too[0] == 0xee) ? 0 : 1; /* variables keep their values after the end */
}
