/* SPDX-License-Identifier: BSD-3-Clause */
/* runtime.c: an OpenMP offload runtime with two pretended devices.
 *
 * FAKE_OFFLOAD says what they are:
 *   card    (default) device memory is a memory file mapped twice, without access where the program
 *           has the address: a stray access of the library ends the test
 *   remote  device addresses are plain memory here too, but the device's bytes are elsewhere
 *   host    device memory is the host's
 *   none    no devices
 * Nothing is better aligned than 64 bytes; more than 1 GiB is refused; FAKE_OFFLOAD_LOCK=elsewhere
 * makes a device see locked memory at another address. FAKE_PLAIN: the OpenMP 4.5 calls alone. */

#include "tests/fakes/end.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DEVICES = 2, BLOCKS_MAX = 256, OFFSET = 64, PAGE = 4096 };

struct block {
    char *address; /* what the program has */
    char *view;    /* where the bytes are */
    size_t size;
    int device;
    char sort; /* d, h, s */
};

static struct block blocks[BLOCKS_MAX];
static int locked; /* host memory that devices were given, and not taken again */

int fake_live_blocks(void);
int omp_get_num_devices(void);
void *omp_target_alloc(size_t size, int device);
void omp_target_free(void *pointer, int device);
int omp_target_memcpy(void *to, const void *from, size_t size, size_t to_offset, size_t from_offset,
                      int to_device, int from_device);

static int is_sort(const char *sort)
{
    const char *word = getenv("FAKE_OFFLOAD");

    return strcmp((word == NULL) ? "card" : word, sort) == 0;
}

static void give_up(const char *what)
{
    fprintf(stderr, "fake offload runtime: %s\n", what);
    abort();
}

int fake_live_blocks(void)
{
    int count = locked;
    int i;

    for (i = 0; i < BLOCKS_MAX; i++) {
        count += (blocks[i].address != NULL);
    }
    return count;
}

int omp_get_num_devices(void)
{
    return is_sort("none") ? 0 : DEVICES;
}

static struct block *block_of(const void *pointer)
{
    int i;

    for (i = 0; i < BLOCKS_MAX; i++) {
        struct block *b = &blocks[i];
        if ((b->address != NULL) && ((const char *)pointer >= b->address) &&
            ((const char *)pointer < b->address + b->size)) {
            return b;
        }
    }
    return NULL;
}

static void map_block(struct block *block)
{
    size_t size = block->size + OFFSET;
    int closed  = (block->sort == 'd') && is_sort("card");
    int file    = memfd_create("fake", 0);

    if ((file < 0) || (ftruncate(file, (off_t)size) != 0)) {
        give_up("no memory file");
    }
    block->view = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (closed) {
        block->address = mmap(NULL, size, PROT_NONE, MAP_SHARED, file, 0);
    } else {
        block->address =
            mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    close(file);
    if ((block->view == MAP_FAILED) || (block->address == MAP_FAILED)) {
        give_up("no mapping");
    }
    if (!closed && !((block->sort == 'd') && is_sort("remote"))) {
        munmap(block->view, size);
        block->view = block->address;
    }
    block->address += OFFSET;
    block->view += OFFSET;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards blocks and locked */

static void begin(const char *name)
{
    fake_call_begins(name);
    pthread_mutex_lock(&lock);
}

static void end(void)
{
    pthread_mutex_unlock(&lock);
    fake_call_ends();
}

static void *take_locked(size_t size, int device, char sort)
{
    int i;

    if ((device < 0) || (device >= DEVICES)) {
        give_up("allocation on no device"); /* as libomptarget does */
    }
    if ((size == 0) || (size > (size_t)1 << 30)) {
        return NULL;
    }
    for (i = 0; blocks[i].address != NULL; i++) {
        if (i == BLOCKS_MAX - 1) {
            return NULL;
        }
    }
    blocks[i] = (struct block){NULL, NULL, size, device, sort};
    map_block(&blocks[i]);
    return blocks[i].address;
}

static void *take(size_t size, int device, char sort)
{
    void *address;

    begin("an allocation");
    address = take_locked(size, device, sort);
    end();
    return address;
}

/* In KiB, of all that the process has locked. */
static long locked_memory(void)
{
    FILE *file = fopen("/proc/self/status", "re");
    long kib   = 0;
    char line[128];

    while ((file != NULL) && (fgets(line, sizeof(line), file) != NULL) &&
           (sscanf(line, "VmLck: %ld", &kib) != 1)) {
    }
    if (file != NULL) {
        fclose(file);
    }
    return kib;
}

static void give_back(void *pointer, int device, char sort)
{
    struct block *block;
    long before;

    begin("a free");
    block  = block_of(pointer);
    before = locked_memory();
    if ((block == NULL) || (block->address != pointer) || (block->device != device) ||
        (block->sort != sort)) {
        give_up("freed by the wrong call, on the wrong device or twice");
    }
    if (block->view != block->address) {
        munmap(block->view - OFFSET, block->size + OFFSET);
    }
    munmap(block->address - OFFSET, block->size + OFFSET);
    block->address = NULL;
    if (locked_memory() != before) {
        give_up("freed while it was locked: the next user's would be");
    }
    end();
}

void *omp_target_alloc(size_t size, int device)
{
    return take(size, device, 'd');
}

void omp_target_free(void *pointer, int device)
{
    give_back(pointer, device, 'd');
}

/* Where a side's bytes are. A device number must fit the address. */
static char *side(const void *pointer, size_t size, int device)
{
    struct block *block = block_of(pointer);

    if (device == DEVICES) {
        if ((block != NULL) && (block->sort == 'd') && is_sort("card")) {
            give_up("device memory was called the host's");
        }
        return (char *)pointer;
    }
    if ((block == NULL) || (block->device != device)) {
        give_up("memory was called another device's");
        return NULL;
    }
    if ((const char *)pointer + size > block->address + block->size) {
        give_up("past the end of a block");
    }
    return block->view + ((const char *)pointer - block->address);
}

int omp_target_memcpy(void *to, const void *from, size_t size, size_t to_offset, size_t from_offset,
                      int to_device, int from_device)
{
    if ((to_device < 0) || (to_device > DEVICES) || (from_device < 0) || (from_device > DEVICES)) {
        return -1;
    }
    begin("omp_target_memcpy");
    memcpy(side((char *)to + to_offset, size, to_device),
           side((const char *)from + from_offset, size, from_device), size);
    end();
    return 0;
}

#ifndef FAKE_PLAIN

void *omp_target_memset(void *pointer, int byte, size_t size, int device);
void *llvm_omp_target_alloc_host(size_t size, int device);
void *llvm_omp_target_alloc_shared(size_t size, int device);
void llvm_omp_target_free_host(void *pointer, int device);
void llvm_omp_target_free_shared(void *pointer, int device);
void *llvm_omp_target_lock_mem(void *pointer, size_t size, int device);
void llvm_omp_target_unlock_mem(void *pointer, int device);
const char *omp_get_uid_from_device(int device);

void *omp_target_memset(void *pointer, int byte, size_t size, int device)
{
    begin("omp_target_memset");
    memset(side(pointer, size, device), byte, size);
    end();
    return pointer;
}

void *llvm_omp_target_alloc_host(size_t size, int device)
{
    return take(size, device, 'h');
}

void *llvm_omp_target_alloc_shared(size_t size, int device)
{
    return take(size, device, 's');
}

void llvm_omp_target_free_host(void *pointer, int device)
{
    give_back(pointer, device, 'h');
}

void llvm_omp_target_free_shared(void *pointer, int device)
{
    give_back(pointer, device, 's');
}

void *llvm_omp_target_lock_mem(void *pointer, size_t size, int device)
{
    const char *word = getenv("FAKE_OFFLOAD_LOCK");

    (void)device;
    if (size > (size_t)1 << 30) {
        return NULL;
    }
    locked++;
    return ((word != NULL) && (strcmp(word, "elsewhere") == 0)) ? (char *)pointer + PAGE : pointer;
}

void llvm_omp_target_unlock_mem(void *pointer, int device)
{
    (void)pointer;
    (void)device;
    locked--;
}

const char *omp_get_uid_from_device(int device)
{
    return (device == 0) ? "FAKE-0" : NULL;
}

#endif
