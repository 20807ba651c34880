/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/common/bench.h"
#include "cmd/common/cli.h"
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_standard_output(const char *path)
{
    return strcmp(path, "-") == 0;
}

static bool may_write(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];
    int length = (slash == NULL) ? 1 : (int)(slash - path) + 1;

    if (is_standard_output(path) || (access(path, W_OK) == 0)) {
        return true;
    }
    if (errno == ENOENT) {
        (void)snprintf(folder, sizeof(folder), "%.*s", length, (slash == NULL) ? "." : path);
        if (access(folder, W_OK | X_OK) == 0) {
            return true;
        }
    }
    cli_complain("cannot write \"%s\": %s", path, strerror(errno));
    return false;
}

static void note_command(struct bench_output *output, int argument_count, char *const *arguments)
{
    size_t used = (size_t)snprintf(output->command, sizeof(output->command), "%s", cli_name);

    for (int i = 0; (i < argument_count) && (used < sizeof(output->command)); i++) {
        const char *quote = (strpbrk(arguments[i], " *$") != NULL) ? "'" : "";
        used += (size_t)snprintf(output->command + used, sizeof(output->command) - used, " %s%s%s",
                                 quote, arguments[i], quote);
    }
}

bool bench_output_open(struct bench_output *output, int argument_count, char *const *arguments)
{
    const char *paths[] = {output->csv, output->json, output->svg};
    size_t taken        = 0;

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if ((paths[i] != NULL) && !may_write(paths[i])) {
            return false;
        }
        taken += ((paths[i] != NULL) && is_standard_output(paths[i])) ? 1 : 0;
    }
    if (taken > 1) {
        cli_complain("only one of --csv, --json and --svg can be \"-\"");
        return false;
    }
    output->text = (taken == 0) ? stdout : stderr;
    cli_table_limit(cli_width(output->text));
    note_command(output, argument_count, arguments);
    bench_machine_describe(&output->machine);
    return true;
}

void bench_output_head(const struct bench_output *output, const char *title)
{
    const struct bench_machine *machine = &output->machine;

    fprintf(output->text, "%s\n# command  %s\n# date     %s\n# machine  %s; load %.2f\n", title,
            output->command, machine->date, machine->machine, machine->load);
}

void bench_output_report(const struct bench_output *output, struct bench_report *report_p,
                         const char *benchmark)
{
    bench_report_init(report_p, benchmark);
    bench_report_head(report_p, "command", "%s", output->command);
    bench_report_head(report_p, "date", "%s", output->machine.date);
    bench_report_head(report_p, "machine", "%s", output->machine.machine);
    bench_report_head(report_p, "load", "%.2f", output->machine.load);
}

bool bench_output_write(const struct bench_output *output, const struct bench_report *report)
{
    bool good = (output->csv == NULL) || bench_report_write_csv(report, output->csv);

    return ((output->json == NULL) || bench_report_write_json(report, output->json)) && good;
}

FILE *bench_file_open(const char *path)
{
    FILE *file = is_standard_output(path) ? stdout : fopen(path, "we");

    if (file == NULL) {
        cli_complain("cannot write \"%s\": %s", path, strerror(errno));
    }
    return file;
}

/* Devices and pipes (/dev/full, a fifo) stay. */
static void remove_broken(const char *path)
{
    struct stat facts;

    if ((stat(path, &facts) == 0) && S_ISREG(facts.st_mode)) {
        (void)unlink(path);
    }
}

bool bench_file_close(FILE *file, const char *path)
{
    bool broken = (fflush(file) != 0) || (ferror(file) != 0);
    int error   = errno;

    if (file == stdout) {
        return !broken;
    }
    if ((fclose(file) != 0) && !broken) {
        broken = true;
        error  = errno;
    }
    if (broken) {
        cli_complain("cannot write \"%s\": %s", path, strerror(error));
        remove_broken(path);
    }
    return !broken;
}
