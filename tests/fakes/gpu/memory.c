/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: memory with two views, and the pages of others. */

#include "tests/fakes/gpu/gpu.h"
#include "tests/queue/judge.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct fake_memory *fake_find(uintptr_t address)
{
    struct fake_memory *m;

    for (m = gpu.memory; m != NULL; m = m->next) {
        if ((address >= m->base) && (address - m->base < m->size)) {
            return m;
        }
    }
    return NULL;
}

void *fake_at(const struct fake_memory *m, uintptr_t address, size_t size)
{
    size_t offset = address - m->base;

    return ((offset > m->size) || (size > m->size - offset)) ? NULL : m->bytes + offset;
}

bool fake_overlaps(const struct fake_memory *m, uintptr_t address, size_t size)
{
    return (m->base < address + size) && (address < m->base + m->size);
}

void *fake_reserve(size_t size, size_t align)
{
    char *range =
        mmap(NULL, size + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *base = (char *)(((uintptr_t)range + align - 1) & ~(align - 1));

    if (range == MAP_FAILED) {
        return NULL;
    }
    if (base > range) {
        munmap(range, (size_t)(base - range));
    }
    munmap(base + size, (size_t)(range + align - base));
    return base;
}

struct fake_memory *fake_add(enum fake_kind kind, int device, size_t size)
{
    struct fake_memory *m = calloc(1, sizeof(*m));

    m->kind   = kind;
    m->device = device;
    m->size   = size;
    m->mapped = fake_whole_pages(size);
    m->fd = m->shared_fd = m->export_fd = -1;
    m->next                             = gpu.memory;
    gpu.memory                          = m;
    return m;
}

struct fake_memory *fake_add_pages(enum fake_kind kind, int device, void *pages, size_t size)
{
    struct fake_memory *m = fake_add(kind, device, size);

    m->base  = (uintptr_t)pages;
    m->bytes = pages;
    return m;
}

bool fake_map_views(struct fake_memory *m, int fd, void *at, int protection)
{
    char *outer =
        mmap(at, m->mapped, protection, MAP_SHARED | ((at != NULL) ? MAP_FIXED : 0), fd, 0);
    char *inner = mmap(NULL, m->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if ((outer == MAP_FAILED) || (inner == MAP_FAILED)) {
        return false;
    }
    m->fd    = fd;
    m->outer = outer;
    m->inner = inner;
    m->base  = (uintptr_t)outer + m->lead;
    m->bytes = inner + m->lead;
    return true;
}

bool fake_spoil(const struct fake_memory *m)
{
    static char spoilt[1 << 16];

    memset(spoilt, 0xcd, sizeof(spoilt));
    for (size_t at = 0; at < m->mapped; at += sizeof(spoilt)) {
        size_t part = (m->mapped - at < sizeof(spoilt)) ? m->mapped - at : sizeof(spoilt);

        if (pwrite(m->fd, spoilt, part, (off_t)at) != (ssize_t)part) {
            return false;
        }
    }
    return true;
}

struct fake_memory *fake_create(enum fake_kind kind, int device, size_t size, size_t align,
                                int protection)
{
    int fd                = memfd_create("pretended-gpu", MFD_CLOEXEC);
    struct fake_memory *m = fake_add(kind, device, size);

    if (fake_lies("align")) {
        m->lead   = 128;
        m->mapped = fake_whole_pages(size + m->lead);
    }
    if ((fd < 0) || (ftruncate(fd, (off_t)m->mapped) != 0) ||
        !fake_map_views(m, fd, fake_reserve(m->mapped, align), protection)) {
        return NULL;
    }
    if ((kind == FAKE_DEVICE) && !fake_spoil(m)) {
        return NULL;
    }
    if (kind == FAKE_DEVICE) {
        gpu.used[device] += m->mapped;
    }
    return m;
}

void fake_remove(struct fake_memory *m)
{
    struct fake_memory **link = &gpu.memory;

    while (*link != m) {
        link = &(*link)->next;
    }
    *link = m->next;
    order_forget(m->base, m->size);
    if ((m->kind == FAKE_DEVICE) && !m->opened) {
        gpu.used[m->device] -= m->mapped;
    }
    /* The range and the descriptor of mapped memory are not this memory's. */
    if ((m->outer != NULL) && (m->kind != FAKE_MAPPED)) {
        munmap(m->outer, m->mapped);
    }
    if (m->inner != NULL) {
        munmap(m->inner, m->mapped);
    }
    if ((m->fd >= 0) && (m->kind != FAKE_MAPPED)) {
        close(m->fd);
    }
    free(m);
}

void fake_open(struct fake_memory *m, bool open)
{
    mprotect(m->outer, m->mapped, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

void fake_managed_open(bool open)
{
    struct fake_memory *m;

    gpu.managed_closed = !open;
    for (m = gpu.memory; m != NULL; m = m->next) {
        if ((m->kind == FAKE_MANAGED) && (m->attached == NULL)) {
            fake_open(m, open);
        }
    }
}

int fake_fetch(int pid, int fd)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
    return open(path, O_RDWR | O_CLOEXEC);
}

int fake_gpu_live(void)
{
    const struct fake_memory *m;
    int live = gpu.objects;

    for (m = gpu.memory; m != NULL; m = m->next) {
        live++;
    }
    return live;
}
