/* SPDX-License-Identifier: MIT */
/* cmd_bench.c: peat bench step|decode|ops|grid. */
#include <inttypes.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/verbs.h"

enum { MANY = 1 << 20, FEW = 1024 };

static const char *const precision_words[] = {"fp32", "bf16"};

struct request {
    struct bench_sizes size;
    int precision;
    bool json;
};

static int step_apart(void *ctx, struct trail *trail)
{
    const struct request *q = ctx;
    (void)trail;
    return bench_step(&q->size, q->json);
}

static int decode_apart(void *ctx, struct trail *trail)
{
    const struct request *q = ctx;
    (void)trail;
    return bench_decode(&q->size, q->json);
}

static int run_bench(const struct cli *cli)
{
    struct request *q = cli->options;
    const char *what = cli->operand[0];
    if (q->size.d % q->size.heads != 0)
        return cli_mistake(cmd_bench.name,
                           "a width of %" PRId64 " does not split into %" PRId64 " heads",
                           q->size.d, q->size.heads);
    q->size.bf16 = q->precision == 1;
    if (strcmp(what, "step") == 0)
        return cli_apart(step_apart, q);
    if (strcmp(what, "decode") == 0 && q->size.T < 2)
        return cli_mistake(cmd_bench.name, "half of a row is a prompt: -T is at least 2");
    if (strcmp(what, "decode") == 0)
        return cli_apart(decode_apart, q);
    if (strcmp(what, "ops") == 0)
        return bench_ops(&q->size, q->json);
    if (strcmp(what, "grid") == 0)
        return bench_grid(&q->size, q->json);
    return cli_mistake(cmd_bench.name, "there is 'step', 'decode', 'ops' and 'grid', not '%s'",
                       what);
}

static const struct cli_option options[] = {
    CLI_WHOLE('d', "d", "N", 1, MANY, size.d, "model width (default 128)"),
    CLI_WHOLE(0, "heads", "N", 1, MANY, size.heads, "attention heads (default 4)"),
    CLI_WHOLE(0, "layers", "N", 1, FEW, size.layers, "blocks (default 4)"),
    CLI_WHOLE('T', "T", "N", 1, MANY, size.T, "tokens of a sequence (default 128)"),
    CLI_WHOLE('B', "B", "N", 1, MANY, size.B, "sequences of a batch (default 16)"),
    CLI_WHOLE('V', "V", "N", 1, MANY, size.V, "vocabulary (default 256)"),
    CLI_WHOLE(0, "threads", "N", 1, FEW, size.threads, "threads (default 1)"),
    CLI_WHOLE(0, "steps", "N", 1, MANY, size.steps, "steps timed (default 20)"),
    CLI_WHOLE(0, "warmup", "N", 0, MANY, size.warmup, "steps before them (default 3)"),
    CLI_TEXT(0, "scheme", "NAME", size.scheme, "positional scheme (default learned)"),
    CLI_TEXT(0, "gemm", "NAME", size.gemm, "what multiplies, as run.gemm (default auto)"),
    CLI_WORD(0, "precision", "NAME", precision_words, precision,
             "of step's products: fp32, bf16 (default fp32)"),
    CLI_FLAG(0, "json", json, "one JSON object"),
};

const struct cli_command cmd_bench = {
    .name = "peat bench",
    .summary = "time a training step on this machine",
    .about =
        "step  Times whole training steps of a decoder: zero gradients, forward, loss,\n"
        "      backward, clip to norm 1, AdamW. gflops counts 6 operations per matrix\n"
        "      parameter and token, and 12 layers d T per token for attention;\n"
        "      sgemm_gflops is the most that single products of such sizes reach; weights\n"
        "      is the SHA-256 of the trained weights, the same at any number of threads.\n"
        "decode  Times greedy answers with stored rows and with a whole pass for every token:\n"
        "      prompts of T/2 tokens, answers of as many; same says that both are equal.\n"
        "      ratio is between the two, pass_ratio between a pass over the newest token of\n"
        "      each sequence and over all T, the least of several (--steps).\n"
        "ops   Times each operation by itself, forward and backward, beside the plain\n"
        "      double-precision one, what copying memory reaches, and sgemm.\n"
        "grid  Times a small experiment of 16 cells with one and with two jobs.\n"
        "On a machine that does other work, set GOMP_SPINCOUNT=1000 for more than one thread.",
    .example = "peat bench step --d 256 --layers 4 --threads 2 --json",
    CLI_OPERANDS("step|decode|ops|grid", 1, 1,
                 "what is timed? there is 'step', 'decode', 'ops' and 'grid'"),
    CLI_ROWS(options),
    CLI_DEFAULTS(.size = {.d = 128,
                          .heads = 4,
                          .layers = 4,
                          .T = 128,
                          .B = 16,
                          .V = 256,
                          .threads = 1,
                          .steps = 20,
                          .warmup = 3,
                          .scheme = "learned",
                          .gemm = "auto"}),
    .run = run_bench,
};
