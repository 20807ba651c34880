/* SPDX-License-Identifier: BSD-3-Clause */
/* msp_partition_request_parse(): the text of a partition. What it accepts is written out again and
 * must be read as the same. */

#include "fuzz.h"
#include "shmem/partition/option.h"

void msp_warn_once(int *key, const char *format, ...)
{
    (void)key;
    (void)format;
}

static void write_out(const struct msp_partition_request *request, char *out, size_t size)
{
    char kind[64];
    char pages[48] = "";
    char file[256] = "";

    msp_partition_kind_text(request->kind, request->backend, request->device, kind, sizeof kind);
    if (request->page_size_bytes != 0) {
        snprintf(pages, sizeof pages, ":pgsize=%llu", (unsigned long long)request->page_size_bytes);
    }
    if (request->name[0] != '\0') {
        HOLDS((request->kind == SHMEMX_KIND_PMEM) && (request->path[0] == '/'));
        snprintf(file, sizeof file, ":path=%s:name=%s", request->path, request->name);
    }
    HOLDS(snprintf(out, size, "policy=%s:kind=%s%s%s:size=%llu",
                   msp_partition_policy_text(request->policy), kind, pages, file,
                   (unsigned long long)request->size_bytes) < (int)size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct msp_partition_request request = {.id = -1};
    struct msp_partition_request again;
    char *text = fuzz_string(data, size);
    char out[512];

    memspan_error_clear();
    if (msp_partition_request_parse("V", 3, text, &request) == MEMSPAN_OK) {
        HOLDS((request.id == 3) && (request.size_bytes > 0));
        HOLDS((request.page_size_bytes & (request.page_size_bytes - 1)) == 0);
        write_out(&request, out, sizeof out);
        HOLDS(msp_partition_request_parse("V", 3, out, &again) == MEMSPAN_OK);
        HOLDS(msp_partition_request_digest(&request) == msp_partition_request_digest(&again));
    } else {
        HOLDS(request.id == -1);
        HOLDS(memspan_error_last()->status == MEMSPAN_ERR_CONFIG);
        HOLDS(strncmp(memspan_error_last()->message, "V", 1) == 0);
    }
    free(text);
    return 0;
}
