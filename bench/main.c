/* SPDX-License-Identifier: BSD-3-Clause */
/* memspan-bench BENCHMARK [options]. memspan-bench-offload is the same with another engine. */

#include "bench/alloc/alloc.h"
#include "bench/daxpy/daxpy.h"
#include "bench/hybrid/hybrid.h"
#include "bench/rma/rma.h"
#include "cmd/common/cli.h"
#include <stdio.h>
#include <string.h>

static const struct {
    const struct bench_suite *suite;
    const char *help;
} benchmarks[] = {
    {&alloc_suite, "cost of allocation, beside the allocators of the machine"},
    {&daxpy_suite, "z[i] += a * x[i] + y[i], by the path of the data to the device"},
    {&hybrid_suite, "mini-apps on OpenMP's devices, by the path of their data between PEs"},
    {&rma_suite, "cost of one-sided communication, beside the OpenSHMEM libraries here"},
};

enum { BENCHMARK_COUNT = sizeof(benchmarks) / sizeof(benchmarks[0]) };

static void print_usage(FILE *stream)
{
    fprintf(stream, "usage: %s BENCHMARK [options] | --list | --version | --help\n\nBenchmarks:\n",
            cli_name);
    for (size_t i = 0; i < BENCHMARK_COUNT; i++) {
        fprintf(stream, "  %-10s %s\n", benchmarks[i].suite->name, benchmarks[i].help);
    }
    fprintf(stream, "\n%s BENCHMARK --help shows its options.\n", cli_name);
}

static int list_devices(void)
{
    char title[256];
    int device;

    for (int i = 0; memspan_device_at(i, &device) == MEMSPAN_OK; i++) {
        printf("%4d  %s\n", device,
               daxpy_engine.device_title(device, title, sizeof(title)) ? title : "?");
    }
    printf("%4d  the host\n", MEMSPAN_HOST);
    return 0;
}

int main(int argument_count, char **arguments)
{
    const char *word = (argument_count > 1) ? arguments[1] : "";

    if ((strcmp(word, "--help") == 0) || (strcmp(word, "-h") == 0)) {
        print_usage(stdout);
        return 0;
    }
    if (strcmp(word, "--version") == 0) {
        printf("%s %s\n", cli_name, memspan_version());
        return 0;
    }
    if (strcmp(word, "--list") == 0) {
        return list_devices();
    }
    for (size_t i = 0; i < BENCHMARK_COUNT; i++) {
        if (strcmp(word, benchmarks[i].suite->name) == 0) {
            return bench_run_main(benchmarks[i].suite, argument_count - 1, arguments + 1);
        }
    }
    if (word[0] != '\0') {
        cli_complain("there is no benchmark \"%s\"", word);
    }
    print_usage(stderr);
    return 2;
}
