/* SPDX-License-Identifier: BSD-3-Clause */
/* A shared object that says so when it is loaded: what a user would like another's program to run.
 */

#include <unistd.h>

__attribute__((constructor)) static void intrude(void)
{
    static const char text[] = "INTRUDED\n";
    ssize_t n                = write(STDERR_FILENO, text, sizeof(text) - 1);

    (void)n;
}
