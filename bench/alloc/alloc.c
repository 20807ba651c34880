/* SPDX-License-Identifier: BSD-3-Clause */
/* memspan-bench alloc: the command line, and a run from head to files. */

#include "bench/alloc/alloc.h"
#include "bench/common/file.h"
#include <stdint.h>
#include <string.h>

enum { OPTION_COUNT = 12 };

static void make_options(struct alloc_plan *plan, struct bench_option options[OPTION_COUNT])
{
    const struct bench_option made[OPTION_COUNT] = {
        {"rounds", BENCH_OPTION_COUNT, &plan->rounds, "COUNT",
         "interleaved rounds, of which the median is reported (5)", 1, BENCH_ROUNDS_MAX, false},
        {"rows", BENCH_OPTION_CHOICE, &plan->rows, "ROW[,...]", "what to measure (all)", 0, 0,
         false},
        {"peers", BENCH_OPTION_TEXT, &plan->peer_words, "NAME[,...]",
         "whom to measure (all but memspan-api); a name stands for its -custom too", 0, 0, false},
        {"also", BENCH_OPTION_TEXT, &plan->also, "NAME=LIBRARY[,...]",
         "more peers: libraries of malloc, or other versions of ours, libgomp, libomp", 0, 0,
         false},
        {"aims", BENCH_OPTION_SET, &plan->aims, NULL, "end with what is aimed at, met or not", 0, 0,
         false},
        {"quick", BENCH_OPTION_SET, &plan->quick, NULL,
         "few operations: whether it works, not what it costs", 0, 0, false},
        {"timeout", BENCH_OPTION_COUNT, &plan->timeout_s, "SECONDS",
         "end a measurement that takes longer (60)", 1, 86400, false},
        {"csv", BENCH_OPTION_TEXT, &plan->csv, "FILE",
         "write a line a point and peer as CSV ('-': standard output)", 0, 0, false},
        {"json", BENCH_OPTION_TEXT, &plan->json, "FILE", "write the same as JSON", 0, 0, false},
        {"svg", BENCH_OPTION_TEXT, &plan->svg, "FILE", "draw the medians", 0, 0, false},
        {"workers", BENCH_OPTION_TEXT, &plan->workers, "FOLDER", NULL, 0, 0, false},
        {"help", BENCH_OPTION_SET, &plan->help, NULL, "show this", 0, 0, false}};

    memcpy(options, made, sizeof(made));
}

/* --peers, read when --also has said what names there are. */
static bool choose_peers(struct alloc_plan *plan, const struct alloc_peers *peers)
{
    struct bench_option option = {
        .name = "peers", .form = BENCH_OPTION_CHOICE, .value = &plan->peers};
    const char *arguments[] = {"--peers", plan->peer_words};

    plan->peers = (struct bench_choice){peers->names, peers->count, 0};
    if (plan->peer_words == NULL) {
        for (size_t i = 0; i < peers->count; i++) {
            plan->peers.mask |= (strcmp(peers->names[i], "memspan-api") == 0) ? 0 : 1u << i;
        }
        return true;
    }
    if (!bench_options_parse(&option, 1, 2, (char *const *)(uintptr_t)arguments)) {
        return false;
    }
    for (size_t i = 0; i + 1 < peers->count; i++) {
        /* NAME-custom follows NAME */
        if (alloc_chosen(&plan->peers, i) && peers->list[i + 1].custom) {
            plan->peers.mask |= 1u << (i + 1);
        }
    }
    return true;
}

/* Where the files may go, before a long run. */
static bool check_files(struct alloc_run *run)
{
    const char *paths[] = {run->plan->csv, run->plan->json, run->plan->svg};
    size_t taken        = 0;

    for (size_t i = 0; i < 3; i++) {
        if ((paths[i] != NULL) && !bench_file_may_write(paths[i])) {
            return false;
        }
        taken += ((paths[i] != NULL) && bench_file_is_output(paths[i])) ? 1 : 0;
    }
    if (taken > 1) {
        fprintf(stderr, "only one of --csv, --json and --svg can be '-'\n");
        return false;
    }
    run->text = (taken == 0) ? stdout : stderr;
    return true;
}

static bool ours_failed(const struct alloc_run *run)
{
    for (size_t r = 0; r < ALLOC_ROW_COUNT; r++) {
        for (size_t p = 0; p < run->peers.count; p++) {
            if ((strncmp(run->peers.list[p].name, "memspan", 7) == 0) &&
                (run->failures[r][p][0] != '\0')) {
                return true;
            }
        }
    }
    return alloc_chosen(&run->plan->peers, ALLOC_MEMSPAN) &&
           !run->peers.list[ALLOC_MEMSPAN].present;
}

static int run_plan(struct alloc_run *run)
{
    bool good;

    if (!check_files(run)) {
        return 2;
    }
    alloc_peers_look(&run->peers, run->plan->peers.mask, run->plan->timeout_s);
    bench_machine_describe(&run->machine);
    alloc_print_head(run);
    for (int r = 0; r < ALLOC_ROW_COUNT; r++) {
        if (alloc_chosen(&run->plan->rows, (size_t)r)) {
            alloc_measure_row(run, (enum alloc_row)r);
            alloc_print_row(run, (enum alloc_row)r);
        }
    }
    if (run->plan->aims) {
        alloc_print_aims(run);
    }
    alloc_print_notes(run);
    good = alloc_write_files(run);
    return (good && !ours_failed(run)) ? 0 : 1;
}

static void print_help(const struct bench_option *options)
{
    printf("memspan-bench alloc [options]: what allocation costs, beside other allocators\n\n"
           "Options:\n");
    bench_options_print(stdout, options, OPTION_COUNT);
    printf("\nRows:\n");
    for (size_t i = 0; i < ALLOC_ROW_COUNT; i++) {
        printf("  %-18s %s\n", alloc_rows[i].name, alloc_rows[i].help);
    }
    printf("\nExit code: 0 measured, 1 a measurement of ours failed or a file was not written, 2 "
           "wrong "
           "arguments.\n");
}

int alloc_main(int argument_count, char *const *arguments)
{
    static struct alloc_run run; /* too large for a stack */
    static struct alloc_plan plan;
    struct bench_option options[OPTION_COUNT];

    plan =
        (struct alloc_plan){.rounds    = 5,
                            .timeout_s = 60,
                            .rows = {alloc_row_names, ALLOC_ROW_COUNT, (1u << ALLOC_ROW_COUNT) - 1},
                            .command = "memspan-bench alloc"};
    run.plan = &plan;
    make_options(&plan, options);
    for (int i = 0; i < argument_count; i++) {
        size_t used = strlen(plan.command);
        (void)snprintf(plan.command + used, sizeof(plan.command) - used, " %s", arguments[i]);
    }
    if (!bench_options_parse(options, OPTION_COUNT, argument_count, arguments)) {
        return 2;
    }
    if (plan.help) {
        print_help(options);
        return 0;
    }
    if (!alloc_peers_list(&run.peers, plan.also, plan.workers) ||
        !choose_peers(&plan, &run.peers)) {
        return 2;
    }
    return run_plan(&run);
}
