/* SPDX-License-Identifier: BSD-3-Clause */
/* Which node a PE is on by the mapping of a PMI-1 launcher: those that launchers give, and others.
 */

#include "shmem/bootstrap/sources.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The nodes of the first PEs, as digits. */
static void expect(const char *mapping, const char *nodes)
{
    for (int pe = 0; nodes[pe] != '\0'; pe++) {
        const int node = msp_pmi_mapping_node(mapping, pe);
        cr_assert(node == nodes[pe] - '0', "%s: PE %d is on %d, not on %c", mapping, pe, node,
                  nodes[pe]);
    }
}

Test(mapping, blocks)
{
    expect("(vector,(0,1,5))", "00000");
    expect("(vector,(0,2,2))", "00110011"); /* and again */
    expect("(vector,(0,3,1)) found=TRUE", "012012");
    expect("(vector,(0,1,3),(1,1,2))", "00011000");
    expect("(vector,(3,1,2),(1,2,1))", "3312");
    expect("(vector,(0,0,4),(2,1,1))", "22"); /* none, and then one */
}

Test(mapping, numbers_and_repeats)
{
    expect("(vector,0)", "000");
    expect("(vector,2,0,1)", "201201");
    expect("(vector,[(0,2,1)]x2,0)", "01010");
    expect("(vector,[(0,2,2)]x2,0)", "001100110");
    expect("(vector,(0,1,3),1,(2,1,2),(0,1,3),(1,2,1))", "00012200012");
    expect("(vector,[0,(1,1,2),2]x2)", "01120112");
    expect("(vector,[0,[1,2]x2]x2,3)", "01212012123");
    expect("(vector,[0]x0,1)", "11");
}

Test(mapping, large)
{
    cr_assert(msp_pmi_mapping_node("(vector,(0,9999999,1))", 9999998) == 9999998);
    cr_assert(msp_pmi_mapping_node("(vector,[(0,1000,64)]x100)", 64 * 1000 + 64) == 1);
}

Test(mapping, unknown)
{
    const char *const unknown[] = {"", " found=TRUE", "()"};
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        cr_assert(msp_pmi_mapping_node(unknown[i], 0) == MSP_PMI_MAPPING_UNKNOWN, "%s", unknown[i]);
    }
}

Test(mapping, malformed)
{
    const char *const malformed[] = {"x",
                                     "(vector",
                                     "(vector,)",
                                     "(vector,(0,1,2)",
                                     "(vector,(0,1,2)]",
                                     "(vector,(0,1,2))x",
                                     "(vector,(0,1,2),)",
                                     "(vector,(0,1))",
                                     "(vector,(0,1,-2))",
                                     "(vector,(0,1,+2))",
                                     "(vector,( 0,1,2))",
                                     "(vector,(0,0,0))",
                                     "(vector,(0,1,12345678))",
                                     "(vector,(0,9999999,9999999))",
                                     "(vector,[0]x9999999",
                                     "(vector,[(0,9999999,99999)]x9999999)",
                                     "(vector,[[[9]x9999999]x9999999]x9999999)",
                                     "(vector,[0])",
                                     "(vector,[0]y2)",
                                     "(vector,[]x2)",
                                     "(vector,[0]x0)",
                                     "(vector,[0)x2]",
                                     "(vector,[[[[[[0]x1]x1]x1]x1]x1]x1)",
                                     "(scalar,(0,1,2))"};
    for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
        for (int pe = 0; pe < 3; pe++) {
            cr_assert(msp_pmi_mapping_node(malformed[i], pe) == MSP_PMI_MAPPING_MALFORMED, "%s",
                      malformed[i]);
        }
    }
}
