/* SPDX-License-Identifier: BSD-3-Clause */
/* compiler.c: a pretended hiprtc. It looks at the text a little, and keeps which half was asked
 * for: kernels are known by their names. */

#include "fake.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ERROR_COMPILATION = 6 };

struct _hiprtcProgram {
    const char *source;
    struct fake_code code;
    bool compiled;
};

static char arch[32];

const char *fake_hip_arch(void)
{
    return arch;
}

static const char complaint[] = "memspan.hip:1:1: error: pretended\n1 error generated.\n";

hip_result_t hiprtcCreateProgram(hip_program_t *program_p, const char *source, const char *name,
                                 int header_count, const char **headers, const char **include_names)
{
    struct _hiprtcProgram *program;

    START("hiprtcCreateProgram");
    if ((source == NULL) || (header_count != 0)) {
        return fake_hip_leave(2);
    }
    program         = calloc(1, sizeof(*program));
    program->source = source;
    fake_hip_programs(1);
    *program_p = program;
    return fake_hip_leave(HIP_SUCCESS);
}

hip_result_t hiprtcCompileProgram(hip_program_t program, int option_count, const char **options)
{
    int i;

    START("hiprtcCompileProgram");
    arch[0] = '\0';
    memcpy(program->code.magic, FAKE_CODE_MAGIC, sizeof(program->code.magic));
    for (i = 0; i < option_count; i++) {
        if (strncmp(options[i], "--offload-arch=", 15) == 0) {
            snprintf(arch, sizeof(arch), "%s", options[i] + 15);
        }
        if (strcmp(options[i], "-DMEMSPAN_COMBINE") == 0) {
            program->code.combining = 1;
        }
    }
    /* Names of that form are Clang's, which another compiler need not have. */
    if (fake_hip_lies("compiler") || (strstr(program->source, "__hip_") != NULL) ||
        (strstr(program->source, "__global__") == NULL)) {
        return fake_hip_leave(ERROR_COMPILATION);
    }
    program->compiled = true;
    return fake_hip_leave(HIP_SUCCESS);
}

hip_result_t hiprtcGetProgramLogSize(hip_program_t program, size_t *size)
{
    START("hiprtcGetProgramLogSize");
    *size = program->compiled ? 0 : sizeof(complaint);
    return fake_hip_leave(HIP_SUCCESS);
}

hip_result_t hiprtcGetProgramLog(hip_program_t program, char *text)
{
    START("hiprtcGetProgramLog");
    memcpy(text, complaint, sizeof(complaint));
    return fake_hip_leave(HIP_SUCCESS);
}

hip_result_t hiprtcGetCodeSize(hip_program_t program, size_t *size)
{
    START("hiprtcGetCodeSize");
    *size = program->compiled ? sizeof(program->code) : 0;
    return fake_hip_leave(HIP_SUCCESS);
}

hip_result_t hiprtcGetCode(hip_program_t program, char *bytes)
{
    START("hiprtcGetCode");
    memcpy(bytes, &program->code, sizeof(program->code));
    return fake_hip_leave(HIP_SUCCESS);
}

hip_result_t hiprtcDestroyProgram(hip_program_t *program_p)
{
    (void)fake_hip_enter("hiprtcDestroyProgram", true);
    free(*program_p);
    *program_p = NULL;
    fake_hip_programs(-1);
    return fake_hip_leave(HIP_SUCCESS);
}

const char *hiprtcGetErrorString(hip_result_t code)
{
    return (code == ERROR_COMPILATION) ? "HIPRTC_ERROR_COMPILATION" : "HIPRTC_ERROR_INTERNAL_ERROR";
}
