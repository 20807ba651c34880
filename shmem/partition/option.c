/* SPDX-License-Identifier: BSD-3-Clause */
/* option.c: from the text of variables to requests.
 *
 * A variable's value is read from left to right, trait by trait; a word is looked up among the
 * words of its trait alone, so that "P" may be a policy and a kind. */

#include "shmem/partition/option.h"
#include "core/base/text.h"
#include "shmem/option.h"
#include "shmem/partition/placement.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A word of a list, and the letters that mean it alone although others begin with them. */
struct word {
    const char *text;
    const char *reserved;
    int value;
};

static const struct word policy_words[] = {
    {"SYSDEFAULT", "S", SHMEMX_POLICY_SYSDEFAULT},
    {"MANDATORY", "M", SHMEMX_POLICY_MANDATORY},
    {"PREFERRED", "P", SHMEMX_POLICY_PREFERRED},
    {"INTERLEAVED", "I", SHMEMX_POLICY_INTERLEAVED},
};

enum trait { TRAIT_SIZE, TRAIT_PGSIZE, TRAIT_KIND, TRAIT_POLICY, TRAIT_PATH, TRAIT_NAME };
static const struct word trait_words[] = {
    {"SIZE", "", TRAIT_SIZE},     {"PGSIZE", "", TRAIT_PGSIZE}, {"KIND", "", TRAIT_KIND},
    {"POLICY", "", TRAIT_POLICY}, {"PATH", "", TRAIT_PATH},     {"NAME", "", TRAIT_NAME},
};

static const char policies_help[] = "policies are MANDATORY, PREFERRED, INTERLEAVED and SYSDEFAULT";
static const char traits_help[] =
    "write size=<bytes>[:kind=<kind>][:policy=<policy>][:pgsize=<bytes>]"
    "[:path=<folder>][:name=<name>]";
static const char size_help[] = "sizes are numbers, with a fraction if need be, and k, m, g or t";

/* ---- words ---- */

/* The text between two colons, or a part of it, and where it is. */
struct piece {
    const char *variable;
    const char *start; /* of the whole value */
    const char *text;
    size_t length;
};

/* The whole text must be digits. */
static bool read_number(const char *text, size_t length, int *number_p)
{
    int number = 0;
    size_t i;

    if ((length == 0) || (length > 9)) {
        return false;
    }
    for (i = 0; i < length; i++) {
        if (!isdigit((unsigned char)text[i])) {
            return false;
        }
        number = (number * 10) + (text[i] - '0');
    }
    *number_p = number;
    return true;
}

/* As much of a piece as a message should hold, without bytes that would spoil a terminal. */
static const char *shown(const struct piece *piece, char *buffer, size_t size)
{
    size_t i;

    for (i = 0; (i < piece->length) && (i + 1 < size); i++) {
        buffer[i] = isprint((unsigned char)piece->text[i]) ? piece->text[i] : '?';
    }
    buffer[i] = '\0';
    return buffer;
}

static memspan_status_t refuse_piece(const struct piece *piece, const char *what, const char *help)
{
    char text[48];

    memspan_error(MEMSPAN_ERR_CONFIG, "%s: \"%s\" at character %zu %s", piece->variable,
                  shown(piece, text, sizeof text), (size_t)(piece->text - piece->start) + 1, what);
    return msp_error_hint("%s", help);
}

enum { UNIT_BYTES = 256 }; /* a heap is divided into them: it has at least what was asked for */

/* How a piece matches a name and the letters that are reserved for it. */
enum match { NO_MATCH, BEGINS, IS_NAME };

static enum match match_name(const char *name, const char *letters, const struct piece *piece)
{
    if ((piece->length == 1) && (strchr(letters, toupper((unsigned char)piece->text[0])) != NULL)) {
        return IS_NAME;
    }
    if ((piece->length == 0) || (strncasecmp(name, piece->text, piece->length) != 0)) {
        return NO_MATCH;
    }
    return (name[piece->length] == '\0') ? IS_NAME : BEGINS;
}

/* The one word that begins so; NULL: none, or several. */
static const struct word *find_word(const struct word *words, size_t count,
                                    const struct piece *piece)
{
    const struct word *found = NULL;
    int found_count          = 0;
    size_t i;

    for (i = 0; i < count; i++) {
        enum match match = match_name(words[i].text, words[i].reserved, piece);

        if (match == IS_NAME) {
            return &words[i];
        }
        found = (match == BEGINS) ? &words[i] : found;
        found_count += (match == BEGINS);
    }
    return (found_count == 1) ? found : NULL;
}

#define FIND_WORD(words, piece) find_word((words), sizeof(words) / sizeof((words)[0]), (piece))

static const struct msp_partition_kind *find_kind(const struct piece *piece)
{
    const struct msp_partition_kind *found = NULL;
    const struct msp_partition_kind *row;
    int found_count = 0;

    for (row = msp_partition_kinds; row->name != NULL; row++) {
        enum match match = match_name(row->name, row->letters, piece);

        if (match == IS_NAME) {
            return row;
        }
        found = (match == BEGINS) ? row : found;
        found_count += (match == BEGINS);
    }
    return (found_count == 1) ? found : NULL;
}

static memspan_status_t refuse_kind(const struct piece *piece)
{
    char help[256] = "kinds are";
    const struct msp_partition_kind *row;

    for (row = msp_partition_kinds; row->name != NULL; row++) {
        size_t length = strlen(help);

        snprintf(help + length, sizeof help - length, "%s %s", (length > 9) ? "," : "", row->name);
    }
    snprintf(help + strlen(help), sizeof help - strlen(help),
             "; those of devices with @ and a number");
    return refuse_piece(piece, "is no kind of memory, or may be several", help);
}

/* ---- values ---- */

static memspan_status_t read_size(const struct piece *piece, uint64_t *size_p)
{
    uint64_t size;

    if (!msp_text_to_size(piece->text, piece->length, &size)) {
        return refuse_piece(piece, "is no size", size_help);
    }
    if (size == 0) {
        return refuse_piece(piece, "is a size of 0", "give at least a page");
    }
    *size_p = size;
    return MEMSPAN_OK;
}

static memspan_status_t read_page_size(const struct piece *piece, uint64_t *size_p)
{
    memspan_status_t status = read_size(piece, size_p);

    if ((status == MEMSPAN_OK) && ((*size_p & (*size_p - 1)) != 0)) {
        return refuse_piece(piece, "is no power of two, as page sizes are",
                            "4k, 64k, 2m and 1g are usual ones");
    }
    return status;
}

static memspan_status_t read_device(const struct piece *piece,
                                    const struct msp_partition_kind *kind,
                                    struct msp_partition_request *request)
{
    static const char local[] = "local";

    if ((kind->source == MSP_KIND_PAGES) || (kind->source == MSP_KIND_FILE)) {
        return refuse_piece(piece, "names a device for a kind that has none",
                            "leave out @ and what follows it");
    }
    if ((piece->length == sizeof local - 1) &&
        (strncasecmp(piece->text, local, piece->length) == 0)) {
        return MEMSPAN_OK;
    }
    if (!read_number(piece->text, piece->length, &request->device)) {
        return refuse_piece(
            piece, "is no device",
            "after @ write a number, or local for one by the PE's place on its node");
    }
    request->has_device = true;
    return MEMSPAN_OK;
}

static memspan_status_t read_kind(const struct piece *piece, struct msp_partition_request *request)
{
    const char *at      = memchr(piece->text, '@', piece->length);
    struct piece name   = *piece;
    struct piece device = *piece;
    const struct msp_partition_kind *kind;

    name.length = (at != NULL) ? (size_t)(at - piece->text) : piece->length;
    kind        = find_kind(&name);
    if (kind == NULL) {
        return refuse_kind(&name);
    }
    request->kind = kind->kind;
    snprintf(request->backend, sizeof request->backend, "%s", kind->backend);
    if (at == NULL) {
        return MEMSPAN_OK;
    }
    device.text   = at + 1;
    device.length = piece->length - name.length - 1;
    return read_device(&device, kind, request);
}

static memspan_status_t read_policy(const struct piece *piece,
                                    struct msp_partition_request *request)
{
    const struct word *word = FIND_WORD(policy_words, piece);

    if (word == NULL) {
        return refuse_piece(piece, "is no policy", policies_help);
    }
    request->policy     = (shmemx_policy_t)word->value;
    request->has_policy = true;
    return MEMSPAN_OK;
}

static memspan_status_t read_path(const struct piece *piece, struct msp_partition_request *request)
{
    char text[MSP_PARTITION_PATH_BYTES];

    if ((piece->length >= sizeof text) || (piece->text[0] != '/') ||
        (memcmp(shown(piece, text, sizeof text), piece->text, piece->length) != 0)) {
        return refuse_piece(piece, "is no path from / on, or too long, or does not print",
                            "name a folder, or a DAX device; colons end it");
    }
    memcpy(request->path, text, sizeof text);
    return MEMSPAN_OK;
}

static memspan_status_t read_name(const struct piece *piece, struct msp_partition_request *request)
{
    size_t i = 0;

    while ((i < piece->length) &&
           (isalnum((unsigned char)piece->text[i]) || (strchr("_-", piece->text[i]) != NULL))) {
        i++;
    }
    if ((i == 0) || (i != piece->length) || (i >= sizeof request->name)) {
        return refuse_piece(piece, "is no name of a partition",
                            "names are up to 31 letters, digits, _ and -");
    }
    snprintf(request->name, sizeof request->name, "%.*s", (int)piece->length, piece->text);
    return MEMSPAN_OK;
}

/* A path and a name are persistent memory's alone, which must have the path. */
static memspan_status_t check_persistent(const char *variable,
                                         struct msp_partition_request *request)
{
    bool is_file = msp_partition_kind(request->kind, "")->source == MSP_KIND_FILE;

    if (is_file && (request->path[0] == '\0')) {
        memspan_error(MEMSPAN_ERR_CONFIG, "%s asks for persistent memory, but not where", variable);
        return msp_error_hint("add :path=<folder of a file system, or a DAX device>");
    }
    if (!is_file && ((request->path[0] != '\0') || (request->name[0] != '\0'))) {
        memspan_error(MEMSPAN_ERR_CONFIG,
                      "%s gives a path or a name to memory that ends with the "
                      "job",
                      variable);
        return msp_error_hint("add :kind=PMEM, or leave them out");
    }
    if (is_file && (request->name[0] == '\0')) {
        snprintf(request->name, sizeof request->name, "partition%d", request->id);
    }
    return MEMSPAN_OK;
}

static memspan_status_t read_trait(enum trait trait, const struct piece *value,
                                   struct msp_partition_request *request)
{
    switch (trait) {
    case TRAIT_SIZE:
        return read_size(value, &request->size_bytes);
    case TRAIT_PGSIZE:
        return read_page_size(value, &request->page_size_bytes);
    case TRAIT_KIND:
        return read_kind(value, request);
    case TRAIT_PATH:
        return read_path(value, request);
    case TRAIT_NAME:
        return read_name(value, request);
    default:
        return read_policy(value, request);
    }
}

/* One element: "trait=value", or a bare size in front. @p seen: bits of the traits so far. */
static memspan_status_t read_element(const struct piece *element, bool is_first, unsigned *seen,
                                     struct msp_partition_request *request)
{
    const char *equals = memchr(element->text, '=', element->length);
    struct piece name  = *element;
    struct piece value = *element;
    enum trait trait   = TRAIT_SIZE;
    const struct word *word;

    if (equals != NULL) {
        name.length = (size_t)(equals - element->text);
        word        = FIND_WORD(trait_words, &name);
        if ((word == NULL) || (word->text[name.length] != '\0')) {
            return refuse_piece(&name, "is no trait", traits_help);
        }
        trait        = (enum trait)word->value;
        value.text   = equals + 1;
        value.length = element->length - name.length - 1;
    } else if (!is_first) {
        return refuse_piece(element, "is no trait with a value; a bare size may stand first only",
                            traits_help);
    }
    if ((*seen & (1u << trait)) != 0) {
        return refuse_piece(element, "gives a trait once more", traits_help);
    }
    *seen |= 1u << trait;
    return read_trait(trait, &value, request);
}

memspan_status_t msp_partition_request_parse(const char *variable, int id, const char *text,
                                             struct msp_partition_request *request_p)
{
    struct msp_partition_request request = {
        .id = id, .kind = SHMEMX_KIND_SYSDEFAULT, .device = MSP_PARTITION_DEVICE_LOCAL};
    struct piece element = {variable, text, text, 0};
    unsigned seen        = 0;

    snprintf(request.variable, sizeof request.variable, "%s", variable);
    for (;;) {
        memspan_status_t status;

        element.length = strcspn(element.text, ":");
        status         = read_element(&element, element.text == text, &seen, &request);
        if (status != MEMSPAN_OK) {
            return status;
        }
        if (element.text[element.length] == '\0') {
            break;
        }
        element.text += element.length + 1;
    }
    if ((seen & (1u << TRAIT_SIZE)) == 0) {
        memspan_error(MEMSPAN_ERR_CONFIG, "%s says no size", variable);
        return msp_error_hint("%s", traits_help);
    }
    if (!request.has_policy) {
        request.policy =
            (msp_partition_kind(request.kind, request.backend)->source >= MSP_KIND_SHARED)
                ? SHMEMX_POLICY_MANDATORY
                : SHMEMX_POLICY_PREFERRED;
    }
    if (check_persistent(variable, &request) != MEMSPAN_OK) {
        return MEMSPAN_ERR_CONFIG;
    }
    *request_p = request;
    return MEMSPAN_OK;
}

/* ---- variables ---- */

static const char *const prefixes[] = {"SHMEM_SYMMETRIC_PARTITION", "SMA_SYMMETRIC_PARTITION"};

/* The number after the prefix, and the variable's name and value. */
static memspan_status_t split_variable(const char *entry, const char *prefix, char *name,
                                       size_t name_size, int *id_p, const char **text_p)
{
    size_t prefix_length = strlen(prefix);
    const char *equals   = strchr(entry, '=');
    size_t length        = (equals != NULL) ? (size_t)(equals - entry) : strlen(entry);

    snprintf(name, name_size, "%.*s", (int)((length < 128) ? length : 128), entry);
    if ((equals == NULL) || !read_number(entry + prefix_length, length - prefix_length, id_p) ||
        (*id_p > SHMEM_MAX_PARTITION_ID)) {
        memspan_error(MEMSPAN_ERR_CONFIG, "%s is no partition", name);
        return msp_error_hint("after %s write a number from 0 to %d", prefix,
                              SHMEM_MAX_PARTITION_ID);
    }
    *text_p = equals + 1;
    return MEMSPAN_OK;
}

static struct msp_partition_request *find_request(struct msp_partition_requests *requests, int id)
{
    int i;

    for (i = 0; i < requests->count; i++) {
        if (requests->request[i].id == id) {
            return &requests->request[i];
        }
    }
    return NULL;
}

/* In its place by number. */
static void insert(struct msp_partition_requests *requests,
                   const struct msp_partition_request *request)
{
    int at = requests->count++;

    while ((at > 0) && (requests->request[at - 1].id > request->id)) {
        requests->request[at] = requests->request[at - 1];
        at--;
    }
    requests->request[at] = *request;
}

/* A second variable for one number: the standard's name wins over the old one, the first of two
 * that are the same name (as for getenv()); "1" and "01" are a mistake. */
static memspan_status_t bring_together(const struct msp_partition_request *first,
                                       const struct msp_partition_request *second)
{
    static int warned;

    if (strcmp(first->variable, second->variable) == 0) {
        return MEMSPAN_OK;
    }
    if ((first->variable[1] == 'H') != (second->variable[1] == 'H')) {
        if (msp_partition_request_digest(first) != msp_partition_request_digest(second)) {
            msp_warn_once(&warned, "%s and %s differ: the former counts", first->variable,
                          second->variable);
        }
        return MEMSPAN_OK;
    }
    memspan_error(MEMSPAN_ERR_CONFIG, "%s and %s are one partition", first->variable,
                  second->variable);
    return msp_error_hint("unset one of them");
}

static memspan_status_t read_variable(const char *entry, const char *prefix, int max_count,
                                      struct msp_partition_requests *requests)
{
    struct msp_partition_request request;
    struct msp_partition_request *same;
    memspan_status_t status;
    char name[136];
    const char *text = NULL;
    int id           = 0;

    status = split_variable(entry, prefix, name, sizeof name, &id, &text);
    if (status == MEMSPAN_OK) {
        status = msp_partition_request_parse(name, id, text, &request);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    same = find_request(requests, id);
    if (same != NULL) {
        return bring_together(same, &request);
    }
    if (requests->count >= max_count) {
        memspan_error(MEMSPAN_ERR_CONFIG, "%s is one partition more than %d", name, max_count);
        return msp_error_hint("SHMEM_MAX_PARTITIONS allows that many; %d is the most it can be",
                              SHMEM_MAX_PARTITIONS);
    }
    insert(requests, &request);
    return MEMSPAN_OK;
}

memspan_status_t msp_partition_requests_read(msp_partition_next_t *next, int max_count,
                                             struct msp_partition_requests *requests_p)
{
    size_t i;

    requests_p->count      = 0;
    requests_p->default_id = -1;
    for (i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        size_t cursor = 0;
        const char *entry;

        while ((entry = next(prefixes[i], &cursor)) != NULL) {
            memspan_status_t status = read_variable(entry, prefixes[i], max_count, requests_p);

            if (status != MEMSPAN_OK) {
                return status;
            }
        }
    }
    return MEMSPAN_OK;
}

/* ---- partition 1, and the default one ---- */

static bool is_device(const struct msp_partition_request *request)
{
    return msp_partition_kind(request->kind, request->backend)->source == MSP_KIND_BLOCK;
}

static void choose_default(const struct msp_partition_rules *rules,
                           struct msp_partition_requests *requests)
{
    const struct msp_partition_request *zero = find_request(requests, 0);
    const struct msp_partition_request *one  = find_request(requests, 1);

    if (rules->default_id >= 0) {
        requests->default_id  = rules->default_id;
        requests->default_why = "SHMEMX_DEFAULT_PARTITION says so";
    } else if ((zero != NULL) && (one != NULL) && is_device(one) && !is_device(zero)) {
        requests->default_id  = 0;
        requests->default_why = "partition 1 is a device's, 0 the host's";
    } else if ((one == NULL) && (zero != NULL)) {
        requests->default_id  = 0;
        requests->default_why = "there is no partition 1";
    } else {
        requests->default_id  = 1;
        requests->default_why = "it is partition 1";
    }
}

static memspan_status_t add_default(const struct msp_partition_rules *rules,
                                    struct msp_partition_requests *requests)
{
    struct msp_partition_request request = {.id               = 1,
                                            .kind             = SHMEMX_KIND_SYSDEFAULT,
                                            .device           = MSP_PARTITION_DEVICE_LOCAL,
                                            .policy           = SHMEMX_POLICY_PREFERRED,
                                            .is_default_sized = true,
                                            .is_unasked       = !rules->has_symmetric_size};
    const size_t size_min                = (size_t)64 << 10;

    if (rules->is_strict && (requests->count > 0) && !rules->has_symmetric_size) {
        memspan_error(MEMSPAN_ERR_CONFIG, "partitions are asked for, but no partition 1");
        return msp_error_hint("set SHMEM_SYMMETRIC_PARTITION1, or unset "
                              "SHMEMX_STRICT_PARTITIONS: then it has the default size");
    }
    if (requests->count >= SHMEM_MAX_PARTITIONS) {
        return memspan_error(MEMSPAN_ERR_CONFIG,
                             "with partition 1, of the default size, there are more than %d",
                             SHMEM_MAX_PARTITIONS);
    }
    snprintf(request.variable, sizeof request.variable, "%s",
             rules->has_symmetric_size ? rules->symmetric_size_name : "SHMEM_SYMMETRIC_SIZE");
    request.size_bytes =
        (rules->symmetric_size_bytes < size_min) ? size_min : rules->symmetric_size_bytes;
    insert(requests, &request);
    return MEMSPAN_OK;
}

/* The variable's partition is there. */
static memspan_status_t check_named(const char *variable, int id,
                                    struct msp_partition_requests *requests)
{
    if (find_request(requests, id) != NULL) {
        return MEMSPAN_OK;
    }
    memspan_error(MEMSPAN_ERR_CONFIG, "%s=%d: there is no such partition", variable, id);
    return msp_error_hint("set SHMEM_SYMMETRIC_PARTITION%d too", id);
}

memspan_status_t msp_partition_requests_complete(const struct msp_partition_rules *rules,
                                                 struct msp_partition_requests *requests)
{
    const struct msp_partition_request *chosen;
    memspan_status_t status;

    choose_default(rules, requests);
    chosen = find_request(requests, requests->default_id);
    if ((chosen != NULL) && rules->has_symmetric_size) {
        memspan_error(MEMSPAN_ERR_CONFIG, "%s and %s both say how large the default heap is",
                      rules->symmetric_size_name, chosen->variable);
        return msp_error_hint("unset one of them");
    }
    if ((chosen == NULL) && (find_request(requests, 1) == NULL)) {
        status = add_default(rules, requests);
        if (status != MEMSPAN_OK) {
            return status;
        }
    }
    return check_named("SHMEMX_DEFAULT_PARTITION", requests->default_id, requests);
}

uint64_t msp_partition_size(uint64_t size_bytes)
{
    return (size_bytes > UINT64_MAX - UNIT_BYTES) ? size_bytes
                                                  : msp_round_up(size_bytes, UNIT_BYTES);
}

memspan_status_t msp_partition_requests_get(struct msp_partition_requests *requests_p)
{
    uint64_t most                    = msp_shmem_option_number(MEMSPAN_SHMEM_MAX_PARTITIONS);
    struct msp_partition_rules rules = {
        .symmetric_size_bytes = msp_shmem_option_number(MEMSPAN_SHMEM_SYMMETRIC_SIZE),
        .has_symmetric_size   = msp_shmem_option_is_set(MEMSPAN_SHMEM_SYMMETRIC_SIZE),
        .symmetric_size_name  = msp_shmem_option_name(MEMSPAN_SHMEM_SYMMETRIC_SIZE),
        .max_count            = (int)most,
        .default_id           = -1,
        .is_strict            = msp_shmem_option_is_on(MEMSPAN_SHMEM_STRICT_PARTITIONS)};
    memspan_status_t status;
    int i;

    if ((most == 0) || (most > SHMEM_MAX_PARTITIONS)) {
        memspan_error(MEMSPAN_ERR_CONFIG, "%s=%llu is out of range",
                      msp_shmem_option_name(MEMSPAN_SHMEM_MAX_PARTITIONS),
                      (unsigned long long)most);
        return msp_error_hint("give a number from 1 to %d", SHMEM_MAX_PARTITIONS);
    }
    if (msp_shmem_option_is_set(MEMSPAN_SHMEM_DEFAULT_PARTITION)) {
        rules.default_id = (int)msp_shmem_option_number(MEMSPAN_SHMEM_DEFAULT_PARTITION);
        if (rules.default_id > SHMEM_MAX_PARTITION_ID) {
            memspan_error(MEMSPAN_ERR_CONFIG, "SHMEMX_DEFAULT_PARTITION=%d is out of range",
                          rules.default_id);
            return msp_error_hint("give a number from 0 to %d", SHMEM_MAX_PARTITION_ID);
        }
    }
    status = msp_partition_requests_read(msp_variable_next, rules.max_count, requests_p);
    if (status == MEMSPAN_OK) {
        status = msp_partition_requests_complete(&rules, requests_p);
    }
    if ((status == MEMSPAN_OK) && msp_shmem_option_is_set(MEMSPAN_SHMEM_LIBOMP_PARTITION)) {
        status =
            check_named("SHMEMX_LIBOMP_PARTITION",
                        (int)msp_shmem_option_number(MEMSPAN_SHMEM_LIBOMP_PARTITION), requests_p);
    }
    for (i = 0; (status == MEMSPAN_OK) && (i < requests_p->count); i++) {
        requests_p->request[i].size_bytes = msp_partition_size(requests_p->request[i].size_bytes);
    }
    return status;
}

/* ---- numbers and words of requests ---- */

static uint64_t mix(uint64_t digest, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    size_t i;

    for (i = 0; i < size; i++) {
        digest = (digest ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return digest;
}

uint64_t msp_partition_request_digest(const struct msp_partition_request *request)
{
    const uint64_t numbers[] = {(uint64_t)request->id,     request->size_bytes,
                                request->page_size_bytes,  (uint64_t)request->kind,
                                (uint64_t)request->device, (uint64_t)request->policy};
    uint64_t digest          = mix(UINT64_C(0xcbf29ce484222325), numbers, sizeof numbers);

    digest = mix(digest, request->backend, strlen(request->backend));
    digest = mix(digest, request->path, strlen(request->path));
    return mix(digest, request->name, strlen(request->name));
}

const char *msp_partition_kind_text(shmemx_kind_t kind, const char *backend, int device, char *text,
                                    size_t size)
{
    const struct msp_partition_kind *row = msp_partition_kind(kind, backend);
    const char *word                     = (row != NULL) ? row->name : "?";

    if (device >= 0) {
        snprintf(text, size, "%s@%d", word, device);
    } else {
        snprintf(text, size, "%s", word);
    }
    return text;
}

const char *msp_partition_policy_text(shmemx_policy_t policy)
{
    size_t i;

    for (i = 0; i < sizeof policy_words / sizeof policy_words[0]; i++) {
        if (policy_words[i].value == (int)policy) {
            return policy_words[i].text;
        }
    }
    return "?";
}
