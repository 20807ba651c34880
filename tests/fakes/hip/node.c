/* SPDX-License-Identifier: BSD-3-Clause */
/* node.c: what the kernel tells of a GPU: its target, by which the kernels are compiled, and how it
 * is linked to the processor. */

#include "core/base/error.h"
#include "tests/fakes/hip/pretended.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static const memspan_backend_t *const table = &msp_backend_hip;

static char folder[64];

static void write_file(int node, const char *name, const char *text)
{
    char path[160];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%d/%s", folder, node, name);
    file = fopen(path, "w");
    cr_assert_not_null(file, "%s", path);
    fputs(text, file);
    fclose(file);
}

static void make_folder(int node, const char *name)
{
    char path[160];

    snprintf(path, sizeof(path), "%s/%d/%s", folder, node, name);
    cr_assert_eq(mkdir(path, 0700), 0);
}

/* A processor, a GPU that this container may not read, a GPU on PCI Express, one on xGMI (as its
 * second link), and one in another PCI domain. */
static void make_nodes(void)
{
    int node;

    snprintf(folder, sizeof(folder), "/tmp/memspan-kfd-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    for (node = 0; node < 5; node++) {
        make_folder(node, "");
    }
    write_file(0, "properties",
               "cpu_cores_count 8\nlocation_id 0\ndomain 0\ngfx_target_version 0\n");
    write_file(2, "properties", "location_id 49408\ndomain 0\ngfx_target_version 90010\n");
    make_folder(2, "io_links");
    make_folder(2, "io_links/0");
    write_file(2, "io_links/0/properties", "type 2\nnode_from 2\nnode_to 0\n");
    make_folder(2, "io_links/1");
    write_file(2, "io_links/1/properties", "type 11\nnode_from 2\nnode_to 3\n");
    write_file(3, "properties", "location_id 49664\ndomain 0\ngfx_target_version 90402\n");
    make_folder(3, "io_links");
    make_folder(3, "io_links/0");
    write_file(3, "io_links/0/properties", "type 11\nnode_from 3\nnode_to 2\n");
    make_folder(3, "io_links/1");
    write_file(3, "io_links/1/properties", "type 11\nnode_from 3\nnode_to 0\n");
    write_file(4, "properties", "location_id 49408\ndomain 1\ngfx_target_version 110000\n");
}

static void remove_nodes(void)
{
    char command[96];

    snprintf(command, sizeof(command), "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(hip_node, .init = pretended_find, .timeout = 60);

Test(hip_node, a_gpu_is_found_behind_one_that_cannot_be_read)
{
    char name[16];

    make_nodes();
    cr_expect_eq(hip_node_find(folder, "0000:c1:00.0").target, 90010u);
    cr_expect_eq(hip_node_find(folder, "0000:c2:00.0").target, 90402u);
    cr_expect_eq(hip_node_find(folder, "0001:c1:00.0").target, 110000u);
    cr_expect_eq(hip_node_find(folder, "0000:c3:00.0").target, 0u);
    cr_expect_eq(hip_node_find(folder, "").target, 0u);
    cr_expect_eq(hip_node_find("/nowhere/at/all", "0000:c1:00.0").target, 0u);
    remove_nodes();
    cr_expect_str_eq(hip_target_name(90010, name, sizeof(name)), "gfx90a");
    cr_expect_str_eq(hip_target_name(90402, name, sizeof(name)), "gfx942");
    cr_expect_str_eq(hip_target_name(110001, name, sizeof(name)), "gfx1101");
    cr_expect_str_eq(hip_target_name(0, name, sizeof(name)), "");
}

/* xGMI between two GPUs says nothing of the processor. */
Test(hip_node, a_link_to_the_processor_is_told_from_one_to_a_gpu)
{
    make_nodes();
    cr_expect_not(hip_node_find(folder, "0000:c1:00.0").host_xgmi);
    cr_expect(hip_node_find(folder, "0000:c2:00.0").host_xgmi);
    cr_expect_not(hip_node_find(folder, "0001:c1:00.0").host_xgmi);
    remove_nodes();
}

static memspan_coherence_t coherence(void *state, int from)
{
    return table->reach(state, 0, MEMSPAN_KIND_COHERENT, from).coherence;
}

/* Coherent memory may lie on the device, and PCI Express carries no atomics of the host there. */
Test(hip_node, atomics_on_coherent_memory_take_xgmi)
{
    void *state = PRETENDED_OPEN("ATTRIBUTES=10011=1,15=1");

    cr_assert_eq(coherence(state, MEMSPAN_HOST), MEMSPAN_COHERENCE_CONCURRENT);
    cr_assert_eq(coherence(state, 0), MEMSPAN_COHERENCE_CONCURRENT);
    cr_assert_eq(table->reach(state, 0, MEMSPAN_KIND_HOST_PINNED, 0).coherence,
                 MEMSPAN_COHERENCE_ATOMIC, "the device's atomics do reach the host's memory");
    hip_device(((struct gpu_state *)state)->devices[0])->facts.host_xgmi = true;
    cr_assert_eq(coherence(state, MEMSPAN_HOST), MEMSPAN_COHERENCE_ATOMIC);
    cr_assert_eq(coherence(state, 0), MEMSPAN_COHERENCE_ATOMIC);
    pretended_close(state);
    state = PRETENDED_OPEN("ATTRIBUTES=10011=1,15=1,16=1");
    cr_assert_eq(coherence(state, MEMSPAN_HOST), MEMSPAN_COHERENCE_ATOMIC);
    pretended_close(state);
}

Test(hip_node, kernels_are_compiled_for_the_target)
{
    static const struct {
        unsigned target;
        memspan_kernel_t kernel;
        const char *arch;
    } rows[] = {
        {90010, MEMSPAN_KERNEL_FILL, "gfx90a"},
        {110001, MEMSPAN_KERNEL_COMBINE(MEMSPAN_OPERATION_MAX, MEMSPAN_ELEMENT_S16), "gfx1101"},
        {0, MEMSPAN_KERNEL_FILL, ""}};
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        memspan_kernel_call_t call = {
            .struct_size = sizeof(call), .kernel = rows[i].kernel, .count = 4};
        memspan_block_t block;
        void *state;

        state = PRETENDED_OPEN("DEVICES=1");
        hip_device(((struct gpu_state *)state)->devices[0])->facts.target = rows[i].target;
        block  = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
        call.x = call.y = call.z = block.address;
        OK(table->launch(state, 0, NULL, &call));
        cr_assert_str_eq(driver.arch(), rows[i].arch);
        pretended_give_back(state, 0, &block);
        pretended_close(state);
    }
}
