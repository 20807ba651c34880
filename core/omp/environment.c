/* SPDX-License-Identifier: BSD-3-Clause */
/* environment.c: the reading of OMP_ALLOCATOR. OpenMP 5.2 "OMP_ALLOCATOR": an allocator's name, or
 * a space's name with traits. Numbers are no handles here, as in every runtime. */

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/omp/openmp.h"
#include <ctype.h>
#include <string.h>

struct name {
    const char *text;
    uintptr_t handle;
};

static const struct name allocators[] = {
    {"omp_default_mem_alloc", 1},
    {"omp_large_cap_mem_alloc", 2},
    {"omp_const_mem_alloc", 3},
    {"omp_high_bw_mem_alloc", 4},
    {"omp_low_lat_mem_alloc", 5},
    {"omp_cgroup_mem_alloc", 6},
    {"omp_pteam_mem_alloc", 7},
    {"omp_thread_mem_alloc", 8},
    {"llvm_omp_target_host_mem_alloc", 100},
    {"llvm_omp_target_shared_mem_alloc", 101},
    {"llvm_omp_target_device_mem_alloc", 102},
    {"omp_target_host_mem_alloc", 100},
    {"omp_target_shared_mem_alloc", 101},
    {"omp_target_device_mem_alloc", 102},
    {"ompx_gnu_pinned_mem_alloc", 200},
    {"ompx_pinned_mem_alloc", 200},
    {"ompx_gnu_managed_mem_alloc", 201},
};

static const struct name spaces[] = {
    {"omp_default_mem_space", 99},
    {"omp_large_cap_mem_space", 1},
    {"omp_const_mem_space", 2},
    {"omp_high_bw_mem_space", 3},
    {"omp_low_lat_mem_space", 4},
    {"llvm_omp_target_host_mem_space", 100},
    {"llvm_omp_target_shared_mem_space", 101},
    {"llvm_omp_target_device_mem_space", 102},
    {"omp_target_host_mem_space", 100},
    {"omp_target_shared_mem_space", 101},
    {"omp_target_device_mem_space", 102},
    {"ompx_gnu_managed_mem_space", 200},
};

enum {
    ALLOCATOR_COUNT = sizeof(allocators) / sizeof(allocators[0]),
    SPACE_COUNT     = sizeof(spaces) / sizeof(spaces[0]),
    TEXT_MAX        = 512
};

static uintptr_t find(const struct name *names, size_t count, const char *text)
{
    size_t i;

    for (i = 0; i < count; i++) {
        if (strcmp(names[i].text, text) == 0) {
            return names[i].handle;
        }
    }
    return 0;
}

static const char *next_name(size_t i)
{
    if (i < ALLOCATOR_COUNT) {
        return allocators[i].text;
    }
    return (i < ALLOCATOR_COUNT + SPACE_COUNT) ? spaces[i - ALLOCATOR_COUNT].text : NULL;
}

msp_omp_allocator_t msp_omp_allocator_named(const char *name)
{
    return find(allocators, ALLOCATOR_COUNT, name);
}

msp_omp_allocator_t msp_omp_allocator_of_space(msp_omp_space_t space)
{
    switch (space) {
    case 0:
    case 99:
        return 1;
    case 1:
    case 2:
    case 3:
    case 4:
        return space + 1;
    case 100:
    case 101:
    case 102:
        return space;
    case 200:
        return 201;
    default:
        return 0;
    }
}

/* Copy without blanks and in lower case. */
static bool normalise(const char *text, char *out, size_t out_size)
{
    size_t n = 0;

    for (; *text != '\0'; text++) {
        if (isspace((unsigned char)*text)) {
            continue;
        }
        if (n + 1 >= out_size) {
            return false;
        }
        out[n++] = (char)tolower((unsigned char)*text);
    }
    out[n] = '\0';
    return true;
}

/* One "trait=value"; fb_data takes an allocator's name, all else is the common grammar. */
static memspan_status_t parse_trait(const char *text, struct msp_omp_request *request)
{
    static const char fb_data[] = "fb_data=";
    size_t count                = 0;
    memspan_status_t status;

    if (request->trait_count == MSP_OMP_TRAITS_MAX) {
        return memspan_error(MEMSPAN_ERR_INVALID, "more than %d traits", MSP_OMP_TRAITS_MAX);
    }
    if (strncmp(text, fb_data, sizeof(fb_data) - 1) == 0) {
        const char *name       = text + sizeof(fb_data) - 1;
        msp_omp_allocator_t to = msp_omp_allocator_named(name);
        if (to == 0) {
            return memspan_error(MEMSPAN_ERR_INVALID, "fb_data: no predefined allocator \"%s\"",
                                 name);
        }
        request->traits[request->trait_count++] =
            (memspan_trait_t){.key = MEMSPAN_TRAIT_FB_DATA, .value = to};
        return MEMSPAN_OK;
    }
    status = memspan_trait_parse(text, request->traits + request->trait_count,
                                 MSP_OMP_TRAITS_MAX - request->trait_count, &count);
    if (status != MEMSPAN_OK) {
        return status;
    }
    request->trait_count += count;
    return MEMSPAN_OK;
}

static memspan_status_t parse_traits(char *text, struct msp_omp_request *request)
{
    char *comma;

    for (;;) {
        memspan_status_t status;
        comma = strchr(text, ',');
        if (comma != NULL) {
            *comma = '\0';
        }
        if ((text[0] == '\0') || (strchr(text, '=') == NULL)) {
            return memspan_error(MEMSPAN_ERR_INVALID, "\"%s\" is not of the form trait=value",
                                 text);
        }
        status = parse_trait(text, request);
        if ((status != MEMSPAN_OK) || (comma == NULL)) {
            return status;
        }
        text = comma + 1;
    }
}

static memspan_status_t no_such_name(const char *word)
{
    const char *nearest = msp_text_nearest(word, next_name);

    memspan_error(MEMSPAN_ERR_INVALID, "\"%s\" is no allocator and no memory space", word);
    return (nearest == NULL) ? MEMSPAN_ERR_INVALID : msp_error_hint("perhaps %s?", nearest);
}

memspan_status_t msp_omp_request_parse(const char *text, struct msp_omp_request *request_p)
{
    struct msp_omp_request request = {.trait_count = 0};
    char word[TEXT_MAX];
    memspan_status_t status;
    char *colon;

    if (!normalise(text, word, sizeof(word))) {
        return memspan_error(MEMSPAN_ERR_INVALID, "longer than %d characters", TEXT_MAX - 1);
    }
    colon = strchr(word, ':');
    if (colon != NULL) {
        *colon = '\0';
    }
    request.allocator = msp_omp_allocator_named(word);
    request.space     = find(spaces, SPACE_COUNT, word);
    if ((request.allocator == 0) && (request.space == 0)) {
        return no_such_name(word);
    }
    if ((request.allocator != 0) && (colon != NULL)) {
        return memspan_error(MEMSPAN_ERR_INVALID,
                             "traits may follow a memory space, and \"%s\" is an allocator", word);
    }
    if (colon != NULL) {
        status = parse_traits(colon + 1, &request);
        if (status != MEMSPAN_OK) {
            return status;
        }
    } else if (request.allocator == 0) {
        request.allocator = msp_omp_allocator_of_space(request.space);
    }
    *request_p = request;
    return MEMSPAN_OK;
}
