/* SPDX-License-Identifier: BSD-3-Clause */
/* match.c: pairs of devices, and their labels. */

#include "cmd/memquery/diff/diff.h"
#include <memspan/memspan.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 1024 };

struct device {
    int number;
    int ordinal;
    const char *backend;
    const char *uid; /* "" where unknown, as the next two */
    const char *pci_address;
    const char *name;
    bool paired;
    char label[DIFF_TEXT_MAX];
};

struct devices {
    struct device *list;
    size_t count;
};

static bool read_device(const struct diff_view *view, const json_t *value, struct device *device)
{
    return diff_view_int(view, value, "number", &device->number) &&
           diff_view_int(view, value, "ordinal", &device->ordinal) &&
           diff_view_text(view, value, "backend", false, &device->backend) &&
           diff_view_text(view, value, "uid", true, &device->uid) &&
           diff_view_text(view, value, "pci_address", true, &device->pci_address) &&
           diff_view_text(view, value, "name", true, &device->name);
}

/* A document without devices has an empty list. */
static bool read_devices(struct diff_view *view, struct devices *devices_p)
{
    const json_t *array = json_object_get(view->document, "devices");
    const json_t *value;
    size_t i;

    *devices_p = (struct devices){0};
    if ((array != NULL) && (!json_is_array(array) || (json_array_size(array) > DEVICES_MAX))) {
        cli_complain("%s: devices is not a list of at most %d", view->path, DEVICES_MAX);
        return false;
    }
    devices_p->list = cli_calloc(json_array_size(array), sizeof(devices_p->list[0]));
    json_array_foreach((json_t *)array, i, value)
    {
        snprintf(view->where, sizeof(view->where), "devices[%zu]", i);
        if (!read_device(view, value, &devices_p->list[i])) {
            return false;
        }
        devices_p->count++;
    }
    view->where[0] = '\0';
    return true;
}

/* ---- pairs ---- */

typedef bool (*same_fn)(const struct device *a, const struct device *b);

static bool is_same_text(const char *a, const char *b)
{
    return (a[0] != '\0') && (strcmp(a, b) == 0);
}

static bool has_same_uid(const struct device *a, const struct device *b)
{
    return is_same_text(a->uid, b->uid);
}

static bool has_same_pci_address(const struct device *a, const struct device *b)
{
    return is_same_text(a->pci_address, b->pci_address);
}

static bool has_same_name(const struct device *a, const struct device *b)
{
    return is_same_text(a->name, b->name);
}

static bool is_next(const struct device *a, const struct device *b)
{
    (void)a;
    (void)b;
    return true;
}

static void pair(struct devices *a, struct devices *b, same_fn same)
{
    for (size_t i = 0; i < a->count; i++) {
        for (size_t j = 0; (j < b->count) && !a->list[i].paired; j++) {
            if (!b->list[j].paired && (strcmp(a->list[i].backend, b->list[j].backend) == 0) &&
                same(&a->list[i], &b->list[j])) {
                a->list[i].paired = true;
                b->list[j].paired = true;
                memcpy(b->list[j].label, a->list[i].label, sizeof(b->list[j].label));
            }
        }
    }
}

static void name(struct devices *devices)
{
    for (size_t i = 0; i < devices->count; i++) {
        struct device *device = &devices->list[i];

        if (device->number == MEMSPAN_HOST) {
            snprintf(device->label, sizeof(device->label), "host");
        } else {
            snprintf(device->label, sizeof(device->label), "%.200s:%d", device->backend,
                     device->ordinal);
        }
    }
}

/* Labels by number. The host has two numbers. */
static void make_labels(struct diff_view *view, const struct devices *devices)
{
    const json_t *host = json_object_get(view->document, "host_number");

    view->labels = json_object();
    view->alone  = json_object();
    for (size_t i = 0; i < devices->count; i++) {
        const struct device *device = &devices->list[i];

        json_put_text(device->paired ? view->labels : view->alone,
                      text_from_int(device->number).text, device->label);
    }
    if (json_is_integer(host)) {
        json_put_text(view->labels, text_from_int(json_integer_value(host)).text, "host");
    }
}

/* A label of the second document that a paired device has, too, becomes another. */
static void tell_apart(const struct devices *a, struct devices *b)
{
    for (size_t j = 0; j < b->count; j++) {
        bool taken = false;

        for (size_t i = 0; (i < a->count) && !b->list[j].paired; i++) {
            taken = taken || (strcmp(a->list[i].label, b->list[j].label) == 0);
        }
        if (taken) {
            cli_append(b->list[j].label, sizeof(b->list[j].label), " of B");
        }
    }
}

bool diff_match(struct diff_view *a, struct diff_view *b, bool one_host)
{
    static const same_fn steps[] = {has_same_uid, has_same_pci_address, has_same_name, is_next};
    struct devices left          = {0};
    struct devices right         = {0};
    bool read                    = read_devices(a, &left) && read_devices(b, &right);

    if (read) {
        name(&left);
        name(&right);
        for (size_t i = one_host ? 0 : 1; i < sizeof(steps) / sizeof(steps[0]); i++) {
            pair(&left, &right, steps[i]);
        }
        tell_apart(&left, &right);
        make_labels(a, &left);
        make_labels(b, &right);
    }
    free(left.list);
    free(right.list);
    return read;
}
