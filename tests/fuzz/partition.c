/* SPDX-License-Identifier: BSD-3-Clause */
/* msp_partition_wish_parse(): the text of a partition. What it accepts is written out again and
 * must be read as the same. */

#include "fuzz.h"
#include "shmem/partition/option.h"

void msp_warn_once(int *key, const char *format, ...)
{
    (void)key;
    (void)format;
}

static void write_out(const struct msp_partition_wish *wish, char *out, size_t size)
{
    char kind[64];
    char pages[48] = "";

    msp_partition_kind_text(wish->kind, wish->backend, wish->device, kind, sizeof kind);
    if (wish->page_size_bytes != 0) {
        snprintf(pages, sizeof pages, ":pgsize=%llu", (unsigned long long)wish->page_size_bytes);
    }
    HOLDS(snprintf(out, size, "policy=%s:kind=%s%s:size=%llu",
                   msp_partition_policy_text(wish->policy), kind, pages,
                   (unsigned long long)wish->size_bytes) < (int)size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct msp_partition_wish wish = {.id = -1};
    struct msp_partition_wish again;
    char *text = fuzz_string(data, size);
    char out[256];

    memspan_error_clear();
    if (msp_partition_wish_parse("V", 3, text, &wish) == MEMSPAN_OK) {
        HOLDS((wish.id == 3) && (wish.size_bytes > 0));
        HOLDS((wish.page_size_bytes & (wish.page_size_bytes - 1)) == 0);
        write_out(&wish, out, sizeof out);
        HOLDS(msp_partition_wish_parse("V", 3, out, &again) == MEMSPAN_OK);
        HOLDS(msp_partition_wish_digest(&wish) == msp_partition_wish_digest(&again));
    } else {
        HOLDS(wish.id == -1);
        HOLDS(memspan_error_last()->status == MEMSPAN_ERR_CONFIG);
        HOLDS(strncmp(memspan_error_last()->message, "V", 1) == 0);
    }
    free(text);
    return 0;
}
