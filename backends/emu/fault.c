/* SPDX-License-Identifier: BSD-3-Clause */
/* fault.c: a rule was broken: report it, and stop the program.
 *
 * The handler of SIGSEGV is there because MEMSPAN_DEVICES requested emulated devices, and only
 * then. Addresses that are no device's go to the earlier handler of the signal. For ours it
 * collects facts by system calls alone; then a thread that has been waiting since the devices were
 * opened adds the library's record of the block, and the guard, which takes locks, and the handler
 * waits for it a bounded time; last come the callers. The report is collected and is one write, but
 * the facts so far are written before, where the unwinder could be the end: it faults (a handler of
 * its own), or hangs (the waiting thread stands guard), or there is no such thread. The signal then
 * strikes again, without a handler, at the same instruction. */

#include "core/base/fault.h"
#include "backends/emu/emu.h"
#include "core/base/log.h"
#include "core/base/platform.h"
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <memspan/allocator.h>
#include <memspan/space.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LAST_MS = 1000, HELP_MS_MAX = 3000, GUARD_S = 5, FRAMES_MAX = 24, FRAMES_SHOWN = 10 };

enum { HELP_IDLE, HELP_ASKED, HELP_GIVEN, HELP_LEAVE };

static _Atomic(struct emu *) watched;
static struct sigaction earlier; /* the earlier handler of the signal */
static atomic_flag reporting = ATOMIC_FLAG_INIT;

static struct {
    pthread_t thread;
    bool started;
    _Atomic uint32_t state;
    const void *address;
} help;

static void wait_while(_Atomic uint32_t *word, uint32_t value, int ms)
{
    const struct timespec limit = {ms / 1000, (long)(ms % 1000) * 1000000};

    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &limit, NULL, 0);
}

static void set_state(uint32_t state)
{
    atomic_store(&help.state, state);
    syscall(SYS_futex, &help.state, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* ---- the thread that may call the library ---- */

/* The report. The handler and the thread take turns; after a time limit they may not: each takes
 * its place first. */
static char said[40 * 1024] MSP_SPARSE;
static _Atomic size_t said_bytes;

static void say_out(void)
{
    size_t length = atomic_exchange(&said_bytes, 0);

    msp_report_write(said, (length < sizeof(said)) ? length : sizeof(said));
}

static void say(const char *text, size_t length)
{
    size_t at = atomic_fetch_add(&said_bytes, length);

    if (at < sizeof(said)) {
        memcpy(said + at, text, (length < sizeof(said) - at) ? length : sizeof(said) - at);
    }
}

/* The granule behind a block is unowned; the block that was overrun. */
static const struct emu_block *find_near(const struct emu *emu, const void *address)
{
    const struct emu_block *block = emu_arena_find(emu, address);

    return ((block == NULL) && (address >= (const void *)(emu->arena + EMU_GRANULE_BYTES)))
               ? emu_arena_find(emu, (const char *)address - EMU_GRANULE_BYTES)
               : block;
}

/* Blocks of less than a page share one that was taken for the first of them. @p small: the start of
 * such a block, or NULL. */
static void tell_callers(const struct emu *emu, const void *address, const void *small)
{
    const struct emu_block *block = find_near(emu, address);
    char text[EMU_CALLERS_MAX * 320];
    struct emu_writer w = {text, sizeof(text), 0};
    void *callers[EMU_CALLERS_MAX];
    int count   = (small != NULL) ? emu_small_callers(small, callers) : 0;
    bool shares = (small != NULL) && (count == 0);

    if (count > 0) {
        emu_write_callers(&w, "  allocated by", callers, count);
        say(text, w.used);
        return;
    }
    if ((block != NULL) && shares) {
        static const char not_its[] = "  call stack  of the first block of its page, which may be "
                                      "another: MEMSPAN_DEBUG=guard has that of each block\n";
        say(not_its, sizeof(not_its) - 1);
    }
    if (block != NULL) {
        emu_write_callers(&w, shares ? "  taken by    " : "  allocated by", block->callers,
                          block->caller_count);
        say(text, w.used);
    }
}

/* The guard's report of a block becomes part of this report. */
static void tell_guarded(const struct emu *emu, const void *address)
{
    msp_report_collect(say);
    emu->services->tell(address);
    msp_report_collect(NULL);
}

static void tell_block(const struct emu *emu, const void *address)
{
    char text[700];
    memspan_pointer_info_t block = {.struct_size = sizeof(block)};
    memspan_space_info_t space   = {.struct_size = sizeof(space)};
    bool guarded = (strstr(emu->services->option("MEMSPAN_DEBUG"), "guard") != NULL);

    if ((memspan_pointer_describe(address, &block) != MEMSPAN_OK) || (block.base == NULL)) {
        if (!guarded) {
            tell_callers(emu, address, NULL);
        }
        tell_guarded(emu, address); /* freed, perhaps: the call stack of the free */
        return;
    }
    if (memspan_space_describe(block.space, &space) != MEMSPAN_OK) {
        snprintf(space.name, sizeof(space.name), "unknown");
    }
    snprintf(text, sizeof(text),
             "  allocation  %zu bytes at %p, asked for as %s memory, given as %s memory of device "
             "%d\n"
             "  allocator   %#llx over space %s\n",
             block.size_bytes, block.base, memspan_kind_name(block.kind_asked),
             memspan_kind_name(block.kind_given), block.home,
             (unsigned long long)(uintptr_t)block.allocator, space.name);
    say(text, strlen(text));
    if (!guarded) {
        tell_callers(emu, address, (block.size_bytes < msp_page_size()) ? block.base : NULL);
    }
    tell_guarded(emu, address);
}

/* The program's first thread has left by pthread_exit() and there is no other: a process ends with
 * its last thread, and that must not be this one. */
static bool is_last(void)
{
    char text[512];
    int file  = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t n = (file < 0) ? 0 : read(file, text, sizeof(text) - 1);
    const char *state;
    struct stat tasks;

    if (file >= 0) {
        close(file);
    }
    text[(n > 0) ? n : 0] = '\0';
    state                 = strrchr(text, ')');
    if ((state == NULL) || (strncmp(state, ") Z", 3) != 0) ||
        (stat("/proc/self/task", &tasks) != 0)) {
        return false;
    }
    return tasks.st_nlink <= 2 + 2; /* ".", ".." and a folder for each thread */
}

static void *stand_by(void *unused)
{
    const struct timespec guard = {GUARD_S, 0};

    while (atomic_load(&help.state) == HELP_IDLE) {
        wait_while(&help.state, HELP_IDLE, LAST_MS);
        if ((atomic_load(&help.state) == HELP_IDLE) && is_last()) {
            return unused;
        }
    }
    if (atomic_load(&help.state) == HELP_ASKED) {
        tell_block(atomic_load(&watched), help.address);
        set_state(HELP_GIVEN);
        nanosleep(&guard, NULL);
        say_out();
        kill(getpid(), SIGKILL);
    }
    return unused;
}

/* ---- the handler's own words ---- */

enum rule {
    RULE_NOTHING,
    RULE_BEYOND,
    RULE_FREED,
    RULE_MANAGED,
    RULE_ATTACHED,
    RULE_NOWAIT,
    RULE_DEVICE
};

static const struct {
    const char *what; /* was read or written to */
    const char *rule;
} rules[] = {
    [RULE_NOTHING]  = {"addresses of a device where nothing is allocated",
                       "a pointer is good inside the block that it was made for"},
    [RULE_BEYOND]   = {"addresses of a device behind the end of a block",
                       "a pointer is good inside the block that it was made for"},
    [RULE_FREED]    = {"memory that was freed",
                       "a pointer is good from the allocation of its block to the free"},
    [RULE_MANAGED]  = {"managed memory while a launch was not waited for",
                       "managed memory is the device's from a launch on; it is the host's again "
                        "after\n              memspan_device_synchronize()"},
    [RULE_ATTACHED] = {"memory of a queue while its launch was not waited for",
                       "managed memory that is attached to a queue is the host's after\n"
                       "              memspan_queue_synchronize() of that queue"},
    [RULE_NOWAIT]   = {"managed memory while a target region was not waited for",
                       "managed memory that a region with nowait was given is the device's; it is "
                         "the\n              host's again after a taskwait, or a depend that waits"},
    [RULE_DEVICE] =
        {"device memory",
         "device memory is for kernels, memspan_copy() and memspan_fill(), or "
         "omp_target_memcpy()\n              in OpenMP; the host never touches it by itself"},
};

static enum rule find_rule(const struct emu_block *block, const void *address)
{
    if (block == NULL) {
        return RULE_NOTHING;
    }
    if ((const char *)address >= block->base + block->size_bytes) {
        return RULE_BEYOND;
    }
    if (atomic_load(&block->state) != EMU_BLOCK_LIVE) {
        return RULE_FREED;
    }
    if (block->kind == MEMSPAN_KIND_DEVICE) {
        return RULE_DEVICE;
    }
    if (block->attached_busy) {
        return RULE_ATTACHED;
    }
    return (atomic_load(&block->busy) == 0) ? RULE_NOWAIT : RULE_MANAGED;
}

static void write_headline(struct emu_writer *w, const struct emu_block *block, enum rule rule,
                           enum msp_fault_access access)
{
    emu_write_text(w, "memspan: emu");
    if (block != NULL) {
        emu_write_number(w, (uint64_t)block->home);
    }
    emu_write_text(w, (access == MSP_FAULT_WRITE) ? ": the host wrote to " : ": the host read ");
    emu_write_text(w, rules[rule].what);
    emu_write_text(w, "\n");
}

static void write_address(struct emu_writer *w, const void *address, const struct emu_block *block)
{
    size_t offset;

    emu_write_text(w, "  address     ");
    emu_write_hexadecimal(w, (uintptr_t)address);
    if (block != NULL) {
        offset = (size_t)((const char *)address - block->base);
        if (offset < block->size_bytes) {
            emu_write_text(w, ", byte ");
            emu_write_number(w, offset);
            emu_write_text(w, " of ");
        } else {
            emu_write_text(w, ", ");
            emu_write_number(w, offset - block->size_bytes);
            emu_write_text(w, " bytes past the end of ");
        }
        emu_write_number(w, block->size_bytes);
        emu_write_text(w, " bytes taken from the device at ");
        emu_write_hexadecimal(w, (uintptr_t)block->base);
    }
    emu_write_text(w, "\n");
}

static void write_access(struct emu_writer *w, const void *context)
{
    static const char *const words[] = {[MSP_FAULT_READ]    = "read",
                                        [MSP_FAULT_WRITE]   = "write",
                                        [MSP_FAULT_UNKNOWN] = "read or write"};
    uintptr_t pc                     = msp_fault_pc(context);
    char place[256];

    emu_write_text(w, "  access      ");
    emu_write_text(w, words[msp_fault_access(context)]);
    emu_write_text(w, " at ");
    emu_write_hexadecimal(w, pc);
    emu_write_text(w, ", ");
    emu_write_text(w, emu_symbol_text(place, sizeof(place), pc));
    emu_write_text(w, ", by thread ");
    emu_write_number(w, (uint64_t)syscall(SYS_gettid));
    emu_write_text(w, "\n");
}

static void say_callers(const void *context)
{
    void *frames[FRAMES_MAX];
    void *pc  = (void *)msp_fault_pc(context);
    int count = backtrace(frames, FRAMES_MAX);
    int first = 0;
    int i;

    while ((first < count) && (frames[first] != pc)) {
        first++;
    }
    for (i = first + 1; (i < count) && (i <= first + FRAMES_SHOWN); i++) {
        char place[256];
        char line[320];
        struct emu_writer w = {line, sizeof(line), 0};

        emu_write_text(&w, "  called by   ");
        /* A return address may be the next function's first byte. */
        emu_write_text(&w, emu_symbol_text(place, sizeof(place), (uintptr_t)frames[i] - 1));
        emu_write_text(&w, "\n");
        say(line, w.used);
    }
}

static _Atomic pid_t unwinding; /* the thread that reports */

/* The unwinder has met memory that it cannot read. Other threads' violations are those of a program
 * that ends. */
static void on_unwinder_fault(int number)
{
    const struct sigaction standard = {.sa_handler = SIG_DFL};

    while (atomic_load(&unwinding) != gettid()) {
        pause();
    }
    say_out();
    sigaction(number, &standard, NULL);
    raise(number);
}

static void watch_unwinder(void)
{
    struct sigaction action = {.sa_handler = on_unwinder_fault, .sa_flags = SA_ONSTACK};
    sigset_t faults;

    atomic_store(&unwinding, gettid());
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, NULL);
    sigemptyset(&faults);
    sigaddset(&faults, SIGSEGV);
    pthread_sigmask(SIG_UNBLOCK, &faults, NULL);
}

static void say_block(const void *address)
{
    int left = HELP_MS_MAX;

    if (!help.started) {
        return;
    }
    help.address = address;
    set_state(HELP_ASKED);
    while ((atomic_load(&help.state) == HELP_ASKED) && (left > 0)) {
        wait_while(&help.state, HELP_ASKED, 100);
        left -= 100;
    }
}

static void report(const struct emu *emu, const void *address, const void *context)
{
    const struct emu_block *block = find_near(emu, address);
    char text[1400];
    struct emu_writer w = {text, sizeof(text), 0};
    enum rule rule;

    rule = find_rule(block, address);
    write_headline(&w, block, rule, msp_fault_access(context));
    write_address(&w, address, block);
    emu_write_text(&w, "  rule        ");
    emu_write_text(&w, rules[rule].rule);
    emu_write_text(&w, "\n");
    write_access(&w, context);
    say(text, w.used);
    say_block(address);
    if (atomic_load(&help.state) != HELP_GIVEN) {
        say_out(); /* nothing ends the program should the unwinder hang */
    }
    watch_unwinder();
    say_callers(context);
    say_out();
}

static void report_in_child(const void *address)
{
    char text[256];
    struct emu_writer w = {text, sizeof(text), 0};

    emu_write_text(&w, "memspan: emu: a forked child used ");
    emu_write_hexadecimal(&w, (uintptr_t)address);
    emu_write_text(&w, ", memory of a device: devices do not survive fork()\n");
    msp_report_write(text, w.used);
}

/* ---- the signal ---- */

static void on_fault(int number, siginfo_t *info, void *context)
{
    const struct sigaction standard = {.sa_handler = SIG_DFL};
    const struct emu *emu           = atomic_load(&watched);
    int saved                       = errno;

    if ((emu == NULL) || (info->si_code <= 0) || !emu_arena_holds(emu, info->si_addr)) {
        msp_fault_pass_on(&earlier, number, info, context);
        errno = saved;
        return;
    }
    if (getpid() != emu->pid) {
        report_in_child(info->si_addr);
    } else if (!atomic_flag_test_and_set(&reporting)) {
        report(emu, info->si_addr, context);
    } else {
        for (;;) {
            pause(); /* another thread's violation is being explained, and ends the program */
        }
    }
    /* Raised, because by now the address may have become the host's. */
    sigaction(number, &standard, NULL);
    raise(number);
}

memspan_status_t emu_fault_watch(struct emu *emu)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction now;
    void *frames[2];
    sigset_t all;
    sigset_t before;

    action.sa_sigaction = on_fault;
    sigemptyset(&action.sa_mask);
    (void)backtrace(frames, 2); /* loads the unwinder now, and not in the handler */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    atomic_store(&help.state, HELP_IDLE);
    help.started = (pthread_create(&help.thread, NULL, stand_by, NULL) == 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    atomic_store(&watched, emu);
    if (sigaction(SIGSEGV, &action, &now) != 0) {
        return emu_system_error(emu, "sigaction", "violations cannot be explained");
    }
    if (((now.sa_flags & SA_SIGINFO) == 0) || (now.sa_sigaction != on_fault)) {
        earlier = now; /* and not ourselves, in a forked child that has devices of its own */
    }
    return MEMSPAN_OK;
}

void emu_fault_unwatch(struct emu *emu)
{
    struct sigaction now;

    if (atomic_load(&watched) != emu) {
        return;
    }
    /* A later handler passes on to us, or does not; then we stay, and pass on. */
    if ((sigaction(SIGSEGV, NULL, &now) == 0) && (now.sa_sigaction == on_fault)) {
        sigaction(SIGSEGV, &earlier, NULL);
    }
    atomic_store(&watched, NULL);
    if (help.started) {
        set_state(HELP_LEAVE);
        pthread_join(help.thread, NULL);
        help.started = false;
    }
}
