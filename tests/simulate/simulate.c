/* SPDX-License-Identifier: BSD-3-Clause */
/* simulate.c: one turn among all threads of all PEs, and a clock that goes on by steps, and
 * jumps when all wait. The thread that has the turn may change the state: it needs no locks. */

#include "simulate.h"
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    CLASS_MIN = 6,
    HANG_S    = 30,
    /* After so many the clock goes twice as fast, and so on: PEs poll for a late one. */
    HURRY_STEPS = 40000,
    HURRY_MAX   = 8,
};
#define LAST_NS   (UINT64_C(4000) * SIM_S) /* no job of ours takes longer */
#define SIM_GRACE (UINT64_C(600) * SIM_S)  /* of the launcher after a fault */

struct sim *sim;
static __thread int self = -1;

long __real_syscall(long number, ...);
ssize_t __real_write(int fd, const void *data, size_t size_bytes);
void __real__exit(int status) __attribute__((noreturn));

/* ---- chance ---- */

/* splitmix64 (Steele, Lea and Flood, OOPSLA 2014). */
uint64_t sim_mix(uint64_t *random)
{
    uint64_t x = (*random += UINT64_C(0x9e3779b97f4a7c15));

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint64_t sim_draw(uint64_t below)
{
    return (sim_mix(&sim->random) >> 8) % below;
}

/* ---- memory that all share ---- */

struct sim *sim_make(void)
{
    sim = mmap(NULL, sizeof *sim, PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (sim == MAP_FAILED) {
        perror("mmap");
        exit(2);
    }
    self = 0;
    return sim;
}

static unsigned class_of(size_t size_bytes)
{
    unsigned class = CLASS_MIN;

    while (((size_t)1 << class) < size_bytes) {
        class ++;
    }
    return class;
}

void *sim_allocate(size_t size_bytes)
{
    unsigned class = class_of(size_bytes);
    void **block   = sim->pool_free[class];

    if (block != NULL) {
        sim->pool_free[class] = *block;
        return block;
    }
    SIM_EXPECT(sim->pool_used + ((size_t)1 << class) <= SIM_POOL_BYTES, "the network is full");
    sim->pool_used += (size_t)1 << class;
    return sim->pool + sim->pool_used - ((size_t)1 << class);
}

void sim_release(void *pointer, size_t size_bytes)
{
    *(void **)pointer                    = sim->pool_free[class_of(size_bytes)];
    sim->pool_free[class_of(size_bytes)] = pointer;
}

void sim_say(const char *text, size_t size_bytes)
{
    size_t room = SIM_TEXT_BYTES - 1 - sim->text_bytes;

    size_bytes = (size_bytes < room) ? size_bytes : room;
    memcpy(sim->text + sim->text_bytes, text, size_bytes);
    sim->text_bytes += size_bytes;
}

/* ---- turns ---- */

bool sim_is_on(void)
{
    return self > 0;
}

int sim_pe(void)
{
    return (self > 0) ? sim->threads[self].pe : -1;
}

void sim_give_turn(int slot)
{
    sim->current = slot;
    __atomic_store_n(&sim->threads[slot].turn, 1, __ATOMIC_SEQ_CST);
    __real_syscall(SYS_futex, &sim->threads[slot].turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* The launcher waits in real time, too: a thread may keep the turn for ever. */
static void take_turn(void)
{
    const struct timespec limit = {.tv_sec = HANG_S};
    uint32_t *turn              = &sim->threads[self].turn;

    while (__atomic_exchange_n(turn, 0, __ATOMIC_SEQ_CST) == 0) {
        if ((__real_syscall(SYS_futex, turn, FUTEX_WAIT, 0, (self == 0) ? &limit : NULL, NULL, 0) !=
             0) &&
            (errno == ETIMEDOUT)) {
            snprintf(sim->failure, sizeof sim->failure,
                     "PE %d keeps its turn: it loops without a step, or was killed",
                     sim->threads[sim->current].pe);
            sim->has_failed = true;
            return;
        }
    }
}

void sim_adopt(int slot)
{
    self = slot;
    take_turn();
}

int sim_add_thread(int pe)
{
    int slot = 1;

    while ((slot < SIM_THREADS) && (sim->threads[slot].state != SIM_FREE)) {
        slot++;
    }
    SIM_EXPECT(slot < SIM_THREADS, "more than %d threads", SIM_THREADS - 1);
    sim->threads[slot] = (struct sim_thread){.state = SIM_READY, .pe = pe};
    return slot;
}

static void ready(struct sim_thread *thread, bool has_timed_out)
{
    thread->state         = SIM_READY;
    thread->has_timed_out = has_timed_out;
}

/* Ends the waits whose time has come. */
static unsigned expire(void)
{
    unsigned count = 0;
    int i;

    for (i = 1; i < SIM_THREADS; i++) {
        struct sim_thread *thread = &sim->threads[i];

        if ((thread->state == SIM_WAITING) && (thread->until_ns <= sim->now_ns)) {
            ready(thread, true);
            count++;
        }
    }
    return count;
}

static uint64_t next_limit(void)
{
    uint64_t first = sim->abort_ns;
    int i;

    for (i = 1; i < SIM_THREADS; i++) {
        const struct sim_thread *thread = &sim->threads[i];

        if ((thread->state == SIM_WAITING) && (thread->until_ns < first)) {
            first = thread->until_ns;
        }
    }
    return first;
}

static int choose_ready(void)
{
    int slots[SIM_THREADS];
    unsigned count = 0;
    int i;

    for (i = 1; i < SIM_THREADS; i++) {
        if (sim->threads[i].state == SIM_READY) {
            slots[count++] = i;
        }
    }
    return (count > 0) ? slots[sim_draw(count)] : -1;
}

static bool is_any_left(void)
{
    int i = 1;

    while ((i < SIM_THREADS) &&
           ((sim->threads[i].state == SIM_FREE) || (sim->threads[i].state == SIM_ENDED))) {
        i++;
    }
    return i < SIM_THREADS;
}

/* 0: the launcher has something to do. */
static int choose(void)
{
    int chosen;

    (void)expire();
    chosen = choose_ready();
    if ((chosen < 0) && is_any_left()) {
        uint64_t first = next_limit();

        if (first == SIM_NEVER) {
            snprintf(sim->failure, sizeof sim->failure, "all threads wait for ever");
            sim->has_failed = true;
            return 0;
        }
        sim->now_ns = (first > sim->now_ns) ? first : sim->now_ns;
        sim->alone  = -1;
        if ((expire() == 1) && (sim->packets == 0)) {
            chosen     = choose_ready();
            sim->alone = chosen;
        } else {
            chosen = choose_ready();
        }
    } else if (chosen != sim->alone) {
        sim->alone = -1;
    }
    if (sim->now_ns > LAST_NS) {
        snprintf(sim->failure, sizeof sim->failure, "the job does not end");
        sim->has_failed = true;
    }
    return ((sim->now_ns >= sim->abort_ns) || sim->has_failed || (chosen < 0)) ? 0 : chosen;
}

const char *sim_place(const void *place)
{
    static char text[128];
    const char *name = "?";
    Dl_info info     = {0};

    if (dladdr(place, &info) != 0) {
        name = strrchr(info.dli_fname, '/');
        name = (name != NULL) ? name + 1 : info.dli_fname;
    }
    snprintf(text, sizeof text, "%.60s+%#tx", name,
             (const char *)place - (const char *)info.dli_fbase);
    return text;
}

static void trace(int slot)
{
    const struct sim_thread *thread = &sim->threads[slot];

    sim->turns++;
    sim->hash = (sim->hash ^ (uint64_t)slot ^ (sim->now_ns << 8)) * UINT64_C(0x9e3779b97f4a7c15);
    sim->hash ^= sim->hash >> 29;
    if (sim->is_traced) {
        char line[240];
        int length = snprintf(line, sizeof line, "%14.6f ms  PE %d thread %d  %s%s\n",
                              (double)sim->now_ns / 1e6, thread->pe, slot,
                              thread->has_timed_out ? "late " : "", sim_place(thread->place));

        (void)!__real_write(STDOUT_FILENO, line, (size_t)length);
    }
}

bool sim_go_on(void)
{
    int next;

    if (!is_any_left()) {
        return false;
    }
    next = choose();
    if (next != 0) {
        trace(next);
        sim_give_turn(next);
        take_turn();
    }
    return true;
}

static void pass_turn(bool comes_back)
{
    int mine = self;
    int next = choose();

    trace(next);
    if (next != mine) {
        sim_give_turn(next);
        if (comes_back) {
            take_turn();
        }
    }
    if (comes_back && sim->profile.is_hardware) {
        sim_network_store(sim->threads[mine].pe);
    }
}

void sim_strike(uint64_t grace_ns)
{
    sim->has_struck = true;
    sim->struck_on  = sim->pes[sim->profile.victim].is_on;
    sim->abort_ns   = sim->now_ns + grace_ns;
}

/* The victim dies as by SIGKILL: whatever it was doing is left as it is. */
static void strike(void)
{
    struct sim_pe *pe = &sim->pes[sim->profile.victim];

    sim_strike(SIM_GRACE);
    if (sim->profile.fault == SIM_CUT) {
        sim->cut_ns      = sim->now_ns;
        sim->cut_told_ns = sim->now_ns + sim_draw(50 * SIM_MS);
        return;
    }
    if (!sim->profile.launcher_goes_on || !pe->is_on) {
        sim->abort_ns = sim->now_ns + sim_draw(100 * SIM_MS);
    }
    pe->is_ending = true;
    pe->lost_ns   = sim->now_ns + sim_draw(50 * SIM_MS);
    sim_give_turn(0);
    kill(getpid(), SIGKILL);
    for (;;) {
        pause();
    }
}

static void count_step(void)
{
    struct sim_pe *pe    = &sim->pes[sim->threads[self].pe];
    const uint64_t hurry = sim->steps / HURRY_STEPS;

    sim->steps++;
    pe->steps++;
    sim->now_ns += (uint64_t)sim->profile.step_ns << ((hurry < HURRY_MAX) ? hurry : HURRY_MAX);
    if (((sim->profile.fault == SIM_DEATH) || (sim->profile.fault == SIM_CUT)) &&
        !sim->has_struck && (sim->profile.victim == sim->threads[self].pe) &&
        (pe->steps >= sim->profile.fault_step)) {
        strike();
    }
}

void sim_point(const void *place)
{
    if (self > 0) {
        count_step();
        if (sim_draw(sim->profile.switches) == 0) {
            sim->threads[self].place = place;
            pass_turn(true);
        }
    }
}

void sim_yield(const void *place)
{
    if (self > 0) {
        count_step();
        sim->threads[self].place = place;
        pass_turn(true);
    }
}

/* ---- waits ---- */

bool sim_wait(uint64_t key, uint64_t until_ns, bool sees_network, const void *place)
{
    struct sim_thread *thread = &sim->threads[self];

    count_step();
    thread->key          = key;
    thread->until_ns     = until_ns;
    thread->sees_network = sees_network;
    thread->place        = place;
    thread->state        = SIM_WAITING;
    if (sees_network) {
        sim_wake_network(thread->pe, sim_network_due(thread->pe));
    }
    pass_turn(true);
    return !thread->has_timed_out;
}

/* Any @p count of those that wait. */
void sim_wake(uint64_t key, unsigned count)
{
    int first = 1 + (int)sim_draw(SIM_THREADS - 1);
    int i;

    for (i = 0; (i < SIM_THREADS - 1) && (count > 0); i++) {
        struct sim_thread *thread = &sim->threads[1 + (first + i) % (SIM_THREADS - 1)];

        if ((thread->state == SIM_WAITING) && (thread->key == key)) {
            ready(thread, false);
            count--;
        }
    }
}

/* Something is due for it then. */
void sim_wake_network(int pe, uint64_t due_ns)
{
    int i;

    for (i = 1; i < SIM_THREADS; i++) {
        struct sim_thread *thread = &sim->threads[i];

        if ((thread->state == SIM_WAITING) && (thread->pe == pe) && thread->sees_network &&
            (due_ns < thread->until_ns)) {
            thread->until_ns = due_ns;
        }
    }
}

void sim_sleep(uint64_t ns)
{
    (void)sim_wait(0, sim->now_ns + ns, false, __builtin_return_address(0));
}

/* ---- ends ---- */

void sim_end_thread(void)
{
    sim->threads[self].state = SIM_ENDED;
    sim_wake((uint64_t)(uintptr_t)&sim->threads[self], UINT_MAX);
    pass_turn(false);
    self = -1;
}

void sim_end_process(int status)
{
    if (self > 0) {
        sim->pes[sim->threads[self].pe].is_ending = true;
        self                                      = -1;
        sim_give_turn(0);
    }
    __real__exit(status);
}

void sim_fail(const char *format, ...)
{
    va_list arguments;

    if (!sim->has_failed) {
        va_start(arguments, format);
        vsnprintf(sim->failure, sizeof sim->failure, format, arguments);
        va_end(arguments);
        sim->has_failed = true;
    }
    sim_end_process(99);
}
