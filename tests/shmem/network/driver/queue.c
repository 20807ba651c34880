/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c: queues beside the main one, each with a thread of its own. */

#include "tests/shmem/network/driver/bed.h"
#include "tests/shmem/network/sockets.h"
#include <ifaddrs.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 300, QUEUES = 10, WORDS = 512, NAMES = 16, LEFT = 2 };

/* Puts and gets of words that no other thread uses, through a queue of its own. */
static void use_queue(struct msp_network_queue *queue, unsigned thread, unsigned rounds)
{
    const int next                = (bed.pe + 1) % bed.pe_count;
    struct msp_network_peer *peer = bed_open_peer(queue, next);
    struct msp_network_key *key   = bed_open_key(peer, next);
    uint64_t words[WORDS];
    unsigned round;
    unsigned i;

    for (round = 1; round <= rounds; round++) {
        const unsigned used    = 1 + (round % WORDS);
        const uint64_t address = bed_address(next, sizeof words * (1 + thread));

        for (i = 0; i < used; i++) {
            words[i] = ((uint64_t)thread << 32) + round + i;
        }
        bed_put(queue, peer, key, address, words, sizeof *words * used);
        bed_flush(queue, peer);
        for (i = 0; i < used; i++) {
            words[i] = 0;
        }
        bed_get(queue, peer, key, address, words, sizeof *words * used);
        for (i = 0; i < used; i++) {
            CHECK(words[i] == ((uint64_t)thread << 32) + round + i, "word %u", i);
        }
    }
    bed.driver->key_close(peer, key);
    bed.driver->peer_close(peer, false);
}

static void *run_thread(void *argument)
{
    struct msp_network_queue *queue = NULL;
    const unsigned thread           = *(const unsigned *)argument;

    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&lock);
    CHECK(bed.driver->queue_open(false, &queue) == MEMSPAN_OK, "queue %u", thread);
    pthread_mutex_unlock(&lock);
    use_queue(queue, thread, ROUNDS);
    bed.driver->queue_close(queue);
    atomic_fetch_add(&bed.shared->flags[0], 1);
    return NULL;
}

/* The main thread serves the main queue, as others' operations may need it. */
static void threads(void)
{
    unsigned numbers[THREADS];
    pthread_t thread[THREADS];
    unsigned i;

    for (i = 0; i < THREADS; i++) {
        numbers[i] = i + 1;
        CHECK(pthread_create(&thread[i], NULL, run_thread, &numbers[i]) == 0, "thread %u", i);
    }
    use_queue(bed.queue, 0, ROUNDS);
    bed_await(0, (uint64_t)THREADS * (uint64_t)bed.pe_count);
    for (i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    bed_barrier();
}

/* Queues that come and go while the main ones stay. */
static void queues_come_and_go(void)
{
    struct msp_network_queue *queue;
    unsigned i;

    for (i = 0; (bed.pe == 1) && (i < QUEUES); i++) {
        CHECK(bed.driver->queue_open(false, &queue) == MEMSPAN_OK, "queue %u", i);
        use_queue(queue, i % THREADS, 2);
        bed.driver->queue_close(queue);
    }
    bed_barrier();
    use_queue(bed.queue, 0, 2);
    bed_barrier();
}

/* A peer that was closed is opened again. */
static void peers_come_and_go(void)
{
    unsigned i;

    for (i = 0; i < QUEUES; i++) {
        use_queue(bed.queue, (unsigned)bed.pe, 2);
    }
    bed_barrier();
    CHECK(atomic_load(&bed.failures) == 0, "PE %d failed", bed.failed_pe);
}

/* Nothing is used at all. */
static void unused(void)
{
    struct msp_network_queue *queue;

    CHECK(bed.driver->queue_open(false, &queue) == MEMSPAN_OK, "queue");
    bed.driver->queue_close(queue);
}

/* libfabric's shared memory names an endpoint by the process and a count. A killed process with the
 * same number has left its names. */
static void names_taken(void)
{
    struct msp_network_queue *queue;
    char name[64];
    char left[LEFT][64];
    int count = 0;

    do {
        snprintf(name, sizeof name, "/dev/shm/%d:%d:%d", (int)getpid(), (int)getuid(), count);
    } while ((access(name, F_OK) != 0) && (++count < NAMES));
    for (int i = 0; (count < NAMES) && (i < LEFT); i++) {
        snprintf(left[i], sizeof left[i], "/dev/shm/%d:%d:%d", (int)getpid(), (int)getuid(),
                 count + 1 + i);
        CHECK(link(name, left[i]) == 0, "%s", left[i]);
    }
    CHECK(bed.driver->queue_open(false, &queue) == MEMSPAN_OK, "queue");
    bed.driver->queue_close(queue);
    for (int i = 0; (count < NAMES) && (i < LEFT); i++) {
        unlink(left[i]);
    }
}

static bool reaches_others(void)
{
    const unsigned works = IFF_UP | IFF_RUNNING;
    struct ifaddrs *list = NULL;
    const struct ifaddrs *one;
    bool is_found = false;

    CHECK(getifaddrs(&list) == 0, "no interfaces");
    for (one = list; one != NULL; one = one->ifa_next) {
        is_found = is_found || ((one->ifa_addr != NULL) && (one->ifa_addr->sa_family == AF_INET) &&
                                ((one->ifa_flags & (works | IFF_LOOPBACK)) == works));
    }
    freeifaddrs(list);
    return is_found;
}

/* The loopback interface leads to no other host, and costs each poll a call of the kernel. */
static void loopback_unused(void)
{
    const struct sockets listening = sockets_that_listen();

    CHECK((listening.on_loopback == 0) || !reaches_others(), "%d sockets listen on loopback",
          listening.on_loopback);
}

const struct bed_case bed_queue_cases[] = {
    {"threads", 2, 64 << 10, threads, false},
    {"queues_come_and_go", 2, 64 << 10, queues_come_and_go, false},
    {"peers_come_and_go", 2, 64 << 10, peers_come_and_go, false},
    {"unused", 2, 0, unused, false},
    {"names_taken", 2, 0, names_taken, false},
    {"loopback_unused", 2, 0, loopback_unused, false},
    {NULL, 0, 0, NULL, false},
};
