/* SPDX-License-Identifier: BSD-3-Clause */
/* OMP_ALLOCATOR: blanks and case change nothing, and a refusal changes nothing and says why. */

#include "core/omp/openmp.h"
#include "fuzz.h"
#include <ctype.h>
#include <memspan/status.h>

/* The same text in capitals, with a blank before every third character. */
static char *disguise(const char *text)
{
    size_t length = strlen(text);
    char *out     = malloc(2 * length + 1);
    size_t n      = 0;

    HOLDS(out != NULL);
    for (size_t i = 0; i < length; i++) {
        if (i % 3 == 0) {
            out[n++] = (i % 2 == 0) ? ' ' : '\t';
        }
        out[n++] = (char)toupper((unsigned char)text[i]);
    }
    out[n] = '\0';
    return out;
}

static void check_accepted(const char *text, const struct msp_omp_request *request)
{
    static struct msp_omp_request again;
    char *other = disguise(text);

    HOLDS((request->allocator != 0) || (request->space != 0));
    HOLDS(request->trait_count <= MSP_OMP_TRAITS_MAX);
    HOLDS((request->allocator == 0) || (request->trait_count == 0));
    memset(&again, 0, sizeof(again));
    HOLDS(msp_omp_request_parse(other, &again) == MEMSPAN_OK);
    HOLDS((again.allocator == request->allocator) && (again.space == request->space));
    HOLDS(again.trait_count == request->trait_count);
    for (size_t i = 0; i < request->trait_count; i++) {
        HOLDS(memspan_trait_key_text(request->traits[i].key) != NULL);
        HOLDS(again.traits[i].key == request->traits[i].key);
        HOLDS(again.traits[i].value == request->traits[i].value);
    }
    free(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct msp_omp_request request;
    static struct msp_omp_request before;
    char *text = fuzz_string(data, size);
    memspan_status_t status;

    memset(&request, 0xa5, sizeof(request));
    before = request;
    memspan_error_clear();
    status = msp_omp_request_parse(text, &request);
    if (status == MEMSPAN_OK) {
        check_accepted(text, &request);
    } else {
        HOLDS(status == MEMSPAN_ERR_INVALID);
        HOLDS(memcmp(&request, &before, sizeof(request)) == 0);
        HOLDS(memspan_error_last()->status == status);
        HOLDS(memspan_error_last()->message[0] != '\0');
    }
    msp_omp_allocator_named(text);
    free(text);
    return 0;
}
