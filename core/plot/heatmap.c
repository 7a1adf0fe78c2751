/* SPDX-License-Identifier: MIT */
/* heatmap.c: makes the figure of a table: a panel for each sheet, one colour scale. */
#include "plot/heatmap.h"

struct heatmap heatmap_of_scheme(const struct scheme_table *t, struct arena *a)
{
    bool bias = strcmp(t->what, "bias") == 0;
    struct heatmap h = {.value = t->value,
                        .sheets = t->heads ? t->heads : 1,
                        .rows = t->rows,
                        .columns = t->columns,
                        .sheet_name = "head",
                        .row_name = bias ? "query" : "position",
                        .column_name = t->what,
                        .row_label = t->row_label};
    if (bias)
        h.column_name = "key";
    else if (strcmp(t->what, "stream") == 0)
        h.column_name = "dimension";
    if (strcmp(t->what, "angle") == 0) { /* cosines are easier to read than angles of many turns */
        int64_t n = h.sheets * t->rows * t->columns;
        float *value = ARENA_ARRAY(a, n, float);
        for (int64_t i = 0; i < n; i++)
            value[i] = cosf(t->value[i]);
        h.value = value;
        h.column_name = "cosine of the angle of pair";
    }
    h.row_name = t->row_name ? t->row_name : h.row_name;
    h.column_name = t->column_name ? t->column_name : h.column_name;
    return h;
}

struct heatmap heatmap_of_pair(const struct scheme_table *before, const struct scheme_table *after,
                               struct arena *a)
{
    const struct heatmap x = heatmap_of_scheme(before, a), y = heatmap_of_scheme(after, a);
    int64_t n = x.rows * x.columns;
    struct heatmap h = y;
    float *value = ARENA_ARRAY(a, 2 * y.sheets * n, float);
    const char **title = ARENA_ARRAY(a, 2 * y.sheets, const char *);
    for (int64_t s = 0; s < y.sheets; s++) {
        const char *head = y.sheets > 1 ? arena_printf(a, "head %" PRId64 ", ", s) : "";
        memcpy(value + 2 * s * n, x.value + s * n, (size_t)n * sizeof(*value));
        memcpy(value + (2 * s + 1) * n, y.value + s * n, (size_t)n * sizeof(*value));
        title[2 * s] = arena_printf(a, "%sbefore training", head);
        title[2 * s + 1] = arena_printf(a, "%safter", head);
    }
    h.value = value;
    h.sheets = 2 * y.sheets;
    h.title = title;
    return h;
}

/* ---- colours ---- */

struct colour {
    unsigned char part[3];
};

static const struct colour both_signs[] = {
    {{0, 72, 125}}, {{77, 160, 208}}, {{247, 247, 247}}, {{230, 140, 82}}, {{156, 58, 0}}};
static const struct colour one_sign[] = {
    {{247, 247, 247}}, {{146, 197, 222}}, {{60, 140, 196}}, {{0, 92, 150}}, {{0, 36, 64}}};
enum { COLOURS = 5 };

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
    const struct colour *c = low < 0.0 && high > 0.0 ? both_signs : one_sign;
    bool reversed = high <= 0.0;
    strbuf_add(out, "set palette defined (");
    for (int i = 0; i < COLOURS; i++) {
        const unsigned char *part = c[reversed ? COLOURS - 1 - i : i].part;
        strbuf_addf(out, "%s%d '#%02x%02x%02x'", i ? ", " : "", i, part[0], part[1], part[2]);
    }
    strbuf_add(out, ")\nset cbrange [");
    figure_number(out, low);
    strbuf_add(out, ":");
    figure_number(out, high);
    strbuf_add(out, "]\n");
}

/* ---- axes ---- */

/* Writes a block of the data file for each sheet, with a line for each row. */
static void add_values(const struct heatmap *h, struct strbuf *out)
{
    for (int64_t i = 0; i < h->sheets * h->rows; i++) {
        for (int64_t j = 0; j < h->columns; j++) {
            float x = h->value[i * h->columns + j];
            strbuf_addf(out, isfinite(x) ? "%s%.6g" : "%sNaN", j ? " " : "", (double)x);
        }
        strbuf_add(out, (i + 1) % h->rows ? "\n" : "\n\n\n");
    }
}

/* About four tics on an axis of n values, at 1, 2 or 5 times a power of ten. */
static int64_t tic_step(int64_t n)
{
    int64_t step = 1;
    for (int i = 0; 4 * step < n; i++)
        step = i % 3 == 1 ? step / 2 * 5 : step * 2;
    return step;
}

static void label_axes(struct strbuf *out, const char *row_name, const char *column_name)
{
    figure_set(out, "ylabel", row_name, "\n");
    figure_set(out, "xlabel", column_name, " offset 0,0.4\n");
}

/* ---- panels ---- */

/* Panels of one size, in px. Only the outer ones are labelled, and one scale is for all. */
struct panels {
    int64_t across, down;
    int width, height;
};

enum { LEFT = 64, RIGHT = 96, TOP = 32, BOTTOM = 60, GAP_X = 16, GAP_Y = 44 };

static struct panels lay_out_panels(int64_t n)
{
    enum { ACROSS = 4 };
    struct panels p = {.across = n < ACROSS ? n : ACROSS, .down = (n - 1) / ACROSS + 1};
    int side = n > 2 ? 190 : 300;
    p.width = LEFT + RIGHT + (int)p.across * side + (int)(p.across - 1) * GAP_X;
    p.height = TOP + BOTTOM + (int)p.down * side + (int)(p.down - 1) * GAP_Y;
    return p;
}

static void add_row_tics(const struct heatmap *h, struct strbuf *out)
{
    enum { LABELLED_MAX = 16 };
    int64_t step = h->row_label ? (h->rows + LABELLED_MAX - 1) / LABELLED_MAX : tic_step(h->rows);
    if (!h->row_label) {
        strbuf_addf(out, "set ytics %" PRId64 "\n", step);
        return;
    }
    strbuf_add(out, "set ytics (");
    for (int64_t i = 0; i < h->rows; i += step) {
        strbuf_add(out, i ? ", " : "");
        figure_quote(out, h->row_label[i]);
        strbuf_addf(out, " %" PRId64, i);
    }
    strbuf_add(out, ")\n");
}

/* gnuplot's coordinates are fractions of the page, from the lower left corner. */
static void begin_multiplot(const struct heatmap *h, const struct panels *p, struct strbuf *out)
{
    double w = p->width, height = p->height;
    strbuf_addf(out, "set xtics %" PRId64 "\n", tic_step(h->columns));
    add_row_tics(h, out);
    strbuf_addf(out,
                "set colorbox user origin screen %.4f,%.4f size screen %.4f,%.4f\n"
                "set multiplot layout %" PRId64 ",%" PRId64 " margins screen %.4f,%.4f,%.4f,%.4f "
                "spacing screen %.4f,%.4f\n",
                1.0 - (RIGHT - 16) / w, BOTTOM / height, 16 / w, 1.0 - (BOTTOM + TOP) / height,
                p->down, p->across, LEFT / w, 1.0 - RIGHT / w, BOTTOM / height, 1.0 - TOP / height,
                GAP_X / w, GAP_Y / height);
}

static void add_panel(const struct heatmap *h, const struct panels *p, int64_t sheet,
                      struct strbuf *out)
{
    bool left = sheet % p->across == 0, bottom = sheet + p->across >= h->sheets;
    char number[64];
    snprintf(number, sizeof(number), "%s %" PRId64, h->sheet_name, sheet);
    figure_set(out, "title", h->title ? h->title[sheet] : number, " offset 0,-0.7\n");
    strbuf_addf(out, "set format x '%s'\nset format y '%s'\n", bottom ? "%g" : "",
                left ? "%g" : "");
    label_axes(out, left && !h->row_label ? h->row_name : "", bottom ? h->column_name : "");
    if (h->row_label && left)
        add_row_tics(h, out);
    else if (h->row_label)
        strbuf_add(out, "set ytics autofreq\n");
    strbuf_addf(out, "plot data index %" PRId64 " matrix with image\n", sheet);
    if (sheet == 0)
        strbuf_add(out, "unset colorbox\n");
}

void heatmap_figure(const struct heatmap *h, struct figure *f)
{
    enum { WIDTH = 640, HEIGHT = 400 };
    struct panels p = lay_out_panels(h->sheets);
    double low, high;
    bool many = h->sheets > 1;
    figure_init(f, many ? p.width : WIDTH, many ? p.height : HEIGHT);
    struct strbuf *out = &f->script;
    add_values(h, &f->data);
    heatmap_range(h, &low, &high);
    heatmap_palette(out, low, high);
    /* The first position is at the top. */
    strbuf_addf(out, "set xrange [-0.5:%" PRId64 ".5]\nset yrange [%" PRId64 ".5:-0.5]\n",
                h->columns - 1, h->rows - 1);
    strbuf_add(out, "set tics out nomirror scale 0.5\nunset key\nset datafile missing 'NaN'\n");
    if (!many) {
        add_row_tics(h, out);
        strbuf_addf(out, "set xtics %" PRId64 "\n", tic_step(h->columns));
        label_axes(out, h->row_label ? "" : h->row_name, h->column_name);
        strbuf_add(out, "plot data matrix with image\n");
        return;
    }
    begin_multiplot(h, &p, out);
    for (int64_t s = 0; s < h->sheets; s++)
        add_panel(h, &p, s, out);
    strbuf_add(out, "unset multiplot\n");
}
