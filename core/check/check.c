/* SPDX-License-Identifier: MIT */
/* check.c: the table of checks, and how one is run. */
#include "check/check.h"

#include "property.h"

enum { SCHEME = 1 << PEAT_SCHEME, COMBINE = 1 << PEAT_COMBINE, TASK = 1 << PEAT_TASK };
enum { MODEL = SCHEME | COMBINE, ALL = MODEL | TASK };

const struct check checks[] = {
    {"abi",
     "it loads, keeps the contract, exports peat_entry alone, and imports no clock, rand, getenv "
     "or file function",
     ALL},
    {"parameters", "defaults and bounds are legal, and what is beyond them is refused", ALL},
    {"start", "tensors start within their bounds", MODEL},
    {"finite", "logits are finite at every length, and far from position 0", MODEL},
    {"purity",
     "equal calls and models give equal bits, and change neither its parameters nor the memory of "
     "its set-up",
     MODEL},
    {"gradients",
     "every trained tensor agrees with central differences, and has a gradient for each head and "
     "layer",
     MODEL},
    {"where", "it acts alike in every layer, and where q and k are wider", SCHEME},
    {"precision", "values and gradients in F32, in which models are trained, are those of F64",
     MODEL},
    {"lengths",
     "without PEAT_NEED_LENGTH neither T_total nor the longest length of the model changes "
     "anything",
     MODEL},
    {"widths", "streams of any width are merged or refused", COMBINE},
    {"shift-invariant", "trait: moving all positions changes nothing", SCHEME},
    {"norm-preserving", "trait: queries and keys keep their length", SCHEME},
    {"permutation-equivariant", "trait: tokens in another order give logits in that order", SCHEME},
    {"finite-length", "trait: sequences that are too long are refused", SCHEME},
    {"no-trainable", "trait: it has no trained tensors", SCHEME},
    {"content-dependent", "trait: it has a hook that sees the tokens", SCHEME},
    {"needs-causal", "trait: an encoder is refused", SCHEME},
    {"storable", "trait: the newest rows computed alone are those of a whole pass", MODEL},
    {"across", "trait: in cross-attention it uses the positions of both sequences", SCHEME},
    {"causality", "in a decoder no place depends on tokens after it", MODEL},
    {"prefix", "the logits of a prefix are those of the whole sequence", MODEL},
    {"batch", "a row alone gives what it gives among others", MODEL},
    {"padding", "padding before or after a row changes nothing in it", MODEL},
    {"packing", "documents packed into a row do not see each other", MODEL},
    {"masked", "its own softmax gives a weight of exactly 0 to keys that the mask hides", SCHEME},
    {"paths", "fused and composed attention agree", SCHEME},
    {"threads", "1 to 4 threads give equal bits", MODEL},
    {"buffers",
     "it writes only its results, and reads only memory that it was given or has written", MODEL},
    {"statics", "its static and thread-local variables never change", ALL},
    {"streams", "no stream of the input is without effect", MODEL},
    {"costs", "the costs of its operations are 0 or more", MODEL},
    {"batches", "ids are in range and depend on seed, step and row alone", TASK},
    {"draws", "rows, steps and evaluation make draws of their own", TASK},
    {"answers", "targets are not copies of the inputs, and differ from row to row", TASK},
    {"metrics", "metrics are finite, and better ones are better", TASK},
    {"leaks", "a step keeps no memory", ALL},
    {"environment", "rounding, locale, directory, signals, files and threads stay as they were",
     ALL},
    {"reference", "with --reference FILE: the hooks agree with functions of a Python file", MODEL},
    {NULL},
};

const struct check check_cases = {"cases", "every property holds in more cells that are drawn",
                                  ALL};
const struct check check_cells = {"cells", "it is accepted in some cell", ALL};
const struct check check_trace = {"trace", "one pass of each model, call by call", MODEL};

const struct check *check_find(const char *name)
{
    for (const struct check *c = checks; c->name; c++)
        if (!strcmp(c->name, name))
            return c;
    return !strcmp(name, check_cases.name)   ? &check_cases
           : !strcmp(name, check_trace.name) ? &check_trace
           : !strcmp(name, check_cells.name) ? &check_cells
                                             : NULL;
}

bool check_is_for(const struct check *c, peat_kind kind)
{
    return c->kinds >> kind & 1;
}

/* A failure counts more than a reason to skip, which counts more than a note. */
static int weight_of(enum check_end verdict, const char *why)
{
    return verdict == CHECK_FAILED ? 3 : verdict == CHECK_SKIPPED ? 2 : *why != '\0';
}

void check_say(struct check_outcome *o, enum check_end verdict, const char *fmt, ...)
{
    va_list args;
    if (weight_of(verdict, fmt) <= weight_of(o->verdict, o->why))
        return;
    o->verdict = verdict;
    va_start(args, fmt);
    vsnprintf(o->why, sizeof(o->why), fmt, args);
    va_end(args);
}

/* ---- running ---- */

struct tried {
    struct check_outcome *o; /* the first failure, or else the first skip */
    int held;
};

static void add(struct tried *tried, const struct check_outcome *one)
{
    tried->held += one->verdict == CHECK_PASSED;
    if (one->verdict != CHECK_PASSED || *one->why)
        check_say(tried->o, one->verdict, "%s", one->why);
}

/* Tries the property on the cell, in each phase that fits. */
static void run_cell(const struct checked *s, const struct property *p,
                     const struct check_cell *cell, struct tried *tried)
{
    for (int phase = PEAT_TRAIN; phase <= PEAT_EVAL && tried->o->verdict != CHECK_FAILED; phase++) {
        struct check_outcome one = {CHECK_PASSED};
        struct trial t = {
            .subject = s, .property = p, .cell = cell, .phase = (peat_phase)phase, .o = &one};
        struct arena_mark mark = arena_mark(s->arena);
        if (!trial_fits(&t))
            continue;
        trial_run(&t);
        if (one.verdict == CHECK_FAILED) {
            s->end->text = cell_text(s, cell);
            size_t n = strlen(one.why);
            snprintf(one.why + n, sizeof(one.why) - n, " (%s, %s)",
                     json_get_text(value_get(cell->config.resolved, "model"), "arch"),
                     path_name(cell->file));
        } else {
            arena_rewind(s->arena, mark);
        }
        add(tried, &one);
    }
}

static void run_cells(const struct checked *s, const struct property *p, struct tried *tried)
{
    const struct check_cells *cells = cells_of(s, tried->o);
    for (int i = 0; i < cells->n && tried->o->verdict != CHECK_FAILED; i++)
        run_cell(s, p, &cells->item[i], tried);
}

/* Tries all properties on the cell in this file; end->check is the check that failed. */
static void run_file(const struct checked *s, const char *file, const char *index,
                     struct tried *tried)
{
    struct check_cell cell;
    struct error err = {0};
    if (cell_read(s, file, 0, NULL, &cell, &err) != PEAT_OK)
        check_fail(tried->o, "%s", err.text);
    for (const struct property *p = properties; p->check && tried->o->verdict != CHECK_FAILED;
         p++) {
        if (!p->holds || p->on & ONCE || property_unfit(p, s))
            continue;
        s->end->check = p->check;
        trail_cell(s->trail, arena_printf(s->arena, "%s %s", index, p->check));
        run_cell(s, p, &cell, tried);
    }
}

static void run_drawn_cells(const struct checked *s, struct check_outcome *o)
{
    struct error err = {0};
    struct tried tried = {o, 0};
    struct cells_end *end = s->end;
    uint64_t seed;
    int64_t first, step, last;
    double seconds, begun = clock_seconds();
    const char *file = arena_printf(s->arena, "%s/" CHECK_CELL, s->scratch);
    /* The check in which a cell fails that ends the process while it is drawn. */
    const char *passes = s->plugin->desc->kind == PEAT_TASK ? "batches" : "finite";
    BUG_UNLESS(sscanf(s->sweep, "%" SCNu64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %lf", &seed,
                      &first, &step, &last, &seconds) == 5);
    for (end->index = first; end->index < last; end->index += step) {
        struct arena_mark mark = arena_mark(s->arena);
        const char *index = arena_printf(s->arena, "%" PRId64, end->index);
        trail_cell(s->trail, arena_printf(s->arena, "%s %s", index, passes));
        bool drawn = cell_drawn(s, seed, end->index, file, &err);
        if (drawn)
            run_file(s, file, index, &tried);
        end->tried += drawn;
        if (o->verdict == CHECK_FAILED)
            return;
        *o = (struct check_outcome){CHECK_PASSED};
        arena_rewind(s->arena, mark);
        if (clock_seconds() > begun + seconds) {
            end->index += step;
            return;
        }
    }
}

/* "arch decoder 9, arch encoder 5, input patches 2, ...": how many cells have a label. */
static const char *labels_met(const struct checked *s)
{
    const char *text = "";
    for (const peat_param *row = model_rows; row->key; row++)
        for (int i = 0; row->type == PEAT_ENUM && row->labels[i]; i++) {
            int n = 0;
            for (int k = 0; k < s->open->n; k++) {
                const struct value *resolved = s->open->item[k].config.resolved;
                n += same_text(json_get_text(value_get(resolved, "model"), row->key),
                               row->labels[i]);
            }
            if (n > 0 && n < s->open->n)
                text = arena_item(s->arena, text, "%s %s %d", row->key, row->labels[i], n);
        }
    return text;
}

const char *check_unfit(const struct check *c, const struct checked *s)
{
    const char *first = NULL;
    for (const struct property *p = properties; p->check; p++) {
        const char *unfit = strcmp(p->check, c->name) == 0 ? property_unfit(p, s) : "";
        if (!unfit)
            return NULL;
        first = first || !*unfit ? first : unfit;
    }
    return first;
}

void check_run(const struct check *c, const struct checked *s, struct check_outcome *o)
{
    struct tried tried = {o, 0};
    const char *unfit = check_unfit(c, s);
    if (unfit)
        check_say(o, CHECK_SKIPPED, "%s", unfit);
    if (c == &check_cells && cells_of(s, o)->n)
        s->end->text = labels_met(s);
    if (c == &check_cases || c == &check_trace)
        (c == &check_trace ? trace_whole : run_drawn_cells)(s, o);
    for (const struct property *p = properties; p->check && o->verdict != CHECK_FAILED; p++) {
        struct check_outcome one = {CHECK_PASSED};
        if (strcmp(p->check, c->name) != 0 || property_unfit(p, s))
            continue;
        if (p->holds)
            run_cells(s, p, &tried);
        else
            p->whole(s, &one);
        if (p->whole)
            add(&tried, &one);
    }
    if (tried.held && o->verdict == CHECK_SKIPPED)
        *o = (struct check_outcome){CHECK_PASSED};
}
