/* SPDX-License-Identifier: BSD-3-Clause */
/* memspan_trait_parse(): the first byte is the room for traits, the rest the text. What it accepts
 * is written out again and must be read as the same. */

#include "fuzz.h"
#include <memspan/trait.h>

enum { ROOM_MAX = 32 };

enum form { WORD, SIZE, HANDLE, DEVICE, NUMBER };

static enum form form_of(memspan_trait_key_t key)
{
    switch (key) {
#define FORM_CASE(name, number, text, form)                                                        \
    case name:                                                                                     \
        return form;
        MEMSPAN_TRAIT_KEY_MAP(FORM_CASE)
#undef FORM_CASE
    }
    HOLDS(!"a key that exists");
    return WORD;
}

static void write_out(const memspan_trait_t *traits, size_t count, char *out, size_t out_size)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        enum form form   = form_of(traits[i].key);
        const char *word = memspan_trait_value_text(traits[i].value);
        const char *key  = memspan_trait_key_text(traits[i].key);

        HOLDS(key != NULL);
        used += (size_t)snprintf(out + used, out_size - used, "%s%s=", (i == 0) ? "" : ",", key);
        if ((form == WORD) || (traits[i].value == MEMSPAN_VALUE_DEFAULT)) {
            HOLDS(word != NULL);
            used += (size_t)snprintf(out + used, out_size - used, "%s", word);
        } else if ((form == DEVICE) || (form == NUMBER)) {
            used += (size_t)snprintf(out + used, out_size - used, "%d", (int)traits[i].value);
        } else {
            used += (size_t)snprintf(out + used, out_size - used, "%zu", (size_t)traits[i].value);
        }
        HOLDS(used < out_size);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static memspan_trait_t again[ROOM_MAX];
    static char out[ROOM_MAX * 96];
    size_t room             = (size == 0) ? 0 : data[0] % (ROOM_MAX + 1);
    memspan_trait_t *traits = malloc((room + 1) * sizeof(*traits));
    char *text              = fuzz_string(data + ((size > 0) ? 1 : 0), (size > 0) ? size - 1 : 0);
    size_t count            = SIZE_MAX;
    size_t count_again      = SIZE_MAX;
    memspan_status_t status;

    HOLDS(traits != NULL);
    memspan_error_clear();
    status = memspan_trait_parse(text, traits, room, &count);
    if (status == MEMSPAN_OK) {
        HOLDS(count <= room);
        write_out(traits, count, out, sizeof(out));
        HOLDS(memspan_trait_parse(out, again, ROOM_MAX, &count_again) == MEMSPAN_OK);
        HOLDS(count_again == count);
        for (size_t i = 0; i < count; i++) {
            HOLDS((traits[i].key == again[i].key) && (traits[i].value == again[i].value));
        }
    } else {
        HOLDS(status == MEMSPAN_ERR_INVALID);
        HOLDS(count == SIZE_MAX);
        HOLDS(memspan_error_last()->status == status);
        HOLDS(memspan_error_last()->message[0] != '\0');
        HOLDS(strlen(memspan_error_text()) > 0);
    }
    free(text);
    free(traits);
    return 0;
}
