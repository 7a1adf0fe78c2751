/* SPDX-License-Identifier: MIT */
/* html_learned.c: what `peat diagnose --save` found in the cells, side by side and cell by cell. */
#include <math.h>

#include "base/json.h"
#include "page_parts.h"

enum { CELLS_SHOWN = 60 };

static const char *const diagnostic[][2] = {
    {"logits", "attention logits"}, {"subspaces", "subspaces"}, {"support", "dimensions"},
    {"collisions", "collisions"},   {"probes", "probes"},       {"order", "order"},
    {"attention", "attention"}};
enum { DIAGNOSTICS = sizeof(diagnostic) / sizeof(*diagnostic) };

struct learned {
    const struct result_cell *cell;
    const struct value *found;
};

/* ---- one number of a cell ---- */

static const struct value *layer_of(const struct value *found, const char *what, int from_end)
{
    const struct value *layers = value_get(value_get(found, what), "layers");
    if (!layers || layers->kind != VALUE_LIST || layers->n == 0)
        return NULL;
    return layers->item[from_end ? layers->n - 1 : 0];
}

/* Of the first layer's logits, all that position has a part in. */
static double position_share(const struct value *found)
{
    static const char *const part[] = {"token.position",    "position.token",
                                       "position.position", "position.constant",
                                       "constant.position", "bias"};
    const struct value *share = value_get(layer_of(found, "logits", 0), "share");
    double sum = 0.0;
    for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++) {
        double x = json_get_number(share, part[i]);
        sum += isfinite(x) ? x : 0.0;
    }
    return share ? sum : (double)NAN;
}

/* Mean over the heads of the first layer. */
static double mean_distance(const struct value *found)
{
    const struct value *layer = layer_of(found, "attention", 0), *heads = value_get(layer, "heads");
    int n = json_get_count(layer, "heads");
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += json_get_number(heads->item[i], "mean_distance");
    return n ? sum / n : (double)NAN;
}

/* Of a layer, or of the diagnostic itself. */
enum found_in { FIRST_LAYER, LAST_LAYER, WHOLE };

static const struct column {
    const char *head, *what, *key;
    enum found_in part;
    double (*number)(const struct value *found); /* NULL: what stands under key */
} columns[] = {
    {"position in the logits", .number = position_share},
    {"R² at the input", "probes", "position_r2", FIRST_LAYER},
    {"R² at the end", "probes", "position_r2", LAST_LAYER},
    {"mean distance", .number = mean_distance},
    {"smallest angle", "subspaces", "smallest", WHOLE},
    {"reordering", "order", "change", LAST_LAYER},
};
enum { COLUMNS = sizeof(columns) / sizeof(*columns) };

static double find_number(const struct column *c, const struct value *found)
{
    if (c->number)
        return c->number(found);
    const struct value *part = c->part == WHOLE ? value_get(found, c->what)
                                                : layer_of(found, c->what, c->part == LAST_LAYER);
    return json_get_number(part, c->key);
}

/* ---- the section ---- */

static const char *label_of(const struct result_cell *c)
{
    return c->label ? c->label : c->id;
}

static void add_numbers(struct html_page *p, const struct learned *l, int n)
{
    html_open_table(p->out);
    html_column(p->out, "cell", false);
    for (int k = 0; k < COLUMNS; k++)
        html_column(p->out, columns[k].head, true);
    html_open_rows(p->out);
    for (int i = 0; i < n; i++) {
        html_open_row(p->out, label_of(l[i].cell));
        for (int k = 0; k < COLUMNS; k++) {
            double x = find_number(&columns[k], l[i].found);
            html_number_cell(p->out, fabs(x) < 1e-9 ? 0.0 : x); /* nothing but rounding */
        }
        html_close_row(p->out);
    }
    html_close_table(p->out);
    strbuf_add(p->out,
               "<p class=\"soft\">position in the logits: share "
               "of the variance of the first layer&#39;s attention logits in which position "
               "has a part as a stream or a bias (rotations turn logits, and are not in it). R²: "
               "of a linear probe for the position, in the model&#39;s input "
               "and after its last block. Mean distance: in tokens, over the heads of the "
               "first layer. Angle: in degrees, between the subspaces of tokens and "
               "positions. Reordering: change of the last layer, when earlier tokens are "
               "permuted.</p>\n");
}

static void add_summaries(struct html_page *p, const struct learned *l)
{
    html_wrap(p->out, "<details><summary>", label_of(l->cell), "</summary>\n<dl>\n");
    for (int i = 0; i < DIAGNOSTICS; i++) {
        const struct value *one = value_get(l->found, diagnostic[i][0]);
        const char *said = json_get_text(one, "summary"), *why = json_get_text(one, "skipped");
        if (!said && !why)
            continue;
        strbuf_addf(p->out, "<dt>%s</dt>", diagnostic[i][1]);
        html_wrap(p->out, said ? "<dd>" : "<dd>left out: ", said ? said : why, "</dd>\n");
    }
    strbuf_add(p->out, "</dl>\n</details>\n");
}

void html_learned(struct html_page *p)
{
    struct learned l[CELLS_SHOWN];
    int n = 0, all = 0;
    for (int i = 0; i < p->r->n_cell; i++) {
        const struct result_cell *c = &p->r->cell[i];
        struct value *found = NULL;
        if (!c->dir || json_read_file(c->dir, "diagnose.json", p->a, &found, NULL) != PEAT_OK)
            continue;
        if (all++ < CELLS_SHOWN)
            l[n++] = (struct learned){c, found};
    }
    if (!n)
        return;
    html_section(p->out, "learned", "What the cells learned");
    add_numbers(p, l, n);
    for (int i = 0; i < n; i++)
        add_summaries(p, &l[i]);
    if (all > n)
        strbuf_addf(p->out, "<p class=\"soft\">and %d more cells</p>\n", all - n);
    html_end_section(p->out);
}
