/* SPDX-License-Identifier: BSD-3-Clause */
/* tcp_addresses.c: the interfaces at which the driver listens, and the address that it chooses. */

#include "shmem/network/tcp/tcp.h"
#include <criterion/criterion.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char said[512];

static memspan_status_t fail(memspan_status_t status, const char *call, long native_code,
                             const char *native_text, const char *hint, const char *format, ...)
{
    va_list arguments;

    (void)call;
    (void)native_code;
    (void)native_text;
    (void)hint;
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
    return status;
}

static void note(const char *format, ...)
{
    (void)format;
}

const struct msp_network_driver *memspan_network_driver(const struct msp_network_services *given);

/* @p is_one_network: all PEs of the job are of this machine. */
static memspan_status_t open_driver(const char *interfaces, bool is_one_network)
{
    static const struct msp_network_services services = {
        .version = MSP_NETWORK_DRIVER_VERSION, .fail = fail, .note = note};
    const struct msp_network_job job = {.pe             = 0,
                                        .pe_count       = 2,
                                        .local_count    = 1,
                                        .tcp_interfaces = interfaces,
                                        .is_one_network = is_one_network};
    struct msp_network_limits limits;

    return memspan_network_driver(&services)->open(&job, &limits);
}

TestSuite(tcp_addresses, .timeout = 60);

/* ---- interfaces ---- */

Test(tcp_addresses, interfaces)
{
    static const char *const wrong[] = {"none0", "lo,none0", ",lo",  "lo,,lo",
                                        " lo",   "lo;lo",    ",",    "loooooooooooooooooooooooo",
                                        "lo/",   "lo\n",     "lo,-", "127.0.0.1"};
    size_t i;

    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        said[0] = '\0';
        cr_expect_eq(open_driver(wrong[i], true), MEMSPAN_ERR_CONFIG, "%s", wrong[i]);
        cr_expect_not_null(strstr(said, "this host has no interface"), "%s: %s", wrong[i], said);
    }
    cr_expect_eq(open_driver("lo", true), MEMSPAN_OK, "%s", said);
    cr_expect_eq(open_driver("", true), MEMSPAN_OK, "%s", said);
}

/* ---- addresses ---- */

static unsigned own_network(void)
{
    struct msp_tcp_address own;

    cr_assert_eq(msp_tcp_address_own(&own), MEMSPAN_OK, "%s", said);
    cr_expect_eq(own.count, 1);
    return own.places[0].bytes[0];
}

/* 10.LAST.0.2 of a host whose other address leads nowhere. */
static memspan_status_t choose(uint8_t last, char text[MSP_TCP_TEXT])
{
    const struct msp_tcp_address theirs = {
        .network = 1,
        .count   = 2,
        .places  = {{.port = 1, .prefix_bits = 24, .bytes = {10, 8, 0, 2}},
                    {.port = 1, .prefix_bits = 24, .bytes = {10, last, 0, 2}}}};
    struct sockaddr_storage to;

    return msp_tcp_address_choose(1, &theirs, &to, text, MSP_TCP_TEXT);
}

/* 10.7.0.1 is an interface's that has no cable at first; 10.9.0.0 is behind it. */
Test(tcp_addresses, chosen)
{
    char text[MSP_TCP_TEXT] = "";

    if ((unshare(CLONE_NEWNET) != 0) ||
        (system("ip link set lo up && ip link add v0 type veth peer name v1 && "
                "ip addr add 10.7.0.1/24 dev v0 && ip link set v0 up") != 0)) {
        cr_skip_test("no network of its own");
    }
    cr_assert_eq(open_driver(NULL, false), MEMSPAN_OK, "%s", said);
    cr_expect_eq(own_network(), 127, "an interface without a cable counts");
    cr_assert_eq(system("ip link set v1 up"), 0);
    while (own_network() != 10) {
        usleep(1000);
    }
    cr_assert_eq(system("ip route add 10.9.0.0/24 via 10.7.0.2"), 0);
    cr_expect_eq(choose(7, text), MEMSPAN_OK, "%s", said);
    cr_expect_str_eq(text, "tcp to 10.7.0.2 port 1");
    cr_expect_eq(choose(9, text), MEMSPAN_OK, "%s", said);
    cr_expect_str_eq(text, "tcp to 10.9.0.2 port 1");
    cr_expect_eq(choose(6, text), MEMSPAN_ERR_UNREACHABLE);
}
