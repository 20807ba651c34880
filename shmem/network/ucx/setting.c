/* SPDX-License-Identifier: BSD-3-Clause */
/* setting.c: UCX's settings that we change. Those of the process have functions that are exported
 * but not part of the interface, so they may be missing: then UCX does as it does. */

#include "shmem/network/ucx/setting.h"
#include <ifaddrs.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern ucs_status_t ucs_global_opts_set_value(const char *name, const char *value)
    __attribute__((weak));
extern void ucs_debug_disable_signals(void) __attribute__((weak));

/* UCX's own, as its headers of debugging have it. */
enum { LOG_STOP, LOG_CONTINUE };
enum { LOG_FATAL, LOG_ERROR, LOG_WARNING };
enum { LOG_BYTES = 512 };
typedef int log_handler(const char *file, unsigned line, const char *function, int level,
                        const void *component, const char *message, va_list arguments);
extern void ucs_log_push_handler(log_handler *handler) __attribute__((weak));
extern void ucs_log_pop_handler(void) __attribute__((weak));

static bool has_handler;

static bool is_set(const char *name)
{
    char variable[64];

    snprintf(variable, sizeof variable, "UCX_%s", name);
    return secure_getenv(variable) != NULL;
}

static void set_global(const char *name, const char *value)
{
    if (!is_set(name) && (ucs_global_opts_set_value != NULL)) {
        ucs_global_opts_set_value(name, value);
    }
}

/* Of settings that no transport has taken: TCP's, where it is not in use. */
static const char untaken[] = "invalid configurations";

/* UCX prints an error where it finds no transport, also when there is another try. */
static int log_message(const char *file, unsigned line, const char *function, int level,
                       const void *component, const char *message, va_list arguments)
{
    char text[LOG_BYTES];

    (void)file;
    (void)line;
    (void)function;
    (void)component;
    if (level == LOG_FATAL) {
        return LOG_CONTINUE;
    }
    if ((level > LOG_WARNING) || msp_ucx.is_trying) {
        return LOG_STOP;
    }
    vsnprintf(text, sizeof text, message, arguments);
    if (strncmp(text, untaken, sizeof untaken - 1) != 0) {
        msp_ucx.services->note("UCX: %s", text);
    }
    return LOG_STOP;
}

void msp_ucx_settings_apply(void)
{
    set_global("WARN_UNUSED_ENV_VARS", "n");
    if (!is_set("HANDLE_ERRORS") && !is_set("DEBUG_SIGNO") && (ucs_debug_disable_signals != NULL)) {
        ucs_debug_disable_signals();
    }
    has_handler = !is_set("LOG_LEVEL") && !is_set("LOG_FILE") && (ucs_log_push_handler != NULL) &&
                  (ucs_log_pop_handler != NULL);
    if (has_handler) {
        ucs_log_push_handler(log_message);
    }
}

void msp_ucx_settings_revert(void)
{
    if (has_handler) {
        ucs_log_pop_handler();
        has_handler = false;
    }
}

/* The transports of UCX_TLS that reach no other host. */
static bool is_of_host(const char *name, size_t length)
{
    static const char *const starts[] = {"self", "sm",    "shm",  "mm",   "posix", "sysv", "cma",
                                         "knem", "xpmem", "cuda", "rocm", "ze",    "gdr"};
    size_t i;

    for (i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        if ((length >= strlen(starts[i])) && (strncmp(name, starts[i], strlen(starts[i])) == 0)) {
            return true;
        }
    }
    return false;
}

bool msp_ucx_settings_choose_tcp(void)
{
    const char *name = secure_getenv("UCX_TLS");
    bool has_tcp     = false;

    while ((name != NULL) && (name[0] != '\0')) {
        size_t length = strcspn(name, ",");
        bool is_tcp   = (length == 3) && (strncmp(name, "tcp", length) == 0);

        if (!is_tcp && !is_of_host(name, length)) {
            return false;
        }
        has_tcp = has_tcp || is_tcp;
        name += length + ((name[length] == ',') ? 1 : 0);
    }
    return has_tcp;
}

bool msp_ucx_settings_choose_devices(void)
{
    return is_set("NET_DEVICES");
}

bool msp_ucx_settings_choose(void)
{
    return is_set("TLS");
}

enum { INTERFACES_BYTES = 1024 };

/* Of an interface with several addresses each has an entry, and perhaps a label: "eth0:1". */
static bool is_listed(const char *names, const char *name)
{
    const size_t length = strlen(name);
    const char *at;

    for (at = strstr(names, name); at != NULL; at = strstr(at + 1, name)) {
        if (((at == names) || (at[-1] == ',')) && ((at[length] == ',') || (at[length] == '\0'))) {
            return true;
        }
    }
    return strchr(name, ':') != NULL;
}

/* The interfaces with an IPv4 address that reach other hosts, separated by commas; those for which
 * there is no room are left out. */
static void list_interfaces(char names[INTERFACES_BYTES])
{
    const unsigned works = IFF_UP | IFF_RUNNING;
    const struct ifaddrs *one;
    struct ifaddrs *list;
    size_t length = 0;

    names[0] = '\0';
    if (getifaddrs(&list) != 0) {
        return;
    }
    for (one = list; one != NULL; one = one->ifa_next) {
        if ((one->ifa_addr != NULL) && (one->ifa_addr->sa_family == AF_INET) &&
            ((one->ifa_flags & (works | IFF_LOOPBACK)) == works) &&
            !is_listed(names, one->ifa_name) &&
            (length + strlen(one->ifa_name) + 2 <= INTERFACES_BYTES)) {
            length += (size_t)snprintf(names + length, INTERFACES_BYTES - length, "%s%s",
                                       (length > 0) ? "," : "", one->ifa_name);
        }
    }
    freeifaddrs(list);
}

/* A poll asks the kernel once for each of them. */
static void choose_interfaces(ucp_config_t *config, enum msp_ucx_networks networks)
{
    char names[INTERFACES_BYTES] = "lo";

    if (networks != MSP_UCX_LOOPBACK) {
        list_interfaces(names);
    }
    if (names[0] != '\0') {
        ucp_config_modify(config, "NET_DEVICES", names);
    }
}

/* Settings of a transport have had their transport's name in front since 1.16. */
void msp_ucx_settings_configure(ucp_config_t *config, enum msp_ucx_networks networks)
{
    static const char *const names[] = {"TCP_TX_SEG_SIZE", "TCP_RX_SEG_SIZE"};
    size_t i;

    if (!is_set("TLS")) {
        ucp_config_modify(config, "TLS", (networks == MSP_UCX_RDMA) ? "^tcp,sm" : "^sm");
    }
    if (!is_set("NET_DEVICES") && (networks != MSP_UCX_RDMA)) {
        choose_interfaces(config, networks);
    }
    /* Otherwise UCX leaves an interface with its last endpoint, for which its TCP reads /proc/net:
     * no file is there once the main thread has ended, and UCX aborts. */
    if (!is_set("ADAPTIVE_PROGRESS") && (networks != MSP_UCX_RDMA)) {
        ucp_config_modify(config, "ADAPTIVE_PROGRESS", "n");
    }
    for (i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!is_set(names[i])) {
            ucp_config_modify(config, names[i], "128k");
            ucp_config_modify(config, names[i] + strlen("TCP_"), "128k");
        }
    }
}
