/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_OPTION_H
#define MEMSPAN_SHMEM_OPTION_H

/* The environment of the SHMEM layer: one table, read when a program calls shmem_init(), because
 * programs set variables just before it. Partitions, one variable each, are in partition/option.h.
 * Standard variables have their former name as alias (SMA_...). */

#include "core/base/error.h"
#include "core/base/variable.h"

/* X(symbol, variable, alias, FORM, form as shown, value when unset, help) */
#define MEMSPAN_SHMEM_OPTION_MAP(X)                                                                \
    X(VERSION, "SHMEM_VERSION", "SMA_VERSION", FLAG, "any", "", "print the version at start-up")   \
    X(INFO, "SHMEM_INFO", "SMA_INFO", FLAG, "any", "",                                             \
      "print these variables, their values, partitions and transports")                            \
    X(DEBUG, "SHMEM_DEBUG", "SMA_DEBUG", FLAG, "any", "",                                          \
      "check every argument, and report what failed at start-up")                                  \
    X(SYMMETRIC_SIZE, "SHMEM_SYMMETRIC_SIZE", "SMA_SYMMETRIC_SIZE", SIZE, "size", "512m",          \
      "bytes of the symmetric heap of each PE")                                                    \
    X(CHECK, "SHMEMX_CHECK", "", FLAG, "any", "",                                                  \
      "check every argument: PEs, addresses, overlap, sizes that must be equal")                   \
    X(MAX_PARTITIONS, "SHMEM_MAX_PARTITIONS", "SMA_MAX_PARTITIONS", NUMBER, "1 to 64", "64",       \
      "maximum number of partitions")                                                              \
    X(DEFAULT_PARTITION, "SHMEMX_DEFAULT_PARTITION", "", NUMBER, "0 to 1023", "",                  \
      "the partition of shmem_malloc(); unset: 1, or 0 where that is the host's and 1 a device's") \
    X(STRICT_PARTITIONS, "SHMEMX_STRICT_PARTITIONS", "", FLAG, "any", "",                          \
      "partitions without number 1 are an error instead of being given one of default size")       \
    X(LIBOMP_PARTITION, "SHMEMX_LIBOMP_PARTITION", "", NUMBER, "0 to 1023", "",                    \
      "the partition from which OpenMP's mapped variables come")                                   \
    X(HUGE_PAGES, "SHMEMX_HUGE_PAGES", "", CHOICE, "off|filled|on", "filled",                      \
      "huge pages for large symmetric blocks of ordinary host memory: where they are filled, or "  \
      "at once")                                                                                   \
    X(SPIN, "SHMEMX_SPIN", "", NUMBER, "polls", "",                                                \
      "polls of a waiting PE before it yields; unset: by PEs and processors")                      \
    X(INDIRECT, "SHMEMX_INDIRECT", "", FLAG, "any", "",                                            \
      "collectives by messages, as between hosts: to compare and to test")                         \
    X(COLLECTIVE, "SHMEMX_COLLECTIVE", "", TEXT, "rules", "",                                      \
      "algorithms of collectives between hosts: reduce=doubling:4k,alltoall=pairwise, and so on")  \
    X(REGISTER, "SHMEMX_REGISTER", "", TEXT, "touched, all, host, none or a size", "touched",      \
      "what the network registers: chunks that other hosts touch (of that size), all, nothing")    \
    X(TRANSPORT, "MEMSPAN_SHMEM_TRANSPORT", "SHMEMX_TRANSPORT", TEXT, "NAME[,...] or NAME:N",      \
      "smp,ucx,ofi,tcp",                                                                           \
      "transports in the order of preference: smp for PEs that share memory, then networks; for "  \
      "tests NAME:N: every N PEs are taken for a host, and reach others by that transport")        \
    X(DRIVER_PATH, "SHMEMX_DRIVER_PATH", "", SECURE_TEXT, "FOLDER[:...]", "",                      \
      "folders of network drivers, searched before the one of this library")                       \
    X(TCP_INTERFACE, "SHMEMX_TCP_INTERFACE", "", TEXT, "NAME[,...]", "",                           \
      "network interfaces of the transport tcp; unset: all")                                       \
    X(PEER_TIMEOUT, "SHMEMX_PEER_TIMEOUT", "", NUMBER, "seconds", "30",                            \
      "a PE of another host that does not answer for so long ends the job; 0: no limit")           \
    X(START_TIMEOUT, "SHMEMX_START_TIMEOUT", "", NUMBER, "seconds", "300",                         \
      "a PE that is not in shmem_init() so long after another one ends the job; 0: no limit")

enum msp_shmem_option {
#define OPTION_ENUM(symbol, variable, alias, form, form_text, fallback, help)                      \
    MEMSPAN_SHMEM_##symbol,
    MEMSPAN_SHMEM_OPTION_MAP(OPTION_ENUM)
#undef OPTION_ENUM
        MEMSPAN_SHMEM_OPTION_COUNT
};

/* Read the environment. MEMSPAN_ERR_CONFIG, with the variable's name, for a malformed value. */
memspan_status_t msp_shmem_option_read(void);

/* Log the variables of the environment that are none of these, and like one of them; and which are
 * set by two names. */
void msp_shmem_option_warn(void);

/* shmemx_option_describe(). */
memspan_status_t msp_shmem_option_describe(int index, memspan_option_info_t *info_p);

/* The name that set the variable, its own or its alias; its own where it is unset. */
const char *msp_shmem_option_name(enum msp_shmem_option option);
bool msp_shmem_option_is_set(enum msp_shmem_option option);
const char *msp_shmem_option_text(enum msp_shmem_option option);
uint64_t msp_shmem_option_number(enum msp_shmem_option option);         /* a SIZE or NUMBER */
static inline bool msp_shmem_option_is_on(enum msp_shmem_option option) /* a FLAG */
{
    return msp_shmem_option_number(option) != 0;
}

/* A number that differs where anything that was read differs: compared between PEs at start. */
uint64_t msp_shmem_option_digest(enum msp_shmem_option option);

/* All variables with their values, one a line, to standard output (SHMEM_INFO). */
void msp_shmem_option_print(void);

#endif /* MEMSPAN_SHMEM_OPTION_H */
