/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of the HIP backend's kernels: Clang compiles it for AMD's GPUs, where there is one that
 * can (MEMSPAN_HIP_CLANG, else clang-19 or clang in PATH), and every kernel that can be asked for
 * is in what it makes. */

#include "backends/hip/hip.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What hiprtc knows by itself. */
static const char language[] =
    "#define __global__ __attribute__((global))\n"
    "#define __device__ __attribute__((device))\n"
    "#define __shared__ __attribute__((shared))\n"
    "#define __launch_bounds__(n) __attribute__((launch_bounds(n)))\n"
    "struct index { unsigned x; };\n"
    "__device__ static inline void __syncthreads() { __builtin_amdgcn_s_barrier(); }\n"
    "__device__ static inline int atomicAdd_system(int *z, int a)\n"
    "{\n"
    "    return __hip_atomic_fetch_add(z, a, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);\n"
    "}\n"
    "#define threadIdx (index{__builtin_amdgcn_workitem_id_x()})\n"
    "#define blockIdx (index{__builtin_amdgcn_workgroup_id_x()})\n"
    "#define blockDim (index{__builtin_amdgcn_workgroup_size_x()})\n"
    "#define gridDim (index{__builtin_amdgcn_grid_size_x() / blockDim.x})\n";

static bool try_clang(const char *clang)
{
    char command[512];

    snprintf(command, sizeof(command),
             "echo '' | %s -x hip --cuda-device-only --offload-arch=gfx90a -nogpulib -nogpuinc -S "
             "-o /dev/null - 2>/dev/null",
             clang);
    return system(command) == 0;
}

static const char *find_clang(void)
{
    const char *told = getenv("MEMSPAN_HIP_CLANG");

    if (told != NULL) {
        return told;
    }
    return try_clang("clang-19") ? "clang-19" : (try_clang("clang") ? "clang" : NULL);
}

static void compile(const char *clang, const char *option, const char *target, const char *source,
                    const char *result)
{
    char command[1024];

    snprintf(command, sizeof(command),
             "%s -x hip --cuda-device-only --offload-arch=%s -nogpulib -nogpuinc -O3 -Werror %s "
             "-S -o %s %s",
             clang, target, option, result, source);
    cr_assert_eq(system(command), 0, "%s refuses it", clang);
}

static bool contains(const char *path, const char *name)
{
    char wanted[80];
    char line[512];
    bool found = false;
    FILE *file = fopen(path, "r");

    cr_assert_not_null(file);
    snprintf(wanted, sizeof(wanted), ".amdhsa_kernel %s\n", name);
    while (!found && (fgets(line, sizeof(line), file) != NULL)) {
        found = strstr(line, wanted) != NULL;
    }
    fclose(file);
    return found;
}

static int check_kernels(enum hip_part wanted, const char *path)
{
    int count = 0;
    int kernel;

    for (kernel = -1; kernel <= MEMSPAN_KERNEL_COMBINE_LAST + 1; kernel++) {
        char name[48];
        int place = gpu_kernel_find((memspan_kernel_t)kernel, name);
        if ((place >= 0) && ((place < GPU_KERNELS) == (wanted == HIP_PART_BASIC))) {
            cr_assert(contains(path, name), "%s is not there", name);
            count++;
        }
    }
    return count;
}

Test(hip_kernels, clang_compiles_them, .timeout = 60)
{
    char source[]     = "/tmp/memspan-hip-XXXXXX";
    char result[]     = "/tmp/memspan-hip-XXXXXX";
    const char *clang = find_clang();
    FILE *file;

    if (clang == NULL) {
        cr_skip_test("no Clang for AMD GPUs");
    }
    close(mkstemp(result));
    file = fdopen(mkstemp(source), "w");
    cr_assert_not_null(file);
    fprintf(file, "%s%s", language, hip_kernel_source);
    fclose(file);
    compile(clang, "", "gfx90a", source, result);
    cr_expect_eq(check_kernels(HIP_PART_BASIC, result), GPU_KERNELS);
    compile(clang, "-DMEMSPAN_COMBINE", "gfx1100", source, result);
    cr_expect_eq(check_kernels(HIP_PART_COMBINE, result), 8 * 7 + 2 * 4 + 2 * 2);
    unlink(source);
    unlink(result);
}
