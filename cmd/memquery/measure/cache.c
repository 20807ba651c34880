/* SPDX-License-Identifier: BSD-3-Clause */
/* cache.c: the file of figures.
 *
 * A file that another user could have written is not read: folder and file must be this user's,
 * the folder writable and the file readable by this user alone, neither a link. The file is
 * replaced as a whole: of two programs that write at once, one wins. Machines may share a home
 * folder: the machine's identity is in the file's name and in the file. */

#include "cmd/memquery/measure/cache.h"
#include "cmd/common/environment.h"
#include "cmd/memquery/output/json.h"
#include "cmd/memquery/output/text.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FILE_MOST_BYTES = 8 << 20, CACHE_VERSION = 1, DAY_S = 86400 };

struct place {
    char folder[1024];
    char name[64];    /* of the file */
    char machine[24]; /* identity of the machine */
    int fd;           /* of the folder, or -1 */
};

static void note_problem(struct measure_figures *figures, const struct place *place,
                         const char *what)
{
    snprintf(figures->cache_note, sizeof(figures->cache_note),
             "the cache %.300s/%.60s is not used: %s", place->folder, place->name, what);
    text_clean(figures->cache_note);
}

/* ---- identity of the machine ---- */

static uint64_t mix(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return (hash ^ '\n') * UINT64_C(0x100000001b3);
}

/* The first line of the file that begins with @p prefix; "" where there is none. */
static void read_line(const char *path, const char *prefix, char *line, size_t size)
{
    FILE *file = fopen(path, "re");
    bool found = false;

    while ((file != NULL) && !found && (fgets(line, (int)size, file) != NULL)) {
        found = (strncmp(line, prefix, strlen(prefix)) == 0);
    }
    if (file != NULL) {
        fclose(file);
    }
    if (!found) {
        line[0] = '\0';
    }
}

/* The same after a restart, another on another machine; the machine's own id is not revealed. */
static void identify(char *text, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    char line[256];

    read_line("/etc/machine-id", "", line, sizeof(line));
    hash = mix(hash, line);
    if ((line[0] == '\0') && (gethostname(line, sizeof(line)) == 0)) {
        line[sizeof(line) - 1] = '\0';
        hash                   = mix(hash, line);
    }
    read_line("/proc/cpuinfo", "model name", line, sizeof(line));
    hash = mix(hash, line);
    read_line("/proc/cpuinfo", "CPU part", line, sizeof(line));
    hash = mix(hash, line);
    snprintf(line, sizeof(line), "%ld", sysconf(_SC_NPROCESSORS_CONF));
    hash = mix(hash, line);
    snprintf(text, size, "%016llx", (unsigned long long)hash);
}

/* ---- folder ---- */

/* The folder's path; false where this user has none. */
static bool find_folder(struct place *place)
{
    const char *base = cli_environment(CLI_XDG_CACHE_HOME);
    int length;

    if ((base != NULL) && (base[0] == '/')) {
        length = snprintf(place->folder, sizeof(place->folder), "%s/memspan", base);
    } else {
        base = cli_environment(CLI_HOME);
        if ((base == NULL) || (base[0] != '/')) {
            return false;
        }
        length = snprintf(place->folder, sizeof(place->folder), "%s/.cache/memspan", base);
    }
    identify(place->machine, sizeof(place->machine));
    snprintf(place->name, sizeof(place->name), "measure-%s.json", place->machine);
    return (size_t)length < sizeof(place->folder);
}

/* The folder and its parent; those above are the system's. */
static void make_folder(const struct place *place)
{
    char above[sizeof(place->folder)];

    strcpy(above, place->folder);
    *strrchr(above, '/') = '\0';
    (void)mkdir(above, 0700);
    (void)mkdir(place->folder, 0700);
}

/* Open the folder. @p make: create it where it is missing; otherwise its absence is no error. */
static bool open_place(struct place *place, struct measure_figures *figures, bool make)
{
    struct stat status;

    place->fd = -1;
    if (!find_folder(place)) {
        return false;
    }
    if (make) {
        make_folder(place);
    }
    place->fd = open(place->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (place->fd < 0) {
        if (make || (errno != ENOENT)) {
            note_problem(figures, place, strerror(errno));
        }
        return false;
    }
    if ((fstat(place->fd, &status) != 0) || (status.st_uid != geteuid()) ||
        ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)) {
        note_problem(figures, place, "others can write into its folder");
        close(place->fd);
        return false;
    }
    return true;
}

/* ---- the file ---- */

static const char *judge_file(int fd)
{
    struct stat status;

    if (fstat(fd, &status) != 0) {
        return "it cannot be looked at";
    }
    if (!S_ISREG(status.st_mode)) {
        return "it is no file";
    }
    if (status.st_uid != geteuid()) {
        return "it belongs to another user";
    }
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return "others may read or write it";
    }
    return (status.st_size > FILE_MOST_BYTES) ? "it is too large" : NULL;
}

/* The entries of the file, which the caller releases, or NULL. */
static json_t *read_entries(const struct place *place, struct measure_figures *figures)
{
    int fd = openat(place->fd, place->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    json_t *document;
    json_t *entries = NULL;
    const char *machine;
    const char *wrong;

    if (fd < 0) {
        if (errno != ENOENT) {
            note_problem(figures, place, (errno == ELOOP) ? "it is a link" : strerror(errno));
        }
        return NULL;
    }
    wrong = judge_file(fd);
    if (wrong != NULL) {
        note_problem(figures, place, wrong);
        close(fd);
        return NULL;
    }
    document = json_loadfd(fd, JSON_REJECT_DUPLICATES, NULL);
    machine  = json_string_value(json_object_get(document, "machine"));
    if ((machine != NULL) && (strcmp(machine, place->machine) == 0) &&
        (json_integer_value(json_object_get(document, "version")) == CACHE_VERSION)) {
        entries = json_object_get(document, "figures");
    }
    if (!json_is_array(entries)) {
        note_problem(figures, place, "it is malformed, or another version's");
        entries = NULL;
    }
    json_incref(entries);
    json_decref(document);
    close(fd);
    return entries;
}

static const char *text_of(const json_t *entry, const char *key)
{
    const char *text = json_string_value(json_object_get(entry, key));

    return (text == NULL) ? "" : text;
}

/* A figure; 0 where it is unknown or implausible. */
static double figure_of(const json_t *entry, const char *key)
{
    double value = json_number_value(json_object_get(entry, key));

    return (isfinite(value) && (value > 0) && (value < 1e18)) ? value : 0;
}

static void take_entry(struct measure_cell *cell, const json_t *entry)
{
    double bandwidth = figure_of(entry, "bandwidth_bytes_per_s");
    double latency   = figure_of(entry, "latency_ns");
    json_int_t when  = json_integer_value(json_object_get(entry, "measured_at"));
    const char *name = text_of(entry, "method");
    enum measure_method method;

    for (method = MEASURE_FILL;
         (method != MEASURE_NOTHING) && (strcmp(measure_method_name(method), name) != 0);
         method = (enum measure_method)(method - 1)) {
    }
    if ((method == MEASURE_NOTHING) || ((bandwidth <= 0) && (latency <= 0)) || (when <= 0) ||
        (when > (json_int_t)time(NULL) + DAY_S)) {
        return;
    }
    cell->state                 = MEASURE_DONE;
    cell->method                = method;
    cell->bandwidth_bytes_per_s = bandwidth;
    cell->latency_ns            = latency;
    cell->measured_at           = when;
    cell->bandwidth_spread      = figure_of(entry, "bandwidth_spread");
    cell->latency_spread        = figure_of(entry, "latency_spread");
    cell->full                  = json_is_true(json_object_get(entry, "full"));
    cell->settled               = json_is_true(json_object_get(entry, "settled"));
    cell->busy                  = json_is_true(json_object_get(entry, "busy"));
    cell->cached                = true;
    snprintf(cell->bandwidth_reason, sizeof(cell->bandwidth_reason), "%s",
             (bandwidth > 0) ? "" : text_of(entry, "bandwidth_reason"));
    snprintf(cell->latency_reason, sizeof(cell->latency_reason), "%s",
             (latency > 0) ? "" : text_of(entry, "latency_reason"));
    text_clean(cell->bandwidth_reason);
    text_clean(cell->latency_reason);
}

static struct measure_cell *find_key(struct measure_figures *figures, const char *key)
{
    for (size_t i = 0; i < figures->count; i++) {
        if ((key[0] != '\0') && (strcmp(figures->cells[i].key, key) == 0)) {
            return &figures->cells[i];
        }
    }
    return NULL;
}

/* Does the entry satisfy the request? */
static bool is_wanted(const json_t *entry, const struct measure_request *request)
{
    if (request->full && !json_is_true(json_object_get(entry, "full"))) {
        return false;
    }
    return request->cached_only || (json_is_true(json_object_get(entry, "settled")) &&
                                    !json_is_true(json_object_get(entry, "busy")));
}

void measure_cache_load(struct measure_figures *figures, const struct measure_request *request)
{
    struct place place;
    json_t *entries;
    json_t *entry;
    size_t i;

    if (!open_place(&place, figures, false)) {
        return;
    }
    entries = read_entries(&place, figures);
    json_array_foreach(entries, i, entry)
    {
        struct measure_cell *cell = find_key(figures, text_of(entry, "key"));

        if ((cell != NULL) && (cell->state == MEASURE_TODO) && is_wanted(entry, request)) {
            take_entry(cell, entry);
        }
    }
    json_decref(entries);
    close(place.fd);
}

static json_t *make_entry(const struct measure_cell *cell)
{
    json_t *entry = json_object();

    json_put_text(entry, "resource", cell->resource);
    json_put_text(entry, "device", cell->device);
    json_put_text(entry, "key", cell->key);
    json_put_text(entry, "method", measure_method_name(cell->method));
    json_put(entry, "bandwidth_bytes_per_s", json_real(cell->bandwidth_bytes_per_s));
    json_put(entry, "latency_ns", json_real(cell->latency_ns));
    json_put_text(entry, "bandwidth_reason", cell->bandwidth_reason);
    json_put_text(entry, "latency_reason", cell->latency_reason);
    json_put_int(entry, "measured_at", cell->measured_at);
    json_put(entry, "bandwidth_spread", json_real(cell->bandwidth_spread));
    json_put(entry, "latency_spread", json_real(cell->latency_spread));
    json_put_bool(entry, "full", cell->full);
    json_put_bool(entry, "settled", cell->settled);
    json_put_bool(entry, "busy", cell->busy);
    return entry;
}

/* The old entries that this run has not measured, and this run's figures. */
static json_t *merge(struct measure_figures *figures, json_t *old)
{
    json_t *merged = json_array();
    json_t *entry;
    size_t i;

    json_array_foreach(old, i, entry)
    {
        const struct measure_cell *cell = find_key(figures, text_of(entry, "key"));

        if (json_is_object(entry) && (i < MEASURE_CELLS_MAX) &&
            ((cell == NULL) || (cell->state != MEASURE_DONE))) {
            json_array_append(merged, entry);
        }
    }
    for (i = 0; i < figures->count; i++) {
        if (figures->cells[i].state == MEASURE_DONE) {
            json_array_append_new(merged, make_entry(&figures->cells[i]));
        }
    }
    return merged;
}

static bool write_file(const struct place *place, const json_t *document)
{
    char name[96];
    bool good;
    int fd;

    snprintf(name, sizeof(name), ".%s.%ld", place->name, (long)getpid());
    fd = openat(place->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return false;
    }
    good = (json_dumpfd(document, fd, JSON_INDENT(1)) == 0);
    good = (close(fd) == 0) && good;
    good = good && (renameat(place->fd, name, place->fd, place->name) == 0);
    if (!good) {
        unlinkat(place->fd, name, 0);
    }
    return good;
}

void measure_cache_store(struct measure_figures *figures)
{
    struct place place;
    json_t *document;
    json_t *old;
    bool fresh = false;

    for (size_t i = 0; i < figures->count; i++) {
        fresh = fresh || ((figures->cells[i].state == MEASURE_DONE) && !figures->cells[i].cached);
    }
    if (!fresh || !open_place(&place, figures, true)) {
        return;
    }
    old      = read_entries(&place, figures);
    document = json_object();
    json_put_int(document, "version", CACHE_VERSION);
    json_put_text(document, "machine", place.machine);
    json_put(document, "figures", merge(figures, old));
    if (!write_file(&place, document)) {
        note_problem(figures, &place, strerror(errno));
    }
    json_decref(document);
    json_decref(old);
    close(place.fd);
}
