/* SPDX-License-Identifier: MIT */
/*
 * reference.c: compares a plugin with functions of a Python file, written from the plugin's paper.
 *
 * Passes of cells are recorded call by call (recorder.h), one line of JSON for each pass, and
 * reference.py gives the same inputs to the functions of the file and compares. Then peat.torch
 * computes whole models of the cells with them.
 */

#include "cell/batchexport.h"
#include "process/python.h"
#include "property.h"
#include "recorder.h"
#include "train/generation.h"

extern const char reference_program[]; /* reference.py */

struct recording {
    const struct checked *subject;
    struct strbuf lines; /* one for each pass */
    struct check_outcome *o;
};

/* ---- hooks, call by call ---- */

static void record_pass(const struct trial *t)
{
    struct graph g;
    if (rig_loss(t->rig, &g, &t->x->in))
        recorder_end(t->recorder, t->rig, &g);
}

/* Cells that are larger are left to the comparison of whole models. */
static const struct property recorded = {"reference", record_pass, ON_ALL | ON_SHORT};

static bool is_small(const struct cell_config *c)
{
    return c->train.seq_len * c->model.d_model <= 800;
}

/* False: the plugin refuses the pass, gives it up, or fails at positions between whole numbers, so
 * it is not recorded. stride: see recorder.h. */
static bool record(struct recording *r, const struct check_cell *cell, peat_phase phase,
                   double stride)
{
    const struct checked *s = r->subject;
    struct arena arena;
    struct check_outcome o = {CHECK_PASSED};
    struct recorder recorder;
    struct trial t = {.subject = s,
                      .property = &recorded,
                      .cell = cell,
                      .phase = phase,
                      .recorder = &recorder,
                      .o = &o};
    arena_init(&arena, "reference", 1 << 20);
    recorder_init(&recorder, s, stride, &arena);
    if (trial_fits(&t) && (s->trace || is_small(&cell->config)))
        trial_run(&t);
    bool made = recorder.text;
    if (made)
        strbuf_addf(&r->lines, "[\"%s, %s%s\",%s]\n", path_name(cell->file),
                    phase == PEAT_TRAIN ? "training" : "evaluation",
                    stride > 0 ? arena_printf(&arena, ", positions %g apart", stride) : "",
                    recorder.text);
    else if (o.verdict == CHECK_FAILED && stride == 0)
        check_fail(r->o, "%s", o.why);
    arena_release(&arena);
    return made;
}

/* ---- whole models ---- */

/* Writes the cell's model with its first batch, logits, loss and gradients for peat.torch, as `peat
 * export --batch` does. A model that the plugin refuses is left out. */
static void export_cell(struct recording *r, const struct check_cell *cell)
{
    const struct checked *s = r->subject;
    const struct rig_plan plan = {.dtype = PEAT_F64};
    struct check_outcome o = {CHECK_PASSED};
    struct error err = {0};
    struct rig *rig = rig_open(s, cell, &plan, &o);
    struct tensor_list list = {.arena = &rig->arena, .err = &err};
    if (rig->status == PEAT_OK) {
        struct json meta = json_map(s->arena);
        list.tensor = generation_tensors(&rig->s.model.weights, NULL, &rig->arena, &list.n);
        list.room = list.n;
        json_put_text(meta, "peat_config",
                      json_to_text(rig->config.resolved, JSON_CANONICAL, s->arena));
        json_put_text(meta, "peat_resolved",
                      json_to_text(assembly_resolved(&rig->s, s->arena), JSON_CANONICAL, s->arena));
        json_put_text(meta, "peat_step", "0");
        const char *file =
            arena_printf(s->arena, "%s/%s.safetensors", s->scratch, path_name(cell->file));
        if (first_batch_add(&list, &rig->s, &rig->config) &&
            safetensors_write(file, list.tensor, list.n, meta.v, &err) != PEAT_OK)
            check_fail(r->o, "%s", err.text);
    }
    rig_close(rig);
}

/* The program's last line is its answer: what it compared, or the first difference. */
static void compare(struct recording *r, const char *records)
{
    struct arena *a = r->subject->arena;
    const char *package = installed_dir(a, PEAT_PYTHONDIR);
    char *word[] = {"-c",
                    (char *)(uintptr_t)reference_program,
                    (char *)(uintptr_t)r->subject->reference,
                    (char *)(uintptr_t)records,
                    (char *)(uintptr_t)r->subject->plugin->path,
                    arena_strdup(a, package ? package : "")};
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

static void trace_text(const struct checked *s, const char *text)
{
    for (const char *line = text; line && *line;) {
        int n = (int)strcspn(line, "\n");
        s->trace(arena_printf(s->arena, "%.*s", n, line));
        line += n + (line[n] == '\n');
    }
}

void trace_whole(const struct checked *s, struct check_outcome *o)
{
    struct recording r = {.subject = s, .lines = STRBUF_NEW, .o = o};
    const struct check_cells *cells = s->plugin->desc->kind == PEAT_TASK ? s->open : cells_of(s, o);
    if (s->plugin->desc->kind == PEAT_TASK)
        check_say(o, CHECK_SKIPPED, "a task has no hooks");
    for (int i = 0; i < cells->n; i++) {
        trace_text(s, cell_text(s, &cells->item[i]));
        record(&r, &cells->item[i], PEAT_TRAIN, 0);
    }
    strbuf_release(&r.lines);
}

void reference_whole(const struct checked *s, struct check_outcome *o)
{
    enum { FARTHEST = 1640 };
    const char *records = arena_printf(s->arena, "%s/reference.json", s->scratch);
    struct recording r = {.subject = s, .lines = STRBUF_NEW, .o = o};
    struct error err = {0};
    const struct check_cells *cells = cells_of(s, o);
    for (int i = 0; i < cells->n && o->verdict == CHECK_PASSED; i++) {
        const struct check_cell *cell = &cells->item[i];
        const double apart = i % 2 ? 0.75 : (double)(FARTHEST / cell->config.train.seq_len);
        record(&r, cell, PEAT_TRAIN, 0);
        if (!checked_scheme(s) || !record(&r, cell, PEAT_EVAL, apart))
            record(&r, cell, PEAT_EVAL, 0);
        export_cell(&r, cell);
    }
    if (file_write(records, r.lines.text, r.lines.n, &err) != PEAT_OK)
        check_fail(o, "%s", err.text);
    if (o->verdict == CHECK_PASSED && r.lines.n == 0)
        check_say(o, CHECK_SKIPPED, "its hooks were not called");
    if (o->verdict == CHECK_PASSED)
        compare(&r, records);
    strbuf_release(&r.lines);
}
