/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts.c: reading lists and files of hosts. */

#include "hosts.h"
#include "cmd/common/message.h"
#include <errno.h>
#include <memspan/launch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static bool add(struct hosts *hosts, const char *where, const char *name, int pe_count)
{
    hosts->pe_count += pe_count;
    if (hosts->pe_count > (int)MEMSPAN_LAUNCH_PES_MAX) {
        cli_complain("%s: more than %d PEs", where, (int)MEMSPAN_LAUNCH_PES_MAX);
        return false;
    }
    for (size_t i = 0; i < hosts->count; i++) {
        if (strcmp(hosts->items[i].name, name) == 0) {
            hosts->items[i].pe_count += pe_count;
            return true;
        }
    }
    struct host *grown = realloc(hosts->items, (hosts->count + 1) * sizeof(*grown));
    char *copy         = strdup(name);
    hosts->items       = grown != NULL ? grown : hosts->items;
    if (grown == NULL || copy == NULL) {
        cli_complain("out of memory");
        return false;
    }
    hosts->items[hosts->count++] = (struct host){.name = copy, .pe_count = pe_count};
    return true;
}

/* "a" or "a:4", in place. Options and whole command lines do not pass for names. */
static bool add_word(struct hosts *hosts, const char *where, char *word)
{
    int pe_count = 1;
    char *colon  = strchr(word, ':');
    if (colon != NULL) {
        *colon   = '\0';
        pe_count = read_count(colon + 1);
    }
    if (pe_count == 0) {
        cli_complain("%s: \"%s:%s\" is not HOST:PES", where, word, colon + 1);
        return false;
    }
    if (*word == '\0' || *word == '-' || strcspn(word, "/= \t\"'$`\\;&|<>()") != strlen(word)) {
        cli_complain("%s: \"%s\" is no name of a host", where, word);
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

/* One line of a file. Open MPI's limits beyond the slots say nothing of this job. */
static bool add_line(struct hosts *hosts, const char *where, char *line)
{
    char *save               = NULL;
    line[strcspn(line, "#")] = '\0';
    char *name               = strtok_r(line, blanks, &save);
    int pe_count             = 0;
    if (name == NULL) {
        return true;
    }
    for (char *word; (word = strtok_r(NULL, blanks, &save)) != NULL;) {
        if (strncmp(word, "slots=", 6) == 0 && strchr(name, ':') == NULL) {
            pe_count = read_count(word + 6);
        }
        bool is_limit =
            strncmp(word, "max_slots=", 10) == 0 || strncmp(word, "max-slots=", 10) == 0;
        if (!is_limit && pe_count == 0) {
            cli_complain("%s: \"%s\" is not slots=PES", where, word);
            return false;
        }
    }
    return pe_count > 0 ? add(hosts, where, name, pe_count) : add_word(hosts, where, name);
}

bool hosts_add_file(struct hosts *hosts, const char *path)
{
    FILE *file    = fopen(path, "re");
    char *line    = NULL;
    size_t room   = 0;
    size_t number = 0;
    bool good     = file != NULL;
    if (!good) {
        cli_complain("--hostfile: cannot read %s: %s", path, strerror(errno));
        return false;
    }
    while (good && getline(&line, &room, file) >= 0) {
        char where[512];
        snprintf(where, sizeof(where), "%s:%zu", path, ++number);
        good = add_line(hosts, where, line);
    }
    free(line);
    fclose(file);
    if (good && hosts->count == 0) {
        cli_complain("--hostfile: %s names no host", path);
        return false;
    }
    return good;
}
