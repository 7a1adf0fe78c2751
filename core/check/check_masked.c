/* SPDX-License-Identifier: MIT */
/* check_masked.c: what a scheme that replaces the softmax gives to keys that a query may not see.
 *
 * The host masks weights once more, so such a weight does not leak by itself. But whoever gives it
 * has not looked at the mask, and has mostly shared something out among keys that are not there.
 */
#include <inttypes.h>

#include "checkrig.h"

/* Weights as they are shown, and the first of them that is wrong. */
struct look {
    const struct model_input *in;
    bool causal, found;
    int64_t query, key;
    double weight;
};

static bool hides(const struct look *l, int64_t b, int64_t i, int64_t j)
{
    const struct model_input *in = l->in;
    const int32_t *document = in->document ? in->document + b * in->T : NULL;
    return (l->causal && j > i) || (in->pad && in->pad[b * in->T + j]) ||
           (document && document[i] != document[j]);
}

static void look_at(void *ctx, const struct attention_seen *seen)
{
    struct look *l = ctx;
    int64_t T = l->in->T, H = seen->end - seen->begin;
    for (int64_t n = 0; seen->replaced && !l->found && n < l->in->B * H * T * T; n++) {
        int64_t b = n / (H * T * T), i = n / T % T, j = n % T;
        double weight = tensor_get(&seen->replaced->value, n);
        if (hides(l, b, i, j) && weight != 0) {
            l->found = true;
            l->query = i;
            l->key = j;
            l->weight = weight;
        }
    }
}

static enum verdict look_in(struct situation *s, struct rig *r, const struct model_input *in,
                            const char *what)
{
    struct look look = {.in = in, .causal = s->plan.arch == PEAT_DECODER};
    const struct observer observer = {.ctx = &look, .attention = look_at};
    if (!rig_watched(r, in, &observer))
        return rig_broken(r, s->why);
    if (!look.found)
        return CHECK_PASSED;
    return check_failed(s->why,
                        "%s.softmax gives the query at place %" PRId64 " a weight of %.3g for the "
                        "key at place %" PRId64 ", which the mask hides%s",
                        s->subject->plugin->desc->id, look.query, look.weight, look.key, what);
}

/* The future, padding before and behind, and another document. */
static enum verdict masked_of(struct situation *s, struct rig *r)
{
    struct rig_input x = rig_input(r, RIG_B, RIG_T);
    struct model_input padded = x.in, packed = x.in, training = x.in;
    for (int64_t i = 0; i < RIG_B * RIG_T; i++) {
        x.pad[i] = i % RIG_T < i / RIG_T || i % RIG_T >= RIG_T - 1;
        x.document[i] = i % RIG_T >= 2;
    }
    padded.pad = x.pad;
    packed.document = x.document;
    training.phase = PEAT_TRAIN;
    training.step = 3;
    enum verdict verdict = look_in(s, r, &x.in, "");
    if (verdict == CHECK_PASSED)
        verdict = look_in(s, r, &padded, " with padding");
    if (verdict == CHECK_PASSED)
        verdict = look_in(s, r, &packed, " with two documents in a row");
    return verdict == CHECK_PASSED ? look_in(s, r, &training, " in training") : verdict;
}

enum verdict check_masked(const struct subject *s, struct strbuf *why)
{
    const struct rig_plan plan = {.dtype = PEAT_F64};
    if (!scheme_has(subject_scheme(s), HOOK_SOFTMAX))
        return check_skipped(why, "it does not replace the softmax");
    return rig_each(s, &plan, why, masked_of);
}
