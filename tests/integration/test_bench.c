/* SPDX-License-Identifier: MIT */
/* test_bench.c: peat bench and the programs of tests/bench: their output, never their speed. */
#include "support/shell.h"
#include "support/support.h"

TEST(every_operation_is_one_line_of_json)
{
    shell_expect(0, "\"$PEAT_BUILD\"/bench/ops --d 16 --heads 2 --T 8 --B 2 --V 11");
    struct arena a;
    struct error err = {0};
    arena_init(&a, "json", 1 << 14);
    int n = 0;
    for (char *line = strtok(shell.printed.text, "\n"); line; line = strtok(NULL, "\n"), n++) {
        const struct value *v = json_parse(&a, line, strlen(line), "stdout", &err);
        ck_assert_msg(v != NULL && value_get(v, "op") != NULL, "%s", line);
        if (n == 0)
            ck_assert_double_gt(value_get(v, "copy_gb_s")->real, 0.0);
        else
            ck_assert_msg(value_get(v, "forward_ns")->real > 0.0 &&
                              value_get(v, "backward_plain_ns")->real > 0.0,
                          "%s", line);
    }
    ck_assert_int_gt(n, 8);
    arena_release(&a);
}

TEST(answers_with_stored_rows_are_those_of_whole_passes)
{
    shell_says(0, "\"same\": true",
               "\"$PEAT_BUILD\"/bench/decode --d 16 --heads 2 --layers 2 --T 24 --B 2 --V 11 "
               "--steps 1 --scheme rotary");
    assert_printed("\"ratio\": ");
    shell_expect(2, "\"$PEAT_BUILD\"/bench/decode --T 1");
}

TEST(a_step_prints_its_keys)
{
    static const char *const key[] = {"engine",
                                      "d",
                                      "heads",
                                      "layers",
                                      "T",
                                      "B",
                                      "V",
                                      "threads",
                                      "precision",
                                      "step_ms_median",
                                      "step_ms_min",
                                      "tokens_per_s",
                                      "gflops",
                                      "peak_rss_mib",
                                      "sgemm_gflops",
                                      "fraction_of_sgemm"};
    shell_expect(0, "peat bench step --d 16 --heads 2 --layers 1 --T 8 --B 2 --V 11 --steps 2 "
                    "--warmup 0 --json");
    struct arena a;
    struct error err = {0};
    arena_init(&a, "json", 1 << 14);
    const struct value *v = json_parse(&a, shell.printed.text, shell.printed.n, "stdout", &err);
    ck_assert_msg(v != NULL, "%s", err.text);
    for (size_t i = 0; i < sizeof(key) / sizeof(*key); i++)
        ck_assert_msg(value_get(v, key[i]), "no %s", key[i]);
    ck_assert_double_gt(value_get(v, "sgemm_gflops")->real, 0.0);
    arena_release(&a);
}

TEST(a_scheme_can_be_chosen)
{
    static const char step[] = "peat bench step --d 16 --heads 2 --layers 1 --T 8 --B 2 --steps 1 "
                               "--warmup 0 --json --scheme";
    shell_says(0, "\"scheme\": \"rotary\"", "%s rotary", step);
    shell_says(2, "there is no scheme 'rotory'", "%s rotory", step);
}

/* d, heads, layers, T, B: the last four are those of docs/performance.md, in the long form alone.
 */
static const int shapes[][5] = {{32, 2, 2, 48, 8},
                                {64, 4, 2, 64, 32},
                                {128, 4, 4, 128, 16},
                                {256, 8, 6, 256, 8},
                                {512, 8, 8, 512, 4}};
enum { SHAPES = sizeof(shapes) / sizeof(*shapes) };

static bool all;

LOOP_TEST(twenty_steps_give_the_same_weights_at_one_two_and_four_threads, all ? 2 * SHAPES : 2)
{
    static const char *const provider[] = {"openblas", "auto"};
    const int *s = shapes[_i / 2];
    char first[80] = "";
    for (int threads = 1; threads <= 4; threads *= 2) {
        shell_expect(0,
                     "peat bench step --d %d --heads %d --layers %d --T %d --B %d --warmup 0 "
                     "--steps 20 --json --gemm %s --threads %d",
                     s[0], s[1], s[2], s[3], s[4], provider[_i % 2], threads);
        const char *weights = strstr(shell.printed.text, "\"weights\": ");
        ck_assert_ptr_nonnull(weights);
        if (threads == 1)
            snprintf(first, sizeof(first), "%.77s", weights);
        ck_assert_msg(strncmp(first, weights, strlen(first)) == 0, "%s\nnot %s", shell.printed.text,
                      first);
    }
}

TEST(other_words_are_refused)
{
    shell_says(2, "there is no benchmark 'stop'; the only one is 'step'", "peat bench stop");
    shell_says(2, "there is 'step'", "peat bench");
}

int main(int argc, char **argv)
{
    all = argc > 1 && strcmp(argv[1], "--long") == 0;
    setenv("GOMP_SPINCOUNT", "1000", 0); /* there may be fewer cores than threads */
    return run_tests((struct tests){"bench", shell_open, shell_close, .seconds = all ? 900 : 60});
}
