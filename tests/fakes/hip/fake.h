/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_HIP_FAKE_H
#define MEMSPAN_TESTS_FAKES_HIP_FAKE_H

/* A pretended HIP runtime: what it keeps. Device memory has two views: the one whose address is
 * returned cannot be touched by the host (but for fine-grained memory behind a large BAR), the
 * other is the fake's. Work on a stream is done as late as it may be. One lock guards everything.
 *
 * Environment, read by fake_hip_reset() and at the first call:
 *   FAKE_HIP_DEVICES=n, FAKE_HIP_MEMORY=bytes of each
 *   FAKE_HIP_ATTRIBUTES=number=value[,...]; a value of -1: the question is not known
 *   FAKE_HIP_FAIL_AT=n: the n-th call fails; FAKE_HIP_FAIL_CALL=name: that call always fails;
 *   FAKE_HIP_FAIL_CODE=code: with what (719)
 *   FAKE_HIP_LOST_AT=n: from the n-th call on every device is lost
 *   FAKE_HIP_LIES=peer|managed|fine|pointer|large|compiler|null|version|align|coherent: that is
 *   promised, and then it cannot be (large: more than a page is seen at another address; version:
 *   of another ROCm; align: addresses are multiples of 128; coherent: host memory has no such flag)
 *   FAKE_HIP_HANG=1: hipInit() does not return */

#include "backends/hip/hip_api.h"
#include <stdbool.h>
#include <stdint.h>

#define FAKE_API __attribute__((visibility("default")))

enum { FAKE_DEVICES_MAX = 8, FAKE_ATTRIBUTES = 24, FAKE_LOST = 719 };

enum fake_kind { FAKE_DEVICE = 1, FAKE_HOST, FAKE_MANAGED, FAKE_REGISTERED };

struct fake_memory {
    struct fake_memory *next;
    enum fake_kind kind;
    int device; /* current when it was made */
    uintptr_t base;
    size_t size;   /* that was asked for */
    size_t mapped; /* bytes of the views */
    size_t lead;   /* of these, before base */
    char *bytes;   /* the fake's own view of base */
    int fd;        /* what both views show, or -1 */
    int prefetched;
    bool coarse;
    bool opened; /* another process's */
};

struct fake_command {
    struct fake_command *next;
    hip_result_t (*run)(int device, struct fake_command *command);
    char kernel[48];
    unsigned blocks;
    uint64_t arguments[5];
    uintptr_t to;
    uintptr_t from;
    void *snapshot; /* of pageable memory that was copied from */
    size_t size;
    int value;
};

struct ihipStream_t {
    struct ihipStream_t *next;
    bool destroyed; /* what is pending is still done, and then it goes */
    int device;
    struct fake_command *first;
};

struct ihipModuleSymbol_t {
    struct ihipModuleSymbol_t *next;
    char name[48];
    int device;
};

struct ihipModule_t {
    struct ihipModuleSymbol_t *functions;
    int device;
    bool combining;
};

/* What the pretended compiler makes. */
struct fake_code {
    char magic[8];
    int combining;
};
#define FAKE_CODE_MAGIC "hipcode"

struct fake {
    bool ready;
    bool initialised;
    int device_count;
    size_t capacity;
    size_t used[FAKE_DEVICES_MAX];
    hip_result_t sticky[FAKE_DEVICES_MAX];
    unsigned peers[FAKE_DEVICES_MAX]; /* bit for each device whose memory it reaches */
    int attributes[FAKE_ATTRIBUTES][2];
    char lies[32];
    bool hang;
    int calls;
    int fail_at;
    int lost_at;
    char fail_call[48];
    int fail_code;
    bool capturing;      /* a stream of the program's, in the mode global */
    bool capture_spoilt; /* by a call that is not allowed meanwhile */
    bool of_hip;         /* the call that is being done keeps a last error */
    hip_result_t forced; /* what the call that is being done will answer in spite of it */
    char failed[48];
    char violation[256];
    struct fake_memory *memory;
    struct ihipStream_t *streams;
    int modules;
    int programs;
};
extern struct fake fake;

/* Every call: BEGIN first, and return fake_leave(code). The compiler's calls, which may be in
 * another library, use them as well. */
FAKE_API hip_result_t fake_hip_enter(const char *name, bool releases);
FAKE_API hip_result_t fake_hip_leave(hip_result_t code);
/* Why a call that gives back was not begun: a stream is captured. */
FAKE_API hip_result_t fake_hip_refused(void);
/* For atexit(): as the runtime's own destructors. */
FAKE_API void fake_hip_programs(int change);
FAKE_API bool fake_hip_lies(const char *about);
FAKE_API int fake_hip_export(uintptr_t address, size_t size, uint64_t *offset);
#define BEGIN(name)                                                                                \
    do {                                                                                           \
        hip_result_t code_ = fake_hip_enter((name), false);                                        \
        if (code_ != HIP_SUCCESS) {                                                                \
            return code_;                                                                          \
        }                                                                                          \
    } while (0)
/* A call that gives something back does it even when it is made to fail: what it answers then is
 * the failure of something earlier. */
#define BEGIN_RELEASE(name)                                                                        \
    do {                                                                                           \
        if (fake_hip_enter((name), true) != HIP_SUCCESS) {                                         \
            return fake_hip_refused();                                                             \
        }                                                                                          \
    } while (0)
#define fake_leave(code) fake_hip_leave(code)

extern _Thread_local int fake_current;
/* The current device, if it can be used. */
hip_result_t fake_usable(void);
int fake_attribute(int which); /* -1: not known */
void fake_broken(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Memory. */
struct fake_memory *fake_find(uintptr_t address);
/* Where the fake reads what a kernel of that device reads at @p address; NULL: it may not. */
void *fake_reach(int device, uintptr_t address, size_t size);
/* Where a copy reads or writes; unknown memory is the host's. NULL: it runs past its end. */
void *fake_any(uintptr_t address, size_t size);

/* Work. */
hip_result_t fake_run(struct ihipStream_t *stream);
hip_result_t fake_run_all(int device); /* -1: of all */
hip_result_t fake_kernel(int device, struct fake_command *command);
bool fake_knows_kernel(const char *name, bool combining);

#define FAKE_PROTOTYPE(name, optional, result, arguments) FAKE_API result name arguments;
HIP_CALL_MAP(FAKE_PROTOTYPE)
HIP_COMPILER_MAP(FAKE_PROTOTYPE)
HIP_HSA_MAP(FAKE_PROTOTYPE)
#undef FAKE_PROTOTYPE

/* For the tests. */
FAKE_API void fake_hip_reset(void);
FAKE_API const char *fake_hip_failed_call(void);
FAKE_API const char *fake_hip_violation(void);
FAKE_API int fake_hip_live(void);
FAKE_API unsigned fake_hip_calls(const char *name);
FAKE_API int fake_hip_current(void);
FAKE_API int fake_hip_last_error(void);
FAKE_API int fake_hip_is_coarse(const void *address);
/* The program captures a stream, or has ended that: true if the capture is whole. */
FAKE_API bool fake_hip_capture(bool begin);
/* What the compiler was last told to compile for; "" if it was not told. */
FAKE_API const char *fake_hip_arch(void);

#endif /* MEMSPAN_TESTS_FAKES_HIP_FAKE_H */
