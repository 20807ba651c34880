/* SPDX-License-Identifier: BSD-3-Clause */
/* worker ROW default|custom [quick]: measures one row and writes its points. "describe" reports
 * the library; "start" allocates once and ends. */

#include "bench/alloc/worker/worker.h"
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct {
    const char *name;
    worker_row_fn run;
} rows[] = {
    {"pair", worker_pair},           {"random", worker_random},
    {"threads", worker_threads},     {"producer-consumer", worker_handover},
    {"footprint", worker_footprint}, {"limit", worker_limit},
    {"init", worker_init},           {"lookup", worker_lookup},
    {"team", worker_team},           {"device-mix", worker_device},
    {"fill", worker_fill_uniform},   {"fill-log", worker_fill_log},
    {"growth", worker_growth},       {"large", worker_large},
    {"retention", worker_kept},      {"retention-phases", worker_phases},
    {"arrays", worker_arrays},       {"many", worker_many},
};

/* stdio's own buffer would come from the allocator under test. */
static char output[4096];

void worker_point(const char *name, double value)
{
    printf("%s %.9g\n", name, value);
    (void)fflush(stdout); /* a figure counts also where the process crashes later */
}

double worker_median(double *values, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        for (size_t j = i; (j > 0) && (values[j] < values[j - 1]); j--) {
            double higher = values[j - 1];
            values[j - 1] = values[j];
            values[j]     = higher;
        }
    }
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

void **worker_blocks(size_t count)
{
    void *blocks = mmap(NULL, count * sizeof(void *), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (blocks == MAP_FAILED) {
        (void)worker_complain("no memory for the table of blocks");
        return NULL;
    }
    return blocks;
}

bool worker_complain(const char *what)
{
    fprintf(stderr, "%s\n", what);
    return false;
}

/* ---- describe: path, build id, and the version where the library has a call for it ---- */

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

struct search {
    const char *path;
    char build_id[64];
};

static void read_note(const ElfW(Phdr) * header, uintptr_t base, struct search *search)
{
    const char *at  = (const char *)(base + header->p_vaddr);
    const char *end = at + header->p_memsz;

    while (at + sizeof(ElfW(Nhdr)) <= end) {
        const ElfW(Nhdr) *note    = (const ElfW(Nhdr) *)(const void *)at;
        const unsigned char *text = (const unsigned char *)at + sizeof(*note);
        const unsigned char *id   = text + ((note->n_namesz + 3) & ~3u);
        if ((note->n_type == NT_GNU_BUILD_ID) && (note->n_namesz == 4) &&
            (memcmp(text, "GNU", 4) == 0)) {
            for (size_t i = 0; (i < note->n_descsz) && (i < 6); i++) {
                (void)snprintf(search->build_id + 2 * i, 3, "%02x", id[i]);
            }
        }
        at = (const char *)id + ((note->n_descsz + 3) & ~3u);
    }
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct search *search = argument;

    (void)size;
    if (strcmp(info->dlpi_name, search->path) != 0) {
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_NOTE) {
            read_note(&info->dlpi_phdr[i], info->dlpi_addr, search);
        }
    }
    return 1;
}

/* ISO C has no conversion from an object's address to a function's. */
static bool find_function(const char *name, void *function_p)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);

    memcpy(function_p, &symbol, sizeof(symbol));
    return symbol != NULL;
}

static void print_version(const char *library)
{
    int (*number)(void);
    const char *(*text)(void);
    int (*control)(const char *name, void *old, size_t *old_size, void *new, size_t new_size);
    const char *version = NULL;
    size_t size         = sizeof(version);

    if ((strncmp(KIND_VERSION_SYMBOL, "memkind", 7) == 0) &&
        find_function("memkind_get_version", &number)) {
        printf("version %d.%d.%d\n", number() / 1000000, number() / 1000 % 1000, number() % 1000);
    } else if (find_function("mi_version", &number)) {
        /* three digits until 3.0, five (Mmmpp) since */
        int n = number();
        n < 1000 ? printf("version %d.%d.%d\n", n / 100, n / 10 % 10, n % 10)
                 : printf("version %d.%d.%d\n", n / 10000, n / 100 % 100, n % 100);
    } else if (find_function("mallctl", &control) &&
               (control("version", &version, &size, NULL, 0) == 0)) {
        printf("version %.*s\n", (int)strcspn(version, "-"), version);
    } else if (find_function("memspan_version", &text)) {
        printf("version %s\n", text());
    } else if (strstr(library, "/libc.so") != NULL) {
        printf("version %s\n", gnu_get_libc_version());
    }
}

static int describe(void)
{
    void *memkind = dlopen("libmemkind.so", RTLD_LAZY | RTLD_NOLOAD);
    Dl_info facts;
    struct search search = {NULL, ""};
    void *symbol         = dlsym(RTLD_DEFAULT, KIND_VERSION_SYMBOL);
    char *path;

    if ((symbol == NULL) || (dladdr(symbol, &facts) == 0)) {
        (void)worker_complain("no library defines " KIND_VERSION_SYMBOL);
        return 1;
    }
    search.path = facts.dli_fname;
    (void)dl_iterate_phdr(visit_object, &search);
    path = realpath(facts.dli_fname, NULL);
    printf("library %s\nbuild-id %s\nmemkind %d\n", (path != NULL) ? path : facts.dli_fname,
           search.build_id, memkind != NULL);
    printf("build %s, %s\n", WORKER_BUILD, COMPILER);
    print_version(facts.dli_fname);
    free(path);
    return 0;
}

/* The parent reads the time of the process, so it does nothing else. */
static int start(bool custom)
{
    kind_allocator allocator;
    void *block;

    if (!(custom ? kind_make((size_t)4 << 30, &allocator) : kind_default(&allocator))) {
        return 1;
    }
    block = kind_take(allocator, 64);
    if (block == NULL) {
        return 1;
    }
    *(volatile char *)block = 1;
    kind_give(allocator, block);
    return 0;
}

/* An idle processor takes some milliseconds to reach its clock rate. */
static void wake_processor(void)
{
    double start = worker_now_ns();

    while (worker_now_ns() < start + 10e6) {
    }
}

static int run_row(const char *name, const struct worker *worker)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(name, rows[i].name) == 0) {
            bool good;
            if (!worker->quick) {
                wake_processor();
            }
            good = rows[i].run(worker);
            return ((fflush(stdout) == 0) && good) ? 0 : 1;
        }
    }
    fprintf(stderr, "there is no row '%s'\n", name);
    return 2;
}

int main(int argument_count, char **arguments)
{
    struct worker worker = {.custom = (argument_count > 2) && (strcmp(arguments[2], "custom") == 0),
                            .quick  = (argument_count > 3)};

    if (argument_count < 3) {
        (void)worker_complain("usage: worker ROW default|custom [quick]");
        return 2;
    }
    if (strcmp(arguments[1], "start") == 0) {
        return start(worker.custom);
    }
    (void)setvbuf(stdout, output, _IOFBF, sizeof(output));
    if (!(worker.custom ? kind_make((size_t)4 << 30, &worker.allocator)
                        : kind_default(&worker.allocator))) {
        (void)worker_complain("no allocator");
        return 1;
    }
    if (strcmp(arguments[1], "describe") == 0) {
        void *block = kind_take(worker.allocator, 64); /* libraries that load others do it now */
        int code    = (block == NULL) ? 1 : describe();
        kind_give(worker.allocator, block);
        return code;
    }
    return run_row(arguments[1], &worker);
}
