/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_GPU_GPU_H
#define MEMSPAN_TESTS_FAKES_GPU_GPU_H

/* One pretended GPU driver, compiled into each fake. A fake is this and a front of its vendor:
 * names, structures, status codes, and the rules in which it differs. 0 is success in all of them.
 *
 * Device memory has two views: the one whose address is returned cannot be touched by the host, the
 * other is the fake's. A broken rule is recorded, not reported to the caller. One lock guards
 * everything.
 *
 * Environment, read by fake_gpu_reset() and at the first call. Each name begins with the front's
 * prefix, such as FAKE_CUDA_; a front has more.
 *   DEVICES=n, MEMORY=bytes of each
 *   FIRST=n: the process sees the machine's devices from the n-th on
 *   ATTRIBUTES=number=value[,...]
 *   FAIL_AT=n: the n-th call fails; FAIL_CALL=name: that call always fails, with FAIL_NTH=n its
 * n-th one alone; FAIL_CODE=code: with it LOST_AT=n: from the n-th call on every device is lost
 *   LIES=word: the driver promises that, and then it cannot; LACKS=word[,...]
 *   ORDER=1: copies and fills of CUDA and HIP are judged by clocks (tests/queue/judge.h)
 *   HANG=1: the call that starts the driver does not return */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_API __attribute__((visibility("default")))

enum { FAKE_DEVICES_MAX = 48, FAKE_ATTRIBUTES = 48, FAKE_PAGE = 4096 };

enum fake_kind { FAKE_DEVICE, FAKE_HOST, FAKE_MANAGED, FAKE_REGISTERED, FAKE_MAPPED };

struct fake_memory {
    struct fake_memory *next;
    enum fake_kind kind;
    int device;      /* whose it is; host pages: current at the time; -1: of none */
    uintptr_t base;  /* the address that is returned */
    size_t size;     /* that was asked for */
    size_t mapped;   /* bytes of the views */
    size_t lead;     /* of these, before base */
    char *bytes;     /* the fake's own view of base */
    void *outer;     /* the view that is returned, or NULL: not the fake's to unmap */
    void *inner;     /* the other one, or NULL */
    int fd;          /* what both views show, or -1 */
    int prefetched;  /* managed memory: where to */
    uint64_t access; /* mapped memory: bit for each device */
    bool opened;     /* another process's */
    bool synced;     /* CUDA: synchronous copies of it are complete when they return */
    bool coarse;     /* HIP: its grain */
    void *attached;  /* managed: to that stream, or NULL */
    bool exports;    /* Level Zero and what follows: it may be exported */
    int shared_fd;   /* exported in a handle, or -1: the driver's */
    int export_fd;   /* exported as a dma-buf, or -1: the driver's */
    void *driver;
    void *context; /* whose it is; Level Zero's NULL: pages in the driver's table */
};

struct fake_gpu {
    bool ready;
    bool initialised;
    bool hang;
    bool lost;
    bool ended;          /* the driver has, as it does before the process */
    bool capturing;      /* a stream of the program's, in the mode global */
    bool capture_spoilt; /* by a call that is not allowed meanwhile */
    bool managed_closed; /* to the host: devices use it */
    int device_count;
    int first;
    size_t capacity;
    size_t used[FAKE_DEVICES_MAX];
    int sticky[FAKE_DEVICES_MAX];     /* what every call answers after a failure on the device */
    uint64_t peers[FAKE_DEVICES_MAX]; /* bit for each device whose memory it reaches */
    int attributes[FAKE_ATTRIBUTES][2];
    char lies[32];
    char lacks[96];
    int calls;
    int fail_at;
    int fail_nth;
    bool judges_order;
    int fail_code;
    int lost_at;
    char fail_call[64];
    const char *call; /* that is being done */
    int forced;       /* what it will answer in spite of it */
    char failed[64];
    char violation[256];
    struct fake_memory *memory;
    struct fake_stream *streams;
    struct fake_module *modules;
    int objects; /* others that are to be given back */
};
extern struct fake_gpu gpu;

/* What a front says of its vendor. */
struct fake_front {
    const char *prefix;
    int fail_code;
    const int (*attributes)[2]; /* number and value, ended by the number 0 */
    void (*read)(void);         /* at a reset: its own variables and state; or NULL */
    /* Not begun, not counted as failed, and answered so; or 0. The call is gpu.call. */
    int (*refuse)(void);
    /* What the call answers of itself: not initialised, or lost; or 0. */
    int (*force)(void);
    void (*answered)(int code); /* or NULL */
};
extern const struct fake_front fake_front;

/* ---- control.c ---- */

/* Every driver call: BEGIN first, and return fake_leave(code). */
int fake_enter(const char *name, bool releases);
int fake_leave(int code);
/* Inside a call: other threads' calls are done meanwhile. */
void fake_pause(void);
/* Why a call that gives back was not begun. */
int fake_refused(void);
#define BEGIN(name)                                                                                \
    do {                                                                                           \
        int code_ = fake_enter((name), false);                                                     \
        if (code_ != 0) {                                                                          \
            return code_;                                                                          \
        }                                                                                          \
    } while (0)
/* A call that gives something back does it even when it is made to fail: what it answers then is
 * the failure of something earlier, as with the real driver. */
#define BEGIN_RELEASE(name)                                                                        \
    do {                                                                                           \
        if (fake_enter((name), true) != 0) {                                                       \
            return fake_refused();                                                                 \
        }                                                                                          \
    } while (0)
/* A call that does one thing. */
#define CALL(name, code)                                                                           \
    do {                                                                                           \
        BEGIN(name);                                                                               \
        return fake_leave(code);                                                                   \
    } while (0)
#define CALL_RELEASE(name, code)                                                                   \
    do {                                                                                           \
        BEGIN_RELEASE(name);                                                                       \
        return fake_leave(code);                                                                   \
    } while (0)

void fake_broken(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool fake_lies(const char *about);
bool fake_lacks(const char *what);
void fake_hang(void);
int fake_attribute(int which); /* -1: not known */
/* Of a variable, without the prefix. */
long fake_number(const char *name, long fallback);
void fake_text(const char *name, const char *fallback, char *to, size_t size);

static inline bool fake_is_device(int device)
{
    return (device >= 0) && (device < gpu.device_count);
}

static inline uint64_t fake_bit(int device)
{
    return (uint64_t)1 << device;
}

/* ---- memory.c ---- */

static inline size_t fake_whole_pages(size_t size)
{
    return (size + FAKE_PAGE - 1) & ~(size_t)(FAKE_PAGE - 1);
}

struct fake_memory *fake_find(uintptr_t address);
/* The fake's own view of it; NULL: it runs past the end. */
void *fake_at(const struct fake_memory *memory, uintptr_t address, size_t size);
bool fake_overlaps(const struct fake_memory *memory, uintptr_t address, size_t size);
/* An empty range of whole pages at a multiple of @p align. */
void *fake_reserve(size_t size, size_t align);
struct fake_memory *fake_add(enum fake_kind kind, int device, size_t size);
/* Host pages of another owner. */
struct fake_memory *fake_add_pages(enum fake_kind kind, int device, void *pages, size_t size);
/* Both views of @p fd, the outer one at @p at if that is not NULL. False: they cannot be. */
bool fake_map_views(struct fake_memory *memory, int fd, void *at, int protection);
/* Bytes that are not zero, which no driver promises. By write(): a store costs a page fault a page.
 */
bool fake_spoil(const struct fake_memory *memory);
/* Fresh memory with both views, spoilt if it is of a device. NULL: the machine has none, which is
 * no part of the pretence. */
struct fake_memory *fake_create(enum fake_kind kind, int device, size_t size, size_t align,
                                int protection);
void fake_remove(struct fake_memory *memory);
/* Managed memory is the host's again, or not; what is attached to a stream stays as it is. */
void fake_managed_open(bool open);
void fake_open(struct fake_memory *memory, bool open);
/* A descriptor of another process's, or -1. */
int fake_fetch(int pid, int fd);

/* ---- for the tests ---- */

FAKE_API void fake_gpu_reset(void);
FAKE_API const char *fake_gpu_failed_call(void);
/* The first rule that was broken, or "". */
FAKE_API const char *fake_gpu_violation(void);
FAKE_API int fake_gpu_live(void);
/* NULL: of all calls. */
FAKE_API unsigned fake_gpu_calls(const char *name);
FAKE_API unsigned long long fake_gpu_used(int device);
/* The program captures a stream, or has ended that: true if the capture is whole. */
FAKE_API bool fake_gpu_capture(bool begin);

#endif /* MEMSPAN_TESTS_FAKES_GPU_GPU_H */
