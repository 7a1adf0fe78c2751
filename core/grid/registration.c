/* SPDX-License-Identifier: MIT */
/* registration.c: says what was registered, and what changed later. */
#include "grid/claimfile.h"

/* ---- differences of two versions ---- */

/* A value that differs, and the rows in which it does. */
struct change {
    const char *what, *was, *is; /* NULL: it was not there, or is not */
    const char *row;             /* the first one; NULL: not of a row */
    int rows;
};

struct changes {
    struct arena *a;
    const char *row; /* whose settings are being compared; NULL: none */
    int n, room, n_row;
    struct change *item;
};

/* Long values end in "...", hashes sooner than maps and lists. */
static const char *value_words(const struct value *v, struct arena *a)
{
    enum { TEXT_MOST = 40, MOST = 120, KEPT = 20 };
    if (!v)
        return NULL;
    bool plain = v->kind == VALUE_TEXT && *v->text;
    const char *text = plain ? v->text : json_to_text(v, JSON_LINE, a);
    bool is_long = strlen(text) > (plain ? TEXT_MOST : MOST);
    return shown_text(a, is_long ? arena_printf(a, "%.*s...", KEPT, text) : text);
}

static void add_change(struct changes *c, const char *what, const char *was, const char *is)
{
    for (int i = 0; i < c->n; i++) {
        struct change *k = &c->item[i];
        if (c->row && k->row && same_text(k->what, what) && same_text(k->was, was) &&
            same_text(k->is, is)) {
            k->rows++;
            return;
        }
    }
    *ARENA_APPEND(c->a, c->item, c->n, c->room) =
        (struct change){what, was, is, c->row, c->row != NULL};
}

/* The name of a member: its key, or the `name` of a map in a list; NULL: it has none. */
static const char *name_of(const struct value *v, int i)
{
    return v->kind == VALUE_MAP ? v->key[i] : json_get_text(v->item[i], "name");
}

static bool is_named(const struct value *v)
{
    bool named = v && (v->kind == VALUE_MAP || v->kind == VALUE_LIST);
    for (int i = 0; named && i < v->n; i++)
        named = name_of(v, i) != NULL;
    return named;
}

static const struct value *member(const struct value *v, const char *name)
{
    for (int i = 0; i < v->n; i++)
        if (strcmp(name_of(v, i), name) == 0)
            return v->item[i];
    return NULL;
}

static void registration_compare(struct changes *c, const char *path, const struct value *was,
                                 const struct value *is)
{
    if (was && is && value_equal(was, is))
        return;
    if (!is_named(was) || !is_named(is)) {
        add_change(c, path, value_words(was, c->a), value_words(is, c->a));
        return;
    }
    for (int i = 0; i < was->n + is->n; i++) {
        const struct value *from = i < was->n ? was : is;
        const char *name = name_of(from, from == was ? i : i - was->n);
        if (from == was || !member(was, name))
            registration_compare(c, *path ? arena_printf(c->a, "%s.%s", path, name) : name,
                                 member(was, name), member(is, name));
    }
}

/* ---- rows ---- */

/* The settings of all rows, by label. */
static struct value *registration_rows_of(const struct value *plan, struct arena *a)
{
    struct json all = json_map(a);
    const struct value *rows = value_get(plan, "rows");
    for (int i = 0; rows && i < rows->n; i++)
        json_put(all, rows->key[i], value_merge(a, value_get(plan, "settings"), rows->item[i]));
    return all.v;
}

/* The label that had these settings; NULL: none. */
static const char *label_of(const struct value *rows, const struct value *settings)
{
    for (int i = 0; i < rows->n; i++)
        if (value_equal(rows->item[i], settings))
            return rows->key[i];
    return NULL;
}

/* One change for all rows of `here` that `there` lacks. */
static void rows_only_in(struct changes *c, const struct value *here, const struct value *there,
                         const char *was, const char *is)
{
    const char *first = NULL;
    int n = 0;
    for (int i = 0; i < here->n; i++)
        if (!value_get(there, here->key[i]) && n++ == 0)
            first = here->key[i];
    if (n > 0)
        add_change(c, arena_printf(c->a, "row %s", name_and_more(c->a, first, "row", n)), was, is);
}

static void compare_rows(struct changes *c, const struct value *was, const struct value *is)
{
    for (int i = 0; i < is->n; i++) {
        const struct value *before = value_get(was, is->key[i]);
        const char *had = before ? label_of(was, is->item[i]) : NULL;
        c->row = had || !before ? NULL : is->key[i];
        if (before && !had)
            registration_compare(c, "", before, is->item[i]);
        else if (before && strcmp(had, is->key[i]) != 0 && !value_equal(before, is->item[i]))
            add_change(c, arena_printf(c->a, "label %s", is->key[i]), "its own settings",
                       arena_printf(c->a, "those that %s had", shown_text(c->a, had)));
    }
    c->row = NULL;
    rows_only_in(c, is, was, NULL, "");
    rows_only_in(c, was, is, "", NULL);
}

/* ---- words ---- */

static const char *change_words(const struct changes *c, const struct change *k)
{
    const char *where = "";
    if (k->row && k->was && k->is && k->rows < c->n_row)
        where = arena_printf(c->a, " in %s",
                             name_and_more(c->a, shown_text(c->a, k->row), "row", k->rows));
    const char *what = shown_text(c->a, k->what);
    return k->was && k->is ? arena_printf(c->a, "%s %s -> %s%s", what, k->was, k->is, where)
                           : arena_printf(c->a, "%s %s", k->is ? "with" : "without", what);
}

/* "; "-separated changes from one version to the next. */
static const char *change_of(const struct claims_version *was, const struct claims_version *is,
                             struct arena *a)
{
    enum { SHOWN = 8 };
    static const char *const of_plan[] = {"seeds", "report", "gemm", NULL};
    struct changes c = {.a = a};
    const char *text = NULL;
    registration_compare(&c, "claims", was->claims, is->claims);
    if (was->registered && is->registered) {
        const struct value *x = value_get(was->v, "plan"), *y = value_get(is->v, "plan");
        const struct value *rows = registration_rows_of(y, a);
        c.n_row = rows->n;
        registration_compare(&c, "", json_part(a, x, of_plan).v, json_part(a, y, of_plan).v);
        compare_rows(&c, registration_rows_of(x, a), rows);
        registration_compare(&c, "", value_get(was->v, "plugins"), value_get(is->v, "plugins"));
        if (c.n == 0)
            registration_compare(&c, "cells", value_get(x, "cells_sha256"),
                                 value_get(y, "cells_sha256"));
    } else if (is->registered) {
        add_change(&c, "a registered plan", NULL, "");
    }
    for (int i = 0; i < c.n && i < SHOWN; i++)
        text = list_add(a, text, "; ", change_words(&c, &c.item[i]));
    return c.n > SHOWN ? arena_printf(a, "%s; and %d more", text, c.n - SHOWN) : text;
}

/* The seeds of a plan.json; `was` where that is how they were registered. */
static const struct value *seeds_of(const struct value *plan, const struct value *was,
                                    struct arena *a)
{
    const struct value *is = value_get(plan, "seeds");
    int64_t n = was && was->kind == VALUE_MAP ? json_get_int(was, "at_most", 0)
                : was                         ? was->integer
                                              : 0;
    struct json counted = json_list(a);
    for (int64_t i = 0; i < n && i <= json_get_count(plan, "seeds"); i++)
        json_add_int(counted, i);
    return is && value_equal(counted.v, is) ? was : is;
}

const char *registration_other(const struct claims_kept *kept, const struct value *plan,
                               struct arena *a)
{
    static const char *const same[] = {"gemm", "settings", "rows", NULL};
    if (!kept->n || !kept->version[kept->n - 1].registered)
        return NULL;
    const struct claims_version *last = &kept->version[kept->n - 1];
    const struct value *was = value_get(last->v, "plan");
    struct claims_version is = *last;
    struct json now = {a, json_part(a, was, same).v}, version = json_map(a);
    plan_cells_put(now, plan);
    json_put(now, "seeds", seeds_of(plan, value_get(was, "seeds"), a));
    json_put(now, "report", value_get(plan, "report"));
    json_put(version, "plan", now.v);
    json_put(version, "plugins", value_get(last->v, "plugins"));
    is.v = version.v;
    return change_of(last, &is, a);
}

static const char *begun_words(const struct registered *g, const struct claims_version *v,
                               struct arena *a)
{
    const struct begun *b = &v->by_then;
    if (!g->late && g->begun)
        return arena_printf(a, "after %d of the cells %s started", g->begun,
                            g->begun == 1 ? "was" : "were");
    if (!g->late)
        return arena_printf(a, "before the first %s", claims_first(v));
    if (!v->registered)
        return arena_printf(a, "after %" PRId64 " result%s", b->results, plural(b->results));
    return arena_printf(a,
                        "after %" PRId64 " step%s, %" PRId64 " evaluation%s and %" PRId64
                        " result%s of %" PRId64 " started cell%s",
                        b->steps, plural(b->steps), b->evaluations, plural(b->evaluations),
                        b->results, plural(b->results), b->cells, plural(b->cells));
}

/* The number of cells whose test part was evaluated again, and with which eval.tokens; NULL: no
 * cell was. */
static const char *again_words(const struct rundir *r, struct arena *a)
{
    const struct value *m;
    const char *how = NULL;
    int cells = 0;
    for (int i = 0; i < r->n; i++) {
        const char *again = NULL;
        for (int k = 0; (m = json_get_item(r->cell[i].result, "measures", k)); k++)
            again = again ? again : json_get_text(m, "again");
        cells += r->cell[i].planned && again;
        how = how ? how : again;
    }
    return cells ? arena_printf(a,
                                "the test part was evaluated again with eval.tokens %s in %d "
                                "cell%s: the first values are kept",
                                shown_text(a, how), cells, plural(cells))
                 : NULL;
}

void registration_add(struct registration *g, const char *head, const struct claims_kept *kept,
                      int n, const struct rundir *r, struct arena *a)
{
    const struct registered found = claims_registered(kept, n, r);
    bool doubtful = found.late || found.begun || found.at < kept->n - 1;
    g->changed = g->changed || (doubtful && kept->n && kept->version[kept->n - 1].registered);
    for (int i = found.at; i >= 0 && i < kept->n; i++) {
        const struct claims_version *v = &kept->version[i];
        const char *what = v->claims->n ? "claims and plan" : "plan";
        const struct registered its = claims_registered_at(kept, i, n, r);
        const char *when = begun_words(&its, v, a);
        *ARENA_APPEND(a, g->line, g->n, g->room) =
            i > found.at    ? arena_printf(a, "%schanged %s, %s: %s", head, v->written_utc, when,
                                           change_of(v - 1, v, a))
            : v->registered ? arena_printf(a, "%sregistered: %s, %s, SHA-256 %.12s, %s", head, what,
                                           v->written_utc, v->registered, when)
                            : arena_printf(a, "%sregistered: words of claims only, %s, %s", head,
                                           v->written_utc, when);
    }
    const char *again = again_words(r, a);
    g->changed = g->changed || again;
    if (again)
        *ARENA_APPEND(a, g->line, g->n, g->room) = arena_printf(a, "%s%s", head, again);
}

const char *registration_text(const struct registration *g, struct arena *a)
{
    const char *text = NULL;
    for (int i = 0; i < g->n; i++)
        text = list_add(a, text, " | ", g->line[i]);
    return text;
}

void registration_put(struct json map, const struct registration *g)
{
    struct json list = json_put_list(map, "registration");
    for (int i = 0; i < g->n; i++)
        json_add_text(list, g->line[i]);
}
