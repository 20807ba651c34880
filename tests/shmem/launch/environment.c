/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment for the bootstrap alone, without the rest of the SHMEM layer. */

#include "shmem/error.h"
#include "shmem/option.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *msp_shmem_option_next(const char *prefix, size_t *cursor)
{
    for (; environ[*cursor] != NULL; ++*cursor) {
        if (strncmp(environ[*cursor], prefix, strlen(prefix)) == 0) {
            return environ[(*cursor)++];
        }
    }
    return NULL;
}

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
