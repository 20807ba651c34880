/* SPDX-License-Identifier: BSD-3-Clause */
/* spirv.c: the built-in kernels as SPIR-V 1.0 modules for the OpenCL environment, written word by
 * word: no compiler is needed to build, and the driver compiles them for the device at hand.
 *
 * All kernels have the same five parameters, msp_NAME(count, a, x, y, z), with a as 64 bits of
 * whatever it is, and the same frame: elements are dealt out round robin, work-item by work-item,
 * so that any grid is right for any count. Those without elements are for one work-item.
 *
 * Each module is one function of plain control flow: structured control flow is asked of shaders
 * only. Products are not contracted into sums, so that all devices give what the host gives.
 *
 * Compiled and embedded, the 73 modules would be 70 KB of words and 2,200 generated lines, against
 * 15 KB that write them; in one module a driver would compile all when one is used. */

#include "backends/level_zero/level_zero.h"
#include <string.h>

/* Of the specification's enumerations, what is used. */
enum opcode {
    OP_MEMORY_MODEL       = 14,
    OP_ENTRY_POINT        = 15,
    OP_EXECUTION_MODE     = 16,
    OP_CAPABILITY         = 17,
    OP_TYPE_VOID          = 19,
    OP_TYPE_BOOL          = 20,
    OP_TYPE_INT           = 21,
    OP_TYPE_FLOAT         = 22,
    OP_TYPE_VECTOR        = 23,
    OP_TYPE_POINTER       = 32,
    OP_TYPE_FUNCTION      = 33,
    OP_CONSTANT           = 43,
    OP_FUNCTION           = 54,
    OP_FUNCTION_PARAMETER = 55,
    OP_FUNCTION_END       = 56,
    OP_VARIABLE           = 59,
    OP_LOAD               = 61,
    OP_STORE              = 62,
    OP_PTR_ACCESS_CHAIN   = 70, /* OpInBoundsPtrAccessChain */
    OP_DECORATE           = 71,
    OP_COMPOSITE_EXTRACT  = 81,
    OP_U_CONVERT          = 113,
    OP_CONVERT_PTR_TO_U   = 117,
    OP_CONVERT_U_TO_PTR   = 120,
    OP_BITCAST            = 124,
    OP_I_ADD              = 128,
    OP_F_ADD              = 129,
    OP_F_SUB              = 131,
    OP_I_MUL              = 132,
    OP_F_MUL              = 133,
    OP_SELECT             = 169,
    OP_U_GREATER_THAN     = 172,
    OP_S_GREATER_THAN     = 173,
    OP_U_LESS_THAN        = 176,
    OP_S_LESS_THAN        = 177,
    OP_F_ORD_LESS_THAN    = 184,
    OP_F_ORD_GREATER_THAN = 186,
    OP_BITWISE_OR         = 197,
    OP_BITWISE_XOR        = 198,
    OP_BITWISE_AND        = 199,
    OP_ATOMIC_I_ADD       = 234,
    OP_PHI                = 245,
    OP_LABEL              = 248,
    OP_BRANCH             = 249,
    OP_BRANCH_CONDITIONAL = 250,
    OP_RETURN             = 253
};

enum {
    MAGIC                        = 0x07230203,
    VERSION_1_0                  = 0x00010000,
    BOUND_WORD                   = 3,
    CAPABILITY_ADDRESSES         = 4,
    CAPABILITY_LINKAGE           = 5,
    CAPABILITY_KERNEL            = 6,
    CAPABILITY_FLOAT64           = 10,
    CAPABILITY_INT64             = 11,
    CAPABILITY_INT16             = 22,
    CAPABILITY_INT8              = 39,
    ADDRESSING_PHYSICAL64        = 2,
    MEMORY_OPENCL                = 2,
    MODEL_KERNEL                 = 6,
    MODE_CONTRACTION_OFF         = 31,
    STORAGE_INPUT                = 1,
    STORAGE_CROSS_WORKGROUP      = 5,
    DECORATION_BUILTIN           = 11,
    DECORATION_CONSTANT          = 22,
    DECORATION_LINKAGE           = 41,
    LINKAGE_IMPORT               = 1,
    BUILTIN_GLOBAL_INVOCATION_ID = 28,
    BUILTIN_GLOBAL_SIZE          = 31,
    MEMORY_ALIGNED               = 2,
    MEMORY_WIDTH                 = 32 /* alignment of three 64-bit integers */
};

/* Identifiers that every module has: 1 up to the last of these. */
enum {
    ID_NONE = 0,
    ID_KERNEL,
    ID_VOID,
    ID_BOOL,
    ID_LONG, /* 64-bit integer */
    ID_LONG3,
    ID_LONG3_INPUT,
    ID_INT,
    ID_ZERO, /* of 64 bits */
    ID_ONE,
    ID_INT_ZERO,
    ID_ELEMENT, /* type of the elements, where it is none of the above */
    ID_POINTER, /* to elements */
    ID_FUNCTION,
    ID_COUNT,
    ID_A,
    ID_X,
    ID_Y,
    ID_Z,
    ID_WHERE, /* variables of the built-in values */
    ID_HOW_MANY,
    ID_ENTRY, /* label */
    ID_FIRST  /* the first free one */
};

/* A module being written. */
struct writer {
    struct lz_spirv *m;
    uint32_t next_id;
    uint32_t element; /* its type: ID_ELEMENT, or an integer that every module has */
    uint32_t element_bytes;
    bool full; /* it did not fit: never so, see the unit test */
};

static void put(struct writer *w, uint32_t word)
{
    if (w->m->count == LZ_SPIRV_WORDS) {
        w->full = true;
        return;
    }
    w->m->words[w->m->count++] = word;
}

/* An instruction of up to seven words after the first. */
static void emit(struct writer *w, enum opcode opcode, size_t count, const uint32_t *operands)
{
    size_t i;

    put(w, (uint32_t)(count + 1) << 16 | (uint32_t)opcode);
    for (i = 0; i < count; i++) {
        put(w, operands[i]);
    }
}
#define EMIT(w, opcode, ...)                                                                       \
    emit((w), (opcode), sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),                      \
         (uint32_t[]){__VA_ARGS__})
#define EMIT_BARE(w, opcode) emit((w), (opcode), 0, NULL)

static uint32_t new_id(struct writer *w)
{
    return w->next_id++;
}

/* An instruction with words before a text, and words after it. */
static void emit_text(struct writer *w, enum opcode opcode, size_t count, const uint32_t *before,
                      const char *text, size_t after_count, const uint32_t *after)
{
    size_t bytes = strlen(text) + 1;
    size_t words = (bytes + 3) / 4;
    size_t i;

    put(w, (uint32_t)(1 + count + words + after_count) << 16 | (uint32_t)opcode);
    for (i = 0; i < count; i++) {
        put(w, before[i]);
    }
    for (i = 0; i < words; i++) {
        uint32_t word = 0;
        size_t part   = (bytes - 4 * i < 4) ? bytes - 4 * i : 4;
        memcpy(&word, text + 4 * i, part); /* the first character lowest: this host's order */
        put(w, word);
    }
    for (i = 0; i < after_count; i++) {
        put(w, after[i]);
    }
}

static uint32_t unary(struct writer *w, enum opcode opcode, uint32_t type, uint32_t a)
{
    uint32_t id = new_id(w);

    EMIT(w, opcode, type, id, a);
    return id;
}

static uint32_t binary(struct writer *w, enum opcode opcode, uint32_t type, uint32_t a, uint32_t b)
{
    uint32_t id = new_id(w);

    EMIT(w, opcode, type, id, a, b);
    return id;
}

static uint32_t load(struct writer *w, uint32_t pointer)
{
    uint32_t id = new_id(w);

    EMIT(w, OP_LOAD, w->element, id, pointer, MEMORY_ALIGNED, w->element_bytes);
    return id;
}

static void store(struct writer *w, uint32_t pointer, uint32_t value)
{
    EMIT(w, OP_STORE, pointer, value, MEMORY_ALIGNED, w->element_bytes);
}

/* &array[index] */
static uint32_t at(struct writer *w, uint32_t array, uint32_t index)
{
    return binary(w, OP_PTR_ACCESS_CHAIN, ID_POINTER, array, index);
}

static uint32_t load_at(struct writer *w, uint32_t array, uint32_t index)
{
    return load(w, at(w, array, index));
}

/* ---- the frame ---- */

struct element {
    uint32_t bits;
    enum { INTEGER_SIGNED, INTEGER_UNSIGNED, FLOATING, COMPLEX } form;
};

static const struct element doubles   = {64, FLOATING};
static const struct element words     = {32, INTEGER_UNSIGNED};
static const struct element addresses = {64, INTEGER_UNSIGNED};

static void declare_builtin(struct writer *w, uint32_t id, uint32_t which, const char *name)
{
    uint32_t linkage[] = {id, DECORATION_LINKAGE};
    uint32_t import[]  = {LINKAGE_IMPORT};

    EMIT(w, OP_DECORATE, id, DECORATION_BUILTIN, which);
    EMIT(w, OP_DECORATE, id, DECORATION_CONSTANT);
    emit_text(w, OP_DECORATE, 2, linkage, name, 1, import);
}

/* Everything before the function's first block. */
static void begin_module(struct writer *w, const struct element *e)
{
    uint32_t entry[]      = {MODEL_KERNEL, ID_KERNEL};
    uint32_t interface[]  = {ID_WHERE, ID_HOW_MANY};
    uint32_t parameters[] = {ID_COUNT, ID_A, ID_X, ID_Y, ID_Z};
    size_t i;

    w->m->count      = 0;
    w->m->fp64       = (e->form >= FLOATING) && (e->bits == 64);
    w->next_id       = ID_FIRST;
    w->element_bytes = e->bits / 8;
    w->element       = ID_ELEMENT;
    if (e->form < FLOATING) {
        w->element = (e->bits == 64) ? ID_LONG : ((e->bits == 32) ? ID_INT : ID_ELEMENT);
    }
    put(w, MAGIC);
    put(w, VERSION_1_0);
    put(w, 0); /* the generator: none */
    put(w, 0); /* one above the last identifier: end_module() */
    put(w, 0);
    EMIT(w, OP_CAPABILITY, CAPABILITY_ADDRESSES);
    EMIT(w, OP_CAPABILITY, CAPABILITY_LINKAGE);
    EMIT(w, OP_CAPABILITY, CAPABILITY_KERNEL);
    EMIT(w, OP_CAPABILITY, CAPABILITY_INT64);
    if (w->element == ID_ELEMENT) {
        static const uint32_t small[] = {[1] = CAPABILITY_INT8, [2] = CAPABILITY_INT16};
        if (e->form < FLOATING) {
            EMIT(w, OP_CAPABILITY, small[w->element_bytes]);
        } else if (w->m->fp64) {
            EMIT(w, OP_CAPABILITY, CAPABILITY_FLOAT64);
        }
    }
    EMIT(w, OP_MEMORY_MODEL, ADDRESSING_PHYSICAL64, MEMORY_OPENCL);
    emit_text(w, OP_ENTRY_POINT, 2, entry, w->m->name, 2, interface);
    EMIT(w, OP_EXECUTION_MODE, ID_KERNEL, MODE_CONTRACTION_OFF);
    declare_builtin(w, ID_WHERE, BUILTIN_GLOBAL_INVOCATION_ID, "__spirv_BuiltInGlobalInvocationId");
    declare_builtin(w, ID_HOW_MANY, BUILTIN_GLOBAL_SIZE, "__spirv_BuiltInGlobalSize");
    EMIT(w, OP_TYPE_VOID, ID_VOID);
    EMIT(w, OP_TYPE_BOOL, ID_BOOL);
    EMIT(w, OP_TYPE_INT, ID_INT, 32, 0);
    EMIT(w, OP_TYPE_INT, ID_LONG, 64, 0);
    if ((w->element == ID_ELEMENT) && (e->form < FLOATING)) {
        EMIT(w, OP_TYPE_INT, ID_ELEMENT, e->bits, 0);
    } else if (w->element == ID_ELEMENT) {
        EMIT(w, OP_TYPE_FLOAT, ID_ELEMENT, e->bits);
    }
    EMIT(w, OP_TYPE_VECTOR, ID_LONG3, ID_LONG, 3);
    EMIT(w, OP_TYPE_POINTER, ID_LONG3_INPUT, STORAGE_INPUT, ID_LONG3);
    EMIT(w, OP_TYPE_POINTER, ID_POINTER, STORAGE_CROSS_WORKGROUP, w->element);
    EMIT(w, OP_TYPE_FUNCTION, ID_FUNCTION, ID_VOID, ID_LONG, ID_LONG, ID_POINTER, ID_POINTER,
         ID_POINTER);
    EMIT(w, OP_CONSTANT, ID_LONG, ID_ZERO, 0, 0);
    EMIT(w, OP_CONSTANT, ID_LONG, ID_ONE, 1, 0);
    EMIT(w, OP_CONSTANT, ID_INT, ID_INT_ZERO, 0);
    EMIT(w, OP_VARIABLE, ID_LONG3_INPUT, ID_WHERE, STORAGE_INPUT);
    EMIT(w, OP_VARIABLE, ID_LONG3_INPUT, ID_HOW_MANY, STORAGE_INPUT);
    EMIT(w, OP_FUNCTION, ID_VOID, ID_KERNEL, 0, ID_FUNCTION);
    for (i = 0; i < 5; i++) {
        EMIT(w, OP_FUNCTION_PARAMETER, (i < 2) ? ID_LONG : ID_POINTER, parameters[i]);
    }
    EMIT(w, OP_LABEL, ID_ENTRY);
}

static bool end_module(struct writer *w)
{
    EMIT_BARE(w, OP_RETURN);
    EMIT_BARE(w, OP_FUNCTION_END);
    w->m->words[BOUND_WORD] = w->next_id;
    return !w->full;
}

/* The first of the three parts of a built-in value. */
static uint32_t builtin(struct writer *w, uint32_t variable)
{
    uint32_t all = new_id(w);
    uint32_t id  = new_id(w);

    EMIT(w, OP_LOAD, ID_LONG3, all, variable, MEMORY_ALIGNED, MEMORY_WIDTH);
    EMIT(w, OP_COMPOSITE_EXTRACT, ID_LONG, id, all, 0);
    return id;
}

/* for (i = from; i < count; i += step) with one value carried along. */
struct loop {
    uint32_t from;
    uint32_t step;
    uint32_t carried_type; /* 0: nothing is carried */
    uint32_t carried_from;
    uint32_t header;
    uint32_t body;
    uint32_t after;
    uint32_t next_index;
    uint32_t next_carried;
    uint32_t index;
    uint32_t carried; /* also its value after the loop */
};

static void begin_loop(struct writer *w, struct loop *l)
{
    uint32_t go_on;

    l->header       = new_id(w);
    l->body         = new_id(w);
    l->after        = new_id(w);
    l->next_index   = new_id(w);
    l->index        = new_id(w);
    l->next_carried = new_id(w);
    l->carried      = new_id(w);
    EMIT(w, OP_BRANCH, l->header);
    EMIT(w, OP_LABEL, l->header);
    EMIT(w, OP_PHI, ID_LONG, l->index, l->from, ID_ENTRY, l->next_index, l->body);
    if (l->carried_type != 0) {
        EMIT(w, OP_PHI, l->carried_type, l->carried, l->carried_from, ID_ENTRY, l->next_carried,
             l->body);
    }
    go_on = binary(w, OP_U_LESS_THAN, ID_BOOL, l->index, ID_COUNT);
    EMIT(w, OP_BRANCH_CONDITIONAL, go_on, l->body, l->after);
    EMIT(w, OP_LABEL, l->body);
}

static void end_loop(struct writer *w, struct loop *l)
{
    EMIT(w, OP_I_ADD, ID_LONG, l->next_index, l->index, l->step);
    EMIT(w, OP_BRANCH, l->header);
    EMIT(w, OP_LABEL, l->after);
}

/* Over the elements that are this work-item's. */
static struct loop share_elements(struct writer *w)
{
    struct loop l = {.from = builtin(w, ID_WHERE), .step = builtin(w, ID_HOW_MANY)};

    return l;
}

/* ---- the kernels ---- */

/* z[i] += a * x[i] + y[i] */
static bool write_daxpy(struct writer *w)
{
    struct loop l;
    uint32_t a;
    uint32_t to;
    uint32_t sum;

    begin_module(w, &doubles);
    a = unary(w, OP_BITCAST, ID_ELEMENT, ID_A);
    l = share_elements(w);
    begin_loop(w, &l);
    sum = binary(w, OP_F_MUL, ID_ELEMENT, a, load_at(w, ID_X, l.index));
    sum = binary(w, OP_F_ADD, ID_ELEMENT, sum, load_at(w, ID_Y, l.index));
    to  = at(w, ID_Z, l.index);
    store(w, to, binary(w, OP_F_ADD, ID_ELEMENT, load(w, to), sum));
    end_loop(w, &l);
    return end_module(w);
}

/* z[i] = a: 64 bits, whatever they are */
static bool write_fill(struct writer *w)
{
    struct loop l;

    begin_module(w, &addresses);
    l = share_elements(w);
    begin_loop(w, &l);
    store(w, at(w, ID_Z, l.index), ID_A);
    end_loop(w, &l);
    return end_module(w);
}

/* z[t] = the sum of every element that is dealt to work-item t: started with fewer and fewer
 * work-items, in the end with one. */
static bool write_sum(struct writer *w)
{
    struct loop l;
    uint32_t x;

    begin_module(w, &doubles);
    l              = share_elements(w);
    l.carried_type = ID_ELEMENT;
    l.carried_from = unary(w, OP_BITCAST, ID_ELEMENT, ID_ZERO);
    begin_loop(w, &l);
    x = load_at(w, ID_X, l.index);
    EMIT(w, OP_F_ADD, ID_ELEMENT, l.next_carried, l.carried, x);
    end_loop(w, &l);
    store(w, at(w, ID_Z, l.from), l.carried);
    return end_module(w);
}

/* for (at = x; count > 0; count--) at = *at; z[0] = at */
static bool write_chase(struct writer *w)
{
    struct loop l = {.from = ID_ZERO, .step = ID_ONE, .carried_type = ID_LONG};
    uint32_t pointer;

    begin_module(w, &addresses);
    l.carried_from = unary(w, OP_CONVERT_PTR_TO_U, ID_LONG, ID_X);
    begin_loop(w, &l);
    pointer = unary(w, OP_CONVERT_U_TO_PTR, ID_POINTER, l.carried);
    EMIT(w, OP_LOAD, ID_LONG, l.next_carried, pointer, MEMORY_ALIGNED, 8);
    end_loop(w, &l);
    store(w, ID_Z, l.carried);
    return end_module(w);
}

/* z[0] += a, count times, atomically for the host and all devices */
static bool write_add_atomic(struct writer *w)
{
    struct loop l = {.from = ID_ZERO, .step = ID_ONE};
    uint32_t a;
    uint32_t old;

    begin_module(w, &words);
    a = unary(w, OP_U_CONVERT, ID_INT, ID_A);
    begin_loop(w, &l);
    old = new_id(w);
    /* Scope 0 is across devices, semantics 0 relaxed. */
    EMIT(w, OP_ATOMIC_I_ADD, ID_INT, old, ID_Z, ID_INT_ZERO, ID_INT_ZERO, a);
    end_loop(w, &l);
    return end_module(w);
}

/* ---- z[i] = x[i] OPERATION y[i] ---- */

static const struct element elements[MEMSPAN_ELEMENT_COUNT] = {
    {8, INTEGER_SIGNED},  {8, INTEGER_UNSIGNED},  {16, INTEGER_SIGNED}, {16, INTEGER_UNSIGNED},
    {32, INTEGER_SIGNED}, {32, INTEGER_UNSIGNED}, {64, INTEGER_SIGNED}, {64, INTEGER_UNSIGNED},
    {32, FLOATING},       {64, FLOATING},         {32, COMPLEX},        {64, COMPLEX},
};

/* By form: the instruction that does it, or that compares for it. */
static const struct {
    uint16_t opcode[4];
    bool selects; /* the opcode compares: the first operand where it holds */
} operations[MEMSPAN_OPERATION_COUNT] = {
    {{OP_I_ADD, OP_I_ADD, OP_F_ADD, OP_F_ADD}, false},
    {{OP_I_MUL, OP_I_MUL, OP_F_MUL, OP_F_MUL}, false},
    {{OP_S_LESS_THAN, OP_U_LESS_THAN, OP_F_ORD_LESS_THAN, 0}, true},
    {{OP_S_GREATER_THAN, OP_U_GREATER_THAN, OP_F_ORD_GREATER_THAN, 0}, true},
    {{OP_BITWISE_AND, OP_BITWISE_AND, 0, 0}, false},
    {{OP_BITWISE_OR, OP_BITWISE_OR, 0, 0}, false},
    {{OP_BITWISE_XOR, OP_BITWISE_XOR, 0, 0}, false},
};

static void combine_one(struct writer *w, int operation, enum opcode opcode, uint32_t index)
{
    uint32_t x = load_at(w, ID_X, index);
    uint32_t y = load_at(w, ID_Y, index);
    uint32_t z = binary(w, opcode, operations[operation].selects ? ID_BOOL : w->element, x, y);

    if (operations[operation].selects) {
        uint32_t chosen = new_id(w);
        EMIT(w, OP_SELECT, w->element, chosen, z, x, y);
        z = chosen;
    }
    store(w, at(w, ID_Z, index), z);
}

/* Two numbers each, the real part first. */
static void combine_complex(struct writer *w, int operation, uint32_t index)
{
    uint32_t even    = binary(w, OP_I_ADD, ID_LONG, index, index);
    uint32_t odd     = binary(w, OP_I_ADD, ID_LONG, even, ID_ONE);
    uint32_t x[2]    = {load_at(w, ID_X, even), load_at(w, ID_X, odd)};
    uint32_t y[2]    = {load_at(w, ID_Y, even), load_at(w, ID_Y, odd)};
    uint32_t type    = w->element;
    uint32_t real    = ID_NONE;
    uint32_t complex = ID_NONE;

    if (operation == MEMSPAN_OPERATION_SUM) {
        real    = binary(w, OP_F_ADD, type, x[0], y[0]);
        complex = binary(w, OP_F_ADD, type, x[1], y[1]);
    } else {
        uint32_t p[4] = {
            binary(w, OP_F_MUL, type, x[0], y[0]), binary(w, OP_F_MUL, type, x[1], y[1]),
            binary(w, OP_F_MUL, type, x[0], y[1]), binary(w, OP_F_MUL, type, x[1], y[0])};
        real    = binary(w, OP_F_SUB, type, p[0], p[1]);
        complex = binary(w, OP_F_ADD, type, p[2], p[3]);
    }
    store(w, at(w, ID_Z, even), real);
    store(w, at(w, ID_Z, odd), complex);
}

static bool write_combining(struct writer *w, int operation, int element)
{
    enum opcode opcode = (enum opcode)operations[operation].opcode[elements[element].form];
    struct loop l;

    begin_module(w, &elements[element]);
    l = share_elements(w);
    begin_loop(w, &l);
    if (elements[element].form == COMPLEX) {
        combine_complex(w, operation, l.index);
    } else {
        combine_one(w, operation, opcode, l.index);
    }
    end_loop(w, &l);
    return end_module(w);
}

bool lz_spirv_write(int place, struct lz_spirv *module_p)
{
    static bool (*const basics[GPU_KERNELS])(struct writer *) = {
        [MEMSPAN_KERNEL_DAXPY]      = write_daxpy,
        [MEMSPAN_KERNEL_FILL]       = write_fill,
        [MEMSPAN_KERNEL_SUM]        = write_sum,
        [MEMSPAN_KERNEL_CHASE]      = write_chase,
        [MEMSPAN_KERNEL_ADD_ATOMIC] = write_add_atomic,
    };
    struct writer w = {.m = module_p};
    int operation;
    int element;

    return gpu_kernel_combines(place, &operation, &element)
               ? write_combining(&w, operation, element)
               : basics[place](&w);
}
