/* SPDX-License-Identifier: MIT */
/* verify_plan.c: compares plan.json and the cells' settings with the experiment's files, from which
 * they are derived once more without plugins. */
#include "grid/verify.h"

#include "experiment/resolved.h"
#include "grid/claimfile.h"

struct derived {
    struct verification *v;
    struct remarks *to; /* where differences are listed */
    const char *file;   /* "experiment.yaml" */
    struct experiment e;
    int n;
    struct point *point;
};

static void differ(const struct derived *d, const char *cell, const char *what)
{
    verify_add(d->to, cell, "plan.json and %s differ in %s", d->file, what);
}

/* ---- what is said of the whole run ---- */

static void check_head(const struct derived *d)
{
    static const char *const keys[] = {"experiment", "description", "seeds"};
    static const char *const of_report[] = {"metric", "goal", "baseline", "contrasts", "best_over"};
    struct arena *a = d->v->arena;
    const struct value *plan = d->v->dir.plan, *report = value_get(plan, "report");
    const struct value *now = plan_value(&(struct plan){.experiment = &d->e}, a);
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        if (value_differs(value_get(now, keys[i]), value_get(plan, keys[i])))
            differ(d, NULL, keys[i]);
    for (size_t i = 0; i < sizeof(of_report) / sizeof(*of_report); i++)
        if (value_differs(value_get_path(now, arena_printf(a, "report.%s", of_report[i])),
                          value_get(report, of_report[i])))
            differ(d, NULL, arena_printf(a, "report.%s", of_report[i]));
}

/* Compares the claims of the file with the last ones of claims.json, since plans of earlier
 * programs have no hash of them. */
static void check_claims(const struct derived *d)
{
    struct claims_kept kept;
    char hex[HASH_HEX] = "";
    if (claims_kept_read(d->v->dir.path, &kept, d->v->arena, NULL) != PEAT_OK)
        return; /* it was reported */
    const char *last = kept.n ? kept.version[kept.n - 1].hash : "";
    if (d->e.claims || kept.n)
        json_hash(d->e.claims ? d->e.claims : value_list(d->v->arena, NOWHERE), hex);
    if (strcmp(last, hex) != 0)
        verify_add(d->to, NULL, "claims.json does not end with the claims of %s", d->file);
}

/* ---- settings ---- */

/* The first setting of `written` that the cell does not have, as a dotted path; NULL: none. What
 * was left to PEAT or a plugin, and paths, cannot be compared. */
static const char *first_other(const struct value *written, const struct value *has,
                               struct arena *a);

static bool is_number(const struct value *v)
{
    return v->kind == VALUE_INT || v->kind == VALUE_REAL;
}

static const char *other_item(const struct value *written, const struct value *has, struct arena *a)
{
    if (written->n != has->n)
        return "";
    for (int i = 0; i < has->n; i++) {
        bool found = false;
        for (int k = 0; k < written->n && !found; k++)
            found = !first_other(written->item[k], has->item[i], a);
        if (!found)
            return "";
    }
    return NULL;
}

static const char *other_text(const struct value *written, const struct value *has)
{
    bool open =
        strcmp(written->text, "auto") == 0 || strchr(written->text, '/') || strchr(has->text, '/');
    return open || strcmp(written->text, has->text) == 0 ? NULL : "";
}

static const char *other_entry(const struct value *written, const struct value *has,
                               struct arena *a)
{
    static const char *const open[] = {"start", "embedding", "label", NULL};
    for (int i = 0; i < written->n; i++) {
        const struct value *one = value_get(has, written->key[i]);
        const char *other = one && names_find(open, written->key[i]) < 0
                                ? first_other(written->item[i], one, a)
                                : NULL;
        if (other)
            return arena_printf(a, "%s%s%s", written->key[i], *other ? "." : "", other);
    }
    return NULL;
}

static const char *first_other(const struct value *written, const struct value *has,
                               struct arena *a)
{
    if (has->kind == VALUE_LIST && written->kind == VALUE_LIST)
        return other_item(written, has, a);
    if (has->kind == VALUE_LIST)
        return has->n == 1 ? first_other(written, has->item[0], a) : NULL;
    if (has->kind == VALUE_MAP && written->kind == VALUE_TEXT)
        has = value_get(has, "plugin");
    if (!has)
        return NULL;
    if (has->kind == VALUE_MAP && written->kind == VALUE_MAP)
        return other_entry(written, has, a);
    if (has->kind == VALUE_TEXT && written->kind == VALUE_TEXT)
        return other_text(written, has);
    if (has->kind == VALUE_BOOL && written->kind == VALUE_BOOL)
        return has->boolean == written->boolean ? NULL : "";
    if (is_number(has) && is_number(written))
        return has->real == written->real ? NULL : "";
    return NULL;
}

/* ---- cells ---- */

static bool is_at(const struct derived *d, const struct point *point, const struct value *planned)
{
    const struct value *axes = value_get(planned, "axes");
    for (int i = 0; i < d->e.n_axis; i++) {
        const char *label = json_text_or(axes, d->e.axis[i].key, "");
        if (strcmp(label, point->label[i]) != 0 && strcmp(label, "-") != 0)
            return false;
    }
    return true;
}

static void check_cell(const struct derived *d, const struct cell_files *c,
                       const struct value *planned, bool *found)
{
    struct arena *a = d->v->arena;
    int64_t seed = json_get_int(planned, "seed", -1);
    const struct point *point = NULL;
    int at = 0;
    while (at < d->e.n_seed && d->e.seed[at] != seed)
        at++;
    for (int i = 0; at < d->e.n_seed && i < d->n; i++)
        if (is_at(d, &d->point[i], planned)) {
            found[at * d->n + i] = true;
            point = point ? point : &d->point[i];
        }
    const char *other = point && c->config ? first_other(point->tree, c->config, a) : NULL;
    if (!point)
        verify_add(d->to, c->label, "%s has no cell with these labels and this seed", d->file);
    else if (other && !(d->e.match.on && same_text(other, d->e.match.adjust)))
        verify_add(d->to, c->label, "its %s is not that of %s", other, d->file);
}

/* A cell that a plugin refused is in the plan too, as skipped. */
static void check_cells(const struct derived *d)
{
    const struct value *cells = value_get(d->v->dir.plan, "cells");
    bool *found = ARENA_ARRAY(d->v->arena, d->e.n_seed * d->n + 1, bool);
    int missing = 0, skipped = json_get_count(d->v->dir.plan, "skipped");
    for (int i = 0; i < cells->n; i++)
        check_cell(d, &d->v->dir.cell[i], cells->item[i], found);
    for (int i = 0; i < d->e.n_seed * d->n; i++)
        missing += !found[i];
    if (missing > skipped)
        verify_add(d->to, NULL, "plan.json lacks %d cell%s of %s", missing - skipped,
                   plural(missing - skipped), d->file);
}

/* ---- the files ---- */

/* True where a later word has the key of the i-th. */
static bool is_replaced(const struct value *made, int i)
{
    const char *text = json_get_item(made, "words", i)->text;
    const struct value *one;
    size_t key = strcspn(text, "=") + 1;
    while ((one = json_get_item(made, "words", ++i)))
        if (one->kind == VALUE_TEXT && strncmp(one->text, text, key) == 0)
            return true;
    return false;
}

/* The words of command lines after those that the file itself was made with; of several for one key
 * the last. */
static int list_words(const struct value *made, const struct value *own, char ***word,
                      struct arena *a)
{
    int n = 0, first = json_get_count(own, "words");
    const struct value *one;
    *word = ARENA_ARRAY(a, json_get_count(made, "words") + 1, char *);
    for (int i = first; (one = json_get_item(made, "words", i)); i++)
        if (one->kind == VALUE_TEXT && !is_replaced(made, i))
            (*word)[n++] = arena_strdup(a, one->text);
    return n;
}

static bool check_file(struct derived *d, const char *file, const struct value *made)
{
    struct error why = {0};
    struct arena *a = d->v->arena;
    const struct file_path path = path_in(d->v->dir.path, file);
    char **word;
    d->file = file;
    bool ok = experiment_load_alone(&d->e, a, path.text, 0, NULL, &why) == PEAT_OK;
    if (ok && made) {
        int n = list_words(made, d->e.made_with, &word, a);
        ok = experiment_load_alone(&d->e, a, path.text, n, word, &why) == PEAT_OK;
    }
    ok = ok && experiment_points(&d->e, &d->point, &d->n, &why) == PEAT_OK;
    if (ok) {
        check_head(d);
        check_cells(d);
        return true;
    }
    d->n = 0;
    if (why.status != PEAT_NOTFOUND)
        verify_add(d->to, NULL, "plan.json cannot be derived from %s: %s", file, why.text);
    return false;
}

/* A plugin that is given by path is called by a name that only the plugin has; resolved.yaml has
 * it. */
static bool names_library(const struct value *v)
{
    bool found = v->kind == VALUE_TEXT && (strstr(v->text, ".so") || path_ends_in(v->text, ".py"));
    for (int i = 0; i < v->n && !found; i++)
        found = !(v->kind == VALUE_MAP && strcmp(v->key[i], "formula") == 0) &&
                names_library(v->item[i]);
    return found;
}

void verify_plan(struct verification *v)
{
    struct derived run = {v, &v->problems}, written = {v, &v->problems};
    bool resolved = check_file(&run, RESOLVED_FILE, NULL);
    if (!resolved) { /* an earlier program did not write it */
        written.to = &v->unchecked;
        verify_add(&v->unchecked, NULL,
                   "plan.json: the words of its command line are not known, as there is no %s",
                   RESOLVED_FILE);
    }
    if (resolved && names_library(run.e.root))
        verify_add(&v->unchecked, NULL,
                   "plan.json against experiment.yaml, which has plugins by their paths");
    else if (check_file(&written, "experiment.yaml", run.e.made_with))
        check_claims(&written); /* an earlier resolved.yaml lacks `sampled` */
    if (resolved && !written.n)
        check_claims(&run);
    verify_add(&v->unchecked, NULL,
               "settings that PEAT or a plugin chose (auto), and whether a plugin refuses the "
               "skipped cells: plugins are not run");
}
