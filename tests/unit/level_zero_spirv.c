/* SPDX-License-Identifier: BSD-3-Clause */
/* The modules of the Level Zero backend's kernels: every one is there that should be, is well
 * formed as far as can be told from its words, and passes the SPIR-V validator where there is one
 * (spirv-val). */

#include "backends/level_zero/level_zero.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Every instruction says how long it is, and the last one ends the module. */
static bool adds_up(const struct lz_spirv *m)
{
    size_t i = 5;

    if ((m->count <= i) || (m->words[0] != 0x07230203) || (m->words[1] != 0x00010000)) {
        return false;
    }
    while (i < m->count) {
        size_t length = m->words[i] >> 16;
        if ((length == 0) || (length > m->count - i)) {
            return false;
        }
        i += length;
    }
    return m->words[m->count - 1] == (1u << 16 | 56u);
}

static bool names_itself(const struct lz_spirv *m)
{
    return memmem(m->words, m->count * 4, m->name, strlen(m->name) + 1) != NULL;
}

static bool make(memspan_kernel_t kernel, struct lz_spirv *m)
{
    int place = gpu_kernel_find(kernel, m->name);

    if (place < 0) {
        return false;
    }
    cr_assert(lz_spirv_write(place, m), "%s", m->name);
    cr_assert(adds_up(m) && names_itself(m), "%s", m->name);
    return true;
}

/* Of 73 kernels, what computes in doubles: the rest must run where there are none. */
Test(level_zero_spirv, every_kernel_has_a_module)
{
    struct lz_spirv m;
    int count   = 0;
    int doubles = 0;

    for (int kernel = 0; kernel < GPU_KERNELS; kernel++) {
        cr_assert(make((memspan_kernel_t)kernel, &m));
        cr_expect_eq(m.fp64, (kernel == MEMSPAN_KERNEL_DAXPY) || (kernel == MEMSPAN_KERNEL_SUM),
                     "%s", m.name);
    }
    for (int o = 0; o < MEMSPAN_OPERATION_COUNT; o++) {
        for (int e = 0; e < MEMSPAN_ELEMENT_COUNT; e++) {
            if (make(MEMSPAN_KERNEL_COMBINE(o, e), &m)) {
                cr_expect_eq(m.fp64, (e == MEMSPAN_ELEMENT_F64) || (e == MEMSPAN_ELEMENT_C64), "%s",
                             m.name);
                count++;
                doubles += m.fp64 ? 1 : 0;
            }
        }
    }
    cr_expect_eq(count, 8 * 7 + 2 * 4 + 2 * 2);
    cr_expect_eq(doubles, 6);
}

static void validate(const struct lz_spirv *m)
{
    FILE *validator = popen("spirv-val --target-env opencl2.1 - 2>&1 >/dev/null", "w");

    cr_assert_not_null(validator);
    cr_assert_eq(fwrite(m->words, sizeof(m->words[0]), m->count, validator), m->count);
    cr_assert_eq(pclose(validator), 0, "%s is not valid", m->name);
}

Test(level_zero_spirv, validator_takes_all, .timeout = 60)
{
    struct lz_spirv m;

    if (system("command -v spirv-val >/dev/null 2>&1") != 0) {
        cr_skip_test("no spirv-val (Debian: spirv-tools)");
    }
    for (int kernel = 0; kernel < GPU_KERNELS; kernel++) {
        cr_assert(make((memspan_kernel_t)kernel, &m));
        validate(&m);
    }
    for (int o = 0; o < MEMSPAN_OPERATION_COUNT; o++) {
        for (int e = 0; e < MEMSPAN_ELEMENT_COUNT; e++) {
            if (make(MEMSPAN_KERNEL_COMBINE(o, e), &m)) {
                validate(&m);
            }
        }
    }
}
