/* SPDX-License-Identifier: BSD-3-Clause */
/* start_steps.c: what a start does on its own host, and of launchers without PMIx: nothing. */

#include "core/base/log.h"
#include "shmem/bootstrap/sources.h"
#include "shmem/collective/collective.h"
#include "shmem/collective/hosts.h"
#include "shmem/collective/sync.h"
#include "shmem/context.h"
#include "shmem/control/agree.h"
#include "shmem/control/memory.h"
#include "shmem/control/shared_file.h"
#include "shmem/control/wait.h"
#include "shmem/memory.h"
#include "shmem/option.h"
#include "shmem/partition/partition.h"
#include "shmem/partition/placement.h"
#include "shmem/team.h"
#include "shmem/transport/call.h"
#include "shmem/transport/choice.h"
#include "shmem/transport/order.h"
#include "shmem/transport/segment.h"
#include <stdlib.h>

static memspan_status_t open_none(struct msp_bootstrap_job *job_p)
{
    (void)job_p;
    return memspan_error(MEMSPAN_ERR_OFF, "not in the model");
}

const struct msp_bootstrap msp_bootstrap_launch = {.open = open_none};
const struct msp_bootstrap msp_bootstrap_pmi    = {.open = open_none};
const struct msp_bootstrap msp_bootstrap_single = {.open = open_none};

struct msp_segment msp_segments[MSP_SEGMENT_MAX];
int msp_log_level_in_force;

#define STUB(result, name, parameters, ...)                                                        \
    result name parameters                                                                         \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }
#define SUCCESS return MEMSPAN_OK

STUB(memspan_status_t, msp_control_make, (int count), (void)count; SUCCESS)
STUB(memspan_status_t, msp_data_segment_open, (void), SUCCESS)
STUB(memspan_status_t, msp_table_open, (void), SUCCESS)
STUB(memspan_status_t, msp_shmem_option_read, (void), SUCCESS)
STUB(memspan_status_t, msp_transport_choice_read, (void), SUCCESS)
STUB(void, msp_arena_close, (void), )
STUB(void, msp_call_close, (void), )
STUB(void, msp_context_close, (void), )
STUB(void, msp_context_open, (void), )
STUB(void, msp_control_close, (void), )
STUB(void, msp_data_segment_close, (void), )
STUB(void, msp_fd_occupy_streams, (void), )
STUB(void, msp_partition_close, (void), )
STUB(void, msp_segment_wipe_in_children, (void), )
STUB(void, msp_partition_print, (void), )
STUB(void, msp_shmem_option_print, (void), )
STUB(void, msp_shmem_option_warn, (void), )
STUB(void, msp_team_close, (void), )
STUB(void, msp_team_open, (void), )
STUB(void, msp_transport_choice_print, (void), )
STUB(void, msp_wait_init, (void), )
STUB(bool, msp_wait_is_oversubscribed, (void), return false)
STUB(bool, msp_error_is_elsewhere, (void), return false)
STUB(void, msp_sync_gather, (struct msp_team * team), (void)team)
STUB(void, msp_sync_release, (struct msp_team * team), (void)team)
STUB(void, msp_collective_barrier, (struct msp_team * team), (void)team; abort())
STUB(void, msp_bootstrap_end_daemon, (unsigned after_s), (void)after_s)
STUB(void, memspan_report, (const char *what, const char *call), (void)what; (void)call)
STUB(uint64_t, msp_shmem_option_digest, (enum msp_shmem_option option), return (uint64_t)option)
STUB(uint64_t, msp_shmem_option_number, (enum msp_shmem_option option), (void)option; return 0)
STUB(const char *, msp_shmem_option_name, (enum msp_shmem_option option), (void)option; return "")
STUB(struct msp_network_division, msp_transport_choice_division, (void),
     return (struct msp_network_division){.pes = 0})
STUB(memspan_status_t, msp_agree_refuse, (const char *variable, int pe), (void)variable; (void)pe;
     return MEMSPAN_ERR_CONFIG)
STUB(int, msp_device_memory_home, (const void *address), (void)address; return 0)
STUB(void, msp_order_slow, (const struct msp_context *context, bool completes), (void)context;
     (void)completes)
STUB(void, msp_hosts_vote,
     (struct msp_team * team, enum msp_reduction operation, enum msp_number type, void *values,
      size_t count),
     (void)team;
     (void)operation; (void)type; (void)values; (void)count; abort())
STUB(void, msp_log_line,
     (enum memspan_log_level level, const char *subject, const char *format, ...), (void)level;
     (void)subject; (void)format)

/* Barriers of the job. */
memspan_status_t msp_partition_open(void)
{
    int i;

    for (i = 0; i < 6; i++) {
        msp_collective_sync(msp_team_job());
    }
    return MEMSPAN_OK;
}
