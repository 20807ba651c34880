/* SPDX-License-Identifier: BSD-3-Clause */
/* message.c: messages arrive in the order of their sender, each once, whatever their size.
 *
 * A message says who sent it and which one it is; its size and bytes follow from that. */

#include "tests/shmem/network/driver/bed.h"
#include <string.h>

struct header {
    uint64_t number;
    int32_t pe;
    uint32_t header_bytes;
    char filler[240];
};

enum { HEADER_MIN = 16, WINDOW = 64, MESSAGES = 3000 };

static uint64_t received[BED_PES_MAX];
static size_t (*size_of)(uint64_t number);

static size_t header_bytes_of(uint64_t number)
{
    return HEADER_MIN + ((number * 37) % (sizeof(struct header) - HEADER_MIN + 1));
}

/* Of header and payload. */
static size_t any_size(uint64_t number)
{
    uint64_t state       = number;
    const uint64_t value = bed_random(&state);
    const size_t most =
        (value % 16 == 0) ? bed.limits.message_max_bytes - sizeof(struct header) : 3000;

    return (value % 8 == 1) ? 0 : (size_t)((value >> 8) % (most + 1));
}

static size_t largest_size(uint64_t number)
{
    return bed.limits.message_max_bytes - header_bytes_of(number);
}

static size_t no_size(uint64_t number)
{
    (void)number;
    return 0;
}

static void check_message(const void *bytes, size_t header_bytes, const void *payload,
                          size_t payload_bytes)
{
    struct header header;

    CHECK((header_bytes >= HEADER_MIN) && (header_bytes <= sizeof header), "a header of %zu bytes",
          header_bytes);
    memcpy(&header, bytes, header_bytes);
    CHECK((header.pe >= 0) && (header.pe < bed.pe_count), "from PE %d", header.pe);
    CHECK(header.number == received[header.pe], "message %lu of PE %d comes as its number %lu",
          (unsigned long)header.number, header.pe, (unsigned long)received[header.pe]);
    CHECK((header.header_bytes == header_bytes) && (header_bytes == header_bytes_of(header.number)),
          "a header of %zu bytes", header_bytes);
    CHECK(payload_bytes == size_of(header.number), "%zu bytes", payload_bytes);
    bed_verify((const char *)bytes + HEADER_MIN, header_bytes - HEADER_MIN, header.number,
               "header");
    bed_verify(payload, payload_bytes, header.number + 1, "payload");
    received[header.pe]++;
}

struct message {
    struct bed_request request;
    enum msp_network_result result;
    struct header header;
    char *payload;
};

static void send(struct message *message, int pe, uint64_t number)
{
    const size_t header_bytes  = header_bytes_of(number);
    const size_t payload_bytes = size_of(number);

    message->header.number       = number;
    message->header.pe           = bed.pe;
    message->header.header_bytes = (uint32_t)header_bytes;
    bed_fill((char *)&message->header + HEADER_MIN, header_bytes - HEADER_MIN, number);
    bed_fill(message->payload, payload_bytes, number + 1);
    bed_request_clear(&message->request);
    do {
        message->result = bed.driver->send(bed_peer(pe), &message->header, header_bytes,
                                           (payload_bytes == 0) ? NULL : message->payload,
                                           payload_bytes, &message->request.request);
        if (message->result == MSP_NETWORK_BUSY) {
            bed_progress(bed.queue);
        }
    } while (message->result == MSP_NETWORK_BUSY);
    if (message->result == MSP_NETWORK_DONE) { /* they may be reused */
        memset(&message->header, 0, sizeof message->header);
        memset(message->payload, 0, payload_bytes);
    }
}

static void finish(struct message *messages, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++) {
        bed_complete(bed.queue, messages[i].result, &messages[i].request);
    }
}

static struct message *make_messages(size_t count)
{
    struct message *messages = calloc(count, sizeof *messages);
    size_t i;

    for (i = 0; i < count; i++) {
        messages[i].payload = malloc(bed.limits.message_max_bytes);
    }
    return messages;
}

static void free_messages(struct message *messages, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++) {
        free(messages[i].payload);
    }
    free(messages);
}

/* Every PE to all others, a window of them at a time; @p total to each. */
static void exchange(uint64_t total)
{
    struct message *messages = make_messages(WINDOW);
    uint64_t number          = 0;
    size_t started           = 0;
    int pe;

    bed.receive = check_message;
    bed_barrier();
    for (number = 0; number < total; number++) {
        for (pe = 0; pe < bed.pe_count; pe++) {
            if (pe == bed.pe) {
                continue;
            }
            if (started == WINDOW) {
                finish(messages, started);
                started = 0;
            }
            send(&messages[started++], pe, number);
        }
    }
    finish(messages, started);
    for (pe = 0; pe < bed.pe_count; pe++) {
        while ((pe != bed.pe) && (received[pe] < total)) {
            bed_progress(bed.queue);
        }
    }
    bed_barrier();
    for (pe = 0; pe < bed.pe_count; pe++) {
        CHECK((pe == bed.pe) || (received[pe] == total), "%lu messages of PE %d",
              (unsigned long)received[pe], pe);
    }
    free_messages(messages, WINDOW);
}

static void messages_of_any_size(void)
{
    size_of = any_size;
    exchange(MESSAGES);
}

static void largest_messages(void)
{
    size_of = largest_size;
    exchange(100);
}

static void empty_messages(void)
{
    size_of = no_size;
    exchange(MESSAGES);
}

/* Between messages, puts and gets of the same queue. */
static void mixed(void)
{
    const int next          = (bed.pe + 1) % bed.pe_count;
    struct message *message = make_messages(1);
    uint64_t number;
    uint64_t value;

    size_of     = any_size;
    bed.receive = check_message;
    bed_barrier();
    for (number = 0; number < 300; number++) {
        send(message, next, number);
        bed_complete(bed.queue, message->result, &message->request);
        bed_put(bed.queue, bed_peer(next), bed_key(next), bed_address(next, 8), &number,
                sizeof number);
        if (number % 8 == 0) {
            bed_flush(bed.queue, bed_peer(next));
        }
        if (number % 8 == 0) {
            bed_get(bed.queue, bed_peer(next), bed_key(next), bed_address(next, 8), &value,
                    sizeof value);
            CHECK(value == number, "got %lu, put %lu", (unsigned long)value, (unsigned long)number);
        }
    }
    bed_flush(bed.queue, bed_peer(next));
    while (received[(bed.pe + bed.pe_count - 1) % bed.pe_count] < 300) {
        bed_progress(bed.queue);
    }
    bed_barrier();
    free_messages(message, 1);
}

const struct bed_case bed_message_cases[] = {
    {"messages", 3, 0, messages_of_any_size, false},
    {"largest_messages", 2, 0, largest_messages, false},
    {"empty_messages", 2, 0, empty_messages, false},
    {"mixed", 3, 4096, mixed, false},
    {"many_peers", 8, 0, empty_messages, false},
    {NULL, 0, 0, NULL, false},
};
