/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/common/bench.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* x86 has a "model name"; aarch64 has none, and the architecture stands for it. */
static void find_processor(char *name, size_t name_size, const char *architecture)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "re");

    (void)snprintf(name, name_size, "%s", architecture);
    if (file == NULL) {
        return;
    }
    while (fgets(line, sizeof(line), file) != NULL) {
        char *colon = strchr(line, ':');
        if ((strncmp(line, "model name", 10) == 0) && (colon != NULL) && (colon[1] != '\0')) {
            colon[2 + strcspn(colon + 2, "\n")] = '\0';
            (void)snprintf(name, name_size, "%s", colon + 2);
            break;
        }
    }
    (void)fclose(file);
}

static void find_date(char *date, size_t date_size)
{
    time_t now = time(NULL);
    struct tm parts;

    date[0] = '\0';
    if (gmtime_r(&now, &parts) != NULL) {
        (void)strftime(date, date_size, "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
}

void bench_machine_describe(struct bench_machine *machine_p)
{
#if defined(__OPTIMIZE__)
    const char *optimised = "";
#else
    const char *optimised = ", not optimised";
#endif
    struct utsname names;
    double load;

    if (uname(&names) != 0) {
        memset(&names, 0, sizeof(names));
    }
    find_processor(machine_p->processor, sizeof(machine_p->processor), names.machine);
    find_date(machine_p->date, sizeof(machine_p->date));
    machine_p->processor_count = (int)sysconf(_SC_NPROCESSORS_ONLN);
    machine_p->load            = (getloadavg(&load, 1) == 1) ? load : -1;
    (void)snprintf(machine_p->system, sizeof(machine_p->system), "%.40s %.50s", names.sysname,
                   names.release);
#if defined(__clang__)
    (void)snprintf(machine_p->compiler, sizeof(machine_p->compiler), "clang %.40s%s",
                   __clang_version__, optimised);
#else
    (void)snprintf(machine_p->compiler, sizeof(machine_p->compiler), "gcc %.40s%s", __VERSION__,
                   optimised);
#endif
    (void)snprintf(machine_p->machine, sizeof(machine_p->machine), "%.60s, %d processors, %.60s",
                   machine_p->processor, machine_p->processor_count, machine_p->system);
}
