/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_ENDS_ENDS_H
#define MEMSPAN_TESTS_ENDS_ENDS_H

/* A program that has used the memory of a device, and the ways in which it may end. It knows
 * OpenMP's names alone, so that it is the same linked with the library and preloaded. */

#include <stddef.h>

/* Before the end: threads have allocated, and the blocks are ... */
enum state { STATE_KEPT, STATE_FREED, STATE_DECAYED, STATE_COUNT };

/* memory.c; memory_use() ends the process with 77 without a device, with 1 without its memory */
void memory_use(enum state state);
void *memory_take(size_t bytes);
void *memory_take_of_host(size_t bytes);
void memory_give(void *block);
void memory_copy(void *block); /* where the library is there */
void memory_turn(void);        /* take, use, copy and give */

struct end {
    const char *name;
    void (*prepare)(void); /* before the device is first used; NULL: nothing */
    int (*end)(void);      /* what main returns */
    int status;            /* of the process; -n: killed by signal n */
};

/* ends.c */
extern const struct end ends[];

#endif /* MEMSPAN_TESTS_ENDS_ENDS_H */
