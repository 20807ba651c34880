/* SPDX-License-Identifier: BSD-3-Clause */
/* import.c: host pages.
 *
 * Another process cannot see the program's pages, so their place is taken, at the same address, by
 * pages of a memory file with the same contents, which the devices map. No other may write to them
 * meanwhile. After the last release they stay as they are: the file goes with the mapping. Pages
 * that a file shares with other processes already stay as they are: the devices map that file,
 * which must be open in the program. */

#include "backends/emu/emu.h"
#include "core/base/platform.h"
#include "core/topology/pages.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct emu_import {
    struct emu_import *next;
    char *address;
    size_t size_bytes;
    int file;
    uint64_t offset; /* of the pages in it */
    int references;  /* of all devices together */
};

/* The line of /proc for the mapping that holds an address. */
struct backing {
    bool is_shared;
    uintptr_t end;
    uint64_t offset; /* of the address, in the file */
    dev_t device;
    ino_t inode;
};

static bool find_backing(const void *address, struct backing *backing_p)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    bool found = false;
    char line[512];

    while (!found && (maps != NULL) && (fgets(line, sizeof line, maps) != NULL)) {
        unsigned long first;
        unsigned long end;
        unsigned long offset;
        unsigned long inode;
        unsigned major_number;
        unsigned minor_number;
        char access[8];

        if ((sscanf(line, "%lx-%lx %4s %lx %x:%x %lu", &first, &end, access, &offset, &major_number,
                    &minor_number, &inode) == 7) &&
            ((uintptr_t)address >= first) && ((uintptr_t)address < end)) {
            *backing_p = (struct backing){.is_shared = (access[3] == 's'),
                                          .end       = end,
                                          .offset    = offset + ((uintptr_t)address - first),
                                          .device    = makedev(major_number, minor_number),
                                          .inode     = inode};
            found      = true;
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return found;
}

/* A descriptor of the program's for that file, doubled; -1: it has none that may write. */
static int find_descriptor(const struct backing *backing)
{
    DIR *folder = opendir("/proc/self/fd");
    struct dirent *entry;
    int copy = -1;

    while ((copy < 0) && (folder != NULL) && ((entry = readdir(folder)) != NULL)) {
        int fd = atoi(entry->d_name);
        struct stat facts;

        if ((entry->d_name[0] != '.') && (fstat(fd, &facts) == 0) &&
            (facts.st_ino == backing->inode) && (facts.st_dev == backing->device) &&
            ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR)) {
            copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return copy;
}

static memspan_status_t use_file(const struct emu *emu, const struct backing *backing,
                                 struct emu_import *import)
{
    if (backing->end - (uintptr_t)import->address < import->size_bytes) {
        return emu_refuse(emu, MEMSPAN_ERR_UNSUPPORTED, NULL,
                          "%zu bytes at %p are shared by several mappings", import->size_bytes,
                          (void *)import->address);
    }
    import->offset = backing->offset;
    import->file   = find_descriptor(backing);
    if (import->file < 0) {
        return emu_refuse(emu, MEMSPAN_ERR_UNSUPPORTED, "keep the file open while it is imported",
                          "%zu bytes at %p are shared by a file that is not open in this process",
                          import->size_bytes, (void *)import->address);
    }
    return MEMSPAN_OK;
}

/* Whether the pages at @p address are locked: from /proc/self/smaps, which takes the kernel long,
 * so it is read only where the process has locked anything. */
static bool is_locked(const void *address)
{
    struct msp_lock_limits lock;
    bool found  = false;
    bool locked = false;
    char line[512];
    FILE *maps;

    msp_lock_limits_read(&lock);
    maps = (lock.locked_bytes > 0) ? fopen("/proc/self/smaps", "re") : NULL;
    while (!locked && (maps != NULL) && (fgets(line, sizeof line, maps) != NULL)) {
        unsigned long first;
        unsigned long end;
        unsigned long size;

        if (sscanf(line, "%lx-%lx ", &first, &end) == 2) {
            found = ((uintptr_t)address >= first) && ((uintptr_t)address < end);
        }
        locked = found && (sscanf(line, "Locked: %lu kB", &size) == 1) && (size > 0);
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return locked;
}

static memspan_status_t replace_pages(const struct emu *emu, struct emu_import *import)
{
    size_t size      = import->size_bytes;
    bool were_locked = is_locked(import->address);
    void *twin;

    twin = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, import->file, 0);
    if (twin == MAP_FAILED) {
        return emu_system_error(emu, "mmap", "no second view of %zu bytes", size);
    }
    memcpy(twin, import->address, size);
    munmap(twin, size);
    if (mmap(import->address, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, import->file,
             0) == MAP_FAILED) {
        return emu_system_error(emu, "mmap", "%zu bytes of host pages at %p cannot be shared", size,
                                (void *)import->address);
    }
    if (were_locked && (msp_pages_lock(import->address, size) != 0)) {
        return emu_system_error(emu, "mlock", "%zu bytes at %p were locked and cannot be again",
                                size, (void *)import->address);
    }
    return MEMSPAN_OK;
}

static memspan_status_t make_import(struct emu *emu, void *address, size_t size_bytes,
                                    struct emu_import **import_p)
{
    struct emu_import *import = calloc(1, sizeof(*import));
    struct backing backing;
    memspan_status_t status;

    if (import == NULL) {
        return emu_refuse(emu, MEMSPAN_ERR_NO_MEMORY, NULL, "no memory for a record");
    }
    import->address    = address;
    import->size_bytes = size_bytes;
    if (find_backing(address, &backing) && backing.is_shared) {
        status = use_file(emu, &backing, import);
        if (status != MEMSPAN_OK) {
            goto err_free;
        }
    } else {
        status = emu_file_make(emu, "memspan-emu-import", size_bytes, &import->file);
        if (status != MEMSPAN_OK) {
            goto err_free;
        }
        status = replace_pages(emu, import);
        if (status != MEMSPAN_OK) {
            goto err_close;
        }
    }
    import->next = emu->imports;
    emu->imports = import;
    *import_p    = import;
    return MEMSPAN_OK;

err_close:
    close(import->file);
err_free:
    free(import);
    return status;
}

static void drop_import(struct emu *emu, struct emu_import *import)
{
    struct emu_import **link;

    for (link = &emu->imports; *link != import; link = &(*link)->next) {
    }
    *link = import->next;
    close(import->file);
    free(import);
}

static memspan_status_t find_import(struct emu *emu, char *address, size_t size_bytes,
                                    struct emu_import **import_p)
{
    struct emu_import *i;

    for (i = emu->imports; i != NULL; i = i->next) {
        if ((i->address == address) && (i->size_bytes == size_bytes)) {
            *import_p = i;
            return MEMSPAN_OK;
        }
        if ((i->address < address + size_bytes) && (address < i->address + i->size_bytes)) {
            return emu_refuse(emu, MEMSPAN_ERR_INVALID, NULL,
                              "%zu bytes at %p overlap pages that are imported", size_bytes,
                              (void *)address);
        }
    }
    return make_import(emu, address, size_bytes, import_p);
}

memspan_status_t emu_map_in_device(struct emu_device *device, void *address, size_t size_bytes,
                                   pid_t pid, int file, uint64_t offset)
{
    const struct emu *emu            = device->emu;
    const struct emu_command command = {.op     = EMU_OP_MAP,
                                        .count  = size_bytes,
                                        .offset = offset,
                                        .x      = (uint64_t)file,
                                        .y      = (uint64_t)pid,
                                        .z      = (uintptr_t)address};
    uint64_t number;
    int error;
    memspan_status_t status = emu_process_submit(device, &command, &number);

    if (status == MEMSPAN_OK) {
        status = emu_process_wait(device, number);
    }
    error = (int)-device->control->ring.map_result;
    if ((status != MEMSPAN_OK) || (error == 0)) {
        return status;
    }
    return emu->services->fail(MEMSPAN_ERR_DRIVER, EMU_NAME, "mmap", error, strerrordesc_np(error),
                               "its process opens /proc/PID/fd/N, which takes the same user",
                               "emu%d cannot map %zu bytes of process %d at %p", device->ordinal,
                               size_bytes, (int)pid, address);
}

memspan_status_t emu_import(void *state, int ordinal, void *address, size_t size_bytes,
                            void **address_p, void **cookie_p)
{
    struct emu *emu = state;
    struct emu_device *device;
    struct emu_import *import = NULL;
    memspan_status_t status   = emu_enter(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if ((address == NULL) || (size_bytes == 0) ||
        ((((uintptr_t)address | size_bytes) & (msp_page_size() - 1)) != 0) ||
        emu_arena_holds(emu, address)) {
        return emu_refuse(emu, MEMSPAN_ERR_INVALID, NULL,
                          "%zu bytes at %p are no whole pages of host memory", size_bytes, address);
    }
    pthread_mutex_lock(&emu->import_lock);
    status = find_import(emu, address, size_bytes, &import);
    if (status == MEMSPAN_OK) {
        status =
            emu_map_in_device(device, address, size_bytes, emu->pid, import->file, import->offset);
        if (status == MEMSPAN_OK) {
            import->references++;
        } else if (import->references == 0) {
            drop_import(emu, import);
        }
    }
    pthread_mutex_unlock(&emu->import_lock);
    if (status == MEMSPAN_OK) {
        *address_p = address;
        *cookie_p  = import;
    }
    return status;
}

memspan_status_t emu_release(void *state, int ordinal, void *address, size_t size_bytes,
                             void *cookie)
{
    struct emu *emu           = state;
    struct emu_import *import = cookie;
    struct emu_device *device;
    uint64_t number;
    memspan_status_t status = emu_enter_lost(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if ((import == NULL) || (import->address != address) || (import->size_bytes != size_bytes)) {
        return emu_refuse(emu, MEMSPAN_ERR_INVALID, NULL, "%zu bytes at %p were not imported",
                          size_bytes, address);
    }
    pthread_mutex_lock(&emu->import_lock);
    if (!atomic_load(&device->lost)) {
        status = emu_process_submit(
            device,
            &(struct emu_command){.op = EMU_OP_UNMAP, .count = size_bytes, .z = (uintptr_t)address},
            &number);
        status = (status == MEMSPAN_OK) ? emu_process_wait(device, number) : status;
    }
    import->references--;
    if (import->references == 0) {
        drop_import(emu, import);
    }
    pthread_mutex_unlock(&emu->import_lock);
    return status;
}
