/* SPDX-License-Identifier: BSD-3-Clause */
/* late.c: device memory that is given back by an exit handler older than the driver's, and by a
 * destructor: the driver has ended by then, and a call ends the process. */

#include <memspan/memspan.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SMALL = 100, LARGE = 4 << 20, HUGE_BYTES = 100 << 20 };

static memspan_allocator_h allocator;
static void *early[2];
static void *late[2];

static void need(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "late: %s: %s\n", what, memspan_error_text());
        _exit(1);
    }
}

static void free_both(void *blocks[2], const char *when)
{
    need(memspan_free(blocks[0]) == MEMSPAN_OK, when);
    need(memspan_free(blocks[1]) == MEMSPAN_OK, when);
}

static void at_exit(void)
{
    free_both(early, "an exit handler frees");
}

__attribute__((destructor)) static void at_the_very_end(void)
{
    if (late[0] != NULL) {
        free_both(late, "a destructor frees");
        need(memspan_alloc(allocator, HUGE_BYTES) == NULL, "no driver is left to give memory");
    }
}

int main(void)
{
    memspan_trait_t null_fb = {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB};
    memspan_space_h space   = MEMSPAN_SPACE_NULL;
    int device              = 0;

    need(atexit(at_exit) == 0, "atexit"); /* before the driver has its own: it runs after that */
    need(memspan_space_get(&device, 1, MEMSPAN_SPACE_NULL, &space) == MEMSPAN_OK, "a space");
    need(memspan_allocator_create(space, &null_fb, 1, &allocator) == MEMSPAN_OK, "an allocator");
    for (int i = 0; i < 2; i++) {
        early[i] = memspan_alloc(allocator, (i == 0) ? SMALL : LARGE);
        late[i]  = memspan_alloc(allocator, (i == 0) ? SMALL : LARGE);
        need((early[i] != NULL) && (late[i] != NULL), "a block");
    }
    return 0;
}
