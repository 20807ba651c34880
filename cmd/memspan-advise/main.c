/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c: memspan-advise runs a program, samples the use of its memory, and writes where it should
 * be. preload/ is in the program while it runs; profile.c reads the result. */

#include "cmd/common/cli.h"
#include "cmd/memspan-advise/advise.h"
#include <dirent.h>
#include <errno.h>
#include <memspan/memspan.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

const char cli_name[] = "memspan-advise";

enum { EXIT_USAGE = 2, PATH_BYTES = 4096, WATCHED_PAGE_BYTES = 4096 };

static const char *output;
static const char *placement;
static const char *kept;
static const char *report;
static const char *machine;
static struct cli_texts recorded;
static size_t capacity;
static bool capacity_given;
static int rows = 20;
static bool live;

static const struct cli_option options[] = {
    {.names = "-o --output",
     .form  = CLI_TEXT,
     .value = &output,
     .shape = "FILE",
     .help  = "write the proposed placement, for --apply or MEMSPAN_PLACEMENT"},
    {.names = "--report",
     .form  = CLI_TEXT,
     .value = &report,
     .shape = "FILE",
     .help  = "write the report there (standard error; with --from, standard output)"},
    {.names = "--apply",
     .form  = CLI_TEXT,
     .value = &placement,
     .shape = "FILE",
     .help  = "run the program with the memory that the file says; watch nothing"},
    {.names = "--live",
     .form  = CLI_SET,
     .value = &live,
     .help  = "run the program with memory that follows its use (MEMSPAN_PLACEMENT=auto)"},
    {.names = "--capacity",
     .form  = CLI_COUNT,
     .value = &capacity,
     .shape = "SIZE",
     .help  = "at most so much in high_bw (the size of its NUMA nodes)",
     .max   = 1e18,
     .given = &capacity_given},
    {.names = "--machine",
     .form  = CLI_TEXT,
     .value = &machine,
     .shape = "FILE",
     .help  = "propose for the machine that lstopo has saved there; the program does not see it"},
    {.names = "--rows",
     .form  = CLI_NUMBER,
     .value = &rows,
     .shape = "N",
     .help  = "show the N largest call sites (20)",
     .min   = 1,
     .max   = 1e6},
    {.names = "--keep",
     .form  = CLI_TEXT,
     .value = &kept,
     .shape = "FOLDER",
     .help  = "make it, and leave the profiles there, a file a process"},
    {.names = "--from",
     .form  = CLI_TEXTS,
     .value = &recorded,
     .shape = "FILE",
     .help  = "a profile that was kept, instead of running a program; any number of times"},
    {.names = "--version", .form = CLI_VERSION, .help = "print the version"},
    {.names = "-h --help", .form = CLI_HELP, .help = "print this text"},
};

static const struct cli_usage usage = {
    .synopsis = "[OPTION]... PROGRAM [ARGUMENT]...",
    .summary  = "Run a program, see what its memory is used for, and propose where it should be.",
    .options  = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .version      = MEMSPAN_VERSION_STRING,
    .has_operands = true};

/* The size of this machine's fast memory; everything when it has one tier. */
static uint64_t fast_bytes(void)
{
    uint64_t bytes = 0;
    memspan_resource_info_t info;

    for (size_t i = 0; i < memspan_space_resource_count(MEMSPAN_SPACE_HIGH_BW); i++) {
        info = (memspan_resource_info_t){.struct_size = sizeof(info)};
        if ((memspan_space_resource(MEMSPAN_SPACE_HIGH_BW, i, &info) == MEMSPAN_OK) &&
            (info.capacity_bytes != MEMSPAN_UNKNOWN)) {
            bytes += info.capacity_bytes;
        }
    }
    return bytes;
}

/* Is its memory that of the default space? */
static bool is_alias(memspan_space_h space)
{
    memspan_space_info_t info = {.struct_size = sizeof(info)};

    return (memspan_space_describe(space, &info) == MEMSPAN_OK) && info.alias;
}

static void print_next_step(FILE *out)
{
    if (is_alias(MEMSPAN_SPACE_HIGH_BW) && is_alias(MEMSPAN_SPACE_LARGE_CAP)) {
        fputs("# this machine has memory of one kind: a placement has no effect here (--machine "
              "names another)\n",
              out);
    }
    if (output == NULL) {
        fputs("# --output FILE keeps this proposal, --apply FILE runs a program with it\n", out);
    }
}

/* Read the profiles of @p folder and, unless they are kept, remove them with it. *partial_p: one
 * could not be written to its end. */
static bool read_folder(struct profile *profile, const char *folder, bool *partial_p)
{
    DIR *entries = opendir(folder);
    bool good    = entries != NULL;
    struct dirent *entry;
    char path[PATH_BYTES];

    while (good && ((entry = readdir(entries)) != NULL)) {
        if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >= sizeof(path)) {
            continue;
        }
        *partial_p = *partial_p || (strstr(entry->d_name, ".new") != NULL);
        if ((profile != NULL) && (strspn(entry->d_name, "0123456789") == strlen(entry->d_name))) {
            good = profile_read(profile, path);
        }
    }
    if (entries != NULL) {
        (void)closedir(entries);
    }
    if (kept == NULL) {
        cli_folder_remove(folder);
    }
    return good;
}

static bool is_full(const char *folder)
{
    struct statvfs facts;

    return (statvfs(folder, &facts) == 0) && (facts.f_bavail == 0);
}

/* Why the program has left no profile. */
static void explain(const char *program, bool is_full, bool is_partial)
{
    struct rlimit limit;

    if ((getrlimit(RLIMIT_FSIZE, &limit) == 0) && (limit.rlim_cur != RLIM_INFINITY) && is_partial) {
        cli_complain("%s could write no profile: files may have %llu bytes (ulimit -f)", program,
                     (unsigned long long)limit.rlim_cur);
    } else if (is_full || is_partial) {
        cli_complain("%s could write no profile: there is no room in %s", program,
                     (kept != NULL) ? kept : "the folder for temporary files; set TMPDIR");
    } else {
        cli_complain("%s left no profile: it changed its root folder, began under a filter of "
                     "system calls, or ended in its first second by a signal or _exit()",
                     program);
    }
}

/* The program's status. */
static int watch(struct profile *profile, char *const *arguments)
{
    const char *temporary = cli_environment(CLI_TMPDIR);
    char made[PATH_BYTES];
    char folder[PATH_BYTES];
    bool is_partial = false;
    bool was_full;
    int status;

    if (sysconf(_SC_PAGESIZE) != WATCHED_PAGE_BYTES) {
        cli_complain("this kernel has pages of %ld bytes; only those of %d bytes are watched",
                     sysconf(_SC_PAGESIZE), WATCHED_PAGE_BYTES);
        return EXIT_FAILURE;
    }
    (void)snprintf(made, sizeof(made), "%s/memspan-advise-XXXXXX",
                   (temporary == NULL) ? "/tmp" : temporary);
    if (((kept == NULL) ? !cli_folder_make(made) : (mkdir(kept, S_IRWXU) != 0)) ||
        (realpath((kept == NULL) ? made : kept, folder) == NULL)) {
        cli_complain("%s: %s", (kept == NULL) ? made : kept, strerror(errno));
        return EXIT_FAILURE;
    }
    status   = run_program(arguments, folder, NULL);
    was_full = is_full(folder);
    if (!read_folder(profile, folder, &is_partial)) {
        return EXIT_FAILURE;
    }
    if ((profile->program[0] == '\0') && (status != RUN_NOT_STARTED)) {
        explain(arguments[0], was_full, is_partial);
        return (status == 0) ? EXIT_FAILURE : status;
    }
    return status;
}

static bool write_proposal(const struct profile *profile, FILE *file)
{
    if (ftruncate(fileno(file), 0) != 0) {
        errno = 0; /* a pipe or a terminal has no length */
    }
    report_write(profile, file);
    if (fclose(file) != 0) {
        cli_complain("%s: %s", output, strerror(errno));
        return false;
    }
    return true;
}

/* Before the program runs, which may take hours; the old file stays until then. *file_p is NULL
 * where there is no name. */
static bool open_output(const char *path, FILE **file_p)
{
    *file_p = (path == NULL) ? NULL : fopen(path, "ae");
    if ((path != NULL) && (*file_p == NULL)) {
        cli_complain("%s: %s", path, strerror(errno));
    }
    return (path == NULL) || (*file_p != NULL);
}

/* The program's standard output is the program's. */
static bool print_report(const struct profile *profile, FILE *file)
{
    FILE *out = (file != NULL) ? file : (recorded.count > 0) ? stdout : stderr;

    if ((file != NULL) && (ftruncate(fileno(file), 0) != 0)) {
        errno = 0; /* a pipe or a terminal has no length */
    }
    report_print(profile, (size_t)rows, out);
    print_next_step(out);
    if ((fflush(out) != 0) || ferror(out)) {
        cli_complain("%s: %s", (report != NULL) ? report : "the report", strerror(errno));
        return false;
    }
    return true;
}

static int advise(char *const *arguments)
{
    struct profile profile = {0};
    int status             = EXIT_SUCCESS;
    FILE *file             = NULL;
    FILE *report_file      = NULL;

    if ((machine != NULL) && (access(machine, R_OK) != 0)) {
        cli_complain("%s: %s", machine, strerror(errno));
        return EXIT_FAILURE;
    }
    if (!open_output(output, &file) || !open_output(report, &report_file)) {
        return EXIT_FAILURE;
    }
    for (size_t i = 0; i < recorded.count; i++) {
        if (!profile_read(&profile, recorded.values[i])) {
            status = EXIT_FAILURE;
        }
    }
    if (recorded.count == 0) {
        status = watch(&profile, arguments);
    }
    if (machine != NULL) { /* the program has run: it is not for that */
        (void)setenv("HWLOC_XMLFILE", machine, 1);
    }
    if (profile.program[0] != '\0') {
        advice_make(&profile, capacity_given ? capacity : fast_bytes());
        name_sites(&profile);
        if (!print_report(&profile, report_file)) {
            status = EXIT_FAILURE;
        }
        if ((file != NULL) && !write_proposal(&profile, file)) {
            status = EXIT_FAILURE;
        }
        file = NULL;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    if (report_file != NULL) {
        (void)fclose(report_file);
    }
    profile_free(&profile);
    return status;
}

/* Whether the file begins as one that --output has written; the program reports wrong lines. */
static bool is_placement(const char *path)
{
    static const char first[] = "memspan-placement 1";
    char text[sizeof(first)]  = "";
    struct stat facts;
    FILE *file = NULL;

    if ((stat(path, &facts) == 0) && S_ISREG(facts.st_mode)) {
        file = fopen(path, "re");
    }
    if (file != NULL) {
        (void)!fread(text, 1, sizeof(first) - 1, file);
        (void)fclose(file);
    }
    return strcmp(text, first) == 0;
}

/* The program finds the file also from another folder. */
static int apply(char *const *arguments)
{
    char path[PATH_BYTES];

    if ((output != NULL) || (kept != NULL) || (report != NULL) || (machine != NULL) ||
        capacity_given || (recorded.count > 0) || (live && (placement != NULL))) {
        cli_complain("%s watches nothing: no other option goes with it",
                     live ? "--live" : "--apply");
        return EXIT_USAGE;
    }
    if (live) {
        return run_program(arguments, NULL, "auto");
    }
    if ((realpath(placement, path) == NULL) || (access(path, R_OK) != 0)) {
        cli_complain("%s: %s", placement, strerror(errno));
        return EXIT_FAILURE;
    }
    if (!is_placement(path)) {
        cli_complain("%s: this is no placement: --output of %s writes one", placement, cli_name);
        return EXIT_FAILURE;
    }
    return run_program(arguments, NULL, path);
}

int main(int argc, char **argv)
{
    int operand              = argc;
    enum cli_outcome outcome = cli_parse(&usage, argc, argv, &operand);

    if (outcome != CLI_PARSED) {
        return (outcome == CLI_SHOWN) ? EXIT_SUCCESS : EXIT_USAGE;
    }
    if ((operand >= argc) != (recorded.count > 0)) {
        cli_complain("a program is to be named, or --from; --help lists the options");
        return EXIT_USAGE;
    }
    return ((placement != NULL) || live) ? apply(argv + operand) : advise(argv + operand);
}
