/* SPDX-License-Identifier: BSD-3-Clause */
/* rail.c: rails of an endpoint.
 *
 * UCX prints a line for each: "...[0]:  1:tcp/eth0.0 md[1] ...", where the device's number is
 * after its last dot. */

#include "shmem/network/ucx/rail.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_rail(const char *line, struct msp_ucx_rail *rail)
{
    const char *start = strstr(line, "]:");
    char *dot;

    if ((start == NULL) ||
        (sscanf(start, "]: %*u:%31[^/ ]/%31s", rail->transport, rail->device) != 2)) {
        return false;
    }
    dot = strrchr(rail->device, '.');
    if (dot != NULL) {
        *dot = '\0';
    }
    return true;
}

void msp_ucx_rails_of(ucp_ep_h endpoint, struct msp_ucx_rails *rails_p)
{
    char *text   = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    char *line;
    char *rest;

    rails_p->count = 0;
    if (stream == NULL) {
        return;
    }
    ucp_ep_print_info(endpoint, stream);
    fclose(stream);
    for (line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        if ((rails_p->count < MSP_UCX_RAILS) && read_rail(line, &rails_p->rails[rails_p->count])) {
            rails_p->count++;
        }
    }
    free(text);
}

void msp_ucx_rails_describe(const struct msp_ucx_rails *rails, char *text, size_t text_bytes)
{
    size_t used = 0;
    int added;
    unsigned i;

    text[0] = '\0';
    for (i = 0; i < rails->count; i++) {
        added = snprintf(text + used, text_bytes - used, "%s%s over %s", (i == 0) ? "" : ", ",
                         rails->rails[i].transport, rails->rails[i].device);
        if ((added < 0) || ((size_t)added >= text_bytes - used)) {
            return;
        }
        used += (size_t)added;
    }
}
