/* SPDX-License-Identifier: BSD-3-Clause */
/* program.c MODE: small programs on emulated devices, most of them wrong. A wrong one is stopped
 * before it prints "went on"; a right one prints "right" and exits with 0. run.sh says what each
 * must say. */

#include <fcntl.h>
#include <memspan/memspan.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 1000 };

struct node {
    struct node *next;
    long value;
};

static void need(bool condition, const char *what)
{
    if (!condition) {
        printf("%s: %s\n", what, memspan_error_text());
        exit(1);
    }
}

static memspan_allocator_h make_allocator(bool shared, memspan_trait_value_t access)
{
    const int devices[]            = {0, MEMSPAN_HOST};
    const memspan_trait_t traits[] = {{MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB},
                                      {MEMSPAN_TRAIT_MEMORY_ACCESS, access}};
    memspan_allocator_h allocator  = MEMSPAN_ALLOCATOR_NULL;
    memspan_space_h space          = MEMSPAN_SPACE_NULL;

    need(memspan_space_get(devices, shared ? 2 : 1, MEMSPAN_SPACE_NULL, &space) == MEMSPAN_OK,
         "space");
    need(memspan_allocator_create(space, traits, shared ? 2 : 1, &allocator) == MEMSPAN_OK,
         "allocator");
    return allocator;
}

static double *take(bool shared)
{
    double *block =
        memspan_alloc(make_allocator(shared, MEMSPAN_VALUE_MANAGED), COUNT * sizeof(double));

    need(block != NULL, "memory");
    return block;
}

static void start(memspan_kernel_t kernel, size_t count, const void *x, void *z)
{
    memspan_kernel_call_t call = {
        .struct_size = sizeof(call), .kernel = kernel, .count = count, .a = 2.0, .x = x, .z = z};

    need(memspan_kernel_launch(0, &call) == MEMSPAN_OK, "launch");
}

/* Where the wrong accesses are: their name must be in the report. */
static __attribute__((noinline)) double read_it(const volatile double *from)
{
    return from[3];
}

static __attribute__((noinline)) void write_it(volatile double *to)
{
    to[3] = 1.0;
}

/* ---- wrong ---- */

static double *take_open(void)
{
    double *block = take(false);
    void *host;

    need(memspan_share_host_open(block, COUNT * sizeof(double), &host) == MEMSPAN_OK, "open");
    memset(host, 0, COUNT * sizeof(double));
    return block;
}

static void frees_open(void)
{
    (void)memspan_free(take_open());
}

static void frees_closed(void)
{
    double *block = take_open();

    need(memspan_share_host_close(block, COUNT * sizeof(double)) == MEMSPAN_OK, "close");
    need(memspan_share_host_close(block, COUNT * sizeof(double)) == MEMSPAN_ERR_NOT_FOUND,
         "close again");
    need(memspan_free(block) == MEMSPAN_OK, "free");
}

static void read_device(void)
{
    printf("%g\n", read_it(take(false)));
}

/* At the load the unwinder is to find the caller's frame by the contents of address 8
 * (DW_CFA_def_cfa_expression, DW_OP_lit8, DW_OP_deref). */
static __attribute__((noinline)) double read_unwindless(const volatile double *from)
{
    double value;

    __asm__ volatile(".cfi_remember_state\n\t.cfi_escape 0x0f, 2, 0x38, 0x06" ::: "memory");
    value = from[3];
    __asm__ volatile(".cfi_restore_state" ::: "memory");
    return value;
}

/* Blocks of one page: the page was taken for the first. */
static __attribute__((noinline)) double *take_small(memspan_allocator_h allocator)
{
    double *block = memspan_alloc(allocator, 100 * sizeof(double));

    need(block != NULL, "memory");
    return block;
}

static __attribute__((noinline)) double *take_second(memspan_allocator_h allocator)
{
    double *block = take_small(allocator);

    need(block != NULL, "memory");
    return block;
}

static void read_second_small(void)
{
    memspan_allocator_h allocator = make_allocator(false, MEMSPAN_VALUE_MANAGED);

    (void)take_small(allocator);
    printf("%g\n", read_it(take_second(allocator)));
}

static __attribute__((noinline)) double *take_longer(memspan_allocator_h allocator, double *block)
{
    double *longer = memspan_realloc(allocator, block, 200 * sizeof(double));

    need(longer != NULL, "memory");
    return longer;
}

/* The place of one that was freed, and one of another size. */
static void read_third_small(void)
{
    memspan_allocator_h allocator = make_allocator(false, MEMSPAN_VALUE_MANAGED);

    (void)take_small(allocator);
    need(memspan_free(take_second(allocator)) == MEMSPAN_OK, "a free");
    printf("%g\n", read_it(take_longer(allocator, take_small(allocator))));
}

static void read_device_unwinder_faults(void)
{
    printf("%g\n", read_unwindless(take(false)));
}

static void write_device(void)
{
    write_it(take(false));
}

static void copy_device(void)
{
    char bytes[64];

    memcpy(bytes, take(false), sizeof(bytes)); /* not memspan_copy() */
    printf("%d\n", bytes[0]);
}

static void read_managed(void)
{
    double *z = take(true);

    write_it(z); /* still the host's */
    start(MEMSPAN_KERNEL_FILL, COUNT, NULL, z);
    printf("%g\n", read_it(z));
}

static void write_managed_later(void)
{
    double *z = take(true);

    for (int i = 0; i < 5; i++) {
        start(MEMSPAN_KERNEL_FILL, COUNT, NULL, z);
        need(memspan_device_synchronize(0) == MEMSPAN_OK, "synchronise");
        write_it(z);
    }
    start(MEMSPAN_KERNEL_FILL, COUNT, NULL, z);
    usleep(50000); /* the kernel has long ended: that is not what counts */
    write_it(z);
}

static void read_freed(void)
{
    double *z = memspan_alloc(make_allocator(true, MEMSPAN_VALUE_MANAGED), (size_t)16 << 20);

    need(z != NULL, "memory");
    write_it(z);
    need(memspan_free(z) == MEMSPAN_OK, "free");
    printf("%g\n", read_it(z));
}

/* A small block, while another of its size is in use. */
static void read_freed_small(void)
{
    memspan_allocator_h allocator = make_allocator(true, MEMSPAN_VALUE_COHERENT);
    double *kept                  = memspan_alloc(allocator, 100);
    double *z                     = memspan_alloc(allocator, 100);

    need((kept != NULL) && (z != NULL), "memory");
    write_it(z);
    need(memspan_free(z) == MEMSPAN_OK, "free");
    printf("%g\n", read_it(z));
}

/* Blocks that the devices have back are reported, and counted once. */
static void freed_blocks_come_again(void)
{
    memspan_allocator_h allocator = make_allocator(true, MEMSPAN_VALUE_COHERENT);
    double *z                     = NULL;

    for (int i = 0; i < 300; i++) {
        z = memspan_alloc(allocator, (size_t)1 << 20);
        need(z != NULL, "memory");
        write_it(z);
        need(memspan_free(z) == MEMSPAN_OK, "free");
    }
    need(memspan_check() == MEMSPAN_OK, "check");
}

static void frees_twice(void)
{
    double *z = take(true);

    need(memspan_free(z) == MEMSPAN_OK, "free");
    memspan_free(z);
}

/* What a kernel must not touch: the device is lost, and says so. */
static void expect_lost(const void *x, void *z)
{
    memspan_kernel_call_t call = {
        .struct_size = sizeof(call), .kernel = MEMSPAN_KERNEL_CHASE, .count = 3, .x = x, .z = z};

    if ((memspan_kernel_launch(0, &call) == MEMSPAN_OK) &&
        (memspan_device_synchronize(0) == MEMSPAN_OK)) {
        puts("went on");
        exit(1);
    }
    puts(memspan_error_text());
}

static void kernel_reads_freed(void)
{
    memspan_allocator_h managed = make_allocator(true, MEMSPAN_VALUE_MANAGED);
    struct node *freed          = memspan_alloc(managed, 8000);
    struct node *first          = memspan_alloc(managed, sizeof(*first));
    void *last                  = memspan_calloc(managed, 1, 64);

    need((freed != NULL) && (first != NULL) && (last != NULL), "memory");
    *freed = (struct node){freed, 0};
    *first = (struct node){freed, 0};
    need(memspan_free(freed) == MEMSPAN_OK, "free");
    expect_lost(first, last);
}

/* A variable of the program in a page of its file, with a value from the start. */
static struct node variable = {&variable, 1};

static void kernel_reads_variable(void)
{
    memspan_allocator_h managed = make_allocator(true, MEMSPAN_VALUE_MANAGED);
    struct node *first          = memspan_alloc(managed, sizeof(*first));
    void *last                  = memspan_calloc(managed, 1, 64);

    need((first != NULL) && (last != NULL), "memory");
    variable.value = 2; /* the page is there, and changed */
    *first         = (struct node){&variable, 0};
    expect_lost(first, last);
}

/* Devices keep no descriptor of the program's: the reader of a pipe sees its end. */
static void files_are_the_programs(void)
{
    struct pollfd end = {.events = POLLIN};
    int ends[2];
    int high;
    double *z;
    char byte;

    need(pipe(ends) == 0, "pipe");
    high = fcntl(ends[1], F_DUPFD, 200); /* below and above what a device keeps itself */
    need(high >= 200, "fcntl");
    z = take(false);
    start(MEMSPAN_KERNEL_FILL, COUNT, NULL, z);
    need(memspan_device_synchronize(0) == MEMSPAN_OK, "synchronise");
    close(ends[1]);
    close(high);
    end.fd = ends[0];
    if ((poll(&end, 1, 5000) != 1) || (read(ends[0], &byte, 1) != 0)) {
        puts("went on: a device holds the pipe");
        exit(1);
    }
    close(ends[0]);
    memspan_free(z);
}

static void run_over(void)
{
    const size_t size = (size_t)16 << 20;
    char *z           = memspan_alloc(make_allocator(true, MEMSPAN_VALUE_MANAGED), size);

    need(z != NULL, "memory");
    write_it((double *)(void *)(z + size)); /* byte 24 behind it */
}

static void *read_in_thread(void *z)
{
    printf("%g\n", read_it(z));
    return NULL;
}

static void many_threads(void)
{
    pthread_t threads[4];
    double *z = take(false);

    for (int i = 0; i < 4; i++) {
        need(pthread_create(&threads[i], NULL, read_in_thread, z) == 0, "thread");
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
}

static void in_child(void)
{
    double *z = take(true);
    int status;
    pid_t child = fork();

    if (child == 0) {
        printf("%g\n", read_it(z));
        _exit(0);
    }
    need(waitpid(child, &status, 0) == child, "wait");
    memspan_free(z);
    if (WIFSIGNALED(status)) {
        exit(128 + WTERMSIG(status));
    }
}

/* Its own mistakes are its own: no word of ours. */
static void elsewhere(void)
{
    volatile double *nowhere = (volatile double *)(uintptr_t)64;

    (void)take(false);
    write_it(nowhere);
}

/* ---- right ---- */

static void list_is_walked(void)
{
    memspan_allocator_h managed = make_allocator(true, MEMSPAN_VALUE_MANAGED);
    struct node **last          = memspan_calloc(managed, 1, 64);
    struct node *head           = NULL;
    struct node *first          = NULL;

    need(last != NULL, "memory");
    for (long i = 0; i < COUNT; i++) {
        struct node *node = memspan_alloc(managed, sizeof(*node));

        need(node != NULL, "memory");
        *node = (struct node){head, i};
        first = (first == NULL) ? node : first;
        head  = node;
    }
    for (int turn = 0; turn < 20; turn++) {
        start(MEMSPAN_KERNEL_CHASE, COUNT - 1, head, last);
        need(memspan_device_synchronize(0) == MEMSPAN_OK, "synchronise");
        need((*last == first) && ((*last)->value == turn), "the device's walk");
        (*last)->value++;
    }
    while (head != NULL) {
        struct node *next = head->next;

        need(memspan_free(head) == MEMSPAN_OK, "free");
        head = next;
    }
    memspan_free(last);
}

static void device_memory_by_copies(void)
{
    double out[COUNT] = {0};
    double *x         = take(false);
    double *z         = take(false);

    need(memspan_fill(z, 0, COUNT * sizeof(double)) == MEMSPAN_OK, "fill");
    for (int i = 0; i < COUNT; i++) {
        out[i] = i;
    }
    need(memspan_copy(x, out, sizeof(out)) == MEMSPAN_OK, "copy");
    start(MEMSPAN_KERNEL_SUM, COUNT, x, z);
    need(memspan_copy(out, z, sizeof(double)) == MEMSPAN_OK, "copy");
    need(out[0] == COUNT * (COUNT - 1) / 2.0, "sum");
    memspan_free(x);
    memspan_free(z);
}

static void both_sides_at_once(void)
{
    volatile double *z =
        memspan_alloc(make_allocator(true, MEMSPAN_VALUE_COHERENT), 2 * COUNT * sizeof(double));

    need(z != NULL, "memory");
    start(MEMSPAN_KERNEL_FILL, COUNT, NULL, (void *)(uintptr_t)z);
    for (int i = COUNT; i < 2 * COUNT; i++) {
        z[i] = 1.0;
    }
    need(memspan_device_synchronize(0) == MEMSPAN_OK, "synchronise");
    need((z[0] == 2.0) && (z[COUNT] == 1.0), "values");
    memspan_free((void *)(uintptr_t)z);
}

static void out_of_memory(void)
{
    memspan_allocator_h own = make_allocator(false, MEMSPAN_VALUE_COHERENT);
    void *large             = memspan_alloc(own, (size_t)12 << 20);

    need(large != NULL, "what fits");
    need(memspan_alloc(own, (size_t)12 << 20) == NULL, "more than there is");
    need(memspan_error_last()->status == MEMSPAN_ERR_NO_MEMORY, "status");
    need(strstr(memspan_error_text(), "on emu0") != NULL, "words");
    printf("%s\n", memspan_error_text());
    memspan_free(large);
    large = memspan_alloc(own, (size_t)12 << 20);
    need(large != NULL, "what was freed");
    memspan_free(large);
}

/* A process ends with its last thread, even while threads of the devices exist. */
static void *use_device(void *unused)
{
    usleep(100000);
    device_memory_by_copies();
    puts("right");
    return unused;
}

static void main_leaves(void)
{
    pthread_t thread;

    memspan_free(take(true));
    need(pthread_create(&thread, NULL, use_device, NULL) == 0, "thread");
    need(pthread_detach(thread) == 0, "detach");
    pthread_exit(NULL);
}

static void name_devices(void)
{
    char path[64];
    FILE *file;
    int device;

    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    file = fopen(path, "re");
    while ((file != NULL) && (fscanf(file, "%d", &device) == 1)) {
        printf("device %d\n", device);
    }
    if (file != NULL) {
        fclose(file);
    }
}

/* One array for the host and devices of two kinds: host pages that both have imported. */
static void several_vendors(void)
{
    const int devices[]       = {0, 1, MEMSPAN_HOST};
    memspan_device_info_t a   = {.struct_size = sizeof(a)};
    memspan_device_info_t b   = {.struct_size = sizeof(b)};
    memspan_kernel_call_t sum = {
        .struct_size = sizeof(sum), .kernel = MEMSPAN_KERNEL_FILL, .count = COUNT, .a = 3.0};
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    memspan_space_h space         = MEMSPAN_SPACE_NULL;
    double *z;

    need((memspan_device_describe(0, &a) == MEMSPAN_OK) &&
             (memspan_device_describe(1, &b) == MEMSPAN_OK) && (strcmp(a.backend, b.backend) != 0),
         "devices of two backends");
    need(memspan_space_get(devices, 3, MEMSPAN_SPACE_NULL, &space) == MEMSPAN_OK, "space");
    need(memspan_allocator_create(space, NULL, 0, &allocator) == MEMSPAN_OK, "allocator");
    z = memspan_calloc(allocator, 2 * COUNT, sizeof(double));
    need(z != NULL, "memory");
    sum.z = z;
    need(memspan_kernel_launch(0, &sum) == MEMSPAN_OK, "first kernel");
    need(memspan_device_synchronize(0) == MEMSPAN_OK, "synchronise");
    need((z[0] == 3.0) && (z[COUNT - 1] == 3.0) && (z[COUNT] == 0.0), "the first device's stores");
    z[0]       = 10.0;
    sum.kernel = MEMSPAN_KERNEL_SUM;
    sum.x      = z;
    sum.z      = z + COUNT;
    need(memspan_kernel_launch(1, &sum) == MEMSPAN_OK, "second kernel");
    need(memspan_device_synchronize(1) == MEMSPAN_OK, "synchronise");
    need(z[COUNT] == 10.0 + 3.0 * (COUNT - 1), "the second device's sum");
    need(memspan_free(z) == MEMSPAN_OK, "free");
    memspan_trim();
}

/* The library's own work on managed memory does not touch what is the device's. */
static void allocates_during_a_launch(void)
{
    memspan_allocator_h managed = make_allocator(true, MEMSPAN_VALUE_MANAGED);
    double *z                   = memspan_alloc(managed, COUNT * sizeof(double));
    void *blocks[4]             = {NULL, memspan_alloc(managed, 500), memspan_alloc(managed, 500),
                                   memspan_alloc(managed, 500)};

    need((z != NULL) && (blocks[3] != NULL), "memory");
    for (int turn = 0; turn < 3; turn++) {
        start(MEMSPAN_KERNEL_FILL, COUNT, NULL, z);
        need(memspan_free(blocks[1]) == MEMSPAN_OK, "free");
        blocks[0] = memspan_calloc(managed, 10, 50);
        start(MEMSPAN_KERNEL_FILL, COUNT, NULL, z);
        blocks[1] = memspan_calloc(managed, 10, 50);
        need((blocks[0] != NULL) && (blocks[1] != NULL), "zeroed memory");
        start(MEMSPAN_KERNEL_FILL, COUNT, NULL, z);
        blocks[2] = memspan_realloc(managed, blocks[2], 700 + 100 * (size_t)turn);
        need((blocks[2] != NULL) && (memspan_free(blocks[0]) == MEMSPAN_OK), "realloc, free");
        need(memspan_check() == MEMSPAN_OK, "records");
        need(memspan_device_synchronize(0) == MEMSPAN_OK, "synchronise");
        need((((char *)blocks[1])[499] == 0) && (z[COUNT - 1] == 2.0), "values");
        z[0] = 1.0;
    }
    for (int i = 1; i < 4; i++) {
        memspan_free(blocks[i]);
    }
    memspan_free(z);
}

/* Its devices end with it. */
static void devices_by_process(void)
{
    double *z = take(true);

    start(MEMSPAN_KERNEL_FILL, COUNT, NULL, z);
    name_devices();
    memspan_free(z);
}

static void becomes_another(void)
{
    double *z = take(true);

    start(MEMSPAN_KERNEL_FILL, COUNT, NULL, z);
    name_devices();
    execlp("sleep", "sleep", "1", (char *)NULL);
}

/* A kernel that takes hours, and a program that is killed meanwhile. */
static void killed_during_a_kernel(void)
{
    struct node *node = memspan_alloc(make_allocator(true, MEMSPAN_VALUE_MANAGED), sizeof(*node));
    void *last        = memspan_alloc(make_allocator(true, MEMSPAN_VALUE_COHERENT), 64);

    need((node != NULL) && (last != NULL), "memory");
    *node = (struct node){node, 0};
    name_devices();
    start(MEMSPAN_KERNEL_CHASE, (size_t)1 << 44, node, last);
    usleep(200000);
    raise(SIGKILL);
}

static const struct mode {
    const char *name;
    void (*run)(void);
    bool right;
} modes[] = {
    {"read_device", read_device, false},
    {"frees_open", frees_open, false},
    {"frees_closed", frees_closed, true},
    {"read_second_small", read_second_small, false},
    {"read_third_small", read_third_small, false},
    {"read_device_unwinder_faults", read_device_unwinder_faults, false},
    {"write_device", write_device, false},
    {"copy_device", copy_device, false},
    {"read_managed", read_managed, false},
    {"write_managed_later", write_managed_later, false},
    {"read_freed", read_freed, false},
    {"run_over", run_over, false},
    {"read_freed_small", read_freed_small, false},
    {"freed_blocks_come_again", freed_blocks_come_again, true},
    {"frees_twice", frees_twice, false},
    {"kernel_reads_freed", kernel_reads_freed, true},
    {"kernel_reads_variable", kernel_reads_variable, true},
    {"files_are_the_programs", files_are_the_programs, true},
    {"killed_during_a_kernel", killed_during_a_kernel, false},
    {"many_threads", many_threads, false},
    {"in_child", in_child, false},
    {"elsewhere", elsewhere, false},
    {"list_is_walked", list_is_walked, true},
    {"device_memory_by_copies", device_memory_by_copies, true},
    {"both_sides_at_once", both_sides_at_once, true},
    {"allocates_during_a_launch", allocates_during_a_launch, true},
    {"several_vendors", several_vendors, true},
    {"main_leaves", main_leaves, true},
    {"out_of_memory", out_of_memory, true},
    {"devices_by_process", devices_by_process, true},
    {"becomes_another", becomes_another, true},
};

int main(int argc, char **argv)
{
    const char *name = (argc > 1) ? argv[1] : "";

    setvbuf(stdout, NULL, _IONBF, 0);
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (strcmp(modes[i].name, name) == 0) {
            modes[i].run();
            puts(modes[i].right ? "right" : "went on");
            return modes[i].right ? 0 : 1;
        }
    }
    fprintf(stderr, "no mode \"%s\"\n", name);
    return 2;
}
