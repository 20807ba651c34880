/* SPDX-License-Identifier: BSD-3-Clause */
/* explore.c: all executions of a scenario, up to a bound of preemptions.
 *
 *   PROGRAM [SCENARIO] [--preemptions N] [--executions N] [--replay STEP:CHOICE,...] [--list]
 *           [--weaken]
 *
 * Each execution is a child process, which begins with the state that the scenario has set up. It
 * tells its steps; from these follow the decisions worth trying: where two steps of different
 * threads depend on each other and nothing orders them, the other thread goes first (dynamic
 * partial-order reduction, Flanagan and Godefroid, POPL 2005; with a bound of preemptions also at
 * the beginning of the run of steps, Coons, Musuvathi and McKinley, OOPSLA 2013). */

#include "schedule.h"
#include "weaken.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CHANCE = 4,  /* a quarter of the executions are by chance */
    HANG_S = 60, /* an execution takes milliseconds */
};

/* A decision of the current path. */
struct node {
    struct step step;
    uint8_t todo; /* choices, a bit each */
    uint8_t done;
    uint8_t preemptions; /* before it */
    uint8_t before;      /* the thread of the step before it */
    uint32_t clock[THREADS_MAX];
    uint32_t own;
};

static const struct scenario *scenarios;
static struct node *nodes;
static unsigned node_count;
static unsigned preemptions_max = 2;

static struct {
    unsigned long executions;
    unsigned preemptions; /* 0: the scenario's */
    const char *schedule; /* to replay; NULL: none */
    const char *name;     /* of the one scenario; NULL: all */
    bool lists;
    bool weakens; /* each order in turn, without reports of executions */
} options = {.executions = 20000};

static bool depend(const struct step *a, const struct step *b)
{
    return (a->chosen != b->chosen) && (a->access != ACCESS_NONE) && (b->access != ACCESS_NONE) &&
           ((a->object == b->object) || (a->object == OBJECT_ALL) || (b->object == OBJECT_ALL)) &&
           ((a->access == ACCESS_WRITE) || (b->access == ACCESS_WRITE));
}

static bool preempts(const struct node *node, unsigned thread)
{
    return (thread != node->before) && (((node->step.options >> node->before) & 1) != 0);
}

static void add_todo(struct node *node, unsigned mask)
{
    unsigned thread;

    mask &= node->step.options & ~(unsigned)node->done;
    for (thread = 1; thread < THREADS_MAX; thread++) {
        if (((mask >> thread) & 1) &&
            (node->preemptions + (preempts(node, thread) ? 1u : 0u) <= preemptions_max)) {
            node->todo |= (uint8_t)(1u << thread);
        }
    }
}

static void try_first(struct node *node, unsigned thread)
{
    unsigned mask = 1u << thread;

    add_todo(node, ((node->step.options & mask) != 0) ? mask : node->step.options);
}

/* The thread of @p i could have gone before step @p j. */
static void turn_round(unsigned j, unsigned thread)
{
    unsigned start = j;

    try_first(&nodes[j], thread);
    while ((start > 0) &&
           (nodes[start].step.is_choice || (nodes[start].before == nodes[start].step.chosen))) {
        start--;
    }
    if (!nodes[start].step.is_choice) {
        try_first(&nodes[start], thread);
    }
}

/* Clocks of the steps: what each follows by its thread and by what it depends on. */
static void order_steps(void)
{
    uint32_t known[THREADS_MAX][THREADS_MAX] = {{0}};
    uint32_t counts[THREADS_MAX]             = {0};
    unsigned i, k;

    for (i = 0; i < node_count; i++) {
        struct node *node = &nodes[i];
        unsigned thread   = node->step.chosen;
        bool is_found     = false;
        unsigned j;

        if (node->step.is_choice) {
            continue;
        }
        memcpy(node->clock, known[thread], sizeof node->clock);
        for (j = i; j-- > 0;) {
            const struct node *other = &nodes[j];

            if (other->step.is_choice || !depend(&other->step, &node->step)) {
                continue;
            }
            if (!is_found && (known[thread][other->step.chosen] < other->own)) {
                turn_round(j, thread);
                is_found = true;
            }
            for (k = 0; k < THREADS_MAX; k++) {
                if (other->clock[k] > node->clock[k]) {
                    node->clock[k] = other->clock[k];
                }
            }
        }
        node->own           = ++counts[thread];
        node->clock[thread] = node->own;
        memcpy(known[thread], node->clock, sizeof node->clock);
    }
}

/* The steps of the last execution follow the path that was prescribed. */
static void take_steps(void)
{
    unsigned first = node_count;
    unsigned i;

    node_count = execution->count;
    for (i = (first == 0) ? 0 : first - 1; i < node_count; i++) {
        struct node *node = &nodes[i];
        uint8_t before    = 0;
        uint8_t preempted = 0;
        unsigned last     = i;

        while ((last > 0) && nodes[last - 1].step.is_choice) {
            last--;
        }
        if (last > 0) {
            const struct node *previous = &nodes[last - 1];

            before    = previous->step.chosen;
            preempted = (uint8_t)(previous->preemptions +
                                  (preempts(previous, previous->step.chosen) ? 1 : 0));
        }
        if (i >= first) {
            node->done = node->todo = 0;
        }
        node->step        = execution->steps[i];
        node->before      = before;
        node->preemptions = preempted;
        node->done |= (uint8_t)(1u << node->step.chosen);
        if (node->step.is_choice && (i >= first)) {
            node->todo = (uint8_t)((1u << node->step.options) - 1);
        }
        node->todo &= (uint8_t)~node->done;
    }
    order_steps();
}

/* The deepest decision that has another choice; false: none. */
static bool choose_next(void)
{
    while (node_count > 0) {
        struct node *node = &nodes[node_count - 1];

        node->todo &= (uint8_t)~node->done;
        if (node->todo != 0) {
            unsigned i;

            node->step.chosen = (uint8_t)__builtin_ctz(node->todo);
            for (i = 0; i < node_count; i++) {
                execution->decisions[i] = nodes[i].step.chosen;
            }
            execution->told = node_count;
            return true;
        }
        node_count--;
    }
    return false;
}

/* One execution; false: it has failed. */
static bool execute(const struct scenario *scenario)
{
    int status;
    pid_t child;

    execution->count      = 0;
    execution->has_failed = false;
    fflush(stdout);
    child = _Fork(); /* no handlers: it stands for the process itself */
    if (child == 0) {
        alarm(HANG_S);
        schedule_run(scenario);
    }
    if ((child < 0) || (waitpid(child, &status, 0) != child)) {
        perror("fork");
        exit(2);
    }
    if (WIFSIGNALED(status)) {
        snprintf(execution->message, sizeof execution->message, "the execution ended by signal %d",
                 WTERMSIG(status));
        execution->has_failed = true;
    } else if (!execution->has_failed && (WEXITSTATUS(status) != 0)) {
        snprintf(execution->message, sizeof execution->message,
                 "the product ended the process with status %d", WEXITSTATUS(status));
        execution->has_failed = true;
    }
    return !execution->has_failed;
}

static void print_schedule(void)
{
    const char *comma = "";
    unsigned i;

    for (i = 0; i < execution->count; i++) {
        const struct step *step = &execution->steps[i];

        if (step->chosen != step->standard) {
            printf("%s%u:%u", comma, i, step->chosen);
            comma = ",";
        }
    }
    printf("%s\n", (*comma == '\0') ? "-" : "");
}

static bool explore(const struct scenario *scenario, unsigned long executions_max)
{
    unsigned long count = 0;
    unsigned long steps = 0;
    bool is_right       = true;
    bool is_found;
    bool has_next = false;

    preemptions_max = (preemptions_max == 0) ? 2 : preemptions_max;
    node_count      = 0;
    execution->told = 0;
    /* By chance first: a path in order changes its end before its beginning. */
    execution->preemptions_max = preemptions_max;
    while (is_right && (count < executions_max / CHANCE)) {
        execution->random = ++count;
        is_right          = execute(scenario);
        steps += execution->count;
    }
    execution->random = 0;
    while (is_right) {
        is_right = execute(scenario);
        count++;
        steps += execution->count;
        if (is_right) {
            take_steps();
            has_next = choose_next();
        }
        if (!has_next || (count >= executions_max)) {
            break;
        }
    }
    if (options.weakens) {
        return is_right;
    }
    is_found = !is_right && (scenario->fault != NULL) &&
               (strstr(execution->message, scenario->fault) != NULL);
    printf("%-28s %8lu executions  %9lu steps  %u preemptions  %s\n", scenario->name, count, steps,
           preemptions_max,
           is_found    ? "found"
           : !is_right ? "FAILED"
           : has_next  ? "not all"
                       : "all");
    if (is_found) {
        return true;
    }
    if (is_right && (scenario->fault != NULL)) {
        printf("  not found: %s\n", scenario->fault);
        return false;
    }
    if (!is_right) {
        printf("  %s\n  invariant: %s\n  --replay ", execution->message, scenario->invariant);
        print_schedule();
    }
    return is_right;
}

static void read_schedule(const char *text)
{
    memset(execution->decisions, 0xff, sizeof execution->decisions);
    execution->told = STEPS_MAX;
    while ((*text >= '0') && (*text <= '9')) {
        char *end;
        unsigned long step   = strtoul(text, &end, 10);
        unsigned long choice = (*end == ':') ? strtoul(end + 1, &end, 10) : 0;

        if (step < STEPS_MAX) {
            execution->decisions[step] = (uint8_t)choice;
        }
        text = (*end == ',') ? end + 1 : end;
    }
}

static bool replay(const struct scenario *scenario, const char *schedule)
{
    bool is_right;

    read_schedule(schedule);
    execution->is_verbose = true;
    is_right              = execute(scenario);
    printf("%s: %s\n", scenario->name, is_right ? "right" : execution->message);
    return is_right;
}

/* In a process of its own: one setup knows nothing of another. */
static bool run_apart(unsigned number, const struct scenario *scenario)
{
    pid_t child = fork();
    int status  = 0;

    if (child == 0) {
        bool is_right;

        preemptions_max = (options.preemptions != 0) ? options.preemptions : scenario->preemptions;
        scenario_set_up(number);
        is_right = (options.schedule != NULL) ? replay(scenario, options.schedule)
                                              : explore(scenario, options.executions);
        fflush(stdout);
        _exit(is_right ? 0 : 1);
    }
    if ((child < 0) || (waitpid(child, &status, 0) != child)) {
        perror("fork");
        exit(2);
    }
    if (WIFSIGNALED(status)) {
        printf("%-28s its setup ended by signal %d\n", scenario->name, WTERMSIG(status));
    }
    return WIFEXITED(status) && (WEXITSTATUS(status) == 0);
}

static void read_options(int argc, char **argv)
{
    int a;

    for (a = 1; a < argc; a++) {
        const char *value = (a + 1 < argc) ? argv[a + 1] : "";

        if (strcmp(argv[a], "--list") == 0) {
            options.lists = true;
            continue;
        }
        if (strcmp(argv[a], "--weaken") == 0) {
            options.weakens = true;
            continue;
        }
        if (strcmp(argv[a], "--preemptions") == 0) {
            options.preemptions = (unsigned)strtoul(value, NULL, 10);
        } else if (strcmp(argv[a], "--executions") == 0) {
            options.executions = strtoul(value, NULL, 10);
        } else if (strcmp(argv[a], "--replay") == 0) {
            options.schedule = value;
        } else {
            options.name = argv[a];
            continue;
        }
        a++;
    }
}

/* The message has the scenario's name then. */
static bool explore_weakened(unsigned number)
{
    const struct scenario *scenario = &scenarios[number];
    char message[sizeof execution->message];
    bool is_right;

    if ((options.name != NULL) && (strcmp(options.name, scenario->name) != 0)) {
        return true;
    }
    execution->message[0] = '\0';
    is_right              = run_apart(number, scenario);
    snprintf(message, sizeof message, "%.60s: %.900s", scenario->name, execution->message);
    memcpy(execution->message, message, sizeof message);
    return is_right;
}

int main(int argc, char **argv)
{
    bool is_right = true;
    bool is_found = false;
    unsigned count;
    unsigned i;

    scenarios = scenario_table(&count);
    execution =
        mmap(NULL, sizeof *execution, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    nodes = calloc(STEPS_MAX, sizeof *nodes);
    if ((execution == MAP_FAILED) || (nodes == NULL)) {
        perror("no memory");
        return 2;
    }
    weaken_open();
    read_options(argc, argv);
    if (options.weakens) {
        weaken_all(count, explore_weakened);
        return 0;
    }
    for (i = 0; i < count; i++) {
        if ((options.name != NULL) && (strcmp(options.name, scenarios[i].name) != 0)) {
            continue;
        }
        is_found = true;
        if (options.lists) {
            printf("%-28s %s\n", scenarios[i].name, scenarios[i].invariant);
        } else {
            is_right = run_apart(i, &scenarios[i]) && is_right;
        }
    }
    if (!is_found) {
        fprintf(stderr, "there is no scenario %s\n", options.name);
        return 2;
    }
    return is_right ? 0 : 1;
}
