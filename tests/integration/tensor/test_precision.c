/* SPDX-License-Identifier: MIT */
/* test_precision.c: train.precision as a user sees it. */
#include "support/shell.h"
#include "support/support.h"
#include "tensor/gemm.h"

static void open_experiment(void)
{
    shell_open();
    shell_write("e.yaml",
                "version: 1\n"
                "name: e\n"
                "defaults:\n"
                "  task: {plugin: text, path: text.txt}\n"
                "  model: {d_model: 64, n_layer: 2, n_head: 2}\n"
                "  position: {scheme: rotary}\n"
                "  train: {steps: 120, batch: 8, seq_len: 64, lr: 2e-3, precision: bf16}\n"
                "  eval: {every: 40, lengths: [64], tokens: 4096}\n"
                "seeds: 1\n");
    shell_expect(0, "cat \"$PEAT_SOURCE\"/docs/*.md \"$PEAT_SOURCE\"/LICENSE > text.txt");
}

TEST(an_unknown_precision_is_refused_where_it_stands)
{
    shell_says(2, "e.yaml:7:", "sed -i s/bf16/bf61/ e.yaml; peat plan e.yaml");
    assert_printed("bf16");
}

TEST(a_provider_without_bf16_is_refused_before_anything_runs)
{
    shell_says(2, "e.yaml:7:", "echo 'run: {gemm: openblas}' >> e.yaml; peat run e.yaml");
    assert_printed("precision 'bf16'");
    shell_expect(0, "test ! -e runs");
    shell_expect(0, "peat plan e.yaml train.precision=fp32");
}

/* Bits per byte of the validation text. */
static double value_at(const char *precision, int step)
{
    shell_expect(0,
                 "peat results r --format csv --all-steps | "
                 "awk -F, -v s=%d 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } "
                 "$c[\"train.precision\"] == \"%s\" && $c[\"step\"] == s && "
                 "$c[\"split\"] == \"valid\" && $c[\"metric\"] == \"bpb\" { print $c[\"value\"] }'",
                 step, precision);
    double x = strtod(shell.printed.text, NULL);
    ck_assert_msg(x > 0.0, "no value for %s at step %d: '%s'", precision, step, shell.printed.text);
    return x;
}

GROUP(bf16)

TEST(a_processor_without_bf16_is_refused_before_anything_runs)
{
    shell_says(2, "e.yaml:7:", "ONEDNN_MAX_CPU_ISA=AVX2 peat run e.yaml");
    assert_printed("this CPU has no instructions");
    shell_expect(0, "test ! -e runs");
}

TEST(the_curve_follows_that_of_fp32_and_each_result_names_its_precision)
{
    shell_expect(
        0, "printf 'matrix:\\n  train.precision: [fp32, bf16]\\n' >> e.yaml; peat run e.yaml -o r");
    for (int step = 40; step <= 120; step += 40) {
        double fp32 = value_at("fp32", step), bf16 = value_at("bf16", step);
        ck_assert_double_ne(fp32, bf16);
        ck_assert_double_eq_tol(fp32, bf16, 0.02 * fp32);
    }
    ck_assert_double_lt(value_at("bf16", 120), value_at("bf16", 40) - 0.1);
    shell_expect(0, "grep -h '\"precision\": \"bf16\"' r/cells/*bf16*/meta.json");
    shell_expect(0, "grep -h '\"precision\": \"fp32\"' r/cells/*fp32*/meta.json");
    shell_expect(0, "peat results r --format csv | head -1 | grep ,precision,");
}

TEST(trained_weights_have_the_same_bits_at_any_thread_count)
{
    char first[1 << 10] = "";
    for (int threads = 1; threads <= 4; threads *= 2) {
        shell_expect(0,
                     "peat bench step --d 64 --heads 2 --layers 2 --T 64 --B 24 --V 64 --steps 3 "
                     "--warmup 0 --precision bf16 --threads %d --json | "
                     "grep -o '\"weights\": \"[0-9a-f]*\"'",
                     threads);
        if (threads == 1)
            snprintf(first, sizeof(first), "%s", shell.printed.text);
        ck_assert_str_eq(first, shell.printed.text);
    }
    shell_expect(0, "peat bench step --d 64 --heads 2 --layers 2 --T 64 --B 24 --V 64 --steps 3 "
                    "--warmup 0 --json | grep -o '\"weights\": \"[0-9a-f]*\"'");
    ck_assert_str_ne(first, shell.printed.text);
}

TEST(an_interrupted_run_ends_as_an_uninterrupted_one)
{
    shell_expect(0, "echo 'run: {checkpoint: {every: 10}}' >> e.yaml; peat run e.yaml -o whole");
    shell_expect(130,
                 INTERRUPTED("peat run e.yaml -o parts", ANY("parts/cells/*/ckpt/*/state.json")));
    shell_expect(0, "test ! -e parts/cells/*/result.json");
    shell_expect(0, "peat run e.yaml -o parts");
    shell_expect(
        0, "cmp whole/cells/*/ckpt/*/model.safetensors parts/cells/*/ckpt/*/model.safetensors");
}

int main(void)
{
    struct tests tests = {"precision", open_experiment, shell_close, .seconds = 120};
    struct error missing = {0};
    int end = run_tests(tests);
    use_built_plugins();
    if (gemm_check_bf16("auto", &missing) != PEAT_OK) {
        printf("bf16 itself is not tested: %s\n", missing.text);
        return end;
    }
    tests.group = "bf16";
    return end | run_tests(tests);
}
