/* SPDX-License-Identifier: BSD-3-Clause */
/* elf_line.c: the line table (DWARF 5, 6.2) is one program for each file that was compiled, which
 * makes rows of an address, a file and a line, in sequences of rising addresses. All are run from
 * the start of the table until one makes a row of the wanted address: an index of them (in
 * .debug_info or .debug_aranges) is not always there. */

#include "core/base/elf.h"
#include <string.h>

/* A tenth of a second; the largest programs are left without lines. */
enum { TABLE_BYTES_MAX = 32 << 20 };

enum { FORM_BLOCK = 0x09, FORM_DATA1 = 0x0b, FORM_DATA2 = 0x05, FORM_DATA4 = 0x06 };
enum { FORM_DATA8 = 0x07, FORM_DATA16 = 0x1e, FORM_UDATA = 0x0f };
enum { FORM_STRING = 0x08, FORM_STRP = 0x0e, FORM_LINE_STRP = 0x1f };
enum { CONTENT_PATH = 1 };

/* ---- bytes ---- */

struct reader {
    const unsigned char *at;
    const unsigned char *end; /* at == end too when there was less than was to be read */
};

static size_t left(const struct reader *r)
{
    return (size_t)(r->end - r->at);
}

/* The next bytes as a reader of their own. */
static struct reader take_bytes(struct reader *r, uint64_t size_bytes)
{
    struct reader part = {r->at, r->at + ((size_bytes > left(r)) ? 0 : size_bytes)};

    r->at = (size_bytes > left(r)) ? r->end : part.end;
    return part;
}

static uint64_t take_number(struct reader *r, size_t size_bytes)
{
    struct reader part = take_bytes(r, size_bytes);
    uint64_t number    = 0;

    memcpy(&number, part.at, (left(&part) < sizeof(number)) ? left(&part) : sizeof(number));
    return number;
}

/* LEB128: seven bits a byte; the sign is in the last one. */
static uint64_t take_leb(struct reader *r, bool is_signed)
{
    uint64_t number    = 0;
    unsigned shift     = 0;
    unsigned char byte = 0x80;

    while (((byte & 0x80) != 0) && (r->at < r->end)) {
        byte = *r->at++;
        number |= (shift < 64) ? (uint64_t)(byte & 0x7f) << shift : 0;
        shift += 7;
    }
    if (is_signed && ((byte & 0x40) != 0) && (shift < 64)) {
        number |= ~UINT64_C(0) << shift;
    }
    return number;
}

static uint64_t take_unsigned(struct reader *r)
{
    return take_leb(r, false);
}

/* "" without an end. */
static const char *take_text(struct reader *r)
{
    const unsigned char *end = memchr(r->at, '\0', left(r));
    const char *text         = (const char *)r->at;

    r->at = (end == NULL) ? r->end : end + 1;
    return (end == NULL) ? "" : text;
}

/* ---- one program ---- */

struct unit {
    unsigned version;
    size_t offset_bytes; /* 4, or 8 in a table of 64 bits */
    unsigned step_bytes; /* of an instruction */
    int line_base;
    unsigned line_range;
    unsigned opcode_base;
    struct reader operands; /* how many each standard opcode has */
    struct reader names;    /* of folders and files */
    struct reader program;
};

/* The next unit of the table. False: there is none that can be read. */
static bool next_unit(struct reader *table, struct unit *unit_p)
{
    struct unit u = {.offset_bytes = 4};
    uint64_t size = take_number(table, 4);
    struct reader all;

    if (size == 0xffffffff) {
        u.offset_bytes = 8;
        size           = take_number(table, 8);
    }
    all       = take_bytes(table, size);
    u.version = (unsigned)take_number(&all, 2);
    if (u.version >= 5) {
        (void)take_bytes(&all, 2); /* sizes of an address and of a segment */
    }
    u.names      = take_bytes(&all, take_number(&all, u.offset_bytes));
    u.program    = all;
    u.step_bytes = (unsigned)take_number(&u.names, 1);
    if (u.version >= 4) {
        (void)take_bytes(&u.names, 1); /* operations of an instruction: one */
    }
    (void)take_bytes(&u.names, 1); /* whether rows are statements at first */
    u.line_base   = (signed char)take_number(&u.names, 1);
    u.line_range  = (unsigned)take_number(&u.names, 1);
    u.opcode_base = (unsigned)take_number(&u.names, 1);
    u.operands    = take_bytes(&u.names, (u.opcode_base > 0) ? u.opcode_base - 1 : 0);
    if ((u.version < 2) || (u.version > 5) || (u.line_range == 0)) {
        u.program.at = u.program.end; /* it makes no row */
    }
    *unit_p = u;
    return left(&u.names) > 0;
}

/* The state of the machine, which each row copies. */
struct row {
    uint64_t address;
    uint64_t file;
    uint64_t line;
};

static const struct row first_row = {.file = 1, .line = 1};

enum step { NO_ROW, ROW, LAST_ROW };

static void advance(const struct unit *u, struct row *row, unsigned opcode)
{
    row->address += (uint64_t)u->step_bytes * ((opcode - u->opcode_base) / u->line_range);
}

static enum step do_extended(struct reader *r, struct row *row)
{
    struct reader part = take_bytes(r, take_unsigned(r));

    switch (take_number(&part, 1)) {
    case 1:
        return LAST_ROW;
    case 2:
        row->address = take_number(&part, left(&part));
        return NO_ROW;
    default:
        return NO_ROW;
    }
}

static enum step do_standard(const struct unit *u, struct reader *r, unsigned opcode,
                             struct row *row)
{
    switch (opcode) {
    case 1:
        return ROW;
    case 2:
        row->address += u->step_bytes * take_unsigned(r);
        break;
    case 3:
        row->line += take_leb(r, true);
        break;
    case 4:
        row->file = take_unsigned(r);
        break;
    case 8:
        advance(u, row, 255);
        break;
    case 9:
        row->address += take_number(r, 2);
        break;
    default:
        for (unsigned i = u->operands.at[opcode - 1]; i > 0; i--) {
            (void)take_unsigned(r);
        }
    }
    return NO_ROW;
}

static enum step do_next(const struct unit *u, struct reader *r, struct row *row)
{
    unsigned opcode = (unsigned)take_number(r, 1);

    if (opcode == 0) {
        return do_extended(r, row);
    }
    if (opcode < u->opcode_base) {
        return do_standard(u, r, opcode, row);
    }
    advance(u, row, opcode);
    row->line +=
        (uint64_t)(int64_t)(u->line_base + (int)((opcode - u->opcode_base) % u->line_range));
    return ROW;
}

/* The row that @p address belongs to: it is in front of the next one. A sequence that begins at 0
 * is of code that the linker has left out. */
static bool find_row(const struct unit *u, uint64_t address, struct row *found_p)
{
    struct reader r = u->program;
    struct row now  = first_row;
    struct row last = first_row;
    bool has_last   = false;

    while (r.at < r.end) {
        enum step step = do_next(u, &r, &now);

        if ((step != NO_ROW) && has_last && (last.address <= address) && (address < now.address)) {
            *found_p = last;
            return true;
        }
        if (step != NO_ROW) {
            has_last = (step == ROW) && (has_last || (now.address != 0));
            last     = now;
        }
        if (step == LAST_ROW) {
            now = first_row;
        }
    }
    return false;
}

/* ---- names of files ---- */

static const char *text_of(const struct msp_elf *elf, const char *section, uint64_t offset)
{
    struct msp_elf texts;
    struct reader r;

    if (!msp_elf_section(elf, section, &texts) || (offset >= texts.size_bytes)) {
        return "";
    }
    r = (struct reader){texts.bytes + offset, texts.bytes + texts.size_bytes};
    return take_text(&r);
}

/* An attribute of that form; its text or "". A field of an unknown form ends the reader. */
static const char *take_form(const struct msp_elf *elf, const struct unit *u, struct reader *r,
                             uint64_t form)
{
    switch (form) {
    case FORM_STRING:
        return take_text(r);
    case FORM_LINE_STRP:
        return text_of(elf, ".debug_line_str", take_number(r, u->offset_bytes));
    case FORM_STRP:
        return text_of(elf, ".debug_str", take_number(r, u->offset_bytes));
    case FORM_UDATA:
        (void)take_unsigned(r);
        break;
    case FORM_BLOCK:
        (void)take_bytes(r, take_unsigned(r));
        break;
    case FORM_DATA1:
    case FORM_DATA2:
    case FORM_DATA4:
    case FORM_DATA8:
    case FORM_DATA16:
        (void)take_bytes(r, (form == FORM_DATA1)   ? 1
                            : (form == FORM_DATA2) ? 2
                            : (form == FORM_DATA4) ? 4
                            : (form == FORM_DATA8) ? 8
                                                   : 16);
        break;
    default:
        r->at = r->end;
    }
    return "";
}

/* A list of version 5: the path of its entry @p index, or "". The reader is behind it then. */
static const char *take_list(const struct msp_elf *elf, const struct unit *u, struct reader *r,
                             uint64_t index)
{
    uint64_t format_count = take_number(r, 1);
    struct reader formats = *r;
    const char *path      = "";
    uint64_t count;

    for (uint64_t i = 0; i < 2 * format_count; i++) {
        (void)take_unsigned(r);
    }
    count = take_unsigned(r);
    for (uint64_t k = 0; (k < count) && (format_count > 0) && (r->at < r->end); k++) {
        struct reader format = formats;

        for (uint64_t i = 0; i < format_count; i++) {
            uint64_t content = take_unsigned(&format);
            const char *text = take_form(elf, u, r, take_unsigned(&format));

            path = ((k == index) && (content == CONTENT_PATH)) ? text : path;
        }
    }
    return path;
}

/* Before version 5, files count from 1. */
static const char *take_old_list(struct reader *r, uint64_t index)
{
    const char *path = "";

    while (take_text(r)[0] != '\0') {
        continue; /* folders */
    }
    for (uint64_t k = 1; k <= index; k++) {
        path = take_text(r);
        if (path[0] == '\0') {
            return "";
        }
        for (int i = 0; i < 3; i++) {
            (void)take_unsigned(r); /* folder, time, size */
        }
    }
    return path;
}

static const char *name_of(const struct msp_elf *elf, const struct unit *u, uint64_t file)
{
    struct reader names = u->names;
    const char *path;
    const char *slash;

    if (u->version >= 5) {
        (void)take_list(elf, u, &names, 0); /* folders */
        path = take_list(elf, u, &names, file);
    } else {
        path = take_old_list(&names, file);
    }
    slash = strrchr(path, '/');
    return (slash == NULL) ? path : slash + 1;
}

bool msp_elf_line(const struct msp_elf *elf, uint64_t address, const char **file_p,
                  unsigned *line_p)
{
    struct msp_elf section;
    struct reader table;
    struct unit u;
    struct row row;
    const char *name;

    if (!msp_elf_section(elf, ".debug_line", &section) || (section.size_bytes > TABLE_BYTES_MAX)) {
        return false;
    }
    table = (struct reader){section.bytes, section.bytes + section.size_bytes};
    while (next_unit(&table, &u)) {
        if (find_row(&u, address, &row)) {
            name = name_of(elf, &u, row.file);
            if ((name[0] == '\0') || (row.line == 0)) {
                return false;
            }
            *file_p = name;
            *line_p = (unsigned)row.line;
            return true;
        }
    }
    return false;
}
