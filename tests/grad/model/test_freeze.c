/* SPDX-License-Identifier: MIT */
/*
 * test_freeze.c: model.freeze by patterns: what is frozen has no gradient and no moments, and the
 * gradients of all else are the same bits, on every path of attention.
 */
#include "hook_cases.h"
#include "nn/attention.h"
#include "support/support.h"

static const char *const patterns[] = {
    "token.*",   "head.*",          "norm.*",
    "block.*",   "block.0.*",       "block.1.*",
    "*.norm?.*", "*.attention.*",   "*.attention.qkv.weight",
    "*.mlp.*",   "*.mlp.up.weight", "*.bias",
    "*.weight",  "*.mlp.down.*",    "position.*",
};
enum { PATTERNS = sizeof(patterns) / sizeof(*patterns) };

static struct modelcheck m, thawed;

static void set_up(void)
{
    modelcheck_init(&m, PEAT_DECODER);
    modelcheck_init(&thawed, PEAT_DECODER);
}

static void tear_down(void)
{
    modelcheck_release(&m);
    modelcheck_release(&thawed);
}

static void build(struct modelcheck *x, enum attention_path path, int n, const char *const *pattern)
{
    modelcheck_scheme(x, "first", hook_case[0].scheme);
    x->config.attention_path = path;
    x->config.freeze = (peat_strings){n, pattern};
    modelcheck_build(x);
}

/* Moments begin where no gradient has any. */
static void assert_apart(const struct weights *w)
{
    int64_t frozen = 0;
    for (int i = 0; i < w->n; i++) {
        const struct weight *x = w->item[i];
        frozen += x->frozen ? tensor_count(&x->value) : 0;
        ck_assert_int_eq(x->frozen, x->offset >= w->trained);
        ck_assert_int_eq(x->frozen, x->grad.data == NULL);
    }
    ck_assert_int_gt(frozen, 0);
    ck_assert_int_eq(weights_frozen(w), frozen);
}

LOOP_TEST(gradients_of_the_rest_are_the_same_bits, 2 * PATTERNS)
{
    enum attention_path path = _i % 2 ? PATH_COMPOSED : PATH_FUSED;
    if (path == PATH_FUSED && !hook_case[0].fused)
        return;
    build(&m, path, 1, &patterns[_i / 2]);
    build(&thawed, path, 0, NULL);
    double loss = modelcheck_loss(&m, true), whole = modelcheck_loss(&thawed, true);
    ck_assert_mem_eq(&loss, &whole, sizeof(loss));
    assert_apart(&m.model.weights);
    for (int i = 0; i < m.model.weights.n; i++) {
        const struct weight *x = m.model.weights.item[i];
        if (x->frozen)
            continue;
        const struct weight *y = weights_find(&thawed.model.weights, x->name);
        ck_assert_msg(memcmp(x->grad.data, y->grad.data, tensor_bytes(&x->grad)) == 0, "%s: %s",
                      patterns[_i / 2], x->name);
    }
}

static const struct {
    const char *pattern, *says;
} misfits[] = {
    {"tokens.*", "no parameter of the model is called 'tokens.*'; did you mean 'token.*'?"},
    {"block.2.*", "no parameter of the model is called 'block.2.*'; did you mean 'block.0.*'?"},
    {"head.weigth", "'head.weigth'; did you mean 'head.weight'?"},
    {"", "no parameter of the model is called ''"},
    {"*", "this freezes every parameter, so nothing is left to train"},
};

LOOP_TEST(what_fits_nothing_or_leaves_nothing_is_refused, sizeof(misfits) / sizeof(*misfits))
{
    m.config.freeze = (peat_strings){1, &misfits[_i].pattern};
    ck_assert_int_eq(modelcheck_try(&m), PEAT_REFUSED);
    ck_assert_msg(strstr(m.err.text, misfits[_i].says), "%s", m.err.text);
    ck_assert_str_eq(m.model.misfrozen, misfits[_i].pattern);
}

TEST(a_tied_table_is_frozen_as_head_too)
{
    m.config.tie_embeddings = true;
    build(&m, PATH_FUSED, 1, (const char *const[]){"token.*"});
    modelcheck_loss(&m, true);
    assert_apart(&m.model.weights);
}

int main(void)
{
    return run_tests((struct tests){"freeze", set_up, tear_down});
}
