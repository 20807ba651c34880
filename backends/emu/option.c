/* SPDX-License-Identifier: BSD-3-Clause */
/* option.c: MEMSPAN_DEVICES=emu:N, MEMSPAN_EMU_PEERS and MEMSPAN_EMU_QUEUES. */

#include "core/base/option.h"
#include "backends/emu/emu.h"
#include "core/base/text.h"
#include <string.h>

memspan_status_t emu_count_parse(const struct emu *emu, const char *text, int *count_p)
{
    int words = 0;
    int count = 0;

    while (*text != '\0') {
        size_t length = strcspn(text, ",");

        if ((length >= 3) && (strncmp(text, EMU_NAME, 3) == 0) &&
            ((length == 3) || (text[3] == ':'))) {
            words++;
            if ((length < 5) || !msp_text_to_int(text + 4, length - 4, &count)) {
                count = 0;
            }
        }
        text += length + ((text[length] == ',') ? 1 : 0);
    }
    if ((words != 1) || (count < 1) || (count > EMU_DEVICES_MAX)) {
        return emu_refuse(emu, MEMSPAN_ERR_CONFIG, "MEMSPAN_DEVICES=emu:2 makes two",
                          "MEMSPAN_DEVICES asks once for 1 to %d emulated devices, and not %s%d",
                          EMU_DEVICES_MAX, (words > 1) ? "several times, last " : "", count);
    }
    *count_p = count;
    return MEMSPAN_OK;
}

static void set_peers(struct emu *emu, bool all)
{
    uint32_t everyone = (emu->device_count == 32) ? ~0u : ((1u << emu->device_count) - 1u);
    int i;

    for (i = 0; i < emu->device_count; i++) {
        emu->devices[i].reaches = all ? everyone : (1u << i);
    }
}

/* "0-1": each reaches the other's memory; "0>1": device 0 reaches that of device 1. */
static bool parse_pair(struct emu *emu, const char *word, size_t length)
{
    size_t at = 0;
    int from;
    int to;

    while ((at < length) && (word[at] != '-') && (word[at] != '>')) {
        at++;
    }
    if ((at == length) || !msp_text_to_int(word, at, &from) ||
        !msp_text_to_int(word + at + 1, length - at - 1, &to) || (from < 0) || (to < 0) ||
        (from >= emu->device_count) || (to >= emu->device_count)) {
        return false;
    }
    emu->devices[from].reaches |= 1u << to;
    if (word[at] == '-') {
        emu->devices[to].reaches |= 1u << from;
    }
    return true;
}

memspan_status_t emu_peers_parse(struct emu *emu, const char *text)
{
    bool all = (text[0] == '\0') || (strcmp(text, "all") == 0);

    set_peers(emu, all);
    if (all || (strcmp(text, "none") == 0)) {
        return MEMSPAN_OK;
    }
    while (*text != '\0') {
        size_t length = strcspn(text, ",");

        if (!parse_pair(emu, text, length)) {
            return emu->services->option_refuse(
                "MEMSPAN_EMU_PEERS", "\"%.*s\" is not A-B or A>B of devices 0 to %d",
                (int)((length > 32) ? 32 : length), text, emu->device_count - 1);
        }
        text += length + ((text[length] == ',') ? 1 : 0);
    }
    return MEMSPAN_OK;
}

memspan_status_t emu_queues_parse(struct emu *emu, const char *text)
{
    int seed = 1;

    emu->is_late = (strncmp(text, "late", 4) == 0);
    if ((strcmp(text, "in_order") != 0) && (strcmp(text, "late") != 0) &&
        (!emu->is_late || (text[4] != ':') ||
         !msp_text_to_int(text + 5, strlen(text + 5), &seed))) {
        emu->is_late = false;
        return emu->services->option_refuse("MEMSPAN_EMU_QUEUES",
                                            "\"%.32s\" is not in_order, late or late:SEED", text);
    }
    emu->random = (uint64_t)seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    return MEMSPAN_OK;
}
