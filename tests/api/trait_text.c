/* SPDX-License-Identifier: BSD-3-Clause */
/* Traits as text: what is understood, what is refused by name, and that nothing crashes it. */

#include "api.h"
#include <stdlib.h>

TestSuite(trait_text, .fini = in_order);

enum { ROOM = 32 };

static size_t parse(const char *text, memspan_trait_t *traits)
{
    size_t count = 999;

    cr_assert_eq(memspan_trait_parse(text, traits, ROOM, &count), MEMSPAN_OK, "\"%s\": %s", text,
                 memspan_error_text());
    return count;
}

static void refused(const char *text, const char *words)
{
    memspan_trait_t traits[ROOM];
    size_t count = 999;

    REFUSED(memspan_trait_parse(text, traits, ROOM, &count), MEMSPAN_ERR_INVALID, "");
    cr_expect_str_eq(memspan_error_text(), words);
    cr_expect_eq(count, 999, "\"%s\": outputs are written on success only", text);
}

Test(trait_text, what_is_understood)
{
    memspan_trait_t t[ROOM];

    cr_assert_eq(parse("pinned=true,alignment=64,memory_access=managed", t), 3);
    cr_expect((t[0].key == MEMSPAN_TRAIT_PINNED) && (t[0].value == MEMSPAN_VALUE_TRUE));
    cr_expect((t[1].key == MEMSPAN_TRAIT_ALIGNMENT) && (t[1].value == 64));
    cr_expect((t[2].key == MEMSPAN_TRAIT_MEMORY_ACCESS) && (t[2].value == MEMSPAN_VALUE_MANAGED));
    cr_assert_eq(parse("pool_size=2g", t), 1);
    cr_expect_eq(t[0].value, (uintptr_t)2 << 30);
    cr_assert_eq(parse("page_size=2M", t), 1);
    cr_expect_eq(t[0].value, (uintptr_t)2 << 20);
    cr_assert_eq(parse("preferred_location=host", t), 1);
    cr_expect_eq((int)t[0].value, MEMSPAN_HOST);
    cr_assert_eq(parse("preferred_location=3", t), 1);
    cr_expect_eq(t[0].value, 3);
    cr_expect_eq(parse("", t), 0);
}

/* Every key with every word that memspan_trait_value_text() knows is either taken or refused; what
 * is taken says the same again when it is written out. */
Test(trait_text, every_word_of_every_key)
{
#define KEY(name, number, text, form) {name, text},
    static const struct {
        memspan_trait_key_t key;
        const char *text;
    } keys[] = {MEMSPAN_TRAIT_KEY_MAP(KEY)};
#undef KEY
#define VALUE(name, number, text) {name, text},
    static const struct {
        uintptr_t value;
        const char *text;
    } values[] = {MEMSPAN_TRAIT_VALUE_MAP(VALUE)};
#undef VALUE
    memspan_trait_t t[ROOM];
    char text[128];
    size_t count;
    int taken = 0;

    for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
        cr_expect_str_eq(memspan_trait_key_text(keys[k].key), keys[k].text);
        for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
            snprintf(text, sizeof(text), "%s=%s", keys[k].text, values[v].text);
            if (memspan_trait_parse(text, t, ROOM, &count) == MEMSPAN_OK) {
                cr_expect((count == 1) && (t[0].key == keys[k].key) &&
                              (t[0].value == values[v].value),
                          "%s", text);
                taken++;
            } else {
                cr_expect_eq(memspan_error_last()->status, MEMSPAN_ERR_INVALID);
                cr_expect_neq(memspan_error_last()->message[0], '\0');
            }
        }
    }
    cr_expect_gt(taken, 30);
    cr_expect_eq(memspan_trait_key_text((memspan_trait_key_t)0), NULL);
    cr_expect_eq(memspan_trait_key_text((memspan_trait_key_t)999), NULL);
    cr_expect_eq(memspan_trait_value_text(2), NULL);
    cr_expect_eq(memspan_trait_value_text(999), NULL);
}

Test(trait_text, refused_by_name)
{
    static const char *const cases[][2] = {
        {"pined=true", "there is no trait called \"pined\"; perhaps pinned?"},
        {"alignment=64,memory_acess=managed",
         "there is no trait called \"memory_acess\"; perhaps memory_access?"},
        {"memory_access=manged",
         "there is no value of trait memory_access \"manged\"; it can be managed or coherent"},
        {"memory_access=none",
         "there is no value of trait memory_access \"none\"; it can be managed or coherent"},
        {"sync_hint=1", "there is no value of trait sync_hint \"1\"; it can be contended, "
                        "uncontended, serialized or private"},
        {"pinned=", "there is no value of trait pinned \"\"; it can be true or false"},
        {"pinned==true", "there is no value of trait pinned \"=true\"; it can be true or false"},
        {"pinned=true;alignment=64",
         "there is no value of trait pinned \"true;alignment=64\"; it can be true or false"},
        {"=true", "there is no trait called \"\"; memspan_allocator_create(3) lists them"},
        {"pinned",
         "\"pinned\" is not of the form TRAIT=VALUE; e.g. memory_access=managed,alignment=64"},
        {"pinned=true,,alignment=64",
         "\"\" is not of the form TRAIT=VALUE; e.g. memory_access=managed,alignment=64"},
        {"pinned=true,", "no trait after the last comma"},
        {"alignment=-4", "trait alignment: \"-4\" is no size; it can be a power of two"},
        {"pool_size=99999999t",
         "trait pool_size: \"99999999t\" is no size; it can be any number of bytes above 0"},
        {"pool_size=99999999999999999999", "trait pool_size: \"99999999999999999999\" is no size; "
                                           "it can be any number of bytes above 0"},
        {"fb_data=other",
         "trait fb_data: \"other\" is no size; it can be the handle of an allocator"},
        {"preferred_location=first", "trait preferred_location: \"first\" is no device; it can be "
                                     "a device number, or -1 for the host"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        refused(cases[i][0], cases[i][1]);
    }
}

Test(trait_text, null_and_too_many)
{
    memspan_trait_t traits[2];
    size_t count = 999;

    REFUSED(memspan_trait_parse(NULL, traits, 2, &count), MEMSPAN_ERR_INVALID, "NULL");
    REFUSED(memspan_trait_parse("pinned=true", NULL, 2, &count), MEMSPAN_ERR_INVALID, "NULL");
    REFUSED(memspan_trait_parse("pinned=true", traits, 2, NULL), MEMSPAN_ERR_INVALID, "NULL");
    REFUSED(memspan_trait_parse("pinned=true,alignment=64,access=all", traits, 2, &count),
            MEMSPAN_ERR_INVALID, "2");
    REFUSED(memspan_trait_parse("pinned=true", traits, 0, &count), MEMSPAN_ERR_INVALID, "");
    cr_expect_eq(count, 999);
}

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Pieces that a parser has rules for, put together at random, and random bytes between. */
static void random_text(char *text, size_t room, unsigned *state)
{
    static const char *const good[]   = {"pinned=true",      "alignment=64",
                                         "pool_size=1g",     "memory_access=managed",
                                         "fallback=null_fb", "preferred_location=host"};
    static const char *const pieces[] = {"pinned",
                                         ",",
                                         "=",
                                         "alignment",
                                         "64",
                                         "k",
                                         "g",
                                         "t",
                                         "kib",
                                         "host",
                                         "-1",
                                         "true",
                                         "managed",
                                         "default",
                                         "fb_data",
                                         "0x10",
                                         "99999999999999999999",
                                         " ",
                                         "\t",
                                         "pool_size",
                                         "partitioner",
                                         "=,",
                                         "preferred_place",
                                         "\xff",
                                         "%s%n",
                                         "\\",
                                         "",
                                         "=="};
    size_t used                       = 0;
    size_t count                      = next_random(state) % 6;

    for (size_t i = 0; i < count; i++) {
        unsigned choice = next_random(state) % 16;

        /* mostly well formed, or the parser would never get far */
        if (choice < 8) {
            used += (size_t)snprintf(text + used, room - used, "%s%s", (used > 0) ? "," : "",
                                     good[next_random(state) % 6]);
        } else if (choice == 8) {
            text[used++] = (char)(1 + next_random(state) % 255);
        } else {
            used +=
                (size_t)snprintf(text + used, room - used, "%s", pieces[next_random(state) % 28]);
        }
    }
    text[used] = '\0';
}

/* Deterministic: a failure comes again. Each text lies in memory of exactly its own size, so that a
 * sanitizer sees a read past its end, and what is taken is given to the planner as well. */
Test(trait_text, random_texts_do_no_harm, .timeout = 60)
{
    enum { ROUNDS = 100000 };
    unsigned state = 20240601;
    int taken      = 0;

    for (int i = 0; i < ROUNDS; i++) {
        char text[512];
        memspan_trait_t traits[4];
        memspan_allocator_info_t info = {.struct_size = sizeof(info)};
        size_t count                  = 0;
        char *exact;

        random_text(text, sizeof(text), &state);
        exact = strdup(text);
        cr_assert_neq(exact, NULL);
        if (memspan_trait_parse(exact, traits, 4, &count) == MEMSPAN_OK) {
            cr_assert_leq(count, 4);
            (void)memspan_allocator_plan(MEMSPAN_SPACE_DEFAULT, traits, count, &info);
            taken++;
        } else {
            cr_assert_neq(memspan_error_last()->message[0], '\0');
        }
        free(exact);
    }
    cr_expect_gt(taken, 1000, "the texts are too random: %d taken", taken);
}

/* Arrays of random keys and values never crash what reads them. */
Test(trait_text, random_arrays_do_no_harm, .timeout = 60)
{
    static const uintptr_t numbers[] = {0,
                                        1,
                                        2,
                                        7,
                                        11,
                                        12,
                                        14,
                                        19,
                                        23,
                                        24,
                                        64,
                                        100,
                                        4096,
                                        0x4d01,
                                        0x4d02,
                                        0x4d04,
                                        UINTPTR_MAX,
                                        UINTPTR_MAX - 1,
                                        (uintptr_t)1 << 32,
                                        (uintptr_t)1 << 63};
    unsigned state                   = 7;
    int made                         = 0;

    for (int i = 0; i < 20000; i++) {
        memspan_trait_t traits[6];
        memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
        size_t count                  = next_random(&state) % 5;

        for (size_t j = 0; j < count; j++) {
            unsigned key    = next_random(&state) % 24;
            traits[j].key   = (memspan_trait_key_t)((key > 17) ? 0x4d01 + key - 18 : key);
            traits[j].value = numbers[next_random(&state) % 20];
            if ((traits[j].key == MEMSPAN_TRAIT_FALLBACK) &&
                (traits[j].value == MEMSPAN_VALUE_ABORT_FB)) {
                traits[j].value = MEMSPAN_VALUE_NULL_FB; /* does what it says */
            }
        }
        if (memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, count, &allocator) ==
            MEMSPAN_OK) {
            DONE(memspan_allocator_destroy(allocator));
            made++;
        }
    }
    cr_expect_gt(made, 1000);
}
