/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_DIFF_H
#define MEMQUERY_DIFF_H

/* --diff: two documents that memquery has printed as JSON, compared.
 *
 * Each document becomes a view, in which lists are objects by the identity of their elements: a
 * device has the same label in both views, whatever its number is. Two views are compared by one
 * walk. The documents are hostile: the view checks every key that the walk depends on. */

#include "cmd/memquery/output/output.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* view.c: a document, checked, and as objects by identity. */

enum {
    DIFF_FILE_MOST_BYTES = 16 << 20,
    DIFF_DEPTH_MOST      = 12, /* memquery's own documents need 8 */
    DIFF_TEXT_MAX        = 256
};

struct diff_view {
    const char *path;
    json_t *document;
    const char *question;      /* "memquery", "memquery --config", "memquery --shmem" */
    const char *host;          /* host_name, or "" */
    json_t *labels;            /* of paired devices by number, as text; NULL before diff_match() */
    json_t *alone;             /* the same of devices that the other document lacks */
    bool measured;             /* it has a measured figure */
    char where[DIFF_TEXT_MAX]; /* place of the walk, "devices[2].name" */
    json_t *content;           /* the view; NULL before diff_view_make() */
};

/* Read and check a file. False after a message that has its name and the line or key. */
bool diff_view_open(struct diff_view *view, const char *path);
void diff_view_close(struct diff_view *view);

/* Make view->content; labels are needed. False after a message. */
bool diff_view_make(struct diff_view *view, bool one_host);

/* Members of an object, of the type expected: false after a message with its place. A null, where
 * it may be one, is the text "". */
bool diff_view_text(const struct diff_view *view, const json_t *object, const char *key,
                    bool nullable, const char **text_p);
bool diff_view_int(const struct diff_view *view, const json_t *object, const char *key,
                   int *value_p);

/* The noun of the list's elements in a difference ("device"); NULL: the key is no list. */
const char *diff_view_noun(const char *key);

/* match.c: which device of one document is which of the other.
 *
 * Devices of one backend are paired by uid (on one host), then by PCI address, then by name, then
 * in order. Paired devices have one label, "cuda:0" by the first document; the others are in one
 * document alone. */
bool diff_match(struct diff_view *a, struct diff_view *b, bool one_host);

/* compare.c: the differences of two views. */

struct difference {
    char what[2 * DIFF_TEXT_MAX]; /* "device cuda:0 driver" */
    char key[64];                 /* "driver"; "" where a whole element is absent */
    const json_t *a;              /* borrowed; NULL: absent */
    const json_t *b;
    const char *a_reason; /* of a null */
    const char *b_reason;
    int a_spread; /* percent, of a measured figure; -1: it is none */
    int b_spread;
};

struct diff_list {
    struct difference *items;
    size_t count;
};

void diff_compare(const struct diff_view *a, const struct diff_view *b, struct diff_list *list_p);

/* report.c: the answer. Returns EXIT_YES (the same), EXIT_ABSENT (different) or EXIT_USAGE. */
int diff_report(const char *a_path, const char *b_path, bool as_json);

#endif /* MEMQUERY_DIFF_H */
