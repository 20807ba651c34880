/* SPDX-License-Identifier: BSD-3-Clause */
/* Options and the end of a job for the bootstrap alone, without the rest of the SHMEM layer. */

#include "shmem/error.h"
#include "shmem/option.h"
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

uint64_t msp_shmem_option_number(enum msp_shmem_option option)
{
    (void)option;
    return 0;
}

const char *msp_shmem_option_name(enum msp_shmem_option option)
{
    (void)option;
    return "";
}

void msp_fatal(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    _exit(1);
}

void msp_warn_once(int *key, const char *format, ...)
{
    va_list args;

    (void)key;
    va_start(args, format);
    fputs("warning: ", stderr);
    vfprintf(stderr, format, args);
    va_end(args);
}
