/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is taken to be shared is memory like any other, and leaves the process by what the
 * device says that it has; where it has nothing, it is refused when the allocator is made. What the
 * other process sees is memquery's and the backends' own tests' matter. */

#include "conform.h"
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 100000 };

static const unsigned ways = MEMSPAN_CAN_IPC | MEMSPAN_CAN_DMABUF | MEMSPAN_CAN_RDMA;

static const memspan_trait_t shareable[] = {{MEMSPAN_TRAIT_SHAREABLE, MEMSPAN_VALUE_TRUE},
                                            {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}};

static void check_token(const void *at)
{
    unsigned char token[MEMSPAN_SHARE_TOKEN_MAX_BYTES];
    size_t size   = sizeof(token);
    void *address = NULL;

    if (!conform_can(MEMSPAN_CAN_IPC)) {
        CHECK(memspan_share_export(at, token, &size) == MEMSPAN_ERR_UNSUPPORTED);
        return;
    }
    CHECK_OK(memspan_share_export(at, token, &size));
    CHECK((size > 0) && (size <= sizeof(token)));
    CHECK(memspan_share_import(token, size, conform_device()->number, &address, NULL) ==
              MEMSPAN_ERR_UNSUPPORTED,
          "no process opens its own memory");
    CHECK(address == NULL);
}

static void check_dmabuf(const void *at)
{
    uint64_t offset = 0;
    int fd          = -1;
    int again       = -1;

    if (!conform_can(MEMSPAN_CAN_DMABUF)) {
        CHECK(memspan_share_dmabuf(at, BYTES, &fd, &offset) == MEMSPAN_ERR_UNSUPPORTED);
        CHECK(fd == -1);
        return;
    }
    CHECK_OK(memspan_share_dmabuf(at, BYTES, &fd, &offset));
    CHECK_OK(memspan_share_dmabuf(at, BYTES, &again, &offset));
    CHECK(fd != again, "each is a descriptor of the caller's own");
    CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);
    CHECK(close(fd) == 0);
    CHECK(close(again) == 0);
}

static void shareable_memory_is_memory(void)
{
    static unsigned char bytes[BYTES];
    static unsigned char seen[BYTES];
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    unsigned char *at;
    size_t i;

    if (conform_is_host() || !conform_offers(MEMSPAN_KIND_DEVICE) || !conform_can(ways)) {
        CHECK(memspan_allocator_create(conform_own_space(), shareable, 2, &allocator) ==
              MEMSPAN_ERR_UNSUPPORTED);
        CHECK(strstr(memspan_error_last()->message, "shareable=true") != NULL);
        CHECK(memspan_error_last()->hint[0] != '\0', "and what would help");
        return;
    }
    allocator = conform_allocator(conform_own_space(), shareable, 2);
    CHECK_OK(memspan_allocator_describe(allocator, &info));
    CHECK((info.shareable == 1) && (info.kind_given == MEMSPAN_KIND_DEVICE) && !info.migratable);
    at = memspan_alloc(allocator, BYTES);
    CHECK(at != NULL, "%s", memspan_error_text());
    for (i = 0; i < BYTES; i++) {
        bytes[i] = conform_byte(5, i);
    }
    CHECK_OK(memspan_copy(at, bytes, BYTES));
    CHECK_OK(memspan_copy(seen, at, BYTES));
    CHECK_BYTES(memcmp(seen, bytes, BYTES) == 0);
    check_token(at + 100);
    check_dmabuf(at);
    CHECK_OK(memspan_free(at));
    CHECK_OK(memspan_allocator_destroy(allocator));
}

static void other_memory_is_not_shared(void)
{
    unsigned char token[MEMSPAN_SHARE_TOKEN_MAX_BYTES];
    size_t size = sizeof(token);
    struct conform_memory m;
    int i;

    for (i = 0; conform_kind(i, &m); i++) {
        void *at = memspan_alloc(m.allocator, 1000);

        CHECK(at != NULL, "%s", memspan_error_text());
        CHECK(memspan_share_export(at, token, &size) == MEMSPAN_ERR_UNSUPPORTED);
        CHECK(strstr(memspan_error_last()->hint, "shareable=true") != NULL);
        CHECK_OK(memspan_free(at));
        conform_done(&m);
    }
}

/* Device memory whose pages are the host's is reached there while the device works, and memquery's
 * note says whether it is. */
static void device_memory_is_open_for_the_host(void)
{
    const char *note = conform_device()->info.capability_note[__builtin_ctz(MEMSPAN_CAN_RDMA)];
    static unsigned char seen[BYTES];
    struct conform_memory m;
    int i;

    for (i = 0; conform_kind(i, &m); i++) {
        unsigned char *at       = memspan_alloc(m.allocator, BYTES);
        unsigned char *host     = NULL;
        memspan_status_t status = memspan_share_host_open(at + 1000, BYTES - 1000, (void **)&host);

        CHECK(at != NULL, "%s", memspan_error_text());
        if (m.kind == MEMSPAN_KIND_DEVICE) {
            CHECK((status == MEMSPAN_OK) == (strstr(note, "a network registers") != NULL), "%s",
                  note);
        }
        if (status == MEMSPAN_OK) {
            CHECK(m.kind == MEMSPAN_KIND_DEVICE);
            memset(seen, 77, sizeof(seen));
            CHECK_OK(memspan_copy(at, seen, BYTES));
            conform_wait();
            CHECK_BYTES((host[0] == 77) && (host[BYTES - 1001] == 77));
            host[5] = 3;
            CHECK_OK(memspan_copy(seen, at, BYTES));
            CHECK_BYTES((seen[1004] == 77) && (seen[1005] == 3) && (seen[1006] == 77));
            CHECK(memspan_share_host_open(at + 1, BYTES, (void **)&host) == MEMSPAN_ERR_INVALID);
            CHECK_OK(memspan_share_host_close(at + 1000, BYTES - 1000));
        } else {
            CHECK(status == MEMSPAN_ERR_UNSUPPORTED, "%s", memspan_error_text());
            CHECK(memspan_error_last()->message[0] != '\0');
            CHECK(host == NULL);
        }
        CHECK_OK(memspan_free(at));
        conform_done(&m);
    }
}

const struct conform_case conform_share_cases[] = {
    {"device_memory_is_open_for_the_host", device_memory_is_open_for_the_host},
    {"shareable_memory_is_memory", shareable_memory_is_memory},
    {"other_memory_is_not_shared", other_memory_is_not_shared},
    {NULL, NULL},
};
