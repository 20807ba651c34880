/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c: memquery shows the memory that the host and its devices can reach, and the result of an
 * allocation. Read options.c, probe/probe.c (why drivers are queried in a child), model/snapshot.c
 * and the file of the answer. */

#include "cmd/memquery/diff/diff.h"
#include "cmd/memquery/measure/measure.h"
#include <errno.h>
#include <signal.h>
#include <string.h>

const char cli_name[] = "memquery";

int report_show(const struct request *request, FILE *out)
{
    struct snapshot snapshot;

    snapshot_take(&snapshot, request);
    snapshot.figures = request->options->measure.figures;
    if (request->options->format == FORMAT_JSON) {
        json_print(&snapshot, out);
    } else if (request->options->format == FORMAT_CSV) {
        csv_print(&snapshot, out);
    } else if (request->options->format == FORMAT_SVG) {
        svg_print(&snapshot, out);
    } else if (request->options->format == FORMAT_PROMETHEUS) {
        prometheus_print(&snapshot, out);
    } else if (request->options->mode == MODE_DEVICES) {
        device_print(&snapshot, out);
    } else if (request->options->mode == MODE_MATRIX) {
        peer_print(&snapshot, true, out);
    } else {
        table_print(&snapshot, out);
    }
    snapshot_free(&snapshot);
    return (request->failure_count > 0) ? EXIT_PROBE : EXIT_YES;
}

/* Report a failure to write the output. */
static int finish(void)
{
    if ((fflush(stdout) != 0) || ferror(stdout)) {
        cli_complain("cannot write the answer to standard output: %s", strerror(errno));
        return EXIT_PROBE;
    }
    return EXIT_YES;
}

static int show(struct options *options)
{
    int measured = options->measure.wanted ? measure_run(options) : EXIT_YES;
    int code     = probe_answer(options, report_show);

    return (code == EXIT_YES) ? measured : code;
}

/* Monitors read the exit code and the first line of standard output, whatever happened. */
static int monitor(int code)
{
    if (code >= MONITOR_PRINTED) {
        return code - MONITOR_PRINTED;
    }
    printf("MEMSPAN UNKNOWN - %s; standard error has the reason\n",
           (code == EXIT_USAGE) ? "malformed command line" : "the probe of this machine failed");
    (void)finish();
    return MONITOR_UNKNOWN;
}

/* Also in a command line that is refused. */
static bool is_for_monitor(int argc, char **argv)
{
    bool found = false;

    for (int i = 1; i < argc; i++) {
        size_t length = strlen(argv[i]);

        found = found || ((length >= strlen("nagios")) &&
                          (strcmp(argv[i] + length - strlen("nagios"), "nagios") == 0));
    }
    return found;
}

static int differ(const struct options *options)
{
    int code    = diff_report(options->argument, options->other, options->format == FORMAT_JSON);
    int written = finish();

    return (written == EXIT_YES) ? code : written;
}

int main(int argc, char **argv)
{
    struct options options;
    int code;

    signal(SIGXFSZ, SIG_IGN); /* a limit on files is reported like any other failure to write */
    switch (options_parse(argc, argv, &options)) {
    case CLI_REFUSED:
        return is_for_monitor(argc, argv) ? monitor(EXIT_USAGE) : EXIT_USAGE;
    case CLI_SHOWN:
        return finish();
    case CLI_PARSED:
        break;
    }
    cli_table_limit((options.format == FORMAT_TABLE) ? cli_width(stdout) : 0);
    switch (options.mode) {
    case MODE_PLAN:
        return probe_answer(&options, report_plan);
    case MODE_CHECK:
        code = probe_answer(&options, report_check);
        return (options.format == FORMAT_NAGIOS) ? monitor(code) : code;
    case MODE_WHY:
        return probe_answer(&options, report_why);
    case MODE_SHMEM:
        return probe_answer(&options, report_shmem);
    case MODE_CONFIG:
        return probe_answer(&options, report_config);
    case MODE_DIFF:
        return differ(&options);
    case MODE_SHOW:
    case MODE_DEVICES:
    case MODE_MATRIX:
        break;
    }
    return show(&options);
}
