/* SPDX-License-Identifier: BSD-3-Clause */
/* scale.c: the collectives between up to 100,000 groups, on a tape (tape.h).
 *
 *     check GROUPS...    every collective, with groups of one PE, and up to 1,024 of three
 *     members GROUPS...  the same, of a team with a table, whose hosts are in another order
 *     values GROUPS...   the same, and the data of up to 400 MiB of messages
 *     table              the same at 1,000, 10,000 and 100,000; prints the rows of shmem/SCALE.md
 *     turns              long sequences of calls: no inbox is sent to while it may be in use
 *     limits             jobs and parts of many sizes: nothing is sent beyond an inbox
 *     record [CALL PES]  the calls that simgrid.sh replays; messages and waits of one, and its time
 *     times LATENCY OVERHEAD GAP GROUPS...
 *                        by LogGP with these nanoseconds, calls of 64 B at most: us, and messages
 * of all wrong              one message of each collective is recorded wrong: that must be found
 */

#include "calls.h"
#include "shmem/collective/exchange.h"
#include "shmem/collective/hosts.h"
#include "values.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ALL_GROUPS       = 256, /* where PEs send to all others: more are a sample */
    GROUPS           = 128, /* of several PEs, at most */
    SAMPLE           = 64,
    VALUES_BYTES     = 32 << 20,  /* of all messages: more are not kept */
    VALUES_EVENTS    = 3000000,   /* times the rounds */
    ALL_VALUES_BYTES = 400 << 20, /* of the mode "values" */
    VALUES_ROUNDS    = 400,
};

static struct replay_network network = {
    .latency = 1500, .overhead = 200, .gap = 100, .byte_gap = 0.1};

struct row {
    bool is_possible;
    const char *algorithm;
    struct replay_result result;
    double excess; /* bytes sent, by the lower bound */
};

static bool has_all_values; /* of the mode "values" */

/* ---- one call ---- */

static void run_all(bool checks)
{
    int pe;

    tape_rewind();
    for (pe = 0; pe < tape.pes; pe++) {
        if (tape.has_values && (call_now->prepare != NULL)) {
            call_now->prepare(pe);
        }
        tape_run(pe, call_now->run);
        if (!tape.has_values) {
            continue;
        }
        values_deliver_puts(pe);
        if (checks && (call_now->check != NULL) && !call_now->check(pe)) {
            tape_fail("PE %d: the result is wrong", pe);
        }
    }
}

/* What messages would take, by those of a few PEs. */
static bool has_values(void)
{
    uint64_t bytes  = 0;
    uint64_t events = 0;
    size_t i;
    int pe;

    for (pe = 0; pe < 3; pe++) {
        uint64_t own = 0;

        tape_rewind();
        tape_run(pe % tape.pes, call_now->run);
        for (i = 0; i < tape.count; i++) {
            own += (tape.events[i].kind <= TAPE_PUT) ? tape.events[i].bytes : 0;
        }
        bytes  = (own > bytes) ? own : bytes;
        events = (tape.count > events) ? tape.count : events;
    }
    return (tape.members == 1) &&
           (call_now->has_sizes ||
            (bytes * (uint64_t)tape.pes <= (has_all_values ? ALL_VALUES_BYTES : VALUES_BYTES) &&
             (has_all_values ||
              (events * (uint64_t)tape.pes * (uint64_t)call_most_rounds() <= VALUES_EVENTS))));
}

static void run_with_values(void)
{
    int round = 0;

    values_open();
    calls_expect();
    do {
        run_all(false);
    } while (!values_turn() && (++round < VALUES_ROUNDS));
    if (round == VALUES_ROUNDS) {
        tape_fail("messages depend on one another for ever");
    }
    run_all(true);
    values_close();
}

static void check_limits(const struct replay_result *result)
{
    const struct tape_event *last = &tape.events[tape.count - 1];
    int most =
        call_most_rounds() * ((call_now->is_piped && (last->begun > 1)) ? (int)last->begun : 1);

    if (result->rounds > most) {
        tape_fail("%d messages depend on one another, not %d", result->rounds, most);
    }
    if ((tape.members == 1) && (result->least_bytes < call_least_bytes())) {
        tape_fail("a PE receives %llu bytes, not %llu", (unsigned long long)result->least_bytes,
                  (unsigned long long)call_least_bytes());
    }
    if ((tape.members == 1) && (result->sent_bytes > call_most_bytes(result->sent))) {
        tape_fail("a PE sends %llu bytes, not %llu", (unsigned long long)result->sent_bytes,
                  (unsigned long long)call_most_bytes(result->sent));
    }
}

static struct replay_result run_full(void)
{
    struct replay_result result;
    int pe;

    if (has_values()) {
        run_with_values();
    } else {
        run_all(false);
    }
    if (tape.count == 0) {
        tape_fail("nothing is sent");
        return (struct replay_result){.rounds = 0};
    }
    replay_check_sizes(call_now->is_uniform && (tape.pes == tape.groups * tape.members));
    for (pe = 0; (pe < tape.pes) && (tape.events[0].kind == TAPE_PUT); pe++) {
        replay_check_wide(pe);
    }
    result = replay(call_now->closure, call_root(), &network);
    check_limits(&result);
    return result;
}

/* Of PEs that send to all others, some. */
static struct replay_result run_sample(void)
{
    struct replay_result result = {.rounds = 0};
    size_t i;
    int number;

    for (number = 0; number < SAMPLE; number++) {
        int pe         = (int)((int64_t)(tape.pes - 1) * number / (SAMPLE - 1));
        uint64_t sent  = 0;
        uint64_t bytes = 0;

        tape_rewind();
        tape_run(pe, call_now->run);
        replay_check_wide(pe);
        for (i = 0; i < tape.count; i++) {
            bool is_sent = tape.events[i].kind <= TAPE_PUT;

            sent += is_sent ? 1 : 0;
            bytes += is_sent ? tape.events[i].bytes : 0;
        }
        result.sent       = (sent > result.sent) ? sent : result.sent;
        result.sent_bytes = (bytes > result.sent_bytes) ? bytes : result.sent_bytes;
    }
    result.hottest = result.sent * 2;
    return result;
}

static struct row run_call(const struct call *call, int groups, int members, int missing)
{
    struct row row = {.is_possible = false};

    if ((groups < call->least_groups) || ((int64_t)groups * members > call->most_groups) ||
        (call->has_sizes && (members > 1))) {
        return row;
    }
    call_now             = call;
    tape.algorithm       = NULL;
    tape.failures_before = tape.failures;
    tape_job(groups, members, missing, call->rule);
    calls_open();
    row.result = (call->is_wide && (groups > ALL_GROUPS)) ? run_sample() : run_full();
    row.excess =
        (call->bytes == 0)
            ? 0
            : ((double)row.result.sent_bytes /
               (double)((call->closure == REPLAY_BEFORE) ? call->bytes : call_least_bytes()));
    row.algorithm   = (tape.algorithm != NULL) ? tape.algorithm : "";
    row.is_possible = true;
    calls_close();
    if (!tape.is_silent && (tape.failures != tape.failures_before)) {
        printf("  in %s by %s of %zu bytes, %d groups of %d\n", call->name, row.algorithm,
               call->bytes, groups, members);
    }
    return row;
}

/* ---- all calls ---- */

static void check(int groups)
{
    int i;

    for (i = 0; i < call_count; i++) {
        struct row row = run_call(&calls[i], groups, 1, 0);

        if (row.is_possible) {
            printf("%6d %-9s %-9s %6zu bytes: %4d rounds, %7llu messages, %8.2f of the least, "
                   "%9.1f us\n",
                   groups, calls[i].name, row.algorithm, calls[i].bytes, row.result.rounds,
                   (unsigned long long)row.result.hottest, row.excess, row.result.us);
        }
        if (groups <= GROUPS) {
            run_call(&calls[i], groups, 3, 0);
            run_call(&calls[i], groups, 3, (calls[i].is_piped && calls[i].is_wide) ? 0 : 1);
        }
    }
}

/* ---- a row for each call ---- */

static const int table_groups[] = {1000, 10000, 100000};
enum { TABLE = 3 };

static void print_figures(const struct row *rows, double (*figure)(const struct row *row),
                          const char *format)
{
    int i;

    printf(" |");
    for (i = 0; i < TABLE; i++) {
        printf("%s", (i == 0) ? " " : " / ");
        if (rows[i].is_possible && (figure(&rows[i]) > 0)) {
            printf(format, figure(&rows[i]));
        } else {
            printf("-");
        }
    }
}

static double rounds_of_row(const struct row *row)
{
    return row->result.rounds;
}

static double messages_of_row(const struct row *row)
{
    return (double)row->result.hottest;
}

static double excess_of_row(const struct row *row)
{
    return row->excess;
}

static double us_of_row(const struct row *row)
{
    return row->result.us;
}

static void print_table(void)
{
    struct row rows[TABLE];
    int call;
    int i;

    for (call = 0; call < call_count; call++) {
        const char *algorithm = "";

        for (i = 0; i < TABLE; i++) {
            rows[i]   = run_call(&calls[call], table_groups[i], 1, 0);
            algorithm = rows[i].is_possible ? rows[i].algorithm : algorithm;
        }
        if (!rows[0].is_possible) {
            continue;
        }
        printf("| %s%s%s, %zu B", calls[call].name, (*algorithm != '\0') ? " by " : "", algorithm,
               calls[call].bytes);
        print_figures(rows, rounds_of_row, "%.0f");
        print_figures(rows, messages_of_row, "%.0f");
        print_figures(rows, excess_of_row, "%.1f");
        print_figures(rows, us_of_row, "%.0f");
        printf(" |\n");
    }
}

/* ---- for other replays ---- */

static int list_calls(void)
{
    int i;

    for (i = 0; i < call_count; i++) {
        if (!calls[i].is_wide) {
            printf("%d|%s%s%s, %zu B\n", i, calls[i].name, (*calls[i].rule != '\0') ? ", " : "",
                   calls[i].rule, calls[i].bytes);
        }
    }
    return 0;
}

/* PE, whether it waits, peer, bytes, flag, messages waited for, exchange. */
static int record_call(int number, int pes)
{
    struct row row = run_call(&calls[number], pes, 1, 0);
    size_t i;
    int pe;

    for (pe = 0; row.is_possible && (pe < pes); pe++) {
        for (i = tape.first[pe]; i < tape.first[pe + 1]; i++) {
            const struct tape_event *event = &tape.events[i];
            bool waits                     = (event->kind == TAPE_AWAIT);

            printf("%d %d %d %u %d %u %u\n", pe, waits ? 1 : 0, event->peer, event->bytes,
                   event->flag, tape_flag_adds(event->flag) ? event->value : 1, event->number);
        }
    }
    printf("us %.1f\n", row.result.us);
    return row.is_possible ? tape.failures : 1;
}

static void print_times(int groups)
{
    int i;

    for (i = 0; i < call_count; i++) {
        struct row row  = run_call(&calls[i], groups, 1, 0);
        size_t messages = 0;
        size_t event;

        for (event = 0; row.is_possible && (event < tape.count); event++) {
            messages += (tape.events[event].kind <= TAPE_PUT) ? 1 : 0;
        }
        if (row.is_possible && (calls[i].bytes <= 64)) {
            printf("%d %s %s %.1f %zu\n", groups, calls[i].name,
                   (*calls[i].rule != '\0') ? calls[i].rule : "-", row.result.us, messages);
        }
    }
}

/* ---- sequences ---- */

static void run_sequence(struct msp_team *team)
{
    char *dest = tape.dest;
    int i;

    for (i = 0; i < 6; i++) {
        msp_exchange_barrier(team, NULL);
        call_now->run(team);
        call_now->run(team);
        msp_hosts_broadcast(team, dest, tape.source, 8, i);
        msp_hosts_fcollect(team, dest, tape.source, 8);
        call_now->run(team);
        msp_hosts_alltoall(team, dest, tape.source, 2);
        msp_hosts_broadcast(team, dest, tape.source, 8, tape.pes - 1);
        msp_hosts_broadcast(team, dest, tape.source, 8, 2);
    }
    msp_exchange_barrier(team, NULL);
}

static void check_turns(int groups, int members, int missing)
{
    int i;
    int pe;

    for (i = 0; i < call_count; i++) {
        if ((groups < calls[i].least_groups) || (groups > calls[i].most_groups) ||
            calls[i].has_sizes) {
            continue;
        }
        call_now             = &calls[i];
        tape.failures_before = tape.failures;
        tape_job(groups, members, (calls[i].is_piped && calls[i].is_wide) ? 0 : missing,
                 calls[i].rule);
        calls_open();
        tape_rewind();
        for (pe = 0; pe < tape.pes; pe++) {
            tape_run(pe, run_sequence);
        }
        replay(REPLAY_ALL, -1, &network);
        calls_close();
        if (tape.failures != tape.failures_before) {
            printf("  in calls of %s, %s\n", calls[i].name, calls[i].rule);
        }
    }
}

/* Broadcasts alone, which wait for one another only when their counters are used again. */
static void run_broadcasts(struct msp_team *team)
{
    int i;

    for (i = 0; i < 4 * TAPE_CASTS; i++) {
        msp_hosts_broadcast(team, tape.dest, tape.source, 8, (i * 7) % team->size);
    }
}

static void check_broadcasts(int groups, const char *rule)
{
    int pe;

    call_now = &calls[0];
    tape_job(groups, 1, 0, rule);
    calls_open();
    tape_rewind();
    for (pe = 0; pe < tape.pes; pe++) {
        tape_run(pe, run_broadcasts);
    }
    replay(REPLAY_ALL, -1, &network);
    calls_close();
}

/* ---- limits ---- */

/* Some PEs of jobs of many sizes, with parts of many: nothing is sent or written beyond a box. */
static void check_limits_of(const struct call *call, int groups, int members)
{
    struct call varied = *call;

    call_now = &varied;
    tape_job(groups, members, 0, call->rule);
    calls_open();
    for (varied.bytes = 16; varied.bytes <= 40000; varied.bytes += varied.bytes / 16 * 16 / 2) {
        tape_rewind();
        tape_run(0, call->run);
        tape_rewind();
        tape_run(tape.pes - 1, call->run);
    }
    for (varied.bytes = 1; (varied.bytes < 16) && !call->is_wide && (call->bytes < 16);
         varied.bytes++) {
        tape_rewind();
        tape_run(tape.pes / 2, call->run);
    }
    calls_close();
}

static void check_all_limits(void)
{
    static const int sizes[] = {1, 3, 64};
    int groups;
    int size;
    int i;

    for (i = 0; i < call_count; i++) {
        for (size = 0; size < 3; size++) {
            for (groups = 2; groups * sizes[size] < 6000; groups += 1 + (groups / 3)) {
                if (groups >= calls[i].least_groups) {
                    check_limits_of(&calls[i], groups, sizes[size]);
                }
            }
        }
    }
}

/* ---- wrong tapes ---- */

/* How many messages PE @p pe sends in the call that has been recorded. */
static int sends_of(int pe)
{
    int sends = 0;
    size_t i;

    for (i = tape.first[pe]; i < tape.first[pe + 1]; i++) {
        sends += (tape.events[i].kind <= TAPE_PUT) ? 1 : 0;
    }
    return sends;
}

/* Whether the fault changes the message. Sizes that differ show in data, which groups of one PE
 * have. */
static bool is_changed(int pe, int at, enum tape_fault fault)
{
    size_t i;

    for (i = tape.first[pe];; i++) {
        if ((tape.events[i].kind <= TAPE_PUT) && (at-- == 0)) {
            return (fault == TAPE_HALF)   ? ((tape.events[i].bytes > 1) &&
                                           ((tape.members == 1) || call_now->is_uniform))
                   : (fault == TAPE_FLAG) ? (tape.events[i].kind != TAPE_PUT)
                                          : true;
        }
    }
}

static int check_fault(const struct call *call, int groups, int members, int pe,
                       enum tape_fault fault)
{
    static const char *const names[] = {"none", "peer", "dropped", "flag", "size"};
    int at;

    tape.fault = TAPE_CORRECT;
    run_call(call, groups, members, 0);
    at = (sends_of(pe) > 0) ? ((pe * 7) % sends_of(pe)) : -1;
    if ((at < 0) || !is_changed(pe, at, fault)) {
        return 0;
    }
    tape.fault    = fault;
    tape.fault_pe = pe;
    tape.fault_at = at;
    tape.failures = 0;
    run_call(call, groups, members, 0);
    tape.fault = TAPE_CORRECT;
    if (tape.failures == 0) {
        printf("NOT FOUND: %s, %s, %zu bytes, %d groups of %d: %s of message %d of PE %d\n",
               call->name, call->rule, call->bytes, groups, members, names[fault], at, pe);
        return -1;
    }
    tape.failures = 0;
    return 1;
}

/* Every kind of fault in every call, of PEs at both ends and between. */
static int check_faults(void)
{
    static const int jobs[][2] = {{16, 1}, {23, 1}, {11, 3}};
    int found                  = 0;
    int missed                 = 0;
    int i;
    int job;
    int fault;
    int pe;

    tape.is_silent = true;
    for (i = 0; i < call_count; i++) {
        for (job = 0; job < 3; job++) {
            for (fault = TAPE_PEER; fault < TAPE_FAULT_COUNT; fault++) {
                for (pe = 0; pe < jobs[job][0]; pe += 9) {
                    int result;

                    if (calls[i].has_sizes && (jobs[job][1] > 1)) {
                        continue;
                    }
                    result = check_fault(&calls[i], jobs[job][0], jobs[job][1], pe * jobs[job][1],
                                         (enum tape_fault)fault);
                    found += (result > 0) ? 1 : 0;
                    missed += (result < 0) ? 1 : 0;
                }
            }
        }
    }
    printf("%d wrong messages found, %d not\n", found, missed);
    return ((found > 100) && (missed == 0)) ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *mode = (argc > 1) ? argv[1] : "";
    int i;

    if (strcmp(mode, "record") == 0) {
        return (argc > 3) ? record_call(atoi(argv[2]), atoi(argv[3])) : list_calls();
    }
    if ((strcmp(mode, "times") == 0) && (argc > 4)) {
        network.latency  = atof(argv[2]);
        network.overhead = atof(argv[3]);
        network.gap      = atof(argv[4]);
        for (i = 5; i < argc; i++) {
            print_times(atoi(argv[i]));
        }
        return tape.failures;
    }
    has_all_values   = (strcmp(mode, "values") == 0);
    tape.has_members = (strcmp(mode, "members") == 0);
    for (i = 2; i < argc; i++) {
        check(atoi(argv[i]));
    }
    if (strcmp(mode, "table") == 0) {
        print_table();
    } else if (strcmp(mode, "turns") == 0) {
        check_turns(61, 1, 0);
        check_turns(64, 1, 0);
        check_turns(21, 3, 1);
        check_broadcasts(61, "");
        check_broadcasts(64, "broadcast=scatter");
    } else if (strcmp(mode, "limits") == 0) {
        check_all_limits();
    } else if (strcmp(mode, "wrong") == 0) {
        return check_faults();
    }
    return (tape.failures == 0) ? 0 : 1;
}
