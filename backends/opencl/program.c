/* SPDX-License-Identifier: BSD-3-Clause */
/* program.c: the kernels, as OpenCL C, and their compilation. Each device has programs of its own,
 * so that one whose compiler fails does not take the others with it.
 *
 * Addresses come as a base and an offset in bytes, because a buffer can only be passed whole. There
 * is a work-item for each element and no test against the count, which PoCL cannot vectorise (three
 * times slower, measured): enqueueing cuts the range to fit. */

#include "backends/opencl/opencl.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char basic_text[] =
    "#ifdef MEMSPAN_DOUBLES\n"
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "#define AT(base, offset) ((__global double *)((__global char *)(base) + (offset)))\n"
    "__kernel void memspan_daxpy(__global void *xb, ulong xo, __global void *yb, ulong yo,\n"
    "                            __global void *zb, ulong zo, double a) {\n"
    "    __global const double *x = AT(xb, xo);\n"
    "    __global const double *y = AT(yb, yo);\n"
    "    __global double *z = AT(zb, zo);\n"
    "    size_t i = get_global_id(0);\n"
    "    z[i] += a * x[i] + y[i];\n"
    "}\n"
    "__kernel void memspan_fill(__global void *zb, ulong zo, double a) {\n"
    "    __global double *z = AT(zb, zo);\n"
    "    size_t i = get_global_id(0);\n"
    "    z[i] = a;\n"
    "}\n"
    "__kernel void memspan_sum(__global void *xb, ulong xo, __global void *zb, ulong zo,\n"
    "                          ulong count) {\n"
    "    __local double part[64];\n"
    "    __global const double *x = AT(xb, xo);\n"
    "    size_t me = get_local_id(0);\n"
    "    size_t all = get_local_size(0);\n"
    "    double sum = 0.0;\n"
    "    for (ulong i = me; i < count; i += all) sum += x[i];\n"
    "    part[me] = sum;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (me == 0) {\n"
    "        for (size_t i = 1; i < all; i++) sum += part[i];\n"
    "        AT(zb, zo)[0] = sum;\n"
    "    }\n"
    "}\n"
    "#endif\n"
    "#define WORD(base, offset) ((__global ulong *)((__global char *)(base) + (offset)))\n"
    "__kernel void memspan_chase(__global void *xb, ulong xo, __global void *zb, ulong zo,\n"
    "                            ulong count) {\n"
    "    __global ulong *p = WORD(xb, xo);\n"
    "    for (ulong i = 0; i < count; i++) p = (__global ulong *)(size_t)*p;\n"
    "    WORD(zb, zo)[0] = (ulong)(size_t)p;\n"
    "}\n"
    "__kernel void memspan_add_atomic(__global void *zb, ulong zo, int a) {\n"
    "    __global char *z = (__global char *)zb + zo;\n"
    /* Only these two include the host; elsewhere the atomics of OpenCL 1 must do. */
    "#if defined(__opencl_c_atomic_scope_all_devices) || (__OPENCL_C_VERSION__ == 200)\n"
    "    atomic_fetch_add_explicit((volatile __global atomic_int *)z, a, memory_order_relaxed,\n"
    "                              memory_scope_all_svm_devices);\n"
    "#else\n"
    "    atomic_add((volatile __global int *)z, a);\n"
    "#endif\n"
    "}\n"
    "__kernel void memspan_report(__global ulong *page, __global ulong *seen, ulong store) {\n"
    "    seen[0] = (ulong)(size_t)page;\n"
    "    seen[1] = page[0];\n"
    "    if (store != 0) page[0] = store;\n"
    "}\n";

/* Sums and products of integers wrap, so they are formed without sign. Complex numbers are aligned
 * as their parts are: no vectors in memory. Contraction would give other bits than the host has. */
static const char combine_text[] =
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "#define AT(T, b, o) ((__global T *)((__global char *)(b) + (o)))\n"
    "#define KERNEL(name)\\\n"
    "__kernel void memspan_##name(__global void *xb, ulong xo, __global void *yb, ulong yo,\\\n"
    "                             __global void *zb, ulong zo)\n"
    "#define COMBINE(name, T, W, op)\\\n"
    "KERNEL(name) {\\\n"
    "    size_t i = get_global_id(0);\\\n"
    "    W p = (W)AT(T, xb, xo)[i], q = (W)AT(T, yb, yo)[i];\\\n"
    "    AT(T, zb, zo)[i] = (T)(op);\\\n"
    "}\n"
    "#define ORDERED(suffix, T)\\\n"
    "COMBINE(min_##suffix, T, T, q < p ? q : p) COMBINE(max_##suffix, T, T, q > p ? q : p)\n"
    "#define INTEGER(suffix, T)\\\n"
    "COMBINE(sum_##suffix, T, ulong, p + q) COMBINE(prod_##suffix, T, ulong, p * q)\\\n"
    "ORDERED(suffix, T) COMBINE(and_##suffix, T, T, p & q)\\\n"
    "COMBINE(or_##suffix, T, T, p | q) COMBINE(xor_##suffix, T, T, p ^ q)\n"
    "#define COMPLEX(name, T, op)\\\n"
    "KERNEL(name) {\\\n"
    "    size_t i = get_global_id(0);\\\n"
    "    T##2 p = vload2(i, AT(T, xb, xo)), q = vload2(i, AT(T, yb, yo));\\\n"
    "    vstore2(op, i, AT(T, zb, zo));\\\n"
    "}\n"
    "#define FLOATING(bits, T)\\\n"
    "COMBINE(sum_f##bits, T, T, p + q) COMBINE(prod_f##bits, T, T, p * q) ORDERED(f##bits, T)\\\n"
    "COMPLEX(sum_c##bits, T, p + q)\\\n"
    "COMPLEX(prod_c##bits, T, (T##2)(p.x * q.x - p.y * q.y, p.x * q.y + p.y * q.x))\n"
    "INTEGER(s8, char) INTEGER(u8, uchar) INTEGER(s16, short) INTEGER(u16, ushort)\n"
    "INTEGER(s32, int) INTEGER(u32, uint) INTEGER(s64, long) INTEGER(u64, ulong)\n"
    "FLOATING(32, float)\n"
    "#ifdef MEMSPAN_DOUBLES\n"
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "FLOATING(64, double)\n"
    "#endif\n";

/* The compiler's words go into the error record, as far as there is space. */
static memspan_status_t fail_build(struct opencl_device *device, cl_program program, cl_int code)
{
    const struct opencl_state *state = device->platform->state;
    size_t size                      = 0;
    char *text                       = NULL;
    memspan_status_t status;

    if ((state->cl.clGetProgramBuildInfo(program, device->id, OPENCL_PROGRAM_BUILD_LOG, 0, NULL,
                                         &size) == OPENCL_SUCCESS) &&
        (size > 0)) {
        text = calloc(size + 1, 1);
    }
    if ((text != NULL) &&
        (state->cl.clGetProgramBuildInfo(program, device->id, OPENCL_PROGRAM_BUILD_LOG, size, text,
                                         NULL) != OPENCL_SUCCESS)) {
        text[0] = '\0';
    }
    status = opencl_error(state, "clBuildProgram", code,
                          "%s cannot compile the built-in kernels: %.160s", device->info.name,
                          ((text != NULL) && (text[0] != '\0')) ? text : "no log");
    free(text);
    return status;
}

static memspan_status_t build(struct opencl_device *device, enum opencl_part part)
{
    const struct opencl_state *state = device->platform->state;
    const char *text                 = (part == OPENCL_PART_BASIC) ? basic_text : combine_text;
    cl_int code                      = OPENCL_SUCCESS;
    char options[64];
    cl_program program;
    memspan_status_t status = opencl_platform_need_context(device->platform);

    if (status != MEMSPAN_OK) {
        return status;
    }
    program = state->cl.clCreateProgramWithSource(device->platform->context, 1, &text, NULL, &code);
    if (program == NULL) {
        return opencl_error(state, "clCreateProgramWithSource", code,
                            "%s does not take the built-in kernels", device->info.name);
    }
    snprintf(options, sizeof(options), "%s%s", device->language,
             device->has_doubles ? " -DMEMSPAN_DOUBLES" : "");
    code = state->cl.clBuildProgram(program, 1, &device->id, options, NULL, NULL);
    if (code != OPENCL_SUCCESS) {
        status = fail_build(device, program, code);
        state->cl.clReleaseProgram(program);
        return status;
    }
    device->programs[part] = program;
    return MEMSPAN_OK;
}

memspan_status_t opencl_kernel_get(struct opencl_device *device, int which, const char *name,
                                   cl_kernel *kernel_p)
{
    const struct opencl_state *state = device->platform->state;
    bool combines                    = (which >= GPU_KERNELS) && (which != OPENCL_KERNEL_REPORT);
    enum opencl_part part            = combines ? OPENCL_PART_COMBINE : OPENCL_PART_BASIC;
    memspan_status_t status          = MEMSPAN_OK;
    cl_int code                      = OPENCL_SUCCESS;

    if (device->kernels[which] == NULL) {
        if (device->programs[part] == NULL) {
            status = build(device, part);
        }
        if (status != MEMSPAN_OK) {
            return status;
        }
        device->kernels[which] = state->cl.clCreateKernel(device->programs[part], name, &code);
        if (device->kernels[which] == NULL) {
            return opencl_error(state, "clCreateKernel", code, "no kernel %s on %s", name,
                                device->info.name);
        }
        device->kernels_told[which] = 0;
        device->kernels_hold[which] = false;
    }
    *kernel_p = device->kernels[which];
    return MEMSPAN_OK;
}

void opencl_program_drop(struct opencl_device *device)
{
    const struct opencl_calls *cl = &device->platform->state->cl;
    int i;

    for (i = 0; i < OPENCL_KERNEL_COUNT; i++) {
        if (device->kernels[i] != NULL) {
            cl->clReleaseKernel(device->kernels[i]);
            device->kernels[i] = NULL;
        }
    }
    for (i = 0; i < OPENCL_PARTS; i++) {
        if (device->programs[i] != NULL) {
            cl->clReleaseProgram(device->programs[i]);
            device->programs[i] = NULL;
        }
    }
}
