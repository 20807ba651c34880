/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/common/bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Geometry in SVG user units (pixels at 100 %). A bar is wide enough for its range and, upright,
 * its value side by side. */
enum {
    BAR_WIDTH     = 18,
    BAR_RANGE     = 4,  /* from the bar's left edge to the line of its range */
    BAR_VALUE     = 16, /* to the foot of its value, turned upright */
    GROUP_GAP     = 22,
    PANEL_HEIGHT  = 300,
    MARGIN_LEFT   = 88,
    MARGIN_RIGHT  = 20,
    PANEL_GAP     = 72,
    MARGIN_BOTTOM = 62,
    LINE_HEIGHT   = 16,
    LEGEND_HEIGHT = 18,
    SUBTITLE_TOP  = 40,
    WIDTH_LEAST   = 640,
    LINES_MAX     = 12
};

/* The first eight can be distinguished by colour-blind readers and in grey (Okabe and Ito); the
 * others are from Tol's muted set. */
static const char *const colours[] = {"#000000", "#D55E00", "#E69F00", "#0072B2", "#56B4E9",
                                      "#009E73", "#CC79A7", "#F0E442", "#332288", "#882255",
                                      "#999933", "#AA4499", "#44AA99", "#DDCC77", "#888888"};

/* The same elements where the viewer is dark; what is written with each element is the light form.
 */
static const char dark[] =
    "@media (prefers-color-scheme: dark){svg>rect:first-of-type{fill:#12171d}"
    "text{fill:#dde5ee}text[fill]{fill:#9aabbd}text[stroke]{stroke:#12171d}"
    "line{stroke:#c3cedb}line[stroke='#999']{stroke:#5a6b7d}line[stroke='#e4e4e4']{stroke:#2a333d}"
    "rect[fill='#000000']{fill:#dde5ee}rect[fill='#332288']{fill:#8f80e0}"
    "rect[fill='#882255']{fill:#cc6699}}";

/* The axis: from 10^low to 10^high. */
struct axis {
    int low;
    int high;
};

/* Positions and sizes, derived from the texts. */
struct layout {
    struct axis axis;
    double group_step;
    double panel_width;
    double width;
    double line_width; /* for text, from MARGIN_LEFT on */
    double legend_step;
    size_t legend_columns;
    double legend_top;
    double panel_top;
    double value_height; /* above the tallest bar, for its value */
    double note_top;
    double height;
};

/* The font is not known: a letter is at most this wide in most fonts. */
static double text_width(const char *text, double size, bool bold)
{
    return (double)strlen(text) * size * (bold ? 0.65 : 0.6);
}

static void put_label(FILE *file, double x, double y, const char *attributes, const char *text)
{
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    cli_put_xml(file, text);
    fputs("</text>\n", file);
}

/* The next line of a text in that room, from *text on; false at the end. */
static bool next_line(const char **text, double line_width, char *line, size_t size)
{
    size_t most   = (size_t)(line_width / (12 * 0.6));
    size_t length = cli_line(*text, strlen(*text), (most < size) ? most : size - 1);

    if (length == 0) {
        return false;
    }
    (void)snprintf(line, size, "%.*s", (int)length, *text);
    *text += length;
    *text += strspn(*text, " ");
    return true;
}

static size_t count_lines(const char *text, double line_width)
{
    size_t count = 0;
    char line[512];

    while ((count < LINES_MAX) && next_line(&text, line_width, line, sizeof(line))) {
        count++;
    }
    return count;
}

static void put_lines(FILE *file, double y, const char *attributes, const char *text,
                      double line_width)
{
    char line[512];

    for (size_t i = 0; (i < LINES_MAX) && next_line(&text, line_width, line, sizeof(line)); i++) {
        put_label(file, MARGIN_LEFT, y + (double)i * LINE_HEIGHT, attributes, line);
    }
}

static struct axis find_axis(const struct bench_plot *plot)
{
    double low  = INFINITY;
    double high = 0;
    struct axis axis;

    for (size_t p = 0; p < plot->panel_count; p++) {
        for (size_t i = 0; i < plot->group_count * plot->series_count; i++) {
            const struct bench_plot_bar *bar = &plot->panels[p].bars[i];
            if (bar->present) {
                low  = fmin(low, bar->low);
                high = fmax(high, bar->high);
            }
        }
    }
    if (!(high > 0) || !(low > 0)) {
        return (struct axis){0, 1};
    }
    axis.low  = (int)floor(log10(low / 1.1)); /* the least bar stays visible */
    axis.high = (int)ceil(log10(high));
    if (axis.high == axis.low) {
        axis.high++;
    }
    return axis;
}

static double y_of(const struct layout *layout, double value)
{
    const struct axis *axis = &layout->axis;
    double share            = (log10(value) - axis->low) / (axis->high - axis->low);

    return layout->panel_top + PANEL_HEIGHT - share * (PANEL_HEIGHT - layout->value_height);
}

static void value_text(const struct bench_plot_bar *bar, char *text, size_t size)
{
    (void)snprintf(text, size, (bar->value < 99.95) ? "%.3g" : "%.0f", bar->value);
}

static double widest_value(const struct bench_plot *plot)
{
    double widest = 0;
    char text[32];

    for (size_t p = 0; p < plot->panel_count; p++) {
        for (size_t i = 0; i < plot->group_count * plot->series_count; i++) {
            if (plot->panels[p].bars[i].present) {
                value_text(&plot->panels[p].bars[i], text, sizeof(text));
                widest = fmax(widest, text_width(text, 11, false));
            }
        }
    }
    return widest;
}

static void lay_out_width(const struct bench_plot *plot, struct layout *layout)
{
    layout->group_step  = (double)plot->series_count * BAR_WIDTH + GROUP_GAP;
    layout->legend_step = 0;
    for (size_t g = 0; g < plot->group_count; g++) {
        layout->group_step = fmax(layout->group_step, text_width(plot->groups[g], 12, false) + 14);
    }
    layout->panel_width = (double)plot->group_count * layout->group_step + GROUP_GAP;
    layout->panel_width = fmax(layout->panel_width, text_width(plot->x_title, 12, false));
    for (size_t p = 0; p < plot->panel_count; p++) {
        layout->panel_width =
            fmax(layout->panel_width, text_width(plot->panels[p].title, 12, true) + 10);
    }
    for (size_t s = 0; s < plot->series_count; s++) {
        layout->legend_step =
            fmax(layout->legend_step, text_width(plot->series[s], 12, false) + 17 + 16);
    }
    layout->width = MARGIN_LEFT + MARGIN_RIGHT +
                    (double)plot->panel_count * (layout->panel_width + PANEL_GAP) - PANEL_GAP;
    layout->width =
        fmax(layout->width, MARGIN_LEFT + MARGIN_RIGHT + text_width(plot->title, 16, true));
    layout->width      = fmax(layout->width, WIDTH_LEAST);
    layout->line_width = layout->width - MARGIN_LEFT - MARGIN_RIGHT;
}

static struct layout lay_out(const struct bench_plot *plot)
{
    struct layout layout = {.axis = find_axis(plot)};
    size_t lines;

    lay_out_width(plot, &layout);
    layout.legend_columns = (size_t)(layout.line_width / fmax(layout.legend_step, 1));
    layout.legend_columns = (layout.legend_columns == 0) ? 1 : layout.legend_columns;
    lines = (plot->series_count + layout.legend_columns - 1) / layout.legend_columns;
    layout.legend_top =
        SUBTITLE_TOP + (double)count_lines(plot->subtitle, layout.line_width) * LINE_HEIGHT + 6;
    layout.panel_top    = layout.legend_top + (double)lines * LEGEND_HEIGHT + 28;
    layout.value_height = widest_value(plot) + 10;
    layout.note_top     = layout.panel_top + PANEL_HEIGHT + MARGIN_BOTTOM;
    layout.height       = layout.note_top;
    if (plot->note != NULL) {
        layout.height += (double)count_lines(plot->note, layout.line_width) * LINE_HEIGHT;
    }
    return layout;
}

static void draw_axis(FILE *file, const struct layout *layout, double left)
{
    const struct axis *axis = &layout->axis;
    double width            = layout->panel_width;
    char text[32];

    for (int decade = axis->low; decade <= axis->high; decade++) {
        double y = y_of(layout, pow(10, decade));
        fprintf(file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#999\"/>\n",
                left - 4, y, left + width, y);
        (void)snprintf(text, sizeof(text), "%g", pow(10, decade));
        put_label(file, left - 8, y + 4, "text-anchor=\"end\"", text);
        for (int step = 2; (step < 10) && (decade < axis->high); step++) {
            y = y_of(layout, step * pow(10, decade));
            fprintf(file,
                    "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#e4e4e4\"/>\n",
                    left, y, left + width, y);
        }
    }
}

static void draw_bar(FILE *file, const struct layout *layout, const struct bench_plot_bar *bar,
                     double x, const char *colour, const char *absent)
{
    double base = layout->panel_top + PANEL_HEIGHT;
    double top;
    char text[32];

    if (!bar->present) {
        fprintf(file,
                "<text transform=\"translate(%.1f,%.1f) rotate(-90)\" font-size=\"10\" "
                "fill=\"#777\">%s</text>\n",
                x + BAR_VALUE - 2, base - 4, absent);
        return;
    }
    top = y_of(layout, bar->value);
    fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"%s\"/>\n", x + 1,
            top, BAR_WIDTH - 2, base - top, colour);
    fprintf(file,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#777\" "
            "stroke-width=\"1.5\"/>\n",
            x + BAR_RANGE, y_of(layout, bar->low), x + BAR_RANGE, y_of(layout, bar->high));
    value_text(bar, text, sizeof(text));
    fprintf(file,
            "<text transform=\"translate(%.1f,%.1f) rotate(-90)\" font-size=\"11\" "
            "stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\">%s</text>\n",
            x + BAR_VALUE, top - 4, text);
}

static void draw_panel(FILE *file, const struct bench_plot *plot, const struct layout *layout,
                       const struct bench_plot_panel *panel, double left)
{
    double width = layout->panel_width;
    double base  = layout->panel_top + PANEL_HEIGHT;
    double bars  = (double)plot->series_count * BAR_WIDTH;

    put_label(file, left + width / 2, layout->panel_top - 8,
              "text-anchor=\"middle\" font-weight=\"bold\"", panel->title);
    draw_axis(file, layout, left);
    for (size_t g = 0; g < plot->group_count; g++) {
        double middle = left + GROUP_GAP / 2.0 + ((double)g + 0.5) * layout->group_step;
        for (size_t s = 0; s < plot->series_count; s++) {
            draw_bar(file, layout, &panel->bars[g * plot->series_count + s],
                     middle - bars / 2 + (double)s * BAR_WIDTH,
                     colours[s % (sizeof(colours) / sizeof(*colours))],
                     (plot->absent == NULL) ? "waived" : plot->absent);
        }
        put_label(file, middle, base + 18, "text-anchor=\"middle\"", plot->groups[g]);
    }
    fprintf(file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#000\"/>\n", left,
            base, left + width, base);
    put_label(file, left + width / 2, base + 40, "text-anchor=\"middle\"", plot->x_title);
}

static void draw_legend(FILE *file, const struct bench_plot *plot, const struct layout *layout)
{
    for (size_t s = 0; s < plot->series_count; s++) {
        double x = MARGIN_LEFT + (double)(s % layout->legend_columns) * layout->legend_step;
        double y = layout->legend_top + (double)(s / layout->legend_columns) * LEGEND_HEIGHT;
        fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" fill=\"%s\"/>\n", x,
                y - 10, colours[s % (sizeof(colours) / sizeof(*colours))]);
        put_label(file, x + 17, y, "", plot->series[s]);
    }
}

bool bench_plot_svg_write(const struct bench_plot *plot, const char *path)
{
    struct layout layout = lay_out(plot);
    FILE *file           = bench_file_open(path);

    if (file == NULL) {
        return false;
    }
    fprintf(file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<style>%s</style>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            layout.width, layout.height, layout.width, layout.height, dark);
    put_label(file, MARGIN_LEFT, 22, "font-size=\"16\" font-weight=\"bold\"", plot->title);
    put_lines(file, SUBTITLE_TOP, "fill=\"#444\"", plot->subtitle, layout.line_width);
    draw_legend(file, plot, &layout);
    for (size_t p = 0; p < plot->panel_count; p++) {
        draw_panel(file, plot, &layout, &plot->panels[p],
                   MARGIN_LEFT + (double)p * (layout.panel_width + PANEL_GAP));
    }
    fprintf(file, "<text transform=\"translate(18,%.0f) rotate(-90)\" text-anchor=\"middle\">",
            layout.panel_top + PANEL_HEIGHT / 2.0);
    cli_put_xml(file, plot->y_title);
    fputs("</text>\n", file);
    if (plot->note != NULL) {
        put_lines(file, layout.note_top - 6, "fill=\"#444\"", plot->note, layout.line_width);
    }
    fputs("</svg>\n", file);
    return bench_file_close(file, path);
}
