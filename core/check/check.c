/* SPDX-License-Identifier: MIT */
/* check.c: the table of checks, and how one is run. */
#include "check/check.h"

#include <string.h>

#include "property.h"

static const struct check table[] = {
    {"abi", "it loads, keeps the contract and exports peat_entry alone", true, true, true},
    {"parameters", "defaults and bounds are legal, and what is beyond them is refused", true, true,
     true},
    {"finite", "logits are finite at every length, for every label and switch", true, true, false},
    {"gradients", "every trained tensor agrees with central differences", true, true, false},
    {"widths", "streams of any width are merged or refused", false, true, false},
    {"shift-invariant", "trait: moving all positions changes nothing", true, false, false},
    {"norm-preserving", "trait: queries and keys keep their length", true, false, false},
    {"permutation-equivariant", "trait: tokens in another order give logits in that order", true,
     false, false},
    {"finite-length", "trait: sequences that are too long are refused", true, false, false},
    {"no-trainable", "trait: it has no trained tensors", true, false, false},
    {"content-dependent", "trait: it has a hook that sees the tokens", true, false, false},
    {"needs-causal", "trait: an encoder is refused", true, false, false},
    {"storable", "trait: the newest rows alone give what they give among all", true, true, false},
    {"across", "trait: across two sequences it goes by the positions of each", true, false, false},
    {"causality", "in a decoder no place depends on tokens after it", true, true, false},
    {"prefix", "the logits of a prefix are those of the whole sequence", true, true, false},
    {"batch", "a row alone gives what it gives among others", true, true, false},
    {"padding", "padding before or after a row changes nothing in it", true, true, false},
    {"packing", "documents packed into a row do not see each other", true, true, false},
    {"masked", "what replaces the softmax gives exactly 0 to what the mask hides", true, false,
     false},
    {"paths", "fused and composed attention agree", true, false, false},
    {"purity", "equal calls give equal bits, whatever happened between them", true, true, false},
    {"threads", "1 to 4 threads give equal bits", true, true, false},
    {"buffers", "nothing is written but results", true, true, false},
    {"batches", "ids are in range and depend on seed, step and row alone", false, false, true},
    {"metrics", "metrics are finite, and better ones are better", false, false, true},
    {"leaks", "a step keeps no memory", true, true, true},
    {"environment", "rounding, locale, directory, signals, files and threads stay as they were",
     true, true, true},
    {NULL, NULL, false, false, false},
};

const struct check check_cases = {"cases", "every property holds in configurations that are drawn",
                                  true, true, true};

const struct check *check_table(void)
{
    return table;
}

const struct check *check_find(const char *name)
{
    for (const struct check *c = table; c->name; c++)
        if (!strcmp(c->name, name))
            return c;
    return strcmp(name, check_cases.name) == 0 ? &check_cases : NULL;
}

bool check_is_for(const struct check *c, peat_kind kind)
{
    return kind == PEAT_SCHEME ? c->scheme : kind == PEAT_COMBINE ? c->combine : c->task;
}

enum verdict check_failed(struct strbuf *why, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    strbuf_addv(why, fmt, args);
    va_end(args);
    return CHECK_FAILED;
}

enum verdict check_skipped(struct strbuf *why, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    strbuf_addv(why, fmt, args);
    va_end(args);
    return CHECK_SKIPPED;
}

/* ---- running ---- */

/* What the properties of one check came to. */
struct tried {
    int held;
    const char *skipped; /* why the first one was; NULL: none */
};

/* Passed: go on with the next one. */
static enum verdict note(struct tried *tried, enum verdict verdict, struct arena *a,
                         struct strbuf *why)
{
    if (verdict == CHECK_FAILED)
        return verdict;
    tried->held += verdict == CHECK_PASSED;
    if (verdict == CHECK_SKIPPED && !tried->skipped)
        tried->skipped = arena_strdup(a, why->text);
    strbuf_clear(why);
    return CHECK_PASSED;
}

/* A combine that merges fewer streams has no such case, nor has a scheme. */
static bool has_streams(const struct subject *s, int64_t n)
{
    const peat_combine *combine = subject_combine(s);
    return n == 0 || (combine && (combine->max_streams == 0 || n <= combine->max_streams));
}

static enum verdict run_model(struct trial *t, struct tried *tried)
{
    enum verdict verdict = trial_run(t);
    if (verdict == CHECK_FAILED)
        strbuf_addf(t->why, " (%s%s%s)", arch_name(t->c->arch), *t->variant->text ? ", " : "",
                    t->variant->text);
    return note(tried, verdict, t->subject->arena, t->why);
}

/* Every fixed case of a property, in one architecture with one variant of the parameters. */
static enum verdict run_cases(const struct subject *s, const struct property *p, peat_arch arch,
                              const struct variant *v, struct tried *tried, struct strbuf *why)
{
    enum verdict verdict = CHECK_PASSED;
    const char *text = p->fixed ? p->fixed : "";
    do {
        size_t n = strcspn(text, ";");
        struct check_case c = case_usual(p);
        struct trial t = {.subject = s, .variant = v, .c = &c, .why = why};
        BUG_UNLESS(case_read(&c, text, n, NULL) == PEAT_OK);
        c.arch = arch;
        if (has_streams(s, c.streams))
            verdict = run_model(&t, tried);
        text += n + (text[n] == ';');
    } while (*text && verdict == CHECK_PASSED);
    return verdict;
}

static enum verdict run_models(const struct subject *s, const struct property *p,
                               struct tried *tried, struct strbuf *why)
{
    struct error err = {0};
    enum verdict verdict = CHECK_PASSED;
    const struct variants *v = variants_make(s, &err);
    if (!v)
        return note(tried, check_skipped(why, "%s", err.text), s->arena, why);
    for (int arch = PEAT_DECODER; arch <= PEAT_SEQ2SEQ; arch++)
        for (int i = 0; p->archs >> arch & 1 && i < v->n && verdict == CHECK_PASSED; i++)
            verdict = run_cases(s, p, (peat_arch)arch, &v->item[i], tried, why);
    return verdict;
}

static enum verdict run_property(const struct subject *s, const struct property *p,
                                 struct tried *tried, struct strbuf *why)
{
    const char *unfit = property_unfit(p, s);
    if (unfit)
        return note(tried, check_skipped(why, "%s", unfit), s->arena, why);
    return p->holds ? run_models(s, p, tried, why) : note(tried, p->whole(s, why), s->arena, why);
}

enum verdict check_run(const struct check *c, const struct subject *s, struct strbuf *why)
{
    struct tried tried = {0};
    if (c == &check_cases)
        return run_drawn_cases(s, why);
    for (const struct property *p = property_table(); p->check; p++)
        if (strcmp(p->check, c->name) == 0 && run_property(s, p, &tried, why) == CHECK_FAILED)
            return CHECK_FAILED;
    return tried.held ? CHECK_PASSED : check_skipped(why, "%s", tried.skipped);
}
