/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_GPU_CALLS_H
#define MEMSPAN_TESTS_FAKES_GPU_CALLS_H

/* What the calls of CUDA and HIP do, which differ in names and in some rules. They answer with the
 * same numbers.
 *
 * Work on a stream is done as late as it may be: when a caller waits, when memory is given back, or
 * when a copy ends in pageable memory. Pageable memory that is copied from is read at once. A
 * kernel that touches what it may not leaves its device unusable. */

#include "tests/fakes/gpu/gpu.h"
#include "tests/queue/judge.h"
#include <pthread.h>

enum {
    FAKE_INVALID_VALUE        = 1,
    FAKE_OUT_OF_MEMORY        = 2,
    FAKE_INVALID_DEVICE       = 101,
    FAKE_INVALID_CONTEXT      = 201,
    FAKE_INVALID_HANDLE       = 400,
    FAKE_ILLEGAL_STATE        = 401,
    FAKE_NOT_READY            = 600,
    FAKE_ILLEGAL_ADDRESS      = 700,
    FAKE_PEERS_ALREADY        = 704,
    FAKE_LOST                 = 719,
    FAKE_CAPTURE_UNSUPPORTED  = 900,
    FAKE_CAPTURE_INVALIDATED  = 901,
    FAKE_CAPTURE_UNJOINED     = 904,
    FAKE_CAPTURE_ISOLATION    = 905,
    FAKE_CAPTURE_IMPLICIT     = 906,
    FAKE_CAPTURED_EVENT       = 907,
    FAKE_CAPTURE_WRONG_THREAD = 908,
    FAKE_PORTABLE_AND_MAPPED  = 3,
    FAKE_LAST_PREFETCH        = 4,
    FAKE_NAME_BYTES           = 48
};

/* Where the two differ. */
struct fake_rules {
    int pageable_attribute; /* devices reach all memory of the host */
    int never_prefetched;
    unsigned threads_max; /* of a block */
    int cannot_open;      /* memory of another process */
    bool tells_of_all;    /* giving back tells of a failure on any device */
    /* The current one, which owns what is made; NULL: a device has but one. */
    void *(*context)(void);
};
extern const struct fake_rules fake_rules;

static inline void *fake_context(void)
{
    return (fake_rules.context == NULL) ? NULL : fake_rules.context();
}

/* ---- what a front has ---- */

/* Whether the current device can be used, and which it is; -1: none. */
int fake_usable(int *device_p);
int fake_check_stream(struct fake_stream *stream);

/* ---- calls_memory.c ---- */

int fake_check_size(size_t size, bool of_device, int *device_p);
/* The address, of any type, is written to *address_p. */
int fake_alloc(enum fake_kind kind, size_t size, int protection, void *address_p);
/* Of one of the kinds, a bit each. */
int fake_give_back(uintptr_t address, unsigned kinds, bool opened, const char *name, int unknown);
/* What is of a device, -1: of any, and of a context, NULL: of any. */
void fake_remove_all(int device, const void *context);
/* Where a kernel on the device finds @p address; NULL: it may not go there. All contexts of a
 * process on a device have one address space, as on an H100. */
void *fake_reach(int device, uintptr_t address, size_t size);
/* Where a copy reads or writes; unknown memory is the host's. NULL: it runs past its end. */
void *fake_any(uintptr_t address, size_t size);

bool fake_is_known(void *address, size_t size); /* in part, or all */
int fake_register(void *address, size_t size, unsigned flags);
int fake_host_pointer(void *seen_at_p, void *address, unsigned flags);

int fake_managed(uintptr_t address, size_t size, int device, struct fake_memory **memory_p);
int fake_attach(struct fake_stream *stream, uintptr_t address, size_t size, unsigned flags);
int fake_prefetch(uintptr_t address, size_t size, int device, const struct fake_stream *stream);
int fake_range_attribute(void *data, size_t size, int which, uintptr_t address, size_t count);

/* Handles for other processes, of 64 bytes. */
int fake_ticket_make(void *handle, uintptr_t address);
int fake_ticket_open(const void *handle, bool flags_fit, void *address_p);

int fake_enable_peer(int device, int peer);

/* ---- calls_work.c ---- */

/* The default streams exist from their first use on. */
enum fake_stream_type { FAKE_STREAM_MADE, FAKE_STREAM_LEGACY, FAKE_STREAM_THREAD };

struct fake_stream {
    struct fake_stream *next;
    enum fake_stream_type type;
    pthread_t thread; /* whose default stream it is */
    bool blocking;    /* it and the legacy default stream wait for each other */
    bool destroyed;   /* what is pending is still done, and then it goes */
    int runners;      /* threads that do what is pending; they wait without the lock */
    int device;
    void *context;
    struct fake_command *first;
    struct order_stream order;
    unsigned capture; /* a number; 0: it is not captured */
    int capture_mode;
    pthread_t capturer;
    bool origin;   /* of the capture */
    bool unjoined; /* it came in by an event, and nothing has waited for it */
    bool spoilt;
};

/* A position in a stream. */
struct fake_mark {
    int references;
    struct fake_stream *stream; /* until it is done */
    unsigned capture;           /* in which it is; 0: none */
    bool done;
    struct order_clock clock; /* of the stream there */
};

struct fake_function {
    struct fake_function *next;
    char name[FAKE_NAME_BYTES];
    int device;
    void *context;
};

struct fake_module {
    struct fake_module *next;
    struct fake_function *functions;
    int device;
    void *context;
    char entry[FAKE_NAME_BYTES]; /* CUDA: what was compiled */
    bool combining;              /* HIP: the same */
};

struct fake_command {
    struct fake_command *next;
    int (*run)(int device, struct fake_command *command);
    char kernel[FAKE_NAME_BYTES];
    unsigned blocks;
    unsigned threads;
    uint64_t arguments[5]; /* count, a, x, y, z */
    uintptr_t to;
    uintptr_t from;
    void *snapshot; /* of pageable memory that was copied from */
    size_t size;
    unsigned value;
    unsigned width;
    struct fake_mark *mark;      /* that it is, or NULL */
    struct fake_mark *waits_for; /* or NULL */
    const uint64_t *word;        /* of the host's, that it waits for, or NULL */
    uint64_t least;              /* its value then */
};

int fake_sticky(int device);
/* The stream of a handle: NULL and 1 are the legacy default stream of the current context, 2 is the
 * thread's. */
struct fake_stream *fake_stream_of(struct fake_stream *handle);
bool fake_is_stream(const struct fake_stream *stream);
int fake_stream_create(struct fake_stream **stream_p, unsigned flags);
int fake_stream_destroy(struct fake_stream *stream, const char *name);
int fake_stream_wait(struct fake_stream *stream);
int fake_run_all(int device); /* -1: of all */
void fake_run_to(const struct fake_mark *mark);
/* One command, unless it waits for a word of the host's. */
void fake_go_on(const struct fake_mark *mark);
struct fake_command *fake_enqueue(struct fake_stream *stream,
                                  int (*run)(int device, struct fake_command *command));
bool fake_busy(void);
/* By work of another stream that is not done. */
bool fake_is_used_elsewhere(const struct fake_memory *m, const struct fake_stream *stream);
/* With pending work; chosen as by fake_remove_all(). */
void fake_streams_drop(int device, const void *context);

int fake_copy(uintptr_t to, uintptr_t from, size_t size, struct fake_stream *stream);
int fake_copy_rows(uintptr_t to, size_t to_pitch, uintptr_t from, size_t from_pitch, size_t width,
                   size_t height, struct fake_stream *stream);
/* Later work waits until the word is at least @p least. */
int fake_wait_word(struct fake_stream *stream, uintptr_t word, uint64_t least, bool allowed);
int fake_fill(uintptr_t to, unsigned value, unsigned width, size_t count,
              struct fake_stream *stream);

/* A synchronous copy of the program's that has returned and is under way: it is done as late as
 * the driver may do it, since other streams do not wait for it. */
void fake_late_begin(uintptr_t to, uintptr_t from, size_t size);
void fake_late_finish(void);

struct fake_module *fake_module_add(int device);
int fake_module_function(struct fake_module *module, const char *name,
                         struct fake_function **function_p);
int fake_module_unload(struct fake_module *module, const char *name);
void fake_modules_drop(int device, const void *context); /* chosen as by fake_remove_all() */
int fake_launch(const struct fake_function *function, const unsigned grid[3],
                const unsigned block[3], unsigned shared_bytes, struct fake_stream *stream,
                void **arguments, void **extra);

/* ---- calls_capture.c ---- */

int fake_exchange_capture_mode(int *mode);
/* What a call answers while a stream of the program's is captured; 0: it is begun. A call that
 * waits would wait for the captured stream as well: never. */
int fake_refuse_in_capture(bool unsafe, bool waits);
/* What work on a stream that is there answers, because it would wait for a captured one; or 0. */
int fake_check_implicit(const struct fake_stream *stream);
/* What waiting for a stream answers, because it is captured; or 0. */
int fake_refuse_captured(struct fake_stream *stream);
int fake_stream_is_captured(const struct fake_stream *stream, bool *captured_p);
int fake_capture_begin(struct fake_stream *stream, int mode);
int fake_capture_end(struct fake_stream *stream);
int fake_capture_join(struct fake_stream *stream, const struct fake_mark *mark);

/* ---- calls_event.c ---- */

struct fake_event;

int fake_event_create(struct fake_event **event_p, unsigned flags);
int fake_event_destroy(struct fake_event *event, const char *name);
int fake_event_record(struct fake_event *event, struct fake_stream *stream);
int fake_event_wait(struct fake_stream *stream, const struct fake_event *event, unsigned flags);
int fake_event_query(struct fake_event *event);
void fake_events_drop(int device, const void *context); /* chosen as by fake_remove_all() */
void fake_mark_drop(struct fake_mark *mark);
/* The command waits for the last one that is on another stream now. */
void fake_wait_for_last(struct fake_command *command, struct fake_stream *other);

/* ---- kernels.c ---- */

/* Whether there is such a kernel; *combining_p: it combines two arrays. */
bool fake_knows_kernel(const char *name, bool *combining_p);
int fake_kernel(int device, struct fake_command *command);

#endif /* MEMSPAN_TESTS_FAKES_GPU_CALLS_H */
