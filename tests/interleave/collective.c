/* SPDX-License-Identifier: BSD-3-Clause */
/* collective.c: barriers of a team on one host, by each algorithm, and the data that they carry. */

#include "pe.h"
#include "shmem/collective/sync.h"
#include "shmem/control/wait.h"
#include "shmem/job.h"

enum { ROUNDS = 3 };

static struct msp_team team;

static void begin(enum msp_barrier barrier)
{
    pe_begin(PE_COUNT);
    team = (struct msp_team){
        .index = 2, .stride = 1, .size = PE_COUNT, .pe = pe_place.number, .barrier = barrier};
}

static void begin_flat(void)
{
    begin(MSP_BARRIER_FLAT);
}

static void begin_rounds(void)
{
    begin(MSP_BARRIER_ROUNDS);
}

static void begin_counter(void)
{
    begin(MSP_BARRIER_COUNTER);
}

/* One PE writes, all read, the next writes. */
static void write_in_turn(void)
{
    unsigned *word = pe_place.page;
    unsigned i;

    for (i = 0; i < 2; i++) {
        if ((unsigned)team.pe == i) {
            *word = i + 1;
        }
        msp_collective_sync(&team);
        EXPECT(*word == i + 1);
        msp_collective_sync(&team);
    }
}

/* A PE that reads late has the data of its own round still. */
static void distribute(void)
{
    unsigned round;
    int pe;

    for (round = 0; round < ROUNDS; round++) {
        unsigned mine = 10 * round + (unsigned)team.pe;

        msp_sync_distribute(&team, &mine, sizeof mine);
        for (pe = 0; pe < PE_COUNT; pe++) {
            EXPECT(*(const unsigned *)msp_sync_distributed(&team, pe) == 10 * round + (unsigned)pe);
        }
    }
}

static void exchange(void)
{
    unsigned round;
    int pe;

    for (round = 0; round < ROUNDS; round++) {
        unsigned mine = 10 * round + (unsigned)team.pe;

        EXPECT(msp_sync_exchange(&team, &mine, sizeof mine));
        for (pe = 0; pe < PE_COUNT; pe++) {
            EXPECT(*(const unsigned *)msp_sync_exchanged(&team, pe) == 10 * round + (unsigned)pe);
        }
    }
}

/* All have come when PE 0 works, and none goes on before it is done. */
static void work_alone(void)
{
    unsigned *words = pe_place.page;
    unsigned round;

    for (round = 1; round <= 2; round++) {
        words[16 * team.pe] = round;
        msp_sync_gather(&team);
        if (team.pe == 0) {
            EXPECT((words[16] == round) && (words[32] == round));
            words[0] = 100 + round;
        }
        msp_sync_release(&team);
        EXPECT(words[0] == 100 + round);
        msp_collective_sync(&team);
    }
}

#define THREE(function)                                                                            \
    {                                                                                              \
        function, function, function                                                               \
    }
#define ORDERED   "stores before a barrier are seen after it"
#define CARRIED   "each PE has the data of its round"
#define ONE_WORKS "one PE works while the others wait"

static const struct scenario scenarios[] = {
    {"barrier-flat", ORDERED, begin_flat, THREE(write_in_turn), NULL, 0, false, NULL},
    {"barrier-rounds", ORDERED, begin_rounds, THREE(write_in_turn), NULL, 0, false, NULL},
    {"barrier-counter", ORDERED, begin_counter, THREE(write_in_turn), NULL, 0, false, NULL},
    {"distribute-flat", CARRIED, begin_flat, THREE(distribute), NULL, 0, false, NULL},
    {"distribute-rounds", CARRIED, begin_rounds, THREE(distribute), NULL, 0, false, NULL},
    {"distribute-counter", CARRIED, begin_counter, THREE(distribute), NULL, 0, false, NULL},
    {"exchange", CARRIED, begin_flat, THREE(exchange), NULL, 0, false, NULL},
    {"gather-flat", ONE_WORKS, begin_flat, THREE(work_alone), NULL, 0, false, NULL},
    {"gather-counter", ONE_WORKS, begin_counter, THREE(work_alone), NULL, 0, false, NULL},
};
PE_SCENARIOS(scenarios)
