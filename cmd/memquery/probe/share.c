/* SPDX-License-Identifier: BSD-3-Clause */
/* share.c: one granule of a device's memory, shared with another process and exported for
 * network cards. A successful call proves nothing; data that arrived does. */

#include "cmd/memquery/model/model.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CARDS "/sys/class/infiniband"

static const char *const state_names[] = {"no", "claimed", "failed", "partly", "proved"};

const char *share_state_name(enum share_state state)
{
    return state_names[state];
}

__attribute__((format(printf, 3, 4))) static void
conclude(struct sharing *method, enum share_state state, const char *format, ...)
{
    va_list args;

    method->state = state;
    va_start(args, format);
    vsnprintf(method->detail, sizeof(method->detail), format, args);
    va_end(args);
    cli_clean(method->detail);
}

/* The library's last error. */
static void fail(struct sharing *method, const char *doing)
{
    const memspan_error_t *error = memspan_error_last();

    conclude(method, SHARE_FAILED, "%s: %s", doing, error->message);
    if (error->call[0] != '\0') {
        snprintf(method->native, sizeof(method->native), "%s: %ld %s", error->call,
                 error->native_code, error->native_text);
    }
    snprintf(method->remedy, sizeof(method->remedy), "%s", error->hint);
    cli_clean(method->native);
    cli_clean(method->remedy);
}

void share_start_helper(double timeout_s)
{
    /* One granule, not a chunk for later allocations. */
    setenv("MEMSPAN_CHUNK_SIZE", "64k", 0);
    (void)importer_start(timeout_s);
}

/* ---- without trying ---- */

static void claim(const memspan_device_info_t *info, unsigned bit, const char *try,
                  struct sharing *method)
{
    const char *note = info->capability_note[__builtin_ctz(bit)];

    *method = (struct sharing){.state = SHARE_NO};
    if (note[0] == '\0') {
        note = "the backend says nothing";
    }
    if ((info->capabilities & bit) == 0) {
        conclude(method, SHARE_NO, "%s", note);
    } else {
        conclude(method, SHARE_CLAIMED, "%s; not probed: %s", note, try);
    }
}

/* ---- another process ---- */

static bool write_own(void *pointer, unsigned char *data, struct sharing *method)
{
    for (size_t i = 0; i < IMPORTER_BYTES; i++) {
        data[i] = importer_byte(1, i);
    }
    if (memspan_copy(pointer, data, IMPORTER_BYTES) != MEMSPAN_OK) {
        fail(method, "it cannot be written");
        return false;
    }
    return true;
}

static size_t count_wrong(const unsigned char *data, unsigned who)
{
    size_t wrong = 0;

    for (size_t i = 0; i < IMPORTER_BYTES; i++) {
        wrong += (data[i] != importer_byte(who, i)) ? 1 : 0;
    }
    return wrong;
}

static void probe_ipc(const memspan_device_info_t *info, void *pointer, struct sharing *method)
{
    struct importer_request request = {.ordinal = info->ordinal};
    size_t token_bytes              = sizeof(request.token);
    unsigned char *data             = cli_calloc(IMPORTER_BYTES, 1);
    struct importer_reply reply;
    size_t wrong;

    snprintf(request.backend, sizeof(request.backend), "%s", info->backend);
    if (!write_own(pointer, data, method)) {
        goto free_data;
    }
    if (memspan_share_export(pointer, request.token, &token_bytes) != MEMSPAN_OK) {
        fail(method, "it cannot be exported");
        goto free_data;
    }
    request.token_bytes = (uint32_t)token_bytes;
    if (!importer_ask(&request, &reply) || (reply.done == 0)) {
        conclude(method, SHARE_FAILED, "%s", reply.problem);
        snprintf(method->native, sizeof(method->native), "%s", reply.native);
        snprintf(method->remedy, sizeof(method->remedy), "%s", reply.remedy);
        goto free_data;
    }
    if (memspan_copy(data, pointer, IMPORTER_BYTES) != MEMSPAN_OK) {
        fail(method, "it cannot be read back");
        goto free_data;
    }
    wrong = count_wrong(data, 2);
    if (wrong > 0) {
        conclude(method, SHARE_FAILED,
                 "every call succeeded, but %zu of %d bytes that the other process wrote did not "
                 "arrive",
                 wrong, (int)IMPORTER_BYTES);
    } else {
        conclude(method, SHARE_PROVED,
                 "another process read %d bytes that were written here, and wrote as many that "
                 "were read here",
                 (int)IMPORTER_BYTES);
    }

free_data:
    free(data);
}

/* ---- dma-buf ---- */

/* The kernel's name for the exporter of a descriptor, such as "amdgpu"; false where it is no
 * dma-buf. */
static bool find_exporter(int fd, char *name, size_t size)
{
    char path[64];
    char line[128];
    bool found = false;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
    file = fopen(path, "re");
    while ((file != NULL) && !found && (fgets(line, sizeof(line), file) != NULL)) {
        char word[64] = "";

        found = (sscanf(line, "exp_name: %63s", word) == 1);
        snprintf(name, size, "%s", word);
    }
    if (file != NULL) {
        fclose(file);
    }
    return found;
}

static void judge_descriptor(int fd, uint64_t offset, struct sharing *method)
{
    char exporter[64] = "";
    bool is_dmabuf    = find_exporter(fd, exporter, sizeof(exporter));
    off_t size        = lseek(fd, 0, SEEK_END);
    size_t whole      = (size_t)offset + IMPORTER_BYTES;
    unsigned char *seen;
    size_t wrong;

    if ((size >= 0) && ((uint64_t)size < whole)) {
        conclude(method, SHARE_FAILED, "the descriptor holds %lld bytes, not %zu", (long long)size,
                 whole);
        return;
    }
    seen = mmap(NULL, whole, PROT_READ, MAP_SHARED, fd, 0);
    if (seen == MAP_FAILED) {
        conclude(method, SHARE_PARTLY,
                 "exported%s%s, %lld bytes; the host cannot map it, so that the data is behind it "
                 "is not proved",
                 is_dmabuf ? " by " : ": a descriptor of unknown make", exporter, (long long)size);
        return;
    }
    wrong = count_wrong(seen + offset, 1);
    munmap(seen, whole);
    if (wrong > 0) {
        conclude(method, SHARE_FAILED,
                 "exported, but %zu of %d bytes behind the descriptor are others", wrong,
                 (int)IMPORTER_BYTES);
    } else if (is_dmabuf) {
        conclude(method, SHARE_PROVED, "exported by %s; the %d bytes were read through it",
                 exporter, (int)IMPORTER_BYTES);
    } else {
        conclude(method, SHARE_PARTLY,
                 "the %d bytes were read through the descriptor, which the kernel does not call a "
                 "dma-buf",
                 (int)IMPORTER_BYTES);
    }
}

/* A card that registers the memory maps it; whether it moves data is not tested. */
static void probe_rdma(int fd, uint64_t offset, const void *pointer, struct sharing *method)
{
    struct verbs_answer answer;

    verbs_try(fd, offset, IMPORTER_BYTES, pointer, &answer);
    if (answer.end == VERBS_REGISTERED) {
        conclude(method, SHARE_PARTLY,
                 "%s by its dma-buf (ibv_reg_dmabuf_mr); that it moves them is not proved, for "
                 "there was no peer",
                 answer.text);
    } else if (answer.end == VERBS_REFUSED) {
        conclude(method, SHARE_FAILED, "%s", answer.text);
        snprintf(method->native, sizeof(method->native), "%s", answer.native);
        snprintf(method->remedy, sizeof(method->remedy),
                 "a card whose kernel driver takes dma-buf (Linux 5.12 and mlx5, for example), or "
                 "the vendor's peer-memory module with a library that uses it");
    }
}

static void probe_dmabuf(void *pointer, struct sharing *method, struct sharing *rdma)
{
    unsigned char *data = cli_calloc(IMPORTER_BYTES, 1);
    uint64_t offset     = 0;
    int fd              = -1;

    if (write_own(pointer, data, method)) {
        if (memspan_share_dmabuf(pointer, IMPORTER_BYTES, &fd, &offset) != MEMSPAN_OK) {
            fail(method, "no dma-buf");
        } else {
            judge_descriptor(fd, offset, method);
            if (method->state != SHARE_FAILED) {
                probe_rdma(fd, offset, pointer, rdma);
            }
            close(fd);
        }
    }
    free(data);
}

/* ---- network cards ---- */

static void list_cards(char *names, size_t size)
{
    DIR *folder = opendir(CARDS);
    struct dirent *entry;

    names[0] = '\0';
    while ((folder != NULL) && ((entry = readdir(folder)) != NULL)) {
        if (entry->d_name[0] != '.') {
            cli_append(names, size, "%s%s", (names[0] == '\0') ? "" : " ", entry->d_name);
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
    cli_clean(names);
}

/* Without a probe: the cards that exist, and the driver's claim. */
static void judge_rdma(const memspan_device_info_t *info, const struct sharing *dmabuf,
                       struct sharing *method)
{
    const char *note = info->capability_note[__builtin_ctz(MEMSPAN_CAN_RDMA)];
    bool claimed     = (info->capabilities & (MEMSPAN_CAN_RDMA | MEMSPAN_CAN_DMABUF)) != 0;
    char cards[96];

    *method = (struct sharing){.state = SHARE_NO};
    list_cards(cards, sizeof(cards));
    if (cards[0] == '\0') {
        conclude(method, SHARE_NO,
                 "this machine has no RDMA device (" CARDS " is empty); driver: %s", note);
        snprintf(method->remedy, sizeof(method->remedy),
                 "a card and its kernel driver; in a container, its devices");
        return;
    }
    if (!claimed) {
        conclude(method, SHARE_NO, "cards %s; driver: %s", cards, note);
        return;
    }
    conclude(method, SHARE_CLAIMED,
             "cards %s; driver: %s; dma-buf %s. Not proved: no card was asked to register the "
             "memory",
             cards, note, share_state_name(dmabuf->state));
}

/* ---- all of it ---- */

static void probe(struct device_row *row)
{
    memspan_trait_t traits[]      = {{MEMSPAN_TRAIT_SHAREABLE, MEMSPAN_VALUE_TRUE},
                                     {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}};
    bool ipc                      = row->ipc.state == SHARE_CLAIMED;
    bool dmabuf                   = row->dmabuf.state == SHARE_CLAIMED;
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    void *pointer                 = NULL;
    memspan_space_h space;

    if ((memspan_space_get(&row->info.number, 1, MEMSPAN_SPACE_NULL, &space) == MEMSPAN_OK) &&
        (memspan_allocator_create(space, traits, 2, &allocator) == MEMSPAN_OK)) {
        pointer = memspan_alloc(allocator, IMPORTER_BYTES);
    }
    if (pointer == NULL) {
        if (ipc) {
            fail(&row->ipc, "no memory to share");
        }
        if (dmabuf) {
            fail(&row->dmabuf, "no memory to share");
        }
        memspan_allocator_destroy(allocator);
        return;
    }
    if (ipc) {
        probe_ipc(&row->info, pointer, &row->ipc);
    }
    if (dmabuf) {
        probe_dmabuf(pointer, &row->dmabuf, &row->rdma);
    }
    memspan_free(pointer);
    memspan_allocator_destroy(allocator);
    memspan_trim();
}

/* A failed capability is absent, against the driver's claim; also for --check. */
static void believe(struct device_row *row, unsigned bit, const struct sharing *method)
{
    char *note  = row->info.capability_note[__builtin_ctz(bit)];
    size_t size = sizeof(row->info.capability_note[0]);

    if (method->state == SHARE_FAILED) {
        row->info.capabilities &= ~bit;
        snprintf(note, size, "probe: %.100s", method->detail);
    } else if (method->state == SHARE_PROVED) {
        cli_append(note, size, "; proved by a probe");
    }
}

void share_take_all(struct snapshot *snapshot, const struct options *options)
{
    static const char ipc_try[]    = "--probe=full moves data through it";
    static const char dmabuf_try[] = "--probe=full exports it";

    for (size_t i = 0; i < snapshot->device_count; i++) {
        struct device_row *row = &snapshot->devices[i];

        claim(&row->info, MEMSPAN_CAN_IPC, ipc_try, &row->ipc);
        claim(&row->info, MEMSPAN_CAN_DMABUF, dmabuf_try, &row->dmabuf);
        if ((options->probe == PROBE_FULL) && (row->info.number != MEMSPAN_HOST) &&
            ((row->ipc.state == SHARE_CLAIMED) || (row->dmabuf.state == SHARE_CLAIMED))) {
            probe(row);
        }
        if (row->rdma.detail[0] == '\0') {
            judge_rdma(&row->info, &row->dmabuf, &row->rdma);
        }
        believe(row, MEMSPAN_CAN_IPC, &row->ipc);
        believe(row, MEMSPAN_CAN_DMABUF, &row->dmabuf);
    }
}

/* ---- printing ---- */

static void print_method(const char *name, const struct sharing *method, FILE *out)
{
    fprintf(out, "  probe %s: %s (%s%s%s)\n", name, share_state_name(method->state), method->detail,
            (method->native[0] == '\0') ? "" : "; ", method->native);
    if (method->remedy[0] != '\0') {
        fprintf(out, "    remedy: %s\n", method->remedy);
    }
}

void share_print(const struct device_row *row, FILE *out)
{
    print_method("ipc", &row->ipc, out);
    print_method("dmabuf", &row->dmabuf, out);
    print_method("rdma", &row->rdma, out);
}

static json_t *method_json(const struct sharing *method)
{
    json_t *object = json_object();

    json_put_text(object, "state", share_state_name(method->state));
    json_put_text_or(object, "detail", method->detail, "the backend says nothing");
    json_put_text_or(object, "native", method->native, "no driver reported an error");
    json_put_text_or(object, "remedy", method->remedy, "there is nothing to do");
    return object;
}

json_t *share_json(const struct device_row *row)
{
    json_t *object = json_object();

    json_put(object, "ipc", method_json(&row->ipc));
    json_put(object, "dmabuf", method_json(&row->dmabuf));
    json_put(object, "rdma", method_json(&row->rdma));
    return object;
}
