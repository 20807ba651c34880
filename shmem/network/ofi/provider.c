/* SPDX-License-Identifier: BSD-3-Clause */
/* provider.c: the choice of a provider of libfabric, and of its address.
 *
 * libfabric lists one fi_info for each provider, device and address that has the requested
 * capabilities. The user's FI_PROVIDER, FI_TCP_IFACE and similar ones have shortened the list.
 * Among the others the best rank counts: remote direct memory access before TCP before providers
 * that are slow or known to hang; addresses that other hosts reach before those that they may not,
 * and for a job of one host the loopback interface, where no other host listens. Among equals
 * libfabric's order stands, which is by speed.
 *
 * The first call of fi_getinfo() costs 0.2 to 0.45 s with any hints (libfabric 1.17 reads
 * /proc/kallsyms, and psm2 sleeps); later ones cost little. */

#include "shmem/network/ofi/ofi.h"
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ofi_ranked {
    const char *prefix;
    unsigned rank;
};

/* By the start of the name. Names with ofi_rxd are datagrams: far down. From 2.0 on tcp has
 * reliable messages itself. The layered one of 2.1 ends the process by SIGSEGV in fi_av_insert(),
 * now and then, when peers connect first. */
static const struct ofi_ranked ranking[] =
    {
        {"cxi", 0},           {"efa", 0},         {"opx", 0},  {"psm3", 0},
        {"verbs;ofi_rxm", 1}, {"gni", 1},         {"psm2", 1}, {"verbs", 2},
        {"tcp", 4},           {"tcp;ofi_rxm", 5}, {"shm", 7}, /* reaches this host alone */
        {"net", 8}, /* claims progress that it does not make (1.17) */
        {"udp", 8},           {"sockets", 9},
};

enum {
    RANK_UNKNOWN   = 3,
    RANK_LOOPBACK  = 8, /* less than another provider */
    RANK_LINK      = 6,
    RANK_BRIDGE    = 4,
    RANK_IPV6      = 1,
    RANK_PROVIDERS = 16,
};

static unsigned provider_rank(const char *name)
{
    unsigned rank = RANK_UNKNOWN;
    size_t best   = 0;

    if (strstr(name, "ofi_rxd") != NULL) {
        return 8;
    }
    for (size_t i = 0; i < sizeof ranking / sizeof ranking[0]; i++) {
        const size_t length = strlen(ranking[i].prefix);
        if ((length > best) && (strncmp(name, ranking[i].prefix, length) == 0)) {
            best = length;
            rank = ranking[i].rank;
        }
    }
    return rank;
}

/* Where every process that reaches a port is served. */
static bool is_kernel(const struct fi_info *info)
{
    static const char *const names[] = {"tcp", "net", "udp", "sockets"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strncmp(info->fabric_attr->prov_name, names[i], strlen(names[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* Containers' and virtual machines' bridges have addresses that other hosts do not reach. */
static bool is_bridge(const char *interface)
{
    char path[128];

    if ((interface == NULL) || (strchr(interface, '/') != NULL)) {
        return false;
    }
    const int length = snprintf(path, sizeof path, "/sys/class/net/%s/bridge", interface);
    return (length < (int)sizeof path) && (access(path, F_OK) == 0);
}

static unsigned address_rank(const struct fi_info *info)
{
    const struct sockaddr *any = info->src_addr;
    const bool is_near         = is_kernel(info) && ofi.job.is_one_network;

    if ((any == NULL) || (info->addr_format > FI_SOCKADDR_IN6)) {
        return 0;
    }
    if (any->sa_family == AF_INET) {
        const struct sockaddr_in *in = info->src_addr;
        if ((ntohl(in->sin_addr.s_addr) >> 24) == IN_LOOPBACKNET) {
            return is_near ? 0 : RANK_LOOPBACK;
        }
    } else if (any->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in = info->src_addr;
        if (IN6_IS_ADDR_LOOPBACK(&in->sin6_addr)) {
            return RANK_LOOPBACK + RANK_IPV6;
        }
        if (IN6_IS_ADDR_LINKLOCAL(&in->sin6_addr)) {
            return RANK_LINK;
        }
        return is_bridge(info->domain_attr->name) ? RANK_BRIDGE + RANK_IPV6 : RANK_IPV6;
    }
    return (is_bridge(info->domain_attr->name) ? RANK_BRIDGE : 0) + (is_near ? 1 : 0);
}

static unsigned info_rank(const struct fi_info *info)
{
    return (provider_rank(info->fabric_attr->prov_name) * RANK_PROVIDERS) + address_rank(info);
}

/* Queues are used by one thread at a time: that is the level of set_hints(). The bare tcp of 2.1
 * ends the process by SIGSEGV with it, in fi_cq_open(); with FI_THREAD_SAFE it works. A crash
 * cannot be tried, so the name decides. Its own thread wakes hundreds of times a second while the
 * process sleeps, and misses puts: ours progresses. */
static void set_bare_tcp(struct fi_info *info)
{
    if (strcmp(info->fabric_attr->prov_name, "tcp") == 0) {
        info->domain_attr->threading        = FI_THREAD_SAFE;
        info->domain_attr->data_progress    = FI_PROGRESS_MANUAL;
        info->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    }
}

static void set_hints(struct fi_info *hints)
{
    hints->caps                       = FI_MSG | FI_RMA;
    hints->mode                       = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type              = FI_EP_RDM;
    hints->tx_attr->msg_order         = FI_ORDER_SAS;
    hints->rx_attr->msg_order         = FI_ORDER_SAS;
    hints->tx_attr->op_flags          = FI_DELIVERY_COMPLETE;
    hints->domain_attr->threading     = FI_THREAD_COMPLETION;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY |
                                  FI_MR_ENDPOINT | FI_MR_RAW;
}

/* Settings of libfabric's, read at its first call, that cost much in most jobs. The user's settings
 * stay. Measured with 1.17, resident memory of a PE with one queue over tcp;ofi_rxm: 79 MiB with
 * the defaults, 13 MiB with these.
 * - rxm posts 4096 receives for each endpoint over tcp.
 * - Their buffers, and those of each connection over verbs, have 16 KiB. Over tcp the data of a
 *   message does not pass through them, so that messages of 16 KiB still go in one piece.
 * - An endpoint over tcp of 2.0 and later has buffers of MAX_RX_SIZE for messages that no receive
 *   waits for: rxm took 24 MiB a PE with the default, and 11 with this.
 * - rxm makes a completion queue for so many peers: fi_enable() returns EINVAL where that is over
 *   the
 *   device's limit (soft RoCE: with the default of 256). */
static void apply_settings(void)
{
    const int peers = (ofi.job.pe_count < 16) ? 16 : ofi.job.pe_count;
    char universe[16];

    (void)snprintf(universe, sizeof universe, "%d", (peers < 256) ? peers : 256);
    (void)setenv("FI_UNIVERSE_SIZE", universe, 0);
    (void)setenv("FI_OFI_RXM_MSG_RX_SIZE", "128", 0);
    (void)setenv("FI_OFI_RXM_BUFFER_SIZE", "2048", 0);
    (void)setenv("FI_OFI_RXM_EAGER_LIMIT", "16384", 0);
    (void)setenv("FI_TCP_MAX_RX_SIZE", "4096", 0);
}

static int get_infos(const struct fi_info *hints, struct fi_info **list_p)
{
    return fi_getinfo(FI_VERSION(OFI_API_MAJOR, OFI_API_MINOR), NULL, NULL, 0, hints, list_p);
}

/* FI_PROVIDER or FI_TCP_IFACE is set. */
static bool is_given(void)
{
    struct fi_param *params;
    bool is_set = false;
    int count;

    if (fi_getparams(&params, &count) != 0) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        is_set = is_set ||
                 ((params[i].value != NULL) && ((strcmp(params[i].name, "FI_PROVIDER") == 0) ||
                                                (strcmp(params[i].name, "FI_TCP_IFACE") == 0)));
    }
    fi_freeparams(params);
    return is_set;
}

/* The user has chosen, or it is RDMA, or the kernel's TCP is requested. */
static bool is_allowed(const struct fi_info *info, bool is_chosen)
{
    return is_chosen || ofi.job.takes_kernel_tcp ||
           (!is_kernel(info) && (strncmp(info->fabric_attr->prov_name, "shm", 3) != 0));
}

/* NULL: none is allowed. */
static struct fi_info *best_of(struct fi_info *list)
{
    const bool is_chosen = is_given();
    struct fi_info *best = NULL;

    for (struct fi_info *info = list; info != NULL; info = info->next) {
        if (is_allowed(info, is_chosen) &&
            ((best == NULL) || (info_rank(info) < info_rank(best)))) {
            best = info;
        }
    }
    return best;
}

static struct fi_info *choose(struct fi_info *hints, int *code_p)
{
    struct fi_info *list = NULL;
    struct fi_info *info = NULL;

    *code_p = get_infos(hints, &list);
    if (*code_p == 0) {
        struct fi_info *best = best_of(list);

        info    = (best != NULL) ? fi_dupinfo(best) : NULL; /* without its successors */
        *code_p = (info != NULL) ? 0 : -FI_ENODATA;
        fi_freeinfo(list);
    }
    return info;
}

/* The same provider and device once more, with other hints; replaces *info_p where it has them. */
static bool choose_again(struct fi_info *hints, struct fi_info **info_p)
{
    const struct fi_info *host = *info_p;
    struct fi_info *list       = NULL;
    struct fi_info *info       = NULL;

    if (get_infos(hints, &list) != 0) {
        return false;
    }
    for (struct fi_info *one = list; (one != NULL) && (info == NULL); one = one->next) {
        if ((strcmp(one->fabric_attr->prov_name, host->fabric_attr->prov_name) == 0) &&
            (strcmp(one->domain_attr->name, host->domain_attr->name) == 0) &&
            (one->addr_format == host->addr_format)) {
            info = fi_dupinfo(one);
        }
    }
    fi_freeinfo(list);
    if (info != NULL) {
        fi_freeinfo(*info_p);
        *info_p = info;
    }
    return info != NULL;
}

/* Keys of our choice where the provider lets us, as its own are counted; memory of devices where it
 * takes it. */
static void refine(struct fi_info *hints, struct fi_info **info_p)
{
    if (((*info_p)->domain_attr->mr_mode & FI_MR_PROV_KEY) != 0) {
        hints->domain_attr->mr_mode &= ~FI_MR_PROV_KEY;
        if (!choose_again(hints, info_p)) {
            hints->domain_attr->mr_mode |= FI_MR_PROV_KEY;
        }
    }
    hints->caps |= FI_HMEM;
    hints->domain_attr->mr_mode |= FI_MR_HMEM;
    (void)choose_again(hints, info_p);
}

memspan_status_t ofi_provider_choose(struct fi_info **info_p)
{
    struct fi_info *hints = fi_allocinfo();
    int code              = -FI_ENOMEM;

    if (hints == NULL) {
        return ofi_fail(MEMSPAN_ERR_NO_MEMORY, "fi_allocinfo", code, NULL, "ofi: no memory");
    }
    set_hints(hints);
    apply_settings();
    struct fi_info *info = choose(hints, &code);
    if (info == NULL) {
        fi_freeinfo(hints);
        return ofi_fail(
            MEMSPAN_ERR_UNSUPPORTED, "fi_getinfo", code,
            "fi_info lists libfabric's providers; FI_PROVIDER and FI_TCP_IFACE restrict "
            "them; tcp;ofi_rxm does",
            "ofi: no provider has reliable messages and remote memory access");
    }
    refine(hints, &info);
    fi_freeinfo(hints);
    info->tx_attr->op_flags = 0; /* each operation has its own */
    set_bare_tcp(info);
    *info_p = info;
    return MEMSPAN_OK;
}

bool ofi_provider_is(const char *prefix)
{
    return strncmp(ofi.info->fabric_attr->prov_name, prefix, strlen(prefix)) == 0;
}

bool ofi_provider_is_kernel(void)
{
    return is_kernel(ofi.info);
}

void ofi_address_text(const void *address, size_t address_bytes, char *text, size_t text_bytes)
{
    const struct sockaddr *any = address;
    char number[INET6_ADDRSTRLEN];

    if ((ofi.info->addr_format <= FI_SOCKADDR_IN6) && (any->sa_family == AF_INET)) {
        const struct sockaddr_in *in = address;
        (void)inet_ntop(AF_INET, &in->sin_addr, number, sizeof number);
        (void)snprintf(text, text_bytes, "%s:%u", number, (unsigned)ntohs(in->sin_port));
    } else if ((ofi.info->addr_format <= FI_SOCKADDR_IN6) && (any->sa_family == AF_INET6)) {
        const struct sockaddr_in6 *in = address;
        (void)inet_ntop(AF_INET6, &in->sin6_addr, number, sizeof number);
        (void)snprintf(text, text_bytes, "[%s]:%u", number, (unsigned)ntohs(in->sin6_port));
    } else if (ofi.info->addr_format == FI_ADDR_STR) {
        (void)snprintf(text, text_bytes, "%.*s", (int)address_bytes, (const char *)address);
    } else {
        text[0] = '\0';
    }
}
