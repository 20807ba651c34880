/* SPDX-License-Identifier: BSD-3-Clause */
/* why.c: --why comes with the next change. */
#include "report.h"
#include "text.h"

int report_why(const struct request *request, FILE *out)
{
    (void)request;
    (void)out;
    text_complain("--why is not there yet");
    return EXIT_USAGE;
}
