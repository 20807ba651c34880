/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/plot_svg.h"
#include "bench/file.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Geometry in SVG user units (pixels at 100 %). A bar is wide enough for its value written upright
 * above it. */
enum {
    BAR_WIDTH     = 18,
    GROUP_GAP     = 22,
    PANEL_HEIGHT  = 300,
    PANEL_TOP     = 104,
    MARGIN_LEFT   = 88,
    MARGIN_RIGHT  = 20,
    PANEL_GAP     = 72,
    MARGIN_BOTTOM = 62,
    LABEL_ROOM    = 44, /* above the tallest bar, for its value */
    LEGEND_WIDTH  = 140
};

/* The first eight are told apart by people who see colours differently, and in grey (Okabe and
 * Ito); the others are from Tol's muted set. */
static const char *const colours[] = {"#000000", "#D55E00", "#E69F00", "#0072B2", "#56B4E9",
                                      "#009E73", "#CC79A7", "#F0E442", "#332288", "#882255",
                                      "#999933", "#AA4499", "#44AA99", "#DDCC77", "#888888"};

/* The axis: from 10^low to 10^high. */
struct axis {
    int low;
    int high;
};

static void put_text(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", file);
            break;
        case '<':
            fputs("&lt;", file);
            break;
        case '>':
            fputs("&gt;", file);
            break;
        default:
            /* What is not plain ASCII may not be well-formed; a driver's name is not worth it. */
            fputc(((unsigned char)*text < 0x20 || (unsigned char)*text > 0x7e) ? '?' : *text, file);
        }
    }
}

static void put_label(FILE *file, double x, double y, const char *attributes, const char *text)
{
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    put_text(file, text);
    fputs("</text>\n", file);
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
    axis.low  = (int)floor(log10(low));
    axis.high = (int)ceil(log10(high));
    if (axis.high == axis.low) {
        axis.high++;
    }
    return axis;
}

static double y_of(const struct axis *axis, double value)
{
    double share = (log10(value) - axis->low) / (axis->high - axis->low);

    return PANEL_TOP + PANEL_HEIGHT - share * (PANEL_HEIGHT - LABEL_ROOM);
}

static double group_width(const struct bench_plot *plot)
{
    return (double)plot->series_count * BAR_WIDTH + GROUP_GAP;
}

static double panel_width(const struct bench_plot *plot)
{
    return (double)plot->group_count * group_width(plot) + GROUP_GAP;
}

static void draw_axis(FILE *file, const struct axis *axis, double left, double width)
{
    char text[32];

    for (int decade = axis->low; decade <= axis->high; decade++) {
        double y = y_of(axis, pow(10, decade));
        fprintf(file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#999\"/>\n",
                left - 4, y, left + width, y);
        (void)snprintf(text, sizeof(text), "%g", pow(10, decade));
        put_label(file, left - 8, y + 4, "text-anchor=\"end\"", text);
        for (int step = 2; (step < 10) && (decade < axis->high); step++) {
            y = y_of(axis, step * pow(10, decade));
            fprintf(file,
                    "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#e4e4e4\"/>\n",
                    left, y, left + width, y);
        }
    }
}

static void draw_bar(FILE *file, const struct axis *axis, const struct bench_plot_bar *bar,
                     double x, const char *colour, const char *absent)
{
    double base = PANEL_TOP + PANEL_HEIGHT;
    double top;
    char text[32];

    if (!bar->present) {
        fprintf(file,
                "<text transform=\"translate(%.1f,%.1f) rotate(-90)\" font-size=\"10\" "
                "fill=\"#777\">%s</text>\n",
                x + BAR_WIDTH / 2.0 + 3.5, base - 4, absent);
        return;
    }
    top = y_of(axis, bar->value);
    fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"%s\"/>\n", x + 1,
            top, BAR_WIDTH - 2, base - top, colour);
    fprintf(file,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#555\" "
            "stroke-width=\"1.5\"/>\n",
            x + BAR_WIDTH / 2.0, y_of(axis, bar->low), x + BAR_WIDTH / 2.0, y_of(axis, bar->high));
    (void)snprintf(text, sizeof(text), (bar->value < 99.95) ? "%.3g" : "%.0f", bar->value);
    fprintf(file,
            "<text transform=\"translate(%.1f,%.1f) rotate(-90)\" font-size=\"11\" "
            "stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\">%s</text>\n",
            x + BAR_WIDTH / 2.0 + 4, y_of(axis, bar->high) - 4, text);
}

static void draw_panel(FILE *file, const struct bench_plot *plot, const struct axis *axis,
                       const struct bench_plot_panel *panel, double left)
{
    double width = panel_width(plot);
    double base  = PANEL_TOP + PANEL_HEIGHT;

    put_label(file, left + width / 2, PANEL_TOP - 8, "text-anchor=\"middle\" font-weight=\"bold\"",
              panel->title);
    draw_axis(file, axis, left, width);
    for (size_t g = 0; g < plot->group_count; g++) {
        double x = left + GROUP_GAP + (double)g * group_width(plot);
        for (size_t s = 0; s < plot->series_count; s++) {
            draw_bar(file, axis, &panel->bars[g * plot->series_count + s],
                     x + (double)s * BAR_WIDTH, colours[s % (sizeof(colours) / sizeof(*colours))],
                     (plot->absent == NULL) ? "waived" : plot->absent);
        }
        put_label(file, x + (double)plot->series_count * BAR_WIDTH / 2, base + 18,
                  "text-anchor=\"middle\"", plot->groups[g]);
    }
    fprintf(file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#000\"/>\n", left,
            base, left + width, base);
    put_label(file, left + width / 2, base + 40, "text-anchor=\"middle\"", plot->x_title);
}

/* As many entries a line as there is room for; returns nothing: PANEL_TOP leaves room for two. */
static void draw_legend(FILE *file, const struct bench_plot *plot, double width)
{
    size_t per_line = (size_t)((width - MARGIN_LEFT) / LEGEND_WIDTH);

    per_line = (per_line == 0) ? 1 : per_line;
    for (size_t s = 0; s < plot->series_count; s++) {
        double x = MARGIN_LEFT + (double)(s % per_line) * LEGEND_WIDTH;
        double y = 58 + (double)(s / per_line) * 18;
        fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" fill=\"%s\"/>\n", x,
                y - 10, colours[s % (sizeof(colours) / sizeof(*colours))]);
        put_label(file, x + 17, y, "", plot->series[s]);
    }
}

bool bench_plot_svg_write(const struct bench_plot *plot, const char *path)
{
    struct axis axis = find_axis(plot);
    double step      = panel_width(plot) + PANEL_GAP;
    double width     = MARGIN_LEFT + (double)plot->panel_count * step - PANEL_GAP + MARGIN_RIGHT;
    int height       = PANEL_TOP + PANEL_HEIGHT + MARGIN_BOTTOM;
    FILE *file       = bench_file_open(path);

    if (file == NULL) {
        return false;
    }
    width = fmax(width, 640);
    fprintf(file,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%d\" "
            "viewBox=\"0 0 %.0f %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            width, height, width, height);
    put_label(file, MARGIN_LEFT, 22, "font-size=\"16\" font-weight=\"bold\"", plot->title);
    put_label(file, MARGIN_LEFT, 40, "fill=\"#444\"", plot->subtitle);
    draw_legend(file, plot, width);
    for (size_t p = 0; p < plot->panel_count; p++) {
        draw_panel(file, plot, &axis, &plot->panels[p], MARGIN_LEFT + (double)p * step);
    }
    fprintf(file, "<text transform=\"translate(18,%d) rotate(-90)\" text-anchor=\"middle\">",
            PANEL_TOP + PANEL_HEIGHT / 2);
    put_text(file, plot->y_title);
    fputs("</text>\n</svg>\n", file);
    return bench_file_close(file, path);
}
