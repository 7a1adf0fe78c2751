/* SPDX-License-Identifier: MIT */
/* checkchild.c: both sides of a check that runs in its own process. */
#include "check/checkchild.h"

#include "checkrig.h"
#include "process/child.h"
#include "tensor/gemm.h"

static const char *const end_name[] = {"passed", "failed", "skipped", "crashed", "timeout"};

const char *check_end_name(enum check_end end)
{
    return end_name[end];
}

bool check_is_bad(enum check_end end)
{
    return end != CHECK_PASSED && end != CHECK_SKIPPED;
}

/* ---- the child ---- */

static bool read_settings(const struct check_request *q, struct arena *a, struct value **given,
                          struct error *err)
{
    *given = value_map(a, NOWHERE);
    for (int i = 0; i < q->n_setting; i++) {
        const char *equals = strchr(q->setting[i], '=');
        const char *key = arena_printf(a, "%.*s", (int)(equals - q->setting[i]), q->setting[i]);
        struct value *v = equals[1] == '['
                              ? json_parse(a, equals + 1, strlen(equals + 1), "command line", err)
                              : value_scalar(a, (struct place){"command line", 0, 0}, equals + 1);
        if (!v)
            return false;
        value_set(a, *given, key, NOWHERE, v);
    }
    return true;
}

static struct value *describe(const struct checked *s)
{
    const struct plugin *p = s->plugin;
    struct json map = json_map(s->arena), unfit = json_put_map(map, "unfit");
    json_put_text(map, "kind", kind_name(p->desc->kind));
    json_put_text(map, "name", p->desc->id);
    json_put_text(map, "version", p->desc->version);
    json_put_text(map, "path", p->path);
    json_put_text(map, "sha256", p->sha256);
    for (const struct check *c = checks; c->name; c++)
        json_put_text(unfit, c->name, check_unfit(c, s));
    return map.v;
}

static bool write_record(const struct check_report *report, const char *path, struct arena *a,
                         struct error *err)
{
    struct json map = json_map(a);
    json_put_int(map, "end", report->end);
    json_put_text(map, "text", report->text);
    json_put_bool(map, "absent", report->absent);
    if (report->subject)
        json_put(map, "subject", report->subject);
    json_put_int(map, "tried", report->cells.tried);
    json_put_int(map, "index", report->cells.index);
    json_put_text(map, "cell", report->cells.text);
    json_put_text(map, "failed", report->cells.check);
    const char *text = json_to_text(map.v, JSON_LINE, a);
    return file_write(path, text, strlen(text), err) == PEAT_OK;
}

bool check_here(const struct check_request *q, const char *check, const char *record,
                const char *scratch, struct arena *arena, struct check_report *report,
                struct error *err)
{
    struct registry registry;
    struct state unloaded;
    struct value *given;
    struct error why = {0};
    *report = (struct check_report){.check = check, .text = ""};
    struct team team = {1, NULL};
    struct arena kept; /* for plugins and files; `arena` is rewound after each cell */
    struct data_files files = {.a = &kept, .keep_most = DATA_KEPT_BY_PLANS};
    const void *config;
    struct check_cells open = {0};
    arena_init(&kept, "plugins and files of a check", 1 << 16);
    parallel_start();
    if (gemm_start(&team, "openblas", err) != PEAT_OK ||
        registry_init(&registry, &kept, q->trail, err) != PEAT_OK ||
        !read_settings(q, arena, &given, err))
        return false;
    struct checked s = {.arena = arena,
                        .given = given,
                        .unloaded = &unloaded,
                        .scratch = scratch,
                        .files = &files,
                        .team = &team,
                        .trail = q->trail,
                        .registry = &registry,
                        .cells = q->cells ? q->cells : scratch,
                        .open = &open,
                        .sweep = q->sweep,
                        .reference = q->reference,
                        .trace = q->trace,
                        .end = &report->cells};
    state_read(&unloaded);
    registry.any_imports = true;
    bool found = registry_find_any(&registry, q->plugin, &s.plugin, &why) == PEAT_OK;
    if (found && (!given->n || checked_config(&s, NULL, &config, &why))) {
        struct check_outcome o = {CHECK_PASSED};
        check_run(check_find(check), &s, &o);
        report->end = o.verdict;
        report->text = arena_strdup(s.arena, o.why);
    } else {
        report->end = CHECK_FAILED;
        report->text = arena_strdup(arena, why.text);
        report->absent = !found && why.status == PEAT_NOTFOUND;
    }
    report->subject = found ? describe(&s) : NULL;
    arena_release(&kept);
    return !record || write_record(report, record, arena, err);
}

/* ---- the parent ---- */

static bool child_arguments(const struct check_request *q, const char *check, const char *record,
                            char *const **argv, struct arena *a, struct error *err)
{
    char program[4096];
    if (own_program(program, sizeof(program), err) != PEAT_OK)
        return false;
    const char *parent = arena_printf(a, "%ld", (long)getpid());
    const char *trail = arena_printf(a, "%d", CHILD_TRAIL);
    const char *const word[] = {program,       "plugins",    "check",   "--only",  check,
                                "--record",    record,       "--trail", trail,     "--with-parent",
                                parent,        "--case",     q->cells,  "--sweep", q->sweep,
                                "--reference", q->reference, "--",      q->plugin};
    char **all = ARENA_ARRAY(a, (int)(sizeof(word) / sizeof(*word)) + q->n_setting + 1, char *);
    int n = 0;
    for (size_t i = 0; i < sizeof(word) / sizeof(*word); i++)
        if (word[i] && !(i + 1 < sizeof(word) / sizeof(*word) && !word[i + 1]))
            all[n++] = arena_strdup(a, word[i]);
    for (int i = 0; i < q->n_setting; i++)
        all[n++] = q->setting[i];
    *argv = all;
    return true;
}

/* "rotary.qkv: ", or "" where no function of the plugin ran. */
static const char *place_of_death(const struct child *c, struct arena *a)
{
    char where[TRAIL_TEXT] = "";
    if (c->trail)
        trail_where(c->trail, where);
    return where[0] ? arena_printf(a, "%s: ", where) : "";
}

/* Describes a death with a line of the child's log: a sanitizer's, or else the last one. */
static void describe_death(const struct child *c, struct arena *a, struct check_report *report)
{
    static const char fence[] = "; behind each block of memory that a hook is given stands a fence";
    const char *line = log_sanitizer_line(c->log, 0, a);
    line = line ? line : log_last_line(c->log, 0, "", a);
    const char *colon = line ? ": " : "";
    char hint[TRAIL_HINT];
    trail_hint(c->trail, c->signal, hint);
    if (c->signal && strcmp(report->check, "buffers") == 0)
        snprintf(hint, sizeof(hint), "%s", fence);
    line = line ? line : "";
    report->end = CHECK_CRASHED;
    if (c->signal)
        report->text = arena_printf(a, "%skilled by signal %d (%s)%s%s%s", place_of_death(c, a),
                                    c->signal, strsignal(c->signal), hint, colon, line);
    else
        report->text = arena_printf(a, "%sthe process ended with code %d before the check did%s%s",
                                    place_of_death(c, a), c->code, colon, line);
}

/* False: the child left no record. */
static bool read_record(const char *path, struct arena *a, struct check_report *report)
{
    struct value *map;
    if (json_read(path, "record", 0, a, &map, NULL) != PEAT_OK || !json_get_text(map, "text"))
        return false;
    report->end = (enum check_end)json_get_int(map, "end", CHECK_CRASHED);
    report->text = json_get_text(map, "text");
    report->absent = json_get_bool(map, "absent");
    report->subject = value_get(map, "subject");
    report->cells = (struct cells_end){json_get_int(map, "tried", 0), json_get_int(map, "index", 0),
                                       json_get_text(map, "cell"), json_get_text(map, "failed")};
    return true;
}

/* What a child that left no record was trying. */
static void note_cell(const struct check_running *r, struct arena *a, struct check_report *report)
{
    char *rest = NULL, *bytes = NULL;
    size_t n;
    report->cells.index = r->child.trail ? strtoll(r->child.trail->cell, &rest, 10) : 0;
    if (rest && *rest)
        report->cells.check = arena_strdup(a, rest + 1);
    if (r->q.sweep &&
        file_read(path_in(r->dir.path, CHECK_CELL).text, 0, &bytes, &n, NULL) == PEAT_OK)
        report->cells.text = arena_strdup(a, bytes);
    free(bytes);
}

bool check_start(struct check_running *r, struct arena *arena, struct error *err)
{
    if (own_dir_open(&r->dir, "check", err) != PEAT_OK)
        return false;
    r->record = arena_printf(arena, "%s/record", r->dir.path);
    r->child = (struct child){.env = cell_environment(arena, 4),
                              .log = arena_printf(arena, "%s/log", r->dir.path),
                              .own_group = true,
                              .has_trail = true};
    bool started = child_arguments(&r->q, r->check, r->record, &r->child.argv, arena, err) &&
                   child_start(&r->child, err) == PEAT_OK;
    if (!started)
        own_dir_close(&r->dir);
    r->child.deadline = r->child.started + r->q.timeout;
    return started;
}

void check_finish(struct check_running *r, struct arena *arena, struct check_report *report)
{
    struct child *c = &r->child;
    *report = (struct check_report){.check = r->check, .text = ""};
    child_wait(c);
    bool recorded = !c->late && read_record(r->record, arena, report);
    if (!recorded)
        note_cell(r, arena, report);
    if (c->late) {
        report->end = CHECK_TIMEOUT;
        report->text = arena_printf(arena, "%sstill running after %g seconds",
                                    place_of_death(c, arena), r->q.timeout);
    } else if (!recorded || (c->code != 0 && report->end != CHECK_FAILED)) {
        /* A child may crash after it has reported a failure: then the failure counts. */
        describe_death(c, arena, report);
    }
    child_release(c);
    own_dir_close(&r->dir);
    report->seconds = clock_seconds() - c->started;
}

bool check_apart(const struct check_request *q, const char *check, struct arena *arena,
                 struct check_report *report, struct error *err)
{
    struct check_running r = {.q = *q, .check = check};
    struct stops_held held;
    stops_hold(&held);
    bool started = check_start(&r, arena, err);
    if (started)
        check_finish(&r, arena, report);
    bool stopped = stops_waiting();
    stops_let(&held);
    return started && !stopped;
}
