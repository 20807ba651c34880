/* SPDX-License-Identifier: BSD-3-Clause */
/* The guard on memory that the host may not touch: its red zones are written and read by the
 * driver. Opens the library's room, to write where no public call does. */

#include "core/debug/guard.h"
#include "machine.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *said;
static int stderr_before;

static void guard_machine(void)
{
    machine_pretend("discrete", NULL);
    setenv("MEMSPAN_DEBUG", "guard,report,noleaks", 1);
    said          = tmpfile();
    stderr_before = dup(STDERR_FILENO);
    cr_assert(said != NULL);
    dup2(fileno(said), STDERR_FILENO);
}

/* What was reported since the last time, or "". */
static const char *heard(void)
{
    static char text[16384];
    size_t n;

    rewind(said);
    n       = fread(text, 1, sizeof(text) - 1, said);
    text[n] = '\0';
    cr_assert_eq(ftruncate(fileno(said), 0), 0);
    rewind(said);
    return text;
}

static void stop_hearing(void)
{
    dup2(stderr_before, STDERR_FILENO);
    fclose(said);
}

static memspan_allocator_h allocator(const int *devices, size_t count, const char *traits)
{
    memspan_allocator_h a = MEMSPAN_ALLOCATOR_NULL;

    cr_assert_eq(machine_allocator(devices, count, traits, &a), MEMSPAN_OK, "%s",
                 memspan_error_text());
    return a;
}

/* A write by the device. */
static void write_byte(char *block, ptrdiff_t offset)
{
    struct msp_block_view view;
    const struct msp_device *d;
    char byte = 1;

    cr_assert(msp_block_find(block, &view));
    d = view.chunk->provider->spec.device;
    cr_assert_eq(d->table->copy(d->state, d->ordinal, NULL, block + offset, &byte, 1), MEMSPAN_OK);
}

static void expect_overruns_found(memspan_allocator_h a, const char *kind)
{
    char *p = memspan_alloc(a, 100);

    cr_assert_not_null(p);
    write_byte(p, 0);
    write_byte(p, 99);
    cr_expect_eq(memspan_free(p), MEMSPAN_OK);
    cr_expect_str_empty(heard(), "%s: inside the block", kind);

    p = memspan_alloc(a, 100);
    write_byte(p, 100);
    cr_expect_eq(memspan_free(p), MEMSPAN_OK);
    cr_expect(strstr(heard(), "overrun: byte 100 of a block of 100 bytes") != NULL, "%s", kind);

    p = memspan_alloc(a, 100);
    write_byte(p, -1);
    cr_expect_eq(memspan_free(p), MEMSPAN_OK);
    cr_expect(strstr(heard(), "underrun: byte -1 of a block of 100 bytes") != NULL, "%s", kind);
}

Test(guard, device_memory, .init = guard_machine, .fini = stop_hearing)
{
    expect_overruns_found(allocator(DEVICES(0), ""), "device");
}

Test(guard, managed_memory, .init = guard_machine, .fini = stop_hearing)
{
    expect_overruns_found(allocator(DEVICES(0, MEMSPAN_HOST), "memory_access=managed"), "managed");
}

Test(guard, coherent_memory, .init = guard_machine, .fini = stop_hearing)
{
    expect_overruns_found(allocator(DEVICES(0, MEMSPAN_HOST), ""), "coherent");
}

Test(guard, wrong_frees_on_a_device, .init = guard_machine, .fini = stop_hearing)
{
    char *p = memspan_alloc(allocator(DEVICES(0), ""), 100);

    cr_assert_not_null(p);
    cr_expect_eq(memspan_free(p + 4), MEMSPAN_ERR_NOT_FOUND);
    cr_expect(strstr(heard(), "4 bytes inside a block of 100 bytes") != NULL);
    cr_expect_eq(memspan_free(p), MEMSPAN_OK);
    cr_expect_str_empty(heard());
    cr_expect_eq(memspan_free(p), MEMSPAN_ERR_NOT_FOUND);
    cr_expect(strstr(heard(), "double free") != NULL);
}

/* The memory of blocks that wait is had back before a request fails. */
Test(guard, a_full_device_gets_what_waits, .init = guard_machine, .fini = stop_hearing)
{
    memspan_allocator_h a = allocator(DEVICES(0), "fallback=null_fb");
    size_t size           = (size_t)1 << 20;
    char *p;
    int i;

    /* As much as there is at once, a quarter at a time, many times over. */
    while ((p = memspan_alloc(a, size)) != NULL) {
        memspan_free(p);
        size *= 2;
    }
    size /= 2;
    for (i = 0; i < 10; i++) {
        p = memspan_alloc(a, size);
        cr_assert_not_null(p, "after %d times %zu bytes: %s", i, size, memspan_error_text());
        memspan_free(p);
    }
    machine_expect_clean();
}
