/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_SHMEM_CHECK_H
#define MEMSPAN_TESTS_SHMEM_CHECK_H

/* What the programs of this room have in common: a condition that ends the whole job when it does
 * not hold, and numbers that are the same on every PE. */

#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: PE %d: not so: %s\n", __FILE__, __LINE__, shmem_my_pe(),       \
                    #condition);                                                                   \
            fprintf(stderr, "  " __VA_ARGS__);                                                     \
            fprintf(stderr, "\n");                                                                 \
            shmem_global_exit(1);                                                                  \
        }                                                                                          \
    } while (0)

/* Whether @p pe is on this PE's host. */
static inline int check_is_near(int pe)
{
    return shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_SHARED) >= 0;
}

/* @p rounds, or fewer where each takes messages. */
static inline int check_rounds(int rounds)
{
    return (shmem_team_n_pes(SHMEM_TEAM_SHARED) == shmem_n_pes()) ? rounds : rounds / 20;
}

static inline uint64_t check_random(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = *state;
    x          = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x          = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* The byte at @p offset of a message with that number. */
static inline unsigned char check_byte(uint64_t message, size_t offset)
{
    return (unsigned char)((message * 131) + (offset * 7) + (offset >> 8));
}

#endif /* MEMSPAN_TESTS_SHMEM_CHECK_H */
