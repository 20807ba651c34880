/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c: the libraries that were measured. */

#include "bench/rma/rma.h"

void rma_print_peers(const struct bench_run *run)
{
    FILE *text = run->output.text;

    for (size_t p = 0; p < run->peer_count; p++) {
        const struct bench_peer *peer = &run->peers[p];
        if (!peer->present) {
            continue;
        }
        fprintf(text, "# peer     %-8s %s\n", peer->name, peer->version);
        if ((peer->library[0] == '\0') && (rma_peers[p].launcher[0] != '\0')) {
            fprintf(text, "#          %-8s %s\n", "", rma_peers[p].launcher);
        }
        if (peer->library[0] != '\0') {
            fprintf(text, "#          %-8s %s\n", "", peer->library);
            fprintf(text, "#          %-8s %s (%s); %s\n", "", rma_peers[p].compiler,
                    rma_peers[p].built_by, rma_peers[p].launcher);
        }
    }
}
