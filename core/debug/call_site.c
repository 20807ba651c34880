/* SPDX-License-Identifier: BSD-3-Clause */
/* call_site.c: a frame is the name of its module, the first bytes of the module's build ID, and the
 * offset from where the module is loaded. Another build of a module has other offsets, so its sites
 * must be others too. */

#include "core/base/error.h"
#include "core/base/object.h"
#include "core/base/text.h"
#include "core/debug/call_stack.h"
#include <elf.h>
#include <link.h>
#include <memspan/placement.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Stacks of more frames differ by the innermost ones. */
enum { BUILD_BYTES = 4, FRAMES_SHOWN = 12 };

static const char own_name[] = "libmemspan"; /* and libraries of its tools */

/* ---- modules ---- */

/* The first bytes of the build ID in hexadecimal; zeros without one. */
static void read_build(const struct dl_phdr_info *info, char *text, size_t size_bytes)
{
    uint32_t build = 0;

    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const char *note       = (const char *)(info->dlpi_addr + part->p_vaddr);
        const char *end        = note + part->p_memsz;

        while ((part->p_type == PT_NOTE) && ((size_t)(end - note) > sizeof(ElfW(Nhdr)))) {
            ElfW(Nhdr) head;
            size_t name_bytes;

            memcpy(&head, note, sizeof(head));
            note += sizeof(head);
            name_bytes = (head.n_namesz + 3) & ~(size_t)3;
            if ((head.n_type == NT_GNU_BUILD_ID) && (head.n_namesz == sizeof(ELF_NOTE_GNU)) &&
                (head.n_descsz >= BUILD_BYTES) &&
                (memcmp(note, ELF_NOTE_GNU, head.n_namesz) == 0)) {
                memcpy(&build, note + name_bytes, BUILD_BYTES);
            }
            note += name_bytes + ((head.n_descsz + 3) & ~(size_t)3);
        }
    }
    (void)snprintf(text, size_bytes, "%08x", __builtin_bswap32(build));
}

static void print_module(const struct dl_phdr_info *info, char text[MSP_MODULE_BYTES])
{
    char path[256];
    char build[2 * BUILD_BYTES + 1];
    const char *name = info->dlpi_name;
    const char *slash;

    if (name[0] == '\0') { /* the program */
        ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

        path[(n < 0) ? 0 : n] = '\0';
        name                  = path;
    }
    slash = strrchr(name, '/');
    name  = (slash == NULL) ? name : slash + 1;
    read_build(info, build, sizeof(build));
    (void)snprintf(text, MSP_MODULE_BYTES, "%.60s:%s", name, build);
    for (char *c = text; *c != '\0'; c++) {
        *c = ((unsigned char)*c <= ' ') || (*c == '#') ? '_' : *c; /* a placement file's own */
    }
}

struct listing {
    void (*take)(void *data, const char *module);
    void *data;
};

static int list_one(struct dl_phdr_info *info, size_t size, void *data)
{
    const struct listing *listing = data;
    char module[MSP_MODULE_BYTES];

    (void)size;
    print_module(info, module);
    listing->take(listing->data, module);
    return 0;
}

void msp_call_site_modules(void (*take)(void *data, const char *module), void *data)
{
    struct listing listing = {take, data};

    (void)dl_iterate_phdr(list_one, &listing);
}

/* ---- frames ---- */

struct frame {
    uintptr_t address;
    uintptr_t libc; /* an address in the C library */
    uintptr_t base;
    bool in_libc;
    char module[MSP_MODULE_BYTES];
};

static int find_module(struct dl_phdr_info *info, size_t size, void *data)
{
    struct frame *frame = data;

    (void)size;
    if (!msp_object_holds(info, frame->address)) {
        return 0;
    }
    frame->base    = info->dlpi_addr;
    frame->in_libc = msp_object_holds(info, frame->libc);
    print_module(info, frame->module);
    return 1;
}

void msp_call_site_print(const struct msp_call_stack *stack, char *text, size_t size_bytes)
{
    size_t used   = 0;
    size_t frames = 0;

    text[0] = '\0';
    for (size_t i = 0; (i < stack->depth) && (frames < FRAMES_SHOWN); i++) {
        /* A return address may be that of the next function: the call is before it. */
        struct frame frame = {.address = (uintptr_t)stack->frames[i] - 1,
                              .libc    = (uintptr_t)&abort};
        size_t start       = used;

        if ((dl_iterate_phdr(find_module, &frame) == 0) || frame.in_libc ||
            ((used == 0) && (strncmp(frame.module, own_name, sizeof(own_name) - 1) == 0))) {
            continue;
        }
        frames++;
        msp_text_append(text, size_bytes, &used, "%s%s+0x%zx", (used == 0) ? "" : " ", frame.module,
                        (size_t)(frame.address - frame.base));
        if (used + 1 >= size_bytes) { /* not a part of a frame */
            text[start] = '\0';
            return;
        }
    }
}

const struct msp_call_stack *msp_call_site_stack(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, msp_call_stack_start);
    return msp_call_stack_here();
}

memspan_status_t memspan_call_site(char *text, size_t size_bytes)
{
    const struct msp_call_stack *stack;

    if ((text == NULL) || (size_bytes == 0)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "no room for the text of a call site");
    }
    stack = msp_call_site_stack();
    if (stack == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a call stack");
    }
    msp_call_site_print(stack, text, size_bytes);
    return MEMSPAN_OK;
}
