/* SPDX-License-Identifier: BSD-3-Clause */
/* check.c: --check comes with the next change. */
#include "report.h"
#include "text.h"

int report_check(const struct request *request, FILE *out)
{
    (void)request;
    (void)out;
    text_complain("--check is not there yet");
    return EXIT_USAGE;
}
