/* SPDX-License-Identifier: BSD-3-Clause */
/* spirv.c: an interpreter of as much SPIR-V as the backend writes, so that its kernels do what
 * their words say and not what their names do. Work-items run one after the other. */

#include "fake.h"
#include <string.h>

enum { IDS_MAX = 256, HEADER = 5 };

/* What an identifier stands for. Types: how wide, and whether a floating-point number. Values:
 * their type and bits; of a vector, those of its first part. */
struct id {
    uint32_t opcode; /* that made it */
    uint32_t type;
    uint32_t width;
    uint32_t element; /* of a pointer type */
    uint32_t builtin;
    size_t label; /* position of the first instruction after it */
    uint64_t bits;
};

struct machine {
    const uint32_t *words;
    size_t count;
    ze_device_handle_t device;
    const struct fake_command *command;
    uint64_t work_item;
    struct id ids[IDS_MAX];
    uint32_t parameters;
    uint32_t label;    /* of the block that runs */
    uint32_t previous; /* of the block before */
    bool done;
    ze_result_t failed;
};

static uint32_t length_of(uint32_t word)
{
    return word >> 16;
}

static uint32_t opcode_of(uint32_t word)
{
    return word & 0xffff;
}

/* ---- before it runs: types, constants, labels ---- */

static void declare(struct machine *m, const uint32_t *w, size_t next)
{
    struct id *to = &m->ids[w[1] % IDS_MAX];

    switch (opcode_of(w[0])) {
    case 71: /* OpDecorate */
        if (w[2] == 11) {
            to->builtin = w[3];
        }
        return;
    case 21: /* OpTypeInt */
    case 22: /* OpTypeFloat */
        to->width = w[2];
        break;
    case 32: /* OpTypePointer */
        to->width   = 64;
        to->element = w[3];
        break;
    case 43: /* OpConstant */
        to       = &m->ids[w[2] % IDS_MAX];
        to->type = w[1];
        to->bits = w[3] | ((length_of(w[0]) > 4) ? (uint64_t)w[4] << 32 : 0);
        break;
    case 55: /* OpFunctionParameter */
        to       = &m->ids[w[2] % IDS_MAX];
        to->type = w[1];
        to->bits = m->command->arguments[m->parameters++ % 5];
        break;
    case 59: /* OpVariable */
        to       = &m->ids[w[2] % IDS_MAX];
        to->type = w[1];
        break;
    case 248: /* OpLabel */
        to->label = next;
        break;
    default:
        return;
    }
    to->opcode = opcode_of(w[0]);
}

static bool is_known(uint32_t opcode)
{
    static const uint8_t known[] = {14,  15,  16,  17,  19,  20,  21,  22,  23,  32,  33,  43,
                                    54,  55,  56,  59,  61,  62,  70,  71,  81,  113, 117, 120,
                                    124, 128, 129, 131, 132, 133, 169, 172, 173, 176, 177, 184,
                                    186, 197, 198, 199, 234, 245, 248, 249, 250, 253};
    size_t i;

    for (i = 0; i < sizeof(known); i++) {
        if (known[i] == opcode) {
            return true;
        }
    }
    return false;
}

bool fake_spirv_has_fp64(const uint32_t *words, size_t count)
{
    size_t i;

    for (i = HEADER; (i < count) && (opcode_of(words[i]) == 17); i += length_of(words[i])) {
        if (words[i + 1] == 10) { /* OpCapability Float64 */
            return true;
        }
    }
    return false;
}

const char *fake_spirv_check(const uint32_t *words, size_t count, const char *name)
{
    bool found = (name == NULL);
    size_t i   = HEADER;

    if ((count < HEADER) || (words[0] != 0x07230203)) {
        return "no magic number";
    }
    if (words[3] > IDS_MAX) {
        return "too many identifiers";
    }
    while (i < count) {
        if ((length_of(words[i]) == 0) || (length_of(words[i]) > count - i)) {
            return "an instruction runs past the end";
        }
        if (!is_known(opcode_of(words[i]))) {
            return "an instruction that is not pretended";
        }
        if ((name != NULL) && (opcode_of(words[i]) == 15) &&
            (strcmp((const char *)&words[i + 3], name) == 0)) {
            found = true;
        }
        i += length_of(words[i]);
    }
    return found ? NULL : "no such entry";
}

/* ---- values ---- */

static uint64_t cut(uint64_t bits, uint32_t width)
{
    return (width >= 64) ? bits : bits & ((1ULL << width) - 1);
}

static uint32_t width_of(const struct machine *m, uint32_t id)
{
    return m->ids[m->ids[id].type].width;
}

static int64_t signed_of(const struct machine *m, uint32_t id)
{
    uint32_t spare = 64 - width_of(m, id);

    return (int64_t)(m->ids[id].bits << spare) >> spare;
}

static double real_of(const struct machine *m, uint32_t id)
{
    double d;
    float f;

    if (width_of(m, id) == 32) {
        memcpy(&f, &m->ids[id].bits, sizeof(f));
        return (double)f;
    }
    memcpy(&d, &m->ids[id].bits, sizeof(d));
    return d;
}

static uint64_t bits_of_real(double value, uint32_t width)
{
    float f       = (float)value;
    uint64_t bits = 0;

    if (width == 32) {
        memcpy(&bits, &f, sizeof(f));
    } else {
        memcpy(&bits, &value, sizeof(value));
    }
    return bits;
}

static void *reach(struct machine *m, uint64_t address, size_t size, uint32_t aligned)
{
    void *at = NULL;

    if ((aligned != 0) && (address % aligned == 0)) {
        at = fake_reach(m->device, address, size);
    }
    /* What no argument names is only there if the kernel was said to go astray. */
    if ((at != NULL) && (m->command->indirect != 7)) {
        const struct fake_memory *memory = fake_find(address);
        int i;
        for (i = 2; (memory != NULL) && (i < 5); i++) {
            if (m->command->arguments[i] - memory->base < memory->size) {
                return at;
            }
        }
        at = NULL;
    }
    if (at == NULL) {
        m->failed = ZE_RESULT_ERROR_DEVICE_LOST;
    }
    return at;
}

/* ---- instructions ---- */

static void do_load(struct machine *m, const uint32_t *w)
{
    struct id *to         = &m->ids[w[2]];
    const struct id *from = &m->ids[w[3]];
    size_t size           = m->ids[w[1]].width / 8;
    void *at;

    to->bits = 0;
    if (from->opcode == 59) { /* a variable: a built-in value */
        to->bits = (from->builtin == 28) ? m->work_item : m->command->work_items;
        return;
    }
    at = reach(m, from->bits, size, (w[4] == 2) ? w[5] : 0);
    if (at != NULL) {
        memcpy(&to->bits, at, size);
    }
}

static void do_store(struct machine *m, const uint32_t *w)
{
    size_t size = width_of(m, w[2]) / 8;
    void *at    = reach(m, m->ids[w[1]].bits, size, (w[3] == 2) ? w[4] : 0);

    if (at != NULL) {
        memcpy(at, &m->ids[w[2]].bits, size);
    }
}

static void do_atomic_add(struct machine *m, const uint32_t *w)
{
    uint32_t *at = reach(m, m->ids[w[3]].bits, sizeof(*at), sizeof(*at));

    if (at != NULL) {
        m->ids[w[2]].bits = __atomic_fetch_add(at, (uint32_t)m->ids[w[6]].bits, __ATOMIC_RELAXED);
    }
}

static void do_phi(struct machine *m, const uint32_t *w)
{
    uint32_t i;

    for (i = 3; i + 1 < length_of(w[0]); i += 2) {
        if (w[i + 1] == m->previous) {
            m->ids[w[2]].bits = m->ids[w[i]].bits;
            return;
        }
    }
    m->failed = ZE_RESULT_ERROR_UNKNOWN;
}

static uint64_t combine(const struct machine *m, const uint32_t *w)
{
    uint64_t a     = m->ids[w[3]].bits;
    uint64_t b     = m->ids[w[4]].bits;
    uint32_t width = m->ids[w[1]].width;
    bool narrow    = width == 32;

    switch (opcode_of(w[0])) {
    case 128:
        return cut(a + b, width);
    case 132:
        return cut(a * b, width);
    case 129:
        return bits_of_real(narrow ? (double)((float)real_of(m, w[3]) + (float)real_of(m, w[4]))
                                   : real_of(m, w[3]) + real_of(m, w[4]),
                            width);
    case 131:
        return bits_of_real(narrow ? (double)((float)real_of(m, w[3]) - (float)real_of(m, w[4]))
                                   : real_of(m, w[3]) - real_of(m, w[4]),
                            width);
    case 133:
        return bits_of_real(narrow ? (double)((float)real_of(m, w[3]) * (float)real_of(m, w[4]))
                                   : real_of(m, w[3]) * real_of(m, w[4]),
                            width);
    case 172:
        return a > b;
    case 173:
        return signed_of(m, w[3]) > signed_of(m, w[4]);
    case 176:
        return a < b;
    case 177:
        return signed_of(m, w[3]) < signed_of(m, w[4]);
    case 184:
        return real_of(m, w[3]) < real_of(m, w[4]);
    case 186:
        return real_of(m, w[3]) > real_of(m, w[4]);
    case 197:
        return a | b;
    case 198:
        return a ^ b;
    default:
        return a & b;
    }
}

static void give(struct machine *m, const uint32_t *w, uint64_t bits)
{
    struct id *to = &m->ids[w[2]];

    to->opcode = opcode_of(w[0]);
    to->type   = w[1];
    to->bits   = bits;
}

/* One instruction; answers where the next is. */
static size_t step(struct machine *m, size_t at)
{
    const uint32_t *w = &m->words[at];
    size_t next       = at + length_of(w[0]);
    uint32_t target   = 0;

    switch (opcode_of(w[0])) {
    case 61: /* OpLoad */
        give(m, w, 0);
        do_load(m, w);
        return next;
    case 62: /* OpStore */
        do_store(m, w);
        return next;
    case 70: /* OpInBoundsPtrAccessChain */
        give(m, w,
             m->ids[w[3]].bits + m->ids[w[4]].bits * (m->ids[m->ids[w[1]].element].width / 8));
        return next;
    case 81:  /* OpCompositeExtract: of the first part */
    case 117: /* between addresses and integers, and of bits */
    case 120:
    case 124:
        give(m, w, m->ids[w[3]].bits);
        return next;
    case 113: /* OpUConvert */
        give(m, w, cut(m->ids[w[3]].bits, m->ids[w[1]].width));
        return next;
    case 169: /* OpSelect */
        give(m, w, (m->ids[w[3]].bits != 0) ? m->ids[w[4]].bits : m->ids[w[5]].bits);
        return next;
    case 234:
        give(m, w, 0);
        do_atomic_add(m, w);
        return next;
    case 245:
        m->ids[w[2]].type = w[1];
        do_phi(m, w);
        return next;
    case 248:
        m->label = w[1];
        return next;
    case 249:
        target = w[1];
        break;
    case 250:
        target = (m->ids[w[1]].bits != 0) ? w[2] : w[3];
        break;
    case 253:
        m->done = true;
        return next;
    default:
        give(m, w, combine(m, w));
        return next;
    }
    m->previous = m->label;
    m->label    = target;
    return m->ids[target].label;
}

ze_result_t fake_spirv_run(ze_device_handle_t device, const struct fake_command *command,
                           uint64_t work_item)
{
    static struct machine machine; /* under the lock */
    static struct id declared[IDS_MAX];
    static const struct fake_command *last;
    static size_t first;
    struct machine *m = &machine;
    size_t at         = HEADER;

    m->words     = command->module->words;
    m->count     = command->module->count;
    m->device    = device;
    m->command   = command;
    m->work_item = work_item;
    m->done      = false;
    m->failed    = ZE_RESULT_SUCCESS;
    if ((work_item == 0) || (last != command)) {
        memset(m->ids, 0, sizeof(m->ids));
        m->parameters = 0;
        for (first = 0; at < m->count; at += length_of(m->words[at])) {
            declare(m, &m->words[at], at + length_of(m->words[at]));
            if ((opcode_of(m->words[at]) == 248) && (first == 0)) {
                first = at;
            }
        }
        memcpy(declared, m->ids, sizeof(declared));
        last = command;
    }
    memcpy(m->ids, declared, sizeof(declared));
    at = first;
    while (!m->done && (m->failed == ZE_RESULT_SUCCESS)) {
        at = step(m, at);
    }
    return m->failed;
}
