/* SPDX-License-Identifier: BSD-3-Clause */
/* address.c: this host's addresses, and the address of a peer that it reaches: one on a network
 * that both are on, else the first with a route. An address that both hosts have, as of a bridge
 * for containers, is no way to the other. */

#include "shmem/network/tcp/tcp.h"
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const void *bytes_of(const struct sockaddr *address)
{
    return (address->sa_family == AF_INET6)
               ? (const void *)&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr
               : (const void *)&((const struct sockaddr_in *)(const void *)address)->sin_addr;
}

static uint8_t prefix_of(const uint8_t *mask, size_t mask_bytes)
{
    unsigned bits = 0;
    size_t i;

    for (i = 0; i < mask_bytes; i++) {
        bits += (unsigned)__builtin_popcount(mask[i]);
    }
    return (uint8_t)bits;
}

/* Longer than names of interfaces are: cutting makes no name into another. */
enum { NAME_BYTES = IF_NAMESIZE + 1 };

/* The first name at *names_p, which moves behind it. False: there is none. */
static bool next_name(const char **names_p, char name[NAME_BYTES])
{
    const char *names   = *names_p;
    const size_t length = (names != NULL) ? strcspn(names, ",") : 0;

    if ((names == NULL) || (names[0] == '\0')) {
        return false;
    }
    snprintf(name, NAME_BYTES, "%.*s", (int)length, names);
    *names_p = names + length + ((names[length] == ',') ? 1 : 0);
    return true;
}

/* The user has named it, or none. */
static bool is_wanted(const char *interface)
{
    const char *names = msp_tcp.job.tcp_interfaces;
    char name[NAME_BYTES];
    bool is_any = true;

    while (next_name(&names, name)) {
        if (strcmp(name, interface) == 0) {
            return true;
        }
        is_any = false;
    }
    return is_any;
}

static memspan_status_t refuse_names(const char *why, const char *name)
{
    return msp_tcp_fail(MEMSPAN_ERR_CONFIG, NULL, 0, "`ip address` lists the interfaces",
                        "SHMEMX_TCP_INTERFACE=%s: %s%s", msp_tcp.job.tcp_interfaces, why, name);
}

memspan_status_t msp_tcp_address_check(void)
{
    const char *names = msp_tcp.job.tcp_interfaces;
    char name[NAME_BYTES];
    struct msp_tcp_address own;
    memspan_status_t status;

    while (next_name(&names, name)) {
        if (if_nametoindex(name) == 0) {
            return refuse_names("this host has no interface ", (name[0] != '\0') ? name : "\"\"");
        }
    }
    status = msp_tcp_address_own(&own);
    return ((status == MEMSPAN_ERR_UNREACHABLE) && !is_wanted(""))
               ? refuse_names("none of them is up and has an address", "")
               : status;
}

/* Link-local addresses need an interface on each side: left out. Running: with a cable. */
static bool is_usable(const struct ifaddrs *one, bool is_loopback)
{
    const unsigned works           = IFF_UP | IFF_RUNNING;
    const struct sockaddr *address = one->ifa_addr;

    return is_wanted(one->ifa_name) && (address != NULL) && (one->ifa_netmask != NULL) &&
           ((one->ifa_flags & works) == works) &&
           (((one->ifa_flags & IFF_LOOPBACK) != 0) == is_loopback) &&
           ((address->sa_family == AF_INET) ||
            ((address->sa_family == AF_INET6) &&
             !IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)bytes_of(address))));
}

static void add_places(const struct ifaddrs *list, int family, bool is_loopback,
                       struct msp_tcp_address *own)
{
    const size_t bytes = (family == AF_INET6) ? 16 : 4;
    const struct ifaddrs *one;

    for (one = list; (one != NULL) && (own->count < MSP_TCP_PLACES); one = one->ifa_next) {
        if (is_usable(one, is_loopback) && (one->ifa_addr->sa_family == family)) {
            struct msp_tcp_place *place = &own->places[own->count++];

            place->is_v6 = (family == AF_INET6);
            memcpy(place->bytes, bytes_of(one->ifa_addr), bytes);
            place->prefix_bits = prefix_of(bytes_of(one->ifa_netmask), bytes);
        }
    }
}

memspan_status_t msp_tcp_address_own(struct msp_tcp_address *address_p)
{
    struct ifaddrs *list;

    memset(address_p, 0, sizeof *address_p);
    if (getifaddrs(&list) != 0) {
        return msp_tcp_fail(MEMSPAN_ERR_DRIVER, "getifaddrs", errno, NULL,
                            "the interfaces of this host are unknown");
    }
    if (msp_tcp.job.is_one_network || !is_wanted("")) {
        add_places(list, AF_INET, true, address_p);
    }
    if ((address_p->count == 0) || !is_wanted("")) {
        add_places(list, AF_INET, false, address_p);
        add_places(list, AF_INET6, false, address_p);
    }
    if (address_p->count == 0) {
        add_places(list, AF_INET, true, address_p); /* PEs of one host alone */
    }
    freeifaddrs(list);
    address_p->key     = msp_tcp.key;
    address_p->network = msp_tcp.job.network_namespace;
    if (address_p->count == 0) {
        return msp_tcp_fail(MEMSPAN_ERR_UNREACHABLE, NULL, 0, NULL,
                            "no interface of this host is up and has an address");
    }
    return MEMSPAN_OK;
}

static bool is_same(const struct msp_tcp_place *a, const struct msp_tcp_place *b, unsigned bits)
{
    const unsigned whole = bits / 8;
    const unsigned rest  = bits % 8;

    return (a->is_v6 == b->is_v6) && (memcmp(a->bytes, b->bytes, whole) == 0) &&
           ((rest == 0) || (((a->bytes[whole] ^ b->bytes[whole]) >> (8 - rest)) == 0));
}

/* 2: on a network of this host's; 1: elsewhere; 0: this host has that address itself. */
static int rank(const struct msp_tcp_place *place, const struct msp_tcp_address *own)
{
    int best = 1;
    unsigned i;

    for (i = 0; i < own->count; i++) {
        if (is_same(place, &own->places[i], place->is_v6 ? 128 : 32)) {
            return 0;
        }
        if (is_same(place, &own->places[i], own->places[i].prefix_bits)) {
            best = 2;
        }
    }
    return best;
}

struct sockaddr_storage msp_tcp_address_socket(const struct msp_tcp_place *place)
{
    struct sockaddr_storage to = {.ss_family = AF_INET};

    if (place->is_v6 != 0) {
        struct sockaddr_in6 *in6 = (void *)&to;

        in6->sin6_family = AF_INET6;
        in6->sin6_port   = htons(place->port);
        memcpy(&in6->sin6_addr, place->bytes, 16);
    } else {
        struct sockaddr_in *in = (void *)&to;

        in->sin_port = htons(place->port);
        memcpy(&in->sin_addr, place->bytes, 4);
    }
    return to;
}

/* Nothing is sent. */
static bool has_route(const struct sockaddr_storage *to)
{
    const int fd = socket(to->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const bool is_true =
        (fd >= 0) ? (connect(fd, (const void *)to, sizeof *to) == 0) : (errno != EAFNOSUPPORT);

    if (fd >= 0) {
        close(fd);
    }
    return is_true;
}

memspan_status_t msp_tcp_address_choose(int pe, const struct msp_tcp_address *peer,
                                        struct sockaddr_storage *to_p, char *text,
                                        size_t text_bytes)
{
    struct msp_tcp_address own;
    memspan_status_t status = msp_tcp_address_own(&own);
    int best_rank           = 0;
    uint16_t port           = 0;
    char number[INET6_ADDRSTRLEN];
    unsigned i;

    if (status != MEMSPAN_OK) {
        return status;
    }
    for (i = 0; (i < peer->count) && (i < MSP_TCP_PLACES); i++) {
        const struct msp_tcp_place *place = &peer->places[i];
        const int found                   = (peer->network == own.network) ? 1 : rank(place, &own);
        const struct sockaddr_storage to  = msp_tcp_address_socket(place);

        if ((found > best_rank) && has_route(&to)) {
            best_rank = found;
            *to_p     = to;
            port      = place->port;
            inet_ntop(to.ss_family, place->bytes, number, sizeof number);
        }
    }
    if (best_rank == 0) {
        return msp_tcp_fail(MEMSPAN_ERR_UNREACHABLE, NULL, 0, NULL,
                            "PE %d has no address that this host reaches", pe);
    }
    snprintf(text, text_bytes, "tcp to %s port %u", number, (unsigned)port);
    return MEMSPAN_OK;
}
