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
    {"finite", "logits are finite at every length, for every label and switch", MODEL},
    {"purity", "equal calls give equal bits, whatever happened between them", MODEL},
    {"gradients", "every trained tensor agrees with central differences", MODEL},
    {"where",
     "it acts in some heads and dims, beside a scheme that changes the width of q and k, and alike "
     "in every layer",
     SCHEME},
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
    {"uses", "two uses in one model share nothing", SCHEME},
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

const struct check check_cases = {"cases", "every property holds in configurations that are drawn",
                                  ALL};
const struct check check_trace = {"trace", "one pass of each model, call by call", MODEL};

const struct check *check_find(const char *name)
{
    for (const struct check *c = checks; c->name; c++)
        if (!strcmp(c->name, name))
            return c;
    return !strcmp(name, check_cases.name)   ? &check_cases
           : !strcmp(name, check_trace.name) ? &check_trace
                                             : NULL;
}

bool check_is_for(const struct check *c, peat_kind kind)
{
    return c->kinds >> kind & 1;
}

static void set(struct check_outcome *o, enum check_end verdict, const char *fmt, va_list args)
{
    o->verdict = verdict;
    vsnprintf(o->why, sizeof(o->why), fmt, args);
}

void check_fail(struct check_outcome *o, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (o->verdict != CHECK_FAILED)
        set(o, CHECK_FAILED, fmt, args);
    va_end(args);
}

void check_skip(struct check_outcome *o, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (o->verdict == CHECK_PASSED)
        set(o, CHECK_SKIPPED, fmt, args);
    va_end(args);
}

void check_add(struct check_outcome *o, const char *fmt, ...)
{
    size_t n = strlen(o->why);
    va_list args;
    va_start(args, fmt);
    vsnprintf(o->why + n, sizeof(o->why) - n, fmt, args);
    va_end(args);
}

/* ---- running ---- */

struct tried {
    struct check_outcome *o; /* the first failure, or else the first skip */
    int held;
};

static bool has_failed(const struct tried *tried)
{
    return tried->o->verdict == CHECK_FAILED;
}

/* True where the subject can have n streams: 0, or a combine that merges as many. */
static bool has_streams(const struct checked *s, int64_t n)
{
    const peat_combine *combine = checked_combine(s);
    return n == 0 || (combine && (combine->max_streams == 0 || n <= combine->max_streams));
}

static void add(struct tried *tried, const struct check_outcome *one)
{
    tried->held += one->verdict == CHECK_PASSED;
    if (one->verdict == CHECK_FAILED)
        check_fail(tried->o, "%s", one->why);
    else if (one->verdict == CHECK_SKIPPED)
        check_skip(tried->o, "%s", one->why);
}

static void run_model(const struct checked *s, const struct variant *v, const struct check_case *c,
                      struct tried *tried)
{
    struct check_outcome one = {CHECK_PASSED};
    struct trial t = {.subject = s, .variant = v, .c = c, .o = &one};
    trial_run(&t);
    if (c->flags & (CASE_WIDER | CASE_FRACTIONAL))
        trial_skip_refused(&t);
    if (one.verdict == CHECK_FAILED)
        check_add(&one, " (%s%s%s)", arch_name(c->arch), *v->text ? ", " : "", v->text);
    add(tried, &one);
}

static void run_cases(const struct checked *s, const struct property *p, peat_arch arch,
                      const struct variant *v, struct tried *tried)
{
    const char *text = p->fixed ? p->fixed : "";
    do {
        size_t n = strcspn(text, ";");
        struct check_case c = case_usual(p);
        BUG_UNLESS(case_read(&c, text, n, NULL) == PEAT_OK);
        c.arch = arch;
        bool far = c.length > RIG_T_MAX || c.stride > 0; /* such cases cost more */
        if (has_streams(s, c.streams) && (!far || !*v->text))
            run_model(s, v, &c, tried);
        text += n + (text[n] == ';');
    } while (*text && !has_failed(tried));
}

static void run_models(const struct checked *s, const struct property *p, struct tried *tried)
{
    const struct variants *v = variants_make(s, tried->o);
    for (int arch = PEAT_DECODER; v && arch <= PEAT_SEQ2SEQ; arch++)
        for (int i = 0; p->archs >> arch & 1 && i < v->n && !has_failed(tried); i++)
            run_cases(s, p, (peat_arch)arch, &v->item[i], tried);
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
        check_skip(o, "%s", unfit);
    if (c == &check_cases || c == &check_trace)
        (c == &check_trace ? trace_whole : run_drawn_cases)(s, o);
    for (const struct property *p = properties; p->check && !has_failed(&tried); p++) {
        struct check_outcome one = {CHECK_PASSED};
        if (strcmp(p->check, c->name) != 0 || property_unfit(p, s))
            continue;
        if (p->holds)
            run_models(s, p, &tried);
        else
            p->whole(s, &one);
        if (p->whole)
            add(&tried, &one);
    }
    if (tried.held && !has_failed(&tried))
        *o = (struct check_outcome){CHECK_PASSED};
}
