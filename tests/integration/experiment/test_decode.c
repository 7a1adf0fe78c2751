/* SPDX-License-Identifier: MIT */
/* Greedy decoding by fixed point gives what decoding token by token gives, with every scheme. */
#include "train/decode.h"

#include <stdlib.h>
#include <string.h>

#include "cell/assemble.h"
#include "experiment/plan.h"
#include "support/support.h"
#include "tensor/gemm.h"

static struct arena arena;
static struct registry registry;
static struct experiment experiment;
static struct plan plan;
static struct error error;

static void set_up(void)
{
    arena_init(&arena, "test", 1 << 20);
    error = (struct error){0};
    const char *build = getenv("PEAT_BUILD"), *source = getenv("PEAT_SOURCE");
    setenv("PEAT_PLUGIN_PATH", arena_printf(&arena, "%s/lib/peat/plugins-%s", build, PEAT_ABI), 1);
    const char *path = arena_printf(&arena, "%s/experiments/every-scheme.yaml", source);
    char *word[] = {arena_strdup(&arena, "position.combine=sum"),
                    arena_strdup(&arena, "eval.tokens=60"),
                    arena_strdup(&arena, "report.baseline=null")};
    peat_status status = experiment_load(&experiment, &arena, path, 3, word, &error);
    if (status == PEAT_OK)
        status = registry_init(&registry, &arena, &error);
    if (status == PEAT_OK)
        status = plan_make(&plan, &experiment, &registry, &arena, &error);
    ck_assert_msg(status == PEAT_OK, "%s", error.text);
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

/* Both ways over the first evaluation batch of each length; returns how many different answers
 * there are, so that a model which always says the same is noticed. */
static int compare(struct trainer *t, const char *label)
{
    enum { MOST = 4096 };
    int32_t fast[MOST], plain[MOST];
    int different = 0;
    for (int64_t which = 0; which < t->task->plan.n_eval; which++) {
        struct batch batch;
        ck_assert_int_eq(batch_init(&batch, &arena, 8, t->task->plan.eval_T[which]), PEAT_OK);
        ck_assert_int_eq(task_eval_batch(t->task, which, 0, &batch, &error), PEAT_OK);
        const peat_batch *b = &batch.b;
        size_t n = (size_t)(b->B * b->answer);
        ck_assert(b->prompt > 0 && n <= MOST);
        ck_assert_msg(decode_greedy(t, b, fast, &error) == PEAT_OK, "%s: %s", label, error.text);
        ck_assert_int_eq(decode_by_token(t, b, plain, &error), PEAT_OK);
        ck_assert_msg(memcmp(fast, plain, n * sizeof(*fast)) == 0, "%s differs at length %lld",
                      label, (long long)t->task->plan.eval[which]);
        for (size_t i = 1; i < n; i++)
            different += plain[i] != plain[0];
    }
    return different;
}

static void assert_same_both_ways(const struct plan_cell *cell)
{
    struct assembly *s = ARENA_NEW(&arena, struct assembly);
    struct team team = {.threads = 1};
    ck_assert_int_eq(gemm_start(&team, "auto", &error), PEAT_OK);
    peat_status status = assemble(s, &cell->config, &arena, PEAT_F32, false, &error);
    ck_assert_msg(status == PEAT_OK, "%s: %s", cell->label, error.text);
    shake(&s->model.weights);
    struct trainer t = {.model = &s->model,
                        .task = &s->task,
                        .train = &cell->config.train,
                        .eval = &cell->config.eval,
                        .team = &team,
                        .model_arena = &arena};
    ck_assert_int_eq(trainer_init(&t, &error), PEAT_OK);
    ck_assert_msg(compare(&t, cell->label) > 0, "%s always says the same", cell->label);
    ck_assert_uint_eq(t.step_arena.used, 0);
    trainer_release(&t);
}

START_TEST(every_scheme_answers_the_same_both_ways)
{
    ck_assert_int_ge(plan.n, 36);
    for (int i = 0; i < plan.n; i++)
        assert_same_both_ways(&plan.cell[i]);
}
END_TEST

int main(void)
{
    return run_list(
        (struct tests){"decode", set_up, tear_down, 60, .needs = "PEAT_SOURCE PEAT_BUILD"},
        TESTS(every_scheme_answers_the_same_both_ways));
}
