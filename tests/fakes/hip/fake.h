/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_HIP_FAKE_H
#define MEMSPAN_TESTS_FAKES_HIP_FAKE_H

/* A pretended HIP runtime: the front of tests/fakes/gpu. Fine-grained device memory behind a large
 * BAR can be touched by the host. Its environment begins with FAKE_HIP_, and has besides:
 *   ATTRIBUTES: a value of -1: the question is not known
 *   LIES=peer|managed|fine|pointer|large|compiler|null|version|align|coherent (large: more than a
 *   page is seen at another address; version: of another ROCm; align: addresses are multiples of
 *   128; coherent: host memory has no such flag) */

/* The runtime's handles are the pretended GPU's. */
#define ihipStream_t       fake_stream
#define ihipEvent_t        fake_event
#define ihipModule_t       fake_module
#define ihipModuleSymbol_t fake_function

#include "backends/hip/hip_api.h"
#include "tests/fakes/gpu/calls.h"

/* What the pretended compiler makes. */
struct fake_code {
    char magic[8];
    int combining;
};
#define FAKE_CODE_MAGIC "hipcode"

/* As in gpu.h, for the compiler and HSA, which may be other libraries. */
FAKE_API hip_result_t fake_hip_enter(const char *name, bool releases);
FAKE_API hip_result_t fake_hip_leave(hip_result_t code);
FAKE_API bool fake_hip_lies(const char *about);
FAKE_API void fake_hip_programs(int change);
#define START(name)                                                                                \
    do {                                                                                           \
        hip_result_t code_ = fake_hip_enter((name), false);                                        \
        if (code_ != HIP_SUCCESS) {                                                                \
            return code_;                                                                          \
        }                                                                                          \
    } while (0)
/* A descriptor of device memory, or -1. */
FAKE_API int fake_hip_export(uintptr_t address, size_t size, uint64_t *offset);

#define FAKE_PROTOTYPE(name, optional, result, arguments) FAKE_API result name arguments;
HIP_CALL_MAP(FAKE_PROTOTYPE)
HIP_COMPILER_MAP(FAKE_PROTOTYPE)
HIP_HSA_MAP(FAKE_PROTOTYPE)
#undef FAKE_PROTOTYPE

/* For the tests. */
FAKE_API int fake_hip_current(void);
FAKE_API int fake_hip_last_error(void);
FAKE_API int fake_hip_is_coarse(const void *address);
/* What the compiler was last told to compile for; "" if it was not told. */
FAKE_API const char *fake_hip_arch(void);

#endif /* MEMSPAN_TESTS_FAKES_HIP_FAKE_H */
