/* SPDX-License-Identifier: BSD-3-Clause */
/* waits.c: the host waits for three frees of small objects, and for nothing else. */

#include <memspan/memspan.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 1 << 20, SMALL = 100 };

#define DO(call)                                                                                   \
    do {                                                                                           \
        if ((call) != MEMSPAN_OK) {                                                                \
            fprintf(stderr, "%s: %s\n", #call, memspan_error_text());                              \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static memspan_allocator_h allocator;
static memspan_queue_h a;
static memspan_queue_h b;

__attribute__((noinline)) static void free_object(void)
{
    void *p = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, SMALL);

    DO(memspan_free_on(p, a));
}

/* The first by the pool, in order, after b has waited for a, and after an event. */
static void reuse(void)
{
    void *p = memspan_alloc_on(allocator, BYTES, a);

    DO(memspan_free_on(p, a));
    p = memspan_alloc_on(allocator, BYTES, a);
    DO(memspan_free_on(p, a));
    DO(memspan_queue_wait(b, a));
    p = memspan_alloc_on(allocator, BYTES, b);
    DO(memspan_fill_on(b, p, 1, BYTES));
    DO(memspan_free_on(p, b));
    p = memspan_alloc_on(allocator, BYTES, a);
    DO(memspan_free_on(p, a));
}

static void called(void *argument)
{
    (void)argument;
}

int main(void)
{
    int device         = 0;
    volatile int times = 3; /* not unrolled: one place of the calls */
    memspan_space_h space;

    DO(memspan_space_get(&device, 1, MEMSPAN_SPACE_DEFAULT, &space));
    DO(memspan_allocator_create(space, NULL, 0, &allocator));
    DO(memspan_queue_open(device, MEMSPAN_QUEUE_OWN, NULL, 0, &a));
    DO(memspan_queue_open(device, MEMSPAN_QUEUE_OWN, NULL, 0, &b));
    while (times-- > 0) {
        free_object();
    }
    reuse();
    DO(memspan_call_on(a, called, NULL));
    DO(memspan_queue_synchronize(a));
    DO(memspan_queue_close(b));
    return 0;
}
