/* SPDX-License-Identifier: BSD-3-Clause */
/* OMP_PLACES on a machine of 16 processors: what is accepted is written out as a plain list and
 * must be read as the same places; what is refused leaves nothing and says where. */

#include "core/topology/place.h"
#include "fuzz.h"

enum { OUT_MAX = 1 << 16, PROCESSOR_MAX = 65535 };

static hwloc_topology_t get_machine(void)
{
    static hwloc_topology_t topology;

    if ((topology == NULL) && msp_hwloc_open()) {
        hwloc_topology_init(&topology);
        hwloc_topology_set_synthetic(topology, "pack:2 [numa(memory=64GB)] l3:2 l2:2 core:1 pu:2");
        hwloc_topology_load(topology);
    }
    return topology;
}

/* False when it does not fit. */
static bool write_out(const struct msp_places *places, char *out)
{
    size_t used = 0;

    for (int i = 0; i < places->count; i++) {
        const char *before = (i == 0) ? "{" : ",{";
        int number         = -1;

        while ((number = hwloc_bitmap_next(places->sets[i], number)) >= 0) {
            if (used + 16 > OUT_MAX) {
                return false;
            }
            used += (size_t)snprintf(out + used, OUT_MAX - used, "%s%d", before, number);
            before = ",";
        }
        if (used + 16 > OUT_MAX) {
            return false;
        }
        used += (size_t)snprintf(out + used, OUT_MAX - used, "}");
    }
    return true;
}

static void check_places(const struct msp_places *places)
{
    static char out[OUT_MAX];
    char problem[256];
    struct msp_places again;

    HOLDS(places->count > 0);
    for (int i = 0; i < places->count; i++) {
        HOLDS(!hwloc_bitmap_iszero(places->sets[i]));
        HOLDS(hwloc_bitmap_last(places->sets[i]) <= PROCESSOR_MAX);
        HOLDS(hwloc_bitmap_last(places->sets[i]) >= 0); /* never without an end */
    }
    if (!write_out(places, out)) {
        return;
    }
    HOLDS(msp_places_parse(out, get_machine(), NULL, &again, problem, sizeof(problem)));
    HOLDS(again.count == places->count);
    for (int i = 0; i < places->count; i++) {
        HOLDS(hwloc_bitmap_isequal(places->sets[i], again.sets[i]));
    }
    msp_places_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct msp_places places;
    char problem[96] = "";
    char *text       = fuzz_string(data, size);

    if (msp_places_parse(text, get_machine(), NULL, &places, problem, sizeof(problem))) {
        check_places(&places);
        msp_places_free(&places);
    } else {
        HOLDS(problem[0] != '\0');
        HOLDS(strlen(problem) < sizeof(problem));
    }
    HOLDS((places.count == 0) && (places.sets == NULL));
    free(text);
    return 0;
}
