/* SPDX-License-Identifier: BSD-3-Clause */
/* ptx.c: the text of the built-in kernels, which the driver compiles for the device at hand.
 *
 * PTX ISA 4.0 for sm_50 is the least that supports a device of compute capability 5.0, and every
 * later driver takes it; ISA 5.0 for sm_60 only where a scope is named (atomics that the host
 * sees).
 *
 * All kernels have the same five parameters and the same frame: elements are dealt out round robin,
 * thread by thread, so that neighbours touch neighbours, and any grid is right for any count. */

#include "backends/cuda/cuda.h"
#include <stdio.h>
#include <string.h>

/* Parameters to registers; i starts at the thread's number in the grid, step is the grid's size. */
static const char frame_begin[] =
    ".address_size 64\n"
    ".visible .entry %s(.param .u64 p_n, .param .b64 p_a, .param .u64 p_x, .param .u64 p_y,\n"
    "                   .param .u64 p_z)\n"
    "{\n"
    "    .reg .pred %%out, %%p;\n"
    "    .reg .u32 %%me, %%width, %%block, %%blocks;\n"
    "    .reg .u64 %%n, %%x, %%y, %%z, %%i, %%step, %%at, %%t;\n"
    "    ld.param.u64 %%n, [p_n];\n"
    "    ld.param.u64 %%x, [p_x];\n"
    "    ld.param.u64 %%y, [p_y];\n"
    "    ld.param.u64 %%z, [p_z];\n"
    "    cvta.to.global.u64 %%x, %%x;\n"
    "    cvta.to.global.u64 %%y, %%y;\n"
    "    cvta.to.global.u64 %%z, %%z;\n"
    "    mov.u32 %%me, %%tid.x;\n"
    "    mov.u32 %%width, %%ntid.x;\n"
    "    mov.u32 %%block, %%ctaid.x;\n"
    "    mov.u32 %%blocks, %%nctaid.x;\n"
    "    mul.wide.u32 %%i, %%block, %%width;\n"
    "    cvt.u64.u32 %%t, %%me;\n"
    "    add.u64 %%i, %%i, %%t;\n"
    "    mul.wide.u32 %%step, %%blocks, %%width;\n";

/* A kernel's code before the loop, for each element, and after it. %at is i elements of %u bytes,
 * the loop's only argument. */
static const char loop_begin[] = "LOOP:\n"
                                 "    setp.ge.u64 %%out, %%i, %%n;\n"
                                 "    @%%out bra DONE;\n"
                                 "    mul.lo.u64 %%at, %%i, %u;\n";
static const char loop_end[]   = "    add.u64 %i, %i, %step;\n"
                                 "    bra LOOP;\n"
                                 "DONE:\n";
static const char frame_end[]  = "    ret;\n"
                                 "}\n";

struct body {
    unsigned element_bytes; /* 0: no loop */
    const char *before;
    const char *each;
    const char *after;
};

static const struct body daxpy = {8,
                                  "    .reg .f64 %a, %fx, %fy, %fz;\n"
                                  "    ld.param.f64 %a, [p_a];\n",
                                  "    add.u64 %t, %x, %at;\n"
                                  "    ld.global.f64 %fx, [%t];\n"
                                  "    add.u64 %t, %y, %at;\n"
                                  "    ld.global.f64 %fy, [%t];\n"
                                  "    add.u64 %t, %z, %at;\n"
                                  "    ld.global.f64 %fz, [%t];\n"
                                  "    fma.rn.f64 %fx, %a, %fx, %fy;\n"
                                  "    add.rn.f64 %fz, %fz, %fx;\n"
                                  "    st.global.f64 [%t], %fz;\n",
                                  ""};

static const struct body fill = {8,
                                 "    .reg .f64 %a;\n"
                                 "    ld.param.f64 %a, [p_a];\n",
                                 "    add.u64 %t, %z, %at;\n"
                                 "    st.global.f64 [%t], %a;\n",
                                 ""};

/* A sum for each block of 256 threads, halving: z[block]. A second launch sums the sums. */
static const struct body sum = {8,
                                "    .shared .align 8 .b8 part[2048];\n"
                                "    .reg .u32 %half;\n"
                                "    .reg .u64 %mine;\n"
                                "    .reg .f64 %s, %v;\n"
                                "    mov.f64 %s, 0d0000000000000000;\n",
                                "    add.u64 %t, %x, %at;\n"
                                "    ld.global.f64 %v, [%t];\n"
                                "    add.rn.f64 %s, %s, %v;\n",
                                "    mov.u64 %mine, part;\n"
                                "    mul.wide.u32 %t, %me, 8;\n"
                                "    add.u64 %mine, %mine, %t;\n"
                                "    st.shared.f64 [%mine], %s;\n"
                                "    mov.u32 %half, 128;\n"
                                "HALVE:\n"
                                "    bar.sync 0;\n"
                                "    setp.ge.u32 %p, %me, %half;\n"
                                "    @%p bra NEXT;\n"
                                "    mul.wide.u32 %t, %half, 8;\n"
                                "    add.u64 %t, %mine, %t;\n"
                                "    ld.shared.f64 %v, [%t];\n"
                                "    add.rn.f64 %s, %s, %v;\n"
                                "    st.shared.f64 [%mine], %s;\n"
                                "NEXT:\n"
                                "    shr.u32 %half, %half, 1;\n"
                                "    setp.ne.u32 %p, %half, 0;\n"
                                "    @%p bra HALVE;\n"
                                "    setp.ne.u32 %p, %me, 0;\n"
                                "    @%p bra LEAVE;\n"
                                "    mul.wide.u32 %t, %block, 8;\n"
                                "    add.u64 %t, %z, %t;\n"
                                "    st.global.f64 [%t], %s;\n"
                                "LEAVE:\n"};

/* One thread. Links may lead anywhere that the device reaches: generic addresses. */
static const struct body chase = {0,
                                  "    ld.param.u64 %at, [p_x];\n"
                                  "STEP:\n"
                                  "    setp.eq.u64 %p, %n, 0;\n"
                                  "    @%p bra END;\n"
                                  "    ld.u64 %at, [%at];\n"
                                  "    sub.u64 %n, %n, 1;\n"
                                  "    bra STEP;\n"
                                  "END:\n"
                                  "    st.global.u64 [%z], %at;\n",
                                  "", ""};

static const struct body add_atomic = {4,
                                       "    .reg .u64 %wide;\n"
                                       "    .reg .u32 %a;\n"
                                       "    ld.param.u64 %wide, [p_a];\n"
                                       "    cvt.u32.u64 %a, %wide;\n",
                                       "    red.global.add.u32 [%z], %a;\n", ""};

static const struct body add_atomic_system = {4,
                                              "    .reg .u64 %wide;\n"
                                              "    .reg .u32 %a;\n"
                                              "    ld.param.u64 %wide, [p_a];\n"
                                              "    cvt.u32.u64 %a, %wide;\n",
                                              "    red.global.sys.add.u32 [%z], %a;\n", ""};

static void write_body(const char *name, const struct body *body, bool scoped,
                       char text[CUDA_PTX_BYTES])
{
    char frame[1400];
    char loop[256] = "";

    snprintf(frame, sizeof(frame), frame_begin, name);
    if (body->element_bytes > 0) {
        snprintf(loop, sizeof(loop), loop_begin, body->element_bytes);
    }
    snprintf(text, CUDA_PTX_BYTES, "%s%s%s%s%s%s%s%s",
             scoped ? ".version 5.0\n.target sm_60\n" : ".version 4.0\n.target sm_50\n", frame,
             body->before, loop, body->each, (body->element_bytes > 0) ? loop_end : "", body->after,
             frame_end);
}

/* ---- combining: z[i] = x[i] OP y[i] ---- */

enum form { INTEGER, FLOATING, COMPLEX };

/* Integers shorter than a register are widened by the load and cut by the store (PTX ISA, "operand
 * size exceeding instruction-type size"). */
static const struct element {
    const char *memory; /* type of loads and stores */
    const char *number; /* type of arithmetic, and of registers */
    const char *bits;   /* type of logic */
    unsigned size_bytes;
    enum form form;
} elements[MEMSPAN_ELEMENT_COUNT] = {
    [MEMSPAN_ELEMENT_S8]  = {"s8", "s32", "b32", 1, INTEGER},
    [MEMSPAN_ELEMENT_U8]  = {"u8", "u32", "b32", 1, INTEGER},
    [MEMSPAN_ELEMENT_S16] = {"s16", "s32", "b32", 2, INTEGER},
    [MEMSPAN_ELEMENT_U16] = {"u16", "u32", "b32", 2, INTEGER},
    [MEMSPAN_ELEMENT_S32] = {"s32", "s32", "b32", 4, INTEGER},
    [MEMSPAN_ELEMENT_U32] = {"u32", "u32", "b32", 4, INTEGER},
    [MEMSPAN_ELEMENT_S64] = {"s64", "s64", "b64", 8, INTEGER},
    [MEMSPAN_ELEMENT_U64] = {"u64", "u64", "b64", 8, INTEGER},
    [MEMSPAN_ELEMENT_F32] = {"f32", "f32", "", 4, FLOATING},
    [MEMSPAN_ELEMENT_F64] = {"f64", "f64", "", 8, FLOATING},
    [MEMSPAN_ELEMENT_C32] = {"f32", "f32", "", 8, COMPLEX},
    [MEMSPAN_ELEMENT_C64] = {"f64", "f64", "", 16, COMPLEX},
};

static const struct operation {
    const char *integer; /* instruction without its type */
    const char *floating;
    bool logic;
} operations[MEMSPAN_OPERATION_COUNT] = {
    [MEMSPAN_OPERATION_SUM]  = {"add", "add.rn", false},
    [MEMSPAN_OPERATION_PROD] = {"mul.lo", "mul.rn", false},
    [MEMSPAN_OPERATION_MIN]  = {"min", "min", false},
    [MEMSPAN_OPERATION_MAX]  = {"max", "max", false},
    [MEMSPAN_OPERATION_AND]  = {"and", NULL, true},
    [MEMSPAN_OPERATION_OR]   = {"or", NULL, true},
    [MEMSPAN_OPERATION_XOR]  = {"xor", NULL, true},
};

/* (u, ui) and (v, vi) to (w, wi). */
static const char complex_sum[]  = "    add.rn.%s %%w, %%u, %%v;\n"
                                   "    add.rn.%s %%wi, %%ui, %%vi;\n";
static const char complex_prod[] = "    mul.rn.%s %%w, %%ui, %%vi;\n"
                                   "    neg.%s %%w, %%w;\n"
                                   "    fma.rn.%s %%w, %%u, %%v, %%w;\n"
                                   "    mul.rn.%s %%wi, %%u, %%vi;\n"
                                   "    fma.rn.%s %%wi, %%ui, %%v, %%wi;\n";

static void write_complex(const struct element *e, int operation, char *text, size_t size)
{
    const char *n = e->number;
    unsigned half = e->size_bytes / 2;
    char work[256];

    if (operation == MEMSPAN_OPERATION_SUM) {
        snprintf(work, sizeof(work), complex_sum, n, n);
    } else {
        snprintf(work, sizeof(work), complex_prod, n, n, n, n, n);
    }
    snprintf(text, size,
             "    add.u64 %%t, %%x, %%at;\n"
             "    ld.global.%s %%u, [%%t];\n"
             "    ld.global.%s %%ui, [%%t+%u];\n"
             "    add.u64 %%t, %%y, %%at;\n"
             "    ld.global.%s %%v, [%%t];\n"
             "    ld.global.%s %%vi, [%%t+%u];\n"
             "%s"
             "    add.u64 %%t, %%z, %%at;\n"
             "    st.global.%s [%%t], %%w;\n"
             "    st.global.%s [%%t+%u], %%wi;\n",
             n, n, half, n, n, half, work, n, n, half);
}

static void write_real(const struct element *e, const struct operation *o, char *text, size_t size)
{
    const char *instruction = (e->form == INTEGER) ? o->integer : o->floating;

    snprintf(text, size,
             "    add.u64 %%t, %%x, %%at;\n"
             "    ld.global.%s %%u, [%%t];\n"
             "    add.u64 %%t, %%y, %%at;\n"
             "    ld.global.%s %%v, [%%t];\n"
             "    %s.%s %%w, %%u, %%v;\n"
             "    add.u64 %%t, %%z, %%at;\n"
             "    st.global.%s [%%t], %%w;\n",
             e->memory, e->memory, instruction, o->logic ? e->bits : e->number, e->memory);
}

static void write_combining(const char *name, int operation, int element, char text[CUDA_PTX_BYTES])
{
    const struct element *e = &elements[element];
    char registers[64];
    char work[1024];
    struct body body = {e->size_bytes, registers, work, ""};

    snprintf(registers, sizeof(registers), "    .reg .%s %%u, %%v, %%w%s;\n", e->number,
             (e->form == COMPLEX) ? ", %ui, %vi, %wi" : "");
    if (e->form == COMPLEX) {
        write_complex(e, operation, work, sizeof(work));
    } else {
        write_real(e, &operations[operation], work, sizeof(work));
    }
    write_body(name, &body, false, text);
}

void cuda_ptx_write(int place, const char *name, int capability, char text[CUDA_PTX_BYTES])
{
    static const struct body *const basics[GPU_KERNELS] = {&daxpy, &fill, &sum, &chase,
                                                           &add_atomic};
    bool scoped = (place == MEMSPAN_KERNEL_ADD_ATOMIC) && (capability >= 60);
    int operation;
    int element;

    if (gpu_kernel_combines(place, &operation, &element)) {
        write_combining(name, operation, element, text);
    } else {
        write_body(name, scoped ? &add_atomic_system : basics[place], scoped, text);
    }
}
