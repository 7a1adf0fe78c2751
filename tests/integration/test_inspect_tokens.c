/* SPDX-License-Identifier: MIT */
/* test_inspect_tokens.c: peat inspect of what takes tokens, a phase or a combination. */
#include "support/shell.h"
#include "support/support.h"
#include "support/texts.h"

/* A scheme that takes all it can ask for, with a probe in each place; a sum with one. */
static const char source[] =
    "#include <peat/plugin.h>\n"
    "static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])\n"
    "{\n"
    "    double *x = peat_scratch(c, c->B * c->q->T);\n"
    "    for (int64_t i = 0; x && i < c->B * c->q->T; i++)\n"
    "        x[i] = c->q->token[i] + 1000 * (c->q->pad && c->q->pad[i]) + 0.001 * (double)c->step\n"
    "               + 1e4 * (c->phase == PEAT_TRAIN);\n"
    "    shared[0] = peat_fill(c, 3, (int64_t[]){c->B, c->q->T, 1}, x);\n"
    "    peat_probe(c, \"ids\", shared[0]);\n"
    "    return shared[0] ? PEAT_OK : PEAT_FAILED;\n"
    "}\n"
    "static peat_node *encode(const peat_call *c)\n"
    "{\n"
    "    if (c->q->token[0] == 'x')\n"
    "        return peat_fail(c->g, \"an x in front is too much\");\n"
    "    if (c->q->token[0] == 'y')\n"
    "        *(volatile int *)0 = 0;\n"
    "    return peat_mul(c->g, c->shared[0], peat_rows(c, c->q, c->d, ROW));\n"
    "}\n"
    "static peat_status qkv(const peat_call *c, peat_qkv *io)\n"
    "{\n"
    "    peat_probe(c, \"queries\", io->q);\n"
    "    for (int i = 0; i < MORE; i++)\n"
    "        peat_probe(c, i == 99 ? \"hundredth\" : \"one\", peat_add(c->g, io->q, io->q));\n"
    "    return PEAT_OK;\n"
    "}\n"
    "static const peat_scheme scheme = {.size = sizeof(scheme), .needs = PEAT_NEED_TOKENS,\n"
    "                                   .prepare = prepare, .encode = encode, .qkv = qkv};\n"
    "PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, \"seer\", \"1\", \"sees all\", \"MIT\", \"\")\n";

static void open_seer(void)
{
    struct strbuf text;
    shell_open();
    strbuf_init(&text);
    strbuf_add(&text, "#include <stdint.h>\n"
                      "static void ROW(const void *k, const double *pos, double *out, int64_t d)\n"
                      "{\n"
                      "    (void)k;\n"
                      "    for (int64_t i = 0; i < d; i++)\n"
                      "        out[i] = 1 + pos[0] - pos[0];\n"
                      "}\n");
    strbuf_add(&text, source);
    shell_write("seer.c", text.text);
    strbuf_release(&text);
    for (int more = 0; more <= 100; more += 100)
        shell_expect(0, "cc -shared -fPIC -O1 -DMORE=%d -I\"$PEAT_SOURCE\"/include seer.c -o %s.so",
                     more, more ? "many" : "seer");
}

TEST(a_scheme_that_needs_tokens_gets_them_and_shows_its_stream)
{
    shell_says(0, "seer.so: stream, 4 x 2", "peat inspect ./seer.so --d 2 --T 4");
    shell_expect(0, "peat inspect ./seer.so --d 2 --text 'ab c' -f csv");
    ck_assert_str_eq(shell.printed.text, "97,97\n98,98\n32,32\n99,99\n");
    shell_expect(0, "peat inspect ./seer.so --d 2 --tokens 5,300,0 -f csv");
    ck_assert_str_eq(shell.printed.text, "5,5\n300,300\n0,0\n");
}

TEST(phase_step_rows_and_padding_are_what_was_asked_for)
{
    shell_expect(0, "peat inspect ./seer.so --d 1 --tokens 5,6 --phase train --step 7 -f csv");
    ck_assert_str_eq(shell.printed.text, "10005.007\n10006.007\n");
    shell_expect(0, "peat inspect ./seer.so --d 1 --tokens 5,6 --pad 1 -f csv");
    ck_assert_str_eq(shell.printed.text, "1000\n5\n6\n");
    shell_expect(0, "peat inspect ./seer.so --d 1 --tokens 5,6 --rows 2 -f csv");
    ck_assert_str_eq(shell.printed.text, "row,position,0\n0,0,5\n0,1,6\n1,0,5\n1,1,6\n");
    shell_says(0, "stream of row 1, 2 x 1", "peat inspect ./seer.so --d 1 --tokens 5,6 --rows 2");
    shell_says(0, "queries of row 1, head 1, 2 x 1",
               "peat inspect ./seer.so --d 2 --heads 2 --tokens 5,6 --rows 2 --what queries");
}

TEST(every_probe_can_be_seen_of_any_hook_and_of_the_combination)
{
    static const char *const name[] = {"ids", "queries", "stream"};
    for (int i = 0; i < 3; i++)
        shell_says(0, name[i], "peat inspect ./seer.so --d 4 --T 3 --heads 2 --what %s", name[i]);
    shell_says(0, "gate", "peat inspect learned --d 4 --T 3 --combine gate_scalar --what gate");
    shell_says(0, "scale", "peat inspect learned --d 4 --T 3 --combine film --what scale");
    shell_says(0, "position", "peat inspect cope --d 4 --T 3 --what position --text abc");
    shell_says(0, "bias", "peat inspect cable --d 8 --T 3 --what bias");
    shell_says(0, "angle, 3 x 2", "peat inspect rotary --d 8 --T 3 --heads 2 --what angle");
    shell_says(0, "hundredth", "peat inspect ./many.so --d 4 --T 3 --what hundredth");
    shell_says(2, "has no table 'idz'; it has: stream, ids, queries; did you mean 'ids'?",
               "peat inspect ./seer.so --d 4 --T 3 --what idz");
    shell_says(2, "gives no stream, so combine 'film' has nothing to merge",
               "peat inspect rotary --d 4 --T 3 --combine film");
}

TEST(what_a_hook_says_and_where_it_dies_is_told)
{
    shell_says(2, "seer.encode: an x in front is too much",
               "peat inspect ./seer.so --d 2 --text xa");
    shell_says(2, "crashed with SIGSEGV in its encode", "peat inspect ./seer.so --d 2 --text ya");
}

TEST(what_is_asked_for_twice_or_in_vain_is_refused)
{
    shell_says(2, "exclude each other", "peat inspect rotary --d 4 --text a --tokens 3");
    shell_says(2, "the number of tokens is 2: leave --T out",
               "peat inspect rotary --d 4 --T 3 --text ab");
    shell_says(2, "must be ids from 0", "peat inspect rotary --d 4 --tokens 3,x");
    shell_says(2, "must be ids from 0", "peat inspect rotary --d 4 --tokens 3,");
    shell_says(2, "is for --phase train", "peat inspect rotary --d 4 --T 3 --step 3");
    shell_says(2, "unknown parameter", "peat inspect learned --d 4 --T 3 --rows 2 combine.x=3");
}

int main(void)
{
    shell_keep_signals();
    return run_tests((struct tests){.subject = "inspect_tokens",
                                    .open = open_seer,
                                    .close = shell_close,
                                    .seconds = 120,
                                    .needs = "PEAT PEAT_SOURCE"});
}
