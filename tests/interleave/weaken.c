/* SPDX-License-Identifier: BSD-3-Clause */
/* weaken.c: the places of the product's memory orders, and one of them weakened.
 *
 * An execution notes the places that it comes to, by address, with their orders. Those of one line
 * of the sources are one place: the compiler has inlined it, or PEs have copies. */

#include "weaken.h"
#include "memory.h"
#include "schedule.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PLACES_MAX = 4096, NAME_BYTES = 128 };

struct place {
    const void *address;
    uint64_t scenarios; /* that come to it, a bit each */
    uint8_t kind;
    uint8_t order;
    bool is_weak;
    char name[NAME_BYTES]; /* file and line; empty: not of the product */
};

/* Shared by the explorer and its executions. */
static struct shared {
    unsigned count;
    unsigned scenario; /* that runs */
    bool notes;
    bool weakens;
    int weaker;
    struct place places[PLACES_MAX];
} * shared;

static const char *const kinds[WEAK_KINDS] = {"load",    "store",   "update",
                                              "failure", "barrier", "notification"};
static const char *const orders[]          = {"relaxed", "consume", "acquire",
                                              "release", "acq_rel", "seq_cst"};

void weaken_open(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror("mmap");
        exit(2);
    }
}

/* ---- in an execution ---- */

static struct place *find(const void *address, enum weak_kind kind)
{
    unsigned i;

    for (i = 0; i < shared->count; i++) {
        if ((shared->places[i].address == address) && (shared->places[i].kind == kind)) {
            return &shared->places[i];
        }
    }
    return NULL;
}

static void note(const void *address, enum weak_kind kind, int order)
{
    struct place *place = find(address, kind);

    if (place == NULL) {
        if (shared->count == PLACES_MAX) {
            scenario_fail("more than %d places", PLACES_MAX);
        }
        place          = &shared->places[shared->count++];
        place->address = address;
        place->kind    = (uint8_t)kind;
        place->order   = (uint8_t)order;
    }
    place->scenarios |= UINT64_C(1) << shared->scenario;
}

static bool is_weak(const void *address, enum weak_kind kind)
{
    const struct place *place = find(address, kind);

    return (place != NULL) && place->is_weak;
}

int weaken(const void *place, enum weak_kind kind, int order)
{
    if (shared->notes && (order != __ATOMIC_RELAXED)) {
        note(place, kind, order);
    }
    return (shared->weakens && is_weak(place, kind)) ? shared->weaker : order;
}

bool weaken_leaves_out(const void *place)
{
    if (shared->notes) {
        note(place, WEAK_NOTIFICATION, __ATOMIC_SEQ_CST);
    }
    return shared->weakens && is_weak(place, WEAK_NOTIFICATION);
}

/* ---- places by their lines ---- */

/* From the folder of the sources on; empty for the tests and for what is no source of ours. */
static void name_place(struct place *place)
{
    static const char *const rooms[] = {"/core/", "/shmem/", "/backends/", "/include/"};
    const char *path                 = memory_place_path(place->address);
    unsigned i;

    place->name[0] = '\0';
    for (i = 0; (i < sizeof rooms / sizeof rooms[0]) && (strstr(path, "/tests/") == NULL); i++) {
        const char *at = strstr(path, rooms[i]);

        if (at != NULL) {
            snprintf(place->name, sizeof place->name, "%s", at + 1);
        }
    }
}

static bool is_same(const struct place *a, const struct place *b)
{
    return (a->kind == b->kind) && (a->order == b->order) && (strcmp(a->name, b->name) == 0);
}

/* All of a line are weak; the scenarios that come to one of them. */
static uint64_t choose(const struct place *first)
{
    uint64_t scenarios = 0;
    unsigned i;

    for (i = 0; i < shared->count; i++) {
        struct place *place = &shared->places[i];

        place->is_weak = is_same(place, first);
        scenarios |= place->is_weak ? place->scenarios : 0;
    }
    return scenarios;
}

static bool is_first(const struct place *place)
{
    const struct place *other = shared->places;

    while (!is_same(other, place)) {
        other++;
    }
    return other == place;
}

/* ---- each in turn ---- */

/* The name of the scenario that notices it is in the execution's message; false: none does. */
static bool is_noticed(uint64_t scenarios, int weaker, unsigned count, weaken_explore *explore_one)
{
    bool is_right = true;

    shared->weaker = weaker;
    for (shared->scenario = 0; is_right && (shared->scenario < count); shared->scenario++) {
        if ((scenarios >> shared->scenario) & 1) {
            is_right = explore_one(shared->scenario);
        }
    }
    return !is_right;
}

/* Orders from the weakest on; -1: the end. */
static const int *weaker_orders(const struct place *place)
{
    static const int none[]         = {__ATOMIC_RELAXED, -1};
    static const int of_load[]      = {__ATOMIC_RELAXED, __ATOMIC_ACQUIRE, -1};
    static const int of_store[]     = {__ATOMIC_RELAXED, __ATOMIC_RELEASE, -1};
    static const int of_both[]      = {__ATOMIC_RELAXED, __ATOMIC_ACQUIRE, __ATOMIC_RELEASE, -1};
    static const int of_strongest[] = {__ATOMIC_RELAXED, __ATOMIC_ACQUIRE, __ATOMIC_RELEASE,
                                       __ATOMIC_ACQ_REL, -1};

    if ((place->kind == WEAK_NOTIFICATION) ||
        ((place->order != __ATOMIC_SEQ_CST) && (place->order != __ATOMIC_ACQ_REL))) {
        return none;
    }
    if ((place->kind == WEAK_LOAD) || (place->kind == WEAK_FAILURE)) {
        return of_load;
    }
    if (place->kind == WEAK_STORE) {
        return of_store;
    }
    return (place->order == __ATOMIC_SEQ_CST) ? of_strongest : of_both;
}

static void weaken_place(const struct place *place, unsigned count, weaken_explore *explore_one)
{
    uint64_t scenarios = choose(place);
    const int *weaker  = weaker_orders(place);
    char noticed[200]  = "";

    while ((*weaker != -1) && is_noticed(scenarios, *weaker, count, explore_one)) {
        if (noticed[0] == '\0') {
            snprintf(noticed, sizeof noticed, "%.180s", execution->message);
        }
        weaker++;
    }
    printf("order %s %s %s %s %s\n", place->name, kinds[place->kind], orders[place->order],
           (*weaker == -1) ? "needed" : orders[*weaker], noticed);
    fflush(stdout);
}

void weaken_all(unsigned scenario_count, weaken_explore *explore_one)
{
    unsigned i;

    shared->notes = true;
    for (shared->scenario = 0; shared->scenario < scenario_count; shared->scenario++) {
        (void)explore_one(shared->scenario);
    }
    shared->notes   = false;
    shared->weakens = true;
    for (i = 0; i < shared->count; i++) {
        name_place(&shared->places[i]);
    }
    for (i = 0; i < shared->count; i++) {
        if ((shared->places[i].name[0] != '\0') && is_first(&shared->places[i])) {
            weaken_place(&shared->places[i], scenario_count, explore_one);
        }
    }
}
