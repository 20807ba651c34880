/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem/bootstrap/pmi_mapping.c: a launcher's text, in memory that ends where it does. A mapping
 * has a node for every PE, or for none. */

#include "fuzz.h"
#include "shmem/bootstrap/sources.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    HOLDS(text != NULL);
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';

    const int first = msp_pmi_mapping_node(text, 0);
    HOLDS(first >= MSP_PMI_MAPPING_MALFORMED);
    for (int pe = 1; pe < 12; pe++) {
        const int node = msp_pmi_mapping_node(text, pe * pe * pe);
        HOLDS((first >= 0) ? (node >= 0) : (node == first));
    }
    free(text);
    return 0;
}
