/* SPDX-License-Identifier: BSD-3-Clause */
/* driver.c: a network driver that cannot be used, in one of several manners: DRIVER_VERSION is
 * another one, or open() fails. */

#include "shmem/network/driver.h"

static const struct msp_network_services *services;

static memspan_status_t refuse(const struct msp_network_job *job,
                               struct msp_network_limits *limits_p)
{
    (void)job;
    (void)limits_p;
    return services->fail(MEMSPAN_ERR_DRIVER, "example_open", -7, "no device", "plug one in",
                          "the example does not open");
}

static const struct msp_network_driver driver = {
    .version = DRIVER_VERSION, .name = "example", .open = refuse};

__attribute__((visibility("default"))) const struct msp_network_driver *
memspan_network_driver(const struct msp_network_services *given);

const struct msp_network_driver *memspan_network_driver(const struct msp_network_services *given)
{
    services = given;
    return &driver;
}
