/* SPDX-License-Identifier: BSD-3-Clause */
/* model.c: threads that allocate, use and free memory on queues, held to the bytes.
 *
 *     queue-model [--seconds N] [--threads N] [--queues N] [--device N]
 *                 [--driver LIBRARY]
 *
 * Each block is filled with a byte of its own on its queue, copied to host memory later on, and
 * freed. A block that another request is given too early has that one's bytes in the copy. Blocks
 * are also used on a second queue, and queues are closed and opened again. The program ends with 1
 * at the first wrong byte, and at its end if the pretended driver LIBRARY has seen a rule broken,
 * such as two streams that use the same bytes in no order. */

#include <dlfcn.h>
#include <memspan/memspan.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS_MAX = 64, QUEUES_MAX = 16, BLOCKS = 24, CHECKS = 64, BYTES_MAX = 200000 };

#define DO(call)                                                                                   \
    do {                                                                                           \
        if ((call) != MEMSPAN_OK) {                                                                \
            fprintf(stderr, "queue-model: %s: %s\n", #call, memspan_error_text());                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

struct block {
    unsigned char *address;
    size_t size_bytes;
    unsigned queue;
    unsigned char byte;
};

struct check {
    unsigned char *copy;
    size_t size_bytes;
    unsigned char byte;
};

struct worker {
    pthread_t thread;
    uint64_t random;
    struct block blocks[BLOCKS];
    struct check checks[CHECKS];
    unsigned check_count;
    unsigned long long steps;
};

static struct {
    pthread_rwlock_t lock; /* written while a queue is closed and opened */
    memspan_queue_h queues[QUEUES_MAX];
    memspan_allocator_h allocator;
    memspan_allocator_h copies; /* NULL: malloc(); copies into its memory end in the call */
    int device;
    unsigned queue_count;
    atomic_bool ends;
    memspan_queue_info_t closed; /* counters of the queues that were closed */
} all = {.lock = PTHREAD_RWLOCK_INITIALIZER, .queue_count = 4};

static unsigned pick(struct worker *w, unsigned n)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return (unsigned)(w->random >> 33) % n;
}

static void check_all(struct worker *w)
{
    unsigned i;
    unsigned q;
    size_t j;

    for (q = 0; q < all.queue_count; q++) {
        DO(memspan_queue_synchronize(all.queues[q]));
    }
    for (i = 0; i < w->check_count; i++) {
        const struct check *c = &w->checks[i];
        for (j = 0; j < c->size_bytes; j++) {
            if (c->copy[j] != c->byte) {
                fprintf(stderr, "queue-model: byte %zu of %zu is %u, not %u\n", j, c->size_bytes,
                        c->copy[j], c->byte);
                exit(1);
            }
        }
        if (all.copies == NULL) {
            free(c->copy);
        } else {
            DO(memspan_free(c->copy));
        }
    }
    w->check_count = 0;
}

static void allocate(struct worker *w, struct block *b)
{
    static const size_t sizes[] = {200, 1000, 4096, 10000, 65536, 70000, BYTES_MAX};

    b->size_bytes = sizes[pick(w, 7)];
    b->queue      = pick(w, all.queue_count);
    b->byte       = (unsigned char)pick(w, 256);
    b->address    = memspan_alloc_on(all.allocator, b->size_bytes, all.queues[b->queue]);
    if (b->address == NULL) {
        fprintf(stderr, "queue-model: no memory: %s\n", memspan_error_text());
        exit(1);
    }
    DO(memspan_fill_on(all.queues[b->queue], b->address, b->byte, b->size_bytes));
}

static void copy_out(struct worker *w, const struct block *b, unsigned queue)
{
    struct check *c = &w->checks[w->check_count++];

    *c = (struct check){NULL, b->size_bytes, b->byte};
    c->copy =
        (all.copies == NULL) ? malloc(b->size_bytes) : memspan_alloc(all.copies, b->size_bytes);
    if (c->copy == NULL) {
        fprintf(stderr, "queue-model: no memory for a copy: %s\n", memspan_error_text());
        exit(1);
    }
    DO(memspan_copy_on(all.queues[queue], c->copy, b->address, b->size_bytes));
}

/* Used on its queue or on another, which the library is told; freed on its own. */
static void release(struct worker *w, struct block *b)
{
    unsigned other = pick(w, all.queue_count);

    if (pick(w, 3) == 0) {
        DO(memspan_queue_wait(all.queues[other], all.queues[b->queue]));
        DO(memspan_used_on(b->address, all.queues[other]));
        copy_out(w, b, other);
    } else {
        copy_out(w, b, b->queue);
    }
    DO(memspan_free_on(b->address, all.queues[b->queue]));
    b->address = NULL;
}

static memspan_queue_h open_queue(void)
{
    memspan_queue_h queue;

    DO(memspan_queue_open(all.device, MEMSPAN_QUEUE_OWN, NULL, 0, &queue));
    return queue;
}

/* No other thread uses the queue. */
static void close_queue(memspan_queue_h queue)
{
    memspan_queue_info_t info = {.struct_size = sizeof(info)};

    DO(memspan_queue_describe(queue, &info));
    all.closed.reused_in_order += info.reused_in_order;
    all.closed.reused_after_event += info.reused_after_event;
    all.closed.reused_after_wait += info.reused_after_wait;
    all.closed.allocated_count += info.allocated_count;
    all.closed.freed_after_wait += info.freed_after_wait;
    DO(memspan_queue_close(queue));
}

static void renew(struct worker *w)
{
    unsigned i = pick(w, all.queue_count);

    pthread_rwlock_wrlock(&all.lock);
    close_queue(all.queues[i]);
    all.queues[i] = open_queue();
    pthread_rwlock_unlock(&all.lock);
}

static void step(struct worker *w)
{
    struct block *b = &w->blocks[pick(w, BLOCKS)];

    pthread_rwlock_rdlock(&all.lock);
    if (b->address == NULL) {
        allocate(w, b);
    } else {
        release(w, b);
    }
    if (pick(w, 8) == 0) { /* an order that no block needs */
        DO(memspan_queue_wait(all.queues[pick(w, all.queue_count)],
                              all.queues[pick(w, all.queue_count)]));
    }
    if ((w->check_count == CHECKS) || (pick(w, 64) == 0)) {
        check_all(w);
    }
    pthread_rwlock_unlock(&all.lock);
    if (pick(w, 512) == 0) {
        renew(w);
    }
    if (pick(w, 1024) == 0) {
        (void)memspan_trim();
    }
    w->steps++;
}

static void *work(void *argument)
{
    struct worker *w = argument;
    unsigned i;

    while (!atomic_load(&all.ends)) {
        step(w);
    }
    pthread_rwlock_rdlock(&all.lock);
    check_all(w);
    for (i = 0; i < BLOCKS; i++) {
        if (w->blocks[i].address != NULL) {
            release(w, &w->blocks[i]);
        }
    }
    check_all(w);
    pthread_rwlock_unlock(&all.lock);
    return NULL;
}

/* The first device that is not the host, unless one is given. */
static void set_up(int device)
{
    memspan_space_h space;
    memspan_trait_t trait = {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB};
    unsigned i;

    if (memspan_device_count() <= device) {
        fprintf(stderr, "SKIP there is no device %d\n", device);
        exit(77);
    }
    all.device = device;
    DO(memspan_space_get(&device, 1, MEMSPAN_SPACE_DEFAULT, &space));
    DO(memspan_allocator_create(space, &trait, 1, &all.allocator));
    for (i = 0; i < all.queue_count; i++) {
        all.queues[i] = open_queue();
    }
}

/* Pinned memory, into which streams copy when they come to it. */
static void make_pinned(int device)
{
    int devices[]            = {MEMSPAN_HOST, device};
    memspan_trait_t traits[] = {{MEMSPAN_TRAIT_PINNED, MEMSPAN_VALUE_TRUE},
                                {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}};
    memspan_space_h space;

    DO(memspan_space_get(devices, 2, MEMSPAN_SPACE_DEFAULT, &space));
    DO(memspan_allocator_create(space, traits, 2, &all.copies));
}

static bool breaks_rules(const char *name)
{
    void *driver = (name == NULL) ? NULL : dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    const char *(*violation)(void);

    if (name == NULL) {
        return false;
    }
    *(void **)&violation = (driver == NULL) ? NULL : dlsym(driver, "fake_gpu_violation");
    if ((violation == NULL) || (violation()[0] != '\0')) {
        fprintf(stderr, "queue-model: %s\n", (violation == NULL) ? dlerror() : violation());
        return true;
    }
    return false;
}

static int report(const struct worker *workers, unsigned threads)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};
    const memspan_queue_info_t *sum = &all.closed;
    unsigned long long steps        = 0;
    unsigned i;

    for (i = 0; i < threads; i++) {
        steps += workers[i].steps;
    }
    for (i = 0; i < all.queue_count; i++) {
        close_queue(all.queues[i]);
    }
    DO(memspan_allocator_get_stats(all.allocator, &stats));
    DO(memspan_check());
    printf("%llu steps; of %llu requests %llu in order, %llu after an event, %llu "
           "after a wait; %llu frees waited; %llu bytes live\n",
           steps, (unsigned long long)sum->allocated_count,
           (unsigned long long)sum->reused_in_order, (unsigned long long)sum->reused_after_event,
           (unsigned long long)sum->reused_after_wait, (unsigned long long)sum->freed_after_wait,
           (unsigned long long)stats.live_bytes);
    return (stats.live_bytes == 0) ? 0 : 1;
}

int main(int argc, char **argv)
{
    static struct worker workers[THREADS_MAX];
    unsigned threads   = 4;
    const char *driver = NULL;
    int seconds        = 3;
    int device         = 0;
    unsigned i;

    for (i = 1; i + 1 < (unsigned)argc; i += 2) {
        int value = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--seconds") == 0) {
            seconds = value;
        } else if ((strcmp(argv[i], "--threads") == 0) && (value <= THREADS_MAX)) {
            threads = (unsigned)value;
        } else if ((strcmp(argv[i], "--queues") == 0) && (value <= QUEUES_MAX)) {
            all.queue_count = (unsigned)value;
        } else if (strcmp(argv[i], "--device") == 0) {
            device = value;
        } else if (strcmp(argv[i], "--driver") == 0) {
            driver = argv[i + 1];
        }
    }
    set_up(device);
    if (driver != NULL) {
        make_pinned(device);
    }
    for (i = 0; i < threads; i++) {
        workers[i].random = UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    nanosleep(&(struct timespec){seconds, 0}, NULL);
    atomic_store(&all.ends, true);
    for (i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
    }
    return (report(workers, threads) == 0) && !breaks_rules(driver) ? 0 : 1;
}
