/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/elf.h"
#include "tests/unit/elf/header.h"
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* MEMSPAN_ELF_FILES: the libraries of function.c, blanks between them. */
static const char files[] = MEMSPAN_ELF_FILES;

static const char *return_address;

static void note_caller(void)
{
    return_address = __builtin_return_address(0);
}

typedef int elf_function(void (*call)(void), int *line_p);

/* Where the library's function calls, as its file has it, and in which line. */
static uint64_t find_call(const char *path, int *line_p)
{
    void *library = dlopen(path, RTLD_NOW);
    struct link_map *map;
    void *symbol;
    elf_function *function;

    cr_assert_not_null(library, "%s", dlerror());
    symbol = dlsym(library, "elf_function");
    cr_assert_not_null(symbol);
    memcpy(&function, &symbol, sizeof(function));
    cr_expect_eq(function(note_caller, line_p), *line_p * 3);
    cr_assert_eq(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
    return (uint64_t)(uintptr_t)(return_address - 1) - map->l_addr;
}

/* Calls @p check with each of the libraries. */
static void for_each(void (*check)(const char *path))
{
    char *copy = strdup(files);
    char *rest = copy;
    int count  = 0;

    for (char *path; (path = strsep(&rest, " ")) != NULL; count++) {
        check(path);
    }
    cr_assert_eq(count, 4);
    free(copy);
}

static void check_line(const char *path)
{
    struct msp_elf elf;
    uint64_t into    = 0;
    const char *name = "";
    unsigned line    = 0;
    int expected     = 0;
    uint64_t address = find_call(path, &expected);
    uint64_t start;

    cr_assert(msp_elf_open(&elf, path), "%s", path);
    cr_assert(msp_elf_line(&elf, address, &name, &line), "%s: no line", path);
    cr_expect_str_eq(name, "function.c", "%s", path);
    cr_expect_eq(line, (unsigned)expected, "%s: line %u, expected %d", path, line, expected);
    name = msp_elf_function(&elf, address, &into);
    cr_assert_not_null(name);
    cr_expect_str_eq(name, "elf_function");
    start = address - into;
    /* Its first line, or that of its brace. */
    cr_expect(msp_elf_line(&elf, start, &name, &line), "%s", path);
    cr_expect(((int)line >= expected - 3) && ((int)line < expected), "%s: %u", path, line);
    cr_expect_not(msp_elf_line(&elf, 1, &name, &line), "a line of what is no code");
    cr_expect_not(msp_elf_line(&elf, start + (1 << 20), &name, &line));
    cr_expect_null(msp_elf_function(&elf, start + (1 << 20), &into));
    msp_elf_close(&elf);
}

Test(elf, lines_and_functions_of_every_version)
{
    for_each(check_line);
}

static void check_header(const char *path)
{
    struct msp_elf elf;
    const char *name = "";
    unsigned line    = 0;
    bool found       = false;
    int expected;
    uint64_t address = find_call(path, &expected);

    cr_assert(msp_elf_open(&elf, path));
    /* Inlined or not, it is near. */
    for (int i = -512; i < 512; i++) {
        found = found || (msp_elf_line(&elf, address + (uint64_t)i, &name, &line) &&
                          (strcmp(name, "header.h") == 0) && (line == ELF_HEADER_LINE));
    }
    cr_expect(found, "%s", path);
    msp_elf_close(&elf);
}

Test(elf, code_of_a_header_is_the_headers)
{
    for_each(check_header);
}

Test(elf, offsets_have_addresses)
{
    struct msp_elf elf;
    char path[256];

    snprintf(path, sizeof(path), "%.*s", (int)strcspn(files, " "), files);
    cr_assert(msp_elf_open(&elf, path));
    cr_expect_eq(msp_elf_address(&elf, elf.size_bytes + 4096), 0);
    cr_expect_eq(msp_elf_address(&elf, 16), 16); /* the first segment begins with the file */
    msp_elf_close(&elf);
    cr_expect_not(msp_elf_open(&elf, "/no/such/file"));
    cr_expect_not(msp_elf_open(&elf, "/dev/null"));
    cr_expect_not(msp_elf_open(&elf, __FILE__));
}

static uint64_t draw(void)
{
    static uint64_t state = 1;

    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return state >> 33;
}

/* Nothing of the file is read outside the file: a page that is closed lies behind it. */
static void check_damaged(const char *path)
{
    struct msp_elf good;
    int expected;
    uint64_t address = find_call(path, &expected);
    size_t page      = (size_t)sysconf(_SC_PAGESIZE);
    size_t room;
    unsigned char *pages;

    cr_assert(msp_elf_open(&good, path));
    room  = (good.size_bytes + page - 1) / page * page;
    pages = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(pages != MAP_FAILED);
    cr_assert_eq(mprotect(pages + room, page, PROT_NONE), 0);
    for (int round = 0; round < 400; round++) {
        size_t size        = good.size_bytes - ((round % 2 == 0) ? 0 : draw() % good.size_bytes);
        struct msp_elf bad = {pages + room - size, size};
        struct msp_elf lines;
        const char *name;
        unsigned line;
        uint64_t into;

        if (size < 64) {
            continue; /* msp_elf_open() refuses it */
        }
        memcpy(pages + room - size, good.bytes, size);
        if (msp_elf_section(&bad, ".debug_line", &lines) && (lines.size_bytes > 0)) {
            pages[(size_t)(lines.bytes - pages) + draw() % lines.size_bytes] =
                (unsigned char)draw();
        }
        for (int i = 0; i < round / 4; i++) {
            pages[room - size + ((i % 2 == 0) ? draw() % 64 : draw() % size)] =
                (unsigned char)draw();
        }
        (void)msp_elf_line(&bad, address, &name, &line);
        (void)msp_elf_function(&bad, address, &into);
        (void)msp_elf_address(&bad, address);
    }
    munmap(pages, room + page);
    msp_elf_close(&good);
}

Test(elf, a_damaged_file_is_read_to_its_end_at_most)
{
    for_each(check_damaged);
}
