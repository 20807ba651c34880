/* SPDX-License-Identifier: BSD-3-Clause */
/* worker [quick] ROW...: measures rows, PE 0 writes their points. "describe" reports the library,
 * "hello" starts and ends.
 *
 * Each PE binds itself to one of the processors that it may use at start, in turn: PEs started on
 * one processor stay there. */

#include "worker.h"
#include "batch.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char worker_static[WORKER_ROOM] __attribute__((aligned(4096)));

/* In the executable's data: an allocation may be what is measured. */
static long next_operations;
static int votes_in;
static int votes_out;
static int vote_work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long vote_sync[SHMEM_REDUCE_SYNC_SIZE];

static const struct {
    const char *name;
    worker_row_fn run;
} rows[] = {{"memory", worker_memory},
            {"put", worker_put},
            {"get", worker_get},
            {"scalar", worker_scalar},
            {"nbi", worker_nbi},
            {"atomic", worker_atomic},
            {"barrier", worker_barrier},
            {"collective", worker_collective},
            {"sum", worker_sum},
            {"malloc", worker_malloc},
            {"visible", worker_visible},
            {"put-sizes", worker_put_sizes},
            {"get-sizes", worker_get_sizes},
            {"stream", worker_stream},
            {"rate", worker_rate},
            {"get-rate", worker_get_rate},
            {"ping-pong", worker_ping_pong}};

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

bool worker_complain(const struct worker *worker, const char *point, const char *what)
{
    fprintf(stderr, "PE %d: %s: %s\n", worker->pe, point, what);
    return false;
}

bool worker_agree(const struct worker *worker, bool good)
{
    votes_in = good ? 0 : 1;
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) {
        vote_sync[i] = SHMEM_SYNC_VALUE;
    }
    shmem_barrier_all();
    shmem_int_sum_to_all(&votes_out, &votes_in, 1, 0, 0, worker->pe_count, vote_work, vote_sync);
    shmem_barrier_all();
    return votes_out == 0;
}

static double convert(const struct worker_job *job, double per_operation_ns)
{
    double messages = (job->messages == 0) ? 1 : (double)job->messages;

    switch (job->unit) {
    case WORKER_RATE:
        return 1e3 * messages / per_operation_ns;
    case WORKER_BANDWIDTH:
        return messages * (double)job->size_bytes / per_operation_ns * 1e9 / (1 << 30);
    case WORKER_MEGABYTES:
        return messages * (double)job->size_bytes / per_operation_ns * 1e3;
    case WORKER_US:
        return per_operation_ns / messages / 1e3;
    case WORKER_NS:
        break;
    }
    return per_operation_ns / messages;
}

void worker_measure(const struct worker *worker, const struct worker_job *job)
{
    struct batches batches = {.count = 0};
    long operations        = 1;

    while (operations > 0) {
        double took_ns;

        shmem_barrier_all();
        took_ns = batch_now_ns();
        if (job->all || (worker->pe == 0)) {
            job->run(worker, job, (size_t)operations);
        }
        took_ns = batch_now_ns() - took_ns;
        if (worker->pe == 0) {
            operations = (long)batches_next(&batches, (size_t)operations, took_ns, worker->quick);
            for (int pe = 0; pe < worker->pe_count; pe++) {
                shmem_long_p(&next_operations, operations, pe);
            }
        }
        shmem_barrier_all();
        operations = next_operations;
    }
    if (worker->pe == 0) {
        batch_print(job->point, convert(job, batches.per_operation_ns[0]),
                    convert(job, batches_median(&batches)));
    }
}

static void describe(void)
{
    char name[SHMEM_MAX_NAME_LEN + 1] = "";
    int major                         = 0;
    int minor                         = 0;
    Dl_info info                      = {.dli_fname = "?"};

    shmem_info_get_name(name);
    shmem_info_get_version(&major, &minor);
    (void)dladdr(dlsym(RTLD_DEFAULT, "shmem_barrier_all"), &info);
    printf("library %s\nname %s\nstandard %d.%d\ncompiler %s\n", info.dli_fname, name, major, minor,
           __VERSION__);
}

/* The reader of the points learns in which row a worker ended. */
static void say_row(const struct worker *worker, const char *name)
{
    if (worker->pe == 0) {
        printf("row %s\n", name);
        (void)fflush(stdout);
    }
}

static bool run_row(const struct worker *worker, const char *name)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            say_row(worker, name);
            return rows[i].run(worker);
        }
    }
    return worker_complain(worker, name, "there is no such row");
}

/* The buffers, resident on every PE. */
static bool prepare(struct worker *worker)
{
    worker->source = shmem_align(4096, WORKER_ROOM);
    worker->target = shmem_align(4096, WORKER_ROOM);
    if ((worker->source == NULL) || (worker->target == NULL)) {
        return worker_complain(worker, "start", "the symmetric heap has not 8 MiB");
    }
    memset(worker->source, worker->pe + 1, WORKER_ROOM);
    memset(worker->target, 0, WORKER_ROOM);
    memset(worker_static, 0, WORKER_ROOM);
    return true;
}

int main(int argument_count, char **arguments)
{
    struct worker worker = {.pe = 0};
    bool good            = true;
    int first            = 1;
    cpu_set_t allowed;
    double init_ns;

    (void)sched_getaffinity(0, sizeof(allowed), &allowed);
    init_ns = batch_now_ns();
    shmem_init();
    init_ns         = batch_now_ns() - init_ns;
    worker.pe       = shmem_my_pe();
    worker.pe_count = shmem_n_pes();
    worker.peer     = (worker.pe + 1) % worker.pe_count;
    batch_bind(&allowed, worker.pe);
    if ((first < argument_count) && (strcmp(arguments[first], "quick") == 0)) {
        worker.quick = true;
        first++;
    }
    if ((first < argument_count) && (strcmp(arguments[first], "describe") == 0)) {
        if (worker.pe == 0) {
            describe();
        }
    } else if ((first < argument_count) && (strcmp(arguments[first], "hello") == 0)) {
        if (worker.pe == 0) {
            printf("start-init %.9g\n", init_ns / 1e6);
        }
    } else if (first < argument_count) {
        /* memory comes first: the buffers are not the library's */
        if (strcmp(arguments[first], "memory") == 0) {
            good = run_row(&worker, arguments[first]);
            first++;
        }
        good = prepare(&worker) && good;
        for (int i = first; good && (i < argument_count); i++) {
            good = run_row(&worker, arguments[i]);
        }
    }
    shmem_finalize();
    return good ? 0 : 1;
}
