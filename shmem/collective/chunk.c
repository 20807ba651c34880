/* SPDX-License-Identifier: BSD-3-Clause */
/* chunk.c: combining chunks of vectors. */

#include "shmem/collective/combine.h"
#include "shmem/collective/peer.h"

void msp_chunk_of(int number, int chunk_count, size_t element_bytes, size_t count, size_t *first_p,
                  size_t *end_p)
{
    size_t line =
        (element_bytes < MSP_CACHE_LINE_BYTES) ? (MSP_CACHE_LINE_BYTES / element_bytes) : 1;
    size_t lines = (count + line - 1) / line;
    size_t each  = lines / (size_t)chunk_count;
    size_t more  = lines % (size_t)chunk_count;
    size_t n     = (size_t)number;
    size_t first = line * ((n * each) + ((n < more) ? n : more));
    size_t end   = first + (line * (each + ((n < more) ? 1 : 0)));

    *first_p = (first < count) ? first : count;
    *end_p   = (end < count) ? end : count;
}

void msp_chunk_combine_all(struct msp_team *team, msp_combine_t combine, char *to,
                           const char *source, size_t bytes, size_t count)
{
    _Alignas(64) char term[MSP_CHUNK_PIECE_BYTES];
    const void *x = msp_peer_mapping(team, 0, source, bytes);
    int pe;

    if ((x == NULL) || (team->size == 1)) {
        msp_peer_read(team, 0, source, to, bytes);
        x = to;
    }
    for (pe = 1; pe < team->size; pe++) {
        const void *y = msp_peer_mapping(team, pe, source, bytes);

        if (y == NULL) {
            msp_peer_read(team, pe, source, term, bytes);
            y = term;
        }
        combine(to, x, y, count);
        x = to;
    }
}

bool msp_chunk_is_mapped(const struct msp_team *team, const void *address, size_t bytes)
{
    return msp_team_is_local(team) && (msp_peer_mapping(team, team->pe, address, bytes) != NULL);
}

/* With dest == source, the first sum would destroy this PE's own term before its turn: then it is
 * made beside. */
void msp_chunk_combine(struct msp_team *team, msp_combine_t combine, char *dest, const char *source,
                       size_t element_bytes, size_t first, size_t end)
{
    _Alignas(64) char beside[MSP_CHUNK_PIECE_BYTES];
    bool is_apart = (dest != source) || ((team->size <= 2) && msp_chunk_is_mapped(team, source, 1));
    bool direct   = is_apart && msp_rma_host_touches(dest);
    size_t most   = MSP_CHUNK_PIECE_BYTES / element_bytes;
    size_t at;

    for (at = first; at < end; at += most) {
        size_t part  = (end - at < most) ? (end - at) : most;
        size_t bytes = part * element_bytes;
        char *to     = dest + (at * element_bytes);

        msp_chunk_combine_all(team, combine, direct ? to : beside, source + (at * element_bytes),
                              bytes, part);
        if (!direct) {
            msp_peer_copy(to, beside, bytes);
        }
    }
}

void msp_chunk_read_others(struct msp_team *team, char *dest, size_t element_bytes, size_t count)
{
    int step;

    for (step = 1; step < team->size; step++) {
        int pe = (team->pe + step) % team->size;
        size_t first;
        size_t end;

        msp_chunk_of(pe, team->size, element_bytes, count, &first, &end);
        msp_peer_read(team, pe, dest + (first * element_bytes), dest + (first * element_bytes),
                      (end - first) * element_bytes);
    }
}
