/* SPDX-License-Identifier: BSD-3-Clause */
/* values.c: the data of messages. Addresses of symmetric memory are those of all PEs, as they run
 * in the same memory. */

#include "values.h"
#include <stdlib.h>
#include <string.h>

enum { PUT_FLAG = TAPE_FLAG_MAX };

struct message {
    int peer;
    int flag;
    uint32_t number;
    uint32_t bytes;
    char *dest;
    size_t at; /* in the data */
};

struct post {
    struct message *messages;
    size_t count;
    size_t room;
    char *data;
    size_t bytes;
    size_t data_room;
};

static struct post sent; /* this time */
static struct post last;
static size_t *first; /* of each PE, in @p order */
static size_t *order; /* last's messages by PE */

static void *grown(void *memory, size_t *room, size_t needed, size_t unit)
{
    if (needed > *room) {
        *room  = needed * 2;
        memory = realloc(memory, *room * unit);
        if (memory == NULL) {
            abort();
        }
    }
    return memory;
}

void values_keep(const struct tape_event *event, void *dest, const void *data)
{
    sent.messages = grown(sent.messages, &sent.room, sent.count + 1, sizeof *sent.messages);
    sent.data     = grown(sent.data, &sent.data_room, sent.bytes + event->bytes, 1);
    sent.messages[sent.count++] =
        (struct message){.peer   = event->peer,
                         .flag   = (event->kind == TAPE_PUT) ? PUT_FLAG : event->flag,
                         .number = event->number,
                         .bytes  = event->bytes,
                         .dest   = dest,
                         .at     = sent.bytes};
    if (event->bytes != 0) {
        memcpy(sent.data + sent.bytes, data, event->bytes);
    }
    sent.bytes += event->bytes;
}

void values_deliver(int pe, int flag, uint32_t number)
{
    size_t i;

    for (i = (last.count == 0) ? 0 : first[pe]; (last.count != 0) && (i < first[pe + 1]); i++) {
        const struct message *message = &last.messages[order[i]];

        if ((message->flag == flag) && (message->number == number) && (message->bytes != 0)) {
            memcpy(message->dest, last.data + message->at, message->bytes);
        }
    }
}

void values_deliver_puts(int pe)
{
    values_deliver(pe, PUT_FLAG, 0);
}

bool values_turn(void)
{
    bool is_same = (sent.count == last.count) && (sent.bytes == last.bytes) &&
                   ((sent.bytes == 0) || (memcmp(sent.data, last.data, sent.bytes) == 0));
    struct post post = last;
    size_t i;
    int pe;

    last       = sent;
    sent       = post;
    sent.count = 0;
    sent.bytes = 0;
    free(order);
    order = malloc((last.count + 1) * sizeof *order);
    if (order == NULL) {
        abort();
    }
    memset(first, 0, ((size_t)tape.pes + 2) * sizeof *first);
    for (i = 0; i < last.count; i++) {
        first[last.messages[i].peer + 2]++;
    }
    for (pe = 0; pe < tape.pes; pe++) {
        first[pe + 2] += first[pe + 1];
    }
    for (i = 0; i < last.count; i++) {
        order[first[last.messages[i].peer + 1]++] = i;
    }
    return is_same;
}

void values_open(void)
{
    first = calloc((size_t)tape.pes + 2, sizeof *first);
    if (first == NULL) {
        abort();
    }
    tape.has_values = true;
}

void values_close(void)
{
    free(sent.messages);
    free(sent.data);
    free(last.messages);
    free(last.data);
    free(first);
    free(order);
    order = NULL;
    memset(&sent, 0, sizeof sent);
    memset(&last, 0, sizeof last);
    tape.has_values = false;
}
