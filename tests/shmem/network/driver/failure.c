/* SPDX-License-Identifier: BSD-3-Clause */
/* failure.c: a PE is killed. */

#include "tests/shmem/network/driver/bed.h"
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { FLAG_READY = 0, FLAG_KILLED = BED_FLAGS - 1, WINDOW = 64, BYTES = 100000, VICTIM = 2 };

static uint64_t messages;

static void receive(const void *header, size_t header_bytes, const void *payload,
                    size_t payload_bytes)
{
    (void)header;
    (void)payload;
    CHECK(header_bytes + payload_bytes > 0, "nothing");
    messages++;
}

/* The victim answers until it is killed. */
static void die(void)
{
    for (;;) {
        bed_progress(bed.queue);
    }
}

static void kill_victim(void)
{
    const pid_t victim = bed.shared->processes[VICTIM];

    CHECK(victim > 0, "kill(%d) ends the whole test run", (int)victim);
    atomic_store(&bed.shared->flags[FLAG_KILLED], VICTIM + 1);
    kill(victim, SIGKILL);
}

struct operation {
    struct bed_request request;
    enum msp_network_result result;
};

static enum msp_network_result start(unsigned kind, char *local, struct bed_request *request)
{
    struct msp_network_peer *peer = bed_peer(VICTIM);

    bed_request_clear(request);
    switch (kind % 4) {
    case 0:
        return bed.driver->put(peer, bed_key(VICTIM), bed_address(VICTIM, 0), local, BYTES,
                               &request->request);
    case 1:
        return bed.driver->get(peer, bed_key(VICTIM), bed_address(VICTIM, 0), local, BYTES,
                               &request->request);
    case 2:
        return bed.driver->send(peer, local, 64, local, 1000, &request->request);
    default:
        return bed.driver->flush(peer, &request->request);
    }
}

/* As the library sends them to PEs that it waits for. */
static void ask_victim(void)
{
    struct bed_request request;

    if (bed.needs_messages) {
        bed_request_clear(&request);
        (void)bed.driver->send(bed_peer(VICTIM), "alive?", 6, NULL, 0, &request.request);
    }
}

/* Everything that is outstanding completes, and what is started then fails. */
static void expect_failure(struct operation *operations)
{
    struct operation late;
    unsigned i;

    for (i = 0; i < WINDOW; i++) {
        while ((operations[i].result == MSP_NETWORK_STARTED) &&
               (operations[i].request.completions == 0)) {
            bed_progress(bed.queue);
        }
        CHECK(operations[i].request.completions == (operations[i].result == MSP_NETWORK_STARTED),
              "operation %u: %d completions", i, operations[i].request.completions);
    }
    while (atomic_load(&bed.failures) == 0) {
        bed_progress(bed.queue);
        ask_victim(); /* all may have completed before */
    }
    CHECK(bed.failed_pe == VICTIM, "PE %d", bed.failed_pe);
    for (i = 0; i < 4; i++) {
        char local[BYTES];

        memset(local, 0, sizeof local);
        late.result = start(i, local, &late.request);
        CHECK((late.result == MSP_NETWORK_FAILED) || (late.result == MSP_NETWORK_STARTED),
              "operation %u on a failed PE: %d", i, (int)late.result);
        while ((late.result == MSP_NETWORK_STARTED) && (late.request.completions == 0)) {
            bed_progress(bed.queue);
        }
        CHECK((late.result == MSP_NETWORK_FAILED) || (late.request.status != MEMSPAN_OK),
              "operation %u on a failed PE has succeeded", i);
    }
}

static void others_work(void)
{
    const int other = 1 - bed.pe;
    uint64_t value  = (uint64_t)bed.pe + 40;

    bed_put(bed.queue, bed_peer(other), bed_key(other), bed_address(other, 8), &value,
            sizeof value);
    bed_flush(bed.queue, bed_peer(other));
    bed_send(bed_peer(other), &value, sizeof value, NULL, 0);
    while (messages == 0) {
        bed_progress(bed.queue);
    }
    CHECK(memcmp(bed.base + 8, &(uint64_t){(uint64_t)other + 40}, 8) == 0, "a put between others");
}

static void close_victim(void)
{
    bed.driver->key_close(bed.peers[VICTIM], bed.keys[VICTIM]);
    bed.driver->peer_close(bed.peers[VICTIM], true);
    bed.keys[VICTIM]  = NULL;
    bed.peers[VICTIM] = NULL;
}

/* With operations of all kinds outstanding, some of which have not begun. */
static void killed_with_operations(void)
{
    struct operation *operations = calloc(WINDOW, sizeof *operations);
    char *local                  = calloc(WINDOW, BYTES);
    uint64_t value;
    unsigned i;

    bed.receive = receive;
    if (bed.pe == VICTIM) {
        bed.receive = receive;
        die();
    }
    bed_get(bed.queue, bed_peer(VICTIM), bed_key(VICTIM), bed_address(VICTIM, 0), &value, 8);
    atomic_fetch_add(&bed.shared->flags[FLAG_READY], 1);
    bed_await(FLAG_READY, 2);
    for (i = 0; i < WINDOW; i++) {
        if ((i == WINDOW / 2) && (bed.pe == 0)) {
            kill_victim();
        }
        operations[i].result = start(i, local + ((size_t)i * BYTES), &operations[i].request);
    }
    expect_failure(operations);
    CHECK(atomic_load(&bed.failures) == 1, "reported %d times", bed.failures);
    close_victim();
    bed.pe_count = VICTIM; /* the barriers are the others' from now on */
    others_work();
    bed_barrier();
    free(local);
    free(operations);
}

/* A PE that only waits finds out, too, when it was in contact. */
static void killed_in_silence(void)
{
    uint64_t value;

    bed.receive = receive;
    if (bed.pe == VICTIM) {
        die();
    }
    bed_get(bed.queue, bed_peer(VICTIM), bed_key(VICTIM), bed_address(VICTIM, 0), &value, 8);
    atomic_fetch_add(&bed.shared->flags[FLAG_READY], 1);
    bed_await(FLAG_READY, 2);
    if (bed.pe == 0) {
        kill_victim();
    }
    while (atomic_load(&bed.failures) == 0) {
        bed_sleep(bed.needs_messages ? 50 : 1000);
        ask_victim();
    }
    CHECK(bed.failed_pe == VICTIM, "PE %d", bed.failed_pe);
    close_victim();
    bed.pe_count = VICTIM;
    others_work();
    bed_barrier();
}

/* First contact with a PE that is no more: opening it, the first operation or a report says so. */
static void contact_victim(void)
{
    struct operation operation;
    char local[64] = "";

    if (bed.driver->peer_open(bed.queue, VICTIM, bed.shared->pes[VICTIM].address,
                              bed.shared->pes[VICTIM].address_bytes,
                              &bed.peers[VICTIM]) != MEMSPAN_OK) {
        CHECK(bed.error[0] != '\0', "no words");
        return;
    }
    bed_request_clear(&operation.request);
    operation.result = bed.driver->send(bed.peers[VICTIM], local, sizeof local, NULL, 0,
                                        &operation.request.request);
    while ((operation.result == MSP_NETWORK_STARTED) && (operation.request.completions == 0)) {
        bed_progress(bed.queue);
    }
    while ((operation.result != MSP_NETWORK_FAILED) && (atomic_load(&bed.failures) == 0)) {
        bed_progress(bed.queue);
        if (operation.result == MSP_NETWORK_BUSY) {
            operation.result = bed.driver->send(bed.peers[VICTIM], local, sizeof local, NULL, 0,
                                                &operation.request.request);
        }
    }
    bed.driver->peer_close(bed.peers[VICTIM], true);
    bed.peers[VICTIM] = NULL;
}

static void killed_before_contact(void)
{
    bed.receive = receive;
    if (bed.pe == VICTIM) {
        die();
    }
    if (bed.pe == 0) {
        kill_victim();
        usleep(100000);
        contact_victim();
    }
    bed.pe_count = VICTIM;
    bed_barrier();
    others_work();
    bed_barrier();
}

const struct bed_case bed_failure_cases[] = {
    {"killed_with_operations", 3, 4 << 20, killed_with_operations, true},
    {"killed_in_silence", 3, 4096, killed_in_silence, true},
    {"killed_before_contact", 3, 4096, killed_before_contact, true},
    {NULL, 0, 0, NULL, false},
};
