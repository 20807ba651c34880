/* SPDX-License-Identifier: BSD-3-Clause */
/* Placement by call site with more call stacks than the library keeps answers for: each stack gets
 * its own answer, also where two of them have one place in the table. */

#include "api.h"
#include <memspan/placement.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEPTH = 11, STACKS = 1 << DEPTH };

/* Both calls are made by one instruction, or their call stacks would differ. */
typedef uintptr_t (*call_fn)(char *, size_t);

static char site[MEMSPAN_CALL_SITE_BYTES];
static volatile int returns;

/* The bits of @p path choose the calls on the way. */
__attribute__((noinline)) static uintptr_t walk(int depth, unsigned path, call_fn call)
{
    uintptr_t answer;

    if (depth == 0) {
        answer = call(site, sizeof(site));
    } else if ((path & 1u) != 0) {
        answer  = walk(depth - 1, path >> 1, call);
        returns = 1;
    } else {
        answer  = walk(depth - 1, path >> 1, call);
        returns = 2;
    }
    returns = 0;
    return answer;
}

static memspan_allocator_h wanted(unsigned path)
{
    static const memspan_allocator_h of[] = {MEMSPAN_ALLOCATOR_NULL, MEMSPAN_ALLOCATOR_HIGH_BW,
                                             MEMSPAN_ALLOCATOR_LARGE_CAP};

    return of[(path * 7u) % 3];
}

static void write_sites(const char *name)
{
    FILE *file = fopen(name, "w");

    fprintf(file, "memspan-placement 1\n");
    for (unsigned path = 0; path < STACKS; path++) {
        (void)walk(DEPTH, path, (call_fn)(void (*)(void))memspan_call_site);
        if (wanted(path) != MEMSPAN_ALLOCATOR_NULL) {
            fprintf(file, "%s %s\n",
                    (wanted(path) == MEMSPAN_ALLOCATOR_HIGH_BW) ? "high_bw" : "large_cap", site);
        }
    }
    fclose(file);
}

Test(placement, stacks_that_share_a_place_have_their_own_answers)
{
    char name[] = "/tmp/memspan-placement-XXXXXX";
    int status  = -1;
    int wrong   = 0;
    pid_t child;

    close(mkstemp(name));
    child = fork(); /* the library reads its variables once */
    if (child == 0) {
        write_sites(name);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
    setenv("MEMSPAN_PLACEMENT", name, 1);
    for (int round = 0; round < 2; round++) {
        for (unsigned path = 0; path < STACKS; path++) {
            uintptr_t given = walk(DEPTH, path, (call_fn)(void (*)(void))memspan_placement_find);

            wrong += (given != (uintptr_t)wanted(path));
        }
    }
    unlink(name);
    cr_expect_eq(wrong, 0, "%d of %d answers are another stack's", wrong, 2 * STACKS);
}
