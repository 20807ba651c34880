/* SPDX-License-Identifier: BSD-3-Clause */
/* raw-ofi: libfabric, a reliable endpoint with one completion queue for each direction. The
 * provider is the first one that fits, as FI_PROVIDER leaves them; without it tcp;ofi_rxm. */

#include "raw.h"
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY = 1, ADDRESS_MAX = 256, BATCH = 16 };

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_av *peers;
static struct fid_cq *sent_queue;
static struct fid_cq *received_queue;
static struct fid_ep *endpoint;
static struct fid_mr *memory;
static void *local_key;
static fi_addr_t peer;
static uint64_t peer_base;
static uint64_t peer_key;

/* Of the sender's queue: operations that complete there, and those that did. */
static uint64_t started;
static uint64_t completed;
static uint64_t received;
static uint64_t waited_for;

struct card {
    uint64_t base;
    uint64_t key;
    uint64_t address_bytes;
    char address[ADDRESS_MAX];
};

static void check(ssize_t rc, const char *call)
{
    if (rc < 0) {
        raw_fail(call, fi_strerror((int)-rc));
    }
}

static unsigned take_completions(struct fid_cq *queue, uint64_t *count_p)
{
    struct fi_cq_entry entries[BATCH];
    struct fi_cq_err_entry error = {.err = 0};
    ssize_t count                = fi_cq_read(queue, entries, BATCH);

    if (count > 0) {
        *count_p += (uint64_t)count;
        return (unsigned)count;
    }
    if (count == -FI_EAVAIL) {
        (void)fi_cq_readerr(queue, &error, 0);
        raw_fail("fi_cq_read", fi_strerror(error.err));
    }
    return 0;
}

unsigned raw_progress(void)
{
    return take_completions(sent_queue, &completed) + take_completions(received_queue, &received);
}

static void await(void)
{
    while (completed < started) {
        raw_wait_step();
    }
}

/* Until the library takes the call. */
#define START(call, name)                                                                          \
    do {                                                                                           \
        ssize_t rc_;                                                                               \
        while ((rc_ = (call)) == -FI_EAGAIN) {                                                     \
            raw_wait_step();                                                                       \
        }                                                                                          \
        check(rc_, name);                                                                          \
        started++;                                                                                 \
    } while (0)

static void find_provider(void)
{
    struct fi_info *hints = fi_allocinfo();

    if (hints == NULL) {
        raw_fail("fi_allocinfo", "no memory");
    }
    hints->caps          = FI_MSG | FI_RMA | FI_ATOMIC;
    hints->mode          = FI_CONTEXT;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode =
        FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->tx_attr->op_flags      = FI_DELIVERY_COMPLETE;
    (void)setenv("FI_PROVIDER", "tcp;ofi_rxm", 0);
    check(fi_getinfo(FI_VERSION(1, 11), NULL, NULL, 0, hints, &info), "fi_getinfo");
    fi_freeinfo(hints);
    info->tx_attr->op_flags = 0; /* of puts alone */
}

static void open_endpoint(void)
{
    struct fi_av_attr av_attr = {.type = FI_AV_TABLE};
    struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_CONTEXT, .wait_obj = FI_WAIT_NONE};

    find_provider();
    check(fi_fabric(info->fabric_attr, &fabric, NULL), "fi_fabric");
    check(fi_domain(fabric, info, &domain, NULL), "fi_domain");
    check(fi_av_open(domain, &av_attr, &peers, NULL), "fi_av_open");
    check(fi_cq_open(domain, &cq_attr, &sent_queue, NULL), "fi_cq_open");
    check(fi_cq_open(domain, &cq_attr, &received_queue, NULL), "fi_cq_open");
    check(fi_endpoint(domain, info, &endpoint, NULL), "fi_endpoint");
    check(fi_ep_bind(endpoint, &peers->fid, 0), "fi_ep_bind");
    check(fi_ep_bind(endpoint, &sent_queue->fid, FI_TRANSMIT), "fi_ep_bind");
    check(fi_ep_bind(endpoint, &received_queue->fid, FI_RECV), "fi_ep_bind");
    check(fi_enable(endpoint), "fi_enable");
}

void raw_open(struct raw_side *side, void *card, size_t *card_bytes_p)
{
    struct card mine     = {.base = 0};
    size_t address_bytes = sizeof(mine.address);
    int mode;

    open_endpoint();
    mode = info->domain_attr->mr_mode;
    check(fi_mr_reg(domain, side, sizeof(*side),
                    FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE, 0, KEY, 0, &memory,
                    NULL),
          "fi_mr_reg");
    if ((mode & FI_MR_ENDPOINT) != 0) {
        check(fi_mr_bind(memory, &endpoint->fid, 0), "fi_mr_bind");
        check(fi_mr_enable(memory), "fi_mr_enable");
    }
    local_key = fi_mr_desc(memory);
    mine.base = ((mode & FI_MR_VIRT_ADDR) != 0) ? (uintptr_t)side : 0;
    mine.key  = fi_mr_key(memory);
    check(fi_getname(&endpoint->fid, mine.address, &address_bytes), "fi_getname");
    mine.address_bytes = address_bytes;
    if (sizeof(mine) > *card_bytes_p) {
        raw_fail("raw-ofi", "the address is too large");
    }
    memcpy(card, &mine, sizeof(mine));
    *card_bytes_p = sizeof(mine);
}

void raw_connect(const void *card, size_t card_bytes)
{
    struct card theirs;

    (void)card_bytes;
    memcpy(&theirs, card, sizeof(theirs));
    if (fi_av_insert(peers, theirs.address, 1, &peer, 0, NULL) != 1) {
        raw_fail("fi_av_insert", "the address is not accepted");
    }
    peer_base = theirs.base;
    peer_key  = theirs.key;
}

void raw_describe(char *text, size_t text_bytes)
{
    uint32_t version = fi_version();

    (void)snprintf(text, text_bytes, "libfabric %u.%u, %s", FI_MAJOR(version), FI_MINOR(version),
                   info->fabric_attr->prov_name);
}

/* Contexts are the provider's until the operation completes, of which any may be the next: a ring,
 * longer than any window. */
static void *next_context(void)
{
    static struct fi_context contexts[256];
    static unsigned last;

    return &contexts[last++ % 256];
}

void raw_put(size_t offset, const void *source, size_t size_bytes)
{
    const struct iovec local           = {(void *)(uintptr_t)source, size_bytes};
    const struct fi_rma_iov remote     = {peer_base + offset, size_bytes, peer_key};
    const struct fi_msg_rma descriptor = {.msg_iov       = &local,
                                          .desc          = &local_key,
                                          .iov_count     = 1,
                                          .addr          = peer,
                                          .rma_iov       = &remote,
                                          .rma_iov_count = 1,
                                          .context       = next_context()};

    START(fi_writemsg(endpoint, &descriptor, FI_DELIVERY_COMPLETE), "fi_writemsg");
}

void raw_flush(void)
{
    await();
}

void raw_get(size_t offset, void *dest, size_t size_bytes)
{
    START(fi_read(endpoint, dest, size_bytes, local_key, peer, peer_base + offset, peer_key,
                  next_context()),
          "fi_read");
    await();
}

/* Operand and result are in registered memory, for providers that want that. */
long raw_fetch_add(size_t offset, long value)
{
    static struct fid_mr *words_memory;
    static struct {
        long value;
        long old;
    } words;

    if (words_memory == NULL) {
        check(fi_mr_reg(domain, &words, sizeof(words), FI_READ | FI_WRITE, 0, KEY + 1, 0,
                        &words_memory, NULL),
              "fi_mr_reg");
    }
    words.value = value;
    START(fi_fetch_atomic(endpoint, &words.value, 1, fi_mr_desc(words_memory), &words.old,
                          fi_mr_desc(words_memory), peer, peer_base + offset, peer_key, FI_INT64,
                          FI_SUM, next_context()),
          "fi_fetch_atomic");
    await();
    return words.old;
}

void raw_expect(void *buffer, size_t size_bytes)
{
    ssize_t rc;

    while ((rc = fi_recv(endpoint, buffer, size_bytes, local_key, peer, next_context())) ==
           -FI_EAGAIN) {
        raw_wait_step();
    }
    check(rc, "fi_recv");
    waited_for++;
}

void raw_receive(void)
{
    while (received < waited_for) {
        raw_wait_step();
    }
}

void raw_send(const void *source, size_t size_bytes)
{
    START(fi_send(endpoint, source, size_bytes, local_key, peer, next_context()), "fi_send");
    await();
}

/* The rest ends with the process. */
void raw_close(void)
{
    (void)fi_close(&endpoint->fid);
    (void)fi_close(&memory->fid);
}
