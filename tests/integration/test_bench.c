/* SPDX-License-Identifier: MIT */
/* test_bench.c: peat bench and the programs of tests/bench: their output, never their speed. */
#include <sys/wait.h>

#include "support/support.h"

/* What `command` prints, and its exit code. */
static int run_command(const char *command, char *out, size_t room)
{
    FILE *f = popen(command, "r");
    ck_assert_ptr_nonnull(f);
    size_t n = fread(out, 1, room - 1, f);
    out[n] = '\0';
    int end = pclose(f);
    return WIFEXITED(end) ? WEXITSTATUS(end) : -1;
}

static int run(const char *arguments, char *out, size_t room)
{
    char command[512];
    snprintf(command, sizeof(command), "%s bench %s 2>&1", getenv("PEAT"), arguments);
    return run_command(command, out, room);
}

static int run_tool(const char *arguments, char *out, size_t room)
{
    char command[512];
    snprintf(command, sizeof(command), "%s/bench/%s 2>&1", getenv("PEAT_BUILD"), arguments);
    return run_command(command, out, room);
}

START_TEST(every_operation_is_one_line_of_json)
{
    static char out[1 << 15];
    int code = run_tool("ops --d 16 --heads 2 --T 8 --B 2 --V 11", out, sizeof(out));
    ck_assert_msg(code == 0, "%d: %s", code, out);
    struct arena a;
    struct error err = {0};
    arena_init(&a, "json", 1 << 14);
    int n = 0;
    for (char *line = strtok(out, "\n"); line != NULL; line = strtok(NULL, "\n"), n++) {
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
END_TEST

START_TEST(answers_with_stored_rows_are_those_of_whole_passes)
{
    static char out[1 << 12];
    int code = run_tool("decode --d 16 --heads 2 --layers 2 --T 24 --B 2 --V 11 --steps 1 "
                        "--scheme rotary",
                        out, sizeof(out));
    ck_assert_msg(code == 0, "%d: %s", code, out);
    ck_assert_msg(strstr(out, "\"same\": true") && strstr(out, "\"ratio\": "), "%s", out);
    ck_assert_int_eq(run_tool("decode --T 1", out, sizeof(out)), 2);
}
END_TEST

START_TEST(a_scheme_can_be_chosen)
{
    static char out[1 << 12];
    static const char step[] = "step --d 16 --heads 2 --layers 1 --T 8 --B 2 --steps 1 --warmup 0 "
                               "--json --scheme ";
    char words[256];
    snprintf(words, sizeof(words), "%srotary", step);
    ck_assert_msg(run(words, out, sizeof(out)) == 0, "%s", out);
    ck_assert_msg(strstr(out, "\"scheme\": \"rotary\"") != NULL, "%s", out);
    snprintf(words, sizeof(words), "%srotory", step);
    ck_assert_int_eq(run(words, out, sizeof(out)), 2);
    ck_assert_msg(strstr(out, "there is no scheme 'rotory'") != NULL, "%s", out);
}
END_TEST

/* d, heads, layers, T, B: the last four are those of docs/performance.md, in the long form alone.
 */
static const int shapes[][5] = {{32, 2, 2, 48, 8},
                                {64, 4, 2, 64, 32},
                                {128, 4, 4, 128, 16},
                                {256, 8, 6, 256, 8},
                                {512, 8, 8, 512, 4}};

START_TEST(twenty_steps_give_the_same_weights_at_one_two_and_four_threads)
{
    static const char *const provider[] = {"openblas", "auto"};
    const int *s = shapes[_i / 2];
    char words[256], first[80] = "";
    static char out[1 << 12];
    for (int threads = 1; threads <= 4; threads *= 2) {
        snprintf(words, sizeof(words),
                 "step --d %d --heads %d --layers %d --T %d --B %d --warmup 0 --steps 20 --json "
                 "--gemm %s --threads %d",
                 s[0], s[1], s[2], s[3], s[4], provider[_i % 2], threads);
        ck_assert_msg(run(words, out, sizeof(out)) == 0, "%s", out);
        const char *weights = strstr(out, "\"weights\": ");
        ck_assert_ptr_nonnull(weights);
        if (threads == 1)
            snprintf(first, sizeof(first), "%.77s", weights);
        ck_assert_msg(strncmp(first, weights, strlen(first)) == 0, "%s\nnot %s", out, first);
    }
}
END_TEST

START_TEST(other_words_are_refused)
{
    static char out[1 << 12];
    ck_assert_int_eq(run("stop", out, sizeof(out)), 2);
    ck_assert_msg(strstr(out, "there is no benchmark 'stop'; the only one is 'step'") != NULL, "%s",
                  out);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("bench");
    TCase *tc = tcase_create("bench");
    bool all = argc > 1 && strcmp(argv[1], "--long") == 0;
    tcase_set_timeout(tc, all ? 900 : 60);
    setenv("GOMP_SPINCOUNT", "1000", 0); /* there may be fewer cores than threads */
    tcase_add_loop_test(tc, twenty_steps_give_the_same_weights_at_one_two_and_four_threads, 0,
                        all ? 2 * (int)(sizeof(shapes) / sizeof(*shapes)) : 2);
    tcase_add_test(tc, every_operation_is_one_line_of_json);
    tcase_add_test(tc, answers_with_stored_rows_are_those_of_whole_passes);
    tcase_add_test(tc, a_scheme_can_be_chosen);
    tcase_add_test(tc, other_words_are_refused);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
