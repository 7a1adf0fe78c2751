/* SPDX-License-Identifier: MIT */
/* findings_text.c: findings as CSV and as JSON, every number in full. */

#include "findings/findings.h"

static void put_summary(struct json map, const struct finding *one)
{
    json_put_int(map, "n", one->over.n);
    json_put_real(map, "mean", one->over.n ? one->over.mean : (double)NAN);
    json_put_real(map, "sd", one->over.sd);
    json_put_real(map, "ci_low", one->over.ci_low);
    json_put_real(map, "ci_high", one->over.ci_high);
    json_put_real(map, "chance", one->chance);
}

/* ---- csv ---- */

static double value_of_seed(const struct found_row *row, const struct finding *one, int64_t seed)
{
    for (int c = 0; c < row->row->n_cell; c++)
        if (row->row->cell[c]->seed == seed)
            return one->value[c];
    return (double)NAN;
}

static void add_line(const struct findings *f, const struct found_row *row, const struct measure *m,
                     const struct finding *one, bool head, struct strbuf *out)
{
    struct json line = json_map(f->a);
    for (int i = 0; i < f->r->n_axis; i++)
        json_put_text(line, f->r->axis[i], row->row->axis[i]);
    json_put_text(line, "measure", m->name);
    json_put_text(line, "part", m->part ? m->part : "");
    if (one->part < 0)
        json_put_text(line, "at", "");
    else
        json_put_int(line, "at", one->part);
    put_summary(line, one);
    for (int i = 0; i < f->r->n_seed; i++)
        json_put_real(line, arena_printf(f->a, "seed %" PRId64, f->r->seed[i]),
                      value_of_seed(row, one, f->r->seed[i]));
    csv_line(line.v, head, out);
}

void findings_csv(const struct findings *f, struct strbuf *out)
{
    struct finding found[MEASURE_PARTS];
    bool head = true;
    for (int i = 0; i < f->n_row; i++)
        for (const struct measure *m = measures; f->row[i].n && m->name; m++) {
            int n = findings_of(f, &f->row[i], m, found);
            for (int k = 0; k < n; k++) {
                add_line(f, &f->row[i], m, &found[k], head, out);
                head = false;
            }
        }
}

/* ---- json ---- */

static void put_finding(const struct found_row *row, const struct measure *m,
                        const struct finding *one, struct json map)
{
    if (one->part >= 0)
        json_put_int(map, m->part, one->part);
    put_summary(map, one);
    struct json values = json_put_list(map, "values");
    for (int c = 0; c < row->row->n_cell; c++)
        if (row->tree[c])
            json_add_real(values, one->value[c]);
}

static void put_row(const struct findings *f, const struct found_row *row, struct json map)
{
    struct finding found[MEASURE_PARTS];
    json_put_text(map, "row", results_row_label(f->r, row->row, f->a));
    json_put_labels(map, f->r, row->row);
    struct json seeds = json_put_list(map, "seeds");
    for (int c = 0; c < row->row->n_cell; c++)
        if (row->tree[c])
            json_add_int(seeds, row->row->cell[c]->seed);
    struct json all = json_put_map(map, "measures");
    for (const struct measure *m = measures; m->name; m++) {
        int n = findings_of(f, row, m, found);
        struct json list = {f->a, NULL};
        if (n > 0 && m->list)
            list = json_put_list(all, m->name);
        for (int k = 0; k < n; k++)
            put_finding(row, m, &found[k],
                        m->list ? json_add_map(list) : json_put_map(all, m->name));
    }
}

void findings_json(const struct findings *f, struct json map)
{
    json_put_int(map, "version", 1);
    json_put_text(map, "experiment", f->r->experiment);
    struct json rows = json_put_list(map, "rows");
    for (int i = 0; i < f->n_row; i++)
        if (f->row[i].n)
            put_row(f, &f->row[i], json_add_map(rows));
    struct json left_out = json_put_list(map, "left_out");
    for (int i = 0; i < f->n_left_out; i++) {
        struct json one = json_add_map(left_out);
        json_put_text(one, "cell", f->left_out[i].cell);
        json_put_text(one, "why", f->left_out[i].why);
    }
}
