/* SPDX-License-Identifier: BSD-3-Clause */
/* memspan-bench rma: the command line, and a run from head to files. */

#include "bench/rma/rma.h"
#include "bench/common/file.h"
#include <stdint.h>
#include <string.h>

enum { OPTION_COUNT = 13 };

static void make_options(struct rma_plan *plan, struct bench_option options[OPTION_COUNT])
{
    const struct bench_option made[OPTION_COUNT] = {
        {"rounds", BENCH_OPTION_COUNT, &plan->rounds, "COUNT",
         "interleaved rounds, of which best and median are reported (5)", 1, BENCH_ROUNDS_MAX,
         false},
        {"rows", BENCH_OPTION_CHOICE, &plan->rows, "ROW[,...]", "what to measure (all)", 0, 0,
         false},
        {"placement", BENCH_OPTION_CHOICE, &plan->placements, "apart,together",
         "each PE on a processor, all PEs on one (both)", 0, 0, false},
        {"peers", BENCH_OPTION_TEXT, &plan->peer_words, "NAME[,...]", "whom to measure (all)", 0, 0,
         false},
        {"peer", BENCH_OPTION_TEXTS, &plan->more, "NAME=COMPILER,LAUNCHER",
         "one more peer, or another memspan or ompi; may be given again", 0, 0, false},
        {"aims", BENCH_OPTION_SET, &plan->aims, NULL, "end with what is aimed at, met or not", 0, 0,
         false},
        {"quick", BENCH_OPTION_SET, &plan->quick, NULL,
         "few operations: whether it works, not what it costs", 0, 0, false},
        {"timeout", BENCH_OPTION_COUNT, &plan->timeout_s, "SECONDS",
         "end a peer's program that takes longer (60)", 1, 86400, false},
        {"csv", BENCH_OPTION_TEXT, &plan->csv, "FILE",
         "write a line a point, placement and peer as CSV ('-': standard output)", 0, 0, false},
        {"json", BENCH_OPTION_TEXT, &plan->json, "FILE", "write the same as JSON", 0, 0, false},
        {"svg", BENCH_OPTION_TEXT, &plan->svg, "FILE", "draw the best", 0, 0, false},
        {"workers", BENCH_OPTION_TEXT, &plan->workers, "FOLDER", NULL, 0, 0, false},
        {"help", BENCH_OPTION_SET, &plan->help, NULL, "show this", 0, 0, false}};

    memcpy(options, made, sizeof(made));
}

/* --peers, read when --peer has said what names there are. */
static bool choose_peers(struct rma_plan *plan, const struct rma_peers *peers)
{
    struct bench_option option = {
        .name = "peers", .form = BENCH_OPTION_CHOICE, .value = &plan->peers};
    const char *arguments[] = {"--peers", plan->peer_words};

    plan->peers = (struct bench_choice){peers->names, peers->count, (1u << peers->count) - 1};
    return (plan->peer_words == NULL) ||
           bench_options_parse(&option, 1, 2, (char *const *)(uintptr_t)arguments);
}

/* Where the files may go, before a long run. */
static bool check_files(struct rma_run *run)
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

static bool ours_failed(const struct rma_run *run)
{
    for (size_t i = 0; i < RMA_PLACE_COUNT * (size_t)RMA_ROW_COUNT; i++) {
        if (run->failures[i % RMA_PLACE_COUNT][i / RMA_PLACE_COUNT][RMA_MEMSPAN][0] != '\0') {
            return true;
        }
    }
    return rma_chosen(&run->plan->peers, RMA_MEMSPAN) && !run->peers.list[RMA_MEMSPAN].present;
}

static int run_plan(struct rma_run *run)
{
    bool good;

    if (!check_files(run)) {
        return 2;
    }
    rma_peers_build(&run->peers, run->plan->peers.mask, run->plan->timeout_s);
    bench_machine_describe(&run->machine);
    rma_print_head(run);
    rma_measure(run);
    rma_peers_release(&run->peers);
    for (int i = 0; i < RMA_PLACE_COUNT * RMA_ROW_COUNT; i++) {
        enum rma_row row             = (enum rma_row)(i % RMA_ROW_COUNT);
        enum rma_placement placement = (enum rma_placement)(i / RMA_ROW_COUNT);
        if (rma_is_measured(run, row, placement)) {
            rma_print_row(run, row, placement);
        }
    }
    if (run->plan->aims) {
        rma_print_aims(run);
    }
    rma_print_notes(run);
    good = rma_write_files(run);
    return (good && !ours_failed(run)) ? 0 : 1;
}

static void print_help(const struct bench_option *options)
{
    printf("memspan-bench rma [options]: what one-sided communication costs, beside the OpenSHMEM "
           "libraries here\n\nOptions:\n");
    bench_options_print(stdout, options, OPTION_COUNT);
    printf("\nRows:\n");
    for (size_t i = 0; i < RMA_ROW_COUNT; i++) {
        printf("  %-18s %s\n", rma_rows[i].name, rma_rows[i].help);
    }
    printf("\nExit code: 0 measured, 1 a measurement of ours failed or a file was not written, 2 "
           "wrong "
           "arguments.\n");
}

int rma_main(int argument_count, char *const *arguments)
{
    static struct rma_run run; /* too large for a stack */
    static struct rma_plan plan;
    struct bench_option options[OPTION_COUNT];

    plan = (struct rma_plan){
        .rounds     = 5,
        .timeout_s  = 60,
        .rows       = {rma_row_names, RMA_ROW_COUNT, (1u << RMA_ROW_COUNT) - 1},
        .placements = {rma_placement_names, RMA_PLACE_COUNT, (1u << RMA_PLACE_COUNT) - 1},
        .command    = "memspan-bench rma"};
    run.plan = &plan;
    make_options(&plan, options);
    for (int i = 0; i < argument_count; i++) {
        size_t used       = strlen(plan.command);
        const char *quote = (strpbrk(arguments[i], " *$") != NULL) ? "'" : "";
        (void)snprintf(plan.command + used, sizeof(plan.command) - used, " %s%s%s", quote,
                       arguments[i], quote);
    }
    if (!bench_options_parse(options, OPTION_COUNT, argument_count, arguments)) {
        return 2;
    }
    if (plan.help) {
        print_help(options);
        return 0;
    }
    if (!rma_peers_list(&run.peers, &plan.more, plan.workers) || !choose_peers(&plan, &run.peers)) {
        return 2;
    }
    return run_plan(&run);
}
