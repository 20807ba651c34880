/* SPDX-License-Identifier: BSD-3-Clause */
/* Drivers that do more than answer while they are opened, and forks while drivers work. */

#include "control.h"
#include "machine.h"
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGES_BYTES = 1 << 16 };

TestSuite(opening, .timeout = 30);

/* The library's fork handlers are there from the first allocation on. */
static void allocate_first(void)
{
    memspan_free(memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 100));
}

Test(opening, a_driver_starts_a_program)
{
    memspan_space_h space;
    int device = 0;

    setenv("FAKE_OPENING", "forks", 1);
    setenv("MEMSPAN_DRIVER_TIMEOUT", "5", 1);
    machine_pretend("discrete", NULL);
    allocate_first();
    cr_expect_eq(memspan_space_get(&device, 1, MEMSPAN_SPACE_NULL, &space), MEMSPAN_OK, "%s",
                 memspan_error_text());
    cr_expect_eq(memspan_device_count(), 1);
}

Test(opening, a_driver_starts_a_program_on_the_callers_thread)
{
    setenv("FAKE_OPENING", "forks", 1);
    setenv("MEMSPAN_DRIVER_TIMEOUT", "0", 1);
    machine_pretend("discrete", NULL);
    allocate_first();
    cr_expect_eq(memspan_device_count(), 1);
}

Test(opening, a_driver_asks_back)
{
    setenv("FAKE_OPENING", "asks", 1);
    setenv("MEMSPAN_DRIVER_TIMEOUT", "5", 1);
    machine_pretend("discrete", NULL);
    cr_expect_eq(memspan_device_count(), 1);
}

Test(opening, a_driver_that_comes_late_is_closed_again)
{
    int i;

    setenv("FAKE_OPENING", "late", 1);
    setenv("MEMSPAN_DRIVER_TIMEOUT", "1", 1);
    machine_pretend("discrete", NULL);
    cr_expect_eq(memspan_device_count(), 0);
    for (i = 0; (i < 100) && (atomic_load(&machine_control(0)->closed) == 0); i++) {
        usleep(50000);
    }
    cr_expect_eq(atomic_load(&machine_control(0)->closed), 1);
    cr_expect_eq(memspan_device_count(), 0);
}

/* ---- plug-ins that do not come back, or say what cannot be ---- */

static void expect_off(const char *how, const char *words)
{
    memspan_backend_info_t info = {.struct_size = sizeof(info)};
    bool found                  = false;
    int i;

    setenv("FAKE_OPENING", how, 1);
    setenv("MEMSPAN_DRIVER_TIMEOUT", "1", 1);
    machine_pretend("discrete", NULL);
    setenv("MEMSPAN_LOG", "off", 1);
    for (i = 0; i < memspan_backend_count(); i++) {
        cr_assert_eq(memspan_backend_describe(i, &info), MEMSPAN_OK);
        if (strstr(info.origin, "fakea") != NULL) {
            found = true;
            cr_expect(!info.on && (info.status == MEMSPAN_ERR_DRIVER), "%s", info.reason);
            cr_expect_neq(strstr(info.reason, words), NULL, "\"%s\" does not say \"%s\"",
                          info.reason, words);
        }
    }
    cr_assert(found);
    cr_expect_eq(memspan_device_count(), 0);
    allocate_first();
}

Test(opening, a_plugin_whose_open_hangs_is_off)
{
    expect_off("hangs", "the driver did not answer within 1 s");
}

Test(opening, a_plugin_whose_device_count_hangs_is_off)
{
    expect_off("count_hangs", "the driver did not answer within 1 s");
}

Test(opening, a_plugin_whose_description_hangs_is_off)
{
    expect_off("describe_hangs", "the driver did not answer within 1 s");
}

Test(opening, a_plugin_whose_entry_hangs_is_off)
{
    expect_off("entry_hangs", "memspan_backend_entry() did not answer within 1 s");
}

Test(opening, a_number_of_devices_that_cannot_be_is_not_believed)
{
    expect_off("absurd", "its driver claims 2147483647 devices; more than 1024 are not believed");
}

/* As those of the thread that needed the driver, so that SIGTERM finds one when main has ended. */
Test(opening, a_thread_of_a_driver_has_the_signals_of_the_program)
{
    setenv("FAKE_OPENING", "starts", 1);
    machine_pretend("discrete", NULL);
    cr_assert_eq(memspan_device_count(), 1);
    cr_expect_eq(atomic_load(&machine_control(0)->blocks_term), -1);
}

/* ---- threads ---- */

static void *use_host(void *unused)
{
    memspan_free(memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 100));
    return unused;
}

/* OpenMP runtimes end their threads when the drivers have ended. */
Test(opening, a_thread_that_ends_calls_no_driver)
{
    enum { BLOCKS = 8, BYTES = 300000 };
    void *blocks[BLOCKS];
    memspan_allocator_h a;
    pthread_t thread;
    long before;
    int i;

    setenv("MEMSPAN_DECAY_MS", "10", 1);
    machine_pretend("discrete", NULL);
    cr_assert_eq(machine_allocator(DEVICES(0), "", &a), MEMSPAN_OK);
    for (i = 0; i < BLOCKS; i++) {
        blocks[i] = memspan_alloc(a, BYTES);
    }
    for (i = 0; i < BLOCKS; i++) {
        cr_assert_eq(memspan_free(blocks[i]), MEMSPAN_OK);
    }
    (void)memspan_check();
    before = atomic_load(&machine_control(0)->blocks);
    cr_assert_gt(before, 0, "what is to decay");
    usleep(50000);
    cr_assert_eq(pthread_create(&thread, NULL, use_host, NULL), 0);
    pthread_join(thread, NULL);
    cr_expect_eq(atomic_load(&machine_control(0)->blocks), before);
    machine_expect_clean();
}

/* ---- forks ---- */

static atomic_int imported; /* 1, or -1 */

static void *import_slowly(void *pages)
{
    int device = 0;

    pthread_detach(pthread_self());
    atomic_store(&imported,
                 (memspan_import(pages, PAGES_BYTES, &device, 1) == MEMSPAN_OK) ? 1 : -1);
    return NULL;
}

Test(opening, a_child_forked_while_pages_are_imported_has_no_lock_in_its_way)
{
    void *pages =
        mmap(NULL, PAGES_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = -1;
    pthread_t thread;
    pid_t child;

    cr_assert_neq(pages, MAP_FAILED);
    machine_pretend("import", NULL);
    cr_assert_eq(memspan_device_count(), 1);
    atomic_store(&machine_control(0)->import_ms, 300);
    cr_assert_eq(pthread_create(&thread, NULL, import_slowly, pages), 0);
    usleep(100000);
    child = fork();
    if (child == 0) {
        alarm(10);
        _exit((memspan_import_release((char *)pages + 1) == MEMSPAN_ERR_NOT_FOUND) ? 0 : 1);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFEXITED(status) && (WEXITSTATUS(status) == 0), "%x", status);
    while (atomic_load(&imported) == 0) {
        usleep(10000);
    }
    cr_expect_eq(atomic_load(&imported), 1);
    cr_expect_eq(memspan_import_release(pages), MEMSPAN_OK);
    cr_expect_eq(atomic_load(&machine_control(0)->imports), 0);
}
