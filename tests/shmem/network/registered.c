/* SPDX-License-Identifier: BSD-3-Clause */
/* registered.c [BY]: device memory that is pages of the host is registered as these. Puts and gets
 * of the other PE are the driver's, without a message; the device sees what was put, and the peer
 * what the device wrote. BY "messages": the memory is not registered, and the reason is said. */

#include "tests/shmem/check.h"
#include <memspan/memspan.h>
#include <shmemx.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PARTITION = 5, COUNT = 1 << 17, BYTES = COUNT * (int)sizeof(double) };

static double *memory;
static int next;

static shmemx_network_info_t counters(void)
{
    shmemx_network_info_t info = {.struct_size = sizeof info};

    CHECK(shmemx_network_info(&info) == 0, "%s", memspan_error_text());
    return info;
}

static void expect_counts(const shmemx_network_info_t *before, unsigned puts, unsigned gets)
{
    shmemx_network_info_t after = counters();

    CHECK(after.put_count - before->put_count == puts, "%lu puts",
          (unsigned long)(after.put_count - before->put_count));
    CHECK(after.get_count - before->get_count == gets, "%lu gets",
          (unsigned long)(after.get_count - before->get_count));
    CHECK(after.message_bytes == before->message_bytes, "%lu bytes in messages",
          (unsigned long)(after.message_bytes - before->message_bytes));
}

static void put_and_get(double *data, double *back)
{
    shmemx_network_info_t before = counters();

    shmem_putmem(memory, data, BYTES, next);
    shmem_quiet();
    expect_counts(&before, 1, 0);
    before = counters();
    shmem_getmem(back, memory, BYTES, next);
    expect_counts(&before, 0, 1);
    CHECK(memcmp(data, back, BYTES) == 0, "other data");
}

/* Each PE's device adds up what the other has put, and fills the memory for the other's get. */
static void device_takes_part(double *data, double *back)
{
    memspan_pointer_info_t info = {.struct_size = sizeof info};
    memspan_kernel_call_t sum   = {.struct_size = sizeof sum,
                                   .kernel      = MEMSPAN_KERNEL_SUM,
                                   .count       = COUNT,
                                   .x           = memory,
                                   .z           = memory + COUNT};
    memspan_kernel_call_t fill  = {.struct_size = sizeof fill,
                                   .kernel      = MEMSPAN_KERNEL_FILL,
                                   .count       = COUNT,
                                   .a           = 3.0 + shmem_my_pe(),
                                   .z           = memory};
    double wanted               = 0;
    double got                  = 0;

    CHECK(memspan_pointer_describe(memory, &info) == MEMSPAN_OK, "%s", memspan_error_text());
    CHECK(memspan_pointer_kind(memory) == MEMSPAN_KIND_DEVICE, "it is not the device's");
    for (int i = 0; i < COUNT; i++) {
        data[i] = i + next;
        wanted += i + shmem_my_pe();
    }
    shmem_putmem(memory, data, BYTES, next);
    shmem_barrier_all();
    if (memspan_kernel_launch(info.home, &sum) == MEMSPAN_ERR_UNSUPPORTED) {
        return; /* its kernels are the program's target regions */
    }
    CHECK(memspan_device_synchronize(info.home) == MEMSPAN_OK, "%s", memspan_error_text());
    CHECK(memspan_copy(&got, memory + COUNT, sizeof got) == MEMSPAN_OK, "%s", memspan_error_text());
    CHECK(got == wanted, "%g, not %g", got, wanted);
    CHECK(memspan_kernel_launch(info.home, &fill) == MEMSPAN_OK, "%s", memspan_error_text());
    CHECK(memspan_device_synchronize(info.home) == MEMSPAN_OK, "%s", memspan_error_text());
    shmem_barrier_all();
    shmem_getmem(back, memory, BYTES, next);
    CHECK((back[0] == 3.0 + next) && (back[COUNT - 1] == 3.0 + next), "%g", back[0]);
}

/* How the other PE reaches this one's memory. */
static void expect_words(bool by_messages, const char *words)
{
    shmemx_partition_info_t info = {.struct_size = sizeof info};

    CHECK(shmemx_partition_info(PARTITION, &info) == 0, "%s", memspan_error_text());
    CHECK((strstr(info.remote, "by messages") != NULL) == by_messages, "%s", info.remote);
    CHECK(strstr(info.remote, words) != NULL, "no \"%s\": %s", words, info.remote);
    CHECK((info.capabilities & SHMEMX_CAP_DIRECT_ACCESS) == 0, "it is the device's");
}

#ifdef REGISTERED_OFFLOAD
int offload_runs(void);
#endif

int main(int count, char **words)
{
    bool by_messages = (count > 1) && (strcmp(words[1], "messages") == 0);
    double *data     = malloc(BYTES);
    double *back     = calloc(1, BYTES);

#ifdef REGISTERED_OFFLOAD
    CHECK(offload_runs() == 1);
#endif
    shmem_init();
    next   = (shmem_my_pe() + 1) % shmem_n_pes();
    memory = shmemx_partition_malloc(BYTES + sizeof *memory, PARTITION);
    CHECK(memory != NULL, "%s", memspan_error_text());
    for (int i = 0; i < COUNT; i++) {
        data[i] = i * 3.0;
    }
    shmem_putmem(memory, data, BYTES, next); /* connects, and fetches the key */
    shmem_barrier_all();
    expect_words(by_messages, by_messages ? words[2] : "as pages of the host");
    if (!by_messages) {
        put_and_get(data, back);
        shmem_barrier_all();
    }
    device_takes_part(data, back);
    shmem_barrier_all();
    shmemx_partition_free(memory);
    shmem_finalize();
    free(back);
    free(data);
    return 0;
}
