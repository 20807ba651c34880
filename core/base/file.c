/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/file.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ssize_t msp_file_read(const char *path, char *buffer, size_t size)
{
    int error     = errno;
    size_t length = 0;
    int fd        = open(path, O_RDONLY | O_CLOEXEC);

    buffer[0] = '\0';
    if (fd < 0) {
        errno = error;
        return -1;
    }
    while (length < size - 1) {
        ssize_t n = read(fd, buffer + length, size - 1 - length);
        if ((n < 0) && (errno == EINTR)) {
            continue;
        }
        if (n <= 0) {
            break;
        }
        length += (size_t)n;
    }
    buffer[length] = '\0';
    close(fd);
    errno = error;
    return (ssize_t)length;
}

bool msp_file_number(const char *path, uint64_t *value_p)
{
    char text[64];
    char *end;
    unsigned long long value;

    if (msp_file_read(path, text, sizeof(text)) <= 0) {
        return false;
    }
    if (strncmp(text, "max", 3) == 0) {
        *value_p = UINT64_MAX;
        return true;
    }
    if (!isdigit((unsigned char)text[0])) {
        return false;
    }
    value    = strtoull(text, &end, 10);
    *value_p = value;
    return true;
}

/* The first character after "name" at the start of a line or after a blank, colon and blanks
 * skipped; NULL when there is none. "MemFree" does not match "MemFreeCma". */
static const char *find_field(const char *text, const char *name)
{
    size_t length  = strlen(name);
    const char *at = text;

    while ((at = strstr(at, name)) != NULL) {
        const char *end = at + length;
        bool starts     = (at == text) || (at[-1] == '\n') || (at[-1] == ' ');

        if (starts && ((*end == ':') || (*end == ' ') || (*end == '\t'))) {
            return end + strspn(end, ": \t");
        }
        at = end;
    }
    return NULL;
}

bool msp_text_field(const char *text, const char *name, uint64_t *value_p)
{
    const char *at = find_field(text, name);
    unsigned long long value;
    char *end;

    if ((at == NULL) || !isdigit((unsigned char)*at)) {
        return false;
    }
    value    = strtoull(at, &end, 10);
    *value_p = (strncmp(end, " kB", 3) == 0) ? (uint64_t)value << 10 : value;
    return true;
}

void msp_text_line(const char *text, const char *name, char *value, size_t value_size)
{
    const char *at = find_field(text, name);
    size_t length  = (at == NULL) ? 0 : strcspn(at, "\n");

    snprintf(value, value_size, "%.*s", (length > INT_MAX) ? INT_MAX : (int)length,
             (at == NULL) ? "" : at);
}

bool msp_list_next(struct msp_list_cursor *cursor, int *number_p)
{
    char *end;

    if (cursor->next > cursor->last) {
        if (!isdigit((unsigned char)*cursor->text)) {
            return false;
        }
        cursor->next = strtol(cursor->text, &end, 10);
        cursor->last = cursor->next;
        if ((*end == '-') && isdigit((unsigned char)end[1])) {
            cursor->last = strtol(end + 1, &end, 10);
        }
        cursor->text = (*end == ',') ? end + 1 : end;
        if ((cursor->next < 0) || (cursor->last > INT_MAX) || (cursor->next > cursor->last)) {
            return false;
        }
    }
    *number_p = (int)cursor->next++;
    return true;
}
