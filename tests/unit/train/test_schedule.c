/* SPDX-License-Identifier: MIT */
/* test_schedule.c: the learning rate of each step. */
#include "support/support.h"
#include "train/trainer.h"

static struct train_config config_of(enum schedule_kind schedule)
{
    return (struct train_config){
        .steps = 1000, .lr = 2e-3, .warmup = 100, .schedule = schedule, .lr_min = 0.1};
}

TEST(warmup_rises_in_equal_steps_to_lr)
{
    for (int kind = SCHEDULE_COSINE; kind <= SCHEDULE_WSD; kind++) {
        struct train_config c = config_of((enum schedule_kind)kind);
        c.decay = 0.2;
        ck_assert_double_eq_tol(schedule_lr(&c, 1), 2e-5, 1e-18);
        ck_assert_double_eq_tol(schedule_lr(&c, 37), 37 * 2e-5, 1e-17);
        ck_assert_double_eq(schedule_lr(&c, 100), 2e-3);
    }
}

TEST(last_step_gets_exactly_the_lowest_rate)
{
    struct train_config c = config_of(SCHEDULE_COSINE);
    ck_assert_double_eq(schedule_lr(&c, 1000), c.lr * c.lr_min);
    c = config_of(SCHEDULE_LINEAR);
    ck_assert_double_eq(schedule_lr(&c, 1000), c.lr * c.lr_min);
    c = config_of(SCHEDULE_CONSTANT);
    ck_assert_double_eq(schedule_lr(&c, 1000), c.lr);
}

TEST(cosine_and_linear_follow_their_formulas)
{
    struct train_config c = config_of(SCHEDULE_COSINE), l = config_of(SCHEDULE_LINEAR);
    for (int64_t step = 101; step <= 1000; step++) {
        double x = (double)(step - 100) / 900.0;
        double cosine = 2e-4 + 1.8e-3 * 0.5 * (1.0 + cos(M_PI * x));
        double linear = 2e-4 + 1.8e-3 * (1.0 - x);
        ck_assert_double_eq_tol(schedule_lr(&c, step), cosine, 1e-17);
        ck_assert_double_eq_tol(schedule_lr(&l, step), linear, 1e-17);
        ck_assert_double_lt(schedule_lr(&c, step), schedule_lr(&c, step - 1));
    }
}

TEST(warmup_left_open_is_a_tenth_and_at_most_200)
{
    struct train_config c = config_of(SCHEDULE_COSINE);
    c.warmup = -1;
    ck_assert_int_eq(schedule_warmup(&c), 100);
    c.steps = 5000;
    ck_assert_int_eq(schedule_warmup(&c), 200);
    c.steps = 5;
    ck_assert_int_eq(schedule_warmup(&c), 0);
    c.warmup = 0;
    c.steps = 5000;
    ck_assert_int_eq(schedule_warmup(&c), 0);
    ck_assert_double_lt(schedule_lr(&c, 1), c.lr);
}

TEST(warmup_as_long_as_the_run_stays_finite)
{
    struct train_config c = config_of(SCHEDULE_COSINE);
    c.warmup = c.steps;
    for (int64_t step = 1; step <= c.steps; step++)
        ck_assert_double_eq_tol(schedule_lr(&c, step), c.lr * (double)step / 1000.0, 1e-17);
}

/* The settings of 1000 steps with a decay of a fifth: the constant part ends at step 800. */
TEST(wsd_is_constant_and_falls_in_equal_steps_at_the_end)
{
    struct train_config c = config_of(SCHEDULE_WSD);
    c.decay = 0.2;
    ck_assert_int_eq(schedule_flat_until(&c), 800);
    for (int64_t step = 100; step <= 800; step++)
        ck_assert_double_eq(schedule_lr(&c, step), c.lr);
    for (int64_t step = 801; step <= 1000; step++) {
        double x = (double)(step - 800) / 200.0;
        ck_assert_double_eq_tol(schedule_lr(&c, step), 2e-4 + 1.8e-3 * (1.0 - x), 1e-17);
    }
    ck_assert_double_eq(schedule_lr(&c, 1000), c.lr * c.lr_min);
}

TEST(length_does_not_change_the_rates_before_the_decay)
{
    struct train_config s = config_of(SCHEDULE_WSD), l = s;
    s.decay = l.decay = 0.2;
    s.warmup = l.warmup = -1;
    l.steps = 16000;
    ck_assert_int_eq(schedule_warmup(&s), 100);
    ck_assert_int_eq(schedule_warmup(&l), 100);
    for (int64_t step = 1; step <= schedule_flat_until(&s); step++)
        ck_assert_double_eq(schedule_lr(&s, step), schedule_lr(&l, step));
}

TEST(decay_has_a_step_and_at_most_all)
{
    struct train_config c = config_of(SCHEDULE_WSD);
    c.warmup = 0;
    c.decay = 1e-9;
    ck_assert_int_eq(schedule_flat_until(&c), 999);
    c.decay = 1.0;
    ck_assert_int_eq(schedule_flat_until(&c), 0);
    ck_assert_double_eq_tol(schedule_lr(&c, 500), 2e-4 + 1.8e-3 * 0.5, 1e-17);
    c.steps = 1;
    c.decay = 0.2;
    ck_assert_int_eq(schedule_flat_until(&c), 0);
}

int main(void)
{
    return run_tests((struct tests){"schedule"});
}
