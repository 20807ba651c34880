/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_CONFORM_H
#define MEMSPAN_TESTS_CONFORM_H

/* One suite for every backend, through the public API alone. A case is a function; the front end
 * (main.c) makes a Criterion test of each. CONFORM_BACKEND names the backend whose first device is
 * under test; unset means the host.
 *
 * Every case is run between conform_begin() and conform_end(), which insists that nothing stays
 * live or held, and that all counters add up (tests/sums.h). */

#include <memspan/memspan.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conform_case {
    const char *name;
    void (*run)(void);
};

/* Ended by an entry without a name. */
extern const struct conform_case conform_describe_cases[];
extern const struct conform_case conform_memory_cases[];
extern const struct conform_case conform_transfer_cases[];
extern const struct conform_case conform_reach_cases[];
extern const struct conform_case conform_combine_cases[];
extern const struct conform_case conform_allocator_cases[];
extern const struct conform_case conform_ladder_cases[];
extern const struct conform_case conform_limit_cases[];
extern const struct conform_case conform_pointer_cases[];
extern const struct conform_case conform_share_cases[];
extern const struct conform_case conform_thread_cases[];
extern const struct conform_case conform_queue_cases[];

/* ---- what the front end offers ---- */

/* In a program of its own (CONFORM_ABORT): runs out of memory with fallback=abort_fb. */
void conform_abort_here(void) __attribute__((noreturn));
/* The environment in which the program was started, for a program that it starts. */
void conform_restore_environment(void);

/* End the case as failed, or as skipped. From the thread that runs the case alone. */
void conform_fail(const char *file, int line, const char *condition, const char *format, ...)
    __attribute__((noreturn, format(printf, 4, 5)));
void conform_skip(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* CHECK(condition) or CHECK(condition, "what was found %d", n). */
#define CHECK(condition, ...)                                                                      \
    ((condition) ? (void)0 : conform_fail(__FILE__, __LINE__, #condition, " " __VA_ARGS__))
/* CHECK_STATUS(call, MEMSPAN_ERR_...) */
#define CHECK_STATUS(call, wanted)                                                                 \
    do {                                                                                           \
        memspan_status_t status_ = (call);                                                         \
        if (status_ != (wanted)) {                                                                 \
            conform_fail(__FILE__, __LINE__, #call, " gave %s, not %s",                            \
                         memspan_status_name(status_), #wanted);                                   \
        }                                                                                          \
    } while (0)
#define CHECK_OK(call) CHECK_STATUS(call, MEMSPAN_OK)
/* What memory holds after copies, fills and kernels. CONFORM_UNEXECUTED: the driver has no device
 * and does nothing that it is told; everything but this is checked then. */
#define CHECK_BYTES(condition, ...) CHECK((condition) || !conform_executes(), __VA_ARGS__)
bool conform_executes(void);

/* ---- the device under test ---- */

struct conform_device {
    int number; /* MEMSPAN_HOST for the host's backend */
    memspan_device_info_t info;
};

/* The first device of the backend under test; false, with a reason, where there is none. */
bool conform_find(struct conform_device *device_p, char *reason, size_t reason_size);

/* The same within a case, which is skipped where there is none. Found once. */
const struct conform_device *conform_device(void);
static inline bool conform_is_host(void)
{
    return conform_device()->number == MEMSPAN_HOST;
}
static inline bool conform_can(unsigned capability)
{
    return (conform_device()->info.capabilities & capability) != 0;
}
static inline bool conform_offers(memspan_kind_t kind)
{
    return (conform_device()->info.kinds & (1u << kind)) != 0;
}

/* Whether host and device are promised that of the device's memory of this kind. */
bool conform_promises(memspan_kind_t kind, memspan_coherence_t coherence);

void conform_begin(void);
void conform_end(void);

/* ---- memory of each kind ---- */

/* Memory of one kind of the device under test, and how both sides reach it. */
struct conform_memory {
    memspan_kind_t kind;
    memspan_allocator_h allocator;
    memspan_reach_t host;
    memspan_reach_t device;
};

/* The kinds that the device offers, one after the other, each with a new allocator (null_fb); not
 * host-pinned where 16 MiB cannot be locked. Fails the case when an offered kind cannot be had.
 * for (i = 0; conform_kind(i, &m); i++) { ...; conform_done(&m); } */
bool conform_kind(int i, struct conform_memory *m_p);
void conform_done(struct conform_memory *m);

/* The space of the device and the host (the host: the default space); false where there is none. */
bool conform_shared_space(memspan_space_h *space_p);
/* The space of the device alone. */
memspan_space_h conform_own_space(void);

/* An allocator over @p space; fails the case when it cannot be made. */
memspan_allocator_h conform_allocator(memspan_space_h space, const memspan_trait_t *traits,
                                      size_t count);

static inline bool conform_host_touches(const struct conform_memory *m)
{
    return m->host.access >= MEMSPAN_ACCESS_FAULT;
}
static inline bool conform_device_touches(const struct conform_memory *m)
{
    return m->device.access >= MEMSPAN_ACCESS_FAULT;
}
/* Whether there are kernels: the backend's, or target regions of this program (offload.c). */
bool conform_has_kernels(void);
static inline bool conform_kernels_run_on(const struct conform_memory *m)
{
    return conform_has_kernels() && conform_device_touches(m);
}

/* The program's own kernels for devices whose backend has none; NULL in most programs. */
typedef memspan_status_t conform_kernels_t(int device, const memspan_kernel_call_t *call);
extern conform_kernels_t *const conform_own_kernels;

/* ---- bytes ---- */

/* Byte @p i of pattern @p seed: neighbours differ, and so do seeds. */
static inline unsigned char conform_byte(unsigned seed, size_t i)
{
    return (unsigned char)(seed * 131u + i * 7u + (i >> 8) * 13u + 1u);
}
/* Write or compare the pattern, by loads and stores where the host may, else by memspan_copy(). */
void conform_write(const struct conform_memory *m, void *to, size_t size_bytes, unsigned seed);
bool conform_holds(const struct conform_memory *m, const void *at, size_t size_bytes,
                   unsigned seed);
/* Read bytes into a host buffer, however they can be had. */
void conform_read(const struct conform_memory *m, void *to, const void *from, size_t size_bytes);
/* Wait for the device, so that the host may look. */
void conform_wait(void);

/* Start a kernel on the device under test. */
memspan_status_t conform_start(const memspan_kernel_call_t *call);

/* Run one and wait for it. */
memspan_status_t conform_launch(memspan_kernel_t kernel, size_t count, double a, const void *x,
                                const void *y, void *z);

memspan_allocator_stats_t conform_stats(memspan_allocator_h allocator);

#endif /* MEMSPAN_TESTS_CONFORM_H */
