/* SPDX-License-Identifier: BSD-3-Clause */
/* run.c: forms as peers. Each measurement is a job of its own; the forms take turns, and the next
 * round begins with the next form. */

#include "bench/hybrid/hybrid.h"
#include "cmd/common/cli.h"
#include <math.h>
#include <memspan/memspan.h>
#include <string.h>
#include <unistd.h>

enum { PE_COUNTS = 3 };

static const int pe_counts[PE_COUNTS] = {1, 2, 4};

static const char *const forms[HYBRID_FORM_COUNT] = {[HYBRID_EXTENDED] = "extended",
                                                     [HYBRID_STANDARD] = "standard",
                                                     [HYBRID_DEVICE]   = "device",
                                                     [HYBRID_MPI]      = "mpi"};

#define NOT_DEVICE (1u << HYBRID_DEVICE)
#define NOT_STAGED ((1u << HYBRID_STANDARD) | (1u << HYBRID_MPI))

/* The measured rows. Sizes are those of the apps (job.h). */
static const struct app {
    enum hybrid_row row;
    bool is_scaled;  /* for all counts of PEs; else for two */
    unsigned not_in; /* a bit for each form without the app */
    size_t strong;
    size_t weak;
    size_t quick;
} apps[] = {
    {HYBRID_PUT, false, NOT_DEVICE, 4194304, 0, 1024},
    {HYBRID_ALLTOALL, false, NOT_DEVICE, 1048576, 0, 1024},
    {HYBRID_BROADCAST, false, NOT_DEVICE, 1048576, 0, 1024},
    {HYBRID_REDUCE, false, NOT_DEVICE, 1048576, 0, 1024},
    {HYBRID_RANDOM, true, 0, 4194304, 1048576, 500},
    {HYBRID_ATOMIC, true, NOT_STAGED, 4194304, 1048576, 500},
    {HYBRID_FFT, true, 0, 4096, 2048, 32},
    {HYBRID_MATRIX, true, NOT_DEVICE, 1024, 768, 32},
    {HYBRID_HEAT, true, 0, 192, 128, 12},
};

enum { APP_COUNT = sizeof(apps) / sizeof(apps[0]) };

/* ---- peers ---- */

bool hybrid_list(struct bench_run *run)
{
    static char origins[HYBRID_FORM_COUNT][512];

    for (size_t i = 0; i < HYBRID_FORM_COUNT; i++) {
        struct bench_peer *peer = &run->peers[i];

        (void)snprintf(peer->name, sizeof(peer->name), "%s", forms[i]);
        (void)snprintf(origins[i], sizeof(origins[i]), "hybrid-%s", forms[i]);
        peer->origin = origins[i];
        peer->role   = (i == HYBRID_MPI) ? BENCH_OTHER : BENCH_OURS;
    }
    run->peer_count = HYBRID_FORM_COUNT;
    run->placements &= (hybrid_hosts == NULL) ? 1u << HYBRID_ONE_HOST : ~0u;
    if (run->placements == 0) {
        cli_complain("--placement: two hosts need --hosts");
    }
    return run->placements != 0;
}

static bool run_shell(const struct bench_run *run, const char *words, struct bench_child *child_p)
{
    const struct bench_command command = {.path        = "/bin/sh",
                                          .arguments   = {"-c", words},
                                          .is_launcher = true,
                                          .timeout_s   = run->timeout_s};

    return bench_child_run(&command, child_p);
}

static void find_mpi(const struct bench_run *run, struct bench_peer *peer)
{
    struct bench_child child;

    peer->present = peer->present && run_shell(run, "mpirun --version", &child);
    if (peer->present) {
        (void)snprintf(peer->version, sizeof(peer->version), "%.*s",
                       (int)strcspn(child.output, "\n"), child.output);
    }
}

void hybrid_find(struct bench_run *run)
{
    for (size_t i = 0; i < HYBRID_FORM_COUNT; i++) {
        struct bench_peer *peer = &run->peers[i];

        (void)snprintf(peer->library, sizeof(peer->library), "%.200s/hybrid-%s", run->workers,
                       forms[i]);
        (void)snprintf(peer->version, sizeof(peer->version), "Memspan %s", memspan_version());
        (void)snprintf(peer->why, sizeof(peer->why), "it was not built");
        peer->present = access(peer->library, X_OK) == 0;
    }
    find_mpi(run, &run->peers[HYBRID_MPI]);
}

void hybrid_print_peers(const struct bench_run *run)
{
    for (size_t i = 0; i < HYBRID_FORM_COUNT; i++) {
        if (run->peers[i].present) {
            fprintf(run->output.text, "# form     %-8s %s\n", forms[i], run->peers[i].version);
        }
    }
    if (hybrid_hosts != NULL) {
        fprintf(run->output.text, "# hosts    %s\n", hybrid_hosts);
    }
}

/* ---- measurements ---- */

/* One thread for each PE's device: PEs are what is scaled. */
static void run_job(struct bench_run *run, enum hybrid_placement placement, size_t form,
                    const struct app *app, bool weak, int pes)
{
    static const char mpirun[] = "mpirun --allow-run-as-root --oversubscribe --bind-to none";
    const char *name           = run->suite->rows[app->row].name;
    char *failure              = run->failures[placement][app->row][form];
    char launcher[320];
    char words[4096];
    struct bench_child child;

    (void)snprintf(launcher, sizeof(launcher), (form == HYBRID_MPI) ? "%s" : "'%s/oshrun'",
                   (form == HYBRID_MPI) ? mpirun : run->tools);
    (void)snprintf(words, sizeof(words),
                   "exec %s -n %d env OMP_NUM_THREADS=1 SHMEM_SYMMETRIC_SIZE=2G%s '%s' %s %zu %s",
                   (placement == HYBRID_TWO_HOSTS) ? hybrid_hosts : launcher, pes,
                   ((form == HYBRID_EXTENDED) || (form == HYBRID_DEVICE))
                       ? " SHMEM_SYMMETRIC_PARTITION2=2G:KIND=LIBOMP"
                       : "",
                   run->peers[form].library, name,
                   run->quick ? app->quick
                   : weak     ? app->weak
                              : app->strong,
                   weak ? "weak" : "strong");
    if (run_shell(run, words, &child)) {
        bench_run_add_output(run, placement, form, child.output);
    } else {
        (void)snprintf(failure, sizeof(run->failures[0][0][0]), "%d PEs: %.200s", pes,
                       child.failure);
    }
}

/* All forms, in turn. */
static void run_forms(struct bench_run *run, size_t round, enum hybrid_placement placement,
                      const struct app *app, bool weak, int pes)
{
    for (size_t i = 0; i < HYBRID_FORM_COUNT; i++) {
        size_t form = (round + i) % HYBRID_FORM_COUNT;

        if (!bench_run_uses(run, form) || (run->failures[placement][app->row][form][0] != '\0') ||
            ((app->not_in & (1u << form)) != 0)) {
            continue;
        }
        if (isatty(STDERR_FILENO) != 0) {
            fprintf(stderr, "\rround %zu of %zu%s: %s, %d PEs, %s \033[K", round + 1, run->rounds,
                    run->suite->placements[placement].note, run->suite->rows[app->row].name, pes,
                    forms[form]);
        }
        run_job(run, placement, form, app, weak, pes);
    }
}

static void measure_app(struct bench_run *run, size_t round, enum hybrid_placement placement,
                        const struct app *app)
{
    size_t first = (placement == HYBRID_TWO_HOSTS) ? 1 : 0;

    if (!bench_run_has(run, app->row, placement)) {
        return;
    }
    if (!app->is_scaled) {
        run_forms(run, round, placement, app, false, 2);
        return;
    }
    for (size_t i = 2 * first; i < 2 * PE_COUNTS; i++) {
        run_forms(run, round, placement, app, i % 2 == 1, pe_counts[i / 2]);
    }
}

/* ---- what follows from measurements ---- */

static size_t find_point(const struct bench_run *run, const char *prefix, const char *app, int pes)
{
    char name[64];

    (void)snprintf(name, sizeof(name), "%s-%s-%d", prefix, app, pes);
    return bench_point(run->suite, name);
}

static void add_rates(struct bench_run *run, enum hybrid_placement placement, size_t form, int pes)
{
    size_t from = find_point(run, "random", "weak", pes);

    bench_run_add(run, placement, find_point(run, "rate", "weak", pes), form,
                  1 / bench_run_value(run, placement, from, form),
                  1 / bench_run_median(run, placement, from, form));
}

/* Against one PE of the form that is the fastest there. */
static void add_efficiency(struct bench_run *run, enum hybrid_placement placement, size_t form,
                           const char *app, int pes)
{
    size_t one   = find_point(run, app, "strong", 1);
    size_t point = find_point(run, app, "strong", pes);
    size_t fastest;
    double best = bench_run_best(run, HYBRID_ONE_HOST, one, ~0u, &fastest);

    if (!isnan(best)) {
        bench_run_add(run, placement, find_point(run, "efficiency", app, pes), form,
                      best / pes / bench_run_value(run, placement, point, form),
                      bench_run_median(run, HYBRID_ONE_HOST, one, fastest) / pes /
                          bench_run_median(run, placement, point, form));
    }
}

static void add_derived(struct bench_run *run, enum hybrid_placement placement)
{
    static const char *const scaled[] = {"fft", "matrix", "heat"};

    for (size_t i = 0; i < HYBRID_FORM_COUNT * PE_COUNTS; i++) {
        size_t form = i / PE_COUNTS;
        int pes     = pe_counts[i % PE_COUNTS];

        add_rates(run, placement, form, pes);
        for (size_t a = 0; a < sizeof(scaled) / sizeof(scaled[0]); a++) {
            add_efficiency(run, placement, form, scaled[a], pes);
        }
    }
}

/* The build has counted them. */
static void add_lines(struct bench_run *run)
{
    struct bench_child child;
    char words[512];

    for (size_t i = 0; i < HYBRID_FORM_COUNT; i++) {
        (void)snprintf(words, sizeof(words), "exec cat '%s.lines'", run->peers[i].library);
        if (bench_run_has(run, HYBRID_LINES, HYBRID_ONE_HOST) && bench_run_uses(run, i) &&
            run_shell(run, words, &child)) {
            bench_run_add_output(run, HYBRID_ONE_HOST, i, child.output);
        }
    }
}

/* A row that is computed needs those from which it is: with none of them chosen, all. */
static void add_sources(struct bench_run *run)
{
    const unsigned scaled = (1u << HYBRID_FFT) | (1u << HYBRID_MATRIX) | (1u << HYBRID_HEAT);

    if ((run->rows & (1u << HYBRID_RATE)) != 0) {
        run->rows |= 1u << HYBRID_RANDOM;
    }
    if (((run->rows & (1u << HYBRID_EFFICIENCY)) != 0) && ((run->rows & scaled) == 0)) {
        run->rows |= scaled;
    }
}

void hybrid_measure(struct bench_run *run)
{
    add_sources(run);
    for (size_t i = 0; i < run->rounds * APP_COUNT; i++) {
        for (size_t p = 0; p < run->suite->placement_count; p++) {
            measure_app(run, i / APP_COUNT, (enum hybrid_placement)p, &apps[i % APP_COUNT]);
        }
    }
    if (isatty(STDERR_FILENO) != 0) {
        fprintf(stderr, "\r\033[K");
    }
    add_derived(run, HYBRID_ONE_HOST);
    add_derived(run, HYBRID_TWO_HOSTS);
    add_lines(run);
    for (unsigned placement = 0; placement < run->suite->placement_count; placement++) {
        for (size_t row = 0; row < HYBRID_ROW_COUNT; row++) {
            if (bench_run_has(run, row, placement)) {
                bench_run_print_row(run, row, placement);
            }
        }
    }
}
