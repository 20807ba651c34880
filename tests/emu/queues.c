/* SPDX-License-Identifier: BSD-3-Clause */
/* queues.c MODE: programs that use memory in the order of queues. Those of "right" run, each other
 * one lacks one edge, and is stopped by the emulated device. */

#include <memspan/memspan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 100000, SMALL = 500 };

#define DO(call)                                                                                   \
    do {                                                                                           \
        if ((call) != MEMSPAN_OK) {                                                                \
            printf("%s: %s\n", #call, memspan_error_text());                                       \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static memspan_allocator_h allocator;
static memspan_queue_h a;
static memspan_queue_h b;
static memspan_queue_h c;
static char host[BYTES];

static void *take(size_t size_bytes)
{
    void *p = memspan_alloc_on(allocator, size_bytes, a);

    if (p == NULL) {
        printf("%s\n", memspan_error_text());
        exit(1);
    }
    DO(memspan_fill_on(a, p, 1, size_bytes));
    return p;
}

/* ---- each lacks one edge ---- */

static void use_early(void)
{
    char *p = take(BYTES);

    DO(memspan_copy_on(b, host, p, BYTES));
}

static void use_early_small(void)
{
    char *p = take(SMALL);

    DO(memspan_copy_on(b, p, host, SMALL));
}

/* The edge is older than the allocation. */
static void use_early_old_edge(void)
{
    char *p;

    (void)take(BYTES);
    DO(memspan_queue_wait(b, a));
    p = take(BYTES);
    DO(memspan_fill_on(b, p, 2, BYTES));
}

static void use_early_by_host(void)
{
    char *p = take(BYTES);

    DO(memspan_copy(host, p, BYTES));
}

static void use_early_kernel(void)
{
    double *z                  = memspan_alloc_on(allocator, BYTES, a);
    memspan_kernel_call_t call = {
        .struct_size = sizeof(call), .kernel = MEMSPAN_KERNEL_FILL, .count = 8, .a = 1, .z = z};

    DO(memspan_kernel_launch_on(b, &call));
}

/* A free of other memory waits for nothing that the program may count on. */
static void use_early_after_free(void)
{
    char *p = take(BYTES);

    DO(memspan_free_on(take(BYTES), a));
    DO(memspan_fill_on(b, p, 2, BYTES));
}

static void use_late(void)
{
    char *p = take(BYTES);

    DO(memspan_queue_wait(b, a));
    DO(memspan_fill_on(b, p, 2, BYTES));
    DO(memspan_free_on(p, a));
}

static void use_late_small(void)
{
    char *p = take(SMALL);

    DO(memspan_queue_wait(b, a));
    DO(memspan_fill_on(b, p, 2, SMALL));
    DO(memspan_free_on(p, a));
}

/* The edge covers the first use of two. */
static void use_late_old_edge(void)
{
    char *p = take(BYTES);

    DO(memspan_queue_wait(b, a));
    DO(memspan_fill_on(b, p, 2, BYTES));
    DO(memspan_queue_wait(a, b));
    DO(memspan_copy_on(b, host, p, SMALL));
    DO(memspan_free_on(p, a));
}

/* Of memory in the order of the host. */
static void use_late_plain(void)
{
    char *p = memspan_alloc(allocator, BYTES);

    DO(memspan_fill_on(b, p, 2, BYTES));
    DO(memspan_free_on(p, a));
}

static void use_after(void)
{
    char *p = take(BYTES);

    DO(memspan_free_on(p, a));
    DO(memspan_queue_wait(b, a)); /* makes it no better */
    (void)memspan_copy_on(b, host, p, BYTES);
}

static void free_by_host(void)
{
    char *p = take(BYTES);

    memspan_free(p);
}

/* ---- with every edge ---- */

static void right(void)
{
    static const size_t sizes[] = {BYTES, SMALL};
    int i;

    for (i = 0; i < 40; i++) {
        size_t size = sizes[i & 1];
        char *p     = take(size);
        char *q     = memspan_alloc(allocator, size);

        DO(memspan_queue_wait(b, a));
        DO(memspan_fill_on(b, p, (unsigned char)i, size));
        DO(memspan_fill_on(c, q, (unsigned char)i, size));
        DO(memspan_queue_wait(c, b)); /* after a, too */
        DO(memspan_copy_on(c, q, p, size));
        switch (i % 4) {
        case 0:
            DO(memspan_queue_wait(a, c));
            DO(memspan_free_on(p, a));
            break;
        case 1:
            DO(memspan_used_on(p, b));
            DO(memspan_used_on(p, c));
            DO(memspan_free_on(p, a));
            break;
        case 2:
            DO(memspan_free_on(p, c));
            break;
        default:
            DO(memspan_queue_synchronize(c));
            memspan_free(p);
            break;
        }
        DO(memspan_copy_on(c, host, q, size));
        DO(memspan_queue_synchronize(c));
        memspan_free(q);
        if ((host[0] != (char)i) || (host[size - 1] != (char)i)) {
            printf("byte %d is %d\n", i, host[0]);
            exit(1);
        }
    }
}

/* Its bytes come when the host has waited, and in no run before. */
static void late_copy(void)
{
    char *p  = take(BYTES);
    int late = 0;
    int i;

    for (i = 0; i < 20; i++) {
        memset(host, 0, SMALL);
        DO(memspan_copy_on(a, host, p, SMALL));
        late += (host[0] == 0);
        DO(memspan_queue_synchronize(a));
        if (host[0] != 1) {
            printf("a copy is not there\n");
            exit(1);
        }
    }
    DO(memspan_free_on(p, a));
    printf("%d copies of 20 were late\n", late);
}

/* ---- managed memory that is attached to a queue ---- */

enum { COUNT = 10000 };

static double *take_managed(void)
{
    const int devices[]            = {0, MEMSPAN_HOST};
    const memspan_trait_t traits[] = {{MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB},
                                      {MEMSPAN_TRAIT_MEMORY_ACCESS, MEMSPAN_VALUE_MANAGED}};
    memspan_allocator_h managed;
    memspan_space_h space;
    double *x;

    DO(memspan_space_get(devices, 2, MEMSPAN_SPACE_DEFAULT, &space));
    DO(memspan_allocator_create(space, traits, 2, &managed));
    x = memspan_alloc(managed, COUNT * sizeof *x);
    if (x == NULL) {
        printf("%s\n", memspan_error_text());
        exit(1);
    }
    return x;
}

static double *take_attached(memspan_queue_h queue)
{
    double *x = take_managed();

    DO(memspan_queue_attach(x, queue));
    return x;
}

static void launch(memspan_queue_h queue, double *x, double value)
{
    memspan_kernel_call_t call = {.struct_size = sizeof(call),
                                  .kernel      = MEMSPAN_KERNEL_FILL,
                                  .count       = COUNT,
                                  .a           = value,
                                  .z           = x};

    DO(memspan_kernel_launch_on(queue, &call));
}

static void expect(const volatile double *x, double value)
{
    if (x[COUNT - 1] != value) {
        printf("%g, not %g\n", x[COUNT - 1], value);
        exit(1);
    }
}

static void attached_host_early(void)
{
    double *x = take_attached(a);

    launch(a, x, 1);
    DO(memspan_queue_synchronize(b));
    expect(x, 1);
}

static void attached_other_kernel(void)
{
    double *x = take_attached(a);

    launch(a, x, 1);
    DO(memspan_queue_wait(b, a)); /* an order does not help */
    launch(b, x, 2);
}

static void attached_other_copy(void)
{
    double *x = take_attached(a);

    DO(memspan_copy_on(b, host, x, BYTES / 2));
}

static void attached_own_copy(void)
{
    double *x = take_attached(a);

    launch(a, x, 1);
    DO(memspan_copy(host, x, BYTES / 2));
}

static void attached_early(void)
{
    double *x = take_managed();

    launch(a, x, 1);
    DO(memspan_queue_attach(x, b));
}

static void detached_early(void)
{
    double *x = take_attached(a);

    launch(a, x, 1);
    DO(memspan_queue_attach(x, MEMSPAN_QUEUE_NULL));
}

/* The host has one queue's memory while another works; memory goes to another queue in order, and
 * is all queues' when its own has ended. */
static void attached_right(void)
{
    double *x = take_attached(a);
    double *y = take_attached(b);

    launch(a, x, 1);
    launch(b, y, 2);
    DO(memspan_queue_synchronize(a));
    expect(x, 1);
    DO(memspan_copy(host, x, BYTES / 2));
    launch(a, x, 3);
    DO(memspan_queue_wait(b, a));
    DO(memspan_queue_attach(x, b));
    launch(b, x, 4);
    DO(memspan_queue_synchronize(b));
    expect(x, 4);
    expect(y, 2);
    DO(memspan_queue_attach(x, MEMSPAN_QUEUE_NULL));
    launch(c, x, 5);
    DO(memspan_queue_close(b));
    DO(memspan_queue_open(0, MEMSPAN_QUEUE_OWN, NULL, 0, &b));
    launch(c, y, 6);
    DO(memspan_device_synchronize(0));
    expect(x, 5);
    expect(y, 6);
    DO(memspan_queue_attach(x, a));
    DO(memspan_free(x));
    DO(memspan_free_on(y, c));
    x = take_managed(); /* of no queue */
    launch(c, x, 7);
    DO(memspan_queue_synchronize(c));
    expect(x, 7);
}

static const struct {
    const char *name;
    void (*run)(void);
} modes[] = {
    {"attached_host_early", attached_host_early},
    {"attached_other_kernel", attached_other_kernel},
    {"attached_other_copy", attached_other_copy},
    {"attached_own_copy", attached_own_copy},
    {"attached_early", attached_early},
    {"detached_early", detached_early},
    {"attached_right", attached_right},
    {"use_early", use_early},
    {"use_early_small", use_early_small},
    {"use_early_old_edge", use_early_old_edge},
    {"use_early_by_host", use_early_by_host},
    {"use_early_kernel", use_early_kernel},
    {"use_early_after_free", use_early_after_free},
    {"use_late", use_late},
    {"use_late_small", use_late_small},
    {"use_late_old_edge", use_late_old_edge},
    {"use_late_plain", use_late_plain},
    {"use_after", use_after},
    {"free_by_host", free_by_host},
    {"right", right},
    {"late_copy", late_copy},
};

int main(int argc, char **argv)
{
    int device            = 0;
    memspan_trait_t trait = {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB};
    memspan_space_h space;
    size_t i;

    DO(memspan_space_get(&device, 1, MEMSPAN_SPACE_DEFAULT, &space));
    DO(memspan_allocator_create(space, &trait, 1, &allocator));
    DO(memspan_queue_open(device, MEMSPAN_QUEUE_OWN, NULL, 0, &a));
    DO(memspan_queue_open(device, MEMSPAN_QUEUE_OWN, NULL, 0, &b));
    DO(memspan_queue_open(device, MEMSPAN_QUEUE_OWN, NULL, 0, &c));
    for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if ((argc == 2) && (strcmp(argv[1], modes[i].name) == 0)) {
            modes[i].run();
            DO(memspan_queue_close(a));
            DO(memspan_queue_close(b));
            DO(memspan_queue_close(c));
            puts("went on");
            return 0;
        }
    }
    for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        puts(modes[i].name);
    }
    return 2;
}
