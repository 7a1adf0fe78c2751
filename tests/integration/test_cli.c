/* SPDX-License-Identifier: MIT */
/* test_cli.c: the frame of the command line: exit codes, help, messages, and `peat plugins`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "base/value.h"
#include "support/support.h"

/* Runs "$PEAT <arguments>" and reads what the shell prints; returns the exit status. */
static int run(const char *arguments, struct strbuf *printed)
{
    struct strbuf command;
    strbuf_init(&command);
    strbuf_addf(&command, "unset PEAT_PLUGIN_PATH; HOME=/nonexistent; \"$PEAT\" %s", arguments);
    fflush(NULL);
    FILE *pipe = popen(command.text, "r");
    ck_assert_ptr_nonnull(pipe);
    char part[4096];
    for (size_t n; (n = fread(part, 1, sizeof(part), pipe)) > 0;)
        strbuf_add_bytes(printed, part, n);
    int status = pclose(pipe);
    strbuf_release(&command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct use {
    const char *arguments;
    int status;
    const char *expected; /* part of what is printed */
};

static const struct use uses[] = {
    {"--help 2>/dev/null", 0, "usage: peat VERB"},
    {"help 2>/dev/null", 0, "usage: peat VERB"},
    {"2>&1 >/dev/null", 2, "usage: peat VERB"},
    {"--version 2>/dev/null", 0, "OpenBLAS"},
    {"plugisn 2>&1", 2, "peat: unknown verb 'plugisn' of 'peat'; did you mean 'plugins'?"},
    {"help plugins 2>/dev/null", 0, "usage: peat plugins VERB"},
    {"plugins help info 2>/dev/null", 0, "usage: peat plugins info NAME [options]"},
    {"plugins list --help 2>/dev/null", 0, "-k, --kind KIND"},
    {"plugins list --knid 2>&1", 2,
     "peat: unknown option '--knid' of 'peat plugins list'; did you "
     "mean '--kind'?\ntry 'peat plugins list --help'\n"},
    {"plugins list -x 2>&1", 2, "peat: unknown option '-x' of 'peat plugins list'"},
    {"plugins list --kind 2>&1", 2, "peat: option '--kind' needs a value"},
    {"plugins list --json=1 2>&1", 2, "peat: option '--json' takes no value"},
    {"plugins list -k layer 2>&1", 2, "must be one of scheme, combine, task, not 'layer'"},
    {"plugins list all 2>&1", 2, "peat: unexpected operand 'all'"},
    {"plugins info 2>&1", 2, "takes one name, not 0"},
    {"plugins info rotry 2>&1", 2, "peat: there is no plugin 'rotry'; did you mean 'rotary'?"},
    {"plugins info rotary 2>/dev/null", 0, "\nhooks    prepare, qkv\n"},
    {"plugins info scheme/rotary 2>/dev/null", 0, "paper    arXiv:2104.09864"},
    {"plugins info /etc 2>&1", 2, "peat: '/etc' is a directory, not a plugin"},
    {"plugins list 2>/dev/null", 0, "scheme   sinusoidal "},
    {"plugins list --kind=task 2>/dev/null", 0, "task  copy"},
    {"plugins list 2>&1 >/dev/full", 1, "peat: cannot write to standard output: No space left"},
    {"plugins list 2>&1 >&-", 1, "peat: cannot write to standard output"},
};
enum { USES = sizeof(uses) / sizeof(uses[0]) };

START_TEST(each_use_has_its_exit_code_and_text)
{
    const struct use *use = &uses[_i];
    struct strbuf printed;
    strbuf_init(&printed);
    int status = run(use->arguments, &printed);
    ck_assert_msg(status == use->status, "peat %s: %d\n%s", use->arguments, status, printed.text);
    ck_assert_msg(strstr(printed.text, use->expected) != NULL, "peat %s: no '%s' in\n%s",
                  use->arguments, use->expected, printed.text);
    strbuf_release(&printed);
}
END_TEST

/* The reader closes its end before anything is written; peat's own status goes round the pipe. */
START_TEST(a_reader_that_goes_away_is_no_crash_and_no_noise)
{
    struct strbuf printed;
    strbuf_init(&printed);
    run("--help >/dev/null; { { sleep 0.3; \"$PEAT\" plugins list 2>&4; echo status $? >&4; } 4>&3 "
        "| true; } 3>&1",
        &printed);
    ck_assert_str_eq(printed.text, "status 1\n");
    strbuf_release(&printed);
}
END_TEST

static void assert_list_of_texts(const struct value *v)
{
    ck_assert_int_eq(v->kind, VALUE_LIST);
    for (int i = 0; i < v->n; i++)
        ck_assert_int_eq(v->item[i]->kind, VALUE_TEXT);
}

START_TEST(list_as_json_has_every_key_of_every_plugin)
{
    static const char *const texts[] = {"name", "kind", "version", "summary", "paper", "path"};
    struct strbuf printed;
    struct arena arena;
    struct error err;
    strbuf_init(&printed);
    arena_init(&arena, "test", 1 << 16);
    ck_assert_int_eq(run("plugins list --json", &printed), 0);
    struct value *list = value_from_json(&arena, printed.text, printed.n, "list", &err);
    ck_assert_msg(list != NULL, "%s", err.text);
    ck_assert_int_eq(list->kind, VALUE_LIST);
    ck_assert_int_gt(list->n, 0);
    for (int i = 0; i < list->n; i++) {
        for (int k = 0; k < 6; k++)
            ck_assert_int_eq(value_get(list->item[i], texts[k])->kind, VALUE_TEXT);
        assert_list_of_texts(value_get(list->item[i], "hooks"));
        assert_list_of_texts(value_get(list->item[i], "traits"));
    }
    arena_release(&arena);
    strbuf_release(&printed);
}
END_TEST

START_TEST(info_as_json_explains_each_parameter)
{
    struct strbuf printed;
    struct arena arena;
    struct error err;
    strbuf_init(&printed);
    arena_init(&arena, "test", 1 << 16);
    ck_assert_int_eq(run("plugins info rotary --json", &printed), 0);
    struct value *info = value_from_json(&arena, printed.text, printed.n, "info", &err);
    ck_assert_msg(info != NULL, "%s", err.text);
    ck_assert_uint_eq(strlen(value_get(info, "sha256")->text), 64);
    const struct value *parameters = value_get(info, "parameters");
    ck_assert_int_gt(parameters->n, 0);
    for (int i = 0; i < parameters->n; i++) {
        ck_assert_int_eq(value_get(parameters->item[i], "key")->kind, VALUE_TEXT);
        ck_assert_int_eq(value_get(parameters->item[i], "doc")->kind, VALUE_TEXT);
        ck_assert_int_eq(value_get(parameters->item[i], "required")->kind, VALUE_BOOL);
        ck_assert_ptr_nonnull(value_get(parameters->item[i], "default"));
    }
    arena_release(&arena);
    strbuf_release(&printed);
}
END_TEST

int main(void)
{
    if (!getenv("PEAT")) {
        printf("skipped: PEAT, the program, is not set\n");
        return 77;
    }
    Suite *suite = suite_create("cli");
    TCase *frame = tcase_create("frame");
    tcase_set_timeout(frame, 30);
    tcase_add_loop_test(frame, each_use_has_its_exit_code_and_text, 0, USES);
    tcase_add_test(frame, a_reader_that_goes_away_is_no_crash_and_no_noise);
    suite_add_tcase(suite, frame);
    TCase *json = tcase_create("json");
    tcase_set_timeout(json, 30);
    tcase_add_test(json, list_as_json_has_every_key_of_every_plugin);
    tcase_add_test(json, info_as_json_explains_each_parameter);
    suite_add_tcase(suite, json);
    return run_suite(suite);
}
