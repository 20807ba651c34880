/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_PLOT_SVG_H
#define MEMSPAN_BENCH_PLOT_SVG_H

/* Grouped bars on a logarithmic axis, panels side by side under one legend, as one SVG file without
 * fonts or scripts, light or dark as its viewer is. Text widths are estimated from the number of
 * letters; a bar's value stands on the bar, a thin line beside it shows the range. */

#include <stdbool.h>
#include <stddef.h>

/* One bar: a value above 0 in the axis's unit, and its range. */
struct bench_plot_bar {
    bool present;
    double value;
    double low;
    double high;
};

struct bench_plot_panel {
    const char *title;
    struct bench_plot_bar *bars; /* group by group: group_count * series_count */
};

struct bench_plot {
    const char *title;
    const char *subtitle;
    const char *x_title;
    const char *y_title; /* with the unit */
    const char *const *groups;
    size_t group_count;
    const char *const *series;
    size_t series_count;
    const struct bench_plot_panel *panels;
    size_t panel_count;
    const char *absent; /* in place of an absent bar; NULL: "waived" */
    const char *note;   /* below everything, such as what is not drawn; NULL: nothing */
};

/* False after a message. */
bool bench_plot_svg_write(const struct bench_plot *plot, const char *path);

#endif /* MEMSPAN_BENCH_PLOT_SVG_H */
