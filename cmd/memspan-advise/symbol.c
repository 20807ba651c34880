/* SPDX-License-Identifier: BSD-3-Clause */
/* symbol.c: nm(1) reads and demangles the symbols; here they are sorted and searched. */

#include "cmd/common/cli.h"
#include "cmd/memspan-advise/advise.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct symbol {
    uint64_t address;
    uint64_t size_bytes;
    const char *name;
};

struct symbols {
    struct symbol *list;
    size_t count;
    char *text; /* nm's output, which has the names */
};

static int by_address(const void *a, const void *b)
{
    const struct symbol *left  = a;
    const struct symbol *right = b;

    return (left->address > right->address) - (left->address < right->address);
}

/* "ADDRESS SIZE TYPE NAME", in hexadecimal digits; other lines have no size. */
static bool parse_line(char *line, struct symbol *symbol_p)
{
    char type = '\0';
    int used  = -1;

    (void)sscanf(line, "%" SCNx64 " %" SCNx64 " %c %n", &symbol_p->address, &symbol_p->size_bytes,
                 &type, &used);
    symbol_p->name = line + ((used > 0) ? used : 0);
    return (used > 0) && (type != '\0') && (strchr("TtWwVi", type) != NULL) &&
           (symbol_p->name[0] != '\0');
}

static void parse(struct symbols *symbols)
{
    size_t most = 0;

    for (const char *at = symbols->text; (at = strchr(at, '\n')) != NULL; at++) {
        most++;
    }
    symbols->list = calloc(most + 1, sizeof(struct symbol));
    if (symbols->list == NULL) {
        return;
    }
    for (char *line = strtok(symbols->text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        symbols->count += parse_line(line, &symbols->list[symbols->count]) ? 1 : 0;
    }
    qsort(symbols->list, symbols->count, sizeof(struct symbol), by_address);
}

struct symbols *symbols_read(const char *path)
{
    char *arguments[]      = {"env", "nm", "-DSC", "--defined-only", (char *)(uintptr_t)path, NULL};
    struct cli_child child = {.path = "/usr/bin/env", .arguments = arguments, .limit_s = 60};
    struct symbols *symbols = calloc(1, sizeof(*symbols));
    struct cli_result result;

    if (symbols == NULL) {
        return NULL;
    }
    cli_child_run(&child, &result);
    if ((result.end == CLI_EXITED) && (result.code == 0) && (result.out.data != NULL)) {
        symbols->text = strdup(result.out.data);
    }
    cli_result_free(&result);
    if (symbols->text != NULL) {
        parse(symbols);
    }
    if (symbols->count == 0) {
        symbols_free(symbols);
        return NULL;
    }
    return symbols;
}

void symbols_free(struct symbols *symbols)
{
    if (symbols != NULL) {
        free(symbols->list);
        free(symbols->text);
        free(symbols);
    }
}

const char *symbols_find(const struct symbols *symbols, uint64_t address)
{
    size_t first = 0;
    size_t end   = symbols->count;

    while (end - first > 1) {
        size_t middle = first + (end - first) / 2;

        if (symbols->list[middle].address <= address) {
            first = middle;
        } else {
            end = middle;
        }
    }
    return ((symbols->count > 0) &&
            (address - symbols->list[first].address < symbols->list[first].size_bytes))
               ? symbols->list[first].name
               : NULL;
}
