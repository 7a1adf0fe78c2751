/* SPDX-License-Identifier: MIT */
/* planwarnings.c: warns of settings without effect, and of rows that are skipped, start lopsided,
 * keep a low learning rate, equal other rows, use plugins that hide installed ones, or need more
 * memory than there is. */
#include "cli/planparts.h"

#include "process/machine.h"

/* Beyond this ratio a short training may never use the smaller side. */
static const double far_apart = 8.0;

/* The warning on the sizes of tokens and positions; NULL: no warning. */
static const char *lopsided(const struct plan_cell *c, struct arena *a)
{
    bool tokens = c->q[Q_INPUT_RATIO_START] > 1.0;
    double times = tokens ? c->q[Q_INPUT_RATIO_START] : 1.0 / c->q[Q_INPUT_RATIO_START];
    if (!isfinite(c->q[Q_INPUT_RATIO_START]) || times <= far_apart * (1.0 + 1e-3))
        return NULL;
    return arena_printf(a, "%s enter %.3g times as large as %s", tokens ? "tokens" : "positions",
                        times, tokens ? "positions" : "tokens");
}

void plan_say_rows(const struct plan *p, const char *what, const char *const *text, const char *end,
                   struct arena *a)
{
    int rows = p->n / p->experiment->n_seed;
    for (int i = 0; i < rows; i++) {
        int times = times_said(text, rows, i);
        if (times)
            cli_print("%s: %s: %s%s\n", what, name_and_more(a, p->cell[i].label, "row", times),
                      text[i], end);
    }
}

static void warn_of_ratio(const struct plan *p, int rows, struct arena *a)
{
    const char **said = ARENA_ARRAY(a, rows, const char *);
    for (int i = 0; i < rows; i++)
        said[i] = lopsided(&p->cell[i], a);
    plan_say_rows(
        p, "warning", said,
        ": their sizes are set by model.embed_scale, by the scheme and by the combination", a);
}

static void warn_of_warmup(const struct plan *p, int rows, struct arena *a)
{
    const char **said = ARENA_ARRAY(a, rows, const char *);
    for (int i = 0; i < rows; i++) {
        const struct cell_config *c = &p->cell[i].config;
        int64_t warmup = json_get_int(value_get(c->resolved, "train"), "warmup", 0);
        if (warmup > c->train.steps)
            said[i] = arena_printf(a, "%" PRId64 " steps of warm-up in a training of %" PRId64,
                                   warmup, c->train.steps);
    }
    plan_say_rows(p, "warning", said, ": the rate does not reach train.lr", a);
}

static void warn_of_idle_settings(const struct plan *p, int rows)
{
    unsigned acting = 0, idle = 0;
    for (int i = 0; i < rows; i++) {
        acting |= p->cell[i].config.acting;
        idle |= p->cell[i].config.idle;
    }
    for (int i = 0; i < CELL_CONDITIONS; i++)
        if (idle & ~acting & 1U << i)
            cli_print("warning: %s has no effect in any row: it needs %s\n", cell_conditions[i].key,
                      cell_conditions[i].needs);
}

/* Sorts by hash; the earlier of equal cells first. */
static int compare_cells(const void *a, const void *b)
{
    const struct plan_cell *x = *(const struct plan_cell *const *)a;
    const struct plan_cell *y = *(const struct plan_cell *const *)b;
    int order = strcmp(x->config.hash, y->config.hash);
    return order ? order : x->index - y->index;
}

/* Compares the cells of the first seed. */
static void warn_of_twins(const struct plan *p, int rows, struct arena *a)
{
    const struct plan_cell **cell = ARENA_ARRAY(a, rows, const struct plan_cell *);
    for (int i = 0; i < rows; i++)
        cell[i] = &p->cell[i];
    qsort(cell, (size_t)rows, sizeof(*cell), compare_cells);
    const char **said = ARENA_ARRAY(a, rows, const char *);
    for (int i = 1, first = 0; i < rows; i++) {
        if (strcmp(cell[i]->config.hash, cell[first]->config.hash) == 0)
            said[cell[i]->index] =
                arena_printf(a, "the same model as %s, trained the same way", cell[first]->label);
        else
            first = i;
    }
    plan_say_rows(p, "warning", said, ": each is trained, to the same weights", a);
}

/* The warning on a plugin, "" for none. `known`: warnings on files that were seen before. */
static const char *hiding(const struct registry *r, const struct value *plugin, struct json known)
{
    const char *path = json_get_text(plugin, "path"), *kind = json_get_text(plugin, "kind");
    const char *text = json_get_text(known.v, path);
    if (text)
        return text;
    const char *hidden = registry_hidden(r, kind, path);
    text = hidden ? arena_printf(r->arena, "%s '%s' is '%s', not '%s'", kind,
                                 json_get_text(plugin, "id"), path, hidden)
                  : "";
    json_put_text(known, path, text);
    return text;
}

static void warn_of_hidden(const struct plan *p, int rows, struct arena *a)
{
    struct registry registry;
    struct json known = json_map(a);
    const char **said = ARENA_ARRAY(a, rows, const char *);
    if (registry_init(&registry, a, NULL, NULL) != PEAT_OK)
        return;
    for (int i = 0; i < rows; i++)
        for (int k = 0; !said[i] && k < p->cell[i].plugins->n; k++) {
            const char *text = hiding(&registry, p->cell[i].plugins->item[k], known);
            said[i] = *text ? text : NULL;
        }
    plan_say_rows(p, "warning", said, ": directories are searched in order, PEAT_PLUGIN_PATH first",
                  a);
}

void plan_say_skipped(const struct plan *p, struct arena *a)
{
    int n = p->skipped->n / p->experiment->n_seed;
    const char **said = ARENA_ARRAY(a, n + 1, const char *);
    for (int i = 0; i < n; i++)
        said[i] = json_get_text(p->skipped->item[i], "reason");
    for (int i = 0; i < n; i++) {
        if (!times_said(said, n, i))
            continue;
        cli_print("skipped: %s", json_get_text(p->skipped->item[i], "label"));
        for (int k = i + 1; k < n; k++)
            if (strcmp(said[k], said[i]) == 0)
                cli_print(", %s", json_get_text(p->skipped->item[k], "label"));
        cli_print(": %s\n", said[i]);
    }
}

static void warn_of_memory(const struct plan *p, struct arena *a)
{
    const double gib = 1024.0 * 1024.0 * 1024.0;
    struct machine m;
    const struct plan_cell *most = plan_largest(p);
    machine_look(&m, "");
    if (plan_memory(most) > m.free_bytes)
        cli_print("warning: %s: it needs about %.3g GiB of memory, and %.3g GiB are free here\n",
                  shown_text(a, most->label), (double)plan_memory(most) / gib,
                  (double)m.free_bytes / gib);
}

void plan_warn(const struct plan *p, struct arena *a)
{
    int rows = p->n / p->experiment->n_seed;
    warn_of_ratio(p, rows, a);
    warn_of_warmup(p, rows, a);
    warn_of_idle_settings(p, rows);
    warn_of_twins(p, rows, a);
    warn_of_hidden(p, rows, a);
    warn_of_memory(p, a);
}
