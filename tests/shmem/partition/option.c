/* SPDX-License-Identifier: BSD-3-Clause */
/* option.c: the text of partitions, what it becomes, and what is refused in which words. */

#include "shmem/option.h"
#include "shmem/partition/option.h"
#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int warning_count;

void msp_warn_once(int *key, const char *format, ...)
{
    (void)key;
    (void)format;
    warning_count++;
}

/* ---- one value ---- */

static struct msp_partition_request parse(const char *text)
{
    struct msp_partition_request request;

    cr_assert_eq(msp_partition_request_parse("V", 7, text, &request), MEMSPAN_OK, "%s: %s", text,
                 memspan_error_text());
    return request;
}

/* All of @p words stand in the message. */
static void refused(const char *text, const char *words)
{
    struct msp_partition_request request = {.id = -9};

    cr_assert_eq(msp_partition_request_parse("SHMEM_SYMMETRIC_PARTITION7", 7, text, &request),
                 MEMSPAN_ERR_CONFIG, "%s was taken", text);
    cr_assert_eq(request.id, -9, "written on failure");
    cr_assert(strstr(memspan_error_text(), "SHMEM_SYMMETRIC_PARTITION7") != NULL, "%s",
              memspan_error_text());
    cr_assert(strstr(memspan_error_text(), words) != NULL, "%s: \"%s\" is not in: %s", text, words,
              memspan_error_text());
}

Test(option, examples_of_the_papers)
{
    struct msp_partition_request request = parse("size=2G:kind=NORMALMEM");

    cr_assert_eq(request.id, 7);
    cr_assert_eq(request.size_bytes, UINT64_C(2) << 30);
    cr_assert_eq(request.kind, SHMEMX_KIND_NORMALMEM);
    cr_assert_eq(request.policy, SHMEMX_POLICY_PREFERRED);
    request = parse("size=2G:kind=FASTMEM:policy=MANDATORY");
    cr_assert_eq(request.kind, SHMEMX_KIND_FASTMEM);
    cr_assert_eq(request.policy, SHMEMX_POLICY_MANDATORY);
    request = parse("size=1G:kind=F:policy=PREFERRED");
    cr_assert_eq(request.kind, SHMEMX_KIND_FASTMEM);
    request = parse("size=2G:kind=N:policy=P");
    cr_assert_eq(request.policy, SHMEMX_POLICY_PREFERRED);
    request = parse("1g:kind=PMEM:path=/mnt/pmem0:name=sea");
    cr_assert_str_eq(request.path, "/mnt/pmem0");
    cr_assert_str_eq(request.name, "sea");
    cr_assert_eq(request.policy, SHMEMX_POLICY_MANDATORY, "what is lost would be told late");
    cr_assert_str_eq(parse("1g:kind=PMEM:path=/x").name, "partition7");
    request = parse("size=500M:kind=F:policy=M:pgsize=64M");
    cr_assert_eq(request.size_bytes, UINT64_C(500) << 20);
    cr_assert_eq(request.page_size_bytes, UINT64_C(64) << 20);
    request = parse("2G:KIND=LIBOMP");
    cr_assert_eq(request.kind, SHMEMX_KIND_LIBOMP);
    cr_assert_eq(request.policy, SHMEMX_POLICY_MANDATORY);
    request = parse("8G");
    cr_assert_eq(request.size_bytes, UINT64_C(8) << 30);
    cr_assert_eq(request.kind, SHMEMX_KIND_SYSDEFAULT);
    request = parse("SIZE=8G:KIND=LIBOMP");
    cr_assert_eq(request.kind, SHMEMX_KIND_LIBOMP);
}

Test(option, any_order_and_case)
{
    struct msp_partition_request request = parse("PoLiCy=Inter:PGsize=4K:kInD=fAsT:SiZe=.5m");

    cr_assert_eq(request.size_bytes, UINT64_C(524288));
    cr_assert_eq(request.page_size_bytes, UINT64_C(4096));
    cr_assert_eq(request.kind, SHMEMX_KIND_FASTMEM);
    cr_assert_eq(request.policy, SHMEMX_POLICY_INTERLEAVED);
}

Test(option, letters_alone)
{
    static const struct {
        const char *text;
        shmemx_kind_t kind;
    } cases[] = {
        {"1k:kind=s", SHMEMX_KIND_SYSDEFAULT},       {"1k:kind=d", SHMEMX_KIND_SYSDEFAULT},
        {"1k:kind=n", SHMEMX_KIND_NORMALMEM},        {"1k:kind=f", SHMEMX_KIND_FASTMEM},
        {"1k:kind=l", SHMEMX_KIND_LIBOMP},           {"1k:kind=p", SHMEMX_KIND_PINNED},
        {"1k:kind=m", SHMEMX_KIND_MANAGED},          {"1k:kind=co", SHMEMX_KIND_COHERENT},
        {"1k:kind=de", SHMEMX_KIND_DEVICE},          {"1k:kind=la", SHMEMX_KIND_LARGEMEM},
        {"1k:kind=pm:path=/x", SHMEMX_KIND_PMEM},    {"1k:kind=nvm:path=/x", SHMEMX_KIND_PMEM},
        {"1k:path=/x:kind=NVDIMM", SHMEMX_KIND_PMEM}};
    size_t i;

    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_assert_eq(parse(cases[i].text).kind, cases[i].kind, "%s", cases[i].text);
    }
    cr_assert_eq(parse("1k:policy=s").policy, SHMEMX_POLICY_SYSDEFAULT);
    cr_assert_eq(parse("1k:policy=i").policy, SHMEMX_POLICY_INTERLEAVED);
}

Test(option, devices)
{
    struct msp_partition_request request = parse("1m:kind=cuda@2");

    cr_assert_eq(request.kind, SHMEMX_KIND_DEVICE);
    cr_assert_str_eq(request.backend, "cuda");
    cr_assert_eq(request.device, 2);
    cr_assert(request.has_device);
    request = parse("1m:kind=HIP@local");
    cr_assert_str_eq(request.backend, "hip");
    cr_assert_eq(request.device, MSP_PARTITION_DEVICE_LOCAL);
    cr_assert(!request.has_device);
    request = parse("1m:kind=DEVICE@0");
    cr_assert_str_eq(request.backend, "");
    cr_assert_eq(request.device, 0);
    request = parse("1m:kind=managed@1:policy=p");
    cr_assert_eq(request.kind, SHMEMX_KIND_MANAGED);
    cr_assert_eq(request.policy, SHMEMX_POLICY_PREFERRED);
}

Test(option, refusals_say_where_and_what)
{
    refused("", "no size");
    refused("abc", "\"abc\" at character 1 is no size");
    refused("size=", "is no size");
    refused("size=-1", "\"-1\" at character 6 is no size");
    refused("size=0", "is a size of 0");
    refused("size=20kk", "is no size");
    refused("size=1e6", "is no size");
    refused("size=0x10", "is no size");
    refused("size=inf", "is no size");
    refused("size=9999999999t", "is no size");
    refused("1m:", "at character 4");
    refused(":1m", "at character 1");
    refused("kind=N", "says no size");
    refused("1m:size=2m", "gives a trait once more");
    refused("1m:kind=N:kind=F", "gives a trait once more");
    refused("1m:sise=2m", "\"sise\" at character 4 is no trait");
    refused("1m:s=2m", "is no trait");
    refused("kind=N:1m", "a bare size may stand first only");
    refused("1m:kind=HBM", "\"HBM\" at character 9 is no kind");
    refused("1m:kind=HBM", "FASTMEM");
    refused("1m:kind=PMEM", "add :path=");
    refused("1m:kind=PMEM:name=a", "add :path=");
    refused("1m:kind=PMEM:path=pm", "\"pm\" at character 19 is no path");
    refused("1m:kind=PMEM:path=", "is no path");
    refused("1m:kind=PMEM:path=/\tx", "does not print");
    refused("1m:kind=PMEM:path=/x:name=", "is no name");
    refused("1m:kind=PMEM:path=/x:name=../y", "is no name");
    refused("1m:kind=PMEM:path=/x:name=a23456789012345678901234567890123", "is no name");
    refused("1m:kind=PMEM@1:path=/x", "names a device for a kind that has none");
    refused("1m:path=/x", "ends with the job");
    refused("1m:kind=F:name=x", "ends with the job");
    refused("1m:kind=C", "may be several");
    refused("1m:kind=", "is no kind");
    refused("1m:kind=NORMALMEMS", "is no kind");
    refused("1m:policy=Q", "MANDATORY");
    refused("1m:pgsize=3m", "no power of two");
    refused("1m:pgsize=0", "is a size of 0");
    refused("1m:kind=N@1", "a kind that has none");
    refused("1m:kind=CUDA@", "is no device");
    refused("1m:kind=CUDA@x", "\"x\" at character 14 is no device");
    refused("1m:kind=CUDA@-1", "is no device");
    refused("1m:kind=CUDA@99999999999", "is no device");
    refused("\x1b[31m", "?[31m");
}

Test(option, sizes_may_end_in_bytes)
{
    cr_assert_eq(parse("20MB").size_bytes, UINT64_C(20) << 20);
    cr_assert_eq(parse("20MiB").size_bytes, UINT64_C(20) << 20);
    cr_assert_eq(parse("3.1M").size_bytes, UINT64_C(3250586));
    cr_assert_eq(parse("1t").size_bytes, UINT64_C(1) << 40);
}

/* ---- all variables ---- */

static const char *const *entries;

static const char *next(const char *prefix, size_t *cursor)
{
    while (entries[*cursor] != NULL) {
        const char *entry = entries[(*cursor)++];

        if (strncmp(entry, prefix, strlen(prefix)) == 0) {
            return entry;
        }
    }
    return NULL;
}

static struct msp_partition_requests requests;

static memspan_status_t read_all(const char *const *from, int max_count)
{
    entries = from;
    return msp_partition_requests_read(next, max_count, &requests);
}

Test(option, sparse_numbers_in_order)
{
    static const char *const some[] = {"SHMEM_SYMMETRIC_PARTITION23=1m",
                                       "SMA_SYMMETRIC_PARTITION2=2m", "PATH=/bin",
                                       "SHMEM_SYMMETRIC_PARTITION1=3m", NULL};

    cr_assert_eq(read_all(some, 64), MEMSPAN_OK);
    cr_assert_eq(requests.count, 3);
    cr_assert_eq(requests.request[0].id, 1);
    cr_assert_eq(requests.request[1].id, 2);
    cr_assert_eq(requests.request[2].id, 23);
}

Test(option, the_standard_prefix_wins)
{
    static const char *const differ[] = {"SMA_SYMMETRIC_PARTITION2=2m",
                                         "SHMEM_SYMMETRIC_PARTITION2=1m", NULL};
    static const char *const same[]   = {"SMA_SYMMETRIC_PARTITION2=1024k",
                                         "SHMEM_SYMMETRIC_PARTITION2=1m", NULL};

    warning_count = 0;
    cr_assert_eq(read_all(differ, 64), MEMSPAN_OK);
    cr_assert_eq(requests.count, 1);
    cr_assert_eq(requests.request[0].size_bytes, UINT64_C(1) << 20);
    cr_assert_eq(warning_count, 1);
    cr_assert_eq(read_all(same, 64), MEMSPAN_OK);
    cr_assert_eq(warning_count, 1);
}

static void all_refused(const char *const *from, int max_count, const char *words)
{
    cr_assert_eq(read_all(from, max_count), MEMSPAN_ERR_CONFIG, "%s was taken", from[0]);
    cr_assert(strstr(memspan_error_text(), words) != NULL, "\"%s\" is not in: %s", words,
              memspan_error_text());
}

Test(option, numbers_that_are_refused)
{
    static const char *const none[]    = {"SHMEM_SYMMETRIC_PARTITION=1m", NULL};
    static const char *const word[]    = {"SHMEM_SYMMETRIC_PARTITIONS=1m", NULL};
    static const char *const large[]   = {"SHMEM_SYMMETRIC_PARTITION1024=1m", NULL};
    static const char *const huge[]    = {"SHMEM_SYMMETRIC_PARTITION99999999999999=1m", NULL};
    static const char *const twice[]   = {"SHMEM_SYMMETRIC_PARTITION1=1m",
                                          "SHMEM_SYMMETRIC_PARTITION01=1m", NULL};
    static const char *const several[] = {"SHMEM_SYMMETRIC_PARTITION0=1m",
                                          "SHMEM_SYMMETRIC_PARTITION5=1m", NULL};

    all_refused(none, 64, "is no partition");
    all_refused(word, 64, "SHMEM_SYMMETRIC_PARTITIONS is no partition");
    all_refused(large, 64, "0 to 1023");
    all_refused(huge, 64, "0 to 1023");
    all_refused(twice, 64, "are one partition");
    all_refused(several, 1, "SHMEM_MAX_PARTITIONS");
}

/* ---- partition 1, and the default ---- */

static memspan_status_t complete(const char *const *from, struct msp_partition_rules rules)
{
    cr_assert_eq(read_all(from, 64), MEMSPAN_OK, "%s", memspan_error_text());
    return msp_partition_requests_complete(&rules, &requests);
}

static const struct msp_partition_rules usual = {
    .symmetric_size_bytes = 512 << 20, .max_count = 64, .default_id = -1};
static const struct msp_partition_rules sized = {.symmetric_size_bytes = 8 << 20,
                                                 .has_symmetric_size   = true,
                                                 .symmetric_size_name  = "SHMEM_SYMMETRIC_SIZE",
                                                 .max_count            = 64,
                                                 .default_id           = -1};

Test(option, nothing_is_one_default_heap)
{
    static const char *const nothing[] = {NULL};

    cr_assert_eq(complete(nothing, usual), MEMSPAN_OK);
    cr_assert_eq(requests.count, 1);
    cr_assert_eq(requests.default_id, 1);
    cr_assert_eq(requests.request[0].size_bytes, UINT64_C(512) << 20);
    cr_assert(requests.request[0].is_default_sized);
    cr_assert_eq(complete(nothing, sized), MEMSPAN_OK);
    cr_assert_eq(requests.request[0].size_bytes, UINT64_C(8) << 20);
}

Test(option, the_size_and_the_default_partition_exclude_each_other)
{
    static const char *const one[]   = {"SHMEM_SYMMETRIC_PARTITION1=1m", NULL};
    static const char *const zero[]  = {"SHMEM_SYMMETRIC_PARTITION0=1m", NULL};
    static const char *const other[] = {"SHMEM_SYMMETRIC_PARTITION2=1m", NULL};

    cr_assert_eq(complete(one, sized), MEMSPAN_ERR_CONFIG);
    cr_assert(strstr(memspan_error_text(), "SHMEM_SYMMETRIC_SIZE") != NULL);
    cr_assert(strstr(memspan_error_text(), "SHMEM_SYMMETRIC_PARTITION1") != NULL);
    cr_assert_eq(complete(zero, sized), MEMSPAN_ERR_CONFIG);
    cr_assert_eq(complete(other, sized), MEMSPAN_OK);
    cr_assert_eq(requests.count, 2);
    cr_assert_eq(requests.request[0].id, 1);
    cr_assert_eq(requests.request[0].size_bytes, UINT64_C(8) << 20);
    cr_assert_eq(requests.default_id, 1);
}

Test(option, the_default_partition)
{
    static const char *const zero[]  = {"SHMEM_SYMMETRIC_PARTITION0=1m", NULL};
    static const char *const both[]  = {"SHMEM_SYMMETRIC_PARTITION0=1m",
                                        "SHMEM_SYMMETRIC_PARTITION1=1m", NULL};
    static const char *const split[] = {"SHMEM_SYMMETRIC_PARTITION0=1m",
                                        "SHMEM_SYMMETRIC_PARTITION1=1m:KIND=LIBOMP", NULL};
    struct msp_partition_rules said  = usual;

    cr_assert_eq(complete(zero, usual), MEMSPAN_OK);
    cr_assert_eq(requests.count, 1);
    cr_assert_eq(requests.default_id, 0);
    cr_assert_eq(complete(both, usual), MEMSPAN_OK);
    cr_assert_eq(requests.default_id, 1);
    cr_assert_eq(complete(split, usual), MEMSPAN_OK);
    cr_assert_eq(requests.default_id, 0);
    said.default_id = 1;
    cr_assert_eq(complete(split, said), MEMSPAN_OK);
    cr_assert_eq(requests.default_id, 1);
    said.default_id = 9;
    cr_assert_eq(complete(split, said), MEMSPAN_ERR_CONFIG);
    cr_assert(strstr(memspan_error_text(), "SHMEMX_DEFAULT_PARTITION") != NULL);
}

Test(option, strictly_there_must_be_partition_1)
{
    static const char *const other[]  = {"SHMEM_SYMMETRIC_PARTITION2=1m", NULL};
    struct msp_partition_rules strict = usual;

    strict.is_strict = true;
    cr_assert_eq(complete(other, usual), MEMSPAN_OK);
    cr_assert_eq(requests.count, 2);
    cr_assert_eq(complete(other, strict), MEMSPAN_ERR_CONFIG);
    cr_assert(strstr(memspan_error_text(), "SHMEMX_STRICT_PARTITIONS") != NULL);
}

Test(option, digests_differ_where_requests_do)
{
    static const char *const texts[] = {
        "1m",           "2m",           "1m:kind=n",   "1m:policy=m",
        "1m:pgsize=2m", "1m:kind=cuda", "1m:kind=hip", "1m:kind=cuda@0"};
    const size_t count = sizeof texts / sizeof texts[0];
    size_t i;
    size_t j;

    for (i = 0; i < count; i++) {
        for (j = 0; j < count; j++) {
            struct msp_partition_request a = parse(texts[i]);
            struct msp_partition_request b = parse(texts[j]);

            cr_assert_eq(msp_partition_request_digest(&a) == msp_partition_request_digest(&b),
                         i == j, "%s and %s", texts[i], texts[j]);
        }
    }
}
