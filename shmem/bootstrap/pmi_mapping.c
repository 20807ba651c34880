/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes of the PEs by the text that a PMI-1 launcher gives for PMI_process_mapping:
 *
 *   mapping = "(vector," list ")"     starts again where its PEs end
 *   list    = item {"," item}
 *   item    = NODE                    one PE on that node
 *           | "(" NODE "," NODES "," PES ")"   PES on each of NODES nodes from NODE on
 *           | "[" list "]x" TIMES     the list, so many times (hydra of MPICH 4.2 and later)
 *
 * "()" and no text say that nothing is known. The text comes from outside: numbers have at most
 * seven digits, lists nest at most DEPTH_MAX times, and sums are bounded. */

#include "shmem/bootstrap/sources.h"
#include <string.h>

enum { DIGITS_MAX = 7, DEPTH_MAX = 4 };

#define PES_LIMIT (1LL << 40)

/* A PE among those of a list: its number, < 0 where the list's PEs are counted alone; and its node.
 */
struct search {
    long long pe;
    int node;
};

/* Moves *text_p behind a number; -1: there is none. */
static int read_number(const char **text_p)
{
    const size_t digits = strspn(*text_p, "0123456789");
    int number          = 0;

    if ((digits == 0) || (digits > DIGITS_MAX)) {
        return -1;
    }
    for (size_t i = 0; i < digits; i++) {
        number = (number * 10) + (*(*text_p)++ - '0');
    }
    return number;
}

static bool read_mark(const char **text_p, const char *mark)
{
    const size_t length = strlen(mark);
    const bool is_there = strncmp(*text_p, mark, length) == 0;

    *text_p += is_there ? length : 0;
    return is_there;
}

/* Each returns the PEs of what it moves *text_p behind; -1: it is malformed. */
static long long read_list(const char **text_p, unsigned depth, struct search *search);

static long long read_block(const char **text_p, struct search *search)
{
    const int node  = read_number(text_p);
    const int nodes = read_mark(text_p, ",") ? read_number(text_p) : -1;
    const int pes   = read_mark(text_p, ",") ? read_number(text_p) : -1;

    if ((node < 0) || (nodes < 0) || (pes < 0) || !read_mark(text_p, ")")) {
        return -1;
    }
    const long long count = (long long)nodes * pes;
    if ((search->pe >= 0) && (search->pe < count)) {
        search->node = node + (int)(search->pe / pes);
    }
    return count;
}

static long long read_repeated(const char **text_p, unsigned depth, struct search *search)
{
    struct search none   = {.pe = -1};
    const char *list     = *text_p;
    const long long once = (depth < DEPTH_MAX) ? read_list(text_p, depth + 1, &none) : -1;
    const int times      = ((once >= 0) && read_mark(text_p, "]x")) ? read_number(text_p) : -1;

    if ((times < 0) || (once > PES_LIMIT / (times + 1))) {
        return -1;
    }
    if ((search->pe >= 0) && (search->pe < once * times)) {
        struct search inner = {.pe = search->pe % once};
        (void)read_list(&list, depth + 1, &inner);
        search->node = inner.node;
    }
    return once * times;
}

static long long read_item(const char **text_p, unsigned depth, struct search *search)
{
    if (read_mark(text_p, "(")) {
        return read_block(text_p, search);
    }
    if (read_mark(text_p, "[")) {
        return read_repeated(text_p, depth, search);
    }
    const int node = read_number(text_p);
    search->node   = (search->pe == 0) ? node : search->node;
    return (node >= 0) ? 1 : -1;
}

static long long read_list(const char **text_p, unsigned depth, struct search *search)
{
    long long count = 0;

    do {
        struct search item   = {.pe = search->pe - count, .node = search->node};
        const long long some = read_item(text_p, depth, &item);

        if ((some < 0) || (count + some > PES_LIMIT)) {
            return -1;
        }
        search->node = item.node;
        count += some;
    } while (read_mark(text_p, ","));
    return count;
}

int msp_pmi_mapping_node(const char *mapping, int pe)
{
    struct search search = {.pe = -1, .node = -1};
    const char *text     = mapping;

    if ((*text == '\0') || (*text == ' ') || (read_mark(&text, "()") && (*text == '\0'))) {
        return MSP_PMI_MAPPING_UNKNOWN;
    }
    text = mapping;
    if (!read_mark(&text, "(vector,")) {
        return MSP_PMI_MAPPING_MALFORMED;
    }
    const char *list      = text;
    const long long count = read_list(&text, 0, &search);
    if ((count <= 0) || !read_mark(&text, ")") || ((*text != '\0') && (*text != ' '))) {
        return MSP_PMI_MAPPING_MALFORMED;
    }
    search.pe = pe % count;
    (void)read_list(&list, 0, &search);
    return search.node;
}
