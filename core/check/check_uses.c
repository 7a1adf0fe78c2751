/* SPDX-License-Identifier: MIT */
/* check_uses.c: two uses of a scheme in one model, with other parameters on other heads, share
 * nothing: neither the order of their set-up nor an earlier call of the plugin changes the logits.
 * Two processes run the two orders, and one of them runs another model before. */
#include "process/apart.h"
#include "property.h"

enum { USES_ROWS = 2, USES_LOGITS = USES_ROWS * RIG_T * RIG_V };

struct uses {
    struct checked subject;
    struct variant given;
    struct rig_plan plan;
};

/* Adds the logits to `out`; nothing when the plugin refuses such a model. */
static peat_status run_uses(void *ctx, struct trail *trail, struct strbuf *out, struct error *err)
{
    struct uses *u = ctx;
    struct check_outcome o = {CHECK_PASSED};
    const double *logits = NULL;
    u->subject.trail = trail;
    struct rig *r = rig_open(&u->subject, &u->given, &u->plan, &o);
    if (r->status == PEAT_OK) {
        struct rig_input x = rig_input(r, USES_ROWS, RIG_T);
        logits = rig_logits(r, &x.in);
    }
    if (logits)
        strbuf_add_bytes(out, (const char *)logits, USES_LOGITS * sizeof(*logits));
    rig_close(r);
    return o.verdict == CHECK_PASSED ? PEAT_OK : error_set(err, PEAT_FAILED, "%s", o.why);
}

/* Drawn settings that the plugin accepts, as a config; without any, the given config. */
static const void *other_config(const struct checked *s, const void *given)
{
    enum { TRIES = 8 };
    const void *config = NULL;
    for (int i = 0; i < TRIES; i++) {
        const struct value *settings = drawn_settings(s, i);
        if (settings->n > 0 && checked_config(s, settings, &config, NULL))
            return config;
    }
    return given;
}

static void compare(const double *a, const double *b, struct check_outcome *o)
{
    for (int i = 0; i < USES_LOGITS; i++)
        if (!(fabs(a[i] - b[i]) <= 1e-9 * fmax(1, fabs(a[i]))))
            check_fail(o,
                       "two uses of it in one model share state: the logits at place %d differ by "
                       "%.2g when another use came first",
                       i / RIG_V % RIG_T, fabs(a[i] - b[i]));
}

void uses_apart(const struct checked *s, struct check_outcome *o)
{
    struct uses u = {.subject = *s, .plan = {.dtype = PEAT_F64}};
    struct strbuf first = STRBUF_NEW, turned = STRBUF_NEW;
    struct error err = {0}, alone = {0};
    if (!checked_variant(s, &u.given, o))
        return;
    u.plan.second = other_config(s, u.given.config);
    u.plan.turned = true;
    peat_status status = apart_run(run_uses, &u, 0, APART_SILENT, &turned, NULL, &err);
    struct uses before = u;
    before.plan.second = NULL;
    u.plan.turned = false;
    bool fails_alone = run_uses(&before, s->trail, &first, &alone) != PEAT_OK;
    strbuf_clear(&first);
    if (status == PEAT_OK && !fails_alone)
        status = run_uses(&u, s->trail, &first, &err);
    if (fails_alone)
        check_skip(o, "it fails when it is used once");
    else if (status != PEAT_OK)
        check_fail(o, "%s", err.text);
    else if (first.n == 0 || turned.n == 0)
        check_skip(o, "it refuses a second use in one model");
    else
        compare((const double *)(const void *)first.text, (const double *)(const void *)turned.text,
                o);
    strbuf_release(&first);
    strbuf_release(&turned);
}
