/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_FILE_H
#define MEMSPAN_CORE_BASE_FILE_H

/* Small files of /proc and /sys: read whole, without allocation, errno kept. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Read at most size - 1 bytes of the file and end them with a null. The number of bytes, or -1
 * (buffer is then empty). */
ssize_t msp_file_read(const char *path, char *buffer, size_t size);

/* Read a file that holds one number, or "max" (UINT64_MAX). */
bool msp_file_number(const char *path, uint64_t *value_p);

/* The number after the first "name" of a text of lines "name: 12 kB" or "name 12", in bytes where
 * the line has kB. False when there is no such line. */
bool msp_text_field(const char *text, const char *name, uint64_t *value_p);

/* The text after "name" up to the end of its line, blanks and colon skipped. Empty when there is
 * no such line. */
void msp_text_line(const char *text, const char *name, char *value, size_t value_size);

/* Next number of a list of ranges "0-3,8": advances *cursor. Begin with a cursor that holds the
 * text and next = 0, last = -1. False at the end or at text that is no such list. */
struct msp_list_cursor {
    const char *text;
    long next;
    long last;
};
bool msp_list_next(struct msp_list_cursor *cursor, int *number_p);

#endif /* MEMSPAN_CORE_BASE_FILE_H */
