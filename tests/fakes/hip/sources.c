/* SPDX-License-Identifier: BSD-3-Clause */
/* sources.c: what a device can do comes with who says so, and a mode with how it is turned on. */

#include "tests/fakes/hip/pretended.h"
#include <memspan/memspan.h>
#include <string.h>

static const memspan_backend_t *const table = &memspan_backend_hip;

static memspan_device_info_t describe(const char *setting)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};
    void *state;

    PRETENDED(setting);
    state = pretended_open();
    cr_assert_eq(table->device_describe(state, 0, &info), MEMSPAN_OK);
    pretended_close(state);
    return info;
}

TestSuite(hip_sources, .init = pretended_find, .timeout = 60);

Test(hip_sources, each_capability_has_one)
{
    static const struct {
        const char *setting;
        unsigned bit;
        const char *words;
    } rows[] = {
        {"FAKE_HIP_ATTRIBUTES=", MEMSPAN_CAN_ACCESS_PAGEABLE, "PageableMemoryAccess 0"},
        {"FAKE_HIP_ATTRIBUTES=65=1", MEMSPAN_CAN_ACCESS_PAGEABLE, "PageableMemoryAccess 1"},
        {"FAKE_HIP_ATTRIBUTES=24=0", MEMSPAN_CAN_ACCESS_CONCURRENT, "ManagedMemory 0"},
        {"FAKE_HIP_ATTRIBUTES=", MEMSPAN_CAN_IPC, "hipIpcGetMemHandle"},
        {"FAKE_HIP_ATTRIBUTES=", MEMSPAN_CAN_RDMA, "/sys/kernel/mm/memory_peers"},
        {"FAKE_HIP_LIES=pointer", MEMSPAN_CAN_IMPORT, "did not keep its address"},
        {"FAKE_HIP_ATTRIBUTES=85=0", MEMSPAN_CAN_IPC, "UnifiedAddressing 0"},
    };
    size_t i;
    int bit;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
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

Test(hip_sources, modes_say_how_they_are_turned_on)
{
    static const struct {
        const char *setting;
        const char *name;
        int on;
        const char *remedy; /* a part of it; "": there is none */
    } rows[] = {
        {"FAKE_HIP_ATTRIBUTES=", "XNACK", 0, "HSA_XNACK=1"},
        {"FAKE_HIP_ATTRIBUTES=24=0", "XNACK", 0, "CONFIG_HSA_AMD_SVM"},
        {"FAKE_HIP_ATTRIBUTES=65=1", "XNACK", 1, ""},
        {"FAKE_HIP_ATTRIBUTES=16=1,65=1,66=1", "XNACK", 0, "not needed"},
        {"FAKE_HIP_ATTRIBUTES=", "fine-grained device memory", 0, "large BAR"},
    };
    size_t i;
    size_t m;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
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

Test(hip_sources, who_says_how_a_peer_is_reached)
{
    char text[160] = "?";
    void *state;

    PRETENDED("FAKE_HIP_DEVICES=2");
    state = pretended_open();
    table->reach_source(state, 0, MEMSPAN_KIND_DEVICE, 1, text, sizeof(text));
    cr_assert_not_null(strstr(text, "hipDeviceCanAccessPeer 1"), "%s", text);
    table->reach_source(state, 1, MEMSPAN_KIND_DEVICE, 1, text, sizeof(text));
    cr_assert_str_eq(text, "its own");
    table->reach_source(state, 7, MEMSPAN_KIND_DEVICE, 1, text, sizeof(text));
    cr_assert_str_eq(text, "");
    pretended_close(state);
}
