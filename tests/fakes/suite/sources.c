/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fakes/suite/sources.h"
#include <string.h>

static memspan_device_info_t describe(const char *setting)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};
    void *state                = PRETENDED_OPEN(setting);

    OK(pretended.table->device_describe(state, 0, &info));
    pretended_close(state);
    return info;
}

void sources_check_capabilities(const struct sources_capability *rows, size_t count)
{
    size_t i;
    int bit;

    for (i = 0; i < count; i++) {
        memspan_device_info_t info = describe(rows[i].setting);
        const char *note           = info.capability_note[__builtin_ctz(rows[i].bit)];

        cr_assert_not_null(strstr(note, rows[i].words), "%s: %s", rows[i].setting, note);
        for (bit = 0; (1u << bit) <= MEMSPAN_CAN_UNIFIED_PHYSICAL; bit++) {
            cr_assert_neq(info.capability_note[bit][0], '\0', "%s: bit %d", rows[i].setting, bit);
            cr_assert_lt(strlen(info.capability_note[bit]), sizeof(info.capability_note[0]) - 1,
                         "cut: %s", info.capability_note[bit]);
        }
    }
}

void sources_check_modes(const struct sources_mode *rows, size_t count)
{
    size_t i;
    size_t m;

    for (i = 0; i < count; i++) {
        memspan_device_info_t info = describe(rows[i].setting);

        for (m = 0; (m < MEMSPAN_MODE_ROOM) && (strcmp(info.modes[m].name, rows[i].name) != 0);
             m++) {
        }
        cr_assert_lt(m, (size_t)MEMSPAN_MODE_ROOM, "%s: no %s", rows[i].setting, rows[i].name);
        cr_assert_eq(info.modes[m].on, rows[i].on, "%s: %s", rows[i].setting, rows[i].name);
        cr_assert_neq(info.modes[m].source[0], '\0');
        cr_assert_not_null(strstr(info.modes[m].remedy, rows[i].remedy), "%s: %s", rows[i].setting,
                           info.modes[m].remedy);
        cr_assert_eq(info.modes[m].remedy[0] == '\0', rows[i].remedy[0] == '\0');
        cr_assert_lt(strlen(info.modes[m].remedy), sizeof(info.modes[m].remedy) - 1);
        cr_assert_lt(strlen(info.modes[m].source), sizeof(info.modes[m].source) - 1);
    }
}

void sources_check_peers(const char *setting, const char *words)
{
    const memspan_backend_t *table = pretended.table;
    char text[160]                 = "?";
    void *state                    = PRETENDED_OPEN(setting);

    table->reach_source(state, 0, MEMSPAN_KIND_DEVICE, 1, text, sizeof(text));
    cr_assert_not_null(strstr(text, words), "%s", text);
    table->reach_source(state, 1, MEMSPAN_KIND_DEVICE, 1, text, sizeof(text));
    cr_assert_str_eq(text, "its own");
    table->reach_source(state, 7, MEMSPAN_KIND_DEVICE, 1, text, sizeof(text));
    cr_assert_str_eq(text, "");
    pretended_close(state);
}
