/* SPDX-License-Identifier: BSD-3-Clause */
/* process.c: the program's side of device processes.
 *
 * A device process is a clone that sends no signal when it ends, so that the program's own wait()
 * and SIGCHLD never see it. A waiter looks now and then whether it is still there: a
 * device that dies is an error, not a hang. */

#include "backends/emu/emu.h"
#include "core/base/fault.h"
#include "core/base/platform.h"
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 20, START_MS_MAX = 20000, DEAF_MS_MAX = 10000 };

static const char *const kernel_names[] = {"kernel daxpy", "kernel fill", "kernel sum",
                                           "kernel chase", "kernel add_atomic"};

/* ---- a device that is lost ---- */

static const char *name_command(const struct emu_command *command)
{
    switch (command->op) {
    case EMU_OP_COPY:
        return "a copy";
    case EMU_OP_FILL:
        return "a fill";
    case EMU_OP_KERNEL:
        return (command->kernel < sizeof(kernel_names) / sizeof(kernel_names[0]))
                   ? kernel_names[command->kernel]
                   : "a combining kernel";
    default:
        return "a change of its memory";
    }
}

static void explain_address(const struct emu *emu, const struct emu_device *device,
                            const void *address, char *text, size_t size)
{
    const struct emu_block *block = emu_arena_find(emu, address);

    if (!emu_arena_holds(emu, address)) {
        snprintf(text, size, "no memory of a device: kernels do not reach ordinary host memory");
    } else if (block == NULL) {
        snprintf(text, size, "no allocation");
    } else if (atomic_load(&block->state) != EMU_BLOCK_LIVE) {
        snprintf(text, size, "memory that was freed (%zu bytes at %p)", block->size_bytes,
                 (void *)block->base);
    } else if ((const char *)address >= block->base + block->size_bytes) {
        snprintf(text, size, "past the end of %zu bytes at %p", block->size_bytes,
                 (void *)block->base);
    } else {
        snprintf(text, size, "%s memory of emu%d, which emu%d does not reach",
                 memspan_kind_name(block->kind), block->home, device->ordinal);
    }
}

static void explain_stop(struct emu_device *device)
{
    const struct emu_ring *ring = &device->control->ring;
    uint64_t done               = atomic_load(&ring->done);
    const char *what            = name_command(&ring->commands[done % EMU_RING_COMMANDS]);
    const void *address         = (const void *)(uintptr_t)ring->fault_address;
    char where[160];

    if (atomic_load(&ring->stop) == EMU_STOP_FAULT) {
        explain_address(device->emu, device, address, where, sizeof(where));
        snprintf(device->lost_text, sizeof(device->lost_text), "%s %s %p, %s%s", what,
                 (ring->fault_access == MSP_FAULT_WRITE) ? "wrote to" : "read", address, where,
                 (ring->fault_signal == SIGBUS) ? " (no host memory is left for it)" : "");
    } else if (atomic_load(&ring->stop) == EMU_STOP_CALL) {
        snprintf(device->lost_text, sizeof(device->lost_text), "%s at %p failed in its process: %s",
                 what, address, strerrordesc_np((int)-ring->fault_code));
    } else {
        snprintf(device->lost_text, sizeof(device->lost_text), "its process %d was ended by %s",
                 (int)device->process, "something outside the program, during its work");
    }
}

memspan_status_t emu_process_lost(const struct emu_device *device)
{
    return device->emu->services->fail(
        MEMSPAN_ERR_DRIVER, EMU_NAME, "", (long)atomic_load(&device->control->ring.stop),
        "the device is lost", "nothing more can be done on it in this run of the program",
        "emu%d is lost: %s", device->ordinal, device->lost_text);
}

static memspan_status_t lose(struct emu_device *device, const char *why)
{
    pthread_mutex_lock(&device->lock);
    if (!atomic_load(&device->lost)) {
        if (why == NULL) {
            explain_stop(device);
        } else {
            snprintf(device->lost_text, sizeof(device->lost_text), "%s", why);
        }
        /* Release: a thread that sees it lost reads why. */
        atomic_store_explicit(&device->lost, true, memory_order_release);
        syscall(SYS_kill, device->process, SIGKILL);
        waitpid(device->process, NULL, __WALL);
    }
    pthread_mutex_unlock(&device->lock);
    return emu_process_lost(device);
}

static bool is_gone(const struct emu_device *device)
{
    siginfo_t info = {.si_pid = 0};

    if (waitid(P_PID, (id_t)device->process, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0) {
        return errno != EINTR;
    }
    return info.si_pid != 0;
}

/* ---- waiting ---- */

/* Call the device, when it sleeps. False: the descriptor is another file's now. A device that is
 * just ending is found by its waiter. */
static bool notify_device(const struct emu_device *device)
{
    char byte = 0;

    if (atomic_load_explicit(&device->control->ring.asleep, memory_order_seq_cst) == 0) {
        return true;
    }
    return (send(device->doorbell, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1) ||
           ((errno != EBADF) && (errno != ENOTSOCK) && (errno != ENOTCONN));
}

/* Until the count is no longer @p seen, for LOOK_MS at most. */
static void wait_for_count(struct emu_ring *ring, uint32_t seen)
{
    const struct timespec look = {0, LOOK_MS * 1000000};

    syscall(SYS_futex, &ring->done_count, FUTEX_WAIT, seen, &look, NULL, 0);
}

/* The next command is there, and the device sleeps: it missed the doorbell. True when that goes on.
 */
static bool is_deaf(const struct emu_device *device, int *looks)
{
    if (atomic_load(&device->control->ring.asleep) == 0) {
        *looks = 0;
        return false;
    }
    (*looks)++;
    return !notify_device(device) || (*looks > DEAF_MS_MAX / LOOK_MS);
}

static bool is_stopped(const struct emu_device *device)
{
    return atomic_load_explicit(&device->lost, memory_order_acquire) ||
           (atomic_load_explicit(&device->control->ring.stop, memory_order_acquire) !=
            EMU_STOP_NOT);
}

bool emu_process_is_done(const struct emu_device *device, uint64_t number)
{
    return (atomic_load_explicit(&device->control->ring.done, memory_order_acquire) >= number) ||
           is_stopped(device) || is_gone(device);
}

memspan_status_t emu_process_wait(struct emu_device *device, uint64_t number)
{
    struct emu_ring *ring = &device->control->ring;
    bool stopped          = false;
    bool deaf             = false;
    int looks             = 0;

    if (atomic_load_explicit(&ring->done, memory_order_acquire) >= number) {
        return MEMSPAN_OK;
    }
    /* Sequentially consistent with wake_program(): either it sees a waiter or we see its count. */
    atomic_fetch_add_explicit(&ring->waiters, 1, memory_order_seq_cst);
    for (;;) {
        uint32_t seen = atomic_load_explicit(&ring->done_count, memory_order_seq_cst);

        if (atomic_load_explicit(&ring->done, memory_order_acquire) >= number) {
            break;
        }
        stopped = stopped || is_stopped(device);
        if (stopped || deaf) {
            break;
        }
        wait_for_count(ring, seen);
        stopped = is_gone(device); /* then once more: its last work may have ended before */
        deaf    = !stopped && is_deaf(device, &looks);
    }
    atomic_fetch_sub_explicit(&ring->waiters, 1, memory_order_relaxed);
    if (atomic_load_explicit(&ring->done, memory_order_acquire) >= number) {
        return MEMSPAN_OK;
    }
    return lose(device, stopped ? NULL : "it does not hear: the program closed its descriptor");
}

/* ---- submitting ---- */

memspan_status_t emu_process_submit(struct emu_device *device, const struct emu_command *command,
                                    uint64_t *number_p)
{
    struct emu_ring *ring   = &device->control->ring;
    memspan_status_t status = MEMSPAN_OK;
    uint64_t number;

    pthread_mutex_lock(&device->lock);
    number = atomic_load_explicit(&ring->submitted, memory_order_relaxed);
    while (number - atomic_load_explicit(&ring->done, memory_order_acquire) >= EMU_RING_COMMANDS) {
        uint64_t oldest = number + 1 - EMU_RING_COMMANDS;

        pthread_mutex_unlock(&device->lock);
        status = emu_process_wait(device, oldest);
        if (status != MEMSPAN_OK) {
            return status;
        }
        pthread_mutex_lock(&device->lock);
        number = atomic_load_explicit(&ring->submitted, memory_order_relaxed);
    }
    ring->commands[number % EMU_RING_COMMANDS] = *command;
    number++;
    atomic_store_explicit(&ring->submitted, number, memory_order_seq_cst);
    (void)notify_device(device); /* a waiter finds out when it was in vain */
    pthread_mutex_unlock(&device->lock);
    *number_p = number;
    return MEMSPAN_OK;
}

/* ---- starting and ending ---- */

/* Where a thread has its restartable-sequences record, by the C library (from glibc 2.35). */
extern const ptrdiff_t __rseq_offset __attribute__((weak));

static void keep(struct emu_control *control, uintptr_t start, uintptr_t end)
{
    uintptr_t page = msp_page_size();

    control->keep[control->keep_count++] =
        (struct emu_range){start & ~(page - 1), (end + page - 1) & ~(page - 1)};
}

static struct emu_control *make_control(const struct emu_device *device, int doorbell)
{
    const struct emu *emu = device->emu;
    struct emu_control *control =
        mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uintptr_t here = (uintptr_t)&emu_device_here;

    if (control == MAP_FAILED) {
        return NULL;
    }
    control->parent   = emu->pid;
    control->doorbell = doorbell;
    snprintf(control->name, sizeof(control->name), "memspan-emu%d", device->ordinal);
    keep(control, (uintptr_t)control, (uintptr_t)(control + 1));
    keep(control, (uintptr_t)emu->arena, (uintptr_t)(emu->arena + emu->arena_bytes));
    keep(control, here, here + sizeof(emu_device_here));
    if (&__rseq_offset != NULL) {
        control->sequences = emu_thread_pointer() + (uintptr_t)__rseq_offset;
    }
    keep(control, control->sequences, control->sequences + 1);
    return control;
}

/* All signals are blocked in a new device until it has its own handlers. */
static memspan_status_t clone_process(struct emu_device *device)
{
    sigset_t all;
    sigset_t before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    device->process =
        clone(emu_device_main, device->control->stack + EMU_STACK_BYTES, 0, device->control);
    if (device->process < 0) {
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        return emu_system_error(device->emu, "clone", "no process for emu%d", device->ordinal);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return MEMSPAN_OK;
}

static memspan_status_t wait_until_ready(struct emu_device *device)
{
    struct emu_ring *ring = &device->control->ring;
    int looks             = START_MS_MAX / LOOK_MS;

    atomic_fetch_add(&ring->waiters, 1);
    while ((atomic_load_explicit(&ring->ready, memory_order_acquire) == 0) && (looks > 0)) {
        uint32_t seen = atomic_load(&ring->done_count);

        if ((atomic_load(&ring->stop) != EMU_STOP_NOT) || is_gone(device)) {
            break;
        }
        if (atomic_load_explicit(&ring->ready, memory_order_acquire) == 0) {
            wait_for_count(ring, seen);
        }
        looks--;
    }
    atomic_fetch_sub(&ring->waiters, 1);
    return (atomic_load_explicit(&ring->ready, memory_order_acquire) != 0)
               ? MEMSPAN_OK
               : lose(device, (looks > 0) ? NULL : "its process did not start within 20 seconds");
}

memspan_status_t emu_process_start(struct emu_device *device)
{
    int ends[2];
    memspan_status_t status;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return emu_system_error(device->emu, "socketpair", "no doorbell for emu%d",
                                device->ordinal);
    }
    device->control = make_control(device, ends[1]);
    if (device->control == NULL) {
        status = emu_system_error(device->emu, "mmap", "no ring for emu%d", device->ordinal);
        goto err_close;
    }
    status = clone_process(device);
    if (status != MEMSPAN_OK) {
        goto err_unmap;
    }
    close(ends[1]);
    device->doorbell = ends[0];
    return wait_until_ready(device);

err_unmap:
    munmap(device->control, sizeof(*device->control));
    device->control = NULL;
err_close:
    close(ends[0]);
    close(ends[1]);
    return status;
}

void emu_process_stop(struct emu_device *device)
{
    if (device->control == NULL) {
        return;
    }
    if (!atomic_load(&device->lost)) {
        syscall(SYS_kill, device->process, SIGKILL);
        waitpid(device->process, NULL, __WALL);
    }
    close(device->doorbell);
    munmap(device->control, sizeof(*device->control));
    device->control = NULL;
}
