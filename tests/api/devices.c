/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices, backends, nodes and options: numbers out of range, NULL, structures of wrong size. */

#include "api.h"

TestSuite(devices, .fini = in_order);

static const int no_devices[] = {-2, -1000, INT32_MIN, NO_DEVICE, INT32_MAX};

Test(devices, no_such_device)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};
    memspan_reach_t reach      = {MEMSPAN_ACCESS_LOCAL, MEMSPAN_COHERENCE_ATOMIC};

    for (size_t i = 0; i < 5; i++) {
        int number = no_devices[i];
        char text[16];

        snprintf(text, sizeof(text), "%d", number);
        REFUSED(memspan_device_describe(number, &info), MEMSPAN_ERR_NOT_FOUND, text);
        REFUSED(memspan_device_synchronize(number), MEMSPAN_ERR_NOT_FOUND, text);
        REFUSED(memspan_device_reach(number, MEMSPAN_KIND_HOST, MEMSPAN_HOST, &reach),
                MEMSPAN_ERR_NOT_FOUND, text);
        REFUSED(memspan_device_reach(MEMSPAN_HOST, MEMSPAN_KIND_HOST, number, &reach),
                MEMSPAN_ERR_NOT_FOUND, text);
    }
    cr_expect_eq(reach.access, MEMSPAN_ACCESS_LOCAL, "outputs are written on success only");
}

Test(devices, indices_out_of_range)
{
    int device = 77;

    REFUSED(memspan_device_at(-1, &device), MEMSPAN_ERR_NOT_FOUND, "-1");
    REFUSED(memspan_device_at(memspan_device_count(), &device), MEMSPAN_ERR_NOT_FOUND, "device");
    cr_expect_eq(device, 77);
    if (memspan_device_count() > 0) {
        REFUSED(memspan_device_at(0, NULL), MEMSPAN_ERR_INVALID, "NULL");
    }
    cr_expect_eq(memspan_backend_name(-1), NULL);
    cr_expect_eq(memspan_backend_name(memspan_backend_count()), NULL);
    cr_expect_eq(memspan_option_problem(-1), NULL);
    cr_expect_eq(memspan_option_problem(memspan_option_problem_count()), NULL);
}

Test(devices, nowhere_to_write)
{
    REFUSED(memspan_device_describe(MEMSPAN_HOST, NULL), MEMSPAN_ERR_INVALID, "NULL");
    REFUSED(memspan_device_reach(MEMSPAN_HOST, MEMSPAN_KIND_HOST, MEMSPAN_HOST, NULL),
            MEMSPAN_ERR_INVALID, "NULL");
    REFUSED(memspan_backend_describe(0, NULL), MEMSPAN_ERR_INVALID, "info_p is NULL");
    REFUSED(memspan_numa_node_describe(0, NULL), MEMSPAN_ERR_INVALID, "");
    REFUSED(memspan_memory_device_describe(0, NULL), MEMSPAN_ERR_INVALID, "NULL");
    REFUSED(memspan_option_describe(0, NULL), MEMSPAN_ERR_INVALID, "info_p is NULL");
}

Test(devices, no_such_entry)
{
    memspan_backend_info_t backend      = {.struct_size = sizeof(backend)};
    memspan_numa_node_info_t node       = {.struct_size = sizeof(node)};
    memspan_option_info_t option        = {.struct_size = sizeof(option)};
    memspan_memory_device_info_t memory = {.struct_size = sizeof(memory)};
    static const int indices[]          = {-1, INT32_MIN, 100000, INT32_MAX};

    for (int i = 0; i < 4; i++) {
        memspan_status_t status = memspan_backend_describe(indices[i], &backend);

        cr_expect((status == MEMSPAN_ERR_INVALID) || (status == MEMSPAN_ERR_NOT_FOUND));
        status = memspan_numa_node_describe(indices[i], &node);
        cr_expect((status == MEMSPAN_ERR_INVALID) || (status == MEMSPAN_ERR_NOT_FOUND));
        REFUSED(memspan_memory_device_describe(indices[i], &memory), MEMSPAN_ERR_INVALID,
                "no memory");
        status = memspan_option_describe(indices[i], &option);
        cr_expect((status == MEMSPAN_ERR_INVALID) || (status == MEMSPAN_ERR_NOT_FOUND));
    }
}

Test(devices, struct_size_not_set)
{
    memspan_device_info_t device   = {0};
    memspan_backend_info_t backend = {0};
    memspan_numa_node_info_t node  = {0};
    memspan_option_info_t option   = {0};

    REFUSED(memspan_device_describe(MEMSPAN_HOST, &device), MEMSPAN_ERR_INVALID, "struct_size");
    REFUSED(memspan_backend_describe(0, &backend), MEMSPAN_ERR_INVALID, "struct_size");
    REFUSED(memspan_numa_node_describe(0, &node), MEMSPAN_ERR_INVALID, "struct_size");
    REFUSED(memspan_option_describe(0, &option), MEMSPAN_ERR_INVALID, "struct_size");
    device.struct_size = SIZE_MAX;
    REFUSED(memspan_device_describe(MEMSPAN_HOST, &device), MEMSPAN_ERR_INVALID, "struct_size");
}

/* Built against an older or a newer header: a prefix, or zeros at the end. */
Test(devices, structures_of_other_versions)
{
    struct {
        memspan_device_info_t info;
        unsigned char more[64];
    } newer;
    memspan_device_info_t older;

    memset(&newer, 0xee, sizeof(newer));
    newer.info.struct_size = sizeof(newer);
    DONE(memspan_device_describe(MEMSPAN_HOST, &newer.info));
    cr_expect_eq(newer.info.struct_size, sizeof(newer));
    for (size_t i = 0; i < sizeof(newer.more); i++) {
        cr_expect_eq(newer.more[i], 0);
    }
    memset(&older, 0xee, sizeof(older));
    older.struct_size = offsetof(memspan_device_info_t, vendor);
    DONE(memspan_device_describe(MEMSPAN_HOST, &older));
    cr_expect_eq(older.number, MEMSPAN_HOST);
    cr_expect_eq((unsigned char)older.vendor[0], 0xee, "written past what the caller knows");
}

Test(devices, unknown_kinds)
{
    memspan_reach_t reach    = {0};
    static const int kinds[] = {-1, MEMSPAN_KIND_COUNT, 99, INT32_MAX, INT32_MIN};

    for (int i = 0; i < 5; i++) {
        memspan_status_t status =
            memspan_device_reach(MEMSPAN_HOST, (memspan_kind_t)kinds[i], MEMSPAN_HOST, &reach);

        cr_expect_eq(status, MEMSPAN_ERR_INVALID, "kind %d gave %s", kinds[i],
                     memspan_status_name(status));
    }
}

Test(devices, names_of_anything)
{
    for (int i = -3; i < 300; i++) {
        cr_expect_neq(memspan_kind_name((memspan_kind_t)i), NULL);
        cr_expect_neq(memspan_access_name((memspan_access_t)i), NULL);
        cr_expect_neq(memspan_coherence_name((memspan_coherence_t)i), NULL);
        cr_expect_neq(memspan_numa_node_kind_name((memspan_numa_node_kind_t)i), NULL);
        cr_expect_neq(memspan_status_name((memspan_status_t)i), NULL);
        cr_expect_neq(memspan_status_text((memspan_status_t)i), NULL);
    }
    cr_expect_str_eq(memspan_kind_name(MEMSPAN_KIND_HOST_PINNED), "host-pinned");
    cr_expect_str_eq(memspan_status_name(MEMSPAN_ERR_LIMIT), "MEMSPAN_ERR_LIMIT");
}

Test(devices, both_numbers_of_the_host)
{
    memspan_device_info_t a = {.struct_size = sizeof(a)};
    memspan_device_info_t b = {.struct_size = sizeof(b)};

    DONE(memspan_device_describe(MEMSPAN_HOST, &a));
    DONE(memspan_device_describe(memspan_host_device(), &b));
    cr_expect_eq(a.number, MEMSPAN_HOST);
    cr_expect_eq(b.number, MEMSPAN_HOST);
    cr_expect_str_eq(a.uid, b.uid);
    cr_expect_eq(memspan_host_device(), memspan_device_count());
    DONE(memspan_device_synchronize(MEMSPAN_HOST));
    DONE(memspan_device_synchronize(memspan_host_device()));
}
