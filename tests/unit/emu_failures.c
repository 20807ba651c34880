/* SPDX-License-Identifier: BSD-3-Clause */
/* Every system call of the emulated devices' program side fails once, the n-th in the n-th round:
 * what cannot be done says so, what was done is undone, and nothing stays behind. The linker leads
 * the calls of the library's objects through here (tests/unit/CMakeLists.txt). */

#include "emu.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

static int fail_at; /* which call fails; 0: none */
static int calls;
static const char *failed;      /* its name */
static struct sigaction before; /* who had SIGSEGV */

static bool fails_now(const char *name)
{
    if ((fail_at == 0) || (++calls != fail_at)) {
        return false;
    }
    failed = name;
    errno  = ENOMEM;
    return true;
}

#define WRAP(type, failure, name, parameters, arguments)                                           \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        return fails_now(#name) ? (failure) : __real_##name arguments;                             \
    }

WRAP(void *, MAP_FAILED, mmap, (void *at, size_t size, int access, int flags, int file, off_t from),
     (at, size, access, flags, file, from))
WRAP(int, -1, mprotect, (void *at, size_t size, int access), (at, size, access))
WRAP(int, -1, memfd_create, (const char *name, unsigned flags), (name, flags))
WRAP(int, -1, ftruncate, (int file, off_t size), (file, size))
WRAP(int, -1, fallocate, (int file, int mode, off_t from, off_t size), (file, mode, from, size))
WRAP(int, -1, socketpair, (int domain, int type, int protocol, int ends[2]),
     (domain, type, protocol, ends))
WRAP(int, ENOMEM, pthread_create,
     (pthread_t * thread, const pthread_attr_t *how, void *(*run)(void *), void *argument),
     (thread, how, run, argument))
WRAP(void *, NULL, calloc, (size_t count, size_t size), (count, size))

int __real_clone(int (*run)(void *), void *stack, int flags, void *argument, ...);
int __wrap_clone(int (*run)(void *), void *stack, int flags, void *argument, ...);
int __wrap_clone(int (*run)(void *), void *stack, int flags, void *argument, ...)
{
    return fails_now("clone") ? -1 : __real_clone(run, stack, flags, argument);
}

/* Only the handler's installation: a failure there has no remedy. */
int __real_sigaction(int number, const struct sigaction *new, struct sigaction *old);
int __wrap_sigaction(int number, const struct sigaction *new, struct sigaction *old);
int __wrap_sigaction(int number, const struct sigaction *new, struct sigaction *old)
{
    bool installs = (new != NULL) && (new->sa_sigaction != before.sa_sigaction);

    return (installs && fails_now("sigaction")) ? -1 : __real_sigaction(number, new, old);
}

/* A failure is one of ours, with words. */
static bool is_done(memspan_status_t status, const char *what)
{
    if (status == MEMSPAN_OK) {
        return true;
    }
    cr_assert(failed != NULL, "%s failed by itself: %s", what, memspan_error_text());
    cr_assert_eq(memspan_error_last()->status, status, "%s", what);
    cr_assert(memspan_error_last()->message[0] != '\0', "%s", what);
    if (memspan_error_last()->call[0] != '\0') {
        cr_assert_str_eq(memspan_error_last()->call, failed);
        cr_assert_eq(memspan_error_last()->native_code,
                     (strcmp(failed, "calloc") == 0) ? 0 : ENOMEM, "%s: %s", what,
                     memspan_error_text());
    }
    memspan_error_clear();
    return false;
}

static void use_blocks(void *state, memspan_kind_t kind)
{
    memspan_request_t request = {
        .struct_size = sizeof(request), .kind = kind, .size_bytes = MIB, .align_bytes = 65536};
    unsigned char token[128];
    size_t size           = sizeof(token);
    memspan_block_t block = {0};
    memspan_block_t twin  = {0};

    if (!is_done(emu->alloc(state, 0, &request, &block), "alloc")) {
        return;
    }
    if (is_done(launch(state, 0, NULL, MEMSPAN_KERNEL_FILL, 10, 1.0, NULL, block.address),
                "launch") &&
        !is_done(emu->synchronize(state, 0, NULL), "synchronize")) {
        cr_assert_eq(emu->synchronize(state, 0, NULL), MEMSPAN_OK, "it only fails once");
    }
    if (is_done(emu->ipc_export(state, 0, &block, token, &size), "export") &&
        is_done(emu->ipc_import(state, 1, token, size, &twin), "import of a token")) {
        is_done(emu->ipc_close(state, 1, &twin), "end of an import");
    }
    is_done(emu->free(state, 0, &block), "free");
}

static void use_pages(void *state)
{
    void *pages =
        __real_mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *cookie;
    void *seen;

    cr_assert_neq(pages, MAP_FAILED);
    memset(pages, 5, MIB);
    if (is_done(emu->import(state, 1, pages, MIB, &seen, &cookie), "import")) {
        is_done(emu->release(state, 1, pages, MIB, cookie), "release");
    }
    cr_assert_eq(((char *)pages)[MIB - 1], 5, "contents survive");
    munmap(pages, MIB);
}

static void use_devices(void)
{
    memspan_kind_t kinds[]     = {MEMSPAN_KIND_DEVICE, MEMSPAN_KIND_MANAGED, MEMSPAN_KIND_COHERENT};
    memspan_device_info_t info = {.struct_size = sizeof(info)};
    void *state                = NULL;
    void *queue                = NULL;

    if (!is_done(emu->open(&memspan_services, &state), "open")) {
        return;
    }
    for (int i = 0; i < 3; i++) {
        use_blocks(state, kinds[i]);
    }
    use_pages(state);
    if (is_done(emu->queue_create(state, 0, &queue), "queue")) {
        is_done(emu->queue_destroy(state, 0, queue), "end of a queue");
    }
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(emu->device_describe(state, i, &info), MEMSPAN_OK);
        cr_assert_eq(info.free_bytes, info.capacity_bytes, "all was given back");
    }
    emu->close(state);
}

static int count_mappings(void)
{
    FILE *file = fopen("/proc/self/maps", "re");
    char line[512];
    int count = 0;

    cr_assert_not_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        count += (strstr(line, "memspan-emu") != NULL) ? 1 : 0;
    }
    fclose(file);
    return count;
}

Test(emu_failures, nothing_stays_behind)
{
    struct sigaction now;
    void *state;
    int files;

    cr_assert_eq(sigaction(SIGSEGV, NULL, &before), 0);
    state = open_two();
    emu->close(state); /* what is loaded once is loaded */
    files = count_entries("/proc/self/fd");
    for (int n = 1;; n++) {
        fail_at = n;
        calls   = 0;
        failed  = NULL;
        use_devices();
        fail_at = 0;
        cr_assert_eq(count_entries("/proc/self/fd"), files, "call %d", n);
        cr_assert_eq(count_mappings(), 0, "call %d", n);
        cr_assert_eq(waitpid(-1, NULL, WNOHANG | __WALL), -1, "call %d: a device is left", n);
        cr_assert_eq(sigaction(SIGSEGV, NULL, &now), 0);
        cr_assert_eq(now.sa_sigaction, before.sa_sigaction, "call %d: the handler is left", n);
        if (failed == NULL) {
            cr_assert_gt(n, 40, "only %d calls", n);
            break;
        }
        cr_assert_lt(n, 1000);
    }
}
