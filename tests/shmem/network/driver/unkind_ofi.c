/* SPDX-License-Identifier: BSD-3-Clause */
/* unkind_ofi.c: libfabric whose completions are late (unkind.h), but for messages that have
 * arrived. It is for one thread. */

#define UNKIND_OFI_ITSELF
#include "tests/shmem/network/driver/unkind_ofi.h"
#include "shmem/network/ofi/ofi.h"
#include "tests/shmem/network/driver/unkind.h"

enum { HELD_MAX = 1 << 12 };

static struct {
    struct fid_cq *cq;
    struct fi_cq_msg_entry entry;
    uint64_t due; /* polls */
    bool is_held;
} held[HELD_MAX];

static uint64_t polls;
static struct fi_cq_msg_entry failed;
static bool has_failed;

static bool hold(struct fid_cq *cq, const struct fi_cq_msg_entry *entry)
{
    const struct ofi_context *context = entry->op_context;
    size_t i;

    if ((context == NULL) || (context->kind == OFI_RECEIVE)) {
        return false;
    }
    for (i = 0; (i < HELD_MAX) && held[i].is_held; i++) {
    }
    if (i == HELD_MAX) {
        return false; /* this one is not late */
    }
    held[i].cq      = cq;
    held[i].entry   = *entry;
    held[i].due     = polls + unkind_draw();
    held[i].is_held = true;
    return true;
}

/* The next completion that is due. */
static bool next_due(struct fid_cq *cq, struct fi_cq_msg_entry *entry_p)
{
    const size_t first = (size_t)(polls * 7) % HELD_MAX;
    size_t i;

    for (i = 0; i < HELD_MAX; i++) {
        const size_t at = (first + i) % HELD_MAX;

        if (held[at].is_held && (held[at].cq == cq) && (held[at].due <= polls)) {
            held[at].is_held = false;
            *entry_p         = held[at].entry;
            return true;
        }
    }
    return false;
}

ssize_t unkind_cq_read(struct fid_cq *cq, void *buffer, size_t count)
{
    struct fi_cq_msg_entry *entries = buffer;
    ssize_t read;
    ssize_t kept = 0;
    ssize_t i;

    polls++;
    if (has_failed) {
        return -FI_EAVAIL;
    }
    read = fi_cq_read(cq, buffer, count);
    if ((read < 0) && (read != -FI_EAGAIN)) {
        return read;
    }
    for (i = 0; i < read; i++) {
        if (!hold(cq, &entries[i])) {
            entries[kept++] = entries[i];
        }
    }
    while (((size_t)kept < count) && next_due(cq, &entries[kept])) {
        if (unkind_fails()) {
            failed     = entries[kept];
            has_failed = true;
            break;
        }
        kept++;
    }
    if (kept == 0) {
        return has_failed ? -FI_EAVAIL : -FI_EAGAIN;
    }
    return kept;
}

ssize_t unkind_cq_readerr(struct fid_cq *cq, struct fi_cq_err_entry *entry, uint64_t flags)
{
    if (!has_failed) {
        return fi_cq_readerr(cq, entry, flags);
    }
    has_failed        = false;
    entry->op_context = failed.op_context;
    entry->err        = FI_EACCES; /* no failure of the connection */
    return 1;
}
