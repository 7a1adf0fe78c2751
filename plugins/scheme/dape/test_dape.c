/* SPDX-License-Identifier: MIT */
/* The scheme 'dape': what it refuses, and its gradient. */
#include "../content_tests.h"

TEST(without_a_bias_it_has_nothing_to_adapt)
{
    struct harness h;
    scheme_open(&h, "dape", NULL, 2, 2, 2, false);
    const peat_call *c = content_call(&h, 2, NULL);
    peat_node *S = content_wave(&h, 1, 100, 4, (int64_t[]){1, 2, 2, 2});
    scheme_fails(&h, h.scheme->logits(c, NULL, S, NULL),
                 "there is no bias to adapt: list 'dape' with a scheme that adds one in the same "
                 "layers, such as [kerple, dape]");
    harness_close(&h);
}

TEST(some_heads_alone_are_refused)
{
    struct modelcheck m;
    struct harness h;
    modelcheck_init(&m, PEAT_DECODER);
    content_add(&m, &h, "dape", NULL);
    m.positional.scheme[0].where.head_end = 1;
    ck_assert_int_eq(modelcheck_try(&m), PEAT_REFUSED);
    ck_assert_str_eq(m.err.text, "scheme 'dape' mixes all heads: where.heads is refused");
    content_close(&m, &h);
}

/* kerple's tensors stay positive, and scores weigh enough for units to be on and off in one row. */
static void with_bias(struct modelcheck *m, struct harness h[2], const char *bias, peat_arch arch)
{
    modelcheck_init(m, arch);
    content_add(m, &h[0], bias, NULL);
    content_add(m, &h[1], "dape", "{\"width\": 3}");
    modelcheck_build(m);
    content_fill(m);
    for (int w = 0; w < m->model.weights.n; w++) {
        struct weight *x = m->model.weights.item[w];
        for (int64_t i = 0; i < tensor_count(&x->value); i++)
            if (strstr(x->name, "kerple"))
                tensor_set(&x->value, i, 0.5 + (double)i);
            else if (strstr(x->name, "w_score"))
                tensor_set(&x->value, i, 10 * tensor_get(&x->value, i));
    }
}

TEST(a_model_learns_with_any_bias)
{
    static const char *const bias[] = {"kerple", "alibi", "forgetting"};
    for (int i = 0; i < 3; i++) {
        struct modelcheck m;
        struct harness h[2];
        with_bias(&m, h, bias[i], i == 1 ? PEAT_ENCODER : PEAT_DECODER);
        content_all_learn(&m);
        modelcheck_gradients(&m, 1e-6);
        content_close(&m, &h[0]);
        harness_close(&h[1]);
    }
}

TEST(the_future_stays_hidden)
{
    struct modelcheck m;
    struct harness h[2];
    with_bias(&m, h, "alibi", PEAT_DECODER);
    content_sees_no_future(&m);
    content_close(&m, &h[0]);
    harness_close(&h[1]);
}

PLUGIN_TESTS("dape")
