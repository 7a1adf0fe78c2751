/* SPDX-License-Identifier: MIT */
/* plugins_check.c: peat plugins check. */

#include "check/thorough.h"
#include "cli/plugins.h"
#include "cli/pythonverb.h"
#include "cli/verbs.h"
#include "process/child.h"
#include "process/parent.h"

struct request {
    int64_t timeout;  /* seconds of each check */
    int64_t parent;   /* PID of the parent; 0: none */
    int64_t trail;    /* descriptor; 0: not given */
    const char *only; /* NULL: all checks      */
    const char *record;
    struct check_request request;
    int64_t seed, seconds, jobs;
    bool json, here, thorough, trace;
};

struct checking {
    struct request q;
    struct arena *arena;
    struct error *err; /* error of the call */
    int n;
    struct check_report *report;
    const struct value *subject;
    int count[CHECK_ENDS];
    struct thorough random;
    const char *met; /* labels of its cells */
    bool own_cells;  /* request.cells is a folder of this command */
};

/* ---- printing ---- */

static int list_checks(struct cli *cli, const char *argument)
{
    struct columns table;
    (void)argument;
    columns_init(&table, cli->arena, 3);
    columns_add(&table, (const char *const[]){"check", "kinds", "passes when"});
    for (const struct check *c = checks; c->name; c++) {
        const char *kinds = "";
        bool all = true;
        for (int k = PEAT_SCHEME; k <= PEAT_TASK; k++) {
            bool is_for = check_is_for(c, (peat_kind)k);
            kinds = is_for ? arena_item(cli->arena, kinds, "%s", kind_name((peat_kind)k)) : kinds;
            all = all && is_for;
        }
        columns_add(&table, (const char *const[]){c->name, all ? "all" : kinds, c->doc});
    }
    columns_print(&table, "", stdout);
    return CLI_DONE;
}

static const char *subject_text(const struct checking *c, const char *key)
{
    const struct value *v = value_get(c->subject, key);
    return v ? v->text : "";
}

/* A command line that repeats the check. It names the path, because the name may find
 * another file. */
static const char *repeat_command(struct checking *c, const struct check_report *r)
{
    const struct check_request *q = &c->q.request;
    const char *check = r->check, *cells = c->own_cells ? NULL : q->cells;
    struct strbuf out = STRBUF_NEW;
    const char *path = subject_text(c, "path");
    if (strcmp(check, check_cases.name) == 0) {
        check = r->cells.check ? r->cells.check : check;
        cells = CHECK_CELL;
    }
    strbuf_addf(&out, "peat plugins check %s", *path ? path : q->plugin);
    for (int i = 0; i < q->n_setting; i++)
        strbuf_addf(&out, " '%s'", q->setting[i]);
    strbuf_addf(&out, " --only %s", check);
    if (cells)
        strbuf_addf(&out, " --case '%s'", cells);
    strbuf_add(&out, " --here");
    if (strcmp(check, "reference") == 0)
        strbuf_addf(&out, " --reference '%s'", q->reference);
    return strbuf_keep(&out, c->arena);
}

/* The experiment file of a cell that failed, line by line. */
static void print_cell(const struct check_report *r)
{
    for (const char *line = r->cells.text; line && *line;) {
        int n = (int)strcspn(line, "\n");
        cli_print("           | %.*s\n", n, line);
        line += n + (line[n] == '\n');
    }
}

static void print_head(const struct checking *c)
{
    if (c->subject)
        cli_print("%s %s %s  %s\n", subject_text(c, "kind"), subject_text(c, "name"),
                  subject_text(c, "version"), subject_text(c, "path"));
}

/* The length of the message without the situation, "(decoder, fit: none)". */
static size_t mistake_length(const char *text)
{
    const char *end = strrchr(text, '(');
    return end && end > text ? (size_t)(end - text) : strlen(text);
}

static bool is_same_mistake(const struct check_report *x, const struct check_report *y)
{
    size_t n = mistake_length(x->text);
    return x->end == y->end && n > 0 && n == mistake_length(y->text) &&
           memcmp(x->text, y->text, n) == 0;
}

static int first_of(const struct checking *c, int i)
{
    for (int k = 0; k < i; k++)
        if (is_same_mistake(&c->report[k], &c->report[i]))
            return k;
    return i;
}

/* Prints the checks that have the message of check i, and check i, unless printed before. */
static void print_alike(const struct checking *c, int i, const char *what)
{
    const char *names = NULL;
    for (int k = i; k < c->n; k++) {
        bool printed = k == i && check_is_bad(c->report[i].end);
        if (first_of(c, k) == i && !printed)
            names = arena_item(c->arena, names, "%s", c->report[k].check);
    }
    if (names)
        cli_print("  %-8s %s%s: %s\n", check_end_name(c->report[i].end), what,
                  check_is_bad(c->report[i].end) ? c->report[i].check : c->report[i].text, names);
}

static void print_repeats(const struct checking *c)
{
    for (int i = 0; i < c->n; i++) {
        const struct check_report *r = &c->report[i];
        if (*r->text && r->end != CHECK_PASSED && first_of(c, i) == i)
            print_alike(c, i, check_is_bad(r->end) ? "the same as " : "");
    }
}

static void print_report(struct checking *c, const struct check_report *r)
{
    int i = (int)(r - c->report);
    bool folded = r->end == CHECK_SKIPPED || (check_is_bad(r->end) && first_of(c, i) != i);
    if (folded)
        return;
    if (*r->text)
        cli_print("  %-8s %-24s%s\n", check_end_name(r->end), r->check, r->text);
    else
        cli_print("  %-8s %s\n", check_end_name(r->end), r->check);
    if (check_is_bad(r->end)) {
        print_cell(r);
        cli_print("           again: %s\n", repeat_command(c, r));
    }
    fflush(stdout);
}

static void print_sum(const struct checking *c)
{
    const char *counts = "";
    for (int i = 0; i < CHECK_ENDS; i++)
        if (c->count[i])
            counts = arena_item(c->arena, counts, "%d %s", c->count[i],
                                check_end_name((enum check_end)i));
    if (c->met && *c->met)
        cli_print("met in its cells: %s\n", c->met);
    cli_print("%s\n", counts);
}

static void add_report(struct json list, struct checking *c, const struct check_report *r)
{
    struct json map = json_add_map(list);
    json_put_text(map, "check", r->check);
    json_put_text(map, "end", check_end_name(r->end));
    json_put_text(map, "text", r->text);
    json_put_real(map, "seconds", r->seconds);
    json_put_text(map, "cell", r->cells.text);
    json_put_text(map, "command", check_is_bad(r->end) ? repeat_command(c, r) : NULL);
}

static void print_object(struct checking *c)
{
    struct json map = json_map(c->arena);
    static const char *const keys[] = {"kind", "name", "version", "path", "sha256"};
    for (int i = 0; i < 5; i++)
        json_put(map, keys[i], value_get(c->subject, keys[i]));
    struct json list = json_put_list(map, "checks");
    for (int i = 0; i < c->n; i++)
        add_report(list, c, &c->report[i]);
    for (int i = 0; i < CHECK_ENDS; i++)
        json_put_int(map, check_end_name((enum check_end)i), c->count[i]);
    print_json(map.v);
}

/* ---- running ---- */

/* A reference that declares parameters and tensors has those of the plugin. */
static void compare_twin(const struct checking *c, struct check_report *r)
{
    const char *differs = twin_difference(c->q.request.plugin, c->q.request.reference, c->arena);
    if (differs) {
        r->end = CHECK_FAILED;
        r->text = differs;
    }
}

/* Runs a check in a child process; a check that does not apply to the plugin is skipped. */
static bool run_apart(struct checking *c, const char *check)
{
    struct check_report *r = &c->report[c->n];
    const char *unfit = json_get_text(value_get(c->subject, "unfit"), check);
    *r = (struct check_report){.check = check, .end = CHECK_SKIPPED, .text = unfit};
    if (unfit)
        return true;
    if (!check_apart(&c->q.request, check, c->arena, r, c->err))
        return false;
    if (r->end != CHECK_SKIPPED && !strcmp(check, "reference"))
        compare_twin(c, r);
    c->subject = c->subject ? c->subject : r->subject;
    return true;
}

static void count(struct checking *c)
{
    struct check_report *r = &c->report[c->n++];
    c->count[r->end]++;
    if (!c->q.json)
        print_report(c, r);
}

static bool is_wanted(const struct checking *c, const struct check *check)
{
    const char *kind = subject_text(c, "kind");
    for (int k = PEAT_SCHEME; k <= PEAT_TASK; k++)
        if (!strcmp(kind, kind_name((peat_kind)k)) && !check_is_for(check, (peat_kind)k))
            return false;
    if (!c->q.request.reference && !strcmp(check->name, "reference"))
        return false;
    return !c->q.only || !strcmp(c->q.only, check->name);
}

static bool run_random(struct checking *c)
{
    struct thorough *t = &c->random;
    *t = (struct thorough){
        .seed = (uint64_t)c->q.seed, .seconds = (double)c->q.seconds, .jobs = (int)c->q.jobs};
    if (!thorough_run(t, &c->q.request, c->arena, c->err) || stops_waiting())
        return false;
    struct check_report *r = &c->report[c->n];
    *r = t->report;
    r->text =
        check_is_bad(r->end)
            ? arena_printf(c->arena,
                           "%s: %s; cell %" PRId64 " of seed %" PRIu64
                           ", made smaller; write it to " CHECK_CELL,
                           r->cells.check ? r->cells.check : "set-up", r->text, t->index, t->seed)
            : arena_printf(c->arena, "%" PRId64 " cells of seed %" PRIu64, t->tried, t->seed);
    count(c);
    return true;
}

/* After a plugin did not return in one check, no further check is run: each would take as long. */
static bool has_hung(const struct checking *c)
{
    return c->count[CHECK_TIMEOUT] > 0;
}

/* Draws the cells, which describes the plugin. Where that fails, the checks say why. */
static bool draw(struct checking *c)
{
    struct check_report r;
    bool done = check_apart(&c->q.request, check_cells.name, c->arena, &r, c->err);
    c->subject = r.subject;
    c->met = done && r.end == CHECK_PASSED ? r.cells.text : NULL;
    return done;
}

/* A plugin that cannot be loaded has no checks after the first. */
static int run_checks(struct checking *c)
{
    const struct check *first = c->q.only ? check_find(c->q.only) : checks;
    c->report = ARENA_ARRAY(c->arena, 64, struct check_report);
    if (!draw(c) || !run_apart(c, first->name))
        return CLI_USAGE;
    if (c->report[0].absent) {
        cli_say("%s", c->report[0].text);
        return CLI_USAGE;
    }
    if (!c->q.json)
        print_head(c);
    bool loaded = c->subject != NULL;
    if (!loaded || is_wanted(c, first))
        count(c);
    for (const struct check *k = first + 1; loaded && k->name && !has_hung(c); k++) {
        if (!is_wanted(c, k))
            continue;
        if (!run_apart(c, k->name))
            return CLI_USAGE;
        count(c);
    }
    if (loaded && c->q.thorough && !has_hung(c) && !run_random(c))
        return CLI_FAILED;
    if (c->n == 0)
        return cli_mistake(plugins_check.name, "check '%s' is not for a %s", c->q.only,
                           subject_text(c, "kind"));
    if (c->q.json) {
        print_object(c);
    } else {
        print_repeats(c);
        print_sum(c);
        if (has_hung(c) && !c->q.only)
            cli_print("stopped at '%s', which did not end; no check after it was run\n",
                      c->report[c->n - 1].check);
    }
    int bad = c->count[CHECK_FAILED] + c->count[CHECK_CRASHED] + c->count[CHECK_TIMEOUT];
    return bad ? CLI_FAILED : CLI_DONE;
}

/* All checks have the same cells, in a folder: the first that needs some draws them. */
static int run_all(struct checking *c)
{
    struct own_dir dir;
    struct stops_held held;
    if (c->q.request.cells)
        return run_checks(c);
    int end = CLI_USAGE;
    stops_hold(&held);
    if (own_dir_open(&dir, "cells", c->err) == PEAT_OK) {
        c->q.request.cells = dir.path;
        c->own_cells = true;
        end = run_checks(c);
        own_dir_close(&dir);
    }
    stops_let(&held);
    return end;
}

/* Runs checks in this process, which ends with its parent, and writes the record that the parent
 * asked for. */
static int run_recorded(struct checking *c)
{
    struct check_report report;
    if (c->q.parent && !parent_follow((pid_t)c->q.parent, SIGKILL))
        return CLI_STOPPED;
    struct trail trail = {.page = c->q.trail ? trail_page_open((int)c->q.trail) : NULL};
    c->q.request.trail = &trail;
    char *scratch = path_beside(c->q.record, ".");
    check_here(&c->q.request, c->q.only, c->q.record, scratch, c->arena, &report, c->err);
    free(scratch);
    return CLI_DONE;
}

static void print_line(const char *line)
{
    cli_print("%s\n", line);
    fflush(stdout);
}

static int run_here(struct checking *c)
{
    struct check_report report;
    struct own_dir scratch;
    c->q.request.trace = c->q.trace ? print_line : NULL;
    if (own_dir_open(&scratch, "check", c->err) != PEAT_OK)
        return CLI_USAGE;
    bool ran = check_here(&c->q.request, c->q.only, NULL, scratch.path, c->arena, &report, c->err);
    own_dir_close(&scratch);
    if (!ran)
        return CLI_USAGE;
    if (report.absent) {
        cli_say("%s", report.text);
        return CLI_USAGE;
    }
    if (!c->q.trace || report.end != CHECK_PASSED)
        cli_print("%s %s%s%s\n", check_end_name(report.end), report.check, *report.text ? ": " : "",
                  report.text);
    return check_is_bad(report.end) ? CLI_FAILED : CLI_DONE;
}

/* ---- the command line ---- */

static int read_check(struct cli *cli, const char *argument)
{
    const char *name[64];
    int n = 0;
    ((struct request *)cli->options)->only = argument;
    if (check_find(argument))
        return CLI_GO_ON;
    for (const struct check *c = checks; c->name; c++)
        name[n++] = c->name;
    char near[SUGGESTION];
    return cli_mistake(plugins_check.name, "there is no check '%s'%s; --list prints all", argument,
                       suggestion(argument, name, n, near));
}

/* The checks of a plugin that is Python alone, peat.torch.promises. */
static int check_python(const struct cli *cli)
{
    const struct request *q = cli->options;
    const struct cli_clash here[] = {
        {"reference thorough seed seconds jobs trace case here record with-parent trail timeout",
         true, "a plugin that is Python alone is checked with --only, --json and KEY=VALUE"},
    };
    if (CLI_CLASHES(cli, here))
        return CLI_USAGE;
    struct json request = python_request(cli, NULL);
    json_put_text(request, "command", plugins_check.name);
    json_put_text(request, "only", q->only);
    return python_verb(cli, "torch.promises", request);
}

static int check_plugin(const struct cli *cli)
{
    const struct request *q = cli->options;
    struct checking c = {.q = *q, .arena = cli->arena, .err = cli->err};
    c.q.request.timeout = (double)q->timeout;
    c.q.request.plugin = cli->operand[0];
    c.q.request.setting = cli->operand + 1;
    c.q.request.n_setting = cli->n_operand - 1;
    if (path_ends_in(cli->operand[0], ".py"))
        return check_python(cli);
    for (int i = 1; i < cli->n_operand; i++)
        if (!strchr(cli->operand[i], '=') || cli->operand[i][0] == '=')
            return cli_mistake(plugins_check.name, "'%s' is not KEY=VALUE", cli->operand[i]);
    const struct cli_clash one[] = {
        {"with-parent", !q->record, "--with-parent goes with --record"},
        {"here record", !q->only, "--here and --record go with --only"},
        {"thorough", q->request.cells != NULL, "--thorough draws its own cells: leave --case out"},
        {"seed seconds jobs", !q->thorough, "--seed, --seconds and --jobs go with --thorough"},
        {"trace", q->only || q->thorough || q->json || q->record,
         "--trace checks nothing: leave --only, --thorough, --json and --record out"},
        {"only", same_text(q->only, "reference") && !q->request.reference,
         "check 'reference' needs a --reference FILE"},
        {"only", same_text(q->only, check_cases.name) && !q->request.sweep,
         "check 'cases' is that of --thorough"},
    };
    if (CLI_CLASHES(cli, one))
        return CLI_USAGE;
    if (q->trace)
        c.q.only = check_trace.name;
    if (q->thorough && !cli_given(cli, "seed"))
        c.q.seed = (int64_t)(clock_seconds() * 1e3) % 1000000;
    if (q->request.cells && access(q->request.cells, R_OK) != 0)
        return cli_mistake(plugins_check.name, "cannot read the cell '%s': %s", q->request.cells,
                           strerror(errno));
    if (q->request.reference && access(q->request.reference, R_OK) != 0)
        return cli_mistake(plugins_check.name, "cannot read the reference '%s': %s",
                           q->request.reference, strerror(errno));
    return q->record ? run_recorded(&c) : q->here || q->trace ? run_here(&c) : run_all(&c);
}

static const struct cli_option options[] = {
    CLI_OTHER('c', "only", "CHECK", read_check, "this check alone"),
    CLI_FLAG(0, "json", json, "an object instead of lines"),
    CLI_OTHER(0, "list", NULL, list_checks,
              "print the names of all checks and what they are about"),
    CLI_WHOLE(0, "timeout", "SECONDS", 1, 86400, timeout, "for each check; 60 unless given"),
    CLI_TEXT(0, "reference", "FILE", request.reference,
             "Python functions that the hooks have to agree with: docs/formulas.md"),
    CLI_FLAG(0, "thorough", thorough,
             "then more cells, of random settings; one that fails is made smaller"),
    CLI_WHOLE(0, "seed", "N", 0, INT64_MAX, seed,
              "with --thorough: the seed (default: random, and printed)"),
    CLI_WHOLE(0, "seconds", "N", 1, 86400, seconds,
              "with --thorough: seconds to search (default: 120)"),
    CLI_WHOLE('j', "jobs", "N", 1, THOROUGH_JOBS, jobs,
              "with --thorough: number of processes; the case found is the same"),
    CLI_FLAG(0, "trace", trace,
             "check nothing; print each call of a hook, with the shapes of its arrays"),
    CLI_TEXT(0, "case", "FILE", request.cells,
             "an experiment file of one cell, as a failure prints it, or a folder of such files"),
    CLI_FLAG(0, "here", here, "with --only: run it in this process, for a debugger"),
    CLI_TEXT(0, "record", "FILE", record,
             "with --only: run it in this process, write its end to FILE"),
    CLI_TEXT(0, "sweep", "TEXT", request.sweep, "with --record: the cells that --thorough tries"),
    CLI_WHOLE(0, "with-parent", "PID", 1, INT_MAX, parent,
              "with --record: end when its parent PID ends"),
    CLI_WHOLE(0, "trail", "FD", CHILD_TRAIL, CHILD_TRAIL, trail,
              "with --record: memory in which the parent follows the check"),
};

const struct cli_command plugins_check = {
    .name = "peat plugins check",
    .summary = "check that a plugin keeps its promises",
    CLI_OPERANDS("PLUGIN [KEY=VALUE...]", 1, CLI_MANY, "which plugin is to be checked?"),
    CLI_ROWS(options),
    CLI_DEFAULTS(.timeout = 60, .seconds = 120, .jobs = 1),
    .run = check_plugin,
};
