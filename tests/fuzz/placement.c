/* SPDX-License-Identifier: BSD-3-Clause */
/* msp_placement_parse(): the file of MEMSPAN_PLACEMENT. What it accepts is written out again and
 * must be read as the same; what it refuses has a line. */

#include "core/debug/placement.h"
#include "fuzz.h"

static const char *word_of(memspan_allocator_h allocator)
{
    static const memspan_allocator_h allocators[] = {
        MEMSPAN_ALLOCATOR_DEFAULT, MEMSPAN_ALLOCATOR_LARGE_CAP, MEMSPAN_ALLOCATOR_HIGH_BW,
        MEMSPAN_ALLOCATOR_LOW_LAT};

    for (size_t i = 0; i < sizeof(allocators) / sizeof(allocators[0]); i++) {
        if (allocators[i] == allocator) {
            return msp_placement_word(i);
        }
    }
    return "";
}

static void check_again(const struct msp_placement *placement, size_t size)
{
    struct msp_placement again;
    size_t room = size + 64 + 16 * placement->count;
    size_t used = 0;
    char *text  = malloc(room);
    char problem[128];

    HOLDS(text != NULL);
    used += (size_t)snprintf(text, room, "memspan-placement 1");
    for (size_t i = 0; i < placement->count; i++) {
        used +=
            (size_t)snprintf(text + used, room - used, "\n%s %s",
                             word_of(placement->sites[i].allocator), placement->sites[i].frames);
    }
    HOLDS(used < room);
    HOLDS(msp_placement_parse(text, &again, problem, sizeof(problem)));
    HOLDS(again.count == placement->count);
    for (size_t i = 0; i < again.count; i++) {
        HOLDS(again.sites[i].allocator == placement->sites[i].allocator);
        HOLDS(strcmp(again.sites[i].frames, placement->sites[i].frames) == 0);
    }
    free(again.sites);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text                     = fuzz_string(data, size);
    struct msp_placement placement = {.count = 7};
    char problem[48]               = "";
    unsigned line;

    if (msp_placement_parse(text, &placement, problem, sizeof(problem))) {
        check_again(&placement, size);
        free(placement.sites);
    } else {
        HOLDS(placement.count == 7);
        HOLDS((sscanf(problem, "line %u: ", &line) == 1) && (line > 0));
    }
    free(text);
    return 0;
}
