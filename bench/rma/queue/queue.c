/* SPDX-License-Identifier: BSD-3-Clause */
/* queue [quick]: PE 0 puts to PE 1 by blocking calls and on a queue, in turn, each with its quiet;
 * and how much of its own work the host does while the puts of the queue are under way. PEs are not
 * bound: the thread of the queue needs a processor beside the host's. */

#include "batch.h"
#include <memspan/device.h>
#include <memspan/queue.h>
#include <memspan/status.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdatomic.h>
#include <string.h>

enum { SIZE_MAX_BYTES = 1 << 20, BATCH_BYTES = 16 << 20, ROUNDS = 9, WORK_NS = 20000000 };

static char *source, *dest;
static memspan_queue_h queue;
static atomic_int is_done;

static void do_nothing(void *argument)
{
    (void)argument;
}

static void set_done(void *argument)
{
    (void)argument;
    atomic_store(&is_done, 1);
}

/* A queue that operations wait on without the host. */
static bool open_queue(void)
{
    memspan_queue_info_t info = {.struct_size = sizeof(info)};

    for (int device = 0; device < memspan_device_count(); device++) {
        if ((memspan_queue_open(device, MEMSPAN_QUEUE_OWN, NULL, 0, &queue) == MEMSPAN_OK) &&
            (memspan_call_on(queue, do_nothing, NULL) == MEMSPAN_OK) &&
            (memspan_queue_describe(queue, &info) == MEMSPAN_OK) && (info.called_after_wait == 0)) {
            return true;
        }
        (void)memspan_queue_close(queue);
        queue = MEMSPAN_QUEUE_NULL;
    }
    return false;
}

static void put_blocking(size_t size, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        shmem_putmem(dest, source, size, 1);
    }
    shmem_quiet();
}

static bool submit(size_t size, size_t count)
{
    bool good = true;

    for (size_t i = 0; i < count; i++) {
        good = good && (shmemx_putmem_on_queue(dest, source, size, 1, queue) == 0);
    }
    return good && (shmemx_quiet_on_queue(queue) == 0);
}

/* Of work that only the processor limits. */
static uint64_t work(void)
{
    static volatile uint64_t word = 1;
    uint64_t x                    = word;

    for (int i = 0; i < 10000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    word = x;
    return 1;
}

static double work_alone_per_ns(void)
{
    double began_ns = batch_now_ns();
    uint64_t pieces = 0;

    while (batch_now_ns() - began_ns < WORK_NS) {
        pieces += work();
    }
    return (double)pieces / (batch_now_ns() - began_ns);
}

/* The host's work while puts are on the queue, from their submission on; 1: as much as alone. */
static double share_of_work(size_t size, size_t count, double *rate_ns)
{
    double alone = work_alone_per_ns();
    double began_ns, took_ns;
    uint64_t pieces = 0;

    atomic_store(&is_done, 0);
    began_ns = batch_now_ns();
    if (!submit(size, count) || (memspan_call_on(queue, set_done, NULL) != MEMSPAN_OK)) {
        return -1;
    }
    while (atomic_load(&is_done) == 0) {
        pieces += work();
    }
    took_ns  = batch_now_ns() - began_ns;
    *rate_ns = took_ns / (double)count;
    return (double)pieces / took_ns / alone;
}

/* Lines of so many bytes a put: by blocking calls, on the queue, the host's share. */
static bool measure(const char *size_name, size_t size, bool quick)
{
    const size_t count      = (quick ? (size_t)4 * size : (size_t)BATCH_BYTES) / size;
    struct batches blocking = {.count = 0}, queued = {.count = 0}, share = {.count = 0};
    struct batches beside = {.count = 0};
    const double mb_s     = 1e3 * (double)size; /* by the ns of one put */
    char point[32];

    for (int i = 0; i < (quick ? 1 : ROUNDS); i++) {
        double began_ns = batch_now_ns();
        double part, beside_ns = 0;

        put_blocking(size, count);
        batches_add(&blocking, (batch_now_ns() - began_ns) / (double)count);
        began_ns = batch_now_ns();
        if (!submit(size, count) || (memspan_queue_synchronize(queue) != MEMSPAN_OK)) {
            return false;
        }
        batches_add(&queued, (batch_now_ns() - began_ns) / (double)count);
        part = share_of_work(size, count, &beside_ns);
        if (part < 0) {
            return false;
        }
        batches_add(&share, -100 * part); /* the best is the first */
        batches_add(&beside, beside_ns);
    }
#define PRINT(name, batches)                                                                       \
    (void)snprintf(point, sizeof(point), name "-%s", size_name);                                   \
    batch_print(point, mb_s / (batches).per_operation_ns[0], mb_s / batches_median(&(batches)))
    PRINT("queue-blocking", blocking);
    PRINT("queue-put", queued);
    PRINT("queue-put-work", beside);
    (void)snprintf(point, sizeof(point), "queue-work-%s", size_name);
    batch_print(point, -share.per_operation_ns[0], -batches_median(&share));
    return true;
}

int main(int argument_count, char **arguments)
{
    bool quick = (argument_count > 1) && (strcmp(arguments[1], "quick") == 0);
    int good   = 1;
    int pe;

    shmem_init();
    pe     = shmem_my_pe();
    source = shmem_malloc(SIZE_MAX_BYTES);
    dest   = shmem_malloc(SIZE_MAX_BYTES);
    memset(source, 'x', SIZE_MAX_BYTES);
    memset(dest, 0, SIZE_MAX_BYTES);
    shmem_barrier_all();
    if (pe == 0) {
        if (!open_queue()) {
            printf("waived no device has queues that the host can hold\n");
            put_blocking(SIZE_MAX_BYTES, 1);
        } else if (!measure("64k", 1 << 16, quick) || !measure("1m", 1 << 20, quick)) {
            fprintf(stderr, "%s\n", memspan_error_text());
            shmem_global_exit(1);
        }
        (void)memspan_queue_close(queue);
    }
    shmem_barrier_all();
    good = (pe == 0) || ((dest[0] == 'x') && (memcmp(dest, dest + 1, SIZE_MAX_BYTES - 1) == 0));
    if (!good) {
        fprintf(stderr, "wrong data at PE %d\n", pe);
    }
    shmem_finalize();
    return good ? 0 : 1;
}
