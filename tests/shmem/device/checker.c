/* SPDX-License-Identifier: BSD-3-Clause */
/* checker.c: the protocol of request queues, checked exhaustively: two threads of a device with
 * three requests each, a queue of two cells, and the host's thread, in every order of their steps;
 * the same where the threads execute the requests themselves, one at a time, and where they are
 * threads of one wave that share one cell.
 *
 * The code is that of the header. Each load and store of it is a step, before which another thread
 * may take any number of its own. A plain store is delayed: others see it at any later time, but
 * before a later release of its thread. A thread whose poll has found nothing waits until that word
 * changes. States that were seen before, by memory and by the values that each thread has read, are
 * not continued. Orders in which loads overtake loads are not among those that are checked. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

static uint64_t model_load(const uint64_t *word);
static void model_store(uint64_t *word, uint64_t value);
static uint64_t model_draw(uint64_t *word, uint64_t value);
static uint64_t model_exchange(uint64_t *word, uint64_t value);
static void model_fill(uint64_t *word, uint64_t value);
static void model_take(void);
static int model_poll(void);
static void model_converge(int ends);

#define SHMEMX_DEVICE_LOAD_ACQUIRE(word)         model_load(word)
#define SHMEMX_DEVICE_STORE_RELEASE(word, value) model_store((word), (value))
#define SHMEMX_DEVICE_LOAD_RELAXED(word)         __atomic_load_n((word), __ATOMIC_RELAXED)
#define SHMEMX_DEVICE_DRAW(word, value)          model_draw((word), (value))
#define SHMEMX_DEVICE_EXCHANGE(word, value)      model_exchange((word), (value))
#define SHMEMX_DEVICE_FILL(member, value)        model_fill(&(member), (value))
#define SHMEMX_DEVICE_TAKE(member)               (model_take(), (member))
#define SHMEMX_DEVICE_POLL(view, polls)          ((void)(view), (void)(polls), model_poll())
#define SHMEMX_DEVICE_CONVERGE(ends)             model_converge(ends)
#include <shmem/device_view.h>

enum {
    PRODUCERS = 2,
    REQUESTS  = 3, /* of each: every cell is used three times */
    CELLS     = 2,
    THREADS   = PRODUCERS + 1,
    HOST      = PRODUCERS, /* the host's thread */
    FLUSH     = THREADS,   /* choice FLUSH + t: a delayed store of thread t is seen */
    DEPTH_MAX = 400,
    STATE_MAX = 1 << 22,
    STACK_MAX = 64 << 10,
};

struct thread {
    ucontext_t context;
    uint64_t history; /* hash of the values it has read */
    uint64_t before;  /* the same before its last load */
    const uint64_t *seen_word;
    uint64_t seen;
    uint64_t *delayed; /* a plain store that others do not see */
    uint64_t delayed_value;
    int waits;
    uint64_t left; /* loops, as a thread of a wave */
    int is_finished;
};

/* What the threads share; part of a state. */
static struct shared {
    shmemx_device_view_t view;
    shmemx_device_state_t state;
    shmemx_device_queue_t queue;
    shmemx_device_progress_t progress; /* cells follow it */
    shmemx_device_cell_t cells[CELLS];
    uint64_t executed[PRODUCERS * REQUESTS]; /* values, in order */
    uint64_t executed_count;
    uint64_t next; /* ticket to execute, of the thread that serves */
} shared;

static struct thread threads[THREADS];
static char stacks[THREADS][STACK_MAX];
static ucontext_t scheduler;
static int current;
static const char *wrong; /* of the last run */
static int relaxed;       /* a fault: stores of turns order nothing */
static int is_split;      /* a fault: tickets are drawn by a load and a store */
static int checks_once;   /* a fault: threads that serve do not check again */
static int serves_itself; /* the threads execute requests */
static int is_wave;       /* they run in lockstep */

/* ---- steps ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ (value + 7)) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

static void model_step(void)
{
    swapcontext(&threads[current].context, &scheduler);
}

/* A load of a word that only this thread writes now. */
static void model_take(void)
{
    model_step();
    threads[current].history = mix(threads[current].history, 5);
}

static void flush(struct thread *thread)
{
    if (thread->delayed != NULL) {
        *thread->delayed = thread->delayed_value;
        thread->delayed  = NULL;
    }
}

static uint64_t model_load(const uint64_t *word)
{
    struct thread *thread = &threads[current];

    model_step();
    thread->before    = thread->history;
    thread->seen_word = word;
    thread->seen      = *word;
    thread->history   = mix(mix(thread->history, 1), *word);
    return *word;
}

static int model_poll(void)
{
    threads[current].history = threads[current].before;
    threads[current].waits   = 1;
    return 0;
}

/* A thread of a wave that leaves a loop goes on when all have left it. */
static void model_converge(int ends)
{
    if (is_wave && ends) {
        threads[current].left++;
        model_step();
        threads[current].history = mix(threads[current].history, 8);
    }
}

static void model_store(uint64_t *word, uint64_t value)
{
    model_step();
    if (!relaxed) {
        flush(&threads[current]);
    }
    *word                    = value;
    threads[current].history = mix(threads[current].history, 2);
}

static uint64_t model_draw(uint64_t *word, uint64_t value)
{
    uint64_t old;

    model_step();
    old = *word;
    if (is_split) {
        threads[current].history = mix(threads[current].history, old);
        model_step();
    }
    *word                    = old + value;
    threads[current].history = mix(mix(threads[current].history, 3), old);
    return old;
}

static uint64_t model_exchange(uint64_t *word, uint64_t value)
{
    uint64_t old;

    model_step();
    flush(&threads[current]);
    old                      = *word;
    *word                    = value;
    threads[current].history = mix(mix(threads[current].history, 6), old);
    return old;
}

static void model_fill(uint64_t *word, uint64_t value)
{
    model_step();
    flush(&threads[current]);
    threads[current].delayed       = word;
    threads[current].delayed_value = value;
    threads[current].history       = mix(threads[current].history, 4);
}

/* ---- the threads ---- */

static uint64_t value_of(int producer, int request)
{
    return (uint64_t)(((producer + 1) * 16) + request + 1);
}

static void expect(int condition, const char *what)
{
    if (!condition && (wrong == NULL)) {
        wrong = what;
    }
}

static void produce(int producer)
{
    for (int i = 0; i < REQUESTS; i++) {
        int replies    = (i + producer) % 2;
        uint64_t reply = shmemx_device_ask(
            &shared.view, &shared.queue, SHMEMX_DEVICE_ADD | (replies ? SHMEMX_DEVICE_REPLIES : 0),
            0, 8, value_of(producer, i), 0, 0);

        threads[producer].history = mix(1, (uint64_t)i); /* it keeps nothing else */
        expect(!replies || (reply == value_of(producer, i) + 1000), "a reply is of another one");
    }
    threads[producer].is_finished = 1;
    model_step();
}

static void execute(shmemx_device_cell_t *cell, uint64_t ticket)
{
    uint64_t value = SHMEMX_DEVICE_TAKE(cell->value);

    threads[current].history = mix(threads[current].history, value);
    expect(shared.executed_count < PRODUCERS * REQUESTS, "a request is executed twice");
    if (wrong == NULL) {
        shared.executed[shared.executed_count++] = value;
    }
    SHMEMX_DEVICE_FILL(cell->value, value + 1000);
    shmemx_device_answer(&shared.queue, cell, ticket);
}

/* msp_device_serve() of shmem/device/service.c, without an end. */
static void serve_itself(uint64_t unused)
{
    const uint64_t history = threads[current].history; /* as the caller's after it, too */
    shmemx_device_cell_t *cell;
    uint64_t next;

    (void)unused;
    do {
        threads[current].history = mix(history, 7);
        if (!shmemx_device_begin_service(&shared.state)) {
            break;
        }
        next = shared.next;
        cell = shmemx_device_cell_of(&shared.queue, next);
        while (shmemx_device_is_requested(cell, next)) {
            execute(cell, next);
            next += SHMEMX_DEVICE_STEP;
            cell = shmemx_device_cell_of(&shared.queue, next);
        }
        shared.next = next;
        shmemx_device_end_service(&shared.state);
    } while (!checks_once && shmemx_device_is_requested(cell, next));
    threads[current].history = history;
}

static void serve(void)
{
    for (uint64_t ticket = 0; ticket < PRODUCERS * REQUESTS * SHMEMX_DEVICE_STEP;
         ticket += SHMEMX_DEVICE_STEP) {
        shmemx_device_cell_t *cell = shmemx_device_cell_of(&shared.queue, ticket);

        while (!shmemx_device_is_requested(cell, ticket)) {
            (void)model_poll();
        }
        execute(cell, ticket);
    }
    threads[HOST].is_finished = 1;
    model_step();
}

static void run_thread(int index)
{
    if (index == HOST) {
        serve();
    } else {
        produce(index);
    }
}

/* ---- one run: the choices of a path ---- */

static void begin(void)
{
    memset(&shared, 0, sizeof shared);
    memset(threads, 0, sizeof threads);
    shared.view.state       = (uint64_t)(uintptr_t)&shared.state;
    shared.queue.progress   = (uint64_t)(uintptr_t)&shared.progress;
    shared.queue.cell_count = is_wave ? 1 : CELLS;
    for (uint64_t i = 0; i < CELLS; i++) {
        shared.cells[i].turn = i * SHMEMX_DEVICE_STEP;
    }
    wrong                     = NULL;
    threads[HOST].is_finished = serves_itself;
    shared.view.serve         = serves_itself ? (uint64_t)(uintptr_t)serve_itself : 0;
    for (int i = 0; i < THREADS - serves_itself; i++) {
        getcontext(&threads[i].context);
        threads[i].context.uc_stack.ss_sp   = stacks[i];
        threads[i].context.uc_stack.ss_size = STACK_MAX;
        threads[i].context.uc_link          = &scheduler;
        makecontext(&threads[i].context, (void (*)(void))run_thread, 1, i);
        current = i;
        swapcontext(&scheduler, &threads[i].context); /* to its first step */
    }
}

static int is_enabled(int choice)
{
    const struct thread *thread = &threads[choice % THREADS];

    if (choice >= FLUSH) {
        return thread->delayed != NULL;
    }
    if ((choice < PRODUCERS) && !threads[1 - choice].is_finished &&
        (thread->left > threads[1 - choice].left)) {
        return 0;
    }
    return !thread->is_finished && !(thread->waits && (*thread->seen_word == thread->seen));
}

static void take(int choice)
{
    current = choice % THREADS;
    if (choice >= FLUSH) {
        flush(&threads[current]);
        return;
    }
    threads[current].waits = 0;
    swapcontext(&scheduler, &threads[current].context);
}

static uint64_t state_of(void)
{
    uint64_t hash = 1;

    for (size_t i = 0; i < sizeof shared / sizeof(uint64_t); i++) {
        uint64_t word;

        memcpy(&word, (const char *)&shared + (i * sizeof word), sizeof word);
        hash = mix(hash, word);
    }
    for (int i = 0; i < THREADS; i++) {
        hash = mix(hash, threads[i].history + (uint64_t)threads[i].is_finished);
        hash = mix(hash, (threads[i].delayed != NULL) ? threads[i].delayed_value : 0);
        hash = mix(hash, (uint64_t)(uintptr_t)threads[i].delayed);
        hash = mix(hash, threads[i].waits ? threads[i].seen : 1);
        hash = mix(hash, threads[i].left);
    }
    return (hash == 0) ? 1 : hash;
}

static int is_over(void)
{
    return threads[0].is_finished && threads[1].is_finished && threads[HOST].is_finished;
}

/* All are executed, once, and those of a thread in its order. */
static void check_end(void)
{
    int next[PRODUCERS] = {0};

    expect(shared.executed_count == PRODUCERS * REQUESTS, "a request is lost");
    for (uint64_t i = 0; i < shared.executed_count; i++) {
        int producer = (int)(shared.executed[i] / 16) - 1;

        if ((producer < 0) || (producer >= PRODUCERS) ||
            (shared.executed[i] != value_of(producer, next[producer]++))) {
            expect(0, "a request is executed twice, out of order, or with other data");
            return;
        }
    }
}

/* ---- all paths ---- */

static uint64_t *states;
static size_t state_count;

static int is_new(uint64_t state)
{
    size_t at = (size_t)(state % STATE_MAX);

    while ((states[at] != 0) && (states[at] != state)) {
        at = (at + 1) % STATE_MAX;
    }
    if (states[at] == state) {
        return 0;
    }
    states[at] = state;
    state_count++;
    return 1;
}

static void replay(const int *path, int depth)
{
    begin();
    for (int i = 0; i < depth; i++) {
        take(path[i]);
    }
}

/* The threads stand where the path leads. Nonzero: something is wrong. */
static int explore(int *path, int depth)
{
    int any = 0;
    int is_here;

    if (is_over()) {
        check_end();
    }
    if (wrong != NULL) {
        return 1;
    }
    if (is_over() || !is_new(state_of())) {
        return 0;
    }
    if ((depth == DEPTH_MAX) || (state_count > STATE_MAX / 2)) {
        wrong = "it has no end";
        return 1;
    }
    is_here = 1;
    for (int choice = 0; choice < 2 * THREADS; choice++) {
        if (!is_here) {
            replay(path, depth);
            is_here = 1;
        }
        if (!is_enabled(choice)) {
            continue;
        }
        any         = 1;
        path[depth] = choice;
        take(choice);
        is_here = 0;
        if (explore(path, depth + 1)) {
            return 1;
        }
    }
    if (!any) {
        wrong = "threads wait for ever";
        return 1;
    }
    return 0;
}

/* Not 0: something is wrong, or not all orders were tried. */
static int check(void)
{
    static int path[DEPTH_MAX + 1];

    memset(states, 0, STATE_MAX * sizeof *states);
    state_count = 0;
    begin();
    if (explore(path, 0)) {
        printf("%s, after %zu states\n", wrong, state_count);
        return 1;
    }
    printf("%zu states\n", state_count);
    return (state_count < 300) ? 2 : 0;
}

/* "relaxed", "split", "once": with that fault; "wave": threads of one wave alone. 1: something is
 * wrong; 2: not all orders were tried. */
int main(int argc, char **argv)
{
    int result;

    relaxed     = (argc > 1) && (strcmp(argv[1], "relaxed") == 0);
    is_split    = (argc > 1) && (strcmp(argv[1], "split") == 0);
    checks_once = (argc > 1) && (strcmp(argv[1], "once") == 0);
    states      = calloc(STATE_MAX, sizeof *states);
    if (states == NULL) {
        return 1;
    }
    is_wave = (argc > 1) && (strcmp(argv[1], "wave") == 0);
    result  = check();
    if (!is_wave) {
        serves_itself = 1;
        result        = (result != 0) ? result : check();
        serves_itself = 0;
        is_wave       = 1;
        result        = (result != 0) ? result : check();
    }
    free(states);
    return result;
}
