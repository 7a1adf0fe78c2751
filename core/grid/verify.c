/* SPDX-License-Identifier: MIT */
/* verify.c: checks a run directory for consistency, and against the files that it names. */
#include "grid/verify.h"

#include "experiment/resolved.h"
#include "grid/bundle.h"
#include "grid/claimfile.h"
#include "grid/schemefile.h"
#include "grid/trunks.h"
#include "train/checkpoint.h"
#include "train/generation.h"

static bool was_noted(const struct remarks *list, const char *text)
{
    for (int i = 0; i < list->n; i++)
        if (strcmp(list->item[i].text, text) == 0)
            return true;
    return false;
}

static void leave_unchecked(struct verification *v, const char *what)
{
    if (!was_noted(&v->unchecked, what))
        verify_add(&v->unchecked, NULL, "%s", what);
}

/* ---- files with their own seals ---- */

static void check_sealed(struct verification *v, const char *label, const char *dir,
                         const char *const *name)
{
    for (; *name; name++) {
        struct error why = {0};
        struct value *content;
        peat_status status = json_read_file(dir, *name, v->arena, &content, &why);
        if (status == PEAT_NOTFOUND)
            continue;
        if (status == PEAT_OK && json_lacks_seal(dir, *name))
            verify_add(&v->problems, label, "%s has no check: it was made or changed by hand",
                       *name);
        else if (status != PEAT_OK && !was_noted(&v->problems, why.text))
            verify_add(&v->problems, label, "%s", why.text);
    }
}

static void check_sources(struct verification *v)
{
    static const char *const name[] = {EXPERIMENT_FILE, EXTENDS_FILE, RESOLVED_FILE};
    for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++) {
        enum source is = rundir_source(v->dir.path, v->dir.plan, name[i]);
        if (is == SOURCE_MISSING)
            verify_add(&v->problems, NULL, "%s is missing", name[i]);
        else if (is == SOURCE_OTHER)
            verify_add(&v->problems, NULL, "%s has changed since plan.json was written", name[i]);
    }
    if (!value_get(v->dir.plan, "files"))
        verify_add(&v->unchecked, NULL,
                   "experiment.yaml and resolved.yaml: an earlier peat wrote the plan, without "
                   "their hashes");
}

/* ---- plan, configuration, result ---- */

/* Checks that two files of one cell have the same values under these keys. */
static void check_both(struct verification *v, const struct cell_files *c, const char *files,
                       const struct value *one, const struct value *two, const char *const *key)
{
    for (; *key; key++)
        if (value_differs(value_get(one, *key), value_get(two, *key)))
            verify_add(&v->problems, c->label,
                       "%s do not belong to one cell: their values of %s differ", files, *key);
}

static void check_plan(struct verification *v, const struct cell_files *c,
                       const struct value *planned)
{
    static const char *const both[] = {
        "id",      "label", "axes",   "scheme",          "combine",        "hash",
        "setting", "seed",  "params", "flops_per_token", "attention_path", NULL};
    check_both(v, c, "plan.json and config.json", planned, c->config, both);
}

/* True where the cell was planned again with fewer lengths than it was evaluated at. A table of
 * positions reaches to the longest, so its parameters were more. */
static bool reached_further(const struct cell_files *c)
{
    const struct value *asked = value_get_path(c->config, "eval.lengths"), *m;
    int64_t longest = 0;
    for (int i = 0; asked && asked->kind == VALUE_LIST && i < asked->n; i++)
        longest = asked->item[i]->integer > longest ? asked->item[i]->integer : longest;
    for (int i = 0; (m = json_get_item(c->result, "measures", i)); i++)
        if (!json_text_is(m, "split", "train") && json_get_int(m, "length", 0) > longest)
            return longest > 0;
    return false;
}

static void check_result(struct verification *v, const struct cell_files *c)
{
    static const char *const both[] = {"params", "id", "flops_per_token", "attention_path", NULL};
    const char *dash = strrchr(c->id, '-'), *hash = json_get_text(c->config, "hash");
    check_both(v, c, "config.json and result.json", c->config, c->result,
               both + reached_further(c));
    if (!dash || strncmp(hash, dash + 1, strlen(dash + 1)) != 0)
        verify_add(&v->problems, c->label, "its directory '%s' has another cell's hash", c->id);
}

/* ---- checkpoint ---- */

static void check_state(struct verification *v, const struct cell_files *c, const char *dir)
{
    struct error why = {0};
    struct value *state;
    if (generation_read_state(dir, v->arena, &state, &why) != PEAT_OK) {
        verify_add(&v->problems, c->label, "%s: %s", dir + strlen(c->dir) + 1, why.text);
        return;
    }
    const struct value *identity = value_get(state, "identity");
    if (!same_text(json_get_text(identity, "hash"), json_get_text(c->config, "hash")))
        verify_add(&v->problems, c->label, "its checkpoint belongs to another cell");
    if (json_get_int(state, "step", -1) != json_get_int(c->result, "steps", -1))
        verify_add(&v->problems, c->label,
                   "its checkpoint is of step %" PRId64 ", and its result of step %" PRId64,
                   json_get_int(state, "step", -1), json_get_int(c->result, "steps", -1));
    verify_state(v, c, state);
}

static void check_checkpoint(struct verification *v, const struct cell_files *c)
{
    char generation[GENERATION_NAME];
    generation_name(json_get_int(c->result, "steps", 0), generation);
    const char *dir = arena_printf(v->arena, "%s/ckpt/%s", c->dir, generation);
    if (file_exists(dir))
        check_state(v, c, dir);
    else if (!value_get(c->result, "files")) /* otherwise it was reported */
        verify_add(&v->problems, c->label, "ckpt/%s is missing", generation);
}

/* ---- files elsewhere ---- */

static void check_named(struct verification *v, const struct cell_files *c, const char *key,
                        struct data_files *files)
{
    const struct value *file;
    for (int i = 0; (file = json_get_item(c->meta, key, i)); i++) {
        const char *path = json_get_text(file, "path"), *sealed = json_get_text(file, "sha256");
        const char *now;
        if (!path || !sealed)
            continue;
        if (data_hash(files, path, &now, NULL) != PEAT_OK)
            leave_unchecked(v, arena_printf(v->arena, "'%s', which is not here", path));
        else if (strcmp(now, sealed) != 0)
            verify_add(&v->problems, c->label, "'%s' differs from the file that it was made with",
                       path);
    }
}

/* ---- the whole directory ---- */

/* False: the files are not those that the result is sealed with, and may be of any size. */
static bool check_files(struct verification *v, const struct cell_files *c)
{
    enum cell_look look = v->without_weights ? LOOK_READ : LOOK_ALL;
    const char *fault = cell_files_fault(c->dir, c->result, c->meta, look, v->arena);
    if (fault)
        verify_add(&v->problems, c->label, "%s", fault);
    if (!value_get(c->result, "files"))
        leave_unchecked(v, "files beside results of format 1, which are not sealed with them");
    return !fault;
}

static bool is_finished(const struct cell_files *c)
{
    return cell_has_ended(c->state) || c->state == CELL_STALE;
}

static void check_cell(struct verification *v, int i, struct data_files *files)
{
    static const char *const of_cell[] = {"config.json",  "meta.json",  "result.json",
                                          "end.json",     "stale.json", "diagnose.json",
                                          "thinned.json", NULL};
    const struct cell_files *c = &v->dir.cell[i];
    if (v->packed && !c->planned)
        return;
    if (c->damage)
        verify_add(&v->problems, c->label, "%s", c->damage);
    check_sealed(v, c->label, c->dir, of_cell);
    if (c->config && c->planned)
        check_plan(v, c, json_get_item(v->dir.plan, "cells", i));
    v->finished += c->planned && is_finished(c);
    v->unfinished +=
        c->planned && !is_finished(c) && c->state != CELL_UNCHOSEN && c->state != CELL_DECIDED;
    if (!is_finished(c) || !c->config)
        return;
    bool sealed = check_files(v, c);
    check_result(v, c);
    verify_end(v, c);
    bool thinned = cell_thinned(c->dir, c->result, v->arena);
    verify_curve(v, c, thinned);
    if (thinned)
        leave_unchecked(v, "curve thinned: the training lines that the bundle left out");
    if (!v->without_weights && (sealed || !v->packed))
        check_checkpoint(v, c);
    if (c->meta && !cell_files_have_hash(c->config, c->meta, v->arena))
        verify_add(&v->problems, c->label, "the settings in config.json are not those of its hash");
    if (!c->planned)
        leave_unchecked(v, "data and plugins of cells of earlier plans");
    if (v->packed || !c->planned)
        return;
    check_named(v, c, "data", files);
    check_named(v, c, "plugins", files);
    check_named(v, c, "formulas", files);
}

static void check_claims(struct verification *v, const char *path)
{
    static const char *const of_run[] = {"plan.json",    "claims.json", "bundle.json",
                                         "schemes.json", "looks.json",  NULL};
    struct claims_kept *kept = &v->claims;
    struct registration said = {.n = 0};
    struct error why = {0};
    const char *planned = json_get_text(v->dir.plan, "claims_sha256");
    if (claims_kept_read(path, kept, v->arena, &why) != PEAT_OK)
        verify_add(&v->problems, NULL, "%s", why.text);
    else if (planned && !kept->claims)
        verify_add(&v->problems, NULL, "claims.json is missing, and the experiment has claims");
    else if (planned && strcmp(kept->version[kept->n - 1].hash, planned) != 0)
        verify_add(&v->problems, NULL, "claims.json does not end with the claims of plan.json");
    const char *other = registration_other(kept, v->dir.plan, v->arena);
    if (other)
        verify_add(&v->problems, NULL, "plan.json is not what claims.json registers last: %s",
                   other);
    registration_add(&said, "", kept, 1, &v->dir, v->arena);
    for (int i = 0; i < said.n; i++)
        verify_add(&v->notes, NULL, "%s", said.line[i]);
    check_sealed(v, NULL, path, of_run);
}

/* The SHA-256 in a line; NULL: there is none. */
static const char *hash_in(const char *line, struct arena *a)
{
    static const char digits[] = "0123456789abcdef";
    for (const char *at = line; *(at += strcspn(at, digits)); at += strspn(at, digits))
        if (strspn(at, digits) == HASH_HEX - 1)
            return arena_printf(a, "%.*s", HASH_HEX - 1, at);
    return NULL;
}

peat_status verify_registered(struct verification *v, const char *line, struct error *err)
{
    const struct registered found = claims_registered(&v->claims, 1, &v->dir);
    const char *asked = hash_in(line, v->arena);
    const char *has = found.at < 0 ? NULL : v->claims.version[found.at].registered;
    if (!asked)
        return error_set(err, PEAT_INVALID,
                         "option '--registered' needs the line that `peat plan --register` "
                         "printed: '%s' has no SHA-256",
                         line);
    if (!has)
        verify_add(&v->problems, NULL, "no plan was registered, so it is not that of the line");
    else if (strcmp(has, asked) != 0)
        verify_add(&v->problems, NULL,
                   "the registration of the line is SHA-256 %.12s, and that of the run is %.12s",
                   asked, has);
    else
        verify_add(&v->notes, NULL, "the registration is that of the line");
    return PEAT_OK;
}

static void check_drawings(struct verification *v, const char *path)
{
    struct error why = {0};
    peat_status status = scheme_drawings_check(path, v->arena, &why);
    if (status != PEAT_OK && status != PEAT_NOTFOUND)
        verify_add(&v->problems, NULL, "%s", why.text);
}

/* A damaged state is only a note: cells that could use it train its steps themselves, so no result
 * depends on it. */
static void check_trunks(struct verification *v, const char *path)
{
    int n;
    const struct kept_state *s = trunks_list(path, v->arena, &n);
    for (int i = 0; i < n; i++) {
        const char *fault = kept_state_fault(path, &s[i], v->arena);
        if (fault)
            verify_add(&v->notes, NULL, "trunks/%s/%s is not used: %s", s[i].trunk, s[i].name,
                       fault);
    }
}

/* A cell that is in the plan twice would be in the table twice. */
static void check_twice(struct verification *v)
{
    for (int i = 0; i < v->dir.n; i++)
        for (int k = 0; k < i && v->dir.cell[i].planned; k++)
            if (strcmp(v->dir.cell[i].id, v->dir.cell[k].id) == 0)
                verify_add(&v->problems, v->dir.cell[i].label, "plan.json has it twice");
}

/* ---- what is in no mean ---- */

static const char *reason_of(const struct cell_files *c, struct arena *a)
{
    struct value *stale = NULL;
    if (c->state == CELL_STALE)
        record_read(c->dir, &stale_record, a, &stale, NULL);
    return json_text_or(c->state == CELL_DIVERGED ? value_get(c->result, "diverged")
                        : stale                   ? stale
                                                  : c->end,
                        c->state == CELL_DIVERGED ? "what" : "reason", "no reason is recorded");
}

static void list_left_out(struct verification *v)
{
    struct arena *a = v->arena;
    enum { NAMED = 3 };
    const char *open[CELL_STATES] = {0};
    int n_open[CELL_STATES] = {0};
    const struct value *skipped;
    for (int i = 0; i < v->dir.n; i++) {
        const struct cell_files *c = &v->dir.cell[i];
        if (!c->planned || c->state == CELL_DONE || c->state == CELL_DAMAGED)
            continue;
        if (c->state == CELL_STALE || c->state == CELL_DIVERGED || cell_has_failed(c->state))
            verify_add(&v->notes, c->label, "%s, in no mean: %s", cell_state_name(c->state),
                       reason_of(c, a));
        else if (++n_open[c->state] <= NAMED)
            open[c->state] = arena_item(a, open[c->state], "%s", c->label);
    }
    for (int k = 0; k < CELL_STATES; k++)
        if (open[k])
            verify_add(&v->notes, NULL, "%d %s, in no mean: %s%s", n_open[k],
                       cell_state_name((enum cell_state)k), open[k],
                       n_open[k] > NAMED ? ", ..." : "");
    for (int i = 0; (skipped = json_get_item(v->dir.plan, "skipped", i)); i++)
        verify_add(&v->notes, json_get_text(skipped, "label"), "skipped, in no mean: %s",
                   json_text_or(skipped, "reason", ""));
}

/* ---- cells that are alike ---- */

struct twin {
    const char *hash;
    const struct cell_files *cell;
};

/* Cells of different seeds begin with different weights and see different batches. */
static void list_twins(struct verification *v, struct remarks *to, const char *key,
                       const char *what)
{
    int n = 0;
    struct twin *twin = ARENA_ARRAY(v->arena, v->dir.n + 1, struct twin);
    for (int i = 0; i < v->dir.n; i++)
        if (v->dir.cell[i].planned && v->dir.cell[i].state == CELL_DONE)
            twin[n++] =
                (struct twin){json_text_or(v->dir.cell[i].result, key, ""), &v->dir.cell[i]};
    if (n)
        qsort(twin, (size_t)n, sizeof(*twin), compare_texts);
    for (int i = 1; i < n; i++) {
        const struct cell_files *x = twin[i - 1].cell, *y = twin[i].cell;
        if (*twin[i].hash && strcmp(twin[i - 1].hash, twin[i].hash) == 0 &&
            json_get_int(x->config, "seed", 0) != json_get_int(y->config, "seed", 0))
            verify_add(to, y->label, "its seed is another than that of %s, and it has the same %s",
                       x->label, what);
    }
}

/* Cells with the same seed, task, architecture and training see the same batches, and their values
 * are over the same targets. */
static bool is_fed_alike(const struct cell_files *x, const struct cell_files *y)
{
    static const char *const same[] = {"seed", "task", "train", "model.arch"};
    bool alike = x->planned && x->state == CELL_DONE;
    for (size_t i = 0; alike && i < sizeof(same) / sizeof(*same); i++)
        alike =
            !value_differs(value_get_path(x->config, same[i]), value_get_path(y->config, same[i]));
    return alike;
}

static void check_alike(struct verification *v, int i)
{
    static const char *const both[] = {"batch_hash", "metrics", "length_unit", NULL};
    const struct cell_files *c = &v->dir.cell[i];
    int k = i - 1;
    while (k >= 0 && !is_fed_alike(&v->dir.cell[k], c))
        k--;
    for (int n = 0; k >= 0 && c->planned && c->state == CELL_DONE && both[n]; n++)
        if (value_differs(value_get(v->dir.cell[k].result, both[n]), value_get(c->result, both[n])))
            verify_add(&v->problems, c->label, "its %s is not that of %s, which is fed alike",
                       both[n], v->dir.cell[k].label);
}

static peat_status check_dir(const char *path, struct verification *v, struct error *err)
{
    struct data_files files = {.a = v->arena};
    v->problems.a = v->notes.a = v->unchecked.a = v->arena;
    peat_status status = rundir_read(path, &v->dir, v->arena, err);
    if (status != PEAT_OK)
        return status;
    if (v->without_weights)
        verify_add(&v->unchecked, NULL, "the weights, which were left out of the bundle");
    if (lock_is_held(path))
        verify_add(&v->notes, NULL, "it is being run, so its files still change");
    check_twice(v);
    check_claims(v, path);
    check_sources(v);
    verify_plan(v);
    check_drawings(v, path);
    check_trunks(v, path);
    for (int i = 0; i < v->dir.n; i++) {
        check_cell(v, i, &files);
        check_alike(v, i);
    }
    list_twins(v, &v->problems, "weights_hash", "weights");
    list_twins(v, &v->notes, "batch_hash", "batches");
    list_left_out(v);
    verify_add(
        &v->unchecked, NULL,
        "values that only result.json has: times, memory, ratios, hashes of weights, and, of "
        "all cells together, batches and whether more of a metric is better");
    if (v->unfinished)
        verify_add(&v->notes, NULL, "%d cell%s not finished", v->unfinished,
                   v->unfinished == 1 ? " is" : "s are");
    return PEAT_OK;
}

peat_status verify_dir(const char *path, struct verification *v, struct arena *a, struct error *err)
{
    *v = (struct verification){.arena = a, .without_weights = bundle_lacks_weights(path, a)};
    return check_dir(path, v, err);
}

peat_status verify_packed(const char *path, bool weights, struct verification *v, struct arena *a,
                          struct error *err)
{
    *v = (struct verification){.arena = a, .without_weights = !weights, .packed = true};
    return check_dir(path, v, err);
}

/* ---- one line about all of it ---- */

/* A list of texts, each once. */
struct names {
    struct arena *a;
    int n, room;
    const char **text;
};

static void add_name(struct names *list, const char *text)
{
    if (texts_find(list->text, list->n, text) < 0)
        *ARENA_APPEND(list->a, list->text, list->n, list->room) = text;
}

static const char *joined(struct names *list)
{
    const char *all = "";
    if (list->n)
        qsort(list->text, (size_t)list->n, sizeof(*list->text), compare_texts);
    for (int i = 0; i < list->n; i++)
        all = arena_printf(list->a, "%s, %s", all, list->text[i]);
    return all;
}

const char *verify_quote(const struct verification *v, const char *hash)
{
    struct names engines = {.a = v->arena}, plugins = {.a = v->arena};
    const struct value *one;
    for (int i = 0; i < v->dir.n; i++) {
        const struct cell_files *c = &v->dir.cell[i];
        if (!c->planned || !c->result || !c->meta)
            continue;
        add_name(&engines,
                 arena_printf(v->arena, "peat %s", json_text_or(c->meta, "engine", "unknown")));
        for (int k = 0; (one = json_get_item(c->meta, "plugins", k)); k++)
            add_name(&plugins,
                     arena_printf(v->arena, "%s %s %s", json_text_or(one, "kind", "unknown"),
                                  json_text_or(one, "id", "unknown"),
                                  json_text_or(one, "version", "unknown")));
    }
    const struct registered found = claims_registered(&v->claims, 1, &v->dir);
    const char *registered = found.at < 0 ? NULL : v->claims.version[found.at].registered;
    if (registered)
        registered = arena_printf(v->arena, ", registration %.12s %s the first step%s", registered,
                                  found.late || found.begun ? "after" : "before",
                                  found.at < v->claims.n - 1 ? " and changed later" : "");
    return arena_printf(v->arena, "'%s', SHA-256 %s: %d of %d cells%s%s%s",
                        json_get_text(v->dir.plan, "experiment"), hash, v->finished,
                        v->finished + v->unfinished, registered ? registered : "", joined(&engines),
                        joined(&plugins));
}
