/* SPDX-License-Identifier: BSD-3-Clause */
/* Which provider of libfabric the driver chooses, and how it asks for it, from lists of this
 * test's. No provider is opened. */

#include "shmem/network/ofi/ofi.h"
#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct ofi_driver ofi;

static const char *const *offered; /* names, in libfabric's order; NULL at the end */

memspan_status_t ofi_fail(memspan_status_t status, const char *call, long code, const char *hint,
                          const char *format, ...)
{
    (void)call, (void)code, (void)hint, (void)format;
    return status;
}

/* ---- libfabric, as far as the choice calls it ---- */

static struct fi_info *make_info(const char *name)
{
    struct fi_info *info = calloc(1, sizeof *info);

    info->tx_attr                = calloc(1, sizeof *info->tx_attr);
    info->rx_attr                = calloc(1, sizeof *info->rx_attr);
    info->ep_attr                = calloc(1, sizeof *info->ep_attr);
    info->domain_attr            = calloc(1, sizeof *info->domain_attr);
    info->fabric_attr            = calloc(1, sizeof *info->fabric_attr);
    info->fabric_attr->prov_name = strdup(name);
    info->domain_attr->name      = strdup("eth0");
    return info;
}

struct fi_info *fi_dupinfo(const struct fi_info *from)
{
    struct fi_info *info = make_info((from != NULL) ? from->fabric_attr->prov_name : "");

    if (from != NULL) {
        info->domain_attr->threading = from->domain_attr->threading;
        info->domain_attr->mr_mode   = from->domain_attr->mr_mode;
    }
    return info;
}

void fi_freeinfo(struct fi_info *info)
{
    while (info != NULL) {
        struct fi_info *next = info->next;
        free(info->fabric_attr->prov_name);
        free(info->domain_attr->name);
        free(info->fabric_attr);
        free(info->domain_attr);
        free(info->ep_attr);
        free(info->rx_attr);
        free(info->tx_attr);
        free(info);
        info = next;
    }
}

/* Each provider takes the level that it is asked for. */
int fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
               const struct fi_info *hints, struct fi_info **list_p)
{
    struct fi_info **end = list_p;

    (void)version, (void)node, (void)service, (void)flags;
    *list_p = NULL;
    for (size_t i = 0; offered[i] != NULL; i++) {
        *end                           = make_info(offered[i]);
        (*end)->domain_attr->threading = hints->domain_attr->threading;
        end                            = &(*end)->next;
    }
    return (*list_p != NULL) ? 0 : -FI_ENODATA;
}

int fi_getparams(struct fi_param **params, int *count)
{
    *params = NULL;
    *count  = 0;
    return 0;
}

void fi_freeparams(struct fi_param *params)
{
    (void)params;
}

/* ---- cases ---- */

static void expect(const char *name, enum fi_threading level, const char *const *names)
{
    struct fi_info *info = NULL;

    offered                  = names;
    ofi.job.takes_kernel_tcp = true;
    cr_assert(ofi_provider_choose(&info) == MEMSPAN_OK, "none instead of %s", name);
    cr_assert(strcmp(info->fabric_attr->prov_name, name) == 0, "%s, not %s",
              info->fabric_attr->prov_name, name);
    cr_assert(info->domain_attr->threading == level, "%s with level %d", name,
              (int)info->domain_attr->threading);
    cr_assert((level != FI_THREAD_SAFE) ||
              (info->domain_attr->data_progress == FI_PROGRESS_MANUAL));
    fi_freeinfo(info);
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

Test(ofi_provider, libfabric_1_layers_tcp)
{
    expect("tcp;ofi_rxm", FI_THREAD_COMPLETION, NAMES("tcp;ofi_rxm", "shm", "net", "sockets"));
}

/* 2.1 has both. */
Test(ofi_provider, bare_tcp_before_layered)
{
    expect("tcp", FI_THREAD_SAFE, NAMES("tcp;ofi_rxm", "tcp", "shm", "sockets"));
}

Test(ofi_provider, bare_tcp_alone)
{
    expect("tcp", FI_THREAD_SAFE, NAMES("udp;ofi_rxd", "tcp", "shm", "sockets"));
}

Test(ofi_provider, rdma_first)
{
    expect("verbs;ofi_rxm", FI_THREAD_COMPLETION, NAMES("tcp", "tcp;ofi_rxm", "verbs;ofi_rxm"));
    expect("cxi", FI_THREAD_COMPLETION, NAMES("tcp", "verbs;ofi_rxm", "cxi"));
}

Test(ofi_provider, none)
{
    struct fi_info *info = NULL;

    ofi.job.takes_kernel_tcp = false;
    offered                  = NAMES("tcp", "tcp;ofi_rxm", "shm");
    cr_assert(ofi_provider_choose(&info) == MEMSPAN_ERR_UNSUPPORTED);
    cr_assert(info == NULL);
}
