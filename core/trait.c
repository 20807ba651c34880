/* SPDX-License-Identifier: BSD-3-Clause */
/* trait.c: allocator traits, from arrays and from text.
 *
 * Each key is one case of set(); what two traits say together is checked afterwards, so that the
 * order in which they are given never matters. */

#include "core/trait.h"
#include "core/allocator.h"
#include "core/base/error.h"
#include "core/base/omp_hook.h"
#include "core/base/platform.h"
#include "core/base/text.h"
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { TRAITS_MAX = 64 }; /* more cannot be: there are fewer keys, each at most once */

/* ---- names ---- */

static const struct {
    memspan_trait_key_t key;
    const char *text;
    enum { WORD, SIZE, HANDLE, DEVICE, NUMBER } form;
} keys[] = {
#define KEY_ROW(name, number, text, form) {name, text, form},
    MEMSPAN_TRAIT_KEY_MAP(KEY_ROW)
#undef KEY_ROW
};

static const struct {
    uintptr_t value;
    const char *text;
} words[] = {
#define WORD_ROW(name, number, text) {name, text},
    MEMSPAN_TRAIT_VALUE_MAP(WORD_ROW)
#undef WORD_ROW
};

enum { KEYS = sizeof(keys) / sizeof(keys[0]), WORDS = sizeof(words) / sizeof(words[0]) };

const char *memspan_trait_key_text(memspan_trait_key_t key)
{
    size_t i;

    for (i = 0; i < KEYS; i++) {
        if (keys[i].key == key) {
            return keys[i].text;
        }
    }
    return NULL;
}

const char *memspan_trait_value_text(uintptr_t value)
{
    size_t i;

    for (i = 0; i < WORDS; i++) {
        if (words[i].value == value) {
            return words[i].text;
        }
    }
    return (value == MEMSPAN_VALUE_DEFAULT) ? "default" : NULL;
}

/* ---- setting one ---- */

void msp_traits_default(struct msp_traits *traits, bool target)
{
    *traits = (struct msp_traits){
        .alignment          = 1,
        .pool_size          = SIZE_MAX,
        .sync_hint          = MEMSPAN_VALUE_CONTENDED,
        .access             = MEMSPAN_VALUE_MEMSPACE,
        .fallback           = target ? MEMSPAN_VALUE_NULL_FB : MEMSPAN_VALUE_DEFAULT_MEM_FB,
        .partition          = MEMSPAN_VALUE_ENVIRONMENT,
        .target_access      = MEMSPAN_VALUE_SINGLE,
        .atomic_scope       = MEMSPAN_VALUE_ALL,
        .memory_access      = MEMSPAN_VALUE_COHERENT,
        .guarantee          = MEMSPAN_VALUE_PREFERRED,
        .pin_device         = MSP_NO_DEVICE,
        .preferred_location = MSP_NO_DEVICE,
        .preferred_place    = MSP_NO_PLACE,
    };
}

static memspan_status_t bad_value(memspan_trait_key_t key, uintptr_t value, const char *allowed)
{
    const char *word = memspan_trait_value_text(value);

    if ((word != NULL) && (value != MEMSPAN_VALUE_DEFAULT)) {
        memspan_error(MEMSPAN_ERR_INVALID, "trait %s cannot be %llu (%s)",
                      memspan_trait_key_text(key), (unsigned long long)value, word);
    } else {
        memspan_error(MEMSPAN_ERR_INVALID, "trait %s cannot be %llu", memspan_trait_key_text(key),
                      (unsigned long long)value);
    }
    return msp_error_hint("it can be %s", allowed);
}

static memspan_status_t set_word(int *field, const memspan_trait_t *trait, uintptr_t first,
                                 uintptr_t last, uintptr_t extra, uintptr_t extra2,
                                 const char *allowed)
{
    uintptr_t value = trait->value;

    if (((value < first) || (value > last)) && (value != extra) && (value != extra2)) {
        return bad_value(trait->key, value, allowed);
    }
    *field = (int)value;
    return MEMSPAN_OK;
}

static memspan_status_t set_bool(bool *field, const memspan_trait_t *trait)
{
    if (trait->value > MEMSPAN_VALUE_TRUE) {
        return bad_value(trait->key, trait->value, "true or false");
    }
    *field = (trait->value == MEMSPAN_VALUE_TRUE);
    return MEMSPAN_OK;
}

static memspan_status_t set_size(size_t *field, const memspan_trait_t *trait, bool power)
{
    if ((trait->value == 0) || (power && !msp_is_power_of_two(trait->value))) {
        return bad_value(trait->key, trait->value,
                         power ? "a power of two" : "any number of bytes above 0");
    }
    *field = trait->value;
    return MEMSPAN_OK;
}

/* Device and place numbers are signed and arrive in an unsigned word; -1 is the host, and is also
 * what "default" looks like. For devices the host is the better reading of an explicit -1. */
static memspan_status_t set_int(int *field, const memspan_trait_t *trait, int lowest)
{
    intptr_t value = (intptr_t)trait->value;

    /* Callers store an int into the word with or without sign extension. */
    if ((value > INT_MAX) && (value <= UINT_MAX)) {
        value = (int)(unsigned)value;
    }
    if ((value < lowest) || (value > INT_MAX)) {
        return bad_value(trait->key, trait->value,
                         (lowest < 0) ? "a device number, or -1 for the host" : "a place number");
    }
    *field = (int)value;
    return MEMSPAN_OK;
}

/* Words that every runtime accepts and that change nothing here beyond being checked. */
static memspan_status_t set_scope(struct msp_traits *t, bool target, const memspan_trait_t *trait)
{
    switch (trait->key) {
    case MEMSPAN_TRAIT_SYNC_HINT:
        return set_word(&t->sync_hint, trait, MEMSPAN_VALUE_CONTENDED, MEMSPAN_VALUE_PRIVATE,
                        MEMSPAN_VALUE_CONTENDED, MEMSPAN_VALUE_CONTENDED,
                        "contended, uncontended, serialized or private");
    case MEMSPAN_TRAIT_ACCESS:
        if (target) {
            /* 7 is "all" in every header that ships, see trait.h. */
            return set_word(&t->access, trait, MEMSPAN_VALUE_DEVICE, MEMSPAN_VALUE_DEVICE,
                            MEMSPAN_VALUE_ALL, MEMSPAN_VALUE_MEMSPACE,
                            "all or memspace for a target memory space");
        }
        return set_word(&t->access, trait, MEMSPAN_VALUE_DEVICE, MEMSPAN_VALUE_CGROUP,
                        MEMSPAN_VALUE_ALL, MEMSPAN_VALUE_MEMSPACE,
                        "all, memspace, device, cgroup, pteam or thread");
    case MEMSPAN_TRAIT_TARGET_ACCESS:
        return set_word(&t->target_access, trait, MEMSPAN_VALUE_SINGLE, MEMSPAN_VALUE_MULTIPLE,
                        MEMSPAN_VALUE_SINGLE, MEMSPAN_VALUE_SINGLE, "single or multiple");
    case MEMSPAN_TRAIT_DEVICE_ACCESS: {
        int ignored; /* in the standard's list of keys, in its table of traits not */
        return set_word(&ignored, trait, MEMSPAN_VALUE_SINGLE, MEMSPAN_VALUE_MULTIPLE,
                        MEMSPAN_VALUE_SINGLE, MEMSPAN_VALUE_SINGLE, "single or multiple");
    }
    default: /* MEMSPAN_TRAIT_ATOMIC_SCOPE */
        return set_word(&t->atomic_scope, trait, MEMSPAN_VALUE_ALL, MEMSPAN_VALUE_ALL,
                        MEMSPAN_VALUE_DEVICE, MEMSPAN_VALUE_ALL, "all or device");
    }
}

static memspan_status_t set(struct msp_traits *t, bool target, const memspan_trait_t *trait)
{
    memspan_status_t status;

    switch (trait->key) {
    case MEMSPAN_TRAIT_SYNC_HINT:
    case MEMSPAN_TRAIT_ACCESS:
    case MEMSPAN_TRAIT_TARGET_ACCESS:
    case MEMSPAN_TRAIT_DEVICE_ACCESS:
    case MEMSPAN_TRAIT_ATOMIC_SCOPE:
        return set_scope(t, target, trait);
    case MEMSPAN_TRAIT_ALIGNMENT:
        return set_size(&t->alignment, trait, true);
    case MEMSPAN_TRAIT_POOL_SIZE:
        return set_size(&t->pool_size, trait, false);
    case MEMSPAN_TRAIT_FALLBACK:
        return set_word(&t->fallback, trait, MEMSPAN_VALUE_DEFAULT_MEM_FB,
                        MEMSPAN_VALUE_ALLOCATOR_FB, MEMSPAN_VALUE_NULL_FB, MEMSPAN_VALUE_NULL_FB,
                        "default_mem_fb, null_fb, abort_fb or allocator_fb");
    case MEMSPAN_TRAIT_FB_DATA:
        t->fb_data = (memspan_allocator_h)trait->value;
        return MEMSPAN_OK;
    case MEMSPAN_TRAIT_PINNED:
        return set_bool(&t->pinned, trait);
    case MEMSPAN_TRAIT_PARTITION:
        return set_word(&t->partition, trait, MEMSPAN_VALUE_ENVIRONMENT, MEMSPAN_VALUE_INTERLEAVED,
                        MEMSPAN_VALUE_PARTITIONER, MEMSPAN_VALUE_PARTITIONER,
                        "environment, nearest, blocked, interleaved or partitioner");
    case MEMSPAN_TRAIT_PIN_DEVICE:
        status    = set_int(&t->pin_device, trait, MEMSPAN_HOST);
        t->pinned = t->pinned || (status == MEMSPAN_OK);
        return status;
    case MEMSPAN_TRAIT_PREFERRED_DEVICE:
    case MEMSPAN_TRAIT_PREFERRED_LOCATION:
        return set_int(&t->preferred_location, trait, MEMSPAN_HOST);
    case MEMSPAN_TRAIT_PART_SIZE:
        return set_size(&t->part_size, trait, false);
    case MEMSPAN_TRAIT_PARTITIONER:
        t->partitioner = trait->value;
        return msp_partitioner_valid(trait->value)
                   ? MEMSPAN_OK
                   : bad_value(trait->key, trait->value, "an initialised memory partitioner");
    case MEMSPAN_TRAIT_PARTITIONER_ARG:
        t->partitioner_arg = trait->value;
        return MEMSPAN_OK;
    case MEMSPAN_TRAIT_MEMORY_ACCESS:
        t->memory_access_given = true;
        return set_word(&t->memory_access, trait, MEMSPAN_VALUE_MANAGED, MEMSPAN_VALUE_COHERENT,
                        MEMSPAN_VALUE_COHERENT, MEMSPAN_VALUE_COHERENT, "managed or coherent");
    case MEMSPAN_TRAIT_PREFERRED_PLACE:
        return set_int(&t->preferred_place, trait, 0);
    case MEMSPAN_TRAIT_GUARANTEE:
        return set_word(&t->guarantee, trait, MEMSPAN_VALUE_PREFERRED, MEMSPAN_VALUE_REQUIRED,
                        MEMSPAN_VALUE_REQUIRED, MEMSPAN_VALUE_REQUIRED, "preferred or required");
    case MEMSPAN_TRAIT_SHAREABLE:
        return set_bool(&t->shareable, trait);
    case MEMSPAN_TRAIT_PAGE_SIZE:
        return set_size(&t->page_size, trait, true);
    }
    memspan_error(MEMSPAN_ERR_INVALID, "there is no allocator trait with key %u",
                  (unsigned)trait->key);
    return msp_error_hint("OpenMP's keys are 1 to 16, Memspan's are in <memspan/trait.h>");
}

/* Where each trait is kept, for going back to the default. Device numbers are not here: for them
 * the value that looks like "default" is the host, see set_int(). */
#define FIELD(key, member)                                                                         \
    {                                                                                              \
        (key), offsetof(struct msp_traits, member), sizeof(((struct msp_traits *)NULL)->member)    \
    }
static const struct {
    memspan_trait_key_t key;
    size_t offset;
    size_t size;
} fields[] = {
    FIELD(MEMSPAN_TRAIT_SYNC_HINT, sync_hint),
    FIELD(MEMSPAN_TRAIT_ALIGNMENT, alignment),
    FIELD(MEMSPAN_TRAIT_ACCESS, access),
    FIELD(MEMSPAN_TRAIT_POOL_SIZE, pool_size),
    FIELD(MEMSPAN_TRAIT_FALLBACK, fallback),
    FIELD(MEMSPAN_TRAIT_FB_DATA, fb_data),
    FIELD(MEMSPAN_TRAIT_PINNED, pinned),
    FIELD(MEMSPAN_TRAIT_PARTITION, partition),
    FIELD(MEMSPAN_TRAIT_TARGET_ACCESS, target_access),
    FIELD(MEMSPAN_TRAIT_ATOMIC_SCOPE, atomic_scope),
    FIELD(MEMSPAN_TRAIT_PART_SIZE, part_size),
    FIELD(MEMSPAN_TRAIT_PARTITIONER, partitioner),
    FIELD(MEMSPAN_TRAIT_PARTITIONER_ARG, partitioner_arg),
    FIELD(MEMSPAN_TRAIT_MEMORY_ACCESS, memory_access),
    FIELD(MEMSPAN_TRAIT_MEMORY_ACCESS, memory_access_given),
    FIELD(MEMSPAN_TRAIT_PREFERRED_PLACE, preferred_place),
    FIELD(MEMSPAN_TRAIT_GUARANTEE, guarantee),
    FIELD(MEMSPAN_TRAIT_PAGE_SIZE, page_size),
    FIELD(MEMSPAN_TRAIT_SHAREABLE, shareable),
};
#undef FIELD

static memspan_status_t reset(struct msp_traits *t, bool target, const memspan_trait_t *trait)
{
    struct msp_traits d;
    bool found = (trait->key == MEMSPAN_TRAIT_DEVICE_ACCESS); /* kept nowhere */
    size_t i;

    msp_traits_default(&d, target);
    for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (fields[i].key == trait->key) {
            memcpy((char *)t + fields[i].offset, (const char *)&d + fields[i].offset,
                   fields[i].size);
            found = true;
        }
    }
    return found ? MEMSPAN_OK : set(t, target, trait);
}

/* ---- what they say together ---- */

static memspan_status_t conflict(const char *a, const char *b)
{
    return memspan_error(MEMSPAN_ERR_CONFLICT, "traits contradict each other: %s and %s", a, b);
}

static memspan_status_t check_together(const struct msp_traits *t)
{
    if ((t->fallback == MEMSPAN_VALUE_ALLOCATOR_FB) && (t->fb_data == MEMSPAN_ALLOCATOR_NULL)) {
        memspan_error(MEMSPAN_ERR_INVALID, "trait fallback=allocator_fb needs trait fb_data");
        return msp_error_hint("give fb_data the allocator to ask next");
    }
    if ((t->fallback == MEMSPAN_VALUE_ALLOCATOR_FB) && !msp_allocator_known(t->fb_data) &&
        (msp_allocator_of_vendor(t->fb_data) == MEMSPAN_ALLOCATOR_NULL)) {
        return memspan_error(MEMSPAN_ERR_INVALID,
                             "trait fb_data (0x%llx) is no allocator of Memspan",
                             (unsigned long long)(uintptr_t)t->fb_data);
    }
    if ((t->partition == MEMSPAN_VALUE_PARTITIONER) && (t->partitioner == 0)) {
        return memspan_error(MEMSPAN_ERR_INVALID,
                             "trait partition=partitioner needs trait partitioner");
    }
    if ((t->preferred_place != MSP_NO_PLACE) &&
        ((t->partition == MEMSPAN_VALUE_BLOCKED) || (t->partition == MEMSPAN_VALUE_INTERLEAVED) ||
         (t->partition == MEMSPAN_VALUE_PARTITIONER))) {
        return conflict("preferred_place (one place)", "partition (spread over all)");
    }
    if (t->pinned && t->memory_access_given && (t->memory_access == MEMSPAN_VALUE_MANAGED) &&
        (t->guarantee == MEMSPAN_VALUE_REQUIRED)) {
        return conflict("pinned=true (never migrates)",
                        "memory_access=managed with guarantee=required (migrates)");
    }
    if (t->shareable && t->memory_access_given && (t->memory_access == MEMSPAN_VALUE_MANAGED)) {
        return conflict("shareable=true (others keep its place)",
                        "memory_access=managed (its pages migrate)");
    }
    return MEMSPAN_OK;
}

static memspan_status_t check_given(const memspan_trait_t *given, size_t count)
{
    const memspan_trait_t *location = NULL;
    const memspan_trait_t *device   = NULL;
    const memspan_trait_t *pin      = NULL;
    const memspan_trait_t *pinned   = NULL;
    size_t i;
    size_t j;

    if (count < 2) {
        return MEMSPAN_OK; /* all of this is about two of them */
    }
    for (i = 0; i < count; i++) {
        for (j = 0; j < i; j++) {
            if (given[i].key == given[j].key) {
                const char *text = memspan_trait_key_text(given[i].key);
                return memspan_error(MEMSPAN_ERR_INVALID, "trait %s is given twice",
                                     (text == NULL) ? "of an unknown key" : text);
            }
        }
        location = (given[i].key == MEMSPAN_TRAIT_PREFERRED_LOCATION) ? &given[i] : location;
        device   = (given[i].key == MEMSPAN_TRAIT_PREFERRED_DEVICE) ? &given[i] : device;
        pin      = (given[i].key == MEMSPAN_TRAIT_PIN_DEVICE) ? &given[i] : pin;
        pinned   = (given[i].key == MEMSPAN_TRAIT_PINNED) ? &given[i] : pinned;
    }
    if ((location != NULL) && (device != NULL) && (location->value != device->value)) {
        return conflict("preferred_location", "preferred_device (another device)");
    }
    if ((pin != NULL) && (pinned != NULL) && (pinned->value == MEMSPAN_VALUE_FALSE)) {
        return conflict("pin_device", "pinned=false");
    }
    return MEMSPAN_OK;
}

memspan_status_t msp_traits_set(struct msp_traits *traits, bool target,
                                const memspan_trait_t *given, size_t count)
{
    memspan_status_t status;
    size_t i;

    if ((count > 0) && (given == NULL)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "%zu traits announced, but the array is NULL",
                             count);
    }
    if (count > TRAITS_MAX) {
        return memspan_error(MEMSPAN_ERR_INVALID, "%zu traits: there are only %d keys", count,
                             (int)KEYS);
    }
    status = check_given(given, count);
    for (i = 0; (status == MEMSPAN_OK) && (i < count); i++) {
        status = (given[i].value == MEMSPAN_VALUE_DEFAULT) ? reset(traits, target, &given[i])
                                                           : set(traits, target, &given[i]);
    }
    return (status == MEMSPAN_OK) ? check_together(traits) : status;
}

memspan_status_t msp_traits_apply(struct msp_traits *traits, bool target,
                                  const memspan_trait_t *given, size_t count)
{
    struct msp_traits result = *traits;
    memspan_status_t status  = msp_traits_set(&result, target, given, count);

    if (status == MEMSPAN_OK) {
        *traits = result;
    }
    return status;
}

/* ---- text ---- */

static const char *next_key(size_t i)
{
    return (i < KEYS) ? keys[i].text : NULL;
}

static const char *next_word(size_t i)
{
    return (i < WORDS) ? words[i].text : NULL;
}

static memspan_status_t unknown(const char *what, const char *text, const char *(*next)(size_t i))
{
    const char *nearest = msp_text_nearest(text, next);

    memspan_error(MEMSPAN_ERR_INVALID, "there is no %s \"%s\"", what, text);
    return (nearest == NULL) ? MEMSPAN_ERR_INVALID : msp_error_hint("perhaps %s?", nearest);
}

static memspan_status_t parse_value(size_t key, const char *text, uintptr_t *value_p)
{
    size_t length = strlen(text);
    char what[64];
    uint64_t size;
    int number;
    size_t i;

    if (strcmp(text, "default") == 0) {
        *value_p = MEMSPAN_VALUE_DEFAULT;
        return MEMSPAN_OK;
    }
    if ((keys[key].form == DEVICE) && (strcmp(text, "host") == 0)) {
        *value_p = (uintptr_t)(intptr_t)MEMSPAN_HOST;
        return MEMSPAN_OK;
    }
    for (i = 0; (keys[key].form == WORD) && (i < WORDS); i++) {
        if (strcmp(words[i].text, text) == 0) {
            *value_p = words[i].value;
            return MEMSPAN_OK;
        }
    }
    switch (keys[key].form) {
    case WORD:
        snprintf(what, sizeof(what), "value of trait %s", keys[key].text);
        return unknown(what, text, next_word);
    case SIZE:
    case HANDLE:
        if (!msp_text_to_size(text, length, &size)) {
            return memspan_error(MEMSPAN_ERR_INVALID, "trait %s: \"%s\" is no size", keys[key].text,
                                 text);
        }
        *value_p = (uintptr_t)size;
        return MEMSPAN_OK;
    case DEVICE:
    case NUMBER:
        break;
    }
    if (!msp_text_to_int(text, length, &number)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "trait %s: \"%s\" is no %s", keys[key].text, text,
                             (keys[key].form == DEVICE) ? "device" : "number");
    }
    *value_p = (uintptr_t)(intptr_t)number;
    return MEMSPAN_OK;
}

static memspan_status_t parse_one(const char *text, size_t length, memspan_trait_t *trait_p)
{
    char word[96];
    char *equals;
    size_t i;

    if (length >= sizeof(word)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "\"%.32s...\" is too long for a trait", text);
    }
    snprintf(word, sizeof(word), "%.*s", (int)length, text);
    equals = strchr(word, '=');
    if (equals == NULL) {
        memspan_error(MEMSPAN_ERR_INVALID, "\"%s\" is not of the form TRAIT=VALUE", word);
        return msp_error_hint("e.g. memory_access=managed,alignment=64");
    }
    *equals = '\0';
    for (i = 0; (i < KEYS) && (strcmp(keys[i].text, word) != 0); i++) {
    }
    if (i == KEYS) {
        return unknown("trait called", word, next_key);
    }
    trait_p->key = keys[i].key;
    return parse_value(i, equals + 1, &trait_p->value);
}

memspan_status_t memspan_trait_parse(const char *text, memspan_trait_t *traits, size_t capacity,
                                     size_t *count_p)
{
    size_t count = 0;

    if ((text == NULL) || (count_p == NULL) || ((traits == NULL) && (capacity > 0))) {
        return memspan_error(MEMSPAN_ERR_INVALID, "text, traits or their count is NULL");
    }
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        memspan_trait_t trait;
        memspan_status_t status = parse_one(text, length, &trait);

        if (status != MEMSPAN_OK) {
            return status;
        }
        if (count == capacity) {
            return memspan_error(MEMSPAN_ERR_INVALID, "more than %zu traits", capacity);
        }
        if ((text[length] == ',') && (text[length + 1] == '\0')) {
            return memspan_error(MEMSPAN_ERR_INVALID, "no trait after the last comma");
        }
        traits[count++] = trait;
        text += length + ((text[length] == ',') ? 1 : 0);
    }
    *count_p = count;
    return MEMSPAN_OK;
}
