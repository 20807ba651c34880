/* SPDX-License-Identifier: BSD-3-Clause */
/* sharing.c: dma-buf. */

#include "core/base/error.h"
#include "tests/fakes/hip/pretended.h"
#include <memspan/memspan.h>
#include <string.h>
#include <unistd.h>

static const memspan_backend_t *const table = &msp_backend_hip;

TestSuite(hip_sharing, .init = pretended_find, .timeout = 60);

/* ROCm 7 has a call for it, ROCm 5 leaves it to HSA. */
Test(hip_sharing, dma_buf)
{
    const char *call =
        driver.old ? "hsa_amd_portable_export_dmabuf" : "hipMemGetHandleForAddressRange";
    memspan_block_t block;
    uint64_t offset = 0;
    int fd          = -1;
    int mine        = 0;
    char written[100];
    char seen[100] = "";
    void *state;

    PRETENDED("FAKE_HIP_DEVICES=1");
    state = pretended_open();
    block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);
    memset(written, 77, sizeof(written));
    cr_assert_eq(table->copy(state, 0, NULL, (char *)block.address + 5000, written, 100),
                 MEMSPAN_OK);
    cr_assert_eq(table->synchronize(state, 0, NULL), MEMSPAN_OK);
    cr_assert_eq(table->dmabuf_export(state, 0, (char *)block.address + 5000, 100, &fd, &offset),
                 MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert_eq(pretended.calls(call), 1u);
    cr_assert_eq(pread(fd, seen, sizeof(seen), (off_t)offset), (ssize_t)sizeof(seen));
    cr_assert_arr_eq(seen, written, sizeof(seen), "the offset is where the memory is");
    cr_assert_eq(close(fd), 0);
    cr_assert_eq(table->dmabuf_export(state, 0, &mine, 4, &fd, &offset), MEMSPAN_ERR_DRIVER);
    cr_assert_str_eq(memspan_error_last()->call, call);
    pretended_give_back(state, 0, &block);
    pretended_close(state);
}
