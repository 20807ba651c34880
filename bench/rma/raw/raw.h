/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_RMA_RAW_H
#define MEMSPAN_BENCH_RMA_RAW_H

/* What a network library needs for an operation, called as directly as a program can call it: one
 * endpoint, registered buffers, no check. Each of ucx.c and ofi.c is linked with raw.c into a
 * program of its own.
 *
 * Calls end the program after a message where something fails. */

#include <stddef.h>
#include <stdint.h>

enum { RAW_ROOM = 4 << 20, RAW_CARD_MAX = 2048 };

/* A process's registered memory. */
struct raw_side {
    _Alignas(128) volatile long turn; /* of the processes, one after the other */
    _Alignas(128) volatile long next; /* operations of the next batch; 0: none */
    _Alignas(128) volatile long word;
    _Alignas(4096) char source[RAW_ROOM];
    _Alignas(4096) char target[RAW_ROOM];
};

#define RAW_OFFSET(member) offsetof(struct raw_side, member)

/* Register @p side; the card is what the other process needs to reach it. */
void raw_open(struct raw_side *side, void *card, size_t *card_bytes_p);
void raw_connect(const void *card, size_t card_bytes);
void raw_close(void);

/* "libfabric 1.17, tcp;ofi_rxm" */
void raw_describe(char *text, size_t text_bytes);

/* Begin a put of @p source (in the registered memory) to that offset in the other's. */
void raw_put(size_t offset, const void *source, size_t size_bytes);
/* All puts are in the other's memory. */
void raw_flush(void);
void raw_get(size_t offset, void *dest, size_t size_bytes);
long raw_fetch_add(size_t offset, long value);

/* Messages: the buffer for the next one, the next one, and until it is there. */
void raw_expect(void *buffer, size_t size_bytes);
void raw_send(const void *source, size_t size_bytes);
void raw_receive(void);

/* Nonzero where anything happened. */
unsigned raw_progress(void);

/* raw.c: for waits. Progress; where nothing happens for long, others get the processor: both
 * processes may be on one. */
void raw_wait_step(void);

/* End the program. */
void raw_fail(const char *call, const char *text) __attribute__((noreturn));

#endif /* MEMSPAN_BENCH_RMA_RAW_H */
