/* SPDX-License-Identifier: MIT */
/* Greedy decoding with stored rows, and by fixed point, gives what decoding token by token gives,
 * and what the pass that the loss is taken on chooses, with every scheme and every combination, in
 * a window, on some heads, with several threads, in bf16, and of a source. */
#include "train/decode.h"

#include "cell/assemble.h"
#include "experiment/plan.h"
#include "support/support.h"
#include "tensor/gemm.h"
#include "train/trainer.h"

static struct arena arena;
static struct registry registry;
static struct experiment experiment;
static struct plan plan;
static struct error error;

static const char *mixer;

enum { WORDS = 4 }; /* beside those of every plan */

/* The cells of the file with further settings, ended by NULL. */
static void make_plan_of(const char *const *setting)
{
    arena_release(&arena);
    arena_init(&arena, "test", 1 << 20);
    error = (struct error){0};
    const char *build = getenv("PEAT_BUILD"), *source = getenv("PEAT_SOURCE");
    setenv("PEAT_PLUGIN_PATH", arena_printf(&arena, "%s/lib/peat/plugins-1", build), 1);
    const char *path = arena_printf(&arena, "%s/experiments/every-scheme.yaml", source);
    char *word[WORDS + 3] = {arena_strdup(&arena, "eval.tokens=60"),
                             arena_strdup(&arena, "report.baseline=null"),
                             arena_printf(&arena, "model.mixer=%s", mixer)};
    int n = 3;
    for (int i = 0; setting[i]; i++)
        word[n++] = arena_strdup(&arena, setting[i]);
    peat_status status = experiment_load(&experiment, &arena, path, n, word, NULL, &error);
    if (status == PEAT_OK)
        status = registry_init(&registry, &arena, NULL, &error);
    if (status == PEAT_OK)
        status = plan_make(&plan, &experiment, &registry, PLAN_SIZES, &arena, &error);
    ck_assert_msg(status == PEAT_OK, "%s", error.text);
}

/* With one scheme of the file, or NULL: with all. */
static void make_plan(const char *combine, const char *scheme)
{
    char merged[64], acts[256];
    snprintf(merged, sizeof(merged), "position.combine=%s", combine);
    snprintf(acts, sizeof(acts), "position.scheme=[%s]", scheme);
    make_plan_of((const char *const[]){merged, scheme ? acts : NULL, NULL});
}

static void set_up(void)
{
    mixer = "attention";
    make_plan("sum", NULL);
}

static void tear_down(void)
{
    arena_release(&arena);
}

/* Larger than any training makes them, so that choices depend on what was chosen before. */
static void shake(struct weights *w)
{
    float *x = w->value;
    for (int64_t i = 0; i < w->size; i++)
        x[i] *= 3.0f;
}

/* Rows as they come; shorter ones with padding in front; and with documents that follow each other,
 * of which a prompt's last is the longest. */
enum dress { PLAIN, PADDED, PACKED, DRESSES };

/* A source has no documents: in their place it is padded in front. */
static void dress_up(peat_batch *b, enum dress dress)
{
    if (b->source) {
        for (int64_t i = 0; i < b->B * b->S; i++)
            b->source_pad[i] = dress == PACKED && i % b->S < (i / b->S) % 3;
        dress = dress == PACKED ? PLAIN : dress;
    }
    b->has_pad = dress == PADDED;
    b->has_document = dress == PACKED;
    for (int64_t r = 0; r < b->B; r++)
        for (int64_t i = 0; i < b->T; i++) {
            b->pad[r * b->T + i] = i < r % 3;
            b->document[r * b->T + i] = (i >= r % 4) + (i >= 3);
        }
}

typedef peat_status (*decode_fn)(struct trainer *t, const peat_batch *b, int32_t *made,
                                 struct error *err);

/* What `decode` makes of the batch is what is made token by token. */
static void assert_same(struct trainer *t, const peat_batch *b, decode_fn decode,
                        const int32_t *plain, const char *what)
{
    size_t n = (size_t)(b->B * b->answer);
    int32_t *made = ARENA_ARRAY(&arena, (int64_t)n, int32_t);
    ck_assert_msg(decode(t, b, made, &error) == PEAT_OK, "%s: %s", what, error.text);
    ck_assert_msg(memcmp(made, plain, n * sizeof(*made)) == 0, "%s differs", what);
}

static int32_t highest(const struct tensor *logits, int64_t row)
{
    int64_t V = logits->dim[logits->rank - 1];
    int32_t best = 0;
    for (int64_t v = 1; v < V; v++)
        if (tensor_get(logits, row * V + v) > tensor_get(logits, row * V + best))
            best = (int32_t)v;
    return best;
}

/* The pass that makes the loss, over the batch with these answers in the place of the truth,
 * chooses these answers. */
static void assert_chosen_where_the_loss_is(struct trainer *t, const peat_batch *b,
                                            const int32_t *made, const char *what)
{
    struct arena_mark mark = arena_mark(&t->step_arena);
    peat_batch told = *b;
    told.token = ARENA_ARRAY(&arena, b->B * b->T, int32_t);
    memcpy(told.token, b->token, (size_t)(b->B * b->T) * sizeof(*told.token));
    for (int64_t r = 0; r < b->B; r++)
        memcpy(told.token + r * b->T + b->prompt, made + r * b->answer,
               (size_t)(b->answer - 1) * sizeof(*made));
    struct model_input in = forward_input(&told, PEAT_EVAL);
    struct graph g;
    peat_node *logits, *classes;
    ck_assert_msg(forward_both(t, &g, &in, false, &logits, &classes, "the loss", &error) == PEAT_OK,
                  "%s: %s", what, error.text);
    for (int64_t r = 0; r < b->B; r++)
        for (int64_t i = 0; i < b->answer; i++)
            ck_assert_msg(highest(&logits->value, r * b->T + b->prompt - 1 + i) ==
                              made[r * b->answer + i],
                          "%s: token %lld of answer %lld is not what the loss's pass chooses", what,
                          (long long)i, (long long)r);
    arena_rewind(&t->step_arena, mark);
}

/* All ways over the first evaluation batch of each length; returns how many different answers there
 * are, so that a model which always says the same is noticed. */
static int compare(struct trainer *t, const char *label)
{
    enum { MOST = 4096 };
    int32_t plain[MOST];
    const char *id;
    int different = 0;
    for (int64_t which = 0; which < t->task->plan.n_eval; which++) {
        struct batch batch;
        ck_assert_int_eq(task_batch_init(t->task, &batch, &arena, 8, t->task->plan.eval_T[which]),
                         PEAT_OK);
        ck_assert_int_eq(task_eval_batch(t->task, which, 0, &batch, &error), PEAT_OK);
        const peat_batch *b = &batch.b;
        size_t n = (size_t)(b->B * b->answer);
        ck_assert(b->prompt > 0 && n <= MOST);
        for (int dress = PLAIN; dress < DRESSES; dress++) {
            const char *what =
                arena_printf(&arena, "%s, dress %d, length %lld", label, dress, (long long)b->T);
            dress_up(&batch.b, (enum dress)dress);
            ck_assert_msg(decode_by_token(t, b, plain, &error) == PEAT_OK, "%s: %s", what,
                          error.text);
            assert_chosen_where_the_loss_is(t, b, plain, what);
            assert_same(t, b, decode_greedy, plain, what);
            assert_same(t, b, decode_by_fixed_point, plain, what);
            assert_same(t, b, model_not_storable(t->model, &id) ? decode_greedy : decode_stored,
                        plain, what);
            for (size_t i = 1; i < n; i++)
                different += plain[i] != plain[0];
        }
    }
    return different;
}

static struct team team = {.threads = 1};

/* A cell with its initial weights. */
static struct trainer open_trainer(const struct plan_cell *cell)
{
    struct assembly *s = ARENA_NEW(&arena, struct assembly);
    ck_assert_int_eq(gemm_start(&team, "auto", &error), PEAT_OK);
    peat_status status = assemble(s, &cell->config, &arena, PEAT_F32, false, &error);
    ck_assert_msg(status == PEAT_OK, "%s: %s", cell->label, error.text);
    struct trainer t = {.model = &s->model,
                        .task = &s->task,
                        .train = &cell->config.train,
                        .eval = &cell->config.eval,
                        .team = &team,
                        .model_arena = &arena};
    ck_assert_int_eq(trainer_init(&t, &error), PEAT_OK);
    return t;
}

/* Whether rows could be stored. */
static bool assert_same_all_ways(const struct plan_cell *cell)
{
    const char *id;
    struct trainer t = open_trainer(cell);
    bool storable = !model_not_storable(t.model, &id);
    shake(&t.model->weights);
    ck_assert_msg(compare(&t, cell->label) > 0, "%s always says the same", cell->label);
    ck_assert_uint_eq(t.step_arena.used, 0);
    trainer_release(&t);
    return storable;
}

LOOP_TEST(every_scheme_answers_the_same_all_ways, 2)
{
    static const char *const block[] = {"position.combine=sum", "model.block=llama",
                                        "model.qk_norm=rms", NULL};
    int stored = 0;
    if (_i == 1)
        make_plan_of(block);
    for (int i = 0; i < plan.n; i++)
        stored += assert_same_all_ways(&plan.cell[i]);
    ck_assert_int_ge(stored, 36);
}

TEST(every_combination_answers_the_same_all_ways)
{
    static const char *const combine[] = {
        "concat_project", "concat_split", "concat_wide",         "film",
        "gate_scalar",    "gate_vector",  "matrix_per_position", "multiply",
        "replace",        "sum_norm",     "sum_project"};
    for (size_t k = 0; k < sizeof(combine) / sizeof(*combine); k++) {
        make_plan(combine[k], "sinusoidal");
        ck_assert_int_eq(plan.n, 1);
        ck_assert(assert_same_all_ways(&plan.cell[0]));
    }
}

TEST(every_mixer_answers_the_same_all_ways)
{
    static const char *const mixers[] = {"conv", "rnn"}, *const schemes[] = {"none", "learned"};
    for (int i = 0; i < 4; i++) {
        mixer = mixers[i % 2];
        make_plan("sum", schemes[i / 2]);
        ck_assert(assert_same_all_ways(&plan.cell[0]));
    }
}

TEST(a_trained_model_answers_the_same_all_ways)
{
    static const char *const scheme[] = {"rotary", "t5_bias", "token_shift", "forgetting"};
    for (size_t k = 0; k < sizeof(scheme) / sizeof(*scheme); k++) {
        enum run_end end;
        make_plan("sum", scheme[k]);
        struct trainer t = open_trainer(&plan.cell[0]);
        ck_assert_int_eq(trainer_run(&t, &end, &error), PEAT_OK);
        ck_assert_int_eq(end, RUN_DONE);
        ck_assert_msg(compare(&t, scheme[k]) > 0, "%s always says the same", scheme[k]);
        trainer_release(&t);
    }
}

/* ---- settings ---- */

static const struct {
    const char *setting[WORDS + 1];
    int threads;
} settings[] = {
    {{"position.scheme=[none,rotary,alibi,t5_bias,shaw,conv,stick_breaking]", "model.window=3"}, 1},
    {{"position.scheme=[[{plugin: rotary, where: {heads: [0, 0]}}, {plugin: alibi, where: {heads: "
      "[1, 2]}}, {plugin: shaw, where: {layers: [0]}}]]"},
     1},
    {{"position.scheme=[[{plugin: t5_bias, where: {heads: [1, 1]}}, {plugin: rotary, where: {dims: "
      "[0, 4]}}]]"},
     1},
    {{"position.scheme=[[{plugin: learned, at: attn_qk}, {plugin: sinusoidal, at: residual}]]"}, 1},
    {{"position.scheme=[learned,rotary,kerple,cope,forgetting]"}, 3},
};

LOOP_TEST(every_setting_answers_the_same_all_ways, sizeof(settings) / sizeof(*settings))
{
    team.threads = settings[_i].threads;
    make_plan_of(settings[_i].setting);
    for (int i = 0; i < plan.n; i++)
        ck_assert_msg(assert_same_all_ways(&plan.cell[i]), "%s is not stored", plan.cell[i].label);
}

/* ---- two sequences ---- */

TEST(a_source_is_read_once_and_answers_are_the_same)
{
    make_plan_of((const char *const[]){
        "position.combine=sum", "model.arch=seq2seq",
        "position.scheme=[none,learned,sinusoidal,rotary,alibi,t5_bias,tupe,shaw,kerple,deberta,"
        "fire,conv,token_shift,polar,roper,transformer_xl,diet_rel,[alibi,dape],"
        "{plugin: rotary, where: {across: true}},{plugin: alibi, where: {across: true}},"
        "{plugin: kerple, where: {across: true, heads: [0, 1]}},"
        "[{plugin: rotary, where: {across: true}}, t5_bias],"
        "[sinusoidal, {plugin: kerple, where: {across: only}}]]",
        NULL});
    ck_assert_int_ge(plan.n, 20);
    for (int i = 0; i < plan.n; i++)
        ck_assert_msg(assert_same_all_ways(&plan.cell[i]), "%s is not stored", plan.cell[i].label);
}

/* ---- what depends on the length ---- */

enum { TRAINED = 9 }; /* tokens of a sequence; those evaluated are longer */

/* Beside `rotary`, for those that encode nothing themselves: with each label of the row `by`, or
 * with defaults where it is NULL. Numbers that the longest sequence would decide are those of
 * training.
 */
static void add_uses(struct strbuf *all, const peat_plugin *p, const peat_param *by)
{
    for (int i = 0; i == 0 || (by && by->labels[i]); i++) {
        strbuf_addf(all, "%s[{plugin: %s", all->n ? ", " : "", p->id);
        for (const peat_param *row = p->param; row && row->key; row++)
            if (row == by)
                strbuf_addf(all, ", %s: %s", by->key, by->labels[i]);
            else if (row->type == PEAT_INT && row->automatic)
                strbuf_addf(all, ", %s: %d", row->key, TRAINED);
        strbuf_add(all, "}, rotary]");
    }
}

/* Every scheme that needs the length of a sequence, in each of its kinds; returns how many. */
static int list_by_length(struct strbuf *all)
{
    int n = 0;
    registry_load_all(&registry, NULL, NULL);
    for (int i = 0; i < registry.n; i++) {
        const peat_plugin *p = registry.item[i]->desc;
        const peat_param *by = p->param;
        if (p->kind != PEAT_SCHEME ||
            !(((const peat_scheme *)p->interface)->needs & PEAT_NEED_LENGTH))
            continue;
        while (by && by->key && by->type != PEAT_ENUM)
            by++;
        add_uses(all, p, by && by->key ? by : NULL);
        n++;
    }
    return n;
}

/* Sequences longer than those of training, whose places, rows and frequencies change with their
 * length: by one token more, too. */
LOOP_TEST(a_row_is_as_long_for_its_answer_as_for_its_loss, 2)
{
    static const char *const arch[] = {"model.arch=decoder", "model.arch=seq2seq"};
    char scheme[1024], length[32];
    struct strbuf all;
    strbuf_init(&all);
    int n = list_by_length(&all);
    snprintf(scheme, sizeof(scheme), "position.scheme=[%s]", all.text);
    snprintf(length, sizeof(length), "train.seq_len=%d", TRAINED);
    strbuf_release(&all);
    make_plan_of((const char *const[]){"position.combine=sum", arch[_i], length, scheme, NULL});
    ck_assert_int_gt(n, 2);
    ck_assert_int_gt(plan.n, n);
    for (int i = 0; i < plan.n; i++)
        assert_same_all_ways(&plan.cell[i]);
}

/* A pass over one row costs no more than what depends on it: sources are projected once. */
TEST(the_source_is_projected_once)
{
    struct stored stored;
    struct batch batch;
    make_plan_of((const char *const[]){"position.combine=sum", "model.arch=seq2seq",
                                       "position.scheme=[rotary]", NULL});
    struct trainer t = open_trainer(&plan.cell[0]);
    const struct model *m = t.model;
    ck_assert_int_eq(task_batch_init(t.task, &batch, &arena, 8, t.task->plan.eval_T[0]), PEAT_OK);
    ck_assert_int_eq(task_eval_batch(t.task, 0, 0, &batch, &error), PEAT_OK);
    struct model_input in = forward_input(&batch.b, PEAT_EVAL);
    ck_assert_int_eq(model_store(t.model, &in, &team, &arena, &stored, &error), PEAT_OK);
    int64_t flops[3];
    for (int64_t end = 1; end <= 3; end++) {
        struct graph g;
        graph_init(&g, &t.step_arena, &team, PEAT_F32);
        g.no_grad = true;
        ck_assert_ptr_nonnull(model_newest(t.model, &g, &stored, end));
        flops[end - 1] = g.flops;
        arena_reset(&t.step_arena);
    }
    int64_t D = m->dims.D, projections = 2 * in.B * in.source.T * D * 2 * D * m->dims.L;
    int64_t pair = 4 * in.B * D * m->dims.L; /* one more key in each layer */
    ck_assert_int_eq(flops[0] - flops[1] + pair, projections);
    ck_assert_int_eq(flops[2] - flops[1], pair);
    trainer_release(&t);
}

/* ---- bf16 ---- */

TEST(products_in_bf16_answer_the_same_all_ways)
{
    make_plan("sum", "none,rotary,t5_bias");
    for (int i = 0; i < plan.n; i++) {
        struct trainer t = open_trainer(&plan.cell[i]);
        if (gemm_start(&team, "onednn", &error) != PEAT_OK ||
            gemm_start_bf16(&team, &error) != PEAT_OK) {
            printf("no bf16 here: %s\n", error.text);
            trainer_release(&t);
            return;
        }
        shake(&t.model->weights);
        ck_assert_msg(compare(&t, plan.cell[i].label) > 0, "%s says the same", plan.cell[i].label);
        gemm_stop(&team);
        trainer_release(&t);
    }
}

/* All logits are 0: rounding would decide, so whole passes do. */
TEST(ties_are_decided_by_whole_passes)
{
    make_plan("sum", "rotary");
    struct trainer t = open_trainer(&plan.cell[0]);
    struct tensor *head = &t.model->head->value;
    memset(head->data, 0, tensor_bytes(head));
    ck_assert_int_eq(compare(&t, "a model without a head"), 0);
    trainer_release(&t);
}

/* By what it says, never by its name. */
TEST(a_scheme_that_does_not_say_that_rows_can_be_stored_is_decoded_in_full)
{
    const char *id;
    make_plan("sum", "sinusoidal");
    struct trainer t = open_trainer(&plan.cell[0]);
    shake(&t.model->weights);
    struct scheme_part *part = &t.model->positional->scheme[0];
    peat_scheme silent = *part->hooks;
    silent.traits &= ~(uint32_t)PEAT_STORABLE;
    ck_assert_ptr_null(model_not_storable(t.model, &id));
    part->hooks = &silent;
    ck_assert_str_eq(model_not_storable(t.model, &id), "it does not declare PEAT_STORABLE");
    ck_assert_str_eq(id, "sinusoidal");
    struct batch batch;
    ck_assert_int_eq(batch_init(&batch, &arena, 8, t.task->plan.eval_T[0]), PEAT_OK);
    ck_assert_int_eq(task_eval_batch(t.task, 0, 0, &batch, &error), PEAT_OK);
    int32_t *plain = ARENA_ARRAY(&arena, batch.b.B * batch.b.answer, int32_t);
    ck_assert_int_eq(decode_by_token(&t, &batch.b, plain, &error), PEAT_OK);
    assert_same(&t, &batch.b, decode_greedy, plain, "decoding in full");
    trainer_release(&t);
}

int main(void)
{
    return run_tests(
        (struct tests){"decode", set_up, tear_down, 300, .needs = "PEAT_SOURCE PEAT_BUILD"});
}
