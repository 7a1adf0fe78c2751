/* SPDX-License-Identifier: MIT */
/* test_cli.c: the frame of the command line: exit codes, help, manual, messages, and `peat
 * plugins`. */
#include "support/shell.h"
#include "support/support.h"

struct use {
    const char *arguments;
    int status;
    const char *expected; /* part of what is printed */
};

static const struct use uses[] = {
    {"--help 2>/dev/null", 0, "usage: peat VERB"},
    {"help 2>/dev/null", 0, "usage: peat VERB"},
    {"2>&1 >/dev/null", 2, "usage: peat VERB"},
    {"--version 2>/dev/null", 0, "openblas"},
    {"plugisn 2>&1", 2, "peat: unknown verb 'plugisn' of 'peat'; did you mean 'plugins'?"},
    {"help plugins 2>/dev/null", 0, "usage: peat plugins VERB"},
    {"help plugins info 2>/dev/null", 0, "usage: peat plugins info PLUGIN [options]"},
    {"help run there 2>&1", 2, "peat: unknown verb 'there' of 'peat run'"},
    {"plugins help info 2>/dev/null", 0, "usage: peat plugins info PLUGIN [options]"},
    {"plugins list --knid 2>&1", 2,
     "peat: unknown option '--knid' of 'peat plugins list'; did you "
     "mean '--kind'?\ntry 'peat plugins list --help'\n"},
    {"plugins list -x 2>&1", 2, "peat: unknown option '-x' of 'peat plugins list'"},
    {"plugins list all 2>&1", 2, "peat: unexpected operand 'all'"},
    {"plugins info 2>&1", 2, "needs one name, not 0"},
    {"plugins info rotry 2>&1", 2, "peat: there is no plugin 'rotry'; did you mean 'rotary'?"},
    {"plugins info rotary 2>/dev/null", 0, "\nhooks    prepare, qkv\n"},
    {"plugins info scheme/rotary 2>/dev/null", 0, "paper    arXiv:2104.09864"},
    {"plugins info /etc 2>&1", 2, "peat: '/etc' is a directory"},
    {"plugins list 2>/dev/null", 0, "scheme   sinusoidal "},
    {"plugins list --kind=task 2>/dev/null", 0, "task  copy"},
    {"run x.yaml -j ' 2' 2>&1", 2, "must be a whole number from 1 to 1024, or auto, not ' 2'"},
    {"run x.yaml -j +2 2>&1", 2, "must be a whole number from 1 to 1024, or auto, not '+2'"},
    {"run x.yaml -j 1025 2>&1", 2, "must be a whole number from 1 to 1024, or auto, not '1025'"},
    {"run x.yaml -t all 2>&1", 2, "must be a whole number from 1 to 1024, or auto, not 'all'"},
    {"run x.yaml --only a --only b 2>&1", 2, "peat: option '--only' is given twice"},
    {"verify /tmp --seed 3 2>&1", 2, "options '--seed' and '--threads' go with --retrain N"},
    {"plot /tmp --kind bars --cost time 2>&1", 2, "option '--cost' is for --kind cost"},
    {"plan x.yaml --ids --json 2>&1", 2, "option '--ids' prints names alone"},
    {"results /tmp -f csv --injection 2>&1", 2, "option '--injection' is for --format table"},
    {"run x.yaml --shard ' 1/2' 2>&1", 2, "must be I/N with I from 1 to N, not ' 1/2'"},
    {"validate \"$PEAT_SOURCE\"/experiments/quickstart.yaml version=3 2>&1", 2,
     "peat: command line:1: version 3 is not known; this program reads versions 1 and 2"},
    {"plugins list 2>&1 >/dev/full", 1, "peat: cannot write to standard output: No space left"},
    {"plugins list 2>&1 >&-", 1, "peat: cannot write to standard output"},
};
enum { USES = sizeof(uses) / sizeof(uses[0]) };

LOOP_TEST(each_use_has_its_exit_code_and_text, USES)
{
    shell_says(uses[_i].status, uses[_i].expected, "peat %s", uses[_i].arguments);
}

/* ---- every verb ---- */

enum { NAMES = 256 };

/* Words, one a line in what was printed. */
struct names {
    struct strbuf text;
    int n;
    char *name[NAMES];
};

/* What completion offers after these words, the last of which is begun. */
static void read_offers(struct names *o, const char *words)
{
    strbuf_init(&o->text);
    shell_expect(0, "peat help --complete -- %s", words);
    strbuf_add(&o->text, shell.printed.text);
    o->n = 0;
    for (char *rest = NULL, *name = strtok_r(o->text.text, "\n", &rest); name;
         name = strtok_r(NULL, "\n", &rest)) {
        ck_assert_int_lt(o->n, NAMES);
        o->name[o->n++] = name;
    }
}

/* Arguments that are completed by names which the option's value is not read against. */
static const char names_of_others[] =
    " CHECK COLUMN,... COMBINE DIAGNOSTIC,... MEASURE MEASURE,... PROVIDER SCHEME ";

static bool names_other(const char *argument)
{
    char word[64];
    snprintf(word, sizeof(word), " %.*s ", (int)strcspn(argument, " \n"), argument);
    return strstr(names_of_others, word) != NULL;
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
    shell_says(2, valued ? "' needs a value" : "' does not have a value", "peat %s %s", verb,
               words.text);
    strbuf_addf(&words, "=1x");
    if (!strncmp(argument, "FILE", 4) || !strncmp(argument, "DIR", 3))
        shell_says(2, "' must not be empty", "peat %s %s ''", verb, option);
    if (number)
        shell_says(2, "' must be a whole number from ", "peat %s %s", verb, words.text);
    if (valued && values.n > 0 && *values.name[0] != '<' && !names_other(argument))
        shell_says(2, "' must be one of ", "peat %s %s", verb, words.text);
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
    shell_says(0, words.text, "peat %s --help", verb);
    strbuf_add(&page, shell.printed.text);
    shell_says(2, "unknown option '--no-such-option' of 'peat ", "peat %s --no-such-option", verb);
    shell_says(2, "unknown option '-%' of 'peat ", "peat %s -%%", verb);
    shell_prints(2, "peat: operand 1 is empty", "peat %s ''", verb);
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

LOOP_TEST(each_verb_is_explained_and_checked, 2)
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

/* The reader closes its end before anything is written; peat's own status goes round the pipe. */
TEST(a_reader_that_goes_away_is_no_crash_and_no_noise)
{
    shell_expect(0, "mkfifo fifo");
    shell_run("{ { read gone <fifo; peat plugins list 2>&4; echo status $? >&4; } 4>&3 | sh -c "
              "'exec <&-; echo >fifo'; } 3>&1");
    ck_assert_str_eq(shell.printed.text, "status 1\n");
}

static void assert_list_of_texts(const struct value *v)
{
    ck_assert_int_eq(v->kind, VALUE_LIST);
    for (int i = 0; i < v->n; i++)
        ck_assert_int_eq(v->item[i]->kind, VALUE_TEXT);
}

/* What the program prints as JSON with these words. */
static struct value *printed_json(struct arena *a, const char *words)
{
    struct error err = {0};
    shell_expect(0, "peat %s", words);
    arena_init(a, "test", 1 << 16);
    struct value *v = json_parse(a, shell.printed.text, shell.printed.n, words, &err);
    ck_assert_msg(v != NULL, "%s", err.text);
    return v;
}

TEST(list_as_json_has_every_key_of_every_plugin)
{
    static const char *const texts[] = {"name", "kind", "version", "summary", "paper", "path"};
    struct arena arena;
    struct value *list = printed_json(&arena, "plugins list --json");
    ck_assert_int_eq(list->kind, VALUE_LIST);
    ck_assert_int_gt(list->n, 0);
    for (int i = 0; i < list->n; i++) {
        for (int k = 0; k < 6; k++)
            ck_assert_int_eq(value_get(list->item[i], texts[k])->kind, VALUE_TEXT);
        assert_list_of_texts(value_get(list->item[i], "hooks"));
        assert_list_of_texts(value_get(list->item[i], "traits"));
    }
    arena_release(&arena);
}

TEST(info_as_json_explains_each_parameter)
{
    struct arena arena;
    struct value *info = printed_json(&arena, "plugins info rotary --json");
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
}

TEST(too_small_a_stack_is_named)
{
#ifndef PEAT_SANITIZED
    shell_says(2, "peat: a stack of 64 KiB is too small: at least 512 are needed",
               "ulimit -s 64; peat --version");
    shell_expect(0, "ulimit -s 512; peat --version");
    shell_says(2, "peat: OMP_STACKSIZE is 64K, too small a stack for threads: at least 256K are",
               "OMP_STACKSIZE=64K peat --version");
    shell_expect(2, "OMP_STACKSIZE=' 100000 b' peat --version");
    shell_expect(0, "for n in 256 ' 1 M' 262144B 4g x; do OMP_STACKSIZE=\"$n\" peat --version || "
                    "exit 1; done");
#endif
}

int main(void)
{
    return run_tests(
        (struct tests){"cli", shell_open, shell_close, .seconds = 120, .needs = "PEAT"});
}
