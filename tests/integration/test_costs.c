/* SPDX-License-Identifier: MIT */
/*
 * test_costs.c: what each scheme and combination costs one model, as `peat plan` counts it.
 * docs/reference/costs.md is the table that comes out.
 */
#include "support/shell.h"
#include "support/support.h"

/* Of one cell against the first of its plan. */
static void add_row(struct strbuf *out, const char *axis, const struct value *cell,
                    const struct value *first)
{
    static const char *const ratios[] = {"flops_per_token", "activation_bytes", "generate_flops"};
    const char *label = json_get_text(value_get(cell, "axes"), axis);
    ck_assert_ptr_nonnull(label);
    strbuf_addf(out, "| `%s` | %lld |", label,
                (long long)(json_get_int(cell, "params", 0) - json_get_int(first, "params", 0)));
    for (int i = 0; i < 3; i++)
        strbuf_addf(out, " %.2f |",
                    json_get_number(cell, ratios[i]) / json_get_number(first, ratios[i]));
    strbuf_addf(out, " %s |\n", json_get_text(cell, "attention_path"));
}

static void add_table(struct strbuf *out, const char *head, const char *axis, const char *words)
{
    struct arena a;
    struct error err;
    arena_init(&a, "plan", 1 << 16);
    shell_expect(0,
                 "peat plan \"$PEAT_SOURCE\"/experiments/every-scheme.yaml model.d_model=128 "
                 "model.n_layer=4 train.seq_len=131 eval.lengths=64 seeds=1 %s --json 2>/dev/null",
                 words);
    struct value *plan = json_parse(&a, shell.printed.text, shell.printed.n, "plan", &err);
    ck_assert_msg(plan, "%s", err.text);
    strbuf_addf(out,
                "\n| %s | parameters | FLOPs per token | activations | answers | attention |\n"
                "| --- | --- | --- | --- | --- | --- |\n",
                head);
    const struct value *first = json_get_item(plan, "cells", 0), *cell = first;
    for (int i = 0; cell; cell = json_get_item(plan, "cells", ++i))
        add_row(out, axis, cell, first);
    arena_release(&a);
}

static void open_page(void)
{
    struct strbuf out;
    shell_open();
    strbuf_init(&out);
    strbuf_add(&out,
               "# Costs\n\n"
               "What each scheme and each combination adds to one model, by count: 4 layers of "
               "width 128 with 4 heads, the task\n`copy` with up to 64 symbols (131 tokens).\n\n"
               "* **parameters**: more or fewer than in the first row;\n"
               "* **FLOPs per token** in training, **activations** of the forward pass, and "
               "FLOPs to generate **answers**, each as a\n"
               "  multiple of the first row. An answer costs many times as much where a scheme "
               "cannot be computed for the newest\n  token alone "
               "([Decoding](../plugin-guide.md#decoding));\n"
               "* **attention**: `fused` keeps no T x T tensor, `composed` does.\n\n"
               "Time is the machine's: `peat bench step --scheme NAME`. For other sizes, "
               "`peat plan`. A scheme that acts on others\nstands with one.\n\n"
               "Made by the test `integration.costs` from `experiments/every-scheme.yaml`: do not "
               "edit.\n");
    add_table(&out, "scheme", "position.scheme", "position.combine=sum");
    strbuf_add(&out, "\nCombinations, with `learned`:\n");
    shell_expect(0, "cd \"$PEAT_SOURCE\"/plugins/combine && ls -d */ | grep -vx sum/ | LC_ALL=C "
                    "sort | sed 's|/||' | paste -sd, - | sed 's/.*/\"position.combine=[sum,&]\"/'");
    char words[1024];
    snprintf(words, sizeof(words), "report.baseline=null position.scheme=learned %s",
             shell.printed.text);
    words[strcspn(words, "\n")] = '\0';
    add_table(&out, "combination", "position.combine", words);
    shell_write("costs.md", out.text);
    strbuf_release(&out);
}

TEST(the_table_of_costs_is_what_plans_count)
{
    shell_expect(0, "cp costs.md \"$PEAT_BUILD\"; "
                    "diff -u \"$PEAT_SOURCE\"/docs/reference/costs.md costs.md || "
                    "{ echo \"cp $PEAT_BUILD/costs.md docs/reference/\"; exit 1; }");
}

/* Of four layers of attention on pairs with cope, 64 MiB are kept. */
TEST(what_attention_gives_back_is_not_planned_as_held)
{
    static const char plan[] =
        "peat plan \"$PEAT_SOURCE\"/experiments/every-scheme.yaml 'position.scheme=[%s]' "
        "position.combine=sum report.baseline=null model.d_model=128 model.n_layer=4 "
        "train.seq_len=131 eval.lengths=64 seeds=1 --json 2>/dev/null | awk -F'[:,]' "
        "'/\"activation_bytes\"/ {all = $2} /\"held_bytes\"/ {held = $2} "
        "END {print held / all; exit !(held < %s * all && held > %s * all)}'";
    shell_expect(0, plan, "cope", "0.8", "0.2");
    shell_expect(0, plan, "none", "1.001", "0.9");
}

int main(void)
{
    return run_tests((struct tests){"costs", open_page, shell_close, .seconds = 60,
                                    .needs = "PEAT_SOURCE PEAT PEAT_BUILD"});
}
