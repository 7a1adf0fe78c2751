/* SPDX-License-Identifier: MIT */
/* test_bench.c: peat bench as a user runs it; what it prints, never how fast. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/value.h"
#include "support/support.h"

/* What the command prints on stdout, and its exit code. */
static int run(const char *arguments, char *out, size_t room)
{
    char command[512];
    snprintf(command, sizeof command, "%s bench %s 2>&1", getenv("PEAT"), arguments);
    FILE *f = popen(command, "r");
    ck_assert_ptr_nonnull(f);
    size_t n = fread(out, 1, room - 1, f);
    out[n] = '\0';
    int end = pclose(f);
    return WIFEXITED(end) ? WEXITSTATUS(end) : -1;
}

START_TEST(every_operation_is_one_line_of_json)
{
    static char out[1 << 15];
    int code = run("ops --d 16 --heads 2 --T 8 --B 2 --V 11 --json", out, sizeof out);
    ck_assert_msg(code == 0, "%d: %s", code, out);
    struct arena a;
    struct error err = {0};
    arena_init(&a, "json", 1 << 14);
    int n = 0;
    for (char *line = strtok(out, "\n"); line != NULL; line = strtok(NULL, "\n"), n++) {
        const struct value *v = value_from_json(&a, line, strlen(line), "stdout", &err);
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

START_TEST(a_scheme_can_be_chosen)
{
    static char out[1 << 12];
    static const char step[] = "step --d 16 --heads 2 --layers 1 --T 8 --B 2 --steps 1 --warmup 0 "
                               "--json --scheme ";
    char words[256];
    snprintf(words, sizeof words, "%srotary", step);
    ck_assert_msg(run(words, out, sizeof out) == 0, "%s", out);
    ck_assert_msg(strstr(out, "\"scheme\": \"rotary\"") != NULL, "%s", out);
    snprintf(words, sizeof words, "%srotory", step);
    ck_assert_int_eq(run(words, out, sizeof out), 2);
    ck_assert_msg(strstr(out, "there is no scheme 'rotory'") != NULL, "%s", out);
}
END_TEST

START_TEST(other_words_are_refused)
{
    static char out[1 << 12];
    ck_assert_int_eq(run("stop", out, sizeof out), 2);
    ck_assert_msg(strstr(out, "'step', 'ops' and 'grid', not 'stop'") != NULL, "%s", out);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bench");
    TCase *tc = tcase_create("bench");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, every_operation_is_one_line_of_json);
    tcase_add_test(tc, a_scheme_can_be_chosen);
    tcase_add_test(tc, other_words_are_refused);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
