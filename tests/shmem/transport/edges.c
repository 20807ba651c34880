/* SPDX-License-Identifier: BSD-3-Clause */
/* edges.c: sizes where transfers change their path, checked straight after quiet.
 *
 *     shmem-edges
 *
 * Every kind of operation with sizes around each limit of every driver. After quiet the target's
 * memory is read by the kernel, without the library and without a barrier, so that what quiet has
 * not waited for is seen; where the kernel refuses from the first, by a get, and the test says so.
 * Then: many nonblocking operations at
 * once, fences, and spaces that are made again, up to the last byte of their segments. */

#include "tests/shmem/check.h"
#include <errno.h>
#include <memspan/status.h>
#include <shmemx.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    LARGEST_BYTES = 4 << 20,
    RED_BYTES     = 64, /* before and behind what is written */
    ROOM_BYTES    = LARGEST_BYTES + (3 * RED_BYTES),
    MANY          = 300,
    SPACE_ROUNDS  = 6,
    FLAG_WORDS    = 600,
    WORDS         = 2 + FLAG_WORDS,
};

/* Of the next PE. */
struct other {
    long pid;
    uint64_t target;
};

static int me;
static int to;
static struct other *others; /* by PE */
static char *target;         /* what the PE before this one writes */
static char *from;           /* what others read: constant */
static uint64_t *words;      /* signals, operands of atomics */
static char *shadow;         /* what the next PE's target must be */
static char *local;
static char *seen;
static shmem_ctx_t private;
static uint64_t serial; /* of the operations */

/* ---- the target as it is now ---- */

static void read_other(char *into, uint64_t address, const char *symmetric, size_t size_bytes)
{
    static enum { UNTRIED, BY_KERNEL, BY_GET } how;
    struct iovec here  = {into, size_bytes};
    struct iovec there = {(void *)(uintptr_t)address, size_bytes};

    if ((how != BY_GET) &&
        (process_vm_readv((pid_t)others[to].pid, &here, 1, &there, 1, 0) == (ssize_t)size_bytes)) {
        how = BY_KERNEL;
        return;
    }
    CHECK(how != BY_KERNEL, "the kernel does not read PE %d any more: %s", to, strerror(errno));
    if (how == UNTRIED) {
        printf("PE %d: the kernel does not read PE %d (%s): gets do, which see less\n", me, to,
               strerror(errno));
        how = BY_GET;
    }
    shmem_getmem(into, symmetric, size_bytes, to);
}

static void fill(char *into, size_t size_bytes, uint64_t number)
{
    for (size_t i = 0; i < size_bytes; i++) {
        into[i] = (char)check_byte(number, i);
    }
}

static size_t first_difference(const char *a, const char *b, size_t size_bytes)
{
    size_t i = 0;

    while ((i < size_bytes) && (a[i] == b[i])) {
        i++;
    }
    return i;
}

/* What was put at @p offset, and what stands around it. */
static void check_target(const char *what, size_t offset, size_t size_bytes)
{
    const size_t bytes = size_bytes + (2 * (size_t)RED_BYTES);
    const size_t start = offset - RED_BYTES;

    read_other(seen, others[to].target + start, target + start, bytes);
    if (memcmp(seen, shadow + start, bytes) != 0) {
        CHECK(0, "%s of %zu bytes: byte %zd differs after quiet", what, size_bytes,
              (ssize_t)first_difference(seen, shadow + start, bytes) - RED_BYTES);
    }
}

static void check_word(const char *what, size_t size_bytes, int word, uint64_t expected)
{
    uint64_t value;

    read_other((char *)&value,
               others[to].target + (uint64_t)((char *)&words[word] - target), /* one allocation */
               (const char *)&words[word], sizeof value);
    CHECK(value == expected, "%s of %zu bytes: word %d is %#llx after quiet, not %#llx", what,
          size_bytes, word, (unsigned long long)value, (unsigned long long)expected);
}

/* ---- one operation ---- */

enum how { PLAIN, NONBLOCKING, OF_CONTEXT, OF_CONTEXT_NONBLOCKING, HOWS };
static const char *const hows[] = {"", "nonblocking ", "private ", "private nonblocking "};

static void put_one(enum how how, size_t offset, size_t size_bytes)
{
    char *source = local + (serial % 5);
    char name[64];

    fill(source, size_bytes, ++serial);
    memcpy(shadow + offset, source, size_bytes);
    if (how == PLAIN) {
        shmem_putmem(target + offset, source, size_bytes, to);
        memset(source, 0, size_bytes); /* it may be reused */
    } else if (how == NONBLOCKING) {
        shmem_putmem_nbi(target + offset, source, size_bytes, to);
    } else if (how == OF_CONTEXT) {
        shmem_ctx_putmem(private, target + offset, source, size_bytes, to);
        memset(source, 0, size_bytes);
    } else {
        shmem_ctx_putmem_nbi(private, target + offset, source, size_bytes, to);
    }
    if (how < OF_CONTEXT) {
        shmem_quiet();
    } else {
        shmem_ctx_quiet(private);
    }
    snprintf(name, sizeof name, "a %sput", hows[how]);
    check_target(name, offset, size_bytes);
}

static void get_one(enum how how, size_t offset, size_t size_bytes)
{
    char *dest = seen + RED_BYTES;

    memset(seen, 0x5e, size_bytes + (2 * (size_t)RED_BYTES));
    if (how == PLAIN) {
        shmem_getmem(dest, from + offset, size_bytes, to);
    } else if (how == NONBLOCKING) {
        shmem_getmem_nbi(dest, from + offset, size_bytes, to);
        shmem_quiet();
    } else if (how == OF_CONTEXT) {
        shmem_ctx_getmem(private, dest, from + offset, size_bytes, to);
    } else {
        shmem_ctx_getmem_nbi(private, dest, from + offset, size_bytes, to);
        shmem_ctx_quiet(private);
    }
    for (size_t i = 0; i < size_bytes; i++) {
        CHECK(dest[i] == (char)check_byte((uint64_t)to, offset + i),
              "a %sget of %zu bytes: byte %zu differs", hows[how], size_bytes, i);
    }
    for (size_t i = 0; i < RED_BYTES; i++) {
        CHECK((seen[i] == 0x5e) && (dest[size_bytes + i] == 0x5e), "a %sget of %zu bytes: beyond",
              hows[how], size_bytes);
    }
}

static void signal_one(bool is_nonblocking, size_t offset, size_t size_bytes)
{
    const uint64_t value = ++serial;

    fill(local, size_bytes, value);
    memcpy(shadow + offset, local, size_bytes);
    if (is_nonblocking) {
        shmem_putmem_signal_nbi(target + offset, local, size_bytes, &words[0], value,
                                SHMEM_SIGNAL_SET, to);
    } else {
        shmem_putmem_signal(target + offset, local, size_bytes, &words[0], value, SHMEM_SIGNAL_SET,
                            to);
    }
    shmem_quiet();
    check_word("a signal", size_bytes, 0, value);
    check_target("a put with a signal", offset, size_bytes);
}

/* Blocks of @p block_bytes, every second one. */
static void strided_one(size_t offset, size_t block_bytes, size_t count)
{
    const size_t extent_bytes = ((2 * count) - 1) * block_bytes;

    fill(local, count * block_bytes, ++serial);
    for (size_t i = 0; i < count; i++) {
        memcpy(shadow + offset + (2 * i * block_bytes), local + (i * block_bytes), block_bytes);
    }
    shmem_uint8_ibput((uint8_t *)target + offset, (uint8_t *)local, 2 * (ptrdiff_t)block_bytes,
                      (ptrdiff_t)block_bytes, block_bytes, count, to);
    shmem_quiet();
    check_target("a strided put", offset, extent_bytes);
    memset(seen, 0, count * block_bytes);
    shmem_uint8_ibget((uint8_t *)seen, (uint8_t *)from + offset, (ptrdiff_t)block_bytes,
                      2 * (ptrdiff_t)block_bytes, block_bytes, count, to);
    for (size_t i = 0; i < count * block_bytes; i++) {
        const size_t at = (2 * (i / block_bytes) * block_bytes) + (i % block_bytes);

        CHECK(seen[i] == (char)check_byte((uint64_t)to, offset + at),
              "a strided get, %zu blocks of %zu bytes: byte %zu differs", count, block_bytes, i);
    }
}

/* ---- sizes ---- */

static void one_size(size_t size_bytes)
{
    const size_t offset = RED_BYTES + (serial % RED_BYTES);

    for (int how = PLAIN; how < HOWS; how++) {
        put_one((enum how)how, offset, size_bytes);
        get_one((enum how)how, offset, size_bytes);
    }
    signal_one(false, offset, size_bytes);
    signal_one(true, offset, size_bytes);
}

static void sizes(void)
{
    /* Messages of these sizes have a header, too. */
    static const size_t messages[] = {4 << 10, (16 << 10) - 16, 65 << 10};

    for (size_t power = 1; power <= LARGEST_BYTES; power *= 2) {
        const size_t first = power - 1;
        const size_t last  = (power < LARGEST_BYTES) ? power + 1 : power;

        for (size_t size = (power < 4) ? power : first; size <= last; size++) {
            one_size(size);
        }
    }
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
        for (size_t header = 64; header <= 104; header += 8) {
            one_size(messages[i] - header - 1);
            one_size(messages[i] - header);
            one_size(messages[i] - header + 1);
        }
    }
    for (size_t block = 1; block <= 2048; block = (2 * block) + (block % 3)) {
        strided_one(RED_BYTES, block, (70 << 10) / block);
        strided_one(RED_BYTES + 3, block, 1);
    }
    strided_one(RED_BYTES, 1024, 65);
    strided_one(RED_BYTES, 1025, 65);
}

/* ---- words ---- */

static void atomics(void)
{
    uint64_t sum = 0;
    uint64_t old;

    for (uint64_t i = 1; i <= MANY; i++) {
        shmem_uint64_atomic_add(&words[1], i, to);
        sum += i;
        shmem_quiet();
        if (i % 50 == 0) {
            check_word("an addition", sizeof sum, 1, sum);
        }
        shmem_uint64_atomic_fetch_add_nbi(&old, &words[1], i, to);
        shmem_quiet();
        CHECK(old == sum, "a nonblocking fetch gave %llu after quiet, not %llu",
              (unsigned long long)old, (unsigned long long)sum);
        sum += i;
        CHECK(shmem_uint64_atomic_fetch(&words[1], to) == sum, "a fetch");
    }
}

/* ---- many at once ---- */

/* Small and large ones, of which one quiet is the end. */
static void many(void)
{
    size_t offset = RED_BYTES;
    size_t size;

    fill(local, LARGEST_BYTES, ++serial);
    for (size_t i = 0; i < MANY; i++) {
        size = (i % 10 == 9) ? 70000 : 1 + ((i * 997) % 9000);
        memcpy(shadow + offset, local + offset, size);
        shmem_putmem_nbi(target + offset, local + offset, size, to);
        offset += size;
    }
    shmem_quiet();
    check_target("many nonblocking puts", RED_BYTES, offset - RED_BYTES);
    memset(seen, 0, LARGEST_BYTES);
    offset = 0;
    for (size_t i = 0; i < MANY; i++) {
        size = (i % 10 == 9) ? 70000 : 1 + ((i * 997) % 9000);
        shmem_getmem_nbi(seen + offset, from + offset, size, to);
        offset += size;
    }
    shmem_quiet();
    for (size_t i = 0; i < offset; i++) {
        CHECK(seen[i] == (char)check_byte((uint64_t)to, i), "many gets: byte %zu of %zu", i,
              offset);
    }
}

/* ---- fences ---- */

/* This PE's own target has what the PE before has put. */
static void check_own(size_t size_bytes, uint64_t number)
{
    for (size_t i = 0; i < size_bytes; i++) {
        CHECK(target[RED_BYTES + i] == (char)check_byte(number, i),
              "a flag has passed %zu bytes that a fence had put before it: byte %zu", size_bytes,
              i);
    }
}

/* All PEs at once: data, fence, then one of several flags; or a signal. */
static void fence_one(size_t size_bytes, int flag, bool is_private)
{
    const uint64_t number = ++serial;
    const shmem_ctx_t ctx = is_private ? private : SHMEM_CTX_DEFAULT;
    uint64_t value[FLAG_WORDS];

    fill(local, size_bytes, number);
    memcpy(shadow + RED_BYTES, local, size_bytes);
    for (size_t i = 0; i < FLAG_WORDS; i++) {
        value[i] = number;
    }
    shmem_barrier_all();
    if (flag < 3) {
        shmem_ctx_putmem_nbi(ctx, target + RED_BYTES, local, size_bytes, to);
        shmem_ctx_fence(ctx);
    }
    if (flag == 3) {
        shmem_ctx_putmem_signal(ctx, target + RED_BYTES, local, size_bytes, &words[2], number,
                                SHMEM_SIGNAL_SET, to);
    } else if (flag == 4) {
        shmem_ctx_putmem_signal_nbi(ctx, target + RED_BYTES, local, size_bytes, &words[2], number,
                                    SHMEM_SIGNAL_SET, to);
    } else if (flag == 0) {
        shmem_ctx_uint64_p(ctx, &words[2], number, to);
    } else if (flag == 1) {
        shmem_ctx_uint64_atomic_set(ctx, &words[2], number, to);
    } else {
        shmem_ctx_uint64_put(ctx, &words[2], value, FLAG_WORDS, to); /* no word, no small message */
    }
    shmem_uint64_wait_until(&words[2], SHMEM_CMP_EQ, number);
    check_own(size_bytes, number);
    shmem_ctx_quiet(ctx);
}

static void fences(void)
{
    static const size_t bytes[] = {4, 8, 100, 3000, 17000, 66000, 1 << 20};

    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
        for (int round = 0; round < ((bytes[i] <= sizeof(uint64_t)) ? 35 : 5); round++) {
            fence_one(bytes[i], round % 5, false);
            fence_one(bytes[i], round % 5, true);
        }
    }
    shmem_barrier_all();
}

/* ---- spaces ---- */

/* The largest block, which ends where the segment ends. */
static char *take_all(shmemx_space_t space, size_t size_bytes, size_t *taken_p)
{
    size_t least = 0;
    size_t most  = size_bytes;
    char *block;

    while (most - least > 64) {
        const size_t middle = (least + most) / 2;

        block = shmemx_space_malloc(space, middle);
        if (block != NULL) {
            least = middle;
            shmemx_space_free(space, block);
        } else {
            most = middle;
        }
    }
    *taken_p = least;
    return shmemx_space_malloc(space, least);
}

/* Puts and gets whose last byte is the block's. */
static void last_bytes(char *block, size_t size_bytes, uint64_t address)
{
    static const size_t bytes[] = {1, 8, 500, 4096, 20000, 70000, 300000};
    char *end                   = block + size_bytes;
    uint64_t *last              = (uint64_t *)(void *)(end - 8);

    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
        const size_t n = bytes[i];

        fill(local, n, ++serial);
        shmem_putmem(end - n, local, n, to);
        shmem_quiet();
        read_other(seen, address + (size_bytes - n), end - n, n);
        CHECK(memcmp(seen, local, n) == 0, "a put of the last %zu bytes of a space", n);
        memset(seen, 0, n);
        shmem_getmem_nbi(seen, end - n, n, to);
        shmem_quiet();
        CHECK(memcmp(seen, local, n) == 0, "a get of the last %zu bytes of a space", n);
    }
    for (size_t block_bytes = 8; block_bytes <= 4096; block_bytes *= 8) {
        const ptrdiff_t stride = 70000;
        char *first            = end - block_bytes - (3 * stride);

        fill(local, 4 * block_bytes, ++serial);
        shmem_uint8_ibput((uint8_t *)first, (uint8_t *)local, stride, (ptrdiff_t)block_bytes,
                          block_bytes, 4, to);
        shmem_quiet();
        memset(seen, 0, 4 * block_bytes);
        shmem_uint8_ibget((uint8_t *)seen, (uint8_t *)first, (ptrdiff_t)block_bytes, stride,
                          block_bytes, 4, to);
        CHECK(memcmp(seen, local, 4 * block_bytes) == 0, "blocks of %zu up to the end of a space",
              block_bytes);
    }
    shmem_putmem_signal(block, local, 100, last, ++serial, SHMEM_SIGNAL_SET, to);
    shmem_fence();
    CHECK(shmem_uint64_atomic_fetch_add(last, 1, to) == serial, "the last word of a space");
}

/* The same indices again and again, with other sizes and addresses. */
static void spaces(void)
{
    uint64_t *address = shmem_calloc((size_t)shmem_n_pes() + 1, sizeof *address);

    for (int round = 0; round < SPACE_ROUNDS; round++) {
        shmemx_space_config_t config = {.struct_size = sizeof config,
                                        .size        = (size_t)(1 + (round % 3)) << 20,
                                        .kind        = SHMEMX_KIND_NORMALMEM,
                                        .policy      = SHMEMX_POLICY_PREFERRED};
        shmemx_space_t space;
        size_t taken;
        char *block;

        CHECK(shmemx_space_create(SHMEM_TEAM_WORLD, &config, &space) == 0, "%s",
              memspan_error_text());
        block = take_all(space, config.size, &taken);
        CHECK(block != NULL, "no block of %zu bytes", taken);
        address[shmem_n_pes()] = (uint64_t)(uintptr_t)block;
        shmem_uint64_fcollect(SHMEM_TEAM_WORLD, address, &address[shmem_n_pes()], 1);
        last_bytes(block, taken, address[to]);
        shmem_barrier_all();
        CHECK(shmemx_space_destroy(space) == 0, "%s", memspan_error_text());
    }
    shmem_free(address);
}

/* ---- start ---- */

static void start(void)
{
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    shmem_init();
    me = shmem_my_pe();
    to = (me + 1) % shmem_n_pes();
    /* One allocation: the words stand behind the target in every PE. */
    target  = shmem_calloc(1, ROOM_BYTES + (WORDS * sizeof *words));
    words   = (uint64_t *)(void *)(target + ROOM_BYTES);
    from    = shmem_malloc(ROOM_BYTES);
    others  = shmem_calloc((size_t)shmem_n_pes() + 1, sizeof *others);
    shadow  = calloc(1, ROOM_BYTES);
    local   = malloc(ROOM_BYTES);
    seen    = malloc(ROOM_BYTES);
    private = SHMEM_CTX_DEFAULT;
    CHECK((target != NULL) && (from != NULL) && (others != NULL) && (shadow != NULL) &&
              (local != NULL) && (seen != NULL),
          "memory");
    CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &private) == 0, "a context");
    fill(from, ROOM_BYTES, (uint64_t)me);
    others[shmem_n_pes()] =
        (struct other){.pid = (long)getpid(), .target = (uint64_t)(uintptr_t)target};
    shmem_uint64_fcollect(SHMEM_TEAM_WORLD, (uint64_t *)(void *)others,
                          (uint64_t *)(void *)&others[shmem_n_pes()],
                          sizeof *others / sizeof(uint64_t));
}

int main(void)
{
    start();
    sizes();
    atomics();
    many();
    shmem_barrier_all();
    fences();
    spaces();
    shmem_ctx_destroy(private);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
