/* SPDX-License-Identifier: BSD-3-Clause */
/* The trait shareable, and device memory that another process opens: on emulated devices, which are
 * always there. The other process is made before any driver is opened. */

#include "api.h"
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 40000, NUMBERS = BYTES / sizeof(double), PAST = 17 };
enum { SIZE_AT = 32 }; /* in a token: its memory's bytes */

static int other_end = -1; /* to the other process */
static pid_t other;

struct letter {
    unsigned char token[MEMSPAN_SHARE_TOKEN_MAX_BYTES];
    size_t size;
};

#define NEED(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s\n", __LINE__, memspan_error_text());                      \
            return __LINE__ & 0x7f;                                                                \
        }                                                                                          \
    } while (0)

/* The other process: reads, writes, computes, and knows what it has. 0: all was as it should be. */
static int use(const struct letter *letter)
{
    static double numbers[NUMBERS];
    memspan_pointer_info_t info = {.struct_size = sizeof(info)};
    memspan_kernel_call_t call  = {
         .struct_size = sizeof(call), .kernel = MEMSPAN_KERNEL_FILL, .count = 100, .a = 3.0};
    memspan_reach_t reach;
    unsigned char changed[MEMSPAN_SHARE_TOKEN_MAX_BYTES];
    void *first  = NULL;
    void *second = NULL;
    size_t size  = 0;

    memcpy(changed, letter->token, sizeof(changed));
    changed[0] ^= 1;
    NEED(memspan_share_import(changed, letter->size, 0, &first, NULL) == MEMSPAN_ERR_INVALID);
    NEED(memspan_share_import(letter->token, letter->size - 1, 0, &first, NULL) ==
         MEMSPAN_ERR_INVALID);
    memcpy(changed, letter->token, sizeof(changed));
    memset(changed + SIZE_AT, 0, sizeof(uint64_t));
    NEED(memspan_share_import(changed, letter->size, 0, &first, NULL) == MEMSPAN_ERR_INVALID);
    NEED(memspan_share_import(letter->token, letter->size, MEMSPAN_HOST, &first, NULL) ==
         MEMSPAN_ERR_CONFLICT);
    NEED(memspan_share_import(letter->token, letter->size, NO_DEVICE, &first, NULL) ==
         MEMSPAN_ERR_NOT_FOUND);
    NEED(first == NULL);
    NEED(memspan_share_import(letter->token, letter->size, 0, &first, &size) == MEMSPAN_OK);
    NEED(memspan_share_import(letter->token, letter->size, MEMSPAN_SHARE_ITS_DEVICE, &second,
                              NULL) == MEMSPAN_OK);
    NEED((second == first) && (memspan_share_close(second) == MEMSPAN_OK));
    NEED(size == BYTES - PAST);
    NEED(memspan_share_import(letter->token, letter->size, 0, &second, NULL) == MEMSPAN_OK);
    NEED(second == first); /* opened once, counted twice */
    NEED(memspan_share_close(second) == MEMSPAN_OK);
    NEED(memspan_copy(numbers, first, 800) == MEMSPAN_OK);
    NEED(numbers[99] == 99.0);
    first = (char *)first - PAST + 24; /* to a boundary of doubles */
    NEED(memspan_pointer_describe(first, &info) == MEMSPAN_OK);
    NEED((info.kind_given == MEMSPAN_KIND_DEVICE) && (info.home == 0) && (info.opened == 1));
    NEED((memspan_pointer_reach(first, MEMSPAN_HOST, &reach) == MEMSPAN_OK) &&
         (reach.access == MEMSPAN_ACCESS_COPY));
    NEED(memspan_copy(numbers, first, 100 * BYTES) == MEMSPAN_ERR_INVALID);
    call.z = first;
    NEED((memspan_kernel_launch(0, &call) == MEMSPAN_OK) &&
         (memspan_device_synchronize(0) == MEMSPAN_OK));
    NEED(memspan_share_close(first) == MEMSPAN_OK);
    NEED(memspan_share_close(first) == MEMSPAN_ERR_NOT_FOUND);
    NEED(memspan_pointer_describe(first, &info) == MEMSPAN_ERR_NOT_FOUND);
    return (memspan_check() == MEMSPAN_OK) ? 0 : 1;
}

static void make_other(void)
{
    struct letter letter;
    int ends[2];

    setenv("MEMSPAN_DEVICES", "emu:2", 1);
    cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    other = fork();
    if (other == 0) {
        close(ends[1]);
        _exit((recv(ends[0], &letter, sizeof(letter), 0) == (ssize_t)sizeof(letter)) ? use(&letter)
                                                                                     : 0);
    }
    close(ends[0]);
    other_end = ends[1];
}

/* A process without a letter ends by itself. */
static void end(void)
{
    int status = -1;

    close(other_end);
    cr_assert_eq(waitpid(other, &status, 0), other);
    cr_expect(WIFEXITED(status) && (WEXITSTATUS(status) == 0), "the other process: %x", status);
    in_order();
}

TestSuite(share, .init = make_other, .fini = end, .timeout = 60);

static memspan_space_h device_space(void)
{
    int device            = 0;
    memspan_space_h space = MEMSPAN_SPACE_NULL;

    if (memspan_device_count() == 0) {
        cr_skip_test("no emulated devices here");
    }
    DONE(memspan_space_get(&device, 1, MEMSPAN_SPACE_NULL, &space));
    return space;
}

static memspan_allocator_h make(memspan_trait_value_t shareable)
{
    memspan_trait_t trait         = {MEMSPAN_TRAIT_SHAREABLE, shareable};
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;

    DONE(memspan_allocator_create(device_space(), &trait, 1, &allocator));
    return allocator;
}

Test(share, another_process_opens_what_was_taken_to_be_shared)
{
    memspan_allocator_h allocator  = make(MEMSPAN_VALUE_TRUE);
    memspan_allocator_info_t about = {.struct_size = sizeof(about)};
    memspan_pointer_info_t info    = {.struct_size = sizeof(info)};
    char *block                    = memspan_alloc(allocator, BYTES);
    struct letter letter           = {.size = sizeof(letter.token)};
    static double numbers[NUMBERS];
    void *address;
    int i;

    cr_assert_not_null(block, "%s", memspan_error_text());
    DONE(memspan_allocator_describe(allocator, &about));
    cr_expect_eq(about.shareable, 1);
    DONE(memspan_pointer_describe(block, &info));
    cr_expect_eq(info.shareable, 1);
    for (i = 0; i < NUMBERS; i++) {
        numbers[i] = i;
    }
    /* From an address inside the block. */
    DONE(memspan_copy(block + PAST, numbers, BYTES - PAST));
    DONE(memspan_share_export(block + PAST, letter.token, &letter.size));
    REFUSED(memspan_share_import(letter.token, letter.size, 0, &address, NULL),
            MEMSPAN_ERR_UNSUPPORTED, "this process");
    cr_assert_eq(send(other_end, &letter, sizeof(letter), 0), (ssize_t)sizeof(letter));
    cr_assert_eq(waitid(P_PID, (id_t)other, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
    DONE(memspan_copy(numbers, block + 24, 100 * sizeof(double)));
    for (i = 0; i < 100; i++) {
        cr_assert_eq(numbers[i], 3.0, "%d: %g", i, numbers[i]);
    }
    DONE(memspan_free(block));
    DONE(memspan_allocator_destroy(allocator));
}

Test(share, only_what_was_taken_for_it)
{
    memspan_allocator_h allocator = make(MEMSPAN_VALUE_FALSE);
    memspan_allocator_h shareable = make(MEMSPAN_VALUE_TRUE);
    void *block                   = memspan_alloc(allocator, BYTES);
    void *shared                  = memspan_alloc(shareable, BYTES);
    struct letter letter          = {.size = sizeof(letter.token)};
    uint64_t offset               = 0;
    size_t size                   = 3;
    int mine                      = 0;
    int fd                        = -1;

    cr_assert((block != NULL) && (shared != NULL), "%s", memspan_error_text());
    REFUSED(memspan_share_export(block, letter.token, &letter.size), MEMSPAN_ERR_UNSUPPORTED,
            "shareable=true");
    REFUSED(memspan_share_dmabuf(block, BYTES, &fd, &offset), MEMSPAN_ERR_UNSUPPORTED,
            "shareable=true");
    REFUSED(memspan_share_export(&mine, letter.token, &letter.size), MEMSPAN_ERR_NOT_FOUND,
            "not in a live block");
    REFUSED(memspan_share_export(NULL, letter.token, &letter.size), MEMSPAN_ERR_NOT_FOUND, "");
    REFUSED(memspan_share_export(shared, letter.token, NULL), MEMSPAN_ERR_INVALID, "NULL");
    REFUSED(memspan_share_export(shared, letter.token, &size), MEMSPAN_ERR_INVALID, "not enough");
    DONE(memspan_share_export(shared, NULL, &size));
    cr_expect((size > 3) && (size <= MEMSPAN_SHARE_TOKEN_MAX_BYTES), "%zu", size);
    REFUSED(memspan_share_dmabuf(shared, BYTES, &fd, &offset), MEMSPAN_ERR_UNSUPPORTED, "dma-buf");
    REFUSED(memspan_share_dmabuf(shared, BYTES + 1, &fd, &offset), MEMSPAN_ERR_INVALID,
            "past their block");
    REFUSED(memspan_share_dmabuf(shared, 0, &fd, &offset), MEMSPAN_ERR_INVALID, "");
    REFUSED(memspan_share_close(&mine), MEMSPAN_ERR_NOT_FOUND, "another process");
    DONE(memspan_share_close(NULL));
    cr_expect_eq(fd, -1);
    DONE(memspan_free(block));
    DONE(memspan_free(shared));
    DONE(memspan_allocator_destroy(allocator));
    DONE(memspan_allocator_destroy(shareable));
}

Test(share, what_contradicts_it)
{
    memspan_trait_t managed[]     = {{MEMSPAN_TRAIT_SHAREABLE, MEMSPAN_VALUE_TRUE},
                                     {MEMSPAN_TRAIT_MEMORY_ACCESS, MEMSPAN_VALUE_MANAGED}};
    memspan_trait_t wrong         = {MEMSPAN_TRAIT_SHAREABLE, 7};
    memspan_trait_t coherent[]    = {{MEMSPAN_TRAIT_SHAREABLE, MEMSPAN_VALUE_TRUE},
                                     {MEMSPAN_TRAIT_MEMORY_ACCESS, MEMSPAN_VALUE_COHERENT}};
    int list[]                    = {MEMSPAN_HOST, 0};
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    memspan_space_h both          = MEMSPAN_SPACE_NULL;
    memspan_trait_t parsed;
    size_t count = 0;

    REFUSED(memspan_allocator_create(device_space(), managed, 2, &allocator), MEMSPAN_ERR_CONFLICT,
            "shareable=true");
    REFUSED(memspan_allocator_create(device_space(), managed, 2, &allocator), MEMSPAN_ERR_CONFLICT,
            "memory_access=managed");
    REFUSED(memspan_allocator_create(device_space(), coherent, 2, &allocator),
            MEMSPAN_ERR_UNSUPPORTED, "leave out memory_access");
    REFUSED(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, managed, 1, &allocator),
            MEMSPAN_ERR_UNSUPPORTED, "shareable=true");
    DONE(memspan_space_get(list, 2, MEMSPAN_SPACE_NULL, &both));
    REFUSED(memspan_allocator_create(both, managed, 1, &allocator), MEMSPAN_ERR_UNSUPPORTED,
            "device 0 alone");
    REFUSED(memspan_allocator_create(device_space(), &wrong, 1, &allocator), MEMSPAN_ERR_INVALID,
            "shareable");
    cr_expect_eq(allocator, MEMSPAN_ALLOCATOR_NULL);
    DONE(memspan_trait_parse("shareable=true", &parsed, 1, &count));
    cr_expect((parsed.key == MEMSPAN_TRAIT_SHAREABLE) && (parsed.value == MEMSPAN_VALUE_TRUE));
}
