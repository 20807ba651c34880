/* SPDX-License-Identifier: BSD-3-Clause */
/* file.c: opens what holds a persistent partition, and refuses what does not. */

#include "shmem/persistent/file.h"
#include "core/base/file.h"
#include "shmem/control/shared_file.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { HUGE_BYTES = 2 << 20 };

static memspan_status_t refuse(memspan_status_t status, const struct msp_persistent_file *file,
                               const char *what, const char *hint)
{
    memspan_error(status, "%s %s", file->where, what);
    return msp_error_hint("%s", hint);
}

static memspan_status_t refuse_call(memspan_status_t status, const char *call,
                                    const struct msp_persistent_file *file, const char *what,
                                    const char *hint)
{
    return msp_error_native(status, "", call, errno, strerror(errno), hint, "%s %s", file->where,
                            what);
}

/* ---- what the kernel knows of the memory below ---- */

/* The kernel's path of a device number, in full: "/sys/devices/.../region0/...". */
static bool find_device(const char *type, dev_t number, char path[PATH_MAX])
{
    char link[64];

    snprintf(link, sizeof link, "/sys/dev/%s/%u:%u", type, major(number), minor(number));
    return realpath(link, path) != NULL;
}

/* What the platform's firmware says of the region that holds the device. */
static void read_domain(const char *device, struct msp_persistent_file *file)
{
    const char *region = strstr(device, "/region");
    char path[PATH_MAX + 32];
    char text[32];

    if (region == NULL) {
        return;
    }
    snprintf(path, sizeof path, "%.*s/persistence_domain",
             (int)((size_t)(region - device) + 1 + strcspn(region + 1, "/")), device);
    if ((msp_file_read(path, text, sizeof text) > 0) && (text[0] != '\n')) {
        snprintf(file->domain, sizeof file->domain, "%.*s", (int)strcspn(text, "\n"), text);
    }
}

static memspan_status_t check_device(dev_t number, struct msp_persistent_file *file)
{
    char device[PATH_MAX];
    char path[PATH_MAX + 32];
    char subsystem[PATH_MAX] = "";

    snprintf(file->kind, sizeof file->kind, "device DAX");
    file->is_device = true;
    if (!find_device("char", number, device)) {
        return refuse(MEMSPAN_ERR_UNSUPPORTED, file, "is a device that /sys does not have",
                      "mount /sys");
    }
    snprintf(path, sizeof path, "%s/subsystem", device);
    if ((realpath(path, subsystem) == NULL) || (strcmp(basename(subsystem), "dax") != 0)) {
        return refuse(MEMSPAN_ERR_UNSUPPORTED, file, "is no DAX device",
                      "name a folder, or /dev/daxN.M");
    }
    /* Also volatile memory, as of CXL, can be in such devices. */
    if (strstr(device, "/ndbus") == NULL) {
        return refuse(MEMSPAN_ERR_UNSUPPORTED, file,
                      "is memory that the kernel does not know as persistent",
                      "KIND=LARGEMEM takes it, once daxctl has made it system-ram");
    }
    read_domain(device, file);
    snprintf(path, sizeof path, "%s/align", device);
    if (!msp_file_number(path, &file->align_bytes)) {
        file->align_bytes = HUGE_BYTES; /* of kernels that do not show it */
    }
    snprintf(path, sizeof path, "%s/size", device);
    if (!msp_file_number(path, &file->device_bytes) || !msp_is_power_of_two(file->align_bytes)) {
        return refuse(MEMSPAN_ERR_UNSUPPORTED, file, "has no size or alignment in /sys",
                      "see memquery, and daxctl list");
    }
    file->align_bytes = (file->align_bytes < HUGE_BYTES) ? HUGE_BYTES : file->align_bytes;
    return MEMSPAN_OK;
}

static memspan_status_t check_folder(int folder, struct msp_persistent_file *file)
{
    static const struct {
        unsigned long magic;
        const char *name;
    } kinds[] = {{EXT4_SUPER_MAGIC, "ext4"},    {0x58465342, "xfs"},
                 {BTRFS_SUPER_MAGIC, "btrfs"},  {OVERLAYFS_SUPER_MAGIC, "overlayfs"},
                 {NFS_SUPER_MAGIC, "nfs"},      {V9FS_MAGIC, "9p"},
                 {0x0bd00bd0, "lustre"},        {0x2fc12fc1, "zfs"},
                 {TMPFS_MAGIC, "tmpfs"},        {RAMFS_MAGIC, "ramfs"},
                 {HUGETLBFS_MAGIC, "hugetlbfs"}};
    struct statfs facts;
    size_t i;

    if (fstatfs(folder, &facts) != 0) {
        return refuse_call(MEMSPAN_ERR_DRIVER, "fstatfs", file, "is of no known file system", NULL);
    }
    snprintf(file->kind, sizeof file->kind, "file system %lx", (unsigned long)facts.f_type);
    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].magic == (unsigned long)facts.f_type) {
            snprintf(file->kind, sizeof file->kind, "%s", kinds[i].name);
        }
    }
    if ((facts.f_type == TMPFS_MAGIC) || (facts.f_type == RAMFS_MAGIC) ||
        (facts.f_type == HUGETLBFS_MAGIC)) {
        return refuse(MEMSPAN_ERR_UNSUPPORTED, file,
                      "would be in memory (tmpfs, ramfs, hugetlbfs): it ends with the machine",
                      "name a folder on a disk, on persistent memory (-o dax), or a DAX device");
    }
    return MEMSPAN_OK;
}

/* ---- opening ---- */

static memspan_status_t check_file(struct msp_persistent_file *file)
{
    char device[PATH_MAX];
    struct stat facts;

    if (fstat(file->fd, &facts) != 0) {
        return refuse_call(MEMSPAN_ERR_DRIVER, "fstat", file, "has no facts", NULL);
    }
    if (!S_ISREG(facts.st_mode)) {
        return refuse(MEMSPAN_ERR_INVALID, file, "is no file", "choose another name");
    }
    if (facts.st_uid != geteuid()) {
        return refuse(MEMSPAN_ERR_PERMISSION, file, "is another user's",
                      "choose another folder or name, or run as its user");
    }
    if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return refuse(MEMSPAN_ERR_PERMISSION, file, "can be written by other users",
                      "chmod go-w, if no other user has written it");
    }
    if (facts.st_nlink > 1) {
        return refuse(MEMSPAN_ERR_PERMISSION, file, "has a second name", "remove one of them");
    }
    file->is_new = (facts.st_size == 0);
    if (find_device("block", facts.st_dev, device)) {
        read_domain(device, file);
    }
    return MEMSPAN_OK;
}

static memspan_status_t open_in(int folder, const char *name, bool makes,
                                struct msp_persistent_file *file)
{
    int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (makes ? O_CREAT : 0);

    file->fd = msp_fd_above_streams(openat(folder, name, flags, S_IRUSR | S_IWUSR));
    if (file->fd >= 0) {
        return check_file(file);
    }
    if (errno == ENOENT) {
        return MEMSPAN_ERR_NOT_FOUND;
    }
    return refuse_call(MEMSPAN_ERR_PERMISSION, "open", file, "cannot be opened",
                       (errno == ELOOP) ? "it is a symbolic link: name the folder that it leads to"
                                        : "the user needs to read and write it");
}

/* The name is in the folder for good before the file holds anything. */
static memspan_status_t open_folder(const struct msp_partition_request *request, int first_pe,
                                    bool makes, struct msp_persistent_file *file)
{
    int folder = open(request->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char name[MSP_PARTITION_NAME_BYTES + 32];
    memspan_status_t status;

    if (folder < 0) {
        return refuse_call(MEMSPAN_ERR_PERMISSION, "open", file, "cannot be opened",
                           "the user needs to read and write the folder");
    }
    snprintf(name, sizeof name, "%s.%d.memspan", request->name, first_pe);
    snprintf(file->where, sizeof file->where, "%s/%s", request->path, name);
    file->align_bytes = HUGE_BYTES;
    status            = check_folder(folder, file);
    if (status == MEMSPAN_OK) {
        status = open_in(folder, name, makes, file);
    }
    if ((status == MEMSPAN_OK) && file->is_new && makes && (fsync(folder) != 0)) {
        status = refuse_call(MEMSPAN_ERR_DRIVER, "fsync", file, "has no name that lasts", NULL);
    }
    close(folder);
    return status;
}

static memspan_status_t open_device(const struct msp_partition_request *request, dev_t number,
                                    struct msp_persistent_file *file)
{
    memspan_status_t status = check_device(number, file);
    struct stat facts;

    if (status != MEMSPAN_OK) {
        return status; /* opening another device may do something */
    }
    file->fd = msp_fd_above_streams(open(request->path, O_RDWR | O_CLOEXEC | O_NONBLOCK));
    if ((file->fd < 0) || (fstat(file->fd, &facts) != 0) || (facts.st_rdev != number)) {
        return refuse_call(MEMSPAN_ERR_PERMISSION, "open", file, "cannot be opened",
                           "the user needs to read and write the device");
    }
    return MEMSPAN_OK;
}

static memspan_status_t lock(const struct msp_persistent_file *file, int how)
{
    if (flock(file->fd, how | LOCK_NB) == 0) {
        return MEMSPAN_OK;
    }
    return (errno == EWOULDBLOCK)
               ? refuse(MEMSPAN_ERR_CONFLICT, file, "is in use by another job",
                        "wait for its end, or choose another name")
               : refuse_call(MEMSPAN_ERR_DRIVER, "flock", file, "cannot be locked", NULL);
}

memspan_status_t msp_persistent_file_share_lock(const struct msp_persistent_file *file)
{
    return lock(file, LOCK_SH);
}

memspan_status_t msp_persistent_file_open(const struct msp_partition_request *request, int first_pe,
                                          bool makes, struct msp_persistent_file *file_p)
{
    struct msp_persistent_file file = {.fd = -1};
    memspan_status_t status;
    struct stat facts;

    snprintf(file.where, sizeof file.where, "%s", request->path);
    if (stat(request->path, &facts) != 0) {
        status = refuse_call(MEMSPAN_ERR_NOT_FOUND, "stat", &file, "is not there",
                             "make the folder, or name another");
        status = MEMSPAN_ERR_INVALID;
    } else if (S_ISCHR(facts.st_mode)) {
        status = open_device(request, facts.st_rdev, &file);
    } else {
        status = open_folder(request, first_pe, makes, &file);
    }
    if ((status == MEMSPAN_OK) && makes) {
        status = lock(&file, LOCK_EX);
    }
    if ((status != MEMSPAN_OK) && (file.fd >= 0)) {
        close(file.fd);
        file.fd = -1;
    }
    *file_p = file;
    return status;
}

void msp_persistent_file_undo(struct msp_persistent_file *file)
{
    if (file->fd < 0) {
        return;
    }
    if (file->is_new && !file->is_device) {
        (void)unlink(file->where);
    }
    close(file->fd);
    file->fd = -1;
}

/* ---- size ---- */

static uint64_t whole_bytes(const struct msp_root_layout *layout)
{
    return layout->data_bytes + (layout->stride_bytes * layout->local_count);
}

/* Before the file system is filled up for nothing. */
static memspan_status_t check_space(const struct msp_persistent_file *file, uint64_t bytes)
{
    struct statfs facts;
    struct stat now;
    uint64_t free_bytes;

    if ((fstatfs(file->fd, &facts) != 0) || (fstat(file->fd, &now) != 0)) {
        return refuse_call(MEMSPAN_ERR_DRIVER, "fstatfs", file, "has no facts", NULL);
    }
    free_bytes =
        ((uint64_t)facts.f_bavail * (uint64_t)facts.f_bsize) + ((uint64_t)now.st_blocks * 512);
    if (bytes <= free_bytes) {
        return MEMSPAN_OK;
    }
    memspan_error(MEMSPAN_ERR_NO_MEMORY,
                  "%s needs %llu bytes for all PEs of this host, and its file system has %llu",
                  file->where, (unsigned long long)bytes, (unsigned long long)free_bytes);
    return msp_error_hint("ask for less, start fewer PEs on this host, or choose another folder");
}

memspan_status_t msp_persistent_file_fill(const struct msp_persistent_file *file,
                                          const struct msp_root_layout *layout)
{
    struct msp_shared_file limit;
    memspan_status_t status;

    if (file->is_device) {
        return msp_persistent_file_compare(file, layout);
    }
    status = check_space(file, whole_bytes(layout));
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (msp_shared_file_is_beyond_limit(&limit, file->where, whole_bytes(layout))) {
        return (memspan_status_t)limit.status;
    }
    errno = posix_fallocate(file->fd, 0, (off_t)whole_bytes(layout));
    if (errno != 0) {
        return refuse_call((errno == ENOSPC) ? MEMSPAN_ERR_NO_MEMORY : MEMSPAN_ERR_DRIVER,
                           "posix_fallocate", file, "cannot have all its bytes",
                           "the file system has too little space for all PEs of this host, or "
                           "reserves none");
    }
    return MEMSPAN_OK;
}

memspan_status_t msp_persistent_file_compare(const struct msp_persistent_file *file,
                                             const struct msp_root_layout *layout)
{
    struct stat facts = {.st_size = 0};
    uint64_t found;

    if (fstat(file->fd, &facts) != 0) {
        return refuse_call(MEMSPAN_ERR_DRIVER, "fstat", file, "has no facts", NULL);
    }
    found = file->is_device ? file->device_bytes : (uint64_t)facts.st_size;
    if ((found == whole_bytes(layout)) || (file->is_device && (found > whole_bytes(layout)))) {
        return MEMSPAN_OK;
    }
    memspan_error(MEMSPAN_ERR_NO_MEMORY, "%s has %llu bytes, and %u PEs of this host need %llu",
                  file->where, (unsigned long long)found, layout->local_count,
                  (unsigned long long)whole_bytes(layout));
    return msp_error_hint(file->is_device ? "ask for less, or start fewer PEs on this host"
                                          : "it was cut or extended: its blocks cannot be trusted");
}

/* ---- the root ---- */

/* Mappings of a device are of its alignment. */
static size_t area_bytes(const struct msp_persistent_file *file)
{
    return file->is_device ? (size_t)file->align_bytes : (size_t)MSP_ROOT_AREA_BYTES;
}

void *msp_persistent_file_map(const struct msp_persistent_file *file, bool writes,
                              bool *is_direct_p)
{
    int access = PROT_READ | (writes ? PROT_WRITE : 0);
    struct stat facts;
    void *area;

    if (!file->is_device) {
        if ((fstat(file->fd, &facts) != 0) || (facts.st_size < MSP_ROOT_AREA_BYTES)) {
            refuse(MEMSPAN_ERR_INVALID, file, "is no persistent partition",
                   "remove the file, or choose another name");
            return NULL;
        }
        area = mmap(NULL, area_bytes(file), access, MAP_SHARED_VALIDATE | MAP_SYNC, file->fd, 0);
        if (area != MAP_FAILED) {
            *is_direct_p = true;
            return area;
        }
    }
    *is_direct_p = file->is_device;
    area         = mmap(NULL, area_bytes(file), access, MAP_SHARED, file->fd, 0);
    if (area == MAP_FAILED) {
        refuse_call(MEMSPAN_ERR_DRIVER, "mmap", file, "cannot be mapped", NULL);
        return NULL;
    }
    return area;
}

void msp_persistent_file_unmap(const struct msp_persistent_file *file, void *area)
{
    munmap(area, area_bytes(file));
}
