/* SPDX-License-Identifier: BSD-3-Clause */
/* conform.c: what shmem/network/driver.h promises, of any driver.
 *
 *     shmem-network-conform [-uqswt] [-n NAMESPACE,NAMESPACE] PLUGIN [CASE...]
 *
 * -u: this configuration of the driver does not detect failed processes; -q: it does by operations
 * alone; -s: its library handles signals; -w: its library starts slowly, so that the cases'
 * processes inherit one that has started; -t: another test has the cases over TCP; -n: PEs take
 * turns in the network namespaces of these names. Exits 77 when the plug-in does not open here, and
 * with -t when it chooses TCP. */

#include "tests/shmem/network/driver/bed.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct bed_case *const files[] = {
    bed_transfer_cases, bed_message_cases, bed_progress_cases, bed_memory_cases,
    bed_queue_cases,    bed_failure_cases, bed_unkind_cases,
};

static const char *plugin;
static const char *namespaces[2];
static bool detects = true;
static bool starts_slowly;
static bool leaves_tcp;

/* ---- services ---- */

static memspan_status_t fail(memspan_status_t status, const char *call, long native_code,
                             const char *native_text, const char *hint, const char *format, ...)
{
    char text[256];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    snprintf(bed.error, sizeof bed.error, "%s (%s: %ld, %s; %s)", text, (call != NULL) ? call : "",
             native_code, (native_text != NULL) ? native_text : "", (hint != NULL) ? hint : "");
    bed.status = status;
    return status;
}

static void note(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    fprintf(stderr, "PE %d: ", bed.pe);
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    va_end(list);
}

static void receive(const void *header, size_t header_bytes, const void *payload,
                    size_t payload_bytes)
{
    CHECK(bed.receive != NULL, "an unexpected message of %zu bytes", header_bytes + payload_bytes);
    bed.receive(header, header_bytes, payload, payload_bytes);
}

static void peer_failed(int pe, const char *reason)
{
    if (!bed.is_closing) {
        CHECK(reason[0] != '\0', "PE %d failed without a reason", pe);
        bed.failed_pe = pe;
        atomic_fetch_add(&bed.failures, 1);
    }
}

/* ---- a process ---- */

/* ---- the program's signals ---- */

enum { SIGNALS = 32 };
static struct sigaction handlers[SIGNALS];
static bool handles_signals;

static void note_handlers(void)
{
    int number;

    for (number = 1; number < SIGNALS; number++) {
        sigaction(number, NULL, &handlers[number]);
    }
}

/* A library leaves them alone. */
static void check_handlers(void)
{
    struct sigaction found;
    int number;

    for (number = 1; !handles_signals && (number < SIGNALS); number++) {
        if (sigaction(number, NULL, &found) == 0) {
            CHECK(found.sa_handler == handlers[number].sa_handler, "a handler of %s",
                  strsignal(number));
        }
    }
}

/* Of another host: the network's name space, and those of shared memory. */
static void enter_namespace(void)
{
    char path[256];
    int file;

    if (namespaces[0] == NULL) {
        return;
    }
    snprintf(path, sizeof path, "/run/netns/%s", namespaces[bed.pe % 2]);
    file = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(file >= 0, "%s: %s", path, strerror(errno));
    CHECK(setns(file, CLONE_NEWNET) == 0, "%s: %s", path, strerror(errno));
    CHECK(unshare(CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNS) == 0, "%s", strerror(errno));
    /* /sys shows the devices of the network in which it was mounted. */
    CHECK(mount("", "/", "", MS_REC | MS_PRIVATE, NULL) == 0, "%s", strerror(errno));
    CHECK(mount("sys", "/sys", "sysfs", 0, NULL) == 0, "%s", strerror(errno));
    CHECK(sethostname(namespaces[bed.pe % 2], strlen(namespaces[bed.pe % 2])) == 0, "%s",
          strerror(errno));
    close(file);
}

static void load(void)
{
    const struct msp_network_driver *(*entry)(const struct msp_network_services *);
    struct msp_network_services older = {.version = MSP_NETWORK_DRIVER_VERSION + 1000};
    void *library                     = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
    void *symbol;

    CHECK(library != NULL, "%s", dlerror());
    symbol = dlsym(library, MSP_NETWORK_DRIVER_ENTRY);
    CHECK(symbol != NULL, "%s", dlerror());
    memcpy(&entry, &symbol, sizeof entry);
    CHECK(entry(&older) == NULL, "services of another version are taken");
    bed.services = (struct msp_network_services){.version     = MSP_NETWORK_DRIVER_VERSION,
                                                 .fail        = fail,
                                                 .note        = note,
                                                 .warn        = note,
                                                 .receive     = receive,
                                                 .peer_failed = peer_failed};
    bed.driver   = entry(&bed.services);
    CHECK(bed.driver != NULL, "no table");
    CHECK(bed.driver->version == MSP_NETWORK_DRIVER_VERSION, "%u", bed.driver->version);
}

static void check_limits(void)
{
    CHECK(bed.limits.message_max_bytes >= 4096, "messages of %zu bytes",
          bed.limits.message_max_bytes);
    CHECK(bed.limits.put_message_max_bytes <= bed.limits.message_max_bytes, "%zu",
          bed.limits.put_message_max_bytes);
    CHECK(bed.limits.get_message_max_bytes <= bed.limits.message_max_bytes, "%zu",
          bed.limits.get_message_max_bytes);
}

static void publish_memory(size_t size_bytes)
{
    struct msp_network_region region = {.size_bytes = size_bytes, .dmabuf_fd = -1};
    size_t key_bytes                 = MSP_NETWORK_KEY_MAX;

    bed.size_bytes = size_bytes;
    if (size_bytes == 0) {
        return;
    }
    bed.base = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(bed.base != MAP_FAILED, "%s", strerror(errno));
    region.base = bed.base;
    CHECK(bed.driver->memory_register(&region, bed.shared->pes[bed.pe].key, &key_bytes,
                                      &bed.memory) == MEMSPAN_OK,
          "%zu bytes", size_bytes);
    bed.shared->pes[bed.pe].key_bytes = key_bytes;
    bed.shared->pes[bed.pe].base      = (uint64_t)(uintptr_t)bed.base;
}

static void start(const struct bed_case *test)
{
    const struct msp_network_job job = {.pe          = bed.pe,
                                        .pe_count    = bed.pe_count,
                                        .local_count = namespaces[0] ? 1 : bed.pe_count,
                                        .network_namespace =
                                            namespaces[0] ? (uint64_t)bed.pe + 1 : 1};
    size_t address_bytes             = MSP_NETWORK_ADDRESS_MAX;

    CHECK(bed.driver->open(&job, &bed.limits) == MEMSPAN_OK, "open");
    check_limits();
    CHECK(bed.driver->queue_open(true, &bed.queue) == MEMSPAN_OK, "queue");
    CHECK(bed.driver->queue_address(bed.queue, bed.shared->pes[bed.pe].address, &address_bytes) ==
              MEMSPAN_OK,
          "address");
    bed.shared->pes[bed.pe].address_bytes = address_bytes;
    publish_memory(test->size_bytes);
    bed_barrier();
}

static void finish(void)
{
    int pe;

    bed_barrier();
    bed.is_closing = true;
    bed_barrier();
    for (pe = 0; pe < bed.pe_count; pe++) {
        if (bed.keys[pe] != NULL) {
            bed.driver->key_close(bed.peers[pe], bed.keys[pe]);
        }
        if (bed.peers[pe] != NULL) {
            bed.driver->peer_close(bed.peers[pe], false);
        }
    }
    bed.driver->queue_close(bed.queue);
    if (bed.memory != NULL) {
        bed.driver->memory_release(bed.memory);
        munmap(bed.base, bed.size_bytes);
    }
    bed.driver->close();
}

static void run_process(const struct bed_case *test, int pe)
{
    bed.pe                    = pe;
    bed.shared->processes[pe] = getpid(); /* the parent may note it too late for others */
    alarm(BED_TIMEOUT_S);
    enter_namespace();
    note_handlers();
    load();
    start(test);
    check_handlers();
    test->run();
    finish();
    exit(0);
}

/* ---- cases ---- */

static bool has_failed(const struct bed_case *test, int pe, int status)
{
    if (WIFEXITED(status) && (WEXITSTATUS(status) == 0)) {
        return false;
    }
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL) &&
        (atomic_load(&bed.shared->flags[BED_FLAGS - 1]) == (uint64_t)pe + 1)) {
        return false; /* the case has killed it */
    }
    fprintf(stderr, "%s: PE %d: %s %d\n", test->name, pe,
            WIFSIGNALED(status)
                ? ((WTERMSIG(status) == SIGALRM) ? "took too long, signal" : "signal")
                : "exit status",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return true;
}

/* One failure ends the others, which would wait. */
static bool run_case(const struct bed_case *test)
{
    bool failed = false;
    pid_t process;
    int status;
    int pe;
    int i;

    memset(bed.shared, 0, sizeof *bed.shared);
    bed.name     = test->name;
    bed.pe_count = test->pe_count;
    for (pe = 0; pe < test->pe_count; pe++) {
        process = fork();
        if (process == 0) {
            run_process(test, pe);
        }
        if (process < 0) {
            perror("fork");
            abort(); /* kill(-1) ends whatever runs */
        }
        bed.shared->processes[pe] = process;
    }
    for (i = 0; i < test->pe_count; i++) {
        process = wait(&status);
        if (process < 0) {
            perror("wait");
            abort();
        }
        for (pe = 0; bed.shared->processes[pe] != process; pe++) {
        }
        if (has_failed(test, pe, status) && !failed) {
            failed = true;
            for (pe = 0; pe < test->pe_count; pe++) {
                kill(bed.shared->processes[pe], SIGTERM);
            }
        }
    }
    return !failed;
}

static bool is_wanted(const struct bed_case *test, char **names, int count)
{
    int i;

    for (i = 0; i < count; i++) {
        if (strcmp(names[i], test->name) == 0) {
            return true;
        }
    }
    return count == 0;
}

/* What a plug-in that does not open says, before all cases say it. */
static int probe(void)
{
    const struct msp_network_job job = {.pe = 0, .pe_count = 2, .local_count = 1};
    char text[256]                   = "";
    pid_t process                    = fork();
    int status                       = 0;

    if (process == 0) {
        bed.name = "probe";
        load();
        if (bed.driver->open(&job, &bed.limits) != MEMSPAN_OK) {
            printf("skip: %s\n", bed.error);
            exit(77);
        }
        bed.driver->describe(text, sizeof text);
        printf("%s: messages of %zu bytes, puts and gets by message up to %zu and %zu, done up to "
               "%zu%s%s%s\n",
               text, bed.limits.message_max_bytes, bed.limits.put_message_max_bytes,
               bed.limits.get_message_max_bytes, bed.limits.put_done_max_bytes,
               bed.limits.is_ordered ? ", ordered" : "",
               bed.limits.target_progresses ? ", progressed by targets" : "",
               bed.limits.pins_memory ? ", pins memory" : "");
        bed.driver->close();
        if (leaves_tcp && (strstr(text, "tcp") != NULL)) {
            printf("skip: the driver chooses TCP, for which there is a test of its own\n");
            exit(77);
        }
        exit(0);
    }
    waitpid(process, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* libfabric takes 0.2 to 0.45 s for its first call, in each process of each case. */
static void start_library(void)
{
    const struct msp_network_job job = {.pe = 0, .pe_count = 2, .local_count = 1};

    bed.name = "start";
    load();
    CHECK(bed.driver->open(&job, &bed.limits) == MEMSPAN_OK, "open");
    bed.driver->close();
}

static int run_all(char **names, int count)
{
    const struct bed_case *test;
    int failures = 0;
    size_t i;

    for (i = 0; i < sizeof files / sizeof files[0]; i++) {
        for (test = files[i]; test->name != NULL; test++) {
            if (is_wanted(test, names, count) && (detects || !test->needs_detection)) {
                printf("%s\n", test->name);
                fflush(stdout);
                failures += run_case(test) ? 0 : 1;
            }
        }
    }
    return failures;
}

static bool read_options(int argc, char **argv)
{
    char *second;
    int option;

    while ((option = getopt(argc, argv, "uqswtn:")) != -1) {
        if (option == 'u') {
            detects = false;
        } else if (option == 'q') {
            bed.needs_messages = true;
        } else if (option == 's') {
            handles_signals = true;
        } else if (option == 'w') {
            starts_slowly = true;
        } else if (option == 't') {
            leaves_tcp = true;
        } else if (option == 'n') {
            namespaces[0] = optarg;
            second        = strchr(optarg, ',');
            *second       = '\0';
            namespaces[1] = second + 1;
        } else {
            return false;
        }
    }
    plugin = argv[optind];
    return plugin != NULL;
}

int main(int argc, char **argv)
{
    int status;

    if (!read_options(argc, argv)) {
        return 2;
    }
    bed.shared =
        mmap(NULL, sizeof *bed.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (bed.shared == MAP_FAILED) {
        return 2;
    }
    status = probe();
    fflush(stdout);
    if (status != 0) {
        return status;
    }
    if (starts_slowly) {
        start_library();
    }
    return (run_all(argv + optind + 1, argc - optind - 1) == 0) ? 0 : 1;
}
