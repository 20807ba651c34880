/* SPDX-License-Identifier: BSD-3-Clause */
/* leaks reachable|lost: malloc's blocks that only memory of the library leads to are no leaks for
 * LeakSanitizer; a lost one is. */

#include <memspan/memspan.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 10, LARGE = 64 << 20 };

struct node {
    struct node *next;
    char *name;
};

static struct node *list;
static char **grown;

static void *need(void *block)
{
    if (block == NULL) {
        abort();
    }
    return block;
}

static void reach(void)
{
    int i;

    for (i = 0; i < COUNT; i++) {
        struct node *node = need(memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, sizeof(*node)));

        *node = (struct node){list, strdup("reachable")};
        list  = node;
    }
    /* A chunk of its own, which grows, and others that go back meanwhile. */
    grown = need(memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, LARGE));
    memspan_free(need(memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, LARGE)));
    grown    = need(memspan_realloc(MEMSPAN_ALLOCATOR_DEFAULT, grown, 4 * (size_t)LARGE));
    grown[1] = strdup("reachable");
    (void)memspan_trim();
    grown[3 * LARGE / sizeof(*grown)] = strdup("reachable");
}

static void __attribute__((noinline)) lose(void)
{
    char *volatile lost = malloc(COUNT);

    lost[0] = 1;
    lost    = NULL;
}

int main(int count, char **arguments)
{
    if ((count == 2) && (strcmp(arguments[1], "lost") == 0)) {
        lose();
    }
    reach();
    return 0;
}
