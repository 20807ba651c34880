/* SPDX-License-Identifier: BSD-3-Clause */
/* svg.c: the machine as a drawing. The host is a card on the left with its NUMA nodes; each device
 * is a card on the right, with a link to the host; links between devices are brackets on the right,
 * and their texts stand below, with spaces, backends that are off, and the key.
 *
 * The file is self-contained: no script, font or style sheet. The widths of texts are unknown,
 * so each text has a fixed width, by the number of its letters. The height is known last: the
 * head of the file is written at the end. */

#include "cmd/memquery/measure/measure.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    MARGIN        = 20,
    HOST_WIDTH    = 400,
    LINK_WIDTH    = 320,
    DEVICE_WIDTH  = 590,
    DEVICE_LEFT   = MARGIN + HOST_WIDTH + LINK_WIDTH,
    DEVICE_RIGHT  = DEVICE_LEFT + DEVICE_WIDTH,
    TOP           = 56,
    HEAD_HEIGHT   = 66, /* a card's title and two lines */
    NODE_HEIGHT   = 62,
    ROW_HEIGHT    = 20,
    LINE_HEIGHT   = 18,
    GAP           = 24,
    BRACKET       = 34, /* from one bracket to the next */
    NODES_WIDE    = 4,  /* more are in two columns */
    PEERS_DRAWN   = 5,  /* links of more devices would be unreadable */
    RESOURCES_MAX = 12,
    DEVICES_MAX   = 64,
    PAIR_WIDTH    = 330 /* the text of one pair of devices */
};

struct card {
    double y;
    double height;
    const struct resource *resources[RESOURCES_MAX];
    size_t resource_count;
};

struct drawing {
    const struct snapshot *snapshot;
    FILE *out;
    double width;
    double height;       /* height of the cards */
    size_t device_count; /* without the host */
    struct card host;
    struct card devices[DEVICES_MAX];
};

/* ---- elements ---- */

static double letter_width(const char *look)
{
    if (strstr(look, "title") != NULL) {
        return 10.6;
    }
    if (strstr(look, "strong") != NULL) {
        return 8.6;
    }
    return (strstr(look, "small") != NULL) ? 7.25 : 7.85;
}

/* A text of at most @p width: the rest is cut, and shown in full by a tooltip. */
__attribute__((format(printf, 6, 7))) static void put_text(const struct drawing *drawing, double x,
                                                           double y, const char *look, double width,
                                                           const char *format, ...)
{
    size_t most = (size_t)(width / letter_width(look));
    char text[1024];
    char shown[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (text[0] == '\0') {
        return;
    }
    snprintf(shown, sizeof(shown), "%s", text);
    if ((strlen(shown) > most) && (most > 2)) {
        strcpy(shown + most - 2, "..");
    }
    fprintf(drawing->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, look);
    if (strlen(text) > most) {
        fputs("<title>", drawing->out);
        cli_put_xml(drawing->out, text);
        fputs("</title>", drawing->out);
    }
    cli_put_xml(drawing->out, shown);
    fputs("</text>\n", drawing->out);
}

/* A text in as many lines as needed, broken between words; returns their number. */
static size_t put_wrapped(const struct drawing *drawing, double x, double y, const char *look,
                          double width, const char *text)
{
    size_t most  = (size_t)(width / letter_width(look));
    size_t lines = 0;

    while (*text != '\0') {
        size_t length = cli_line(text, strlen(text), most);

        put_text(drawing, x, y + LINE_HEIGHT * (double)lines, look, width, "%.*s", (int)length,
                 text);
        text += length;
        text += strspn(text, " ");
        lines++;
    }
    return lines;
}

static void put_box(const struct drawing *drawing, double x, double y, double width, double height,
                    const char *look)
{
    fprintf(drawing->out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"6\" class=\"%s\"/>\n",
            x, y, width, height, look);
}

/* ---- words ---- */

static const char *access_words(memspan_access_t access)
{
    static const char *const words[] = {"not at all",     "copies only",     "after registering",
                                        "by page faults", "loads over link", "local"};

    return ((size_t)access < sizeof(words) / sizeof(words[0])) ? words[access] : "?";
}

static const char *coherence_words(const memspan_reach_t *reach)
{
    static const char *const words[] = {"", ", in turn", ", at once", ", atomics"};

    return ((reach->access < MEMSPAN_ACCESS_FAULT) ||
            ((size_t)reach->coherence >= sizeof(words) / sizeof(words[0])))
               ? ""
               : words[reach->coherence];
}

/* "11.5 GB/s, 98 ns", as far as known. */
static void figure_text(const struct measure_cell *cell, char *text, size_t size)
{
    text[0] = '\0';
    if ((cell == NULL) || (cell->state != MEASURE_DONE)) {
        return;
    }
    if (cell->bandwidth_bytes_per_s > 0) {
        cli_append(text, size, "%.3g GB/s", cell->bandwidth_bytes_per_s / 1e9);
    }
    if (cell->latency_ns > 0) {
        cli_append(text, size, "%s%.0f ns", (text[0] == '\0') ? "" : ", ", cell->latency_ns);
    }
    cli_append(text, size, " ~%d%%%s", measure_spread_percent(cell), cell->busy ? "!" : "");
}

static const struct resource *find_resource(const struct snapshot *snapshot, int home, int node,
                                            memspan_kind_t kind)
{
    for (size_t i = 0; i < snapshot->space_count; i++) {
        for (size_t j = 0; j < snapshot->spaces[i].resource_count; j++) {
            const struct resource *resource = &snapshot->spaces[i].resources[j];

            if ((resource->info.home == home) && (resource->info.kind == kind) &&
                ((node < 0) || (resource->info.numa_node == node))) {
                return resource;
            }
        }
    }
    return NULL;
}

static void resource_figure(const struct drawing *drawing, const struct resource *resource,
                            size_t device, char *text, size_t size)
{
    const struct snapshot *snapshot = drawing->snapshot;

    figure_text((resource == NULL) ? NULL
                                   : measure_cell_of(snapshot->figures, snapshot, resource, device),
                text, size);
}

/* ---- layout ---- */

static void collect_resources(const struct snapshot *snapshot, int home, struct card *card)
{
    memspan_kind_t kind;

    for (kind = MEMSPAN_KIND_DEVICE; kind >= MEMSPAN_KIND_HOST_PINNED;
         kind = (memspan_kind_t)(kind - 1)) {
        const struct resource *resource = find_resource(snapshot, home, -1, kind);

        if ((resource != NULL) && (card->resource_count < RESOURCES_MAX)) {
            card->resources[card->resource_count++] = resource;
        }
    }
}

static bool draws_peers(const struct drawing *drawing)
{
    return (drawing->device_count >= 2) && (drawing->device_count <= PEERS_DRAWN);
}

static void lay_out(struct drawing *drawing)
{
    const struct snapshot *snapshot = drawing->snapshot;
    size_t columns                  = (snapshot->node_count > NODES_WIDE) ? 2 : 1;
    size_t rows                     = (snapshot->node_count + columns - 1) / columns;
    double y                        = TOP;

    drawing->device_count = (snapshot->device_count > 0) ? snapshot->device_count - 1 : 0;
    if (drawing->device_count > DEVICES_MAX) {
        drawing->device_count = DEVICES_MAX;
    }
    for (size_t i = 0; i < drawing->device_count; i++) {
        struct card *card = &drawing->devices[i];

        collect_resources(snapshot, snapshot->devices[i + 1].info.number, card);
        card->y      = y;
        card->height = HEAD_HEIGHT + ROW_HEIGHT * (double)card->resource_count + 30;
        card->height = (card->height < 124) ? 124 : card->height;
        y += card->height + GAP;
    }
    collect_resources(snapshot, MEMSPAN_HOST, &drawing->host);
    drawing->host.y      = TOP;
    drawing->host.height = HEAD_HEIGHT + (double)rows * (NODE_HEIGHT + 10) +
                           ROW_HEIGHT * (double)drawing->host.resource_count + 12;
    if (drawing->host.height < y - GAP - TOP) {
        drawing->host.height = y - GAP - TOP;
    }
    drawing->height = TOP + drawing->host.height + GAP;
    drawing->width  = DEVICE_RIGHT + MARGIN;
    if (draws_peers(drawing)) {
        drawing->width +=
            BRACKET * (double)(drawing->device_count * (drawing->device_count - 1) / 2);
    }
}

/* ---- cards ---- */

static void draw_node(const struct drawing *drawing, const memspan_numa_node_info_t *node, double x,
                      double y, double width)
{
    const struct resource *resource =
        find_resource(drawing->snapshot, MEMSPAN_HOST, node->os_index, MEMSPAN_KIND_HOST);
    double available = width - 20;
    char cache[64]   = "";
    char figure[64];

    if (node->side_cache_bytes > 0) {
        snprintf(cache, sizeof(cache), " behind a cache of %s",
                 cli_size_text(node->side_cache_bytes).text);
    }
    put_box(drawing, x, y, width, NODE_HEIGHT, "node");
    put_text(drawing, x + 10, y + 18, "strong", available, "node%d  %s  %s GiB%s", node->os_index,
             memspan_numa_node_kind_name(node->kind), text_from_gib(node->capacity_bytes).text,
             cache);
    put_text(drawing, x + 10, y + 36, "small", available, "%s %s",
             (node->owner[0] != '\0') ? "memory of device"
             : (node->pu_count == 0)  ? "no processors"
                                      : "processors",
             (node->owner[0] != '\0') ? node->owner : ((node->pu_count == 0) ? "" : node->pus));
    resource_figure(drawing, resource, 0, figure, sizeof(figure));
    if ((figure[0] == '\0') && (node->bandwidth_mib_per_s != MEMSPAN_UNKNOWN)) {
        snprintf(figure, sizeof(figure), "%.3g GB/s",
                 (double)node->bandwidth_mib_per_s * 1048576e-9);
        if (node->latency_ns != MEMSPAN_UNKNOWN) {
            cli_append(figure, sizeof(figure), ", %llu ns", (unsigned long long)node->latency_ns);
        }
        cli_append(figure, sizeof(figure), " (%.20s)", node->performance_source);
    }
    put_text(drawing, x + 10, y + 53, "small figure", available, "%s",
             (figure[0] == '\0') ? "speed not measured" : figure);
}

static void draw_host(const struct drawing *drawing)
{
    const struct snapshot *snapshot = drawing->snapshot;
    const memspan_device_info_t *me = &snapshot->devices[0].info;
    size_t columns                  = (snapshot->node_count > NODES_WIDE) ? 2 : 1;
    double width = (HOST_WIDTH - 20 - 10 * (double)(columns - 1)) / (double)columns;
    double y     = drawing->host.y;

    put_box(drawing, MARGIN, y, HOST_WIDTH, drawing->host.height, "card");
    put_text(drawing, MARGIN + 14, y + 24, "title", HOST_WIDTH - 28, "h  host");
    put_text(drawing, MARGIN + 14, y + 44, "plain", HOST_WIDTH - 28, "%s", me->name);
    put_text(drawing, MARGIN + 14, y + 60, "small", HOST_WIDTH - 28, "%s GiB%s%s",
             text_from_gib(me->capacity_bytes).text, (me->capacity_source[0] == '\0') ? "" : ", ",
             me->capacity_source);
    y += HEAD_HEIGHT + 6;
    for (size_t i = 0; i < snapshot->node_count; i++) {
        draw_node(drawing, &snapshot->nodes[i], MARGIN + 10 + (double)(i % columns) * (width + 10),
                  y + (double)(i / columns) * (NODE_HEIGHT + 10), width);
    }
    y += (double)((snapshot->node_count + columns - 1) / columns) * (NODE_HEIGHT + 10) + 10;
    for (size_t i = 0; i < drawing->host.resource_count; i++) {
        const struct resource *resource = drawing->host.resources[i];
        char figure[64];

        resource_figure(drawing, resource, 0, figure, sizeof(figure));
        put_text(drawing, MARGIN + 14, y + ROW_HEIGHT * (double)i, "small", 120, "%s",
                 resource->info.name);
        put_text(drawing, MARGIN + 130, y + ROW_HEIGHT * (double)i, "small figure",
                 HOST_WIDTH - 150, "%s", figure);
    }
}

/* A row a kind of memory: from the device itself, and from the host. */
static void draw_lanes(const struct drawing *drawing, size_t device, const struct card *card)
{
    double y = card->y + HEAD_HEIGHT + 14;

    put_text(drawing, DEVICE_LEFT + 14, y, "small head", 90, "memory");
    put_text(drawing, DEVICE_LEFT + 106, y, "small head", 190, "from %s",
             drawing->snapshot->devices[device].label);
    put_text(drawing, DEVICE_LEFT + 300, y, "small head", 270, "from h");
    for (size_t i = 0; i < card->resource_count; i++) {
        const struct resource *resource = card->resources[i];
        char figure[64];

        y += ROW_HEIGHT;
        put_text(drawing, DEVICE_LEFT + 14, y, "small", 90, "%s",
                 memspan_kind_name(resource->info.kind));
        resource_figure(drawing, resource, device, figure, sizeof(figure));
        put_text(drawing, DEVICE_LEFT + 106, y, "small figure", 190, "%s",
                 (figure[0] == '\0') ? access_words(resource->reach[device].access) : figure);
        resource_figure(drawing, resource, 0, figure, sizeof(figure));
        put_text(drawing, DEVICE_LEFT + 300, y, "small figure", 282, "%s%s%s",
                 access_words(resource->reach[0].access), (figure[0] == '\0') ? "" : ": ", figure);
    }
}

static void draw_device(const struct drawing *drawing, size_t index)
{
    const struct snapshot *snapshot = drawing->snapshot;
    const struct device_row *row    = &snapshot->devices[index + 1];
    const struct card *card         = &drawing->devices[index];
    double x                        = DEVICE_LEFT + 14;
    double available                = DEVICE_WIDTH - 28;
    char place[64]                  = "";
    char same[64]                   = "";

    if (row->info.pci_address[0] != '\0') {
        cli_append(place, sizeof(place), ", PCI %s", row->info.pci_address);
    }
    if (row->info.numa_node >= 0) {
        cli_append(place, sizeof(place), ", near node%d", row->info.numa_node);
    }
    if ((size_t)row->same_as != index + 1) {
        snprintf(same, sizeof(same), ", the same hardware as %s",
                 snapshot->devices[row->same_as].label);
    }
    put_box(drawing, DEVICE_LEFT, card->y, DEVICE_WIDTH, card->height, "card");
    put_text(drawing, x, card->y + 24, "title", available, "%s  %s:%d", row->label,
             row->info.backend, row->info.ordinal);
    put_text(drawing, x, card->y + 44, "plain", available, "%s", row->info.name);
    put_text(drawing, x, card->y + 60, "small", available, "%s GiB%s%s%s%s",
             text_from_gib(row->info.capacity_bytes).text,
             (row->info.capacity_source[0] == '\0') ? "" : ", ", row->info.capacity_source, place,
             same);
    draw_lanes(drawing, index + 1, card);
}

/* ---- links ---- */

static const char *link_look(memspan_access_t access)
{
    static const char *const looks[] = {"none", "copy", "register", "fault", "remote", "local"};

    return ((size_t)access < sizeof(looks) / sizeof(looks[0])) ? looks[access] : "none";
}

/* The arrow points at the memory. */
static void draw_link(const struct drawing *drawing, double y, bool to_host,
                      const memspan_reach_t *reach, const char *figure, const char *who)
{
    double left  = MARGIN + HOST_WIDTH + 2;
    double right = DEVICE_LEFT - 2;

    if (reach->access != MEMSPAN_ACCESS_NONE) {
        fprintf(drawing->out,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"link %s\" "
                "marker-end=\"url(#tip)\"/>\n",
                to_host ? right : left, y, to_host ? left + 7 : right - 7, y,
                link_look(reach->access));
    }
    put_text(drawing, left + 12, y - 6, "small", LINK_WIDTH - 24, "%s: %s%s", who,
             access_words(reach->access), coherence_words(reach));
    put_text(drawing, left + 12, y + 14, "small figure", LINK_WIDTH - 24, "%s", figure);
}

static void draw_host_links(const struct drawing *drawing, size_t index)
{
    const struct snapshot *snapshot = drawing->snapshot;
    const struct card *card         = &drawing->devices[index];
    int number                      = snapshot->devices[index + 1].info.number;
    char figure[64];
    char who[64];

    resource_figure(drawing, find_resource(snapshot, MEMSPAN_HOST, -1, MEMSPAN_KIND_HOST),
                    index + 1, figure, sizeof(figure));
    snprintf(who, sizeof(who), "%.15s uses h", snapshot->devices[index + 1].label);
    draw_link(drawing, card->y + 36, true, &peer_of(snapshot, 0, index + 1)->reach, figure, who);
    resource_figure(drawing, find_resource(snapshot, number, -1, MEMSPAN_KIND_DEVICE), 0, figure,
                    sizeof(figure));
    snprintf(who, sizeof(who), "h uses %.15s", snapshot->devices[index + 1].label);
    draw_link(drawing, card->y + 90, false, &peer_of(snapshot, index + 1, 0)->reach, figure, who);
}

/* The weaker of both directions; figures are in the table. */
static const memspan_reach_t *between(const struct drawing *drawing, size_t a, size_t b)
{
    const memspan_reach_t *there = &peer_of(drawing->snapshot, b + 1, a + 1)->reach;
    const memspan_reach_t *back  = &peer_of(drawing->snapshot, a + 1, b + 1)->reach;

    return (there->access <= back->access) ? there : back;
}

static void draw_bracket(const struct drawing *drawing, size_t a, size_t b, size_t resource)
{
    const memspan_reach_t *reach = between(drawing, a, b);
    double x                     = DEVICE_RIGHT + BRACKET * ((double)resource + 1) - 8;
    double available             = (double)drawing->device_count;
    double top =
        drawing->devices[a].y + drawing->devices[a].height * ((double)b + 1) / (available + 2);
    double bottom =
        drawing->devices[b].y + drawing->devices[b].height * ((double)a + 1) / (available + 2);

    if (reach->access != MEMSPAN_ACCESS_NONE) {
        fprintf(drawing->out,
                "<path d=\"M%d %.1f H%.1f V%.1f H%d\" class=\"link %s\" fill=\"none\"/>\n",
                DEVICE_RIGHT, top, x, bottom, DEVICE_RIGHT, link_look(reach->access));
    }
}

static void draw_peers(const struct drawing *drawing)
{
    size_t resource = 0;

    if (!draws_peers(drawing)) {
        return;
    }
    for (size_t apart = 1; apart < drawing->device_count; apart++) { /* short ones innermost */
        for (size_t a = 0; a + apart < drawing->device_count; a++) {
            draw_bracket(drawing, a, a + apart, resource++);
        }
    }
}

/* ---- below ---- */

/* The texts of the brackets, side by side as far as they fit. */
static double draw_pairs(const struct drawing *drawing, double y)
{
    size_t columns = (size_t)((drawing->width - 2 * MARGIN) / PAIR_WIDTH);
    size_t count   = 0;

    if (!draws_peers(drawing)) {
        return y;
    }
    put_text(drawing, MARGIN, y, "strong", drawing->width - 2 * MARGIN, "Between devices");
    for (size_t a = 0; a < drawing->device_count; a++) {
        for (size_t b = a + 1; b < drawing->device_count; b++) {
            const memspan_reach_t *reach = between(drawing, a, b);

            put_text(drawing, MARGIN + PAIR_WIDTH * (double)(count % columns),
                     y + LINE_HEIGHT * (double)(1 + count / columns), "small", PAIR_WIDTH - 12,
                     "%s-%s: %s%s", drawing->snapshot->devices[a + 1].label,
                     drawing->snapshot->devices[b + 1].label, access_words(reach->access),
                     coherence_words(reach));
            count++;
        }
    }
    return y + LINE_HEIGHT * (double)(1 + (count + columns - 1) / columns) + LINE_HEIGHT / 2.0;
}

/* Returns the top of the next line. */
static double draw_space(const struct drawing *drawing, const struct space_row *row, double y)
{
    double available   = drawing->width - 2 * MARGIN - 160;
    bool alias         = (row->resource_count > 0) && (row->resources[0].state == RESOURCE_ALIAS);
    char members[2048] = "";
    size_t lines;

    if (row->status != MEMSPAN_OK) {
        cli_append(members, sizeof(members), "OFF: %s", row->problem);
    } else if (row->resource_count == 0) {
        cli_append(members, sizeof(members), "nothing");
    }
    for (size_t i = 0; i < row->resource_count; i++) {
        cli_append(members, sizeof(members), "%s%s", (i == 0) ? "" : ", ",
                   row->resources[i].info.name);
    }
    if (alias) {
        cli_append(members, sizeof(members), "; %s", row->info.note);
    }
    put_text(drawing, MARGIN, y, "small", 150, "%s", row->info.name);
    lines = put_wrapped(drawing, MARGIN + 160, y,
                        (row->status != MEMSPAN_OK) ? "small figure" : "small", available, members);
    return y + LINE_HEIGHT * (double)((lines == 0) ? 1 : lines);
}

/* Returns the bottom of the picture. */
static double draw_below(const struct drawing *drawing)
{
    const struct snapshot *snapshot = drawing->snapshot;
    double available                = drawing->width - 2 * MARGIN;
    double y                        = draw_pairs(drawing, drawing->height + 12);
    char text[1024];

    put_text(drawing, MARGIN, y, "strong", available, "Memory spaces and what can satisfy them");
    y += LINE_HEIGHT;
    for (size_t i = 0; i < snapshot->space_count; i++) {
        y = draw_space(drawing, &snapshot->spaces[i], y);
    }
    y += LINE_HEIGHT / 2.0;
    for (size_t i = 0; i < snapshot->backend_count; i++) {
        const struct backend_row *row = &snapshot->backends[i];

        if (!row->info.on) {
            snprintf(text, sizeof(text), "%s off: %s", row->info.name,
                     (row->failure != NULL) ? row->failure->what : row->info.reason);
            y += LINE_HEIGHT * (double)put_wrapped(drawing, MARGIN, y, "small", available, text);
        }
    }
    y += LINE_HEIGHT / 2.0;
    y += LINE_HEIGHT * (double)put_wrapped(
                           drawing, MARGIN, y, "small", available,
                           "An arrow points at the memory that is used. Solid: loads and stores; "
                           "dashed: by page faults; dotted: after registering; thin: copies only.");
    y += LINE_HEIGHT *
         (double)put_wrapped(drawing, MARGIN, y, "small", available,
                             (snapshot->figures == NULL)
                                 ? "Nothing was measured: memquery --measure -o svg does."
                                 : "GB/s of three loads and a store, ns of dependent loads; where "
                                   "copies are all there is, of copies in and out, and of eight "
                                   "bytes. ~: spread of the repetitions; !: others used the "
                                   "processors.");
    if (snapshot->figures != NULL) {
        measure_dates(snapshot->figures, text, sizeof(text));
        y += LINE_HEIGHT * (double)put_wrapped(drawing, MARGIN, y, "small", available, text);
    }
    for (size_t i = 0; i < snapshot->warning_count; i++) {
        snprintf(text, sizeof(text), "warning: %s", snapshot->warnings[i]);
        y += LINE_HEIGHT * (double)put_wrapped(drawing, MARGIN, y, "small", available, text);
    }
    return y;
}

static void put_head(const struct drawing *drawing, double height)
{
    static const char style[] =
        "text{font-family:sans-serif;fill:#1c2733}.title{font-size:16px;font-weight:bold}"
        ".strong{font-size:13px;font-weight:bold}.plain{font-size:13px}.small{font-size:12px}"
        ".head{fill:#667788}.figure{fill:#0b5cad}"
        ".ground{fill:#ffffff}.card{fill:#f3f6f9;stroke:#8899aa}.node{fill:#ffffff;stroke:#b4c0cc}"
        ".link{stroke:#44566a;stroke-width:2.5}.fault{stroke-dasharray:9 5}"
        ".register{stroke-dasharray:2 5}.copy{stroke-width:1}.tip{fill:#44566a}"
        "@media (prefers-color-scheme: dark){text{fill:#dde5ee}.head{fill:#9aabbd}"
        ".figure{fill:#7db8ff}.ground{fill:#12171d}.card{fill:#1c242d;stroke:#5a6b7d}"
        ".node{fill:#12171d;stroke:#44525f}.link{stroke:#a9bbce}.tip{fill:#a9bbce}}";

    fprintf(drawing->out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
            "height=\"%.0f\">\n<title>Memory of ",
            drawing->width, height, drawing->width, height);
    cli_put_xml(drawing->out, drawing->snapshot->host_name);
    fprintf(drawing->out,
            "</title>\n<style>%s</style>\n"
            "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"2\" refY=\"4\" markerWidth=\"8\" "
            "markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
            "<path d=\"M0 0 L8 4 L0 8 z\" class=\"tip\"/></marker></defs>\n"
            "<rect width=\"100%%\" height=\"100%%\" class=\"ground\"/>\n",
            style);
}

static void draw_all(const struct drawing *drawing)
{
    const struct snapshot *snapshot = drawing->snapshot;

    put_text(drawing, MARGIN, 34, "title", drawing->width - 2 * MARGIN,
             "%s: memory as libmemspan %s reaches it%s", snapshot->host_name, memspan_version(),
             (drawing->device_count + 1 < snapshot->device_count) ? " (the first devices)" : "");
    if (snapshot->device_count > 0) {
        draw_host(drawing);
    }
    for (size_t i = 0; i < drawing->device_count; i++) {
        draw_device(drawing, i);
        draw_host_links(drawing, i);
    }
    draw_peers(drawing);
}

void svg_print(const struct snapshot *snapshot, FILE *out)
{
    struct drawing *drawing = cli_calloc(1, sizeof(*drawing));
    char *body              = NULL;
    size_t body_bytes       = 0;
    double height;

    drawing->snapshot = snapshot;
    drawing->out      = open_memstream(&body, &body_bytes);
    if (drawing->out == NULL) {
        cli_complain("out of memory");
        exit(EXIT_PROBE);
    }
    lay_out(drawing);
    draw_all(drawing);
    height = draw_below(drawing) + MARGIN;
    fclose(drawing->out);
    drawing->out = out;
    put_head(drawing, height);
    fwrite(body, 1, body_bytes, out);
    fputs("</svg>\n", out);
    free(body);
    free(drawing);
}
