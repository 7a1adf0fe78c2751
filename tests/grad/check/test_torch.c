/* SPDX-License-Identifier: MIT */
/*
 * test_torch.c: loss and gradients of every kind of model are those of PyTorch, as
 * tests/golden/architectures.py wrote them from docs/checkpoint.md. Weights and inputs are formulas
 * that both sides know.
 */
#include "support/golden_file.h"
#include "support/modelcheck.h"
#include "support/plugin_harness.h"
#include "support/support.h"

enum { V = 7, D = 8, H = 2, B = 2, T = 5, S = 4, P = 3, CLASSES = 3, TAPS = 3 };

static const double near = 1e-9; /* both sides are in F64 */

/* ---- inputs ---- */

static int32_t source[B * S];
static float patch[B * T * P];
static const int32_t segment[] = {0, 0, 1, 1, 1, 0, 1, 1, 1, 1};
static const uint8_t pad[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
static const uint8_t source_pad[] = {0, 0, 0, 0, 0, 0, 0, 1};

static void fill_inputs(struct modelcheck *m)
{
    for (int b = 0; b < B; b++)
        for (int t = 0; t < T; t++) {
            m->token[b * T + t] = (7 * b + 3 * t + b * t) % V;
            m->target[b * T + t] = (5 * b + 2 * t + 1) % V;
        }
    for (int i = 0; i < B * S; i++)
        source[i] = (3 * i + 1) % V;
    for (int i = 0; i < B * T * P; i++)
        patch[i] = (float)(5 * i % 11 - 5) / 8;
}

static void want_classes(struct modelcheck *m, enum cls_position cls)
{
    m->config.arch = PEAT_ENCODER;
    m->config.head = PEAT_HEAD_CLASS;
    m->config.n_class = CLASSES;
    m->config.cls_position = cls;
    m->target[0] = 1;
    m->target[1] = 2;
}

static void want_both(struct modelcheck *m)
{
    m->config.arch = PEAT_ENCODER;
    m->config.head = PEAT_HEAD_BOTH;
    m->config.n_class = CLASSES;
    m->config.n_segment = 2;
    m->input.rows.segment = segment;
    m->input.rows.pad = pad;
    m->target[0] = m->target[3] = m->target[9] = -1;
    m->label[0] = 1;
    m->label[1] = 2;
}

static void choose_mixer(struct model_config *c, const char *name)
{
    for (enum mixer i = MIXER_CONV; i <= MIXER_RNN; i++)
        if (strcmp(name, mixer_name(i)) == 0)
            c->mixer = i;
    c->conv_width = c->mixer == MIXER_CONV ? TAPS : 0;
}

/* As BLOCKS in architectures.py. */
static void choose_block(struct model_config *c, const char *name)
{
    const bool llama = strcmp(name, "llama") == 0, qwen3 = strcmp(name, "qwen3") == 0;
    if (strcmp(name, "gpt2") == 0)
        return;
    c->bias = false;
    c->norm = llama || qwen3 ? NORM_RMS : NORM_LAYER;
    c->norm_eps = llama || qwen3 ? 1e-6 : NORM_EPS;
    c->activation = llama || qwen3 ? ACTIVATION_SWIGLU : ACTIVATION_GEGLU;
    c->qk_norm = llama ? QK_NORM_NONE : qwen3 ? QK_NORM_RMS : QK_NORM_LAYER;
}

static void choose(struct modelcheck *m, const char *arch, const char *mixer)
{
    fill_inputs(m);
    choose_mixer(&m->config, mixer);
    if (strcmp(arch, "encoder") == 0) {
        want_classes(m, CLS_FIRST);
        m->input.rows.pad = pad;
    } else if (strcmp(arch, "bert") == 0) {
        want_both(m);
    } else if (strcmp(arch, "vit") == 0) {
        want_classes(m, CLS_NONE);
        m->config.input = PEAT_INPUT_PATCHES;
        m->config.patch_width = P;
        m->input.rows.token = NULL;
        m->input.patch = patch;
    } else if (strcmp(arch, "seq2seq") == 0) {
        m->config.arch = PEAT_SEQ2SEQ;
        m->config.source_T = m->input.source.T = S;
        m->input.source.token = source;
        m->input.source.pad = source_pad;
    }
}

/* ---- weights ---- */

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);
    return n >= k && strcmp(text + n - k, end) == 0;
}

static void fill_weights(struct weights *w)
{
    for (int k = 0; k < w->n; k++) {
        struct weight *x = w->item[k];
        int seed = 0;
        for (const char *c = x->name; *c; c++)
            seed += *c;
        double shift = strstr(x->name, "norm") && ends_in(x->name, "weight") ? 1 : 0;
        for (int64_t i = 0; i < tensor_count(&x->value); i++)
            tensor_set(&x->value, i,
                       shift + 0.25 * sin(0.37 * (double)i + 0.11 * (seed % 1000) + 0.5));
    }
}

static double along_a_wave(const struct tensor *grad)
{
    double sum = 0;
    for (int64_t i = 0; i < tensor_count(grad); i++)
        sum += tensor_get(grad, i) * cos((double)i);
    return sum;
}

/* ---- the comparison ---- */

static void assert_near(double x, double expected, const char *arch, const char *scheme,
                        const char *what)
{
    ck_assert_msg(fabs(x - expected) <= near * fmax(1, fabs(expected)),
                  "%s, %s: %s is %.12g, in PyTorch %.12g", arch, scheme, what, x, expected);
}

static void compare(const struct value *fixture)
{
    const char *arch = json_get_text(fixture, "arch"), *scheme = json_get_text(fixture, "scheme");
    const struct value *gradient = value_get(fixture, "gradient"), *logit;
    const peat_dims dims = {.D = D, .H = H, .d = D, .L = 2, .V = V, .T_train = T, .T_max = T + 1};
    struct modelcheck m;
    struct harness h;
    ck_assert_int_eq(harness_scheme(&h, scheme, "{}", &dims), PEAT_OK);
    modelcheck_init(&m, PEAT_DECODER);
    struct scheme_part *part = modelcheck_scheme(&m, scheme, h.scheme);
    part->part.config = h.config;
    part->where.across = value_get(fixture, "across")->boolean ? ACROSS_TOO : ACROSS_NOT;
    choose(&m, arch, json_get_text(fixture, "mixer"));
    choose_block(&m.config, json_text_or(fixture, "block", "gpt2"));
    modelcheck_build(&m);
    fill_weights(&m.model.weights);
    assert_near(modelcheck_loss(&m, true), json_get_number(fixture, "loss"), arch, scheme, "loss");
    ck_assert_int_eq(gradient->n, m.model.weights.n);
    for (int k = 0; k < m.model.weights.n; k++) {
        const struct weight *w = m.model.weights.item[k];
        const struct value *g = value_get(gradient, w->name);
        ck_assert_msg(g, "%s, %s: PyTorch has no '%s'", arch, scheme, w->name);
        assert_near(along_a_wave(&w->grad), g->real, arch, scheme, w->name);
    }
    double logits[B * T * V];
    if (value_get(fixture, "logits"))
        modelcheck_logits(&m, logits);
    for (int i = 0; (logit = json_get_item(fixture, "logits", i)); i++)
        assert_near(logits[i], logit->real, arch, scheme, "a logit");
    harness_close(&h);
    modelcheck_release(&m);
}

TEST(loss_and_gradients_are_those_of_pytorch)
{
    struct arena a;
    arena_init(&a, "fixtures", 1 << 16);
    const struct value *all = golden_read("architectures.json", &a);
    ck_assert_int_eq(all->n, 59);
    for (int i = 0; i < all->n; i++)
        compare(all->item[i]);
    arena_release(&a);
}

int main(void)
{
    return run_tests(
        (struct tests){"torch", NULL, NULL, .seconds = 60, .needs = "PEAT_SOURCE PEAT_BUILD"});
}
