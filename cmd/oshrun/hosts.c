/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts.c: reading lists and files of hosts. */

#include "cmd/common/cli.h"
#include "cmd/oshrun/oshrun.h"
#include <errno.h>
#include <memspan/launch.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 253, LINE_BYTES = 4096, LINES_MAX = 1 << 20 };

static const char blanks[] = " \t\r\n";

/* A number of PEs, and nothing behind it; 0: none. */
static int read_count(const char *text)
{
    char *end   = NULL;
    long number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || number < 1 || number > (long)MEMSPAN_LAUNCH_PES_MAX) {
        return 0;
    }
    return (int)number;
}

/* Names go to another launcher, and from it to a shell: no option, word of one or expansion. Open
 * MPI takes USER@HOST. */
static bool is_name(const char *name)
{
    size_t length =
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@");
    const char *at   = strchr(name, '@');
    const char *host = at != NULL ? at + 1 : name;
    return length > 0 && length <= NAME_MAX_BYTES && name[length] == '\0' && name[0] != '-' &&
           name[0] != '@' && host[0] != '\0' && host[0] != '-' && strchr(host, '@') == NULL;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct host *)a)->name, ((const struct host *)b)->name);
}

/* The host of that name, a new one perhaps; NULL: out of memory. Items do not move: the tree points
 * at them, and each has a PE. */
static struct host *find(struct hosts *hosts, const char *name)
{
    if (hosts->items == NULL) {
        hosts->items = calloc(MEMSPAN_LAUNCH_PES_MAX, sizeof(*hosts->items));
    }
    struct host *new = hosts->items != NULL ? &hosts->items[hosts->count] : NULL;
    if (new == NULL || (new->name = strdup(name)) == NULL) {
        return NULL;
    }
    struct host *const *found = tsearch(new, &hosts->by_name, compare_names);
    if (found != NULL && *found == new) {
        hosts->count++;
        return new;
    }
    free(new->name);
    return found != NULL ? *found : NULL;
}

static bool add(struct hosts *hosts, const char *where, const char *name, int pe_count)
{
    if (!is_name(name)) {
        bool is_address = strspn(name, "[]:.%0123456789abcdefABCDEF") == strlen(name);
        cli_complain("%s: \"%.100s\" is no name of a host%s", where, name,
                     is_address && strchr(name, ':') != NULL
                         ? "; a launcher takes no IPv6 address beside a number of PEs: give a name"
                         : "");
        return false;
    }
    hosts->pe_count += pe_count;
    if (hosts->pe_count > (int)MEMSPAN_LAUNCH_PES_MAX) {
        cli_complain("%s: more than %d PEs", where, (int)MEMSPAN_LAUNCH_PES_MAX);
        return false;
    }
    struct host *host = find(hosts, name);
    if (host == NULL) {
        cli_complain("out of memory");
        return false;
    }
    host->pe_count += pe_count;
    return true;
}

/* "a" or "a:4", in place. */
static bool add_word(struct hosts *hosts, const char *where, char *word)
{
    int pe_count = 1;
    char *colon  = strchr(word, ':');
    if (colon != NULL && strchr(colon + 1, ':') == NULL) {
        *colon   = '\0';
        pe_count = read_count(colon + 1);
    }
    if (pe_count == 0) {
        cli_complain("%s: \"%.100s:%.100s\" is not HOST:PES", where, word, colon + 1);
        return false;
    }
    return add(hosts, where, word, pe_count);
}

bool hosts_add_list(struct hosts *hosts, const char *where, const char *text)
{
    char *copy = strdup(text);
    char *rest = copy;
    bool good  = copy != NULL;
    while (good && rest != NULL) {
        good = add_word(hosts, where, strsep(&rest, ","));
    }
    free(copy);
    return good;
}

/* "slots = 4" is slots=4. */
static void close_equals(char *line)
{
    char *to = line;
    for (const char *from = line; *from != '\0'; from++) {
        bool is_blank = strchr(blanks, *from) != NULL;
        if (is_blank && (from[strspn(from, blanks)] == '=' || (to > line && to[-1] == '='))) {
            continue;
        }
        *to++ = *from;
    }
    *to = '\0';
}

/* One line of a file. Open MPI's limits beyond the slots do not concern this job. */
static bool add_line(struct hosts *hosts, const char *where, char *line)
{
    char *save               = NULL;
    line[strcspn(line, "#")] = '\0';
    close_equals(line);
    char *name   = strtok_r(line, blanks, &save);
    int pe_count = 0;
    if (name == NULL) {
        return true;
    }
    for (char *word; (word = strtok_r(NULL, blanks, &save)) != NULL;) {
        const char *colon = strchr(name, ':');
        /* HOST:PES has its number already; an address is refused below. */
        if (strncmp(word, "slots=", 6) == 0 && (colon == NULL || strchr(colon + 1, ':') != NULL)) {
            pe_count = read_count(word + 6);
        }
        bool is_limit =
            strncmp(word, "max_slots=", 10) == 0 || strncmp(word, "max-slots=", 10) == 0;
        if (!is_limit && pe_count == 0) {
            cli_complain("%s: \"%.100s\" is not slots=PES", where, word);
            return false;
        }
    }
    return pe_count > 0 ? add(hosts, where, name, pe_count) : add_word(hosts, where, name);
}

/* Line by line: neither a line nor the file may be without end. */
static bool add_lines(struct hosts *hosts, const char *path, FILE *file)
{
    char line[LINE_BYTES];
    char where[512];
    for (size_t number = 1; fgets(line, sizeof(line), file) != NULL; number++) {
        snprintf(where, sizeof(where), "%s:%zu", path, number);
        if (number > LINES_MAX || (strchr(line, '\n') == NULL && !feof(file))) {
            cli_complain("%s: %s", where, number > LINES_MAX ? "too many lines" : "too long");
            return false;
        }
        if (!add_line(hosts, where, line)) {
            return false;
        }
    }
    if (ferror(file)) {
        cli_complain("--hostfile: cannot read %s: %s", path, strerror(errno));
        return false;
    }
    return true;
}

bool hosts_add_file(struct hosts *hosts, const char *path)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        cli_complain("--hostfile: cannot read %s: %s", path, strerror(errno));
        return false;
    }
    bool good = add_lines(hosts, path, file);
    fclose(file);
    if (good && hosts->count == 0) {
        cli_complain("--hostfile: %s names no host", path);
        return false;
    }
    return good;
}
