/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_SHMEM_NETWORK_BED_H
#define MEMSPAN_TESTS_SHMEM_NETWORK_BED_H

/* Processes that use a network driver as the network transport does, without a job: what PEs tell
 * each other beside the network (addresses, keys, barriers) is in memory that they share. Each case
 * has processes of its own. A condition that does not hold, or takes too long, ends the process. */

#include "shmem/network/driver.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    BED_PES_MAX     = 16,
    BED_TIMEOUT_S   = 60,
    BED_FLAGS       = 8,
    BED_GUARD_BYTES = 64,
};

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s, PE %d: not so: %s\n", __FILE__, __LINE__, bed.name,        \
                    bed.pe, #condition);                                                           \
            fprintf(stderr, "  " __VA_ARGS__);                                                     \
            fprintf(stderr, "\n  last error: %s\n", bed.error);                                    \
            _Exit(1);                                                                              \
        }                                                                                          \
    } while (0)

/* What PEs share beside the network. */
struct bed_shared {
    _Atomic int arrived;
    _Atomic int generation;
    _Atomic uint64_t flags[BED_FLAGS]; /* a case's own */
    pid_t processes[BED_PES_MAX];
    struct {
        char address[MSP_NETWORK_ADDRESS_MAX];
        size_t address_bytes;
        char key[MSP_NETWORK_KEY_MAX];
        size_t key_bytes;
        uint64_t base;
    } pes[BED_PES_MAX];
};

/* What this process knows. */
struct bed {
    const char *name; /* of the case */
    const struct msp_network_driver *driver;
    struct msp_network_limits limits;
    struct msp_network_services services;
    struct msp_network_queue *queue; /* the main one */
    struct msp_network_peer *peers[BED_PES_MAX];
    struct msp_network_key *keys[BED_PES_MAX];
    struct msp_network_memory *memory;
    struct bed_shared *shared;
    char *base; /* of the registered memory */
    size_t size_bytes;
    int pe;
    int pe_count;
    bool is_closing;
    bool needs_messages; /* failed processes are detected by operations alone */
    int failed_pe;       /* -1: none */
    _Atomic int failures;
    char error[512]; /* the last record */
    memspan_status_t status;
    void (*receive)(const void *header, size_t header_bytes, const void *payload,
                    size_t payload_bytes);
};

extern struct bed bed;

struct bed_case {
    const char *name;
    int pe_count;
    size_t size_bytes; /* of the registered memory of each PE; 0: none */
    void (*run)(void);
    bool needs_detection; /* of failed processes */
};

/* A request that counts its completions. */
struct bed_request {
    struct msp_network_request request;
    int completions;
    memspan_status_t status;
};

/* Progresses @p queue; yields the processor when nothing happened, as PEs share few. */
void bed_progress(struct msp_network_queue *queue);
void bed_request_clear(struct bed_request *request);
/* Of a result: progresses @p queue until it is complete. BUSY is not for it. */
void bed_complete(struct msp_network_queue *queue, enum msp_network_result result,
                  struct bed_request *request);

/* The peer, and the key of its memory, of the main queue; opened at first use. */
struct msp_network_peer *bed_peer(int pe);
struct msp_network_key *bed_key(int pe);
/* Of another queue. */
struct msp_network_peer *bed_open_peer(struct msp_network_queue *queue, int pe);
struct msp_network_key *bed_open_key(struct msp_network_peer *peer, int pe);

/* The same address in the memory of @p pe. */
uint64_t bed_address(int pe, size_t offset);

/* Operations that wait for their completion, on any queue. */
void bed_put(struct msp_network_queue *queue, struct msp_network_peer *peer,
             struct msp_network_key *key, uint64_t address, const void *source, size_t size_bytes);
void bed_get(struct msp_network_queue *queue, struct msp_network_peer *peer,
             struct msp_network_key *key, uint64_t address, void *dest, size_t size_bytes);
void bed_send(struct msp_network_peer *peer, const void *header, size_t header_bytes,
              const void *payload, size_t payload_bytes);
void bed_flush(struct msp_network_queue *queue, struct msp_network_peer *peer);

/* All PEs have come; serves the main queue until then. */
void bed_barrier(void);
/* The same without serving: PEs that neither progress nor sleep on the descriptor. */
void bed_barrier_idle(void);
/* One step of a PE that sleeps on its descriptor, at most @p timeout_ms. Whether it slept. */
bool bed_sleep(int timeout_ms);
/* Until the flag has that value, serving the main queue. */
void bed_await(unsigned flag, uint64_t value);

uint64_t bed_random(uint64_t *state);
unsigned char bed_byte(uint64_t seed, size_t offset);
void bed_fill(void *dest, size_t size_bytes, uint64_t seed);
void bed_verify(const void *found, size_t size_bytes, uint64_t seed, const char *what);

/* By file. */
extern const struct bed_case bed_transfer_cases[];
extern const struct bed_case bed_message_cases[];
extern const struct bed_case bed_progress_cases[];
extern const struct bed_case bed_memory_cases[];
extern const struct bed_case bed_queue_cases[];
extern const struct bed_case bed_failure_cases[];
extern const struct bed_case bed_unkind_cases[];

#endif /* MEMSPAN_TESTS_SHMEM_NETWORK_BED_H */
