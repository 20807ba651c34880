/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.c DRIVERS [REAL]: shmemx_transport_plan() with the bad drivers of a folder, and with REAL,
 * one that works: what each says, which one is chosen, and that a running job keeps its own. */

#include <memspan/memspan.h>
#include <shmem.h>
#include <shmemx.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* (That of check.h asks a job.) */
#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n  ", __FILE__, __LINE__, #condition);              \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, "\n");                                                                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static shmemx_transport_info_t row(int index)
{
    shmemx_transport_info_t info = {.struct_size = sizeof info};

    CHECK(shmemx_transport_plan(index, &info) == 0, "%d: %s", index, memspan_error_text());
    return info;
}

static void order(const char *names, int count)
{
    shmemx_transport_info_t info = {.struct_size = sizeof info};

    setenv("MEMSPAN_SHMEM_TRANSPORT", names, 1);
    info = row(0);
    CHECK((strcmp(info.name, "smp") == 0) && info.is_chosen && !info.is_network, "%s", info.name);
    CHECK(shmemx_transport_plan(count, &info) == MEMSPAN_ERR_NOT_FOUND, "%s: more than %d", names,
          count);
}

static void bad(int index, const char *name, const char *reason)
{
    shmemx_transport_info_t info = row(index);

    CHECK(strcmp(info.name, name) == 0, "%s for %s", info.name, name);
    CHECK(!info.is_available && !info.is_chosen && (info.path[0] == '\0'), "%s", info.path);
    CHECK(strstr(info.why, reason) != NULL, "%s: %s", name, info.why);
}

static void try_bad(void)
{
    order("smp,closed,old", 3);
    bad(1, "closed", "plug one in");
    bad(2, "old", "of version 99");
    CHECK(strcmp(row(0).reaches, "PEs of its host") == 0, "%s", row(0).reaches);
    order("closed,smp", 2);
    CHECK(strcmp(row(0).reaches, "PEs of its host") != 0, "closed is before smp");
    order("smp", 1);
}

/* Twice: the second one works too, and is not chosen. */
static void try_real(const char *name)
{
    shmemx_transport_info_t info;
    char names[64];

    snprintf(names, sizeof names, "smp,closed,%s,%s", name, name);
    order(names, 4);
    info = row(2);
    CHECK(info.is_available && info.is_chosen && (info.path[0] != '\0'), "%s", info.why);
    CHECK(strncmp(info.why, "the next of", 11) == 0, "%s", info.why);
    info = row(3);
    CHECK(info.is_available && !info.is_chosen, "%s", info.why);
    CHECK(strstr(info.why, "is before it") != NULL, "%s", info.why);
}

static void try_divided(void)
{
    unsetenv("MEMSPAN_SHMEM_TRANSPORT");
    setenv("SHMEMX_TRANSPORT", "tcp:1", 1);
    CHECK(strcmp(row(0).name, "smp") == 0, "%s", row(0).name);
    CHECK(strcmp(row(0).reaches, "PEs of its host") != 0, "the host is divided");
    CHECK((strcmp(row(1).name, "tcp") == 0) && row(1).is_chosen, "%s", row(1).name);
    unsetenv("SHMEMX_TRANSPORT");
}

static void try_wrong(void)
{
    shmemx_transport_info_t info = {.struct_size = sizeof info};
    shmemx_transport_info_t small;

    memset(&small, 0x55, sizeof small);
    small.struct_size = offsetof(shmemx_transport_info_t, is_chosen);
    CHECK(shmemx_transport_plan(0, NULL) == MEMSPAN_ERR_INVALID, "NULL");
    CHECK(shmemx_transport_plan(0, &small) == 0, "%s", memspan_error_text());
    CHECK((small.is_available == 1) && (small.is_chosen == 0x55555555), "%x", small.is_chosen);
    CHECK(shmemx_transport_plan(-1, &info) == MEMSPAN_ERR_NOT_FOUND, "-1");
    info.struct_size = 0;
    CHECK(shmemx_transport_plan(0, &info) == MEMSPAN_ERR_INVALID, "no struct_size");
    setenv("MEMSPAN_SHMEM_TRANSPORT", "smp,none", 1);
    info.struct_size = sizeof info;
    CHECK(shmemx_transport_plan(0, &info) == MEMSPAN_ERR_CONFIG, "%s", memspan_error_text());
    unsetenv("MEMSPAN_SHMEM_TRANSPORT");
}

int main(int argc, char **argv)
{
    shmemx_transport_info_t info = {.struct_size = sizeof info};

    setenv("SHMEMX_DRIVER_PATH", (argc > 1) ? argv[1] : "", 1);
    try_bad();
    if (argc > 2) {
        try_real(argv[2]);
    }
    try_divided();
    try_wrong();
    shmem_init();
    CHECK(shmemx_transport_plan(0, &info) == MEMSPAN_ERR_CONFLICT, "in a job");
    shmem_finalize();
    return 0;
}
