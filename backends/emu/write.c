/* SPDX-License-Identifier: BSD-3-Clause */
/* write.c: text from a signal handler: no allocation, no lock, no stdio. Cut where it is full. */

#include "backends/emu/emu.h"

void emu_write_text(struct emu_writer *w, const char *text)
{
    for (; (*text != '\0') && (w->used + 1 < w->size); text++) {
        w->buffer[w->used++] = *text;
    }
    w->buffer[w->used] = '\0';
}

static void write_digits(struct emu_writer *w, uint64_t value, unsigned base)
{
    char digits[21];
    size_t at = sizeof(digits) - 1;

    digits[at] = '\0';
    do {
        digits[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value > 0);
    emu_write_text(w, digits + at);
}

void emu_write_number(struct emu_writer *w, uint64_t value)
{
    write_digits(w, value, 10);
}

void emu_write_hexadecimal(struct emu_writer *w, uint64_t value)
{
    emu_write_text(w, "0x");
    write_digits(w, value, 16);
}
