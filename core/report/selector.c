/* SPDX-License-Identifier: MIT */
/* selector.c: finds axes and rows from the user's words. */
#include "report/selector.h"

/* Length of the first part of text up to `stop` outside brackets, because labels may contain commas
 * and '=' in brackets, as "rotary(base=500,layout=halves)". */
static size_t part_length(const char *text, char stop)
{
    int depth = 0;
    size_t n = 0;
    for (; text[n]; n++) {
        depth += strchr("([{", text[n]) != NULL;
        depth -= strchr(")]}", text[n]) != NULL;
        if (depth == 0 && text[n] == stop)
            break;
    }
    return n;
}

int selector_axis(const struct results *r, const char *name)
{
    for (int i = 0; i < r->n_axis; i++)
        if (strcmp(r->axis[i], name) == 0 || strcmp(results_axis_name(r, i), name) == 0)
            return i;
    return -1;
}

enum spelling { AS_SHOWN, AS_FILE, SPELLINGS };

static const char *spell(const char *label, enum spelling spelling, struct arena *a)
{
    return spelling == AS_FILE ? label_file_name(a, label) : label;
}

static const char *label_meant(const struct results *r, int axis, const char *word, struct arena *a)
{
    for (enum spelling s = AS_SHOWN; s < SPELLINGS; s++)
        for (int i = 0; i < r->n_row; i++)
            if (strcmp(spell(r->row[i].axis[axis], s, a), word) == 0)
                return r->row[i].axis[axis];
    return NULL;
}

/* The labels of an axis, each once, in row order; adds them to `all` [*n] too, for suggestions. */
static const char *list_labels(const struct results *r, int axis, const char **all, int *n,
                               struct arena *a)
{
    const char *list = NULL;
    int first = *n;
    for (int i = 0; i < r->n_row; i++) {
        const char *label = r->row[i].axis[axis];
        if (texts_find(all + first, *n - first, label) >= 0)
            continue;
        all[(*n)++] = label;
        list = arena_item(a, list, "%s", label);
    }
    return list ? list : "none";
}

peat_status selector_no_axis(const struct results *r, const char *what, const char *name,
                             struct arena *a, struct error *err)
{
    const char *key[2 * EXPERIMENT_MAX_AXES], *known = NULL;
    for (int i = 0; i < r->n_axis; i++) {
        known = arena_item(a, known, "%s", r->axis[i]);
        key[2 * i] = results_axis_name(r, i);
        key[2 * i + 1] = r->axis[i];
    }
    error_set(err, PEAT_INVALID, "%s: there is no axis '%s'; the axes are %s", what, name,
              known ? known : "none");
    error_add_nearest(err, name, key, 2 * r->n_axis);
    return PEAT_INVALID;
}

static peat_status set_label(const struct results *r, const char *what, const char *name,
                             const char *label, struct selector *s, struct arena *a,
                             struct error *err)
{
    const char **all = ARENA_ARRAY(a, r->n_row, const char *);
    int n = 0, axis = selector_axis(r, name);
    if (axis < 0)
        return selector_no_axis(r, what, name, a, err);
    s->label[axis] = label_meant(r, axis, label, a);
    if (s->label[axis])
        return PEAT_OK;
    error_set(err, PEAT_INVALID, "%s: no row has %s '%s'; there are %s", what, r->axis[axis], label,
              list_labels(r, axis, all, &n, a));
    error_add_nearest(err, label, all, n);
    return PEAT_INVALID;
}

static peat_status no_label(const struct results *r, const char *what, const char *text,
                            struct arena *a, struct error *err)
{
    const char **all = ARENA_ARRAY(a, (int64_t)r->n_row * r->n_axis, const char *), *known = NULL;
    int n = 0;
    for (int i = 0; i < r->n_axis; i++)
        known = list_add(
            a, known, "; ",
            arena_printf(a, "%s: %s", results_axis_name(r, i), list_labels(r, i, all, &n, a)));
    error_set(err, PEAT_INVALID, "%s: no axis has the label '%s'; there are %s", what, text,
              known ? known : "no axes");
    error_add_nearest(err, text, all, n);
    return PEAT_INVALID;
}

static peat_status parse_pairs(const struct results *r, const char *text, const char *what,
                               struct selector *s, struct arena *a, struct error *err)
{
    for (const char *part = text; *part;) {
        size_t n = part_length(part, ','), key = part_length(part, '=');
        const char *word = arena_printf(a, "%.*s", (int)n, part);
        if (key >= n)
            return error_set(err, PEAT_INVALID, "%s: '%s' is not axis=label", what, word);
        const char *name = arena_printf(a, "%.*s", (int)key, part);
        if (set_label(r, what, name, word + key + 1, s, a, err) != PEAT_OK)
            return PEAT_INVALID;
        part += n + (part[n] == ',');
    }
    return PEAT_OK;
}

static bool has_pairs(const char *text)
{
    return text[part_length(text, '=')] == '=';
}

peat_status selector_parse(const struct results *r, const char *text, const char *what,
                           struct selector *s, struct arena *a, struct error *err)
{
    *s = (struct selector){{NULL}};
    int found = -1;
    for (int i = 0; i < r->n_axis; i++) {
        const char *label = label_meant(r, i, text, a);
        if (!label)
            continue;
        s->label[i] = label;
        if (found >= 0)
            return error_set(err, PEAT_INVALID,
                             "%s: '%s' is a label of both %s and %s; write %s=%s", what, text,
                             r->axis[found], r->axis[i], r->axis[found], text);
        found = i;
    }
    if (found < 0 && has_pairs(text))
        return parse_pairs(r, text, what, s, a, err);
    return found < 0 ? no_label(r, what, text, a, err) : PEAT_OK;
}

peat_status selector_from_map(const struct results *r, const struct value *map, struct selector *s,
                              struct arena *a, struct error *err)
{
    peat_status status = PEAT_OK;
    *s = (struct selector){{NULL}};
    for (int i = 0; status == PEAT_OK && i < map->n; i++) {
        const char *label = map->item[i]->text;
        status = set_label(r, "report.baseline", map->key[i], label ? label : "", s, a, err);
    }
    return status;
}

const char *selector_text(const struct results *r, const struct selector *s, struct arena *a)
{
    const char *text = "";
    for (int i = 0; i < r->n_axis; i++)
        if (s->label[i])
            text = arena_item(a, text, "%s=%s", results_axis_name(r, i), s->label[i]);
    return text ? text : "";
}

/* ---- one row ---- */

struct wording {
    const char *text;
    enum spelling spelling;
    struct arena *a;
};

/* The row's first n labels joined by '.'. */
static bool starts_as(const struct result_row *row, int n, const struct wording *w)
{
    const char *text = w->text;
    for (int i = 0; i < n; i++) {
        const char *label = spell(row->axis[i], w->spelling, w->a);
        size_t length = strlen(label);
        if (strncmp(text, label, length) != 0)
            return false;
        text += length;
        if (i + 1 < n && *text++ != '.')
            return false;
    }
    return !*text;
}

/* The ways in which text may name a row, strictest first: all labels, the first n, or that of axis
 * n. */
static bool is_named(const struct results *r, const struct result_row *row, int way,
                     const struct wording *w)
{
    int n = r->n_axis - way;
    return n > 0 ? starts_as(row, n, w)
                 : strcmp(spell(row->axis[-n], w->spelling, w->a), w->text) == 0;
}

bool selector_leads(const struct results *r, const struct selector *s, const struct result_row *row,
                    const struct result_row *other)
{
    for (int i = 0; i < r->n_axis; i++)
        if (!axis_labels_agree(r->axis[i], other->axis[i],
                               s->label[i] ? s->label[i] : row->axis[i]))
            return false;
    return true;
}

static const char *list_rows(const struct results *r, const struct result_row *const *row, int n,
                             struct arena *a)
{
    enum { SHOWN = 20 };
    const char *list = NULL;
    for (int i = 0; i < n && i < SHOWN; i++)
        list = arena_item(a, list, "%s", results_row_label(r, row[i], a));
    return n > SHOWN ? arena_printf(a, "%s and %d more", list, n - SHOWN) : list ? list : "none";
}

/* The row's name or label that is nearest to the word, or else a row's name that contains it. */
static const char *nearest_row(const struct results *r, const char *word, struct arena *a)
{
    const char **name = ARENA_ARRAY(a, (int64_t)r->n_row * (r->n_axis + 1) + 1, const char *);
    int n = 0;
    for (int i = 0; i < r->n_row; i++)
        name[n++] = results_row_label(r, &r->row[i], a);
    const char *holds = NULL;
    for (int i = 0; !holds && i < r->n_row; i++)
        holds = *word && strstr(name[i], word) ? name[i] : NULL;
    for (int i = 0; i < r->n_row; i++)
        for (int k = 0; k < r->n_axis; k++)
            name[n++] = r->row[i].axis[k];
    const char *near = nearest_name(word, name, n);
    return near ? near : holds;
}

static void no_row(const struct results *r, const char *text, struct arena *a, struct error *err)
{
    const struct result_row **all = ARENA_ARRAY(a, r->n_row, const struct result_row *);
    const char *near = nearest_row(r, text, a);
    for (int i = 0; i < r->n_row; i++)
        all[i] = &r->row[i];
    if (near)
        error_set(err, PEAT_INVALID, "no row is called '%s'; did you mean '%s'?", text, near);
    else
        error_set(err, PEAT_INVALID, "no row is called '%s'; there are %s", text,
                  list_rows(r, all, r->n_row, a));
}

static int find_named(const struct results *r, const char *text, const struct result_row **row,
                      struct arena *a)
{
    int n = 0;
    for (enum spelling s = AS_SHOWN; n == 0 && s < SPELLINGS; s++)
        for (int way = 0; n == 0 && way < 2 * r->n_axis; way++)
            for (int i = 0; i < r->n_row; i++)
                if (is_named(r, &r->row[i], way, &(struct wording){text, s, a}))
                    row[n++] = &r->row[i];
    return n;
}

const struct result_row *selector_row(const struct results *r, const char *text, struct arena *a,
                                      struct error *err)
{
    const struct result_row **found = ARENA_ARRAY(a, r->n_row + 1, const struct result_row *);
    int n = find_named(r, text, found, a);
    if (n == 0 && has_pairs(text)) {
        struct selector s;
        if (selector_parse(r, text, "row", &s, a, err) != PEAT_OK)
            return NULL;
        for (int i = 0; i < r->n_row; i++)
            if (selector_leads(r, &s, &r->row[i], &r->row[i]))
                found[n++] = &r->row[i];
    }
    if (n == 1)
        return found[0];
    if (n == 0)
        no_row(r, text, a, err);
    else
        error_set(err, PEAT_INVALID, "'%s' names %d rows: %s", text, n, list_rows(r, found, n, a));
    return NULL;
}
