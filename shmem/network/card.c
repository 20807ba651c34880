/* SPDX-License-Identifier: BSD-3-Clause */
/* card.c: a PE's card: the address of its main queue, the token of messages to it, its host, and
 * the values that must be the same in all PEs: the driver and the version of Memspan. It is
 * distributed at start, and fetched at first contact. */

#include "shmem/bootstrap.h"
#include "shmem/job.h"
#include "shmem/network/driver.h"
#include "shmem/network/network.h"
#include <memspan/status.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FORMAT  = 2, /* of cards and messages */
    BUCKETS = 256,
};

struct card {
    unsigned format;
    unsigned address_bytes;
    uint64_t token;
    char version[32];
    char driver[16];
    char host[64];
    unsigned char address[MSP_NETWORK_ADDRESS_MAX];
};

struct entry {
    struct entry *next;
    int pe;
    struct card card;
};

static const char card_name[] = "memspan.network";
static struct card own;
static struct entry *entries[BUCKETS] MSP_SPARSE;             /* never removed before the end */
static pthread_mutex_t card_lock = PTHREAD_MUTEX_INITIALIZER; /* guards entries */

memspan_status_t msp_network_card_put(const char *driver, uint64_t token, const void *address,
                                      size_t address_bytes)
{
    memset(&own, 0, sizeof own);
    own.format        = FORMAT;
    own.address_bytes = (unsigned)address_bytes;
    own.token         = token;
    snprintf(own.version, sizeof own.version, "%s", memspan_version());
    snprintf(own.driver, sizeof own.driver, "%s", driver);
    (void)gethostname(own.host, sizeof own.host - 1);
    memcpy(own.address, address, address_bytes);
    return msp_job.bootstrap->put(card_name, &own, offsetof(struct card, address) + address_bytes);
}

static memspan_status_t compare(int pe, const struct card *card, size_t card_bytes)
{
    if ((card_bytes < offsetof(struct card, address)) ||
        (card->address_bytes != card_bytes - offsetof(struct card, address)) ||
        (card->format != own.format) || (strcmp(card->version, own.version) != 0)) {
        memspan_error(MEMSPAN_ERR_CONFLICT,
                      "PE %d on %.*s runs another version of Memspan (%.*s) than PE %d on %s (%s)",
                      pe, (int)sizeof card->host - 1, card->host, (int)sizeof card->version - 1,
                      card->version, msp_job.pe, own.host, own.version);
        return msp_error_hint("install the same version on all hosts");
    }
    if (strcmp(card->driver, own.driver) != 0) {
        memspan_error(MEMSPAN_ERR_CONFLICT, "PE %d on %s uses the network %s, PE %d on %s uses %s",
                      pe, card->host, card->driver, msp_job.pe, own.host, own.driver);
        return msp_error_hint("set MEMSPAN_SHMEM_TRANSPORT to one that all hosts have");
    }
    return MEMSPAN_OK;
}

static struct entry *find(int pe)
{
    struct entry *entry;

    pthread_mutex_lock(&card_lock);
    entry = entries[(unsigned)pe % BUCKETS];
    while ((entry != NULL) && (entry->pe != pe)) {
        entry = entry->next;
    }
    pthread_mutex_unlock(&card_lock);
    return entry;
}

/* Two threads may both fetch one: then there are two of that PE. */
static memspan_status_t fetch(int pe, struct entry **entry_p)
{
    struct entry *entry = calloc(1, sizeof *entry);
    size_t card_bytes   = sizeof entry->card;
    struct entry *shorter;
    memspan_status_t status;

    if (entry == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for PE %d", pe);
    }
    status = msp_job.bootstrap->get(pe, card_name, &entry->card, &card_bytes);
    if (status == MEMSPAN_OK) {
        status = compare(pe, &entry->card, card_bytes);
    }
    if (status != MEMSPAN_OK) {
        free(entry);
        return status;
    }
    entry->pe = pe;
    shorter   = realloc(entry, offsetof(struct entry, card) + card_bytes);
    entry     = (shorter != NULL) ? shorter : entry;
    pthread_mutex_lock(&card_lock);
    entry->next                     = entries[(unsigned)pe % BUCKETS];
    entries[(unsigned)pe % BUCKETS] = entry;
    pthread_mutex_unlock(&card_lock);
    *entry_p = entry;
    return MEMSPAN_OK;
}

memspan_status_t msp_network_card_get(int pe, uint64_t *token_p, void *address,
                                      size_t *address_bytes_p)
{
    struct entry *entry     = find(pe);
    memspan_status_t status = (entry != NULL) ? MEMSPAN_OK : fetch(pe, &entry);

    if (status != MEMSPAN_OK) {
        return status;
    }
    *token_p = entry->card.token;
    memcpy(address, entry->card.address, entry->card.address_bytes);
    *address_bytes_p = entry->card.address_bytes;
    return MEMSPAN_OK;
}

const char *msp_network_card_host(int pe)
{
    const struct entry *entry = find(pe);

    return (entry != NULL) ? entry->card.host : "another host";
}

const char *msp_network_card_where(int pe, char *text, size_t text_bytes)
{
    unsigned char address[MSP_NETWORK_ADDRESS_MAX];
    size_t address_bytes = sizeof address;
    uint64_t token;

    text[0] = '\0';
    if ((own.format != 0) && (msp_job_local_index(pe) < 0) &&
        (msp_network_card_get(pe, &token, address, &address_bytes) == MEMSPAN_OK)) {
        snprintf(text, text_bytes, " on %s", msp_network_card_host(pe));
    }
    return text;
}

void msp_network_card_close(void)
{
    int i;

    memset(&own, 0, sizeof own);

    for (i = 0; i < BUCKETS; i++) {
        while (entries[i] != NULL) {
            struct entry *entry = entries[i];

            entries[i] = entry->next;
            free(entry);
        }
    }
}
