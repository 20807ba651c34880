/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c: large reductions in memory of devices, of all kinds of numbers, also in place. Every PE
 * knows what the others give; the order of operands is that of the PEs, on each host first where
 * hosts have equal numbers of consecutive PEs. */

#include "tests/shmem/check.h"
#include <complex.h>
#include <memspan/status.h>
#include <shmemx.h>
#include <stdlib.h>
#include <string.h>

enum { PARTITION = 5, BYTES = 3 << 20 };

static char *source; /* of the device */
static char *dest;
static int me;
static int pes;
static int group; /* PEs that are combined first */

/* Sums of fractions depend on their order. */
#define VALUE(type, pe, i) ((type)(((pe) + 3) * 0.7 + (double)(((i)*31 + (pe)) % 97)))

#define REDUCE(name, type, call, operation)                                                        \
    static void name(size_t count, char *to)                                                       \
    {                                                                                              \
        size_t bytes = count * sizeof(type);                                                       \
        type *own    = malloc(bytes);                                                              \
        type *all    = malloc(bytes);                                                              \
                                                                                                   \
        for (size_t i = 0; i < count; i++) {                                                       \
            own[i] = VALUE(type, me, i);                                                           \
        }                                                                                          \
        shmem_putmem(source, own, bytes, me);                                                      \
        shmem_barrier_all();                                                                       \
        CHECK(call(SHMEM_TEAM_WORLD, (type *)(void *)to, (type *)(void *)source, count) == 0,      \
              "%s", memspan_error_text());                                                         \
        shmem_getmem(all, to, bytes, me);                                                          \
        for (size_t i = 0; i < count; i++) {                                                       \
            type all_x = 0;                                                                        \
                                                                                                   \
            for (int first = 0; first < pes; first += group) {                                     \
                type x = VALUE(type, first, i);                                                    \
                type y;                                                                            \
                                                                                                   \
                for (int pe = first + 1; pe < first + group; pe++) {                               \
                    y = VALUE(type, pe, i);                                                        \
                    x = (type)(operation);                                                         \
                }                                                                                  \
                y     = x;                                                                         \
                x     = all_x;                                                                     \
                all_x = (first == 0) ? y : (type)(operation);                                      \
            }                                                                                      \
            CHECK(all[i] == all_x, #call " of %zu: element %zu", count, i);                        \
        }                                                                                          \
        free(own);                                                                                 \
        free(all);                                                                                 \
    }

REDUCE(sum_of_doubles, double, shmem_double_sum_reduce, x + y)
REDUCE(product_of_floats, float, shmem_float_prod_reduce, x *y)
REDUCE(sum_of_complex, double _Complex, shmem_complexd_sum_reduce, x + y)
REDUCE(greatest_short, short, shmem_short_max_reduce, (y > x) ? y : x)
REDUCE(least_char, signed char, shmem_schar_min_reduce, (y < x) ? y : x)
REDUCE(bits, uint64_t, shmem_uint64_xor_reduce, x ^ y)
/* No device has these numbers. */
REDUCE(sum_of_long_doubles, long double, shmem_longdouble_sum_reduce, x + y)

static void reduce_all(size_t bytes, char *to)
{
    sum_of_doubles(bytes / sizeof(double), to);
    product_of_floats(bytes / sizeof(float), to);
    sum_of_complex(bytes / sizeof(double _Complex), to);
    greatest_short(bytes / sizeof(short), to);
    least_char(bytes, to);
    bits(bytes / sizeof(uint64_t), to);
    sum_of_long_doubles(bytes / sizeof(long double), to);
}

/* How many PEs each host has; all PEs, where hosts differ or their PEs are not consecutive. */
static int equal_hosts(void)
{
    static int mine;
    static int least;
    static int most;

    mine = shmem_team_n_pes(SHMEM_TEAM_SHARED);
    if (shmem_team_translate_pe(SHMEM_TEAM_SHARED, mine - 1, SHMEM_TEAM_WORLD) !=
        shmem_team_translate_pe(SHMEM_TEAM_SHARED, 0, SHMEM_TEAM_WORLD) + mine - 1) {
        mine = 0;
    }
    CHECK(shmem_int_min_reduce(SHMEM_TEAM_WORLD, &least, &mine, 1) == 0, "min");
    CHECK(shmem_int_max_reduce(SHMEM_TEAM_WORLD, &most, &mine, 1) == 0, "max");
    return ((least == most) && (most != 0)) ? most : pes;
}

int main(void)
{
    shmem_init();
    me     = shmem_my_pe();
    pes    = shmem_n_pes();
    group  = equal_hosts();
    source = shmemx_partition_malloc(BYTES, PARTITION);
    dest   = shmemx_partition_malloc(BYTES, PARTITION);
    CHECK((source != NULL) && (dest != NULL), "%s", memspan_error_text());
    reduce_all((size_t)256 << 10, dest);
    reduce_all(((size_t)300 << 10) + 50, source);
    sum_of_doubles(BYTES / sizeof(double), dest);
    sum_of_doubles(BYTES / sizeof(double), source);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
