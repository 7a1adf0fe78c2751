/* SPDX-License-Identifier: MIT */
/*
 * test_draws.c: the batches of every task that makes its questions itself are those that
 * tests/golden/draws.py makes from docs/checkpoint.md.
 */
#include "support/golden_file.h"
#include "support/plugin_harness.h"
#include "support/support.h"

enum { LENGTH_MOST = 64 };

static void check_numbers(const struct value *row, const char *key, const int32_t *x, int64_t T,
                          const char *what)
{
    const struct value *list = value_get(row, key);
    ck_assert_msg(!list || list->n == T, "%s: %s has %d places, not %d", what, key,
                  list ? list->n : 0, (int)T);
    for (int i = 0; list && i < list->n; i++)
        ck_assert_msg(list->item[i]->integer == x[i], "%s: %s at place %d is %d, not %d", what, key,
                      i, (int)x[i], (int)list->item[i]->integer);
}

static void check_row(const struct value *rows, int64_t number, const peat_batch *b, int64_t i,
                      struct arena *a, const char *task)
{
    ck_assert_msg(number < rows->n, "%s has more rows than %d", task, rows->n);
    const struct value *row = rows->item[number];
    const char *what = arena_printf(a, "%s, row %d", task, (int)number);
    check_numbers(row, "token", b->token + i * b->T, b->T, what);
    check_numbers(row, "target", b->target + i * b->T, b->T, what);
    if (value_get(row, "mark"))
        check_numbers(row, "mark", b->stream_id[0] + i * b->T, b->T, what);
}

static void check_part(struct harness *h,
                       void (*make)(struct harness *h, int64_t which, int64_t index,
                                    struct batch *b),
                       const struct value *rows, struct batch *b, const char *task)
{
    int64_t n = 0;
    for (int64_t index = 0; index == 0 || b->b.B > 0; index++) {
        make(h, 0, index, b);
        for (int64_t i = 0; i < b->b.B; i++)
            check_row(rows, n++, &b->b, i, &h->arena, task);
    }
    ck_assert_int_eq(n, rows->n);
}

static void check_case(const struct value *all, const struct value *c)
{
    struct harness h;
    struct batch b;
    const int64_t length = json_get_int(c, "length", 0);
    const char *task = json_get_text(c, "task");
    const struct value *train = value_get(c, "train");
    const peat_task_plan plan = {.arch = PEAT_DECODER,
                                 .seq_len = json_get_int(all, "seq_len", 0),
                                 .n_lengths = 1,
                                 .length = &length,
                                 .eval_tokens = json_get_int(c, "tokens", 0),
                                 .test = 0.5};
    struct arena arena;
    arena_init(&arena, "test", 1 << 16);
    const char *config = json_to_text(value_get(c, "config"), JSON_CANONICAL, &arena);
    ck_assert_msg(harness_task(&h, task, config, &plan) == PEAT_OK, "%s", h.err.text);
    ck_assert_int_eq(task_batch_init(&h.task, &b, &h.arena, train->n, LENGTH_MOST), PEAT_OK);
    harness_train(&h, (uint64_t)json_get_int(all, "seed", 0), json_get_int(all, "step", 0), &b);
    for (int64_t i = 0; i < b.b.B; i++)
        check_row(train, i, &b.b, i, &arena, task);
    check_part(&h, harness_eval, value_get(c, "evaluated"), &b, task);
    check_part(&h, harness_test, value_get(c, "test"), &b, task);
    harness_close(&h);
    arena_release(&arena);
}

TEST(batches_are_those_of_the_document)
{
    struct arena arena;
    arena_init(&arena, "test", 1 << 16);
    const struct value *all = golden_read("draws.json", &arena), *cases = value_get(all, "case");
    ck_assert(cases && cases->n >= 14);
    for (int i = 0; i < cases->n; i++)
        check_case(all, cases->item[i]);
    arena_release(&arena);
}

int main(void)
{
    return run_tests((struct tests){"draws", .needs = "PEAT_SOURCE PEAT_BUILD"});
}
