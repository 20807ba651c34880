/* SPDX-License-Identifier: BSD-3-Clause */
/* tape.c: what the algorithms between hosts call, as a tape. */

#include "tape.h"
#include "shmem/collective/collective.h"
#include "shmem/collective/exchange.c" /* its flags are private to it */
#include "shmem/collective/hosts.h"
#include "shmem/collective/peer.h"
#include "shmem/control/agree.h"
#include "shmem/option.h"
#include "shmem/transport/order.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    LINES    = MSP_EXCHANGE_TURNS * MSP_EXCHANGE_ALL_ROUNDS,
    ARRIVALS = MSP_EXCHANGE_TURNS * PHASES,
    ALL      = LINES + ARRIVALS + (CASTS * CAST_PHASES),
};
_Static_assert(ALL <= (int)TAPE_FLAG_MAX, "flags have numbers");
_Static_assert((int)TAPE_TURNS == (int)MSP_EXCHANGE_TURNS, "turns");
_Static_assert((int)TAPE_CASTS == (int)CASTS, "counters of broadcasts");

struct tape tape;
struct msp_job msp_job;
struct msp_control msp_control;
bool msp_peer_is_indirect;

static struct msp_team team;
static const char *rules;
static size_t event_room;
static int sends;       /* of this PE */
static int last_sent;   /* flag */
static int outstanding; /* strided puts */
static size_t in_bytes; /* of an inbox that messages have used */

/* The wait that is under way: which flag would end it. */
static struct {
    bool is_on;
    int tries; /* flags: the one that was last sent to, then each */
    bool is_low;
    int flag;
    struct count *unsettled; /* its event's value is known when its owner goes on */
} waiting;

void tape_fail(const char *format, ...)
{
    va_list arguments;

    if (!tape.is_silent && (tape.failures < tape.failures_before + 5)) {
        va_start(arguments, format);
        printf("FAILED: ");
        vprintf(format, arguments);
        printf("\n");
        va_end(arguments);
    }
    tape.failures++;
}

bool tape_flag_adds(int flag)
{
    return flag >= LINES;
}

bool tape_flag_is_cast(int flag)
{
    return flag >= LINES + ARRIVALS;
}

/* ---- flags ---- */

static struct line *line_at(int flag)
{
    return &((struct line *)mail_of(&team)->round)[flag];
}

static struct count *count_at(int flag)
{
    struct mail *mail = mail_of(&team);

    return tape_flag_is_cast(flag) ? &((struct count *)mail->casts)[flag - LINES - ARRIVALS]
                                   : &((struct count *)mail->arrivals)[flag - LINES];
}

static int flag_number(const void *place)
{
    const struct mail *mail = mail_of(&team);
    size_t at               = (size_t)((const char *)place - (const char *)mail);

    if (at < offsetof(struct mail, arrivals)) {
        return (int)(at / sizeof(struct line));
    }
    if (at < sizeof *mail) {
        return LINES + (int)((at - offsetof(struct mail, arrivals)) / sizeof(struct count));
    }
    tape_fail("PE %d sends to no flag", team.pe);
    return 0;
}

static int turn_of_flag(int flag)
{
    return (flag < LINES) ? (flag / MSP_EXCHANGE_ALL_ROUNDS) : ((flag - LINES) / PHASES);
}

/* The exchange, this or the next one, that has the flag's turn; or the broadcast. */
static uint32_t number_of(int flag)
{
    uint32_t ahead;

    if (tape_flag_is_cast(flag)) {
        return (uint32_t)team.message_count;
    }
    ahead = ((uint32_t)turn_of_flag(flag) - (uint32_t)team.sync_count) % MSP_EXCHANGE_TURNS;
    if (ahead > 1) {
        tape_fail("PE %d uses a flag of another turn", team.pe);
    }
    return (uint32_t)team.sync_count + ahead;
}

/* ---- recording ---- */

static void record(struct tape_event event)
{
    event.begun = (uint32_t)team.sync_count;
    if (tape.count == event_room) {
        event_room  = (event_room == 0) ? 4096 : (event_room * 2);
        tape.events = realloc(tape.events, event_room * sizeof *tape.events);
        if (tape.events == NULL) {
            abort();
        }
    }
    tape.events[tape.count++] = event;
}

static void settle(void)
{
    struct count *count = waiting.unsettled;

    if (count != NULL) {
        struct tape_event *event = &tape.events[tape.count - 1];

        event->value      = (uint32_t)count->expected - event->value;
        count->come       = count->expected;
        waiting.unsettled = NULL;
    }
}

/* Into the inbox, or line, of the flag's turn, or where the result goes. */
static void check_place(const char *dest, size_t bytes, int flag)
{
    const char *slot = msp_control_slot(msp_job.local_index);
    const char *in   = tape_flag_is_cast(flag) ? NULL : boxes_of(&team)->in[turn_of_flag(flag)];

    if ((bytes == 0) ||
        (!tape_flag_adds(flag) && (dest == (char *)line_at(flag)->data) && (bytes <= FEW_BYTES))) {
        return;
    }
    if ((in != NULL) && (dest >= in) && (dest + bytes <= in + MSP_EXCHANGE_IN_BYTES)) {
        size_t end = (size_t)(dest + bytes - in);

        in_bytes = (end > in_bytes) ? end : in_bytes;
        return;
    }
    if ((dest >= slot) && (dest < slot + sizeof(struct msp_control_offsets))) {
        tape_fail("PE %d sends %zu bytes beyond the inbox", team.pe, bytes);
    } else if ((dest < tape.dest) || (dest + bytes > tape.dest + tape.dest_bytes)) {
        tape_fail("PE %d sends %zu bytes beyond dest", team.pe, bytes);
    }
}

/* False: it is dropped. */
static bool mistake(struct tape_event *event)
{
    if ((tape.fault == TAPE_CORRECT) || (team.pe != tape.fault_pe) || (sends != tape.fault_at)) {
        return true;
    }
    if (tape.fault == TAPE_PEER) {
        event->peer = (event->peer + 1) % tape.pes;
    } else if (tape.fault == TAPE_FLAG) {
        event->flag = (event->flag + 1) % ALL;
    } else if (tape.fault == TAPE_HALF) {
        event->bytes /= 2;
    }
    return tape.fault != TAPE_DROP;
}

void msp_message_send(const struct msp_team *of, int pe, void *dest, const void *source,
                      size_t size_bytes, _Atomic uint64_t *flag, uint64_t value, bool adds)
{
    int at                  = flag_number(flag);
    struct tape_event event = {.kind   = adds ? TAPE_ADD : TAPE_STORE,
                               .peer   = pe,
                               .bytes  = (uint32_t)size_bytes,
                               .flag   = at,
                               .value  = (uint32_t)value,
                               .number = number_of(at)};

    settle();
    last_sent = at;
    if ((of != &team) || (pe < 0) || (pe >= tape.pes) || (adds != tape_flag_adds(at)) ||
        (outstanding != 0)) {
        tape_fail("PE %d sends to PE %d, flag %d, with %d puts outstanding", team.pe, pe, at,
                  outstanding);
        return;
    }
    check_place(dest, size_bytes, at);
    if (mistake(&event)) {
        record(event);
        if (tape.has_values) {
            values_keep(&event, dest, source);
        }
    }
    sends++;
}

void msp_message_read(const struct msp_team *of, int pe, const void *place, void *to,
                      size_t size_bytes)
{
    (void)of, (void)place, (void)to, (void)size_bytes;
    tape_fail("PE %d reads of PE %d", team.pe, pe);
}

static void copy_strided(char *to, const char *from, ptrdiff_t to_stride, ptrdiff_t from_stride,
                         size_t block_bytes, size_t block_count)
{
    for (; block_count != 0; block_count--, to += to_stride, from += from_stride) {
        memcpy(to, from, block_bytes);
    }
}

void msp_get_strided(const char *call, const struct msp_context *context, void *dest,
                     const void *source, ptrdiff_t dest_stride_bytes, ptrdiff_t source_stride_bytes,
                     size_t block_bytes, size_t block_count, int pe)
{
    (void)call, (void)context;
    pe = msp_team_number(&team, pe);
    if (pe != team.pe) {
        tape_fail("PE %d gets of PE %d", team.pe, pe);
    }
    copy_strided(dest, source, dest_stride_bytes, source_stride_bytes, block_bytes, block_count);
}

void msp_put_strided(const char *call, const struct msp_context *context, void *dest,
                     const void *source, ptrdiff_t dest_stride_bytes, ptrdiff_t source_stride_bytes,
                     size_t block_bytes, size_t block_count, int pe)
{
    struct tape_event event = {.kind  = TAPE_PUT,
                               .peer  = msp_team_number(&team, pe),
                               .bytes = (uint32_t)(block_bytes * block_count)};
    size_t i;

    (void)call, (void)context;
    pe = event.peer;
    if (pe == team.pe) {
        copy_strided(dest, source, dest_stride_bytes, source_stride_bytes, block_bytes,
                     block_count);
        return;
    }
    settle();
    outstanding++;
    if (mistake(&event)) {
        record(event);
        event.bytes = (uint32_t)(event.bytes / block_count);
        for (i = 0; tape.has_values && (i < block_count); i++) {
            values_keep(&event, (char *)dest + ((ptrdiff_t)i * dest_stride_bytes),
                        (const char *)source + ((ptrdiff_t)i * source_stride_bytes));
        }
    }
    sends++;
}

/* msp_quiet(), where operations may be outstanding. */
atomic_bool msp_order_pending = true;
void msp_order_slow(const struct msp_context *context, bool completes)
{
    (void)context;
    outstanding = completes ? 0 : outstanding;
}

/* ---- waiting ---- */

/* Values of the flag: one that ends no wait of this exchange, and one that does. */
static void set_flag(int flag, bool is_low)
{
    if (tape_flag_adds(flag)) {
        count_at(flag)->come = is_low ? count_at(flag)->expected : (UINT64_MAX / 2);
    } else {
        line_at(flag)->number = team.sync_count - (is_low ? 1 : 0);
    }
}

static void clear_flag(int flag)
{
    if (tape_flag_adds(flag)) {
        count_at(flag)->come = count_at(flag)->expected;
    } else {
        line_at(flag)->number = 0;
    }
}

void msp_wait_step(struct msp_waiter *waiter)
{
    (void)waiter;
    if (!waiting.is_on) {
        settle();
        waiting.is_on  = true;
        waiting.tries  = 0;
        waiting.is_low = true;
        waiting.flag   = last_sent;
    } else if (waiting.is_low) {
        waiting.is_low = false;
    } else {
        clear_flag(waiting.flag);
        if (waiting.tries == ALL) {
            printf("FAILED: PE %d waits for no flag of its exchange\n", team.pe);
            exit(1);
        }
        waiting.flag   = waiting.tries++;
        waiting.is_low = true;
    }
    set_flag(waiting.flag, waiting.is_low);
}

void msp_wait_end(struct msp_waiter *waiter)
{
    int flag  = waiting.flag;
    bool adds = tape_flag_adds(flag);

    (void)waiter;
    record((struct tape_event){
        .kind   = TAPE_AWAIT,
        .flag   = flag,
        .value  = (uint32_t)(adds ? count_at(flag)->expected : line_at(flag)->number),
        .number = number_of(flag)});
    waiting.is_on = false;
    if (adds) {
        waiting.unsettled = count_at(flag);
    } else {
        clear_flag(flag);
    }
    if (tape.has_values) {
        values_deliver(team.pe, flag, number_of(flag));
    }
}

/* ---- the group ---- */

void msp_sync_gather(struct msp_team *local)
{
    settle();
    if (local->size > 1) {
        record((struct tape_event){.kind = TAPE_ARRIVE, .peer = local->pe});
    }
}

void msp_sync_release(struct msp_team *local)
{
    settle();
    if (local->size > 1) {
        record((struct tape_event){.kind = TAPE_LEAVE, .peer = local->pe});
    }
}

void *msp_sync_work(struct msp_team *of)
{
    (void)of;
    return MSP_CONTROL_AREA(msp_job.local_index, WORK);
}

void msp_collective_sync(struct msp_team *of)
{
    msp_exchange_barrier(of, NULL);
}

void msp_peer_copy(void *to, const void *from, size_t size_bytes)
{
    const struct boxes *boxes = boxes_of(&team);
    size_t at                 = (size_t)((char *)to - boxes->out[0]);

    if ((at < sizeof boxes->out) &&
        ((at % MSP_EXCHANGE_OUT_BYTES) + size_bytes > MSP_EXCHANGE_OUT_BYTES)) {
        tape_fail("PE %d writes %zu bytes beyond its out box", team.pe, size_bytes);
    } else if (to != from) {
        memmove(to, from, size_bytes);
    }
}

void msp_peer_read(const struct msp_team *of, int pe, const void *symmetric, void *to,
                   size_t size_bytes)
{
    (void)of, (void)pe, (void)symmetric, (void)to, (void)size_bytes;
}

/* ---- what is not reached, or has one answer ---- */

struct msp_context msp_contexts[MSP_CONTEXT_MAX];
struct msp_arena msp_arena;
struct msp_segment msp_segments[MSP_SEGMENT_MAX];

const struct msp_segment *msp_segment_find(const void *address)
{
    (void)address;
    return &msp_segments[MSP_SEGMENT_NONE];
}

bool msp_rma_host_may_touch(const void *own)
{
    (void)own;
    return true;
}

memspan_status_t memspan_error(memspan_status_t status, const char *format, ...)
{
    (void)format;
    return status;
}

void msp_fatal(const char *format, ...)
{
    printf("FAILED: fatal: %s\n", format);
    exit(1);
}

void msp_debug_note(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)va_arg(arguments, const char *);
    tape.algorithm = (tape.algorithm == NULL) ? va_arg(arguments, const char *) : tape.algorithm;
    va_end(arguments);
}

const char *msp_shmem_option_text(enum msp_shmem_option option)
{
    (void)option;
    return rules;
}

memspan_status_t msp_error_hint(const char *format, ...)
{
    (void)format;
    return MEMSPAN_ERR_CONFIG;
}

uint64_t msp_agree_max(struct msp_team *of, uint64_t mine)
{
    (void)of;
    return mine;
}

bool msp_agree_all(struct msp_team *of, bool mine)
{
    (void)of;
    return mine;
}

int msp_team_local_count(const struct msp_team *of)
{
    (void)of;
    return msp_job.local_count;
}

int msp_job_local_index(int pe)
{
    int index = pe - msp_job.first_local;

    return ((index >= 0) && (index < msp_job.local_count)) ? index : -1;
}

void msp_sync_distribute(struct msp_team *of, const void *data, size_t size_bytes)
{
    (void)of, (void)data, (void)size_bytes;
    abort();
}

const void *msp_sync_distributed(const struct msp_team *of, int pe)
{
    (void)of, (void)pe;
    abort();
}

/* ---- running ---- */

static void become(int pe)
{
    int first = pe / tape.members * tape.members;
    int left  = tape.pes - first;

    msp_job.pe           = pe;
    msp_job.pe_count     = tape.pes;
    msp_job.first_local  = first;
    msp_job.local_index  = pe - first;
    msp_job.local_count  = (left < tape.members) ? left : tape.members;
    msp_job.direct_count = msp_job.local_count;
    msp_job.checks       = true;
}

void tape_rewind(void)
{
    tape.count = 0;
}

/* The world from the second host on; then the first one. */
static struct msp_members *make_members(int missing)
{
    struct msp_members *members = msp_members_make(tape.pes);
    int ahead                   = (missing == 0) ? tape.members : 0;
    int i;

    if (members == NULL) {
        abort();
    }
    for (i = 0; i < tape.pes; i++) {
        members->pes[i] = (i + ahead) % tape.pes;
    }
    msp_members_sort(members);
    return members;
}

void tape_job(int groups, int members, int missing, const char *rule)
{
    size_t slot_bytes = sizeof(struct msp_control_offsets);

    if (msp_control.slots != NULL) {
        msp_members_release(team.members);
        munmap(msp_control.slots, slot_bytes * (size_t)tape.members);
        msp_groups_free(&team);
        free(tape.first);
    }
    tape.groups       = groups;
    tape.members      = members;
    tape.pes          = (groups * members) - missing;
    tape.first        = calloc((size_t)tape.pes + 1, sizeof *tape.first);
    msp_control.slots = mmap(NULL, slot_bytes * (size_t)members, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    rules             = rule;
    in_bytes          = 0;
    if ((tape.first == NULL) || (msp_control.slots == MAP_FAILED) ||
        (msp_table_open() != MEMSPAN_OK)) {
        abort();
    }
    become(0);
    msp_groups_forget();
    msp_groups_find(&team);
    team.members = tape.has_members ? make_members(missing) : NULL;
    tape_rewind();
}

void tape_run(int pe, void (*calls)(struct msp_team *team))
{
    int turn;

    become(msp_members_pe(team.members, pe));
    team = (struct msp_team){.stride  = 1,
                             .size    = tape.pes,
                             .pe      = pe,
                             .is_live = true,
                             .barrier = MSP_BARRIER_MESSAGES,
                             .members = team.members,
                             .groups  = team.groups};
    msp_groups_make(&team);
    memset(mail_of(&team), 0, sizeof(struct mail));
    for (turn = 0; tape.has_values && (turn < MSP_EXCHANGE_TURNS); turn++) {
        memset(boxes_of(&team)->in[turn], 0, in_bytes);
    }
    sends          = 0;
    last_sent      = 0;
    outstanding    = 0;
    tape.first[pe] = tape.count;
    calls(&team);
    settle();
    tape.first[pe + 1] = tape.count;
    if (outstanding != 0) {
        tape_fail("PE %d returns before its puts are complete", pe);
    }
}
