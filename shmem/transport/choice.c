/* SPDX-License-Identifier: BSD-3-Clause */
/* choice.c: the order of transports, from variables to the driver that is opened. */

#include "shmem/transport/choice.h"
#include "core/base/text.h"
#include "shmem/job.h"
#include "shmem/network/network.h"
#include "shmem/network/plugin.h"
#include "shmem/option.h"
#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 8, NAME_BYTES = 32, REASON_BYTES = 320 };

/* The requested order, then the result. */
static struct {
    char names[NAMES_MAX][NAME_BYTES]; /* of network drivers, the best first */
    int count;
    int taken; /* index + 1; 0: none, so that the table takes no memory until it is used */
    struct msp_network_division division;
    bool is_trusting; /* the driver taken executes messages of any process */
} choice;
static char reasons[NAMES_MAX][REASON_BYTES] MSP_SPARSE; /* why a driver was not taken, by name */

/* ---- reading ---- */

static const char *order_text(void)
{
    return msp_shmem_option_text(MEMSPAN_SHMEM_TRANSPORT);
}

static const char *order_name(void)
{
    return msp_shmem_option_name(MEMSPAN_SHMEM_TRANSPORT);
}

static memspan_status_t refuse_name(const char *name)
{
    static const char *const drivers[] = {"ucx", "ofi", "tcp"};
    char here[128]                     = "smp";
    size_t used                        = strlen(here);
    size_t i;

    for (i = 0; i < sizeof drivers / sizeof drivers[0]; i++) {
        if (msp_network_driver_exists(drivers[i])) {
            msp_text_append(here, sizeof here, &used, ", %s", drivers[i]);
        }
    }
    memspan_error(MEMSPAN_ERR_CONFIG, "%s=%s: there is no such transport", order_name(), name);
    return msp_error_hint("transports here are %s", here);
}

static memspan_status_t add_name(const char *name, size_t length)
{
    char *to = choice.names[choice.count];

    if ((length >= NAME_BYTES) || (choice.count == NAMES_MAX)) {
        return memspan_error(MEMSPAN_ERR_CONFIG,
                             "%s: %.*s: a name of at most %d characters, and %d"
                             " names",
                             order_name(), (int)length, name, NAME_BYTES - 1, NAMES_MAX);
    }
    snprintf(to, NAME_BYTES, "%.*s", (int)length, name);
    /* By default a driver that is not there is passed over. */
    if (msp_shmem_option_is_set(MEMSPAN_SHMEM_TRANSPORT) && !msp_network_driver_exists(to)) {
        return refuse_name(to);
    }
    choice.count++;
    return MEMSPAN_OK;
}

/* "", ":N", ":N+M" or ":/H". */
static bool read_division(const char *text, struct msp_network_division *division)
{
    struct msp_network_division read = {.pes = 1, .others = 1, .hosts = 1};
    int parsed                       = 0;

    *division = (struct msp_network_division){.pes = 1};
    if (text[0] == '\0') {
        return true;
    }
    if ((sscanf(text, ":/%9d%n", &read.hosts, &parsed) == 1) && (text[parsed] == '\0')) {
        division->hosts = read.hosts;
        return read.hosts > 0;
    }
    if ((sscanf(text, ":%9d+%9d%n", &read.pes, &read.others, &parsed) == 2) &&
        (text[parsed] == '\0')) {
        division->others = read.others;
    } else if ((sscanf(text, ":%9d%n", &read.pes, &parsed) != 1) || (text[parsed] != '\0')) {
        return false;
    }
    division->pes = read.pes;
    return (read.pes > 0) && (read.others > 0);
}

/* NAME:N. */
static memspan_status_t read_divided(const char *text)
{
    size_t length = strcspn(text, ":");

    if (!read_division(text + length, &choice.division)) {
        memspan_error(MEMSPAN_ERR_CONFIG, "%s=%s has no number of PEs", order_name(), text);
        return msp_error_hint("give it as tcp:2, ucx:2 or ofi:2");
    }
    return add_name(text, length);
}

/* "smp,ucx,ofi,tcp". A network that stands before smp reaches the PEs of this host too. */
static memspan_status_t read_order(const char *text)
{
    memspan_status_t status = MEMSPAN_OK;
    bool has_smp            = false;

    while (status == MEMSPAN_OK) {
        size_t length = strcspn(text, ",");

        if ((length == 3) && (strncmp(text, "smp", length) == 0)) {
            choice.division.pes = (choice.count > 0) ? 1 : 0;
            has_smp             = true;
        } else {
            status = add_name(text, length);
        }
        if (text[length] == '\0') {
            break;
        }
        text += length + 1;
    }
    choice.division.pes = has_smp ? choice.division.pes : 1;
    return status;
}

memspan_status_t msp_transport_choice_read(void)
{
    const char *text = order_text();
    bool is_divided  = (strchr(text, ':') != NULL);
    memspan_status_t status;

    memset(&choice, 0, sizeof choice);
    status = is_divided ? read_divided(text) : read_order(text);
    if (status != MEMSPAN_OK) {
        memset(&choice, 0, sizeof choice);
    }
    return status;
}

struct msp_network_division msp_transport_choice_division(void)
{
    return choice.division;
}

/* ---- opening ---- */

/* Named alone a driver may use networks that it would not use by default. */
static memspan_status_t load_driver(const char *name, bool is_alone,
                                    const struct msp_network_services *services,
                                    const struct msp_network_driver **driver_p)
{
    if (!is_alone && msp_network_driver_exists(name) && !msp_network_driver_has_rdma(name)) {
        memspan_error(
            MEMSPAN_ERR_UNREACHABLE,
            "%s finds no RDMA device here, and is taken over the kernel's TCP where it is "
            "the only network that is named",
            name);
        return msp_error_hint("tcp lets PEs of the job alone connect");
    }
    return msp_network_driver_load(name, services, driver_p);
}

static memspan_status_t open_driver(int i, const struct msp_network_services *services,
                                    const struct msp_network_job *given,
                                    struct msp_network_limits *limits_p,
                                    const struct msp_network_driver **driver_p)
{
    const struct msp_network_driver *driver = NULL;
    struct msp_network_job job              = *given;
    memspan_status_t status;

    job.takes_kernel_tcp = (choice.count == 1);
    status               = load_driver(choice.names[i], job.takes_kernel_tcp, services, &driver);
    if (status == MEMSPAN_OK) {
        memset(limits_p, 0, sizeof *limits_p);
        status = driver->open(&job, limits_p);
    }
    if (status == MEMSPAN_OK) {
        choice.taken = i + 1;
        *driver_p    = driver;
        return MEMSPAN_OK;
    }
    snprintf(reasons[i], REASON_BYTES, "%s", memspan_error_text());
    msp_debug_note("transport %s is not used: %s", choice.names[i], reasons[i]);
    return status;
}

static memspan_status_t refuse_hosts(void)
{
    int elsewhere = msp_job.pe_count - msp_job.local_count;
    char all[400] = "";
    int length    = 0;
    int i;

    if (choice.count == 0) {
        memspan_error(MEMSPAN_ERR_UNREACHABLE,
                      "%s=%s: smp does not reach the %d of %d PEs that are on other hosts",
                      order_name(), order_text(), elsewhere, msp_job.pe_count);
        return msp_error_hint("add ucx, ofi or tcp, or unset it");
    }
    for (i = 0; (i < choice.count) && ((size_t)length < sizeof all); i++) {
        length += snprintf(all + length, sizeof all - (size_t)length, "%s%s", (i > 0) ? "; " : "",
                           reasons[i]);
    }
    return memspan_error(MEMSPAN_ERR_UNREACHABLE,
                         "no transport of %s reaches the %d of %d PEs that are on other hosts: %s",
                         order_text(), elsewhere, msp_job.pe_count, all);
}

static void warn_of_strangers(void)
{
    static int key;

    msp_warn_once(
        &key,
        "this network is trusted: transport %s uses the kernel's TCP, and any process that "
        "reaches a port of a PE can change the job's memory; tcp lets PEs of the job alone "
        "connect",
        choice.names[choice.taken - 1]);
}

memspan_status_t msp_transport_choice_open(const struct msp_network_services *services,
                                           const struct msp_network_job *job,
                                           struct msp_network_limits *limits_p,
                                           const struct msp_network_driver **driver_p)
{
    memspan_status_t status = MEMSPAN_ERR_OFF;
    int i;

    for (i = 0; (i < choice.count) && (status != MEMSPAN_OK); i++) {
        status = open_driver(i, services, job, limits_p, driver_p);
        if (status == MEMSPAN_ERR_CONFIG) {
            return status;
        }
    }
    if (status != MEMSPAN_OK) {
        return refuse_hosts();
    }
    choice.is_trusting = limits_p->is_open_to_strangers;
    if (choice.is_trusting && (job->pe == 0)) {
        warn_of_strangers();
    }
    return MEMSPAN_OK;
}

/* "the first of smp,ucx,ofi,tcp that works here" */
static void write_rank(char *text, size_t text_bytes)
{
    snprintf(text, text_bytes, "the %s of %s that works here",
             (choice.taken == 1) ? "first" : "next", order_text());
}

/* ---- without a job ---- */

/* The results of the last call with index 0. */
static struct {
    shmemx_transport_info_t infos[NAMES_MAX + 1];
    int count;
} plan MSP_SPARSE;

static shmemx_transport_info_t *add_plan(const char *name, const char *reaches)
{
    shmemx_transport_info_t *info = &plan.infos[plan.count++];

    *info = (shmemx_transport_info_t){.is_network = true};
    snprintf(info->name, sizeof info->name, "%s", name);
    snprintf(info->reaches, sizeof info->reaches, "%s", reaches);
    return info;
}

static void plan_smp(void)
{
    bool is_divided = (choice.division.pes > 0) || (choice.division.hosts > 0);
    shmemx_transport_info_t *info =
        add_plan("smp", is_divided ? "some PEs of its host" : "PEs of its host");

    info->is_network   = false;
    info->is_available = true;
    info->is_chosen    = true;
    snprintf(info->path, sizeof info->path, "loads and stores");
    if (is_divided) {
        snprintf(info->why, sizeof info->why, "%s=%s divides the host", order_name(), order_text());
    } else {
        snprintf(info->why, sizeof info->why, "their memory is mapped");
    }
}

static void plan_driver(int i)
{
    const struct msp_network_job job        = {.pe_count    = 2,
                                               .local_count = 1,
                                               .tcp_interfaces =
                                                   msp_shmem_option_text(MEMSPAN_SHMEM_TCP_INTERFACE)};
    const int before                        = choice.taken;
    shmemx_transport_info_t *info           = add_plan(choice.names[i], "PEs of other hosts");
    const struct msp_network_driver *driver = NULL;
    struct msp_network_limits limits;

    if (open_driver(i, &msp_network_services, &job, &limits, &driver) != MEMSPAN_OK) {
        snprintf(info->why, sizeof info->why, "%.*s", REASON_BYTES - 1, reasons[i]);
        return;
    }
    driver->describe(info->path, sizeof info->path);
    driver->close();
    info->is_available        = true;
    info->is_chosen           = (before == 0);
    info->target_progresses   = limits.target_progresses;
    info->takes_device_memory = limits.takes_device_memory;
    if (info->is_chosen) {
        write_rank(info->why, sizeof info->why);
    } else {
        choice.taken = before;
        snprintf(info->why, sizeof info->why, "%s is before it in %s", choice.names[before - 1],
                 order_text());
    }
}

static memspan_status_t plan_all(void)
{
    memspan_status_t status = msp_shmem_option_read();
    int i;

    plan.count = 0;
    status     = (status == MEMSPAN_OK) ? msp_transport_choice_read() : status;
    if (status != MEMSPAN_OK) {
        return status;
    }
    plan_smp();
    for (i = 0; i < choice.count; i++) {
        plan_driver(i);
    }
    return MEMSPAN_OK;
}

memspan_status_t msp_transport_preview(int index, shmemx_transport_info_t *info_p)
{
    memspan_status_t status = MEMSPAN_OK;

    if (msp_job.is_on) {
        memspan_error(MEMSPAN_ERR_CONFLICT, "a job has opened the network");
        return msp_error_hint("SHMEM_INFO=1 prints what it uses");
    }
    if ((index == 0) || (plan.count == 0)) {
        status = plan_all();
    }
    if ((status == MEMSPAN_OK) && ((index < 0) || (index >= plan.count))) {
        status = memspan_error(MEMSPAN_ERR_NOT_FOUND, "there are %d transports", plan.count);
    }
    if (status == MEMSPAN_OK) {
        *info_p = plan.infos[index];
    }
    return status;
}

/* ---- output ---- */

static const char *security_of(const char *name)
{
    if (choice.is_trusting) {
        return "any process that reaches a port of a PE can change the job's memory";
    }
    return (strcmp(name, "tcp") == 0) ? "PEs of the job alone connect, by challenge and response"
                                      : "its RDMA network is trusted; it does not listen over TCP";
}

void msp_transport_choice_print(void)
{
    int elsewhere = msp_job.pe_count - msp_job.local_count;
    char rank[REASON_BYTES];
    int i;

    printf("transport smp: PEs of this host, %d, by loads and stores%s\n", msp_job.local_count,
           (choice.division.pes > 0) ? " (hosts are divided by a variable)" : "");
    if (elsewhere == 0) {
        printf("no other transport is opened: all PEs are of this host\n");
        return;
    }
    write_rank(rank, sizeof rank);
    printf("transport %s: PEs of other hosts, %d; %s\n", choice.names[choice.taken - 1], elsewhere,
           rank);
    printf("    %s; nothing is encrypted\n", security_of(choice.names[choice.taken - 1]));
    for (i = 0; i < choice.taken - 1; i++) {
        if (reasons[i][0] != '\0') {
            printf("    not %s: %s\n", choice.names[i], reasons[i]);
        }
    }
}
