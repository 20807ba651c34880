/* SPDX-License-Identifier: BSD-3-Clause */
/* limited_driver.c: a network driver that locks what it registers, within RLIMIT_MEMLOCK, as of an
 * RDMA card. All else is the driver's that it is built with. */

#include "tests/shmem/network/wrapped.h"
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

static const struct msp_network_services *services;
static const struct msp_network_driver *real;
static struct msp_network_driver limited;
static atomic_ulong locked_bytes;

static memspan_status_t open_real(const struct msp_network_job *job,
                                  struct msp_network_limits *limits_p)
{
    memspan_status_t status = real->open(job, limits_p);

    limits_p->pins_memory = true;
    return status;
}

static memspan_status_t lock_and_register(const struct msp_network_region *region, void *key,
                                          size_t *key_bytes_p, struct msp_network_memory **memory_p)
{
    struct rlimit limit;

    if ((getrlimit(RLIMIT_MEMLOCK, &limit) == 0) &&
        (atomic_fetch_add(&locked_bytes, region->size_bytes) + region->size_bytes >
         limit.rlim_cur)) {
        atomic_fetch_sub(&locked_bytes, region->size_bytes);
        return services->fail(MEMSPAN_ERR_LIMIT, "ibv_reg_mr", ENOMEM, strerror(ENOMEM), NULL,
                              "%zu bytes cannot be registered", region->size_bytes);
    }
    return real->memory_register(region, key, key_bytes_p, memory_p);
}

const struct msp_network_driver *memspan_network_driver(const struct msp_network_services *given)
{
    services = given;
    real     = open_wrapped(given);
    if (real == NULL) {
        return NULL;
    }
    limited                 = *real;
    limited.open            = open_real;
    limited.memory_register = lock_and_register;
    return &limited;
}
