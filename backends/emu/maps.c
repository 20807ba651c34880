/* SPDX-License-Identifier: BSD-3-Clause */
/* maps.c: reading /proc/self/maps in places where nothing of the C library may be used: a signal
 * handler, and a process that has just lost the C library's memory. */

#include "backends/emu/ring.h"
#include <fcntl.h>
#include <sys/syscall.h>

long emu_maps_open(struct emu_maps *maps, char *buffer, size_t size)
{
    maps->fd =
        emu_raw(SYS_openat, AT_FDCWD, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0, 0, 0);
    maps->buffer = buffer;
    maps->size   = size;
    maps->used   = 0;
    maps->at     = 0;
    return (maps->fd < 0) ? maps->fd : 0;
}

void emu_maps_close(struct emu_maps *maps)
{
    if (maps->fd >= 0) {
        emu_raw(SYS_close, maps->fd, 0, 0, 0, 0, 0);
    }
    maps->fd = -1;
}

/* The end of the line at maps->at, reading on where it is not in the buffer; 0: there is none. */
static size_t find_line_end(struct emu_maps *maps)
{
    size_t i = maps->at;

    for (;;) {
        long n;

        for (; i < maps->used; i++) {
            if (maps->buffer[i] == '\n') {
                return i;
            }
        }
        for (i = maps->at; i < maps->used; i++) {
            maps->buffer[i - maps->at] = maps->buffer[i];
        }
        maps->used -= maps->at;
        maps->at = 0;
        i        = maps->used;
        if (maps->used >= maps->size - 1) {
            return 0; /* a line that fills the buffer: there is no such path */
        }
        n = emu_raw(SYS_read, maps->fd, (long)(maps->buffer + maps->used),
                    (long)(maps->size - 1 - maps->used), 0, 0, 0);
        if (n <= 0) {
            return 0;
        }
        maps->used += (size_t)n;
    }
}

static uint64_t take_hexadecimal(const char **at)
{
    uint64_t value = 0;

    for (;; (*at)++) {
        char c = **at;

        if ((c >= '0') && (c <= '9')) {
            value = value * 16 + (uint64_t)(c - '0');
        } else if ((c >= 'a') && (c <= 'f')) {
            value = value * 16 + (uint64_t)(c - 'a') + 10;
        } else {
            return value;
        }
    }
}

static void skip_word(const char **at)
{
    while ((**at != ' ') && (**at != '\0')) {
        (*at)++;
    }
    while (**at == ' ') {
        (*at)++;
    }
}

int emu_maps_next(struct emu_maps *maps, struct emu_mapping *mapping_p)
{
    size_t end = find_line_end(maps);
    const char *at;
    int i;

    if (end == 0) {
        return 0;
    }
    maps->buffer[end] = '\0';
    at                = maps->buffer + maps->at;
    mapping_p->start  = take_hexadecimal(&at);
    at += (*at == '-') ? 1 : 0;
    mapping_p->end = take_hexadecimal(&at);
    skip_word(&at);
    for (i = 0; i < 4; i++) {
        mapping_p->access[i] = (at[i] == '\0') ? '-' : at[i];
    }
    skip_word(&at);
    mapping_p->offset = take_hexadecimal(&at);
    skip_word(&at); /* to the device */
    skip_word(&at);
    skip_word(&at); /* over the inode */
    mapping_p->path = at;
    maps->at        = end + 1;
    return 1;
}
