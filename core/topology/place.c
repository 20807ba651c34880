/* SPDX-License-Identifier: BSD-3-Clause */
/* place.c: OMP_PLACES (OpenMP, "Environment Variables").
 *
 * Either a word for the kind of places, with an optional count, or a list of places, each a set of
 * processors by the operating system's numbers. Intervals, "start:length:stride", work alike for
 * processors within a place and for places as a whole; "!" excludes the place behind it. One
 * function a rule of the grammar; the first problem stops the parser and is kept with where it is.
 */

#include "core/topology/place.h"
#include "core/base/text.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* More than any machine has; keeps a misprint like {0:4000000000} from eating the memory, and
 * WORK_MAX one like {0:65535}:65535:0, whose numbers are each in range, the time as well. Counted
 * are processors visited and 64-bit words of sets; one place a processor on a machine of 8192 comes
 * to 1/8 of it. */
enum { PROCESSOR_MAX = 65535, PLACES_MAX = 65536, WORK_MAX = 1 << 22 };

struct parser {
    const char *text;
    const char *at;
    hwloc_topology_t topology;
    hwloc_const_bitmap_t allowed; /* NULL: all */
    struct msp_places *places;
    long work;
    char *problem;
    size_t problem_size;
};

struct interval {
    long length;
    long stride;
};

__attribute__((format(printf, 2, 3))) static bool fail(struct parser *p, const char *format, ...)
{
    size_t used = 0;
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(p->problem, p->problem_size, format, args);
    va_end(args);
    used = ((n > 0) && ((size_t)n < p->problem_size)) ? (size_t)n : 0;
    msp_text_append(p->problem, p->problem_size, &used, " (character %td)", p->at - p->text + 1);
    return false;
}

static bool spend(struct parser *p, long work)
{
    p->work += work;
    return (p->work <= WORK_MAX) || fail(p, "more processors in all than any machine has");
}

static void skip_blanks(struct parser *p)
{
    while (isspace((unsigned char)*p->at)) {
        p->at++;
    }
}

/* Takes the character if it comes next. */
static bool take_character(struct parser *p, char c)
{
    skip_blanks(p);
    if (*p->at != c) {
        return false;
    }
    p->at++;
    return true;
}

static bool parse_number(struct parser *p, long min, const char *what, long *value_p)
{
    char *end;
    long value;

    skip_blanks(p);
    value = strtol(p->at, &end, 10);
    if (end == p->at) {
        return fail(p, "%s expected", what);
    }
    if ((value < min) || (value > PROCESSOR_MAX)) {
        return fail(p, "%s out of range", what);
    }
    p->at    = end;
    *value_p = value;
    return true;
}

/* ":length[:stride]", if there; else one. */
static bool parse_interval(struct parser *p, struct interval *interval_p)
{
    *interval_p = (struct interval){1, 1};
    if (!take_character(p, ':')) {
        return true;
    }
    if (!parse_number(p, 1, "a length of at least 1", &interval_p->length)) {
        return false;
    }
    return !take_character(p, ':') ||
           parse_number(p, -PROCESSOR_MAX, "a stride", &interval_p->stride);
}

static bool add_place(struct parser *p, hwloc_const_bitmap_t set)
{
    struct msp_places *places = p->places;
    hwloc_bitmap_t *grown;

    if (places->count >= PLACES_MAX) {
        return fail(p, "more than %d places", (int)PLACES_MAX);
    }
    /* Grown at powers of two, so that there is always space up to the next one. */
    if ((places->count & (places->count - 1)) == 0) {
        grown = realloc(places->sets, sizeof(hwloc_bitmap_t) *
                                          (size_t)((places->count == 0) ? 1 : 2 * places->count));
        if (grown == NULL) {
            return fail(p, "no memory for %d places", places->count);
        }
        places->sets = grown;
    }
    places->sets[places->count] = hwloc_bitmap_dup(set);
    if (places->sets[places->count] == NULL) {
        return fail(p, "no memory for %d places", places->count);
    }
    places->count++;
    return true;
}

/* Of the allowed processors alone; none of them: no place, and no failure. */
static bool add_allowed(struct parser *p, hwloc_const_bitmap_t set)
{
    hwloc_bitmap_t rest;
    bool ok;

    if (p->allowed == NULL) {
        return add_place(p, set);
    }
    rest = hwloc_bitmap_dup(set);
    if (rest == NULL) {
        return fail(p, "no memory for a place");
    }
    hwloc_bitmap_and(rest, set, p->allowed);
    ok = hwloc_bitmap_iszero(rest) || add_place(p, rest);
    hwloc_bitmap_free(rest);
    return ok;
}

/* The places of a list, which "!" excludes as they are written. */
static bool restrict_places(struct parser *p)
{
    struct msp_places all = *p->places;
    bool ok               = true;
    int i;

    *p->places = (struct msp_places){NULL, 0};
    for (i = 0; ok && (i < all.count); i++) {
        ok = add_allowed(p, all.sets[i]);
    }
    msp_places_free(&all);
    return ok && ((p->places->count > 0) ||
                  fail(p, "no place has a processor that this process may use"));
}

static void remove_places(struct msp_places *places, hwloc_const_bitmap_t set)
{
    int kept = 0;
    int i;
    hwloc_bitmap_t *sets = places->sets;

    for (i = 0; i < places->count; i++) {
        if (hwloc_bitmap_isequal(sets[i], set)) {
            hwloc_bitmap_free(sets[i]);
        } else {
            sets[kept++] = sets[i];
        }
    }
    places->count = kept;
}

/* "4", "4:3:2" or "!4" within braces. */
static bool parse_resources(struct parser *p, hwloc_bitmap_t set)
{
    bool excluded = take_character(p, '!');
    struct interval interval;
    long first = 0;
    long i;

    if (!parse_number(p, 0, "a processor number", &first)) {
        return false;
    }
    if (excluded) {
        hwloc_bitmap_clr(set, (unsigned)first);
        return true;
    }
    if (!parse_interval(p, &interval) || !spend(p, interval.length)) {
        return false;
    }
    for (i = 0; i < interval.length; i++) {
        long number = first + i * interval.stride;
        if ((number < 0) || (number > PROCESSOR_MAX)) {
            return fail(p, "processor %ld out of range", number);
        }
        hwloc_bitmap_set(set, (unsigned)number);
    }
    return true;
}

/* "{0,1,4:2}", or a bare number, which is a place of one processor. */
static bool parse_place(struct parser *p, hwloc_bitmap_t set)
{
    long number;

    hwloc_bitmap_zero(set);
    if (!take_character(p, '{')) {
        if (!parse_number(p, 0, "{ or a processor number", &number)) {
            return false;
        }
        hwloc_bitmap_set(set, (unsigned)number);
        return true;
    }
    do {
        if (!parse_resources(p, set)) {
            return false;
        }
    } while (take_character(p, ','));
    if (!take_character(p, '}')) {
        return fail(p, ", or } expected");
    }
    return !hwloc_bitmap_iszero(set) || fail(p, "a place without processors");
}

/* Adds @p set moved by i * stride for each i of the interval. */
static bool add_interval(struct parser *p, hwloc_const_bitmap_t set, struct interval interval)
{
    hwloc_bitmap_t moved = hwloc_bitmap_alloc();
    bool ok              = (moved != NULL) || fail(p, "no memory for a place");
    long processors      = hwloc_bitmap_weight(set);
    long i;

    for (i = 0; ok && (i < interval.length); i++) {
        int number = -1;

        hwloc_bitmap_zero(moved);
        while (ok && ((number = hwloc_bitmap_next(set, number)) >= 0)) {
            long there = number + i * interval.stride;
            if ((there < 0) || (there > PROCESSOR_MAX)) {
                ok = fail(p, "processor %ld out of range", there);
            } else {
                hwloc_bitmap_set(moved, (unsigned)there);
            }
        }
        ok = ok && spend(p, processors + hwloc_bitmap_last(moved) / 64) && add_place(p, moved);
    }
    hwloc_bitmap_free(moved);
    return ok;
}

static bool parse_list_entry(struct parser *p, hwloc_bitmap_t set)
{
    bool excluded            = take_character(p, '!');
    struct interval interval = {1, 1};

    if (!parse_place(p, set)) {
        return false;
    }
    if (excluded) {
        remove_places(p->places, set);
        return spend(p, p->places->count);
    }
    return parse_interval(p, &interval) && add_interval(p, set, interval);
}

static bool parse_list(struct parser *p)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    bool ok            = (set != NULL) || fail(p, "no memory for a place");

    while (ok) {
        ok = parse_list_entry(p, set);
        if (!ok || !take_character(p, ',')) {
            break;
        }
    }
    hwloc_bitmap_free(set);
    if (ok && (*p->at != '\0')) {
        return fail(p, "\"%.16s\" is left over", p->at);
    }
    ok = ok && ((p->places->count > 0) || fail(p, "no place is left"));
    return ok && ((p->allowed == NULL) || restrict_places(p));
}

static bool add_objects(struct parser *p, hwloc_obj_type_t type, long limit)
{
    hwloc_obj_t object = NULL;

    while ((p->places->count < limit) &&
           ((object = hwloc_get_next_obj_by_type(p->topology, type, object)) != NULL)) {
        if (!hwloc_bitmap_iszero(object->cpuset) && !add_allowed(p, object->cpuset)) {
            return false;
        }
    }
    return true;
}

/* Nodes that share their processors (memory of several kinds) are one place. */
static bool add_domains(struct parser *p, long limit)
{
    hwloc_obj_t node = NULL;
    int i;

    while ((p->places->count < limit) &&
           ((node = hwloc_get_next_obj_by_type(p->topology, HWLOC_OBJ_NUMANODE, node)) != NULL)) {
        for (i = 0;
             (i < p->places->count) && !hwloc_bitmap_intersects(p->places->sets[i], node->cpuset);
             i++) {
        }
        if ((i == p->places->count) && !hwloc_bitmap_iszero(node->cpuset) &&
            !add_allowed(p, node->cpuset)) {
            return false;
        }
    }
    return true;
}

/* The outermost level of cache that this machine has. */
static hwloc_obj_type_t last_level(hwloc_topology_t topology)
{
    static const hwloc_obj_type_t levels[] = {HWLOC_OBJ_L5CACHE, HWLOC_OBJ_L4CACHE,
                                              HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE};
    size_t i;

    for (i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        if (hwloc_get_nbobjs_by_type(topology, levels[i]) > 0) {
            return levels[i];
        }
    }
    return HWLOC_OBJ_CORE;
}

static bool add_word(struct parser *p, const char *word, long limit)
{
    bool ok;

    if (strcasecmp(word, "threads") == 0) {
        ok = add_objects(p, HWLOC_OBJ_PU, limit);
    } else if (strcasecmp(word, "cores") == 0) {
        ok = add_objects(p, HWLOC_OBJ_CORE, limit);
        /* Some virtual machines show no cores. */
        ok = ok && ((p->places->count > 0) || add_objects(p, HWLOC_OBJ_PU, limit));
    } else if (strcasecmp(word, "sockets") == 0) {
        ok = add_objects(p, HWLOC_OBJ_PACKAGE, limit);
        ok = ok && ((p->places->count > 0) || add_objects(p, HWLOC_OBJ_MACHINE, limit));
    } else if (strcasecmp(word, "ll_caches") == 0) {
        ok = add_objects(p, last_level(p->topology), limit);
    } else if (strcasecmp(word, "numa_domains") == 0) {
        ok = add_domains(p, limit);
    } else {
        p->at = p->text;
        return fail(p, "\"%s\" is none of threads, cores, ll_caches, sockets, numa_domains", word);
    }
    return ok && ((p->places->count > 0) || fail(p, "this machine shows no %s", word));
}

static bool parse_word(struct parser *p)
{
    size_t length = strspn(p->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
    long limit    = PLACES_MAX;
    char word[32];

    snprintf(word, sizeof(word), "%.*s", (int)((length < 31) ? length : 31), p->at);
    p->at += length;
    if (take_character(p, '(')) {
        if (!parse_number(p, 1, "a number of places of at least 1", &limit)) {
            return false;
        }
        if (!take_character(p, ')')) {
            return fail(p, ") expected");
        }
    }
    skip_blanks(p);
    if (*p->at != '\0') {
        return fail(p, "\"%.16s\" is left over", p->at);
    }
    return add_word(p, word, limit);
}

bool msp_places_parse(const char *text, hwloc_topology_t topology, hwloc_const_bitmap_t allowed,
                      struct msp_places *places_p, char *problem, size_t problem_size)
{
    struct msp_places places = {NULL, 0};
    struct parser p          = {text, text, topology, allowed, &places, 0, problem, problem_size};
    bool ok;

    skip_blanks(&p);
    if (*p.at == '\0') {
        ok = add_word(&p, "cores", PLACES_MAX);
    } else {
        ok = isalpha((unsigned char)*p.at) ? parse_word(&p) : parse_list(&p);
    }
    if (!ok) {
        msp_places_free(&places);
    }
    *places_p = places;
    return ok;
}

void msp_places_free(struct msp_places *places)
{
    int i;

    for (i = 0; i < places->count; i++) {
        hwloc_bitmap_free(places->sets[i]);
    }
    free(places->sets);
    *places = (struct msp_places){NULL, 0};
}
