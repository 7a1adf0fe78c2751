/* SPDX-License-Identifier: MIT */
/* test_plugin_messages.c: what is said to whoever writes a plugin, in every command. */
#include "support/shell.h"
#include "support/support.h"
#include "support/texts.h"

/* CRIME is the body of a hook, HOOK its name; nothing is declared. */
static const char source[] =
    "#include <peat/plugin.h>\n"
    "static peat_node *flat(const peat_call *c, peat_node *x)\n"
    "{\n"
    "    return peat_reshape(c->g, x, 1, (int64_t[]){c->B * c->q->T * c->dims.D});\n"
    "}\n"
    "__attribute__((unused)) static void row(const void *k, const double *p, double *x, int64_t "
    "d)\n"
    "{\n"
    "    (void)k;\n"
    "    for (int64_t i = 0; i < d; i++)\n"
    "        x[i] = p[0] / (double)(i + 1);\n"
    "}\n"
    "#if IN_BIAS\n"
    "static peat_node *bias(const peat_call *c, const peat_qkv *p)\n"
    "{ (void)flat; (void)p; return CRIME; }\n"
    "#elif IN_LOGITS\n"
    "static peat_node *logits(const peat_call *c, const peat_qkv *p, peat_node *S, peat_node "
    "*bias)\n"
    "{ (void)flat; (void)p; (void)S; (void)bias; return CRIME; }\n"
    "#elif IN_CONTEXT\n"
    "static peat_node *context(const peat_call *c, const peat_qkv *p, peat_node *o, peat_node *W)\n"
    "{ (void)flat; (void)p; (void)o; (void)W; return CRIME; }\n"
    "#else\n"
    "static peat_node *encode(const peat_call *c)\n"
    "{ (void)flat; return CRIME; }\n"
    "#endif\n"
    "static const peat_scheme scheme = {.size = sizeof(scheme),\n"
    "#if IN_BIAS\n"
    "    .bias = bias};\n"
    "#elif IN_LOGITS\n"
    "    .logits = logits};\n"
    "#elif IN_CONTEXT\n"
    "    .context = context};\n"
    "#else\n"
    "    .encode = encode};\n"
    "#endif\n"
    "PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, \"rash\", \"1\", \"asks for nothing\", \"MIT\", "
    "\"\")\n";

static void build_rash(const char *in, const char *crime)
{
    shell_write("rash.c", source);
    shell_expect(0,
                 "cc -shared -fPIC -O1 -D%s=1 -D'CRIME=(%s)' -I\"$PEAT_SOURCE\"/include "
                 "rash.c -o rash.so",
                 in, crime);
}

#define TOKEN "(peat_node *)(intptr_t)*(const volatile int32_t *)c->q->token"

static const struct undeclared {
    const char *in, *crime, *flag;
} undeclared[] = {
    {"IN_BIAS", "flat(c, c->x_q)", "declare PEAT_NEED_X (x_q, x_k)"},
    {"IN_LOGITS", "flat(c, c->x_k)", "PEAT_NEED_X (x_q, x_k)"},
    {"IN_LOGITS", "flat(c, bias)", "PEAT_NEED_BIAS (bias)"},
    {"IN_CONTEXT", "flat(c, W)", "PEAT_NEED_W (W)"},
    {"IN_BIAS", "flat(c, p ? p->q : 0)", "PEAT_NEED_QK (q, k, v)"},
    {"IN_BIAS", "flat(c, peat_project(c, c->x_q, 0))", "PEAT_NEED_PROJECT"},
    {"IN_BIAS", TOKEN, "PEAT_NEED_TOKENS (token)"},
    {"IN_ENCODE", TOKEN, "PEAT_NEED_TOKENS (token)"},
};

LOOP_TEST(what_a_scheme_does_not_declare_is_named_where_it_is_missing, 8)
{
    const struct undeclared *u = &undeclared[_i];
    build_rash(u->in, u->crime);
    shell_says(2, u->flag, "peat inspect ./rash.so --d 4 --T 3 --text abc");
    assert_printed("rash");
    shell_says(1, u->flag, "peat plugins check ./rash.so --only finite");
}

static const char experiment[] = "version: 1\n"
                                 "name: e\n"
                                 "defaults:\n"
                                 "  task: {plugin: copy, symbols: 4}\n"
                                 "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
                                 "  position: {scheme: {plugin: ./rash.so}}\n"
                                 "  train: {steps: 2, batch: 2, seq_len: 7}\n"
                                 "  eval: {tokens: 64}\n";

TEST(a_plugin_that_hides_an_installed_one_is_named)
{
    shell_expect(
        0, "mkdir -p mine/task && cp \"$(find \"$PEAT_BUILD\"/lib* -name copy.so)\" mine/task");
    shell_write("e.yaml", "version: 2\nname: e\ndefaults: {task: {plugin: copy, symbols: 4}}\n");
    shell_says(0, "warning: none.-.s0: task 'copy' is '",
               "export PEAT_PLUGIN_PATH=mine:$PEAT_PLUGIN_PATH; peat plan e.yaml");
    assert_printed("/mine/task/copy.so', not '");
    shell_says(0, "/mine/task/copy.so' hides '",
               "PEAT_PLUGIN_PATH=mine peat plugins list -k task 2>&1");
    shell_says(0, "warning: there is a task 'copy' already", "peat plugins new copy -k task");
    shell_expect(1, "peat plan e.yaml | grep warning");
}

TEST(a_file_of_c_is_built_with_the_headers_of_the_program)
{
    shell_expect(0, "cp \"$PEAT_SOURCE\"/plugins/template/scheme/my_scheme.c .");
    shell_says(0, "wrote my_scheme.so; check it with: peat plugins check ./my_scheme.so\n",
               "peat plugins build my_scheme.c");
    shell_expect(0, "peat plugins info ./my_scheme.so && peat plugins cflags | grep -q '^-I/'");
    shell_write("e.c", "int x = ;\n");
    shell_says(1, "'x.so' was not built", "peat plugins build -o x.so e.c 2>&1");
    shell_says(2, "there is no 'no.c'", "peat plugins build no.c");
    shell_says(2, "'no' is not a file of C (.c) or C++ (.cc)", "peat plugins build no");
    shell_says(1, "the compiler 'nocc' is not installed", "CC=nocc peat plugins build e.c");
}

TEST(drawn_cases_know_the_files_of_a_task)
{
    shell_says(0, "passed   cases", "peat plugins check text --thorough --seconds 1 --seed 1");
}

TEST(a_crash_names_its_hook_in_every_command)
{
    build_rash("IN_ENCODE", "*(peat_node *volatile *)0");
    shell_write("e.yaml", experiment);
    static const struct {
        const char *command, *says;
        int status;
    } all[] = {{"inspect ./rash.so --d 4 --T 3", "in its encode", 2},
               {"inspect ./rash.so --d 4 --T 3 --rows 2", "in its encode", 2},
               {"plan e.yaml", "in its encode", 2},
               {"validate e.yaml", "in its encode", 2},
               {"run e.yaml", "in its encode", 2},
               {"plugins check ./rash.so --only finite", "rash.encode: killed by signal 11", 1}};
    for (int i = 0; i < 6; i++)
        shell_says(all[i].status, all[i].says, "peat %s", all[i].command);
    build_rash("IN_ENCODE", "peat_rows(c, c->q, c->d, 0)");
    shell_run("peat plan e.yaml");
    assert_printed("encode");
}

/* It lives until the cell was trained. */
TEST(a_crash_names_its_hook_in_runs_and_diagnoses)
{
    static const char later[] =
        "access(\"rash\", F_OK) == 0 ? *(peat_node *volatile *)0 : peat_rows(c, c->q, c->d, row)";
    shell_write("lib.h", "#include <unistd.h>\n");
    shell_write("rash.c", source);
    shell_expect(0,
                 "cc -shared -fPIC -O1 -include lib.h -DIN_ENCODE=1 -D'CRIME=(%s)'"
                 " -I\"$PEAT_SOURCE\"/include rash.c -o rash.so",
                 later);
    shell_write("e.yaml", experiment);
    shell_expect(0, "peat run e.yaml -o run");
    shell_run("touch rash && peat run e.yaml -o again");
    assert_printed("encode");
    static const char *const looks[] = {"diagnose run 0", "diagnose run '*'", "inspect run 0"};
    for (int i = 0; i < 3; i++)
        shell_says(2, "'rash' (", "peat %s", looks[i]);
    assert_printed("in its encode");
}

TEST(a_run_checks_no_plugin_and_refuses_what_it_imports_as_the_check_does)
{
    build_rash("IN_ENCODE", "peat_rows(c, c->q, c->d, row)");
    shell_write("e.yaml", experiment);
    shell_says(0, "rash.so: no run checks a plugin: `peat plugins check ",
               "peat run e.yaml -o run 2>&1");
    shell_expect(0, "peat run e.yaml -o run seeds=2 >out 2>&1");
    shell_expect(1, "grep 'checks a plugin' out");
    shell_expect(0, "cc -shared -fPIC -O1 -include stdlib.h -DIN_ENCODE=1 "
                    "-D'CRIME=(rand() ? peat_rows(c, c->q, c->d, row) : 0)' "
                    "-I\"$PEAT_SOURCE\"/include rash.c -o rash.so");
    shell_says(2, "it imports 'rand', which draws from the process: draw with peat_random",
               "peat run e.yaml -o other");
    assert_printed("e.yaml:");
    shell_says(2, "it imports 'rand'", "peat run run");
    shell_expect(0, "mkdir mine && cp rash.so mine && sed -i 's:./rash.so:rash:' e.yaml");
    shell_says(2, "it imports 'rand'", "PEAT_PLUGIN_PATH=mine peat plan e.yaml");
    shell_says(1, "failed   abi                     it imports 'rand'",
               "peat plugins check ./rash.so --only abi");
}

/* What the file says of its compiler decides which of the two it was. */
TEST(a_run_says_what_is_new_in_a_plugin_that_was_built_again)
{
    shell_expect(0, "peat plugins new mine --kind scheme && cd mine && peat plugins build mine.c");
    shell_write("e.yaml", "version: 2\nname: e\ndefaults:\n  task: {plugin: copy, symbols: 4}\n"
                          "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
                          "  train: {steps: 1, batch: 2, seq_len: 9}\n"
                          "matrix: {position.scheme: [{plugin: ./mine/mine.so}]}\n");
    shell_expect(0, "peat run e.yaml");
    shell_expect(0, "CFLAGS='-O1 -DX=\"1\"' peat plugins build mine/mine.c");
    shell_says(0, " -O3`, and now by `", "peat run e.yaml");
    shell_expect(0, "sed -i 's/0[.]1/0.25/' mine/mine.c && CFLAGS='-O1 -DX=\"1\"' "
                    "peat plugins build mine/mine.c");
    shell_says(0, "scheme 'mine' has another source or compiler: the flags are the same",
               "peat run e.yaml");
    shell_says(0, ": train.steps is not what it was", "peat run e.yaml train.steps=2");
}

TEST(legal_shapes_are_listed)
{
    build_rash("IN_BIAS", "peat_fill(c, 4, (int64_t[]){1, 1, 1, 3}, peat_scratch(c, 3))");
    shell_says(1, "the hook returned shape [1, 1, 1, 3], expected [1|",
               "peat plugins check ./rash.so --only finite");
}

TEST(one_mistake_and_one_reason_are_said_once)
{
    build_rash("IN_BIAS", "flat(c, c->x_q)");
    shell_expect(1, "peat plugins check ./rash.so >out");
    shell_expect(0, "test $(grep -c 'operand 1 is missing' out) = 1");
    shell_expect(0, "test $(grep -c 'skipped .*not claimed' out) = 1");
    shell_says(0, "the same as finite: ", "cat out");
    shell_expect(0, "test $(peat plugins check ./rash.so --json | grep -c 'operand 1') -gt 5");
    shell_write("e.yaml",
                "version: 1\n"
                "name: e\n"
                "defaults:\n"
                "  task: {plugin: copy, symbols: 4}\n"
                "  model: {d_model: 20, n_layer: 1, n_head: 4}\n"
                "  train: {steps: 2, batch: 2, seq_len: 7}\n"
                "matrix: {position.scheme: [none, rotary], train.lr: [1e-3, 1e-4, 1e-5]}\n"
                "seeds: 2\n");
    shell_expect(0, "peat plan e.yaml >out && test $(grep -c '^skipped: ' out) = 1");
    shell_says(0, "skipped: rotary.-.1e-3.s0, rotary.-.1e-4.s0, rotary.-.1e-5.s0: ", "cat out");
    shell_says(1, "peat: no value: all cells with scheme rotary were skipped\n",
               "peat run e.yaml -o run");
    shell_expect(0, "peat status run >out");
    shell_expect(0, "test $(grep -c 'skipped .*rotary' out) = 1");
    shell_says(0, " and 5 more", "cat out");
}

TEST(reference_pages_quote_what_a_plugin_says)
{
    build_rash("IN_ENCODE", "peat_rows(c, c->q, c->d, row)");
    shell_expect(0, "mkdir odd && LC_ALL=C sed 's/asks for nothing/<b> \\x1b[31m|[a](b)/' rash.so "
                    ">odd/rash.so && PEAT_PLUGIN_PATH=odd python3 "
                    "\"$PEAT_SOURCE\"/docs/reference.py pages pages");
    shell_says(0, "\\<b> \\x1b[31m\\|[a]\\(b). [More](", "cat pages/schemes.md");
}

int main(void)
{
    shell_keep_signals();
    return run_tests((struct tests){.subject = "plugin_messages",
                                    .open = shell_open,
                                    .close = shell_close,
                                    .seconds = 120,
                                    .needs = "PEAT PEAT_SOURCE cc python3"});
}
