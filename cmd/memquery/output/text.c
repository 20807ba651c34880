/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c: text helpers. memquery uses the public headers of the library alone, to prove that
 * they suffice; so these are its own. */

#include "cmd/memquery/output/output.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cli_size text_from_int(long long value)
{
    struct cli_size size;

    snprintf(size.text, sizeof(size.text), "%lld", value);
    return size;
}

struct cli_size text_from_gib(uint64_t size_bytes)
{
    struct cli_size size;

    if (size_bytes == MEMSPAN_UNKNOWN) {
        snprintf(size.text, sizeof(size.text), "?");
    } else {
        snprintf(size.text, sizeof(size.text), "%.1f",
                 (double)size_bytes / (double)(UINT64_C(1) << 30));
    }
    return size;
}

bool text_to_int(const char *text, int *value_p)
{
    char *end;
    long value;

    if (!isdigit((unsigned char)text[(text[0] == '-') ? 1 : 0])) {
        return false;
    }
    errno = 0;
    value = strtol(text, &end, 10);
    if ((errno != 0) || (*end != '\0') || (value < INT_MIN) || (value > INT_MAX)) {
        return false;
    }
    *value_p = (int)value;
    return true;
}

void text_list_add(struct text_list *list, const char *item)
{
    list->items                = cli_grow(list->items, list->count, sizeof(list->items[0]));
    list->items[list->count++] = item;
}

bool text_list_has(const struct text_list *list, const char *item)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], item) == 0) {
            return true;
        }
    }
    return false;
}

int text_unknown(const char *what, const char *word, const struct text_list *list)
{
    const char *nearest = cli_nearest(word, list->items, list->count);

    if (nearest != NULL) {
        cli_complain("unknown %s \"%s\"; did you mean \"%s\"?", what, word, nearest);
    } else {
        char known[512] = "";

        for (size_t i = 0; i < list->count; i++) {
            cli_append(known, sizeof(known), "%s%s", (i == 0) ? "" : ", ", list->items[i]);
        }
        cli_complain("unknown %s \"%s\"; known: %s", what, word, known);
    }
    return EXIT_USAGE;
}
