/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.c: PEs that sleep on the descriptor, and PEs that do nothing. */

#include "tests/shmem/network/driver/bed.h"
#include <string.h>
#include <unistd.h>

enum { FLAG_DONE, FLAG_SLEPT, ROUNDS = 20, PAUSE_US = 5000, IDLE_SLEEPS = 10, SLEEP_MS = 50 };

static uint64_t count;

static void receive(const void *header, size_t header_bytes, const void *payload,
                    size_t payload_bytes)
{
    uint64_t number;

    CHECK((header_bytes == sizeof number) && (payload_bytes == 0), "%zu + %zu at %p", header_bytes,
          payload_bytes, payload);
    memcpy(&number, header, sizeof number);
    CHECK(number == count, "%lu, expected %lu", (unsigned long)number, (unsigned long)count);
    count++;
}

/* A PE that always sleeps first gets every message: an event that is lost is a wait of a minute,
 * unless the driver has said that events may be lost. */
static void wake_for_messages(void)
{
    uint64_t number;

    bed.receive = receive;
    if (bed.pe == 1) {
        for (number = 0; number < ROUNDS; number++) {
            usleep(PAUSE_US);
            bed_send(bed_peer(0), &number, sizeof number, NULL, 0);
        }
        bed_flush(bed.queue, bed_peer(0));
    }
    while ((bed.pe == 0) && (count < ROUNDS)) {
        bed_sleep(-1);
    }
    bed_barrier();
}

/* The same for completions: a get that is outstanding when its starter sleeps. */
static void wake_for_completions(void)
{
    struct bed_request request;
    uint64_t value;
    uint64_t round;

    for (round = 0; (bed.pe == 1) && (round < ROUNDS); round++) {
        bed_request_clear(&request);
        if (bed.driver->get(bed_peer(0), bed_key(0), bed_address(0, 0), &value, sizeof value,
                            &request.request) != MSP_NETWORK_STARTED) {
            continue;
        }
        while (request.completions == 0) {
            bed_sleep(-1);
        }
        CHECK(request.status == MEMSPAN_OK, "status %d", (int)request.status);
    }
    bed_barrier();
}

/* Puts and gets of a PE whose peer sleeps on its descriptor, when the target must progress, or does
 * nothing at all. */
static void target_sleeps(void)
{
    uint64_t value = 0;
    uint64_t round;

    if (bed.pe == 0) {
        while (atomic_load(&bed.shared->flags[FLAG_DONE]) == 0) {
            if (bed.limits.target_progresses) {
                bed_sleep(SLEEP_MS);
            } else {
                usleep(PAUSE_US);
            }
        }
    }
    for (round = 1; (bed.pe == 1) && (round <= ROUNDS); round++) {
        usleep(PAUSE_US / 5);
        bed_put(bed.queue, bed_peer(0), bed_key(0), bed_address(0, 64), &round, sizeof round);
        bed_flush(bed.queue, bed_peer(0));
        bed_get(bed.queue, bed_peer(0), bed_key(0), bed_address(0, 64), &value, sizeof value);
        CHECK(value == round, "got %lu, put %lu", (unsigned long)value, (unsigned long)round);
    }
    if (bed.pe == 1) {
        atomic_store(&bed.shared->flags[FLAG_DONE], 1);
    }
    bed_barrier();
}

/* After all has happened a PE sleeps its time out, again and again: no event stays. */
static void idle(void)
{
    unsigned slept = 0;
    unsigned looks;
    uint64_t value;

    if (bed.pe == 1) {
        bed_get(bed.queue, bed_peer(0), bed_key(0), bed_address(0, 0), &value, sizeof value);
    }
    bed_barrier();
    for (looks = 0; (slept < IDLE_SLEEPS) && (looks < 1000); looks++) {
        slept += bed_sleep(SLEEP_MS / 10) ? 1 : 0;
    }
    CHECK(slept == IDLE_SLEEPS, "%u sleeps of %u looks", slept, looks);
    CHECK(looks < 200, "%u looks for %u sleeps", looks, slept);
    bed_barrier();
}

const struct bed_case bed_progress_cases[] = {
    {"wake_for_messages", 2, 0, wake_for_messages, false},
    {"wake_for_completions", 2, 4096, wake_for_completions, false},
    {"target_sleeps", 2, 4096, target_sleeps, false},
    {"idle", 2, 4096, idle, false},
    {NULL, 0, 0, NULL, false},
};
