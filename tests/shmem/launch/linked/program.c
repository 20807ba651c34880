/* SPDX-License-Identifier: BSD-3-Clause */
/* Says whether a PMIx server is named in its environment. */

#include <stdio.h>
#include <stdlib.h>

int linked_value(void);

int main(void)
{
    puts(getenv("PMIX_NAMESPACE") != NULL ? "server" : "none");
    return linked_value();
}
