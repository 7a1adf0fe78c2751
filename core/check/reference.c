/* SPDX-License-Identifier: MIT */
/*
 * reference.c: compares a plugin's hooks with functions of a Python file, written from the plugin's
 * paper.
 *
 * Passes of small models are recorded call by call (recorder.h), one line of JSON for each pass,
 * and reference.py gives the same inputs to the functions of the file and compares.
 */

#include "process/python.h"
#include "property.h"
#include "recorder.h"

extern const char reference_program[]; /* reference.py */

enum { DRAWN_SETTINGS = 12 };

static const char *const cases[] = {
    "", "training padded rows=2 length=9 heads=3 width=6 seed=1",
    "moved packed rows=2 heads=1 width=10 place=3 shift=29 step=1000 seed=2",
    "rows=1 length=5 heads=2 width=4 stride=409 seed=3",
    "fractional moved rows=1 length=9 shift=13 seed=4"};
enum { FAR_CASE = 3, CASES = sizeof(cases) / sizeof(cases[0]) };

struct recording {
    const struct checked *subject;
    struct strbuf lines; /* one for each pass */
    struct check_outcome *o;
};

static void record_pass(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    struct graph g;
    t->rig->moves.by = trial_shift(t);
    if (rig_loss(t->rig, &g, &x.in))
        recorder_end(t->recorder, t->rig, &g);
}

static const struct property recorded = {"reference", .holds = record_pass};

static void write_pass(struct recording *r, const struct trial *t, const char *settings)
{
    struct json head = json_map(t->recorder->arena);
    json_put_text(head, "case", case_text(t->c, t->recorder->arena));
    json_put_text(head, "settings", settings);
    strbuf_addf(&r->lines, "[%s,%s]\n", json_to_text(head.v, JSON_DENSE, t->recorder->arena),
                t->recorder->text);
}

/* A pass that the plugin refuses, or gives up, is not recorded. */
static void record(struct recording *r, const struct checked *s, const struct variant *v,
                   peat_arch arch, const char *text)
{
    struct arena arena;
    struct check_outcome o = {CHECK_PASSED};
    struct recorder recorder;
    struct check_case c = case_usual(&recorded);
    BUG_UNLESS(case_read(&c, text, strlen(text), NULL) == PEAT_OK);
    c.arch = arch;
    arena_init(&arena, "reference", 1 << 20);
    recorder_init(&recorder, s, &arena);
    if (s->trace)
        s->trace(arch_name(arch));
    struct trial t = {.subject = s, .variant = v, .c = &c, .recorder = &recorder, .o = &o};
    trial_run(&t);
    if (recorder.text)
        write_pass(r, &t, v->text);
    else if (o.verdict == CHECK_FAILED && !trial_refused(&t))
        check_fail(r->o, "%s", o.why);
    arena_release(&arena);
}

/* The text of case i. One case has two streams of positions, if the combine merges as many. */
static const char *case_of(const struct checked *s, int i)
{
    const peat_combine *combine = checked_combine(s);
    bool more = combine && (combine->max_streams == 0 || combine->max_streams > 2);
    return i == 2 && more ? arena_printf(s->arena, "%s streams=3", cases[i]) : cases[i];
}

static void record_case(struct recording *r, const struct checked *s, const struct variant *v,
                        const char *text)
{
    const peat_scheme *scheme = checked_scheme(s);
    bool across = scheme && scheme->traits & PEAT_ACROSS;
    for (int arch = PEAT_DECODER; arch <= PEAT_SEQ2SEQ; arch++)
        if (arch != PEAT_SEQ2SEQ || across)
            record(r, s, v, (peat_arch)arch, text);
}

/* "base=500 layout=halves" */
static const char *settings_text(const struct value *settings, struct arena *a)
{
    const char *text = "";
    for (int i = 0; i < settings->n; i++)
        text = arena_printf(a, "%s%s%s=%s", text, i ? " " : "", settings->key[i],
                            settings->item[i]->text);
    return text;
}

static void record_drawn(struct recording *r, int index)
{
    struct checked s = *r->subject;
    struct check_outcome refused = {CHECK_PASSED};
    struct variant v;
    struct value *settings = drawn_settings(&s, index);
    s.given = value_merge(s.arena, (struct value *)(uintptr_t)s.given, settings);
    if (!checked_variant(&s, &v, &refused))
        return;
    v.text = settings_text(settings, s.arena);
    record_case(r, &s, &v, case_of(&s, index % CASES));
}

/* Records every label and switch in each case, but the far case only with the parameters as given;
 * then drawn settings. */
static void record_all(struct recording *r)
{
    const struct checked *s = r->subject;
    const struct variants *v = variants_make(s, r->o);
    for (int i = 0; v && i < v->n; i++)
        for (int k = 0; k < CASES; k++)
            if (i == 0 || k != FAR_CASE)
                record_case(r, s, &v->item[i], case_of(s, k));
    for (int i = 0; v && s->plugin->desc->param && i < DRAWN_SETTINGS; i++)
        record_drawn(r, i);
    if (v && r->lines.n == 0)
        check_skip(r->o, "its hooks were not called: a model without positions, or the plugin "
                         "refuses all small models");
}

/* The program's last line is its answer: what it compared, or the first difference. */
static void compare(struct recording *r, const char *records)
{
    char *word[] = {"-c", (char *)(uintptr_t)reference_program,
                    (char *)(uintptr_t)r->subject->reference, (char *)(uintptr_t)records};
    struct child python = {.argv =
                               python_words(word, sizeof(word) / sizeof(*word), r->subject->arena)};
    struct error err = {0};
    struct strbuf out = STRBUF_NEW;
    char name[SIGNAL_NAME];
    peat_status status = child_run(&python, &out, NULL, &err);
    char *said = strbuf_keep(&out, r->subject->arena);
    for (size_t n = strlen(said); n > 0 && said[n - 1] == '\n'; n--)
        said[n - 1] = '\0';
    const char *newline = strrchr(said, '\n'), *line = newline ? newline + 1 : said;
    if (status != PEAT_OK) {
        python_start_error(&python, "a reference", &err);
        check_fail(r->o, "%s", err.text);
    } else if (python.signal) {
        check_fail(r->o, "%s was ended by %s", *python.argv, signal_name(python.signal, name));
    } else if (python.code != 0) {
        check_fail(r->o, "%s", *line ? line : "the interpreter failed and said nothing");
    } else if (!strstr(line, " calls of hooks compared")) {
        check_fail(r->o, "%s ended before it had compared all calls",
                   path_name(r->subject->reference));
    }
}

void trace_whole(const struct checked *s, struct check_outcome *o)
{
    struct recording r = {.subject = s, .lines = STRBUF_NEW, .o = o};
    struct variant v;
    if (s->plugin->desc->kind == PEAT_TASK)
        check_skip(o, "a task has no hooks");
    else if (checked_variant(s, &v, o))
        record_case(&r, s, &v, "");
    strbuf_release(&r.lines);
}

void reference_whole(const struct checked *s, struct check_outcome *o)
{
    const char *records = arena_printf(s->arena, "%s/reference.json", s->scratch);
    struct recording r = {.subject = s, .lines = STRBUF_NEW, .o = o};
    struct error err = {0};
    record_all(&r);
    if (file_write(records, r.lines.text, r.lines.n, &err) != PEAT_OK)
        check_fail(o, "%s", err.text);
    if (o->verdict == CHECK_PASSED)
        compare(&r, records);
    strbuf_release(&r.lines);
}
