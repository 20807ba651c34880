/* SPDX-License-Identifier: BSD-3-Clause */
/* persistent.c: the root of this host's file, the same in all PEs of the host.
 *
 * Each PE has a copy of the root, changes it as the others do, and the host's first PE writes. */

#include "shmem/persistent/persistent.h"
#include "shmem/collective/collective.h"
#include "shmem/collective/sync.h"
#include "shmem/control/agree.h"
#include "shmem/persistent/file.h"
#include "shmem/persistent/persist.h"
#include "shmem/transport/segment.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

struct msp_persistent {
    struct msp_root_medium medium; /* stores to area */
    struct msp_persistent_file file;
    struct msp_persist how;
    struct msp_root_layout layout;
    pthread_mutex_t lock;   /* guards root */
    struct msp_root *root;  /* this PE's copy */
    struct msp_root *slots; /* as they were found; NULL once the root is chosen */
    char *area;             /* the file's own root, mapped */
    bool is_direct;
    bool is_writer; /* the host's first PE */
    bool is_broken; /* a commit failed: what the file has is not known */
};

/* The same outcome in all PEs. */
static memspan_status_t settle(struct msp_team *team, const struct msp_persistent *p,
                               memspan_status_t status)
{
    if (msp_agree_all(team, status == MEMSPAN_OK)) {
        return MEMSPAN_OK;
    }
    return (status != MEMSPAN_OK)
               ? status
               : msp_error_elsewhere(MEMSPAN_ERR_CONFLICT, "%s: another PE cannot go on",
                                     p->layout.name);
}

/* ---- the medium ---- */

static void store(struct msp_root_medium *medium, size_t offset_bytes, const void *data,
                  size_t size_bytes)
{
    struct msp_persistent *p = (struct msp_persistent *)medium;
    uint64_t word;

    if (size_bytes == sizeof word) { /* the magic number: at once */
        memcpy(&word, data, sizeof word);
        __atomic_store_n((uint64_t *)(void *)(p->area + offset_bytes), word, __ATOMIC_RELEASE);
    } else {
        memcpy(p->area + offset_bytes, data, size_bytes);
    }
}

static memspan_status_t persist(struct msp_root_medium *medium, size_t offset_bytes,
                                size_t size_bytes)
{
    struct msp_persistent *p = (struct msp_persistent *)medium;

    return msp_persist_range(&p->how, p->area + offset_bytes, size_bytes);
}

/* ---- the file ---- */

static void set_layout(struct msp_persistent *p, const struct msp_partition_request *request,
                       uint64_t align_bytes)
{
    const uint64_t huge   = (uint64_t)2 << 20;
    uint64_t digest       = UINT64_C(0xcbf29ce484222325);
    uint64_t stride_align = (request->size_bytes < huge) ? msp_page_size() : huge;
    int i;

    for (i = 0; i < msp_job.local_count; i++) {
        digest = (digest ^ (uint64_t)msp_job.local_pes[i]) * UINT64_C(0x100000001b3);
    }
    stride_align = p->file.is_device ? align_bytes : stride_align;
    p->layout =
        (struct msp_root_layout){.size_bytes   = request->size_bytes,
                                 .stride_bytes = msp_round_up(request->size_bytes, stride_align),
                                 .data_bytes   = align_bytes,
                                 .pes_digest   = digest,
                                 .pe_count     = (uint32_t)msp_job.pe_count,
                                 .local_count  = (uint32_t)msp_job.local_count};
    snprintf(p->layout.name, sizeof p->layout.name, "%s", request->name);
}

/* Of the first PE: a file without a root gets its bytes. */
static memspan_status_t prepare(struct msp_persistent *p)
{
    ssize_t size = p->file.is_device ? 0 : pread(p->file.fd, p->slots, MSP_ROOT_AREA_BYTES, 0);

    if (p->file.is_device || ((size >= 0) && msp_root_is_blank(p->slots))) {
        return msp_persistent_file_fill(&p->file, &p->layout);
    }
    if (size < MSP_ROOT_AREA_BYTES) {
        memspan_error(MEMSPAN_ERR_INVALID, "%s is no persistent partition", p->file.where);
        return msp_error_hint("remove the file, or choose another name");
    }
    return MEMSPAN_OK;
}

/* The first PE's file, open in all PEs of the host. */
static memspan_status_t take_file(struct msp_team *team,
                                  const struct msp_partition_request *request,
                                  struct msp_persistent *p)
{
    int first               = msp_team_first_local(team);
    memspan_status_t status = MEMSPAN_OK;
    uint64_t align;
    int fd;

    p->is_writer = (team->pe == first);
    snprintf(p->layout.name, sizeof p->layout.name, "%s", request->name);
    if (p->is_writer) {
        status = msp_persistent_file_open(request, msp_job.first_local, true, &p->file);
    }
    status = settle(team, p, status);
    if (status != MEMSPAN_OK) {
        return status;
    }
    fd = p->file.fd;
    msp_sync_distribute(team, &p->file, p->is_writer ? sizeof p->file : 0);
    memcpy(&p->file, msp_sync_distributed(team, first), sizeof p->file);
    p->file.fd     = fd;
    p->file.is_new = p->file.is_new && p->is_writer;
    align          = msp_agree_max(team, p->file.align_bytes);
    set_layout(p, request, align);
    if (align > (uint64_t)1 << msp_arena.shift) {
        memspan_error(MEMSPAN_ERR_UNSUPPORTED, "%s is mapped on boundaries of %llu bytes",
                      p->file.where, (unsigned long long)align);
        return msp_error_hint("make a namespace with --align 2M (ndctl create-namespace)");
    }
    if (p->is_writer) {
        status = prepare(p);
        status = (status == MEMSPAN_OK) ? msp_persistent_file_share_lock(&p->file) : status;
    }
    status = settle(team, p, status);
    if (status == MEMSPAN_OK) {
        status = msp_agree_share_opened(team, request->variable, &p->file.fd);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    return settle(team, p, p->is_writer ? MEMSPAN_OK : msp_persistent_file_share_lock(&p->file));
}

/* ---- the root ---- */

static memspan_status_t refuse_slots(const struct msp_persistent *p)
{
    memspan_error(MEMSPAN_ERR_CONFLICT, "%s has no root that can be used: one %s, the other %s",
                  p->file.where, msp_root_state_text(msp_root_check(&p->slots[0], 0)),
                  msp_root_state_text(msp_root_check(&p->slots[1], 1)));
    return msp_error_hint(p->file.is_device
                              ? "nothing of it is changed; what it holds can be cleared by "
                                "writing zeros through another mode of its namespace"
                              : "nothing of it is changed; move the file away to begin anew");
}

static memspan_status_t refuse_number(const struct msp_persistent *p, const char *what,
                                      uint64_t found, uint64_t wanted)
{
    memspan_error(MEMSPAN_ERR_CONFLICT, "%s was made with %s %llu; this job has %llu",
                  p->file.where, what, (unsigned long long)found, (unsigned long long)wanted);
    return msp_error_hint("start the job as the one that made it, or choose another name");
}

static memspan_status_t compare_layout(const struct msp_persistent *p,
                                       const struct msp_root_layout *found)
{
    const struct msp_root_layout *mine = &p->layout;

    if (strcmp(found->name, mine->name) != 0) {
        memspan_error(MEMSPAN_ERR_CONFLICT, "%s holds partition %s, not %s", p->file.where,
                      found->name, mine->name);
        return msp_error_hint("name that one, or another place");
    }
    if (found->size_bytes != mine->size_bytes) {
        return refuse_number(p, "a size of", found->size_bytes, mine->size_bytes);
    }
    if (found->pe_count != mine->pe_count) {
        return refuse_number(p, "a number of PEs of", found->pe_count, mine->pe_count);
    }
    if (found->local_count != mine->local_count) {
        return refuse_number(p, "a number of PEs of this host of", found->local_count,
                             mine->local_count);
    }
    if (found->pes_digest != mine->pes_digest) {
        memspan_error(MEMSPAN_ERR_CONFLICT,
                      "%s was made by other PEs of the job than those of "
                      "this host",
                      p->file.where);
        return msp_error_hint("start the PEs on the hosts in the same order");
    }
    if ((found->stride_bytes != mine->stride_bytes) || (found->data_bytes != mine->data_bytes)) {
        return refuse_number(p, "an alignment of", found->data_bytes, mine->data_bytes);
    }
    return MEMSPAN_OK;
}

/* What this host has: a root that fits the job, or none yet. */
static memspan_status_t read_root(struct msp_persistent *p)
{
    const struct msp_root *found;
    memspan_status_t status;

    p->area = msp_persistent_file_map(&p->file, p->is_writer, &p->is_direct);
    if (p->area == NULL) {
        return memspan_error_last()->status;
    }
    memcpy(p->slots, p->area, MSP_ROOT_AREA_BYTES);
    status = msp_persist_choose(&p->how, p->is_direct, p->file.is_device, p->file.domain);
    if (status != MEMSPAN_OK) {
        return status;
    }
    found = msp_root_newest(p->slots, UINT64_MAX);
    if (found != NULL) {
        status = compare_layout(p, &found->layout);
        status =
            (status == MEMSPAN_OK) ? msp_persistent_file_compare(&p->file, &p->layout) : status;
        return ((status == MEMSPAN_OK) && p->is_writer)
                   ? msp_persistent_file_fill(&p->file, &p->layout)
                   : status;
    }
    if (!msp_root_is_blank(p->slots)) {
        return refuse_slots(p);
    }
    memset(p->root, 0, sizeof *p->root);
    p->root->layout = p->layout;
    msp_root_advance(p->root);
    return p->is_writer ? msp_root_write(&p->medium, p->root) : MEMSPAN_OK;
}

/* The commit that all hosts have. */
static memspan_status_t choose_root(struct msp_team *team, struct msp_persistent *p)
{
    const struct msp_root *found = msp_root_newest(p->slots, UINT64_MAX);
    uint64_t newest              = (found != NULL) ? found->sequence : 1;
    uint64_t common              = UINT64_MAX - msp_agree_max(team, UINT64_MAX - newest);
    memspan_status_t status      = MEMSPAN_OK;
    int other;

    if (found != NULL) {
        found = msp_root_newest(p->slots, common);
        if ((found != NULL) && (found->sequence == common)) {
            *p->root = *found;
        } else {
            memspan_error(MEMSPAN_ERR_CONFLICT,
                          "%s has commit %llu, and the file of another host only %llu",
                          p->file.where, (unsigned long long)newest, (unsigned long long)common);
            status = msp_error_hint("that file is lost, or of an older state: bring it back, or "
                                    "remove this one to begin anew");
        }
    }
    status = settle(team, p, status);
    if (status != MEMSPAN_OK) {
        return status;
    }
    other = msp_agree_first_other(team, (p->root->generation != 0) ? msp_root_digest(p->root) : 0);
    if (other >= 0) {
        memspan_error(MEMSPAN_ERR_CONFLICT, "%s: the files of PE 0 and PE %d are of two partitions",
                      p->file.where, other);
        return msp_error_hint("start the job on the hosts that made it, or choose another name");
    }
    if (p->is_writer && (newest != common)) {
        status = msp_root_discard(&p->medium, newest);
    }
    return settle(team, p, status);
}

static memspan_status_t commit(struct msp_team *team, struct msp_persistent *p)
{
    memspan_status_t status = MEMSPAN_OK;

    msp_root_advance(p->root);
    if (p->is_writer) {
        status = msp_root_write(&p->medium, p->root);
    }
    status       = settle(team, p, status);
    p->is_broken = (status != MEMSPAN_OK);
    return status;
}

static memspan_status_t take_root(struct msp_team *team, struct msp_persistent *p)
{
    memspan_status_t status = settle(team, p, read_root(p));
    uint64_t identity       = 0;

    status = (status == MEMSPAN_OK) ? choose_root(team, p) : status;
    if (status != MEMSPAN_OK) {
        return status;
    }
    if ((team->pe == 0) && (getrandom(&identity, sizeof identity, 0) != sizeof identity)) {
        identity = (uint64_t)getpid();
    }
    identity = msp_agree_max(team, identity);
    if (p->root->generation == 0) {
        p->root->identity = identity;
    }
    p->root->generation++;
    return commit(team, p);
}

/* ---- opening and closing ---- */

static memspan_status_t take_segment(struct msp_team *team,
                                     const struct msp_partition_request *request,
                                     struct msp_persistent *p, int *segment_p)
{
    bool is_synchronous                = p->is_direct && !p->file.is_device;
    const struct msp_segment_file file = {
        .fd           = p->file.fd,
        .offset_bytes = (size_t)p->layout.data_bytes,
        .stride_bytes = (size_t)p->layout.stride_bytes,
        .align_bytes  = (size_t)p->file.align_bytes,
        .map_flags    = is_synchronous ? (MAP_SHARED_VALIDATE | MAP_SYNC) : MAP_SHARED};

    return msp_segment_create_in(team, request->variable, (size_t)request->size_bytes, &file,
                                 segment_p);
}

void msp_persistent_close(struct msp_persistent *p)
{
    if (p == NULL) {
        return;
    }
    if (p->area != NULL) {
        msp_persistent_file_unmap(&p->file, p->area);
    }
    pthread_mutex_destroy(&p->lock);
    free(p->slots);
    free(p->root);
    free(p);
}

static struct msp_persistent *make(void)
{
    struct msp_persistent *p = calloc(1, sizeof *p);

    if (p == NULL) {
        return NULL;
    }
    p->file.fd        = -1;
    p->medium.store   = store;
    p->medium.persist = persist;
    p->root           = calloc(1, sizeof *p->root);
    p->slots          = calloc(2, sizeof *p->slots);
    pthread_mutex_init(&p->lock, NULL);
    if ((p->root == NULL) || (p->slots == NULL)) {
        msp_persistent_close(p);
        return NULL;
    }
    return p;
}

memspan_status_t msp_persistent_open(struct msp_team *team,
                                     const struct msp_partition_request *request, int *segment_p,
                                     struct msp_persistent **persistent_p)
{
    struct msp_persistent *p = make();
    memspan_status_t status;

    if (!msp_agree_all(team, p != NULL)) {
        msp_persistent_close(p);
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for the root of %s",
                             request->variable);
    }
    status = take_file(team, request, p);
    status = (status == MEMSPAN_OK) ? take_root(team, p) : status;
    status = (status == MEMSPAN_OK) ? take_segment(team, request, p, segment_p) : status;
    if (status != MEMSPAN_OK) {
        msp_persistent_file_undo(&p->file);
        msp_persistent_close(p);
        return status;
    }
    free(p->slots);
    p->slots      = NULL;
    *persistent_p = p;
    return MEMSPAN_OK;
}

memspan_status_t msp_persistent_restore(const struct msp_persistent *p,
                                        struct msp_symmetric_heap *heap)
{
    struct msp_symmetric_block *blocks = calloc(MSP_ROOT_BLOCKS_MAX, sizeof *blocks);
    memspan_status_t status;
    uint32_t i;

    if (blocks == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for the blocks of %s",
                             p->layout.name);
    }
    for (i = 0; i < p->root->block_count; i++) {
        blocks[i].offset_bytes = (size_t)p->root->blocks[i].offset_bytes;
        blocks[i].size_bytes   = (size_t)p->root->blocks[i].size_bytes;
    }
    status = msp_symmetric_heap_restore(heap, blocks, p->root->block_count);
    free(blocks);
    return status;
}

/* ---- blocks ---- */

/* All PEs ask for the same. */
static memspan_status_t compare_calls(struct msp_team *team, const char *symbol, size_t offset)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325) ^ offset;

    for (; *symbol != '\0'; symbol++) {
        digest = (digest ^ (unsigned char)*symbol) * UINT64_C(0x100000001b3);
    }
    return msp_collective_agrees(team, digest)
               ? MEMSPAN_OK
               : memspan_error(MEMSPAN_ERR_CONFLICT, "PEs give symbols or blocks that differ");
}

static memspan_status_t check_call(const struct msp_persistent *p, const char *symbol)
{
    if (p->is_broken) {
        return memspan_error(MEMSPAN_ERR_DRIVER, "%s could not be written before: it is not now",
                             p->file.where);
    }
    if ((symbol == NULL) || !msp_root_is_symbol(symbol)) {
        memspan_error(MEMSPAN_ERR_INVALID, "a symbol is 1 to %d bytes that print",
                      MSP_ROOT_SYMBOL_BYTES - 1);
        return MEMSPAN_ERR_INVALID;
    }
    return MEMSPAN_OK;
}

static memspan_status_t check_name(const struct msp_persistent *p, const char *symbol,
                                   size_t offset_bytes)
{
    const struct msp_root_block *block = msp_root_at(p->root, offset_bytes);

    if (msp_root_find(p->root, symbol) != NULL) {
        return memspan_error(MEMSPAN_ERR_CONFLICT, "%s has a block %s already", p->layout.name,
                             symbol);
    }
    if (block != NULL) {
        return memspan_error(MEMSPAN_ERR_CONFLICT, "the block for %s is %s already", symbol,
                             block->symbol);
    }
    if (p->root->block_count == MSP_ROOT_BLOCKS_MAX) {
        return memspan_error(MEMSPAN_ERR_LIMIT, "%s has %d named blocks already", p->layout.name,
                             (int)MSP_ROOT_BLOCKS_MAX);
    }
    return MEMSPAN_OK;
}

memspan_status_t msp_persistent_name(struct msp_persistent *p, struct msp_team *team,
                                     const char *symbol, const char *base, size_t offset_bytes,
                                     size_t size_bytes)
{
    memspan_status_t status = (size_bytes != 0) ? check_call(p, symbol) : MEMSPAN_ERR_INVALID;

    status = settle(team, p, status);
    status = (status == MEMSPAN_OK) ? compare_calls(team, symbol, offset_bytes) : status;
    status = (status == MEMSPAN_OK) ? check_name(p, symbol, offset_bytes) : status;
    if (status != MEMSPAN_OK) {
        return status; /* in all PEs: their roots are the same */
    }
    status = settle(team, p, msp_persist_range(&p->how, base + offset_bytes, size_bytes));
    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&p->lock);
    msp_root_insert(p->root, symbol, offset_bytes, size_bytes);
    status = commit(team, p);
    pthread_mutex_unlock(&p->lock);
    return status;
}

memspan_status_t msp_persistent_unname(struct msp_persistent *p, struct msp_team *team,
                                       const char *symbol)
{
    const struct msp_root_block *block;
    memspan_status_t status = settle(team, p, check_call(p, symbol));

    status = (status == MEMSPAN_OK) ? compare_calls(team, symbol, 0) : status;
    if (status != MEMSPAN_OK) {
        return status;
    }
    block = msp_root_find(p->root, symbol);
    if (block == NULL) {
        return memspan_error(MEMSPAN_ERR_NOT_FOUND, "%s has no block %s", p->layout.name, symbol);
    }
    pthread_mutex_lock(&p->lock);
    msp_root_remove(p->root, block);
    status = commit(team, p);
    pthread_mutex_unlock(&p->lock);
    return status;
}

memspan_status_t msp_persistent_find(struct msp_persistent *p, const char *symbol, size_t *offset_p,
                                     size_t *size_p)
{
    const struct msp_root_block *block;

    pthread_mutex_lock(&p->lock);
    block = msp_root_find(p->root, symbol);
    if (block != NULL) {
        *offset_p = (size_t)block->offset_bytes;
        *size_p   = (size_t)block->size_bytes;
    }
    pthread_mutex_unlock(&p->lock);
    return (block != NULL) ? MEMSPAN_OK
                           : memspan_error(MEMSPAN_ERR_NOT_FOUND, "%s has no block %.47s",
                                           p->layout.name, symbol);
}

bool msp_persistent_symbol(struct msp_persistent *p, size_t offset_bytes, char symbol[48])
{
    const struct msp_root_block *block;

    pthread_mutex_lock(&p->lock);
    block = msp_root_at(p->root, offset_bytes);
    if (block != NULL) {
        memcpy(symbol, block->symbol, MSP_ROOT_SYMBOL_BYTES);
    }
    pthread_mutex_unlock(&p->lock);
    return block != NULL;
}

memspan_status_t msp_persistent_persist(const struct msp_persistent *p, const void *address,
                                        size_t size_bytes)
{
    return msp_persist_range(&p->how, address, size_bytes);
}

/* ---- descriptions ---- */

void msp_persistent_describe(struct msp_persistent *p, shmemx_partition_info_t *info)
{
    pthread_mutex_lock(&p->lock);
    info->persistence = p->how.strength;
    info->generation  = (size_t)p->root->generation;
    info->named_count = (int)p->root->block_count;
    snprintf(info->persistent_name, sizeof info->persistent_name, "%s", p->layout.name);
    snprintf(info->persistence_note, sizeof info->persistence_note, "%s", p->how.note);
    pthread_mutex_unlock(&p->lock);
}

void msp_persistent_words(struct msp_persistent *p, struct msp_partition_placement *placement)
{
    snprintf(placement->resource, sizeof placement->resource, "%s%s", p->file.kind,
             (p->is_direct && !p->file.is_device) ? ", DAX" : "");
    snprintf(placement->why, sizeof placement->why, "generation %llu of %.200s",
             (unsigned long long)p->root->generation, p->file.where);
}

/* The file as it is, and its newest root in slots; MEMSPAN_ERR_NOT_FOUND: there is none yet. */
static memspan_status_t look(const struct msp_partition_request *request, struct msp_persistent *p)
{
    memspan_status_t status =
        msp_persistent_file_open(request, msp_job.first_local, false, &p->file);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (p->file.is_new && !p->file.is_device) {
        return MEMSPAN_ERR_NOT_FOUND;
    }
    p->area = msp_persistent_file_map(&p->file, false, &p->is_direct);
    if (p->area == NULL) {
        return memspan_error_last()->status;
    }
    memcpy(p->slots, p->area, MSP_ROOT_AREA_BYTES);
    return msp_persist_choose(&p->how, p->is_direct, p->file.is_device, p->file.domain);
}

static void drop(struct msp_persistent *p)
{
    if (p->file.fd >= 0) {
        close(p->file.fd);
    }
    msp_persistent_close(p);
}

/* What a root that is there has, or why it cannot be used. */
static void say_root(const struct msp_persistent *p, char *why, size_t size)
{
    const struct msp_root *found = msp_root_newest(p->slots, UINT64_MAX);

    if (found != NULL) {
        snprintf(why, size, "%.120s has generation %llu of partition %s, with %u named blocks",
                 p->file.where, (unsigned long long)found->generation, found->layout.name,
                 found->block_count);
    } else if (msp_root_is_blank(p->slots)) {
        snprintf(why, size, "%.200s is empty, and will be used", p->file.where);
    } else {
        snprintf(why, size, "%.120s has no root: one %s, the other %s", p->file.where,
                 msp_root_state_text(msp_root_check(&p->slots[0], 0)),
                 msp_root_state_text(msp_root_check(&p->slots[1], 1)));
    }
}

memspan_status_t msp_persistent_place(const struct msp_partition_request *request,
                                      struct msp_partition_placement *placement)
{
    struct msp_persistent *p = make();
    memspan_status_t status;

    if (p == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for the root of %s",
                             request->variable);
    }
    if (request->path[0] == '\0') {
        drop(p);
        memspan_error(MEMSPAN_ERR_UNSUPPORTED, "%s: a space is not persistent: it has no path",
                      request->variable);
        return msp_error_hint("SHMEM_SYMMETRIC_PARTITIONn=size=...:kind=PMEM:path=...");
    }
    status = look(request, p);
    if (status == MEMSPAN_ERR_NOT_FOUND) {
        snprintf(placement->why, sizeof placement->why, "%.200s will be made", p->file.where);
        status = MEMSPAN_OK;
    } else if (status == MEMSPAN_OK) {
        say_root(p, placement->why, sizeof placement->why);
    }
    placement->is_file         = true;
    placement->page_size_bytes = p->file.is_device ? (size_t)p->file.align_bytes : msp_page_size();
    snprintf(placement->resource, sizeof placement->resource, "%s", p->file.kind);
    drop(p);
    return status;
}

void msp_persistent_foresee(const struct msp_partition_request *request,
                            shmemx_partition_info_t *info)
{
    struct msp_persistent *p = make();
    const struct msp_root *found;

    if (p == NULL) {
        return;
    }
    snprintf(info->persistent_name, sizeof info->persistent_name, "%s", request->name);
    snprintf(info->persistence_note, sizeof info->persistence_note,
             "known when the file has been made");
    if (look(request, p) == MEMSPAN_OK) {
        found             = msp_root_newest(p->slots, UINT64_MAX);
        info->persistence = p->how.strength;
        info->generation  = (found != NULL) ? (size_t)found->generation : 0;
        info->named_count = (found != NULL) ? (int)found->block_count : 0;
        snprintf(info->persistence_note, sizeof info->persistence_note, "%s", p->how.note);
    }
    drop(p);
}
