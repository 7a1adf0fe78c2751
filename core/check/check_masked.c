/* SPDX-License-Identifier: MIT */
/* check_masked.c: checks that a scheme's own softmax gives no weight to keys that a query may not
 * see. The host masks the weights again, but a scheme that gives them has ignored the mask. */

#include "property.h"

/* The first weight that is wrong. */
struct leak {
    const struct model_input *in;
    bool causal, found;
    int64_t query, key;
    double weight;
};

static bool hides(const struct leak *l, int64_t b, int64_t i, int64_t j)
{
    const struct model_input *in = l->in;
    const int32_t *document = in->document ? in->document + b * in->T : NULL;
    return (l->causal && j > i) || (in->pad && in->pad[b * in->T + j]) ||
           (document && document[i] != document[j]);
}

static void look_at(void *ctx, const struct attention_seen *seen)
{
    struct leak *l = ctx;
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

void masked_holds(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    struct leak look = {.in = &x.in, .causal = t->c->arch == PEAT_DECODER};
    const struct observer observer = {.ctx = &look, .attention = look_at};
    rig_watched(t->rig, &x.in, &observer);
    if (look.found)
        trial_fail(t,
                   "%s.softmax gives the query at place %" PRId64 " a weight of %.3g for the "
                   "key at place %" PRId64 ", which the mask hides%s%s%s",
                   t->subject->plugin->desc->id, look.query, look.weight, look.key,
                   x.in.pad ? " with padding" : "",
                   x.in.document ? " with two documents in a row" : "",
                   trial_has(t, CASE_TRAINING) ? " in training" : "");
}
