/* SPDX-License-Identifier: BSD-3-Clause */
/* trait.c: allocator traits, from arrays and from text.
 *
 * Each key is one row of a table (engine/trait_table.h); combinations are checked afterwards, so
 * that the order of traits never matters. */

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

enum form {
    FORM_WORD,
    FORM_BOOL,
    FORM_SIZE,
    FORM_POWER,
    FORM_DEVICE,
    FORM_PLACE,
    FORM_HANDLE,
    FORM_ALLOCATOR
};

struct row {
    memspan_trait_key_t key;
    enum form form;
    size_t offset;
    size_t size;
    uint16_t words[8]; /* 0 after the last */
};

#define UNPACK(...) __VA_ARGS__
#define ROW(key, member, form, initial, plain, words)                                              \
    {MEMSPAN_TRAIT_##key,                                                                          \
     FORM_##form,                                                                                  \
     offsetof(struct msp_traits, member),                                                          \
     sizeof(MSP_TRAIT_TYPE_##form),                                                                \
     {UNPACK words}},
static const struct row rows[] = {
    MSP_TRAIT_TABLE(ROW)
    /* Another name of preferred_location. */
    ROW(PREFERRED_DEVICE, preferred_location, DEVICE, MSP_NO_DEVICE, HOST, (0))};
/* Of a target memory space. 7 (device) is "all" in every header that ships, see trait.h. */
static const struct row target_access[] = {
    ROW(ACCESS, access, WORD, MEMSPAN_VALUE_MEMSPACE, ALWAYS,
        (MEMSPAN_VALUE_ALL, MEMSPAN_VALUE_MEMSPACE, MEMSPAN_VALUE_DEVICE))};
#undef ROW

void msp_traits_default(struct msp_traits *traits, bool target)
{
    *traits = (struct msp_traits){
#define INITIAL(key, member, form, initial, plain, words) .member = (initial),
        MSP_TRAIT_TABLE(INITIAL)
#undef INITIAL
    };
    if (target) {
        traits->fallback = MEMSPAN_VALUE_NULL_FB;
    }
}

static const struct row *find_row(memspan_trait_key_t key, bool target)
{
    size_t i;

    if (target && (key == MEMSPAN_TRAIT_ACCESS)) {
        return target_access;
    }
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].key == key) {
            return &rows[i];
        }
    }
    return NULL;
}

/* "contended, uncontended or private" */
static void list_words(const struct row *row, char *text, size_t size)
{
    size_t used = 0;
    size_t i;

    for (i = 0; (row->words[i] != 0) && (used < size); i++) {
        bool last = (row->words[i + 1] == 0);

        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 (i == 0) ? "" : (last ? " or " : ", "),
                                 memspan_trait_value_text(row->words[i]));
    }
}

/* The hint of a refused value. */
static memspan_status_t hint_values(const struct row *row)
{
    static const char *const allowed[] = {[FORM_BOOL]      = "true or false",
                                          [FORM_SIZE]      = "any number of bytes above 0",
                                          [FORM_POWER]     = "a power of two",
                                          [FORM_DEVICE]    = "a device number, or -1 for the host",
                                          [FORM_PLACE]     = "a place number",
                                          [FORM_HANDLE]    = "an initialised memory partitioner",
                                          [FORM_ALLOCATOR] = "the handle of an allocator"};
    char listed[128]                   = "";

    list_words(row, listed, sizeof(listed));
    return msp_error_hint("it can be %s", (row->form == FORM_WORD) ? listed : allowed[row->form]);
}

static memspan_status_t bad_value(const struct row *row, uintptr_t value)
{
    const char *key  = memspan_trait_key_text(row->key);
    const char *word = memspan_trait_value_text(value);
    bool has_words   = (row->form == FORM_WORD) || (row->form == FORM_BOOL);

    if (has_words && (word != NULL) && (value != MEMSPAN_VALUE_DEFAULT)) {
        memspan_error(MEMSPAN_ERR_INVALID, "trait %s cannot be %llu (%s)", key,
                      (unsigned long long)value, word);
    } else {
        memspan_error(MEMSPAN_ERR_INVALID, "trait %s cannot be %llu", key,
                      (unsigned long long)value);
    }
    return hint_values(row);
}

static bool is_word_of(const struct row *row, uintptr_t value)
{
    size_t i;

    for (i = 0; (row->words[i] != 0) && (row->words[i] != value); i++) {
    }
    return row->words[i] != 0;
}

/* Device and place numbers are signed and arrive in an unsigned word, with or without sign
 * extension; -1 is the host, and "default" has the same bits. For devices the host is the better
 * reading of an explicit -1. */
static bool read_int(uintptr_t word, int lowest, int *value_p)
{
    intptr_t value = (intptr_t)word;

    if ((value > INT_MAX) && (value <= UINT_MAX)) {
        value = (int)(unsigned)value;
    }
    *value_p = (int)value;
    return (value >= lowest) && (value <= INT_MAX);
}

/* False: the value is none of the trait's. */
static bool store(const struct row *row, struct msp_traits *t, uintptr_t value)
{
    char *field = (char *)t + row->offset;
    int number  = (int)value;
    bool truth  = (value == MEMSPAN_VALUE_TRUE);
    bool valid  = true;

    switch (row->form) { /* copies of a known size are no calls */
    case FORM_SIZE:
    case FORM_POWER:
        valid = (row->form == FORM_SIZE) ? (value != 0) : msp_is_power_of_two(value);
        memcpy(field, &value, sizeof(value));
        break;
    case FORM_HANDLE:
    case FORM_ALLOCATOR:
        memcpy(field, &value, sizeof(value));
        break;
    case FORM_BOOL:
        valid = (value <= MEMSPAN_VALUE_TRUE);
        memcpy(field, &truth, sizeof(truth));
        break;
    case FORM_DEVICE:
    case FORM_PLACE:
        valid = read_int(value, (row->form == FORM_DEVICE) ? MEMSPAN_HOST : 0, &number);
        memcpy(field, &number, sizeof(number));
        break;
    case FORM_WORD:
        valid = is_word_of(row, value);
        memcpy(field, &number, sizeof(number));
        break;
    }
    return valid;
}

static void reset(const struct row *row, struct msp_traits *t, bool target)
{
    struct msp_traits initial;

    msp_traits_default(&initial, target);
    memcpy((char *)t + row->offset, (const char *)&initial + row->offset, row->size);
}

static memspan_status_t set(struct msp_traits *t, bool target, const memspan_trait_t *trait)
{
    const struct row *row = find_row(trait->key, target);
    bool resets           = (trait->value == MEMSPAN_VALUE_DEFAULT);

    if (row == NULL) {
        memspan_error(MEMSPAN_ERR_INVALID, "there is no allocator trait with key %u",
                      (unsigned)trait->key);
        return msp_error_hint("OpenMP's keys are 1 to 16, Memspan's are in <memspan/trait.h>");
    }
    if (resets && (row->form != FORM_DEVICE)) {
        reset(row, t, target);
    } else if (!store(row, t, trait->value) || ((trait->key == MEMSPAN_TRAIT_PARTITIONER) &&
                                                !msp_partitioner_valid(trait->value))) {
        return bad_value(row, trait->value);
    }
    t->pinned = t->pinned || (trait->key == MEMSPAN_TRAIT_PIN_DEVICE);
    if (trait->key == MEMSPAN_TRAIT_MEMORY_ACCESS) {
        t->memory_access_given = !resets;
    }
    return MEMSPAN_OK;
}

/* ---- conflicts between them ---- */

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
        status = set(traits, target, &given[i]);
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

static memspan_status_t unknown_key(const char *text)
{
    const char *nearest = msp_text_nearest(text, next_key);

    memspan_error(MEMSPAN_ERR_INVALID, "there is no trait called \"%s\"", text);
    return msp_error_hint((nearest != NULL) ? "perhaps %s?" : "%s lists them",
                          (nearest != NULL) ? nearest : "memspan_allocator_create(3)");
}

static memspan_status_t not_of_form(size_t key, const char *text, const char *form)
{
    memspan_error(MEMSPAN_ERR_INVALID, "trait %s: \"%s\" is no %s", keys[key].text, text, form);
    return hint_values(find_row(keys[key].key, false));
}

static memspan_status_t parse_value(size_t key, const char *text, uintptr_t *value_p)
{
    size_t length = strlen(text);
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
        memspan_error(MEMSPAN_ERR_INVALID, "there is no value of trait %s \"%s\"", keys[key].text,
                      text);
        return hint_values(find_row(keys[key].key, false));
    case SIZE:
    case HANDLE:
        if (!msp_text_to_size(text, length, &size)) {
            return not_of_form(key, text, "size");
        }
        *value_p = (uintptr_t)size;
        return MEMSPAN_OK;
    case DEVICE:
    case NUMBER:
        break;
    }
    if (!msp_text_to_int(text, length, &number)) {
        return not_of_form(key, text, (keys[key].form == DEVICE) ? "device" : "number");
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
        return unknown_key(word);
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
