/* SPDX-License-Identifier: BSD-3-Clause */
/* region.c: what is registered, when, in which pieces; registrations that fail. The driver is this
 * file's: it counts, and refuses at will. */

#include "shmem/network/region.h"
#include "shmem/option.h"
#include "shmem/transport/segment.h"
#include <criterion/criterion.h>
#include <fcntl.h>
#include <memspan/share.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SEGMENT = MSP_SEGMENT_FIRST, MIB = 1 << 20 };

/* ---- what region.c needs of the rest ---- */

struct msp_segment msp_segments[MSP_SEGMENT_MAX];
static char warning[1024];
static int warning_count;
static jmp_buf fatal;

void msp_warn_once(int *key, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(warning, sizeof warning, format, args);
    va_end(args);
    warning_count += (*key == 0);
    *key = 1;
}

void msp_debug_note(const char *format, ...)
{
    (void)format;
}

void msp_fatal_error(const char *call)
{
    (void)call;
    longjmp(fatal, 1);
}

/* ---- the driver ---- */

static struct {
    int live;
    int calls;
    uint64_t bytes;
    uint64_t limit_bytes; /* 0: none */
    memspan_status_t refusal;
    bool refuses_dmabuf;
    struct msp_network_region last;
} fake;

struct msp_network_memory {
    size_t size_bytes;
};

static memspan_status_t fake_register(const struct msp_network_region *region, void *key,
                                      size_t *key_bytes_p, struct msp_network_memory **memory_p)
{
    fake.calls++;
    fake.last = *region;
    if (fake.refuses_dmabuf && (region->dmabuf_fd >= 0)) {
        return memspan_error(MEMSPAN_ERR_UNSUPPORTED, "fake: no dma-bufs");
    }
    if (fake.refusal != MEMSPAN_OK) {
        return memspan_error(fake.refusal, "fake: no");
    }
    if ((fake.limit_bytes != 0) && (fake.bytes + region->size_bytes > fake.limit_bytes)) {
        return memspan_error(MEMSPAN_ERR_LIMIT, "fake: the card is full");
    }
    *memory_p               = malloc(sizeof **memory_p);
    (*memory_p)->size_bytes = region->size_bytes;
    memcpy(key, &region->base, sizeof region->base);
    *key_bytes_p = sizeof region->base;
    fake.live++;
    fake.bytes += region->size_bytes;
    return MEMSPAN_OK;
}

static void fake_release(struct msp_network_memory *memory)
{
    fake.live--;
    fake.bytes -= memory->size_bytes;
    free(memory);
}

static const struct msp_network_driver driver = {.version         = MSP_NETWORK_DRIVER_VERSION,
                                                 .name            = "fake",
                                                 .memory_register = fake_register,
                                                 .memory_release  = fake_release};

static bool has_dmabuf;
memspan_status_t __wrap_memspan_share_dmabuf(const void *pointer, size_t size_bytes, int *fd_p,
                                             uint64_t *offset_p);
memspan_status_t __wrap_memspan_share_dmabuf(const void *pointer, size_t size_bytes, int *fd_p,
                                             uint64_t *offset_p)
{
    (void)pointer;
    (void)size_bytes;
    if (!has_dmabuf) {
        return memspan_error(MEMSPAN_ERR_UNSUPPORTED, "no dma-buf");
    }
    *fd_p     = open("/dev/null", O_RDONLY | O_CLOEXEC);
    *offset_p = 4096;
    return MEMSPAN_OK;
}

static char *host_pages; /* NULL: device memory is not the host's */
static int host_opened;
memspan_status_t __wrap_memspan_share_host_open(const void *pointer, size_t size_bytes,
                                                void **host_p);
memspan_status_t __wrap_memspan_share_host_open(const void *pointer, size_t size_bytes,
                                                void **host_p)
{
    (void)size_bytes;
    if (host_pages == NULL) {
        return memspan_error(MEMSPAN_ERR_UNSUPPORTED, "its pages are elsewhere");
    }
    cr_assert_eq(pointer, msp_segments[SEGMENT].base);
    host_opened++;
    *host_p = host_pages;
    return MEMSPAN_OK;
}

memspan_status_t __wrap_memspan_share_host_close(const void *pointer, size_t size_bytes);
memspan_status_t __wrap_memspan_share_host_close(const void *pointer, size_t size_bytes)
{
    cr_assert_eq(pointer, msp_segments[SEGMENT].base);
    cr_assert_eq(size_bytes, msp_segments[SEGMENT].size_bytes);
    host_opened--;
    return MEMSPAN_OK;
}

/* ---- */

static const struct msp_network_limits pins = {.pins_memory = true};

static void add_segment(unsigned index, uint64_t size_bytes)
{
    msp_segments[index] =
        (struct msp_segment){.base = (char *)((uintptr_t)0x200000000000 + ((uintptr_t)index << 40)),
                             .size_bytes   = size_bytes,
                             .stride_bytes = size_bytes,
                             .host_touches = true};
}

/* Opens with @p text for SHMEMX_REGISTER (NULL: unset), one segment of @p size_bytes. */
static memspan_status_t begin(const char *text, const struct msp_network_limits *limits,
                              uint64_t size_bytes)
{
    if (text != NULL) {
        setenv("SHMEMX_REGISTER", text, 1);
    }
    cr_assert_eq(msp_shmem_option_read(), MEMSPAN_OK);
    add_segment(SEGMENT, size_bytes);
    return msp_network_region_open(&driver, limits);
}

static struct msp_network_chunk found(uint64_t offset_bytes)
{
    struct msp_network_chunk chunk;

    cr_assert_eq(msp_network_region_find(SEGMENT, offset_bytes, &chunk), MEMSPAN_OK, "%s",
                 memspan_error_text());
    cr_assert(chunk.key_bytes > 0);
    return chunk;
}

Test(region, on_demand_by_chunk)
{
    struct msp_network_region_facts facts;
    struct msp_network_chunk chunk;

    cr_assert_eq(begin(NULL, &pins, (uint64_t)512 * MIB + 4096), MEMSPAN_OK);
    cr_assert_eq(msp_network_region_add(SEGMENT), MEMSPAN_OK);
    cr_assert_eq(fake.calls, 0, "registered before a peer touches it");
    chunk = found((uint64_t)40 * MIB + 5);
    cr_assert_eq(chunk.offset_bytes, (uint64_t)32 * MIB);
    cr_assert_eq(chunk.size_bytes, (uint64_t)16 * MIB);
    cr_assert_eq(chunk.address, (uintptr_t)msp_segments[SEGMENT].base + (uint64_t)32 * MIB);
    cr_assert_eq(fake.last.size_bytes, (size_t)16 * MIB);
    (void)found((uint64_t)33 * MIB);
    cr_assert_eq(fake.calls, 1, "one chunk is registered twice");
    chunk = found((uint64_t)512 * MIB);
    cr_assert_eq(chunk.size_bytes, 4096, "a chunk ends with its segment");
    msp_network_region_describe(SEGMENT, &facts);
    cr_assert_eq(facts.chunk_count, 2);
    cr_assert_eq(facts.registered_bytes, (uint64_t)16 * MIB + 4096);
    cr_assert_eq(msp_network_region_total(), facts.registered_bytes);
    cr_assert_eq(msp_network_region_find(SEGMENT, (uint64_t)512 * MIB + 4096, &chunk),
                 MEMSPAN_ERR_NOT_FOUND);
    cr_assert_eq(msp_network_region_find(SEGMENT + 1, 0, &chunk), MEMSPAN_ERR_NOT_FOUND);
    msp_network_region_close();
    cr_assert_eq(fake.live, 0, "registrations are left");
}

static void expect_text(const char *words)
{
    char text[256];

    msp_network_region_text(SEGMENT, text, sizeof text);
    cr_assert(strstr(text, words) != NULL, "\"%s\" is not in: %s", words, text);
}

Test(region, said_in_words)
{
    char text[256] = "before";

    msp_network_region_text(SEGMENT, text, sizeof text);
    cr_assert_str_eq(text, "");
    cr_assert_eq(begin(NULL, &pins, (uint64_t)64 * MIB), MEMSPAN_OK);
    expect_text("by fake, registered in chunks of 16 MiB at first use; 0 so far");
    (void)found(0);
    fake.refusal = MEMSPAN_ERR_LIMIT;
    cr_assert_eq(
        msp_network_region_find(SEGMENT, (uint64_t)16 * MIB, &(struct msp_network_chunk){}),
        MEMSPAN_ERR_UNSUPPORTED);
    expect_text("1 so far, 16 MiB; 1 by messages: fake: no");
}

Test(region, large_segments_have_a_bounded_number_of_chunks)
{
    cr_assert_eq(begin(NULL, &pins, UINT64_C(1) << 40), MEMSPAN_OK);
    cr_assert_eq(found(UINT64_C(1) << 39).size_bytes, UINT64_C(1) << 30);
    cr_assert_eq(msp_network_region_chunk_bytes(SEGMENT), UINT64_C(1) << 30);
}

Test(region, nothing_is_pinned)
{
    static const struct msp_network_limits pins_nothing;

    cr_assert_eq(begin(NULL, &pins_nothing, UINT64_C(1) << 40), MEMSPAN_OK);
    cr_assert_eq(found(UINT64_C(1) << 39).size_bytes, UINT64_C(1) << 40);
    cr_assert_eq(found(0).offset_bytes, 0);
    cr_assert_eq(fake.calls, 1);
}

Test(region, all_at_start)
{
    cr_assert_eq(begin("ALL", &pins, (uint64_t)40 * MIB), MEMSPAN_OK);
    cr_assert_eq(msp_network_region_add(SEGMENT), MEMSPAN_OK);
    cr_assert_eq(fake.calls, 3);
    cr_assert_eq(fake.bytes, (uint64_t)40 * MIB);
}

Test(region, chunks_of_a_size)
{
    cr_assert_eq(begin("1m", &pins, (uint64_t)40 * MIB), MEMSPAN_OK);
    cr_assert_eq(found((uint64_t)2 * MIB).size_bytes, (uint64_t)MIB);
}

Test(region, none)
{
    struct msp_network_chunk chunk;

    cr_assert_eq(begin("none", &pins, (uint64_t)40 * MIB), MEMSPAN_OK);
    cr_assert_eq(msp_network_region_find(SEGMENT, (uint64_t)17 * MIB, &chunk),
                 MEMSPAN_ERR_UNSUPPORTED);
    cr_assert_eq(fake.calls, 0);
    cr_assert_eq(warning_count, 0, "%s", warning);
    cr_assert_eq(chunk.offset_bytes, (uint64_t)16 * MIB);
    cr_assert_eq(chunk.size_bytes, (uint64_t)16 * MIB);
    cr_assert_eq(chunk.key_bytes, 0);
}

Test(region, malformed)
{
    static const char *const texts[] = {"", "some", "12x", "100", "-1", "16m 16m"};
    size_t i;

    for (i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cr_assert_eq(begin(texts[i], &pins, MIB), MEMSPAN_ERR_CONFIG, "\"%s\" is taken", texts[i]);
        cr_assert(strstr(memspan_error_text(), "SHMEMX_REGISTER") != NULL);
    }
}

/* The control memory, of which little is in use: in small pieces. */
Test(region, control_memory)
{
    struct msp_network_chunk chunk;

    cr_assert_eq(begin("all", &pins, MIB), MEMSPAN_OK);
    add_segment(MSP_SEGMENT_CONTROL, (uint64_t)71 * MIB);
    cr_assert_eq(msp_network_region_add(MSP_SEGMENT_CONTROL), MEMSPAN_OK);
    cr_assert_eq(fake.calls, 0, "the control memory is sparse");
    cr_assert_eq(msp_network_region_find(MSP_SEGMENT_CONTROL, 1200000, &chunk), MEMSPAN_OK);
    cr_assert_eq(chunk.offset_bytes, MIB);
    cr_assert_eq(chunk.size_bytes, MIB);
}

Test(region, a_new_segment_of_an_index_is_another)
{
    cr_assert_eq(begin(NULL, &pins, (uint64_t)20 * MIB), MEMSPAN_OK);
    (void)found(0);
    (void)found((uint64_t)16 * MIB);
    msp_network_region_remove(SEGMENT);
    cr_assert_eq(fake.live, 0);
    cr_assert_eq(msp_network_region_total(), 0);
    add_segment(SEGMENT, MIB);
    cr_assert_eq(found(0).size_bytes, (uint64_t)MIB);
    cr_assert_eq(fake.calls, 3);
}

/* ---- failures ---- */

Test(region, a_full_card_leaves_messages)
{
    struct msp_network_region_facts facts;
    struct msp_network_chunk chunk;

    cr_assert_eq(begin(NULL, &pins, (uint64_t)64 * MIB), MEMSPAN_OK);
    fake.limit_bytes = (uint64_t)20 * MIB;
    (void)found(0);
    cr_assert_eq(msp_network_region_find(SEGMENT, (uint64_t)16 * MIB, &chunk),
                 MEMSPAN_ERR_UNSUPPORTED);
    cr_assert(strstr(memspan_error_text(), "the card is full") != NULL, "%s", memspan_error_text());
    cr_assert_eq(chunk.offset_bytes, (uint64_t)16 * MIB);
    cr_assert(strstr(warning, "by messages") != NULL, "%s", warning);
    cr_assert_eq(msp_network_region_find(SEGMENT, (uint64_t)48 * MIB, &chunk),
                 MEMSPAN_ERR_UNSUPPORTED);
    cr_assert_eq(warning_count, 1, "warned for each chunk");
    fake.limit_bytes = 0;
    cr_assert_eq(msp_network_region_find(SEGMENT, (uint64_t)16 * MIB, &chunk),
                 MEMSPAN_ERR_UNSUPPORTED, "peers remember the first answer");
    (void)found(MIB);
    msp_network_region_describe(SEGMENT, &facts);
    cr_assert_eq(facts.chunk_count, 1);
    cr_assert_eq(facts.refused_count, 2);
    cr_assert(strstr(facts.why, "the card is full") != NULL);
    msp_network_region_close();
    cr_assert_eq(fake.live, 0);
}

Test(region, the_limit_of_locked_memory_is_named)
{
    struct msp_network_chunk chunk;
    struct rlimit limit = {(rlim_t)8 * MIB, (rlim_t)8 * MIB};

    cr_assert_eq(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
    cr_assert_eq(begin("4m", &pins, (uint64_t)64 * MIB), MEMSPAN_OK);
    fake.limit_bytes = (uint64_t)8 * MIB;
    cr_assert_eq(found(0).size_bytes, (uint64_t)4 * MIB);
    cr_assert_eq(msp_network_region_find(SEGMENT, (uint64_t)4 * MIB, &chunk), MEMSPAN_OK);
    cr_assert_eq(msp_network_region_find(SEGMENT, (uint64_t)8 * MIB, &chunk),
                 MEMSPAN_ERR_UNSUPPORTED);
    cr_assert(strstr(warning, "RLIMIT_MEMLOCK") != NULL, "%s", warning);
    cr_assert(strstr(warning, "8 MiB, of which 8 MiB") != NULL, "%s", warning);
    cr_assert(strstr(warning, "the card is full") != NULL, "%s", warning);
    cr_assert(strstr(warning, "ulimit -l unlimited") != NULL, "%s", warning);
    cr_assert(strstr(warning, "LimitMEMLOCK=infinity") != NULL, "%s", warning);
}

Test(region, strict_partitions_end_the_job)
{
    struct msp_network_chunk chunk;

    setenv("SHMEMX_STRICT_PARTITIONS", "1", 1);
    cr_assert_eq(begin(NULL, &pins, (uint64_t)64 * MIB), MEMSPAN_OK);
    fake.refusal = MEMSPAN_ERR_LIMIT;
    if (setjmp(fatal) == 0) {
        (void)msp_network_region_find(SEGMENT, 0, &chunk);
        cr_assert_fail("it goes on");
    }
}

/* ---- devices ---- */

static memspan_status_t find_device_memory(bool takes_it)
{
    const struct msp_network_limits limits = {.pins_memory = true, .takes_device_memory = takes_it};
    struct msp_network_chunk chunk;

    cr_assert_eq(begin(NULL, &limits, (uint64_t)20 * MIB), MEMSPAN_OK);
    msp_segments[SEGMENT].host_touches = false;
    return msp_network_region_find(SEGMENT, (uint64_t)16 * MIB, &chunk);
}

Test(region, device_memory_of_a_host_network)
{
    struct msp_network_region_facts facts;

    cr_assert_eq(find_device_memory(false), MEMSPAN_ERR_UNSUPPORTED);
    cr_assert_eq(fake.calls, 0);
    cr_assert_eq(warning_count, 0, "it is the usual case: %s", warning);
    msp_network_region_describe(SEGMENT, &facts);
    cr_assert(strstr(facts.why, "fake registers no device memory") != NULL, "%s", facts.why);
    expect_text(
        "by messages, which its PE executes, large blocks through a staging area: fake registers "
        "no device memory here, and its pages are elsewhere");
}

Test(region, device_memory_by_dmabuf)
{
    struct msp_network_region_facts facts;

    has_dmabuf = true;
    cr_assert_eq(find_device_memory(true), MEMSPAN_OK);
    cr_assert(fake.last.dmabuf_fd >= 0);
    cr_assert_eq(fake.last.dmabuf_offset_bytes, 4096);
    cr_assert(fake.last.device_backend != NULL);
    cr_assert_eq(fcntl(fake.last.dmabuf_fd, F_GETFD), -1, "the descriptor is left open");
    msp_network_region_describe(SEGMENT, &facts);
    cr_assert(facts.is_dmabuf);
}

/* What is there is said before it is used. */
Test(region, a_dmabuf_is_foreseen)
{
    const struct msp_network_limits limits = {.pins_memory = true, .takes_device_memory = true};

    has_dmabuf = true;
    cr_assert_eq(begin(NULL, &limits, (uint64_t)20 * MIB), MEMSPAN_OK);
    msp_segments[SEGMENT].host_touches = false;
    expect_text("(dma-buf) at first use; 0 so far");
    msp_network_region_remove(SEGMENT);
    has_dmabuf = false;
    expect_text("at first use; 0 so far, 0 B; no dma-buf");
}

Test(region, device_memory_without_dmabuf)
{
    cr_assert_eq(find_device_memory(true), MEMSPAN_OK);
    cr_assert_eq(fake.last.dmabuf_fd, -1);
    cr_assert(fake.last.device_backend != NULL);
}

/* Both a driver without dma-bufs and one that refuses this one: by the address, and it is said. */
Test(region, device_memory_whose_dmabuf_is_refused)
{
    has_dmabuf          = true;
    fake.refuses_dmabuf = true;
    cr_assert_eq(find_device_memory(true), MEMSPAN_OK);
    cr_assert_eq(fake.calls, 2);
    cr_assert_eq(fake.last.dmabuf_fd, -1);
    cr_assert(fake.last.device_backend != NULL);
    expect_text("1 so far, 4 MiB; fake: no dma-bufs");
}

/* ---- devices whose memory is pages of the host ---- */

static void find_pages(bool takes_it)
{
    struct msp_network_chunk chunk;

    host_pages = (char *)(uintptr_t)0x300000000000;
    cr_assert_eq(find_device_memory(takes_it), MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert_eq(msp_network_region_find(SEGMENT, (uint64_t)16 * MIB, &chunk), MEMSPAN_OK);
    cr_assert_eq(chunk.address, (uintptr_t)host_pages + (uint64_t)16 * MIB);
    cr_assert_eq(fake.last.base, host_pages + (ptrdiff_t)16 * MIB);
    cr_assert(fake.last.device_backend == NULL, "it is registered as a device's");
    cr_assert_eq(host_opened, 1);
    msp_network_region_remove(SEGMENT);
    cr_assert_eq(fake.live, 0);
    cr_assert_eq(host_opened, 0, "it is left open for the host");
}

Test(region, pages_of_the_host)
{
    find_pages(false);
    cr_assert_eq(fake.calls, 1);
}

Test(region, pages_of_the_host_are_said)
{
    const struct msp_network_limits limits = {.pins_memory = true};

    host_pages = (char *)(uintptr_t)0x300000000000;
    cr_assert_eq(begin(NULL, &limits, (uint64_t)20 * MIB), MEMSPAN_OK);
    msp_segments[SEGMENT].host_touches = false;
    expect_text("as pages of the host at first use; 0 so far, 0 B; fake registers no device memory "
                "here");
    (void)found((uint64_t)16 * MIB);
    expect_text("by fake, registered in chunks of 16 MiB as pages of the host at first use; 1 so "
                "far, 4 MiB; fake registers no device memory here");
}

/* A network that takes devices is asked for the memory itself first. */
Test(region, device_memory_before_pages_of_the_host)
{
    host_pages = (char *)(uintptr_t)0x300000000000;
    cr_assert_eq(find_device_memory(true), MEMSPAN_OK);
    cr_assert(fake.last.device_backend != NULL);
    cr_assert_eq(fake.calls, 1);
}

Test(region, only_memory_of_the_host_by_request)
{
    host_pages = (char *)(uintptr_t)0x300000000000;
    setenv("SHMEMX_REGISTER", "host", 1);
    cr_assert_eq(find_device_memory(true), MEMSPAN_ERR_UNSUPPORTED);
    cr_assert_eq(fake.calls, 0);
    cr_assert_eq(host_opened, 0);
    expect_text("SHMEMX_REGISTER=host");
    msp_segments[SEGMENT].host_touches = true;
    msp_network_region_remove(SEGMENT);
    (void)found(0);
}
