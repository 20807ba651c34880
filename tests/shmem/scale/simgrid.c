/* SPDX-License-Identifier: BSD-3-Clause */
/* simgrid.c PLATFORM PES: the messages that "shmem-tape record" has printed, by SimGrid: each PE is
 * an actor on a host of its own, each flag of an exchange a mailbox. Prints microseconds.
 * simgrid.sh builds it. */

#include <inttypes.h>
#include <simgrid/actor.h>
#include <simgrid/comm.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/mailbox.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* A message to a flag, or a wait for so many. */
struct event {
    bool waits;
    int peer;
    unsigned bytes;
    int flag;
    unsigned count;
    unsigned number;
};

static const double overhead_s = 200e-9; /* as scale.c has it */
static struct event *events;
static size_t *first; /* of each PE; of the last one's end */

struct name {
    char text[48];
};

static struct name mailbox_name(int pe, const struct event *event)
{
    struct name name;

    snprintf(name.text, sizeof name.text, "%d.%d.%u", pe, event->flag, event->number);
    return name;
}

/* Messages are sent before their receiver waits for them. */
static void open_mailboxes(int pe)
{
    size_t i;

    for (i = first[pe]; i < first[pe + 1]; i++) {
        if (events[i].waits) {
            sg_mailbox_set_receiver(mailbox_name(pe, &events[i]).text);
        }
    }
}

static void run_pe(int count, char **arguments)
{
    static char message;
    int pe = atoi(sg_actor_self_get_name());
    size_t i;

    (void)count, (void)arguments;
    open_mailboxes(pe);
    for (i = first[pe]; i < first[pe + 1]; i++) {
        const struct event *event = &events[i];
        struct name name          = mailbox_name(event->waits ? pe : event->peer, event);
        sg_mailbox_t mailbox      = sg_mailbox_by_name(name.text);
        unsigned left             = event->count;

        if (!event->waits) {
            sg_actor_sleep_for(overhead_s);
            sg_comm_detach(sg_mailbox_put_init(mailbox, &message, (long)event->bytes + 1), NULL);
            continue;
        }
        for (; left != 0; left--) {
            (void)sg_mailbox_get(mailbox);
            sg_actor_sleep_for(overhead_s);
        }
    }
}

static void read_events(int pes)
{
    size_t room  = 1 << 16;
    size_t count = 0;
    int before   = -1;
    int pe;
    int waits;
    struct event event;

    first  = calloc((size_t)pes + 1, sizeof *first);
    events = malloc(room * sizeof *events);
    while ((first != NULL) && (events != NULL) &&
           (scanf("%d %d %d %u %d %u %u", &pe, &waits, &event.peer, &event.bytes, &event.flag,
                  &event.count, &event.number) == 7)) {
        for (; before < pe; before++) {
            first[before + 1] = count;
        }
        if (count == room) {
            room *= 2;
            events = realloc(events, room * sizeof *events);
        }
        event.waits = (waits != 0);
        if (events != NULL) {
            events[count++] = event;
        }
    }
    for (; before < pes; before++) {
        first[before + 1] = count;
    }
}

int main(int count, char **arguments)
{
    sg_host_t *hosts;
    int pes;
    int pe;

    simgrid_init(&count, arguments);
    pes = (count > 2) ? atoi(arguments[2]) : 0;
    if (pes < 2) {
        fprintf(stderr, "simgrid PLATFORM PES\n");
        return 2;
    }
    read_events(pes);
    simgrid_load_platform(arguments[1]);
    hosts = sg_host_list();
    if ((size_t)pes > sg_host_count()) {
        fprintf(stderr, "simgrid: %d PEs on %zu hosts\n", pes, sg_host_count());
        return 1;
    }
    for (pe = 0; pe < pes; pe++) {
        char name[16];

        snprintf(name, sizeof name, "%d", pe);
        sg_actor_create(name, hosts[pe], run_pe, 0, NULL);
    }
    simgrid_run();
    printf("%.1f\n", simgrid_get_clock() * 1e6);
    return 0;
}
