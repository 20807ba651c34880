/* SPDX-License-Identifier: BSD-3-Clause */
/* unkind.c: operations that the library of the network fails (unkind.h), one of UNKIND_FAILS. The
 * driver says of which: neither does it keep a failure to itself, nor is a peer lost by it. */

#include "tests/shmem/network/driver/bed.h"
#include <string.h>

enum { ROUNDS = 120, BYTES = 100000 };

static unsigned failed;

/* Until it is complete; its status is the caller's to look at. */
static void await(enum msp_network_result result, struct bed_request *request)
{
    while ((result == MSP_NETWORK_STARTED) && (request->completions == 0)) {
        bed_progress(bed.queue);
    }
    if ((result == MSP_NETWORK_FAILED) ||
        ((result == MSP_NETWORK_STARTED) && (request->status != MEMSPAN_OK))) {
        CHECK(bed.error[0] != '\0', "a failure without words");
        failed++;
    }
}

static enum msp_network_result start(bool is_put, char *local, struct bed_request *request)
{
    enum msp_network_result result;

    do {
        bed_progress(bed.queue);
        result = is_put ? bed.driver->put(bed_peer(0), bed_key(0), bed_address(0, 0), local, BYTES,
                                          &request->request)
                        : bed.driver->get(bed_peer(0), bed_key(0), bed_address(0, BYTES), local,
                                          BYTES, &request->request);
    } while (result == MSP_NETWORK_BUSY);
    return result;
}

/* @p small: a put that is copied, of which the caller hears by its flush alone. */
static void put_and_flush(char *local, bool small)
{
    struct bed_request request;
    enum msp_network_result result;

    bed_request_clear(&request);
    if (small) {
        while ((result = bed.driver->put(bed_peer(0), bed_key(0), bed_address(0, 0), local, 1000,
                                         &request.request)) == MSP_NETWORK_BUSY) {
            bed_progress(bed.queue);
        }
        CHECK(result == MSP_NETWORK_DONE, "%d", (int)result);
    }
    bed_request_clear(&request);
    while ((result = bed.driver->flush(bed_peer(0), &request.request)) == MSP_NETWORK_BUSY) {
        bed_progress(bed.queue);
    }
    await(result, &request);
}

static void failures_are_told(void)
{
    const bool fails = (getenv("UNKIND_FAILS") != NULL);
    char *local      = malloc(BYTES);
    unsigned before  = 0;
    unsigned kind;
    unsigned i;

    bed_fill(bed.base + BYTES, BYTES, 9);
    bed_barrier();
    for (kind = 0; (bed.pe == 1) && (kind < 3); kind++) {
        for (i = 0; i < ROUNDS; i++) {
            struct bed_request request;

            memset(local, 0, BYTES);
            bed_request_clear(&request);
            if (kind == 2) {
                put_and_flush(local, true);
                continue;
            }
            await(start(kind == 0, local, &request), &request);
            if ((kind == 1) && (request.status == MEMSPAN_OK)) {
                bed_verify(local, BYTES, 9, "a get");
            }
        }
        CHECK((failed > before) == fails, "kind %u: %u operations have failed", kind,
              failed - before);
        before = failed;
    }
    if (bed.pe == 1) {
        put_and_flush(local, false);
    }
    bed_barrier();
    CHECK(atomic_load(&bed.failures) == 0, "PE %d is lost", bed.failed_pe);
    free(local);
}

static enum msp_network_result start_put(char *local, struct bed_request *request)
{
    enum msp_network_result result;

    bed_request_clear(request);
    while ((result = bed.driver->put(bed_peer(0), bed_key(0), bed_address(0, 0), local, BYTES,
                                     &request->request)) == MSP_NETWORK_BUSY) {
        bed_progress(bed.queue);
    }
    request->completions = (result == MSP_NETWORK_DONE) ? 1 : request->completions;
    return result;
}

/* Puts, a flush, other puts: the flush waits for those before it, whichever complete first. Of ofi,
 * whose puts that have taken effect complete before their flush. */
static void flush_between_puts(void)
{
    enum { BEFORE = 6, BEHIND = 14 };
    struct bed_request puts[BEFORE + BEHIND];
    struct bed_request flush;
    enum msp_network_result result;
    char *local   = calloc(1, BYTES);
    bool is_tried = (bed.pe == 1) && (strcmp(bed.driver->name, "ofi") == 0);
    unsigned round;
    unsigned i;

    for (round = 0; is_tried && (round < ROUNDS / 2); round++) {
        for (i = 0; i < BEFORE; i++) {
            (void)start_put(local, &puts[i]);
        }
        bed_request_clear(&flush);
        while ((result = bed.driver->flush(bed_peer(0), &flush.request)) == MSP_NETWORK_BUSY) {
            bed_progress(bed.queue);
        }
        for (; i < BEFORE + BEHIND; i++) {
            (void)start_put(local, &puts[i]);
        }
        await(result, &flush);
        for (i = 0; i < BEFORE; i++) {
            CHECK(puts[i].completions == 1, "round %u: put %u is later than its flush", round, i);
        }
        for (; i < BEFORE + BEHIND; i++) {
            await(MSP_NETWORK_STARTED, &puts[i]);
        }
    }
    bed_barrier();
    free(local);
}

const struct bed_case bed_unkind_cases[] = {
    {"flush_between_puts", 2, 4 << 20, flush_between_puts, false},
    {"failures_are_told", 2, 4 << 20, failures_are_told, false},
    {NULL, 0, 0, NULL, false},
};
