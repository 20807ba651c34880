/* SPDX-License-Identifier: BSD-3-Clause */
/* backend_contract.c: the OpenMP backend by its table, on the devices of a real offload runtime.
 *
 * Every kind on every device: on its boundary, reached as reach() promises, by target regions too;
 * copied, filled, imported, locked; freed. tests/fakes/offload asks the same of devices whose
 * memory is their own. */

#include "check.h"
#include "core/base/file.h"
#include "core/device/backend.h"
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

extern const memspan_backend_t msp_backend_openmp;
static const memspan_backend_t *const table = &msp_backend_openmp;

enum { WORDS = 1 << 16, BYTES = WORDS * 4, THREADS = 4 };

static const memspan_kind_t kinds[] = {MEMSPAN_KIND_DEVICE, MEMSPAN_KIND_HOST_PINNED,
                                       MEMSPAN_KIND_MANAGED, MEMSPAN_KIND_COHERENT};

static memspan_request_t ask(memspan_kind_t kind, size_t align_bytes)
{
    return (memspan_request_t){
        .struct_size      = sizeof(memspan_request_t),
        .kind             = kind,
        .size_bytes       = BYTES,
        .align_bytes      = align_bytes,
        .resident_ordinal = 0,
    };
}

static uint64_t locked_bytes(void)
{
    char text[4096];
    uint64_t value = 0;

    CHECK(msp_file_read("/proc/self/status", text, sizeof(text)) > 0);
    CHECK(msp_text_field(text, "VmLck", &value));
    return value;
}

static void describe(void *state, int ordinal)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};
    size_t k;

    CHECK(table->device_describe(state, ordinal, &info) == MEMSPAN_OK);
    CHECK((info.name[0] != '\0') && (info.uid[0] != '\0') && (info.driver[0] != '\0'));
    CHECK((info.capacity_bytes == MEMSPAN_UNKNOWN) && (info.capacity_source[0] != '\0'));
    CHECK((info.capabilities & MEMSPAN_CAN_KERNELS) == 0);
    CHECK((info.capabilities & MEMSPAN_CAN_UNIFIED_PHYSICAL) != 0);
    for (k = MEMSPAN_KIND_HOST; k < MEMSPAN_KIND_COUNT; k++) {
        CHECK(info.kind_note[k][0] != '\0');
    }
}

/* The device adds to every word, without a map clause. */
static void add_on_device(int ordinal, unsigned *words)
{
    int on_host = 1;

#pragma omp target device(ordinal) map(from : on_host)
    {
        on_host = omp_is_initial_device();
        for (int i = 0; i < WORDS; i++) {
            words[i] += (unsigned)i;
        }
    }
    CHECK(!on_host);
}

static void use_block(void *state, int ordinal, memspan_kind_t kind, size_t align_bytes)
{
    int other                 = (ordinal + 1) % table->device_count(state);
    memspan_request_t request = ask(kind, align_bytes);
    unsigned *here            = malloc(BYTES);
    memspan_block_t block;
    memspan_reach_t reach;
    int i;

    CHECK(here != NULL);
    CHECK(table->alloc(state, ordinal, &request, &block) == MEMSPAN_OK);
    CHECK(((uintptr_t)block.address & (align_bytes - 1)) == 0);
    CHECK(block.size_bytes == BYTES);
    reach = table->reach(state, ordinal, kind, ordinal);
    CHECK((reach.access == MEMSPAN_ACCESS_LOCAL) && (reach.coherence == MEMSPAN_COHERENCE_ATOMIC));
    reach = table->reach(state, ordinal, kind, other);
    CHECK(reach.access == MEMSPAN_ACCESS_LOCAL);

    CHECK(table->fill(state, ordinal, NULL, block.address, 0x11, BYTES) == MEMSPAN_OK);
    add_on_device(ordinal, block.address);
    add_on_device(other, block.address);
    CHECK(table->synchronize(state, ordinal, NULL) == MEMSPAN_OK);
    CHECK(table->copy(state, ordinal, NULL, here, block.address, BYTES) == MEMSPAN_OK);
    for (i = 0; i < WORDS; i++) {
        CHECK(here[i] == 0x11111111u + 2 * (unsigned)i);
        here[i] = (unsigned)~i;
    }
    CHECK(table->copy(state, ordinal, NULL, block.address, here, BYTES) == MEMSPAN_OK);
    CHECK(memcmp(block.address, here, BYTES) == 0);
    CHECK(table->free(state, ordinal, &block) == MEMSPAN_OK);
    free(here);
}

/* Pinned is locked, and a limit is a refusal that names it. */
static void check_locking(void *state)
{
    memspan_request_t request = ask(MEMSPAN_KIND_COHERENT, 4096);
    uint64_t before           = locked_bytes();
    memspan_block_t block;
    struct rlimit limit;

    request.flags = MEMSPAN_REQUEST_PINNED;
    CHECK(table->alloc(state, 0, &request, &block) == MEMSPAN_OK);
    CHECK((block.flags & MEMSPAN_BLOCK_PINNED) != 0);
    CHECK(locked_bytes() >= before + BYTES);
    CHECK(table->free(state, 0, &block) == MEMSPAN_OK);
    CHECK(locked_bytes() == before);

    request.flags = 0;
    CHECK(table->alloc(state, 0, &request, &block) == MEMSPAN_OK);
    CHECK((block.flags & MEMSPAN_BLOCK_PINNED) == 0);
    CHECK(table->free(state, 0, &block) == MEMSPAN_OK);

    CHECK(getrlimit(RLIMIT_MEMLOCK, &limit) == 0);
    limit.rlim_cur = 4096;
    CHECK(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
    if ((geteuid() == 0) && (seteuid(65534) != 0)) {
        return; /* root passes the limit, and cannot become another user here */
    }
    request = ask(MEMSPAN_KIND_HOST_PINNED, 4096);
    CHECK(table->alloc(state, 0, &request, &block) == MEMSPAN_ERR_LIMIT);
    CHECK(strstr(memspan_error_last()->message, "RLIMIT_MEMLOCK") != NULL);
}

static void check_import(void *state)
{
    unsigned *words = aligned_alloc(4096, BYTES);
    void *seen_at   = NULL;
    void *cookie    = NULL;
    int i;

    CHECK(words != NULL);
    memset(words, 0, BYTES);
    CHECK(table->import(state, 0, words, BYTES, &seen_at, &cookie) == MEMSPAN_OK);
    CHECK(seen_at == words);
    add_on_device(0, words);
    CHECK(table->release(state, 0, words, BYTES, cookie) == MEMSPAN_OK);
    for (i = 0; i < WORDS; i++) {
        CHECK(words[i] == (unsigned)i);
    }
    free(words);
}

int main(void)
{
    void *state = NULL;
    int on_host = 1;
    int threads = 0;
    size_t uses = 0;
    int count;
    int ordinal;
    size_t k;

#pragma omp target map(from : on_host)
    on_host = omp_is_initial_device();
    CHECK(!on_host);
    CHECK(table->open(&memspan_services, &state) == MEMSPAN_OK);
    count = table->device_count(state);
    CHECK(count == omp_get_num_devices());
    for (ordinal = 0; ordinal < count; ordinal++) {
        describe(state, ordinal);
        for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
            use_block(state, ordinal, kinds[k], (size_t)4096 << (2 * k));
            uses++;
        }
    }
#pragma omp parallel num_threads(THREADS) reduction(+ : threads)
    {
        int i;
        for (i = 0; i < 3; i++) {
            use_block(state, (omp_get_thread_num() + i) % count, kinds[i], 65536);
        }
        threads++;
    }
    check_import(state);
    if (MLOCK_WORKS) {
        check_locking(state);
    }
    table->close(state);
    printf("contract: %zu blocks on %d devices, then from %d threads\n", uses, count, threads);
    return 0;
}
