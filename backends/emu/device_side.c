/* SPDX-License-Identifier: BSD-3-Clause */
/* device_side.c: the device process.
 *
 * It is a clone of the program that first gives up everything of the program's that could be
 * written, so that an address of ordinary host memory faults here as it does on a device, and keeps
 * no file open. The rest is code, the mapping that it shares with the program (ring and stack), and
 * the devices' address range, in which the open commands open the blocks that this device reaches.
 *
 * Invariant: nothing of the C library is called and no writable data but the kept record is used:
 * this file is compiled freestanding, and a test holds its object to needing no symbol but emu_*.
 *
 * It ends by itself when the program ends (a descriptor of the program's process signals it), when
 * the program becomes another one (the doorbell is closed by exec), and after a fault. */

#include "backends/emu/ring.h"
#include "core/base/fault.h"
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/prctl.h>
#include <memspan/transfer.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

enum { SLICE = 1 << 20, KERNEL_SA_RESTORER = 0x04000000 };

/* The kernel's own form of a signal's action. */
struct action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};

struct emu_control *emu_device_here;

static void wake_program(struct emu_ring *ring)
{
    atomic_fetch_add_explicit(&ring->done_count, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&ring->waiters, memory_order_seq_cst) > 0) {
        emu_raw(SYS_futex, (long)&ring->done_count, FUTEX_WAKE, 1 << 30, 0, 0, 0);
    }
}

__attribute__((noreturn)) static void end(int code)
{
    for (;;) {
        emu_raw(SYS_exit_group, code, 0, 0, 0, 0, 0);
    }
}

__attribute__((noreturn)) static void stop(struct emu_ring *ring, enum emu_stop why)
{
    atomic_store_explicit(&ring->stop, (uint32_t)why, memory_order_release);
    wake_program(ring);
    end(1);
}

__attribute__((noreturn)) static void stop_for_call(struct emu_ring *ring, uint64_t address,
                                                    long code)
{
    ring->fault_address = address;
    ring->fault_code    = code;
    stop(ring, EMU_STOP_CALL);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    struct emu_ring *ring = &emu_device_here->ring;

    ring->fault_signal  = (uint32_t)number;
    ring->fault_address = (uint64_t)(uintptr_t)info->si_addr;
    ring->fault_access  = (uint32_t)msp_fault_access(context);
    stop(ring, EMU_STOP_FAULT);
}

/* The handler never returns, so that no code after it is ever called. */
static void never(void)
{
    end(1);
}

static void catch_faults(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    struct action action;
    unsigned long all = ~0ul;
    size_t i;

    action.handler  = on_signal;
    action.flags    = SA_SIGINFO | KERNEL_SA_RESTORER;
    action.restorer = never;
    action.mask     = 0;
    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        emu_raw(SYS_rt_sigaction, numbers[i], (long)&action, 0, sizeof(action.mask), 0, 0);
        all &= ~(1ul << (numbers[i] - 1));
    }
    /* A key pressed at the terminal is for the program. */
    emu_raw(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, 0, sizeof(all), 0, 0);
}

/* The thread that made it may be bound to one processor: a device is bound to none. */
static void use_all_processors(void)
{
    unsigned long all[16];
    size_t i;

    for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        all[i] = ~0ul;
    }
    emu_raw(SYS_sched_setaffinity, 0, sizeof(all), (long)all, 0, 0, 0);
}

/* ---- giving up the program's memory ---- */

static void unmap_but_kept(const struct emu_control *c, uintptr_t start, uintptr_t last)
{
    size_t i;

    for (i = 0; i < c->keep_count; i++) {
        const struct emu_range *keep = &c->keep[i];

        if ((keep->start < last) && (keep->end > start)) {
            if (start < keep->start) {
                unmap_but_kept(c, start, keep->start);
            }
            if (keep->end < last) {
                unmap_but_kept(c, keep->end, last);
            }
            return;
        }
    }
    emu_raw(SYS_munmap, (long)start, (long)(last - start), 0, 0, 0, 0);
}

/* Code and constants stay; everything that can be written, and all memory without a file, goes. */
static void drop_memory(struct emu_control *c)
{
    struct emu_maps maps;
    struct emu_mapping m;

    if (emu_maps_open(&maps, c->maps, sizeof(c->maps)) != 0) {
        stop_for_call(&c->ring, 0, maps.fd);
    }
    while (emu_maps_next(&maps, &m)) {
        bool of_kernel = (m.path[0] == '[') && (m.path[1] == 'v');
        bool of_file   = (m.path[0] == '/');

        if (!of_kernel && (!of_file || (m.access[1] == 'w'))) {
            unmap_but_kept(c, m.start, m.end);
        }
    }
    emu_maps_close(&maps);
}

static void drop_files(const struct emu_control *c)
{
    if (c->doorbell > 0) {
        emu_raw(SYS_close_range, 0, c->doorbell - 1, 0, 0, 0, 0);
    }
    emu_raw(SYS_close_range, c->doorbell + 1, ~0u, 0, 0, 0, 0);
}

/* The kernel writes to that record whenever the process is moved: end this, so that the memory can
 * go. Where it will not, the memory stays. */
static void end_sequences(struct emu_control *c)
{
    enum { RECORD_BYTES = 32, UNREGISTER = 1 };

    if ((c->sequences == 0) || (emu_raw(SYS_rseq, (long)c->sequences, RECORD_BYTES, UNREGISTER,
                                        (long)emu_sequences_signature(), 0, 0) == 0)) {
        c->keep_count--;
    }
}

/* ---- kernels, a slice at a time ---- */

static bool is_orphan(const struct emu_control *c)
{
    return emu_raw(SYS_getppid, 0, 0, 0, 0, 0, 0) != c->parent;
}

static void run_daxpy(const struct emu_command *k, uint64_t from, uint64_t to)
{
    const double *x = (const double *)(uintptr_t)k->x;
    const double *y = (const double *)(uintptr_t)k->y;
    double *z       = (double *)(uintptr_t)k->z;
    double a        = k->a;
    uint64_t i;

    for (i = from; i < to; i++) {
        z[i] += a * x[i] + y[i];
    }
}

static void run_fill(const struct emu_command *k, uint64_t from, uint64_t to)
{
    double *z = (double *)(uintptr_t)k->z;
    uint64_t i;

    for (i = from; i < to; i++) {
        z[i] = k->a;
    }
}

/* The sum so far is in z[0] between slices. */
static void run_sum(const struct emu_command *k, uint64_t from, uint64_t to)
{
    const double *x = (const double *)(uintptr_t)k->x;
    double *z       = (double *)(uintptr_t)k->z;
    double sum      = (from == 0) ? 0.0 : *z;
    uint64_t i;

    for (i = from; i < to; i++) {
        sum += x[i];
    }
    *z = sum;
}

static void run_chase(const struct emu_command *k, uint64_t from, uint64_t to)
{
    void **z       = (void **)(uintptr_t)k->z;
    const void *at = (from == 0) ? (const void *)(uintptr_t)k->x : *z;
    uint64_t i;

    for (i = from; i < to; i++) {
        at = *(const void *const *)at;
    }
    *(const void **)z = at;
}

static void run_add_atomic(const struct emu_command *k, uint64_t from, uint64_t to)
{
    uint32_t amount = (uint32_t)(int64_t)k->a;
    uint32_t *z     = (uint32_t *)(uintptr_t)k->z;
    uint64_t i;

    for (i = from; i < to; i++) {
        /* Relaxed: a counter; its readers synchronise by other means. */
        __atomic_fetch_add(z, amount, __ATOMIC_RELAXED);
    }
}

static void run_copy(const struct emu_command *k, uint64_t from, uint64_t to)
{
    const char *x = (const char *)(uintptr_t)k->x;
    char *z       = (char *)(uintptr_t)k->z;
    uint64_t i    = from;

    if (((k->x | k->z) & 7) == 0) {
        for (; i + 8 <= to; i += 8) {
            *(uint64_t *)(void *)(z + i) = *(const uint64_t *)(const void *)(x + i);
        }
    }
    for (; i < to; i++) {
        z[i] = x[i];
    }
}

static void run_fill_bytes(const struct emu_command *k, uint64_t from, uint64_t to)
{
    unsigned char byte = (unsigned char)k->kernel;
    unsigned char *z   = (unsigned char *)(uintptr_t)k->z;
    uint64_t i         = from;

    if ((k->z & 7) == 0) {
        uint64_t word = 0x0101010101010101ull * byte;
        for (; i + 8 <= to; i += 8) {
            *(uint64_t *)(void *)(z + i) = word;
        }
    }
    for (; i < to; i++) {
        z[i] = byte;
    }
}

static void run_slice(const struct emu_command *k, uint64_t from, uint64_t to)
{
    if (k->op == EMU_OP_COPY) {
        run_copy(k, from, to);
    } else if (k->op == EMU_OP_FILL) {
        run_fill_bytes(k, from, to);
    } else if (k->kernel == MEMSPAN_KERNEL_DAXPY) {
        run_daxpy(k, from, to);
    } else if (k->kernel == MEMSPAN_KERNEL_FILL) {
        run_fill(k, from, to);
    } else if (k->kernel == MEMSPAN_KERNEL_SUM) {
        run_sum(k, from, to);
    } else if (k->kernel == MEMSPAN_KERNEL_CHASE) {
        run_chase(k, from, to);
    } else if (k->kernel == MEMSPAN_KERNEL_ADD_ATOMIC) {
        run_add_atomic(k, from, to);
    } else {
        (void)emu_combine(k, from, to);
    }
}

/* Between slices it looks whether the program is still there: an orphan's work has no waiter. */
static void run_sliced(const struct emu_control *c, const struct emu_command *k)
{
    uint64_t from = 0;

    do {
        uint64_t to = (k->count - from > SLICE) ? from + SLICE : k->count;

        run_slice(k, from, to);
        from = to;
        if ((from < k->count) && is_orphan(c)) {
            end(0);
        }
    } while (from < k->count);
}

/* ---- commands about memory ---- */

static void protect(struct emu_ring *ring, const struct emu_command *k, int access)
{
    long code = emu_raw(SYS_mprotect, (long)k->z, (long)k->count, access, 0, 0, 0);

    if (code != 0) {
        stop_for_call(ring, k->z, code);
    }
}

static char *put_number(char *at, uint64_t value)
{
    char digits[20];
    int count = 0;

    do {
        digits[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    while (count > 0) {
        *at++ = digits[--count];
    }
    return at;
}

static char *put_text(char *at, const char *text)
{
    while (*text != '\0') {
        *at++ = *text++;
    }
    return at;
}

/* A file of another process: /proc/PID/fd/N. */
static void map(struct emu_ring *ring, const struct emu_command *k)
{
    char path[64];
    char *at = put_text(path, "/proc/");
    long fd;
    long code;

    at   = put_number(at, k->y);
    at   = put_text(at, "/fd/");
    at   = put_number(at, k->x);
    *at  = '\0';
    fd   = emu_raw(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CLOEXEC, 0, 0, 0);
    code = (fd < 0) ? fd
                    : emu_raw(SYS_mmap, (long)k->z, (long)k->count, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_FIXED, fd, (long)k->offset);
    if (fd >= 0) {
        emu_raw(SYS_close, fd, 0, 0, 0, 0, 0);
    }
    ring->map_result = (code == (long)k->z) ? 0 : code;
}

static void run(struct emu_control *c, const struct emu_command *k)
{
    switch (k->op) {
    case EMU_OP_OPEN:
        protect(&c->ring, k, PROT_READ | PROT_WRITE);
        break;
    case EMU_OP_CLOSE:
        protect(&c->ring, k, PROT_NONE);
        break;
    case EMU_OP_MAP:
        map(&c->ring, k);
        break;
    case EMU_OP_UNMAP:
        emu_raw(SYS_munmap, (long)k->z, (long)k->count, 0, 0, 0, 0);
        break;
    default:
        run_sliced(c, k);
        break;
    }
}

/* ---- the loop ---- */

static void sleep_until_called(struct emu_control *c, long program)
{
    const struct timespec half = {0, 500000000};
    struct pollfd fds[2];
    char bytes[16];

    fds[0].fd      = c->doorbell;
    fds[0].events  = POLLIN;
    fds[0].revents = 0;
    fds[1].fd      = (int)program;
    fds[1].events  = POLLIN;
    fds[1].revents = 0;
    /* Without a descriptor of the program it looks twice a second. */
    emu_raw(SYS_ppoll, (long)fds, (program < 0) ? 1 : 2, (program < 0) ? (long)&half : 0, 0, 8, 0);
    if (((program >= 0) && (fds[1].revents != 0)) || is_orphan(c)) {
        end(0);
    }
    if ((fds[0].revents != 0) &&
        (emu_raw(SYS_read, c->doorbell, (long)bytes, sizeof(bytes), 0, 0, 0) == 0)) {
        end(0); /* the program has become another one */
    }
}

int emu_device_main(void *argument)
{
    struct emu_control *c = argument;
    struct emu_ring *ring = &c->ring;
    uint64_t done         = 0;
    long program;

    emu_device_here = c;
    catch_faults();
    emu_raw(SYS_prctl, PR_SET_NAME, (long)c->name, 0, 0, 0, 0);
    use_all_processors();
    drop_files(c);
    program = emu_raw(SYS_pidfd_open, c->parent, 0, 0, 0, 0, 0);
    if (is_orphan(c)) {
        end(0);
    }
    end_sequences(c);
    drop_memory(c);
    atomic_store_explicit(&ring->ready, 1, memory_order_release);
    wake_program(ring);
    for (;;) {
        while (done < atomic_load_explicit(&ring->submitted, memory_order_acquire)) {
            run(c, &ring->commands[done % EMU_RING_COMMANDS]);
            done++;
            /* Release: the command's writes are seen by a thread that sees it done. */
            atomic_store_explicit(&ring->done, done, memory_order_release);
            wake_program(ring);
        }
        /* Both sequentially consistent, as in submit(): either we see the command, or the program
         * sees that we sleep. */
        atomic_store_explicit(&ring->asleep, 1, memory_order_seq_cst);
        if (atomic_load_explicit(&ring->submitted, memory_order_seq_cst) == done) {
            sleep_until_called(c, program);
        }
        atomic_store_explicit(&ring->asleep, 0, memory_order_seq_cst);
    }
}
