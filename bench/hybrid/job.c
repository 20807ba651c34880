/* SPDX-License-Identifier: BSD-3-Clause */
/* FORM APP SIZE strong|weak: one mini-app in the form that this program was built with. */

#include "bench/hybrid/job.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    bool (*run)(size_t size, bool weak);
} apps[] = {
    {"put", move_put},  {"alltoall", move_alltoall},   {"random", random_run},
    {"fft", fft_run},   {"matrix", matrix_run},        {"random-atomic", random_atomic_run},
    {"heat", heat_run}, {"broadcast", move_broadcast}, {"reduce", move_reduce},
};

enum { APP_COUNT = sizeof(apps) / sizeof(apps[0]) };

static cpu_set_t allowed;

void job_bind(bool any)
{
    if (any) {
        (void)sched_setaffinity(0, sizeof(allowed), &allowed);
    } else {
        batch_bind(&allowed, job_pe);
    }
}

void job_print(const char *app, bool weak, const struct batches *times, double unit_ns)
{
    char point[64];

    if (job_pe == 0) {
        (void)snprintf(point, sizeof(point), "%s-%s-%d", app, weak ? "weak" : "strong", job_count);
        batch_print(point, times->per_operation_ns[0] / unit_ns, batches_median(times) / unit_ns);
    }
}

bool job_verify(const char *app, double error, double most)
{
    if ((error > most) && (job_pe == 0)) {
        fprintf(stderr, "%s: error %g, at most %g\n", app, error, most);
    }
    return error <= most;
}

void job_progress(const char *app, size_t done, size_t total)
{
    static double began_ns;
    static double shown_ns;
    double now_ns = batch_now_ns();

    began_ns = (done == 0) ? now_ns : began_ns;
    if ((done == 0) || (job_pe != 0) || (isatty(STDERR_FILENO) == 0)) {
        return;
    }
    if ((done == total) && (shown_ns > began_ns)) {
        fprintf(stderr, "\r%-40s\r", "");
    } else if ((now_ns - began_ns > 1e9) && (now_ns - shown_ns > 1e9)) {
        shown_ns = now_ns;
        fprintf(stderr, "\r%s: %zu of %zu, %.0f s", app, done, total, (now_ns - began_ns) / 1e9);
    }
}

int main(int argument_count, char **arguments)
{
    const char *name = (argument_count == 4) ? arguments[1] : "";
    size_t app       = 0;
    bool good;

    while ((app < APP_COUNT) && (strcmp(name, apps[app].name) != 0)) {
        app++;
    }
    if (app == APP_COUNT) {
        fprintf(stderr, "usage: %s APP SIZE strong|weak\n", arguments[0]);
        return 2;
    }
    job_start(); /* its threads are on any processor */
    if ((job_count & (job_count - 1)) != 0) {
        fprintf(stderr, "%d PEs are not a power of two\n", job_count);
        job_end();
        return 2;
    }
    (void)sched_getaffinity(0, sizeof(allowed), &allowed);
    job_bind(false);
    good = apps[app].run(strtoull(arguments[2], NULL, 10), strcmp(arguments[3], "weak") == 0);
    job_end();
    return good ? 0 : 1;
}
