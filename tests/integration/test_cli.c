/* SPDX-License-Identifier: MIT */
/* test_cli.c: the frame of the command line: exit codes, help, manual, completion, messages, and
 * `peat plugins`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "base/strbuf.h"
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
    {"help plugins info 2>/dev/null", 0, "usage: peat plugins info NAME [options]"},
    {"help run there 2>&1", 2, "peat: unknown verb 'there' of 'peat run'"},
    {"plugins help info 2>/dev/null", 0, "usage: peat plugins info NAME [options]"},
    {"plugins list --knid 2>&1", 2,
     "peat: unknown option '--knid' of 'peat plugins list'; did you "
     "mean '--kind'?\ntry 'peat plugins list --help'\n"},
    {"plugins list -x 2>&1", 2, "peat: unknown option '-x' of 'peat plugins list'"},
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

/* ---- every verb ---- */

enum { NAMES = 64 };

/* Words, one a line in what was printed. */
struct names {
    struct strbuf text;
    int n;
    char *name[NAMES];
};

/* What completion offers after these words, the last of which is begun. */
static void read_offers(struct names *o, const char *words)
{
    struct strbuf arguments;
    strbuf_init(&arguments);
    strbuf_init(&o->text);
    strbuf_addf(&arguments, "help --complete -- %s", words);
    ck_assert_int_eq(run(arguments.text, &o->text), 0);
    o->n = 0;
    for (char *rest = NULL, *name = strtok_r(o->text.text, "\n", &rest); name;
         name = strtok_r(NULL, "\n", &rest)) {
        ck_assert_int_lt(o->n, NAMES);
        o->name[o->n++] = name;
    }
    strbuf_release(&arguments);
}

static void assert_prints(const char *verb, const char *words, int expected, const char *text)
{
    struct strbuf arguments, printed;
    strbuf_init(&arguments);
    strbuf_init(&printed);
    strbuf_addf(&arguments, "%s %s 2>&1", verb, words);
    int status = run(arguments.text, &printed);
    ck_assert_msg(status == expected && strstr(printed.text, text), "peat %s: %d, no '%s' in\n%s",
                  arguments.text, status, text, printed.text);
    strbuf_release(&arguments);
    strbuf_release(&printed);
}

/* "--jobs" and whether it is a whole number, a word of a list, something else or a flag. */
static void assert_option_is_checked(const char *verb, const char *option, const char *page)
{
    struct strbuf words;
    struct names values;
    strbuf_init(&words);
    strbuf_addf(&words, " %s ", option);
    const char *row = strstr(page, words.text);
    ck_assert_msg(row != NULL, "the help page of '%s' has no '%s'", verb, option);
    const char *argument = row + words.n;
    bool number = strcspn(argument, " \n") == 1 && (*argument == 'N' || *argument == 'K');
    bool valued = *argument >= 'A' && *argument <= 'Z';
    strbuf_clear(&words);
    strbuf_addf(&words, "%s %s ''", verb, option);
    read_offers(&values, words.text);
    strbuf_clear(&words);
    strbuf_addf(&words, valued ? "%s" : "%s=1", option);
    assert_prints(verb, words.text, 2, valued ? "' needs a value" : "' takes no value");
    strbuf_addf(&words, "=1x");
    if (number)
        assert_prints(verb, words.text, 2, "' must be a whole number from ");
    if (valued && values.n > 0 && *values.name[0] != '<')
        assert_prints(verb, words.text, 2, "' must be one of ");
    strbuf_release(&values.text);
    strbuf_release(&words);
}

static void assert_verb_is_explained_and_checked(const char *verb)
{
    struct names options;
    struct strbuf words, page;
    strbuf_init(&words);
    strbuf_init(&page);
    strbuf_addf(&words, "usage: peat %s", verb);
    assert_prints(verb, "--help", 0, words.text);
    assert_prints(verb, "--no-such-option", 2, "unknown option '--no-such-option' of 'peat ");
    assert_prints(verb, "-%", 2, "unknown option '-%' of 'peat ");
    strbuf_clear(&words);
    strbuf_addf(&words, "%s --help", verb);
    run(words.text, &page);
    strbuf_clear(&words);
    strbuf_addf(&words, "%s -", verb);
    read_offers(&options, words.text);
    for (const char *row = page.text; (row = strstr(row, "\n  ")); row++) /* each is offered */
        if (row[3] == '-' || !strncmp(row + 3, "    --", 6)) {
            const char *name = strstr(row, "--");
            bool offered = false;
            for (int i = 0; i < options.n; i++)
                offered = offered || (strlen(options.name[i]) == strcspn(name, " \n") &&
                                      !strncmp(options.name[i], name, strlen(options.name[i])));
            ck_assert_msg(offered, "'%s' is offered without %.12s", verb, name);
        }
    for (int i = 0; i < options.n; i++)
        if (options.name[i][1] == '-')
            assert_option_is_checked(verb, options.name[i], page.text);
    strbuf_release(&options.text);
    strbuf_release(&words);
    strbuf_release(&page);
}

START_TEST(each_verb_is_explained_and_checked)
{
    struct names verbs;
    read_offers(&verbs, _i ? "plugins ''" : "''");
    ck_assert_int_gt(verbs.n, 5);
    for (int i = 0; i < verbs.n; i++) {
        char verb[64];
        snprintf(verb, sizeof(verb), "%s%s", _i ? "plugins " : "", verbs.name[i]);
        if (*verbs.name[i] != '-' && strcmp(verbs.name[i], "help") && strcmp(verb, "plugins"))
            assert_verb_is_explained_and_checked(verb);
    }
    strbuf_release(&verbs.text);
}
END_TEST

START_TEST(manual_pages_are_well_formed)
{
    struct strbuf printed;
    strbuf_init(&printed);
    int status = run("help --man man1 && test -s man1/peat.1 -a -s man1/peat-plugins-list.1 && "
                     "{ ! command -v mandoc >/dev/null || mandoc -Tlint man1/*.1; }",
                     &printed);
    ck_assert_msg(status == 0 && printed.n == 0, "%d: %s", status, printed.text);
    strbuf_release(&printed);
}
END_TEST

/* Words of a line as bash cuts it, "|" between what is offered for the last one. */
static const struct {
    const char *words, *offered;
} completions[] = {
    {"peat ru", "run|"},
    {"peat plugins li", "list|"},
    {"peat help plugins ch", "check|"},
    {"peat run --launch", "--launcher|"},
    {"peat results --format c", "csv|"},
    {"peat results --format = c", "csv|"},
    {"peat bench s", "step|"},
    {"peat run man1/peat-ru", "man1/peat-run.1|"},
    {"peat run a.yaml man1/peat-ru", "|"},
    {"peat results --cols a -o ma", "man1|"},
    {"peat results one ma", "man1|"},
    {"peat compare a = b c ma", "man1|"},
    {"peat run no-such-file --threads 1", "|"},
    {"peat nonsense x", "|"},
};
enum { COMPLETIONS = sizeof(completions) / sizeof(completions[0]) };

START_TEST(bash_completes)
{
    struct strbuf script, printed;
    strbuf_init(&script);
    strbuf_init(&printed);
    strbuf_addf(
        &script,
        "help >/dev/null; command -v bash >/dev/null || exit 77; bash -c '"
        "mkdir -p man1; touch man1/peat-run.1; . \"$PEAT_SOURCE\"/core/cli/completion.bash; "
        "COMP_WORDS=(%s); COMP_WORDS[0]=$PEAT; COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
        "_peat; printf \"%%s|\" \"${COMPREPLY[@]}\"'",
        completions[_i].words);
    int status = run(script.text, &printed);
    if (status != 77)
        ck_assert_msg(!strcmp(printed.text, completions[_i].offered), "%s: %s",
                      completions[_i].words, printed.text);
    strbuf_release(&script);
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
    struct value *list = json_parse(&arena, printed.text, printed.n, "list", &err);
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
    struct value *info = json_parse(&arena, printed.text, printed.n, "info", &err);
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
    char dir[] = "/tmp/peat-cli-XXXXXX";
    if (!mkdtemp(dir) || chdir(dir) != 0) {
        perror(dir);
        return EXIT_FAILURE;
    }
    Suite *suite = suite_create("cli");
    TCase *frame = tcase_create("frame");
    tcase_set_timeout(frame, 30);
    tcase_add_loop_test(frame, each_use_has_its_exit_code_and_text, 0, USES);
    tcase_add_test(frame, a_reader_that_goes_away_is_no_crash_and_no_noise);
    suite_add_tcase(suite, frame);
    TCase *verbs = tcase_create("verbs");
    tcase_set_timeout(verbs, 120);
    tcase_add_loop_test(verbs, each_verb_is_explained_and_checked, 0, 2);
    tcase_add_test(verbs, manual_pages_are_well_formed);
    tcase_add_loop_test(verbs, bash_completes, 0, COMPLETIONS);
    suite_add_tcase(suite, verbs);
    TCase *json = tcase_create("json");
    tcase_set_timeout(json, 30);
    tcase_add_test(json, list_as_json_has_every_key_of_every_plugin);
    tcase_add_test(json, info_as_json_explains_each_parameter);
    suite_add_tcase(suite, json);
    int status = run_suite(suite);
    dir_remove(dir, NULL);
    return status;
}
