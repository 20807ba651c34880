/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: registering, keys, and what is refused. */

#include "tests/shmem/network/driver/bed.h"
#include <string.h>
#include <sys/mman.h>

enum { REGIONS = 64, REGION_BYTES = 64 << 10, ROUNDS = 4 };

static char *map(size_t size_bytes)
{
    char *memory =
        mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(memory != MAP_FAILED, "%zu bytes", size_bytes);
    return memory;
}

/* Over TCP libfabric's key is all that a stranger lacks: no number near the last one. It is behind
 * the memory's address and size. */
static void refuse_counted_key(const char *key)
{
    static uint64_t last;
    uint64_t now;

    if ((strcmp(bed.driver->name, "ofi") == 0) && bed.limits.is_open_to_strangers) {
        memcpy(&now, key + (2 * sizeof now), sizeof now);
        CHECK((now - last > UINT32_MAX) && (last - now > UINT32_MAX), "%#lx after %#lx",
              (unsigned long)now, (unsigned long)last);
        last = now;
    }
}

/* Regions that come and go, several at a time; their keys are put into the flags' place by hand. */
static void many_regions(void)
{
    struct msp_network_memory *memories[REGIONS];
    struct msp_network_region region = {.size_bytes = REGION_BYTES, .dmabuf_fd = -1};
    char key[MSP_NETWORK_KEY_MAX];
    char *base = map((size_t)REGIONS * REGION_BYTES);
    size_t key_bytes;
    int round;
    int i;

    for (round = 0; round < ROUNDS; round++) {
        for (i = 0; i < REGIONS; i++) {
            region.base = base + ((size_t)i * REGION_BYTES);
            key_bytes   = sizeof key;
            CHECK(bed.driver->memory_register(&region, key, &key_bytes, &memories[i]) == MEMSPAN_OK,
                  "region %d", i);
            CHECK((key_bytes > 0) && (key_bytes <= sizeof key), "%zu", key_bytes);
            refuse_counted_key(key);
        }
        for (i = REGIONS - 1; i >= 0; i--) {
            bed.driver->memory_release(memories[i]);
        }
    }
    munmap(base, (size_t)REGIONS * REGION_BYTES);
}

/* The owner registers another region, which PE 1 uses beside the first; then again elsewhere. */
static void register_again(void)
{
    struct msp_network_region region  = {.size_bytes = REGION_BYTES, .dmabuf_fd = -1};
    struct msp_network_memory *memory = NULL;
    struct msp_network_key *key;
    uint64_t value;
    uint64_t round;

    for (round = 1; round <= ROUNDS; round++) {
        if (bed.pe == 0) {
            region.base                  = map(REGION_BYTES);
            bed.shared->pes[0].key_bytes = MSP_NETWORK_KEY_MAX;
            bed.shared->pes[0].base      = (uint64_t)(uintptr_t)region.base;
            CHECK(bed.driver->memory_register(&region, bed.shared->pes[0].key,
                                              &bed.shared->pes[0].key_bytes, &memory) == MEMSPAN_OK,
                  "round %lu", (unsigned long)round);
        }
        bed_barrier();
        if (bed.pe == 1) {
            key = bed_open_key(bed_peer(0), 0);
            bed_put(bed.queue, bed_peer(0), key, bed_address(0, REGION_BYTES - 8), &round, 8);
            bed_flush(bed.queue, bed_peer(0));
            bed_get(bed.queue, bed_peer(0), key, bed_address(0, REGION_BYTES - 8), &value, 8);
            CHECK(value == round, "%lu", (unsigned long)value);
            bed.driver->key_close(bed_peer(0), key);
        }
        bed_barrier();
        if (bed.pe == 0) {
            CHECK(memcmp((char *)region.base + REGION_BYTES - 8, &round, 8) == 0, "the last word");
            bed.driver->memory_release(memory);
            munmap(region.base, REGION_BYTES);
        }
    }
}

/* Memory of devices, where there are none, and keys that do not fit: words, no memory. */
static void refusals(void)
{
    static const char *const backends[] = {"cuda", "hip", "level_zero", "abacus"};
    struct msp_network_region region    = {.size_bytes = REGION_BYTES, .dmabuf_fd = -1};
    struct msp_network_memory *memory   = NULL;
    char key[MSP_NETWORK_KEY_MAX];
    size_t key_bytes;
    size_t i;

    region.base = map(REGION_BYTES);
    for (i = 0; i < sizeof backends / sizeof backends[0]; i++) {
        if (bed.limits.takes_device_memory && (i < 3)) {
            continue;
        }
        region.device_backend = backends[i];
        key_bytes             = sizeof key;
        bed.error[0]          = '\0';
        CHECK(bed.driver->memory_register(&region, key, &key_bytes, &memory) ==
                  MEMSPAN_ERR_UNSUPPORTED,
              "memory of %s", backends[i]);
        CHECK(strstr(bed.error, backends[i]) != NULL, "the error does not name it");
    }
    region.device_backend = NULL;
    key_bytes             = 1;
    CHECK(bed.driver->memory_register(&region, key, &key_bytes, &memory) != MEMSPAN_OK,
          "a key of one byte");
    CHECK(memory == NULL, "memory all the same");
    munmap(region.base, REGION_BYTES);
}

static void words(void)
{
    char text[256] = "";
    char small[8]  = "";

    bed.driver->describe(text, sizeof text);
    CHECK((text[0] != '\0') && (memchr(text, '\0', sizeof text) != NULL), "nothing");
    bed.driver->describe(small, sizeof small);
    CHECK(memchr(small, '\0', sizeof small) != NULL, "no end");
    if (bed.driver->peer_describe != NULL) {
        memset(text, 1, sizeof text);
        bed.driver->peer_describe(bed_peer(1 - bed.pe), text, sizeof text);
        CHECK(memchr(text, '\0', sizeof text) != NULL, "no end");
        bed.driver->peer_describe(bed_peer(1 - bed.pe), small, sizeof small);
        CHECK(memchr(small, '\0', sizeof small) != NULL, "no end");
    }
    CHECK(bed.driver->name[0] != '\0', "no name");
}

const struct bed_case bed_memory_cases[] = {
    {"many_regions", 1, 0, many_regions, false},
    {"register_again", 2, 0, register_again, false},
    {"refusals", 1, 0, refusals, false},
    {"words", 2, 0, words, false},
    {NULL, 0, 0, NULL, false},
};
