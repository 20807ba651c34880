/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: knowledge is a vector: for each thread the number of its steps, for each atomic object
 * the number of a value. One step follows another when its thread knows it. */

#include "memory.h"
#include "schedule.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    LOCATIONS_MAX = 512,
    VALUES_MAX    = 48, /* of an object; older ones are forgotten */
    OLDER_MAX     = 3,  /* values behind the newest one that a load may have */
    STALE_MAX     = 3,  /* loads of an execution that have such a value */
    STALE_EACH    = 2,  /* of one thread and object */
    WORDS         = 1 << 15,
    CELLS         = 6,
    CHANNELS_MAX  = 256, /* locks, and threads that have ended */
    POOL_BYTES    = 24 << 20,
};

/* Not those that the product's calls come to. */
void *__real_memset(void *, int, size_t);
void *__real_memcpy(void *, const void *, size_t);
void *__real_memmove(void *, const void *, size_t);

struct knowledge {
    uint32_t clock[THREADS_MAX];
    uint16_t seen[LOCATIONS_MAX];
};

struct value {
    uint64_t bits;
    const struct knowledge *released; /* NULL: by a relaxed store */
};

struct location {
    uintptr_t address;
    uint8_t size;
    uint16_t first; /* number of values[0] */
    uint16_t count;
    uint8_t stale[THREADS_MAX];
    struct value values[VALUES_MAX];
};

/* The last accesses to eight bytes. */
struct cell {
    const void *place;
    uint32_t clock;
    uint8_t thread;
    uint8_t mask;
    bool is_write, is_atomic;
};

struct word {
    uintptr_t number;
    int16_t locations[8]; /* by the first byte, from 1 */
    bool is_free;
    struct cell cells[CELLS];
    unsigned next;
};

static struct knowledge now[THREADS_MAX];
static struct knowledge on_acquire[THREADS_MAX]; /* relaxed loads have seen it */
static struct knowledge on_release[THREADS_MAX]; /* at the last release barrier */
static bool has_order[THREADS_MAX];
static struct knowledge consistent; /* what sequentially consistent barriers have passed on */
static struct location locations[LOCATIONS_MAX];
static unsigned location_count;
static struct word words[WORDS];
static unsigned words_used;
static unsigned stale;
static char pool[POOL_BYTES];
static size_t pool_used;

static struct channel {
    uintptr_t object;
    struct knowledge known;
} channels[CHANNELS_MAX];

static bool is_acquire(int order)
{
    return (order != __ATOMIC_RELAXED) && (order != __ATOMIC_RELEASE);
}

static bool is_release(int order)
{
    return (order == __ATOMIC_RELEASE) || (order == __ATOMIC_ACQ_REL) ||
           (order == __ATOMIC_SEQ_CST);
}

static void join(struct knowledge *to, const struct knowledge *from)
{
    unsigned i;

    for (i = 0; i < THREADS_MAX; i++) {
        to->clock[i] = (from->clock[i] > to->clock[i]) ? from->clock[i] : to->clock[i];
    }
    for (i = 0; i < location_count; i++) {
        to->seen[i] = (from->seen[i] > to->seen[i]) ? from->seen[i] : to->seen[i];
    }
}

static struct knowledge *copy_of(const struct knowledge *known)
{
    struct knowledge *copy = (void *)(pool + pool_used);

    if (pool_used + sizeof *copy > sizeof pool) {
        scenario_fail("the model has no memory for more stores");
    }
    pool_used += sizeof *copy;
    __real_memcpy(copy, known,
                  offsetof(struct knowledge, seen) + location_count * sizeof known->seen[0]);
    return copy;
}

const char *memory_place_path(const void *place)
{
    static char text[400];
    char command[600];
    Dl_info info;
    FILE *pipe;

    if ((place == NULL) || (dladdr(place, &info) == 0)) {
        return "?";
    }
    snprintf(command, sizeof command, "addr2line -e %s %#lx 2>&1", info.dli_fname,
             (unsigned long)((const char *)place - (const char *)info.dli_fbase - 1));
    pipe = popen(command, "r");
    if ((pipe == NULL) || (fgets(text, sizeof text, pipe) == NULL)) {
        snprintf(text, sizeof text, "%s", (info.dli_sname == NULL) ? "?" : info.dli_sname);
    }
    if (pipe != NULL) {
        pclose(pipe);
    }
    text[strcspn(text, " \n")] = '\0';
    return text;
}

const char *memory_place(const void *place)
{
    const char *path  = memory_place_path(place);
    const char *slash = strrchr(path, '/');

    return (slash == NULL) ? path : slash + 1;
}

/* ---- races ---- */

static struct word *word_of(uintptr_t number)
{
    size_t i = (number * UINT64_C(0x9e3779b97f4a7c15)) >> 49;

    while ((words[i].number != number) && (words[i].number != 0)) {
        i = (i + 1) % WORDS;
    }
    if ((words[i].number == 0) && (++words_used == WORDS)) {
        scenario_fail("more than %d words of memory", WORDS);
    }
    words[i].number = number;
    return &words[i];
}

static void check_word(uintptr_t number, uint8_t mask, bool is_write, bool is_atomic,
                       const void *place)
{
    struct word *word = word_of(number);
    unsigned thread   = schedule_self();
    struct cell *free = NULL;
    unsigned i;

    if (word->is_free) {
        scenario_fail("memory is used after it was freed: %s", memory_place(place));
    }
    for (i = 0; i < CELLS; i++) {
        struct cell *cell = &word->cells[i];

        if (cell->mask == 0) {
            free = (free == NULL) ? cell : free;
        } else if (cell->thread == thread) {
            free = ((cell->mask == mask) && (cell->is_write == is_write)) ? cell : free;
        } else if (((cell->mask & mask) != 0) && (cell->is_write || is_write) &&
                   !(cell->is_atomic && is_atomic) &&
                   (cell->clock > now[thread].clock[cell->thread])) {
            char other[400];

            snprintf(other, sizeof other, "%s", memory_place(cell->place));
            scenario_fail("data race: %s in thread %u and %s in thread %u", other, cell->thread,
                          memory_place(place), thread);
        }
    }
    if (free == NULL) {
        free = &word->cells[word->next++ % CELLS];
    }
    *free = (struct cell){.place     = place,
                          .clock     = now[thread].clock[thread],
                          .thread    = (uint8_t)thread,
                          .mask      = mask,
                          .is_write  = is_write,
                          .is_atomic = is_atomic};
}

/* A store that is not atomic: the object begins anew, at its next atomic access. */
static void forget_locations(uintptr_t number, uint8_t mask)
{
    struct word *word = word_of(number);
    unsigned i;

    for (i = 0; i < 8; i++) {
        if (((mask >> i) & 1) && (word->locations[i] != 0)) {
            struct location *location = &locations[word->locations[i] - 1];

            location->first = (uint16_t)(location->first + location->count);
            location->count = 0;
        }
    }
}

void memory_access(const volatile void *address, size_t size_bytes, bool is_write,
                   const void *place)
{
    uintptr_t at  = (uintptr_t)address;
    uintptr_t end = at + size_bytes;

    while (at < end) {
        unsigned first = (unsigned)(at & 7);
        unsigned count = ((end - at) < (8 - first)) ? (unsigned)(end - at) : 8 - first;
        uint8_t mask   = (uint8_t)(((1u << count) - 1) << first);

        check_word(at >> 3, mask, is_write, false, place);
        if (is_write) {
            forget_locations(at >> 3, mask);
        }
        at += count;
    }
}

void memory_renew(const void *address, size_t size_bytes)
{
    uintptr_t first = (uintptr_t)address >> 3;
    uintptr_t end   = ((uintptr_t)address + size_bytes) >> 3;
    unsigned i;

    for (i = 0; i < WORDS; i++) {
        if ((words[i].number >= first) && (words[i].number < end)) {
            forget_locations(words[i].number, 0xff);
            words[i].is_free = false;
            __real_memset(words[i].cells, 0, sizeof words[i].cells);
        }
    }
}

void memory_free(const void *address, size_t size_bytes, const void *place)
{
    uintptr_t at = (uintptr_t)address;

    memory_access(address, size_bytes, true, place);
    for (; at + 8 <= (uintptr_t)address + size_bytes; at += 8) {
        word_of(at >> 3)->is_free = true;
    }
}

/* ---- atomic objects ---- */

static uint64_t read_bits(const volatile void *address, unsigned size)
{
    uint64_t bits = 0;

    __real_memcpy(&bits, (const void *)address, size);
    return bits;
}

static struct location *location_of(const volatile void *address, unsigned size, bool is_write,
                                    const void *place)
{
    uintptr_t at      = (uintptr_t)address;
    struct word *word = word_of(at >> 3);
    int16_t *number   = &word->locations[at & 7];
    struct location *location;
    uint64_t bits = read_bits(address, size);

    check_word(at >> 3, (uint8_t)(((1u << size) - 1) << (at & 7)), is_write, true, place);
    if (*number == 0) {
        if (location_count == LOCATIONS_MAX) {
            scenario_fail("more than %d atomic objects", LOCATIONS_MAX);
        }
        *number = (int16_t)++location_count;
    }
    location = &locations[*number - 1];
    /* New, stored to otherwise, or by code that the model does not see: the kernel, say. */
    if ((location->count == 0) || (location->size != size) ||
        (location->values[location->count - 1].bits != bits)) {
        location->first     = (uint16_t)(location->first + location->count);
        location->values[0] = (struct value){.bits = bits};
        location->count     = 1;
        location->address   = at;
        location->size      = (uint8_t)size;
    }
    return location;
}

static unsigned newest_of(const struct location *location)
{
    return (unsigned)(location->first + location->count - 1);
}

static void see(struct location *location, unsigned number, int order)
{
    unsigned thread           = schedule_self();
    unsigned at               = (unsigned)(location - locations);
    const struct value *value = &location->values[number - location->first];

    now[thread].seen[at] = (uint16_t)number;
    if (value->released != NULL) {
        join(is_acquire(order) ? &now[thread] : &on_acquire[thread], value->released);
    }
    if ((order == __ATOMIC_SEQ_CST) && (consistent.seen[at] < number)) {
        consistent.seen[at] = (uint16_t)number;
    }
}

uint64_t memory_load(const volatile void *address, unsigned size, int order, const void *place)
{
    struct location *location = location_of(address, size, false, place);
    unsigned thread           = schedule_self();
    unsigned at               = (unsigned)(location - locations);
    unsigned newest           = newest_of(location);
    unsigned oldest           = now[thread].seen[at];
    unsigned number;

    if ((order == __ATOMIC_SEQ_CST) && (consistent.seen[at] > oldest)) {
        oldest = consistent.seen[at];
    }
    oldest = (oldest < location->first) ? location->first : oldest;
    oldest = ((newest - oldest) > OLDER_MAX) ? newest - OLDER_MAX : oldest;
    if (schedule_is_spinning() || (stale >= STALE_MAX) || (location->stale[thread] >= STALE_EACH)) {
        oldest = newest;
    }
    number = newest;
    if (oldest < newest) {
        number -= schedule_choose(newest - oldest + 1, place);
    }
    if (number != newest) {
        stale++;
        location->stale[thread]++;
    }
    see(location, number, order);
    schedule_spin();
    return location->values[number - location->first].bits;
}

static void add_value(struct location *location, uint64_t bits, const struct knowledge *released)
{
    if (location->count == VALUES_MAX) {
        __real_memmove(location->values, location->values + 1,
                       (VALUES_MAX - 1) * sizeof location->values[0]);
        location->first++;
        location->count--;
    }
    location->values[location->count++] = (struct value){.bits = bits, .released = released};
}

/* What a store of the thread passes on; @p before: what the value that it replaces does. */
static const struct knowledge *released_by(int order, const struct knowledge *before)
{
    unsigned thread = schedule_self();
    struct knowledge *released;

    if (!is_release(order) && !has_order[thread]) {
        return before;
    }
    released = copy_of(is_release(order) ? &now[thread] : &on_release[thread]);
    if (before != NULL) {
        join(released, before);
    }
    memory_tick(thread); /* what follows is not passed on */
    return released;
}

static void put(struct location *location, uint64_t bits, int order, const struct knowledge *before)
{
    unsigned thread    = schedule_self();
    unsigned at        = (unsigned)(location - locations);
    bool is_change     = (location->values[location->count - 1].bits != bits);
    unsigned number    = newest_of(location) + 1;
    volatile void *raw = (volatile void *)location->address;

    now[thread].seen[at] = (uint16_t)number;
    add_value(location, bits, released_by(order, before));
    __real_memcpy((void *)raw, &bits, location->size);
    if (order == __ATOMIC_SEQ_CST) {
        consistent.seen[at] = (uint16_t)number;
    }
    if (is_change) {
        schedule_progress();
    } else {
        schedule_spin();
    }
}

void memory_store(volatile void *address, unsigned size, uint64_t value, int order,
                  const void *place)
{
    put(location_of(address, size, true, place), value, order, NULL);
}

uint64_t memory_modify(volatile void *address, unsigned size, memory_change *change,
                       uint64_t argument, uint64_t condition, int order, int failure_order,
                       const void *place)
{
    struct location *location = location_of(address, size, true, place);
    struct value old          = location->values[location->count - 1];
    uint64_t bits             = old.bits;
    bool is_stored            = change(&bits, argument, condition);

    see(location, newest_of(location), is_stored ? order : failure_order);
    if (is_stored) {
        put(location, bits & (UINT64_MAX >> (64 - 8 * size)), order, old.released);
    } else {
        schedule_spin();
    }
    return old.bits;
}

static void pass_order(unsigned thread, bool acquires, bool releases, bool is_consistent)
{
    if (acquires) {
        join(&now[thread], &on_acquire[thread]);
    }
    if (is_consistent) {
        join(&now[thread], &consistent);
        join(&consistent, &now[thread]);
    }
    if (releases) {
        __real_memcpy(&on_release[thread], &now[thread], sizeof now[thread]);
        has_order[thread] = true;
        memory_tick(thread);
    }
}

void memory_order(int order, const void *place)
{
    (void)place;
    pass_order(schedule_self(), is_acquire(order), is_release(order), order == __ATOMIC_SEQ_CST);
}

void memory_barrier_of_all(void)
{
    unsigned pass, i;

    for (pass = 0; pass < 2; pass++) {
        for (i = 1; i < THREADS_MAX; i++) {
            pass_order(i, true, true, true);
        }
    }
}

void memory_refresh(unsigned thread)
{
    unsigned i;

    for (i = 0; i < location_count; i++) {
        unsigned newest = newest_of(&locations[i]);

        if (locations[i].count > 0) {
            now[thread].seen[i] = (uint16_t)newest;
        }
    }
}

/* ---- locks and threads ---- */

static struct knowledge *channel_of(uintptr_t object)
{
    unsigned i = 0;

    while ((i < CHANNELS_MAX) && (channels[i].object != object) && (channels[i].object != 0)) {
        i++;
    }
    if (i == CHANNELS_MAX) {
        scenario_fail("more than %d locks", CHANNELS_MAX);
    }
    channels[i].object = object;
    return &channels[i].known;
}

void memory_release_to(uintptr_t object, unsigned thread)
{
    join(channel_of(object), &now[thread]);
    now[thread].clock[thread]++;
}

void memory_acquire_from(uintptr_t object, unsigned thread)
{
    join(&now[thread], channel_of(object));
}

void memory_tick(unsigned thread)
{
    now[thread].clock[thread]++;
}

void memory_thread_start(unsigned thread, unsigned parent)
{
    join(&now[thread], &now[parent]);
    now[parent].clock[parent]++;
}

void memory_thread_end(unsigned thread)
{
    memory_release_to((uintptr_t)&now[thread], thread);
}

void memory_thread_join(unsigned thread)
{
    memory_acquire_from((uintptr_t)&now[thread], schedule_self());
}

void memory_keep_own(void)
{
    unsigned i;

    for (i = 1; i < THREADS_MAX; i++) {
        join(&now[schedule_self()], &now[i]);
    }
}
