/* SPDX-License-Identifier: MIT */
/* heatmap_colour.c: the range of a table's numbers, and their colours. */
#include <math.h>

#include "plot/heatmap.h"

struct colour {
    unsigned char part[3];
};

static const struct colour both_signs[] = {
    {{0, 72, 125}}, {{77, 160, 208}}, {{247, 247, 247}}, {{230, 140, 82}}, {{156, 58, 0}}};
static const struct colour one_sign[] = {
    {{247, 247, 247}}, {{146, 197, 222}}, {{60, 140, 196}}, {{0, 92, 150}}, {{0, 36, 64}}};
enum { COLOURS = 5 };

static const struct colour *colours(double low, double high)
{
    return low < 0.0 && high > 0.0 ? both_signs : one_sign;
}

static bool reversed(double high)
{
    return high <= 0.0;
}

void heatmap_range(const struct heatmap *h, double *low, double *high)
{
    double least = (double)INFINITY, most = -(double)INFINITY;
    for (int64_t i = 0; i < h->sheets * h->rows * h->columns; i++) {
        double x = (double)h->value[i];
        if (!isfinite(x))
            continue;
        least = fmin(least, x);
        most = fmax(most, x);
    }
    if (least > most) {
        least = -1.0;
        most = 1.0;
    }
    if (least < 0.0 && most > 0.0) {
        most = fmax(most, -least);
        least = -most;
    }
    if (least == most)
        *(least < 0.0 ? &least : &most) += least < 0.0 ? -1.0 : 1.0;
    *low = least;
    *high = most;
}

void heatmap_palette(struct strbuf *out, double low, double high)
{
    const struct colour *c = colours(low, high);
    strbuf_add(out, "set palette defined (");
    for (int i = 0; i < COLOURS; i++) {
        const unsigned char *part = c[reversed(high) ? COLOURS - 1 - i : i].part;
        strbuf_addf(out, "%s%d '#%02x%02x%02x'", i ? ", " : "", i, part[0], part[1], part[2]);
    }
    strbuf_add(out, ")\nset cbrange [");
    figure_number(out, low);
    strbuf_add(out, ":");
    figure_number(out, high);
    strbuf_add(out, "]\n");
}
