/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_MACHINE_H
#define MEMSPAN_BENCH_MACHINE_H

/* The machine that a figure was measured on. */

struct bench_machine {
    char processor[96]; /* "AMD EPYC ...", or the architecture */
    int processor_count;
    char system[96];   /* "Linux 6.1.0" */
    char date[32];     /* "2026-01-31T12:00:00Z" */
    double load;       /* runnable processes, mean of the last minute; -1 unknown */
    char compiler[64]; /* what compiled this program */
    char machine[160]; /* processor, count and system as one text */
};

void bench_machine_describe(struct bench_machine *machine_p);

#endif /* MEMSPAN_BENCH_MACHINE_H */
