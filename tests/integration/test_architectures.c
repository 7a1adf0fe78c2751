/* SPDX-License-Identifier: MIT */
/* test_architectures.c: heads and kinds of models from YAML alone, and what is refused before
 * training. */
#include "support/shell.h"
#include "support/support.h"

/* A grid of one step for each cell. `rest` is the model and the position. */
static void write_grid(const char *task, int seq_len, const char *rest)
{
    char text[2048];
    snprintf(text, sizeof(text),
             "version: 1\n"
             "name: arch\n"
             "defaults:\n"
             "  task: %s\n"
             "  train: {steps: 2, batch: 4, seq_len: %d}\n"
             "  eval: {tokens: 64}\n"
             "%s",
             task, seq_len, rest);
    shell_write("arch.yaml", text);
}

static void write_texts(void)
{
    shell_expect(0, "for i in $(seq 60); do echo \"a text number $i,label $((i %% 3))\"; done "
                    "> texts.csv; cat \"$PEAT_SOURCE\"/include/peat/task.h > text.txt");
}

/* ---- classes ---- */

static const char *const class_tasks[] = {"{plugin: classify, path: texts.csv}",
                                          "{plugin: text_pair, path: text.txt}",
                                          "{plugin: images, side: 5}", "{plugin: order}"};
enum { CLASS_TASKS = sizeof(class_tasks) / sizeof(*class_tasks) };

LOOP_TEST(tasks_with_classes_serve_the_class_head, CLASS_TASKS)
{
    write_texts();
    write_grid(class_tasks[_i], 32,
               "  model: {arch: encoder, d_model: 16, n_layer: 1, n_head: 2, head: class}\n"
               "matrix:\n"
               "  model.pool: [cls, mean]\n"
               "  model.cls_position: [first, own, none]\n"
               "  position.scheme: [learned, rotary]\n"
               "seeds: 1\n");
    shell_expect(0, "peat run arch.yaml -o run -t 1");
    shell_expect(0, "test $(ls -d run/cells/*/result.json | wc -l) = 12");
}

/* As BERT is trained: masked bytes at their places, and the order of two stretches of the row. */
TEST(both_heads_are_learned_and_measured)
{
    write_texts();
    write_grid("{plugin: text_pair, path: text.txt}", 32,
               "  model: {arch: encoder, d_model: 16, n_layer: 1, n_head: 2, head: both}\n"
               "matrix:\n"
               "  model.pool: [cls, mean]\n"
               "  model.tie_embeddings: [false, true]\n"
               "  position.scheme: [learned, rotary]\n"
               "seeds: 1\n");
    shell_expect(0, "peat run arch.yaml -o run -t 1");
    shell_expect(0, "test $(ls -d run/cells/*/result.json | wc -l) = 8");
    shell_expect(0, "for m in order_accuracy masked_accuracy loss; do "
                    "grep -q \"\\\"$m\\\"\" run/cells/*/result.json || exit 1; done");
    shell_says(2, "has no token targets; use model.head: class",
               "peat plan arch.yaml task='{plugin: order}'");
    shell_says(2, "head: both needs model.arch: encoder", "peat plan arch.yaml model.arch=decoder");
}

/* ---- patches ---- */

TEST(images_serve_patches_with_every_place_of_a_class_token)
{
    write_grid("{plugin: images, side: 5, pool: 2}", 32,
               "  model: {arch: encoder, d_model: 16, n_layer: 1, n_head: 2, head: class, input: "
               "patches}\n"
               "matrix:\n"
               "  model.cls_position: [first, own, none]\n"
               "  position.scheme: [learned, sincos2d, rotary2d, alibi2d]\n"
               "seeds: 1\n");
    shell_expect(0, "peat run arch.yaml -o run -t 1");
    shell_expect(0, "test $(ls -d run/cells/*/result.json | wc -l) = 12");
    shell_expect(0, "peat export run sincos2d.sum.none.s0 -o m.safetensors && "
                    "grep -aq '\"patch.weight\"' m.safetensors && "
                    "! grep -aq '\"token.weight\"' m.safetensors");
}

/* ---- two sequences ---- */

/* Greedy decoding finds what a model of two sequences has learned, in the original setting too. */
TEST(two_sequences_learn_to_copy)
{
    write_grid("{plugin: copy, symbols: 4}", 6,
               "  model: {arch: seq2seq, d_model: 32, n_layer: 1, n_head: 2, d_ff: 64}\n"
               "matrix:\n"
               "  model.norm_place: [before, after]\n"
               "  position.scheme: [sinusoidal, {plugin: rotary, where: {across: true}}]\n"
               "seeds: 1\n");
    shell_expect(0, "peat run arch.yaml -o run -t 1 train.steps=400 train.batch=32 train.lr=5e-3 "
                    "'eval.lengths=[4]' eval.tokens=256");
    shell_expect(0, "for f in run/cells/*/metrics.jsonl; do grep '\"exact_match\"' $f | tail -1 | "
                    "grep -Eq '\"value\":(1|0[.]9)' || exit 1; done");
}

TEST(pairs_serve_two_sequences)
{
    shell_expect(0, "for i in $(seq 60); do printf 'source %%d\\ttarget %%d\\n' $i $((i / 2)); "
                    "done > pairs.tsv");
    write_grid("{plugin: pairs, path: pairs.tsv}", 16,
               "  model: {arch: seq2seq, d_model: 16, n_layer: 2, encoder_layers: 1, n_head: 2}\n"
               "matrix:\n"
               "  position.combine: [sum, concat_split]\n"
               "  position.scheme: [learned, t5_bias, {plugin: alibi, where: {across: true}}]\n"
               "seeds: 1\n");
    shell_expect(0, "peat run arch.yaml -o run -t 1");
    shell_expect(0, "peat export run learned.concat_split.s0 -o m.safetensors && "
                    "grep -aq '\"encoder.position.0.learned.table\"' m.safetensors && "
                    "grep -aq '\"block.1.cross.qkv.weight\"' m.safetensors");
}

/* ---- mixers ---- */

LOOP_TEST(every_kind_of_model_trains_with_every_mixer, 6)
{
    static const struct {
        const char *task, *model;
    } kinds[] = {
        {"{plugin: copy}", "arch: decoder"},
        {"{plugin: order}", "arch: encoder"},
        {"{plugin: text, path: text.txt}", "arch: decoder, tie_embeddings: true"},
        {"{plugin: order}", "arch: encoder, head: class, pool: mean"},
        {"{plugin: images, side: 5}", "arch: encoder, head: class, pool: mean, input: patches"},
        {"{plugin: images, side: 5}", "arch: decoder"}};
    char rest[512];
    write_texts();
    snprintf(rest, sizeof(rest),
             "  model: {%s, d_model: 16, n_layer: 1, n_head: 2}\n"
             "matrix:\n"
             "  model.mixer: [attention, conv, rnn]\n"
             "  position.scheme: [learned]\n"
             "seeds: 1\n",
             kinds[_i].model);
    write_grid(kinds[_i].task, 32, rest);
    shell_expect(0, "peat run arch.yaml -o run -t 1");
    shell_expect(0, "test $(grep -l '\"done\"' run/cells/*/result.json | wc -l) = 3");
}

/* One thread or two: the same weights. */
TEST(mixers_give_the_same_bits_at_any_thread_count)
{
    write_grid("{plugin: copy}", 32,
               "  model: {d_model: 72, n_layer: 2, n_head: 2, dropout: 0.1}\n"
               "matrix:\n"
               "  model.mixer: [conv, rnn]\n"
               "  position.scheme: [learned]\n"
               "seeds: 1\n");
    shell_expect(0, "peat run arch.yaml -o one -t 1 train.steps=12");
    shell_expect(0, "peat run arch.yaml -o two -t 2 train.steps=12");
    shell_expect(0, "for c in one/cells/*; do n=$(basename $c); "
                    "cmp $c/metrics.jsonl two/cells/$n/metrics.jsonl && "
                    "cmp $c/ckpt/*/model.safetensors two/cells/$n/ckpt/*/model.safetensors || "
                    "exit 1; done");
    shell_expect(0, "peat export one learned.sum.rnn.s0 -o m.safetensors && "
                    "grep -aq '\"block.1.rnn.forget.weight\"' m.safetensors && "
                    "! grep -aq '\"block.1.attention' m.safetensors");
}

/* What asks for heads is left out, with the reason; the rest is read as in any model. */
TEST(a_model_without_attention_is_diagnosed_but_for_its_heads)
{
    write_grid("{plugin: copy}", 32,
               "  model: {d_model: 16, n_layer: 2, n_head: 2}\n"
               "matrix:\n"
               "  model.mixer: [attention, rnn]\n"
               "  position.scheme: [none]\n");
    shell_expect(0, "peat run arch.yaml -o run -t 1");
    shell_expect(0, "peat diagnose run none.-.rnn.s0 | tee page && "
                    "test $(grep -c 'the model has no attention (model.mixer: rnn)' page) = 2");
    shell_expect(0, "peat diagnose run none.-.rnn.s0 --json > rnn.json && "
                    "grep -q '\"must_be_zero\": *false' rnn.json && "
                    "! grep -q '\"must_be_zero\": *true' rnn.json");
    shell_expect(0, "peat diagnose run '*' --save > table && grep -q rnn table");
    shell_expect(0, "peat report run -o page.html && test -s page.html");
}

/* The width belongs to a convolution alone: elsewhere it makes no other cell. */
TEST(a_width_is_part_of_a_convolution_alone)
{
    write_grid("{plugin: order}", 32, "  model: {arch: encoder, conv_width: 9}\n");
    shell_expect(0, "peat plan arch.yaml --json | grep -o '\"hash\": *\"[0-9a-f]*' > with");
    write_grid("{plugin: order}", 32, "  model: {arch: encoder}\n");
    shell_expect(0, "peat plan arch.yaml --json | grep -o '\"hash\": *\"[0-9a-f]*' > without");
    shell_expect(0, "test -s with && cmp with without");
    shell_expect(0, "peat plan arch.yaml --json model.mixer=conv model.conv_width=9 > nine; "
                    "peat plan arch.yaml --json model.mixer=conv > five; ! cmp -s nine five");
}

/* A name makes the cell that its settings make, and a key beside it wins. */
TEST(a_block_is_a_name_for_its_settings)
{
    static const char *const same[][2] = {
        {"model.block=llama", "model.norm=rms model.norm_eps=1e-6 model.activation=swiglu "
                              "model.bias=false model.d_ff=88"},
        {"model.block=gpt2", ""},
        {"model.block=llama model.activation=geglu model.bias=true",
         "model.norm=rms model.norm_eps=1e-6 model.activation=geglu"},
    };
    write_grid("{plugin: order}", 32, "  model: {d_model: 32, n_head: 2}\n");
    for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
        shell_expect(0,
                     "for w in '%s' '%s'; do peat plan arch.yaml --json $w | "
                     "grep '\"hash\"' > \"h$w\"; done; test -s 'h%s' && cmp 'h%s' 'h%s'",
                     same[i][0], same[i][1], same[i][0], same[i][0], same[i][1]);
    shell_says(0, "norm: rms, norm_eps: 1e-6, activation: swiglu, bias: false, d_ff: 88",
               "peat plan arch.yaml model.block=llama");
    shell_says(0, ": d_ff: 88", "peat plan arch.yaml model.activation=geglu");
    shell_expect(0, "peat run arch.yaml -o blocks model.block=llama model.qk_norm=layer "
                    "model.n_layer=1 train.steps=2 -t 1");
    shell_expect(0, "grep -q '^# model of .*: norm: rms, norm_eps: 1e-6' blocks/resolved.yaml && "
                    "peat run blocks | grep -v done && "
                    "peat diagnose blocks 0 | grep 'model.qk_norm makes queries and keys'");
}

/* ---- streams of a task's own ---- */

/* What the task marks beside the tokens is learned, with positions and without. */
TEST(a_task_adds_a_stream_of_its_own)
{
    write_grid("marked", 11,
               "  model: {arch: encoder, d_model: 16, n_layer: 2, n_head: 2}\n"
               "matrix:\n"
               "  position.scheme: [none, sinusoidal]\n"
               "  position.combine: [sum, concat_project]\n"
               "seeds: 1\n");
    shell_expect(0, "peat run arch.yaml -o run -t 1 train.steps=300 train.batch=32 train.lr=5e-3 "
                    "'eval.lengths=[8]' eval.tokens=256");
    shell_expect(0, "test $(ls -d run/cells/*/result.json | wc -l) = 3");
    shell_expect(0, "for f in run/cells/*/metrics.jsonl; do grep '\"exact_match\"' $f | tail -1 | "
                    "grep -Eq '\"value\":(1|0[.]9)' || exit 1; done");
    shell_expect(0, "peat plan arch.yaml --json | grep -q 'token\\[16\\] position\\[16\\] "
                    "mark\\[16\\]'");
    shell_expect(0, "peat export run sinusoidal.sum.s0 -o m.safetensors && "
                    "grep -aq '\"stream.mark.weight\"' m.safetensors");
    shell_expect(0, "peat diagnose run sinusoidal.sum.s0 --json | grep -q segment.segment");
    shell_says(2, "task 'marked' adds streams, and model.arch: seq2seq reads only tokens",
               "peat plan arch.yaml model.arch=seq2seq");
}

/* A cell keeps its hash and its configuration while the new keys have their defaults. */
TEST(keys_at_their_default_are_not_written)
{
    write_grid("{plugin: order}", 32,
               "  model: {arch: encoder, d_model: 16, n_layer: 1, n_head: 2, head: tokens}\n"
               "matrix:\n"
               "  position.scheme: [none]\n");
    shell_expect(0, "peat run arch.yaml -o run -t 1");
    shell_expect(
        1, "grep -E 'cls_position|\"head\"|pool|mixer|conv_width|block|bias|norm_eps|qk_norm' "
           "run/cells/*/config.json");
}

static const struct refusal {
    const char *task, *model, *line;
} refusals[] = {
    {"{plugin: copy}", "{arch: encoder, head: class}",
     "arch.yaml:4:18: the answer is generated token by token"},
    {"{plugin: text, path: text.txt}", "{arch: encoder, head: class}",
     "task 'text' has no classes; use model.head: tokens"},
    {"{plugin: order}", "{head: class}", "arch.yaml:7:17: head: class needs model.arch: encoder"},
    {"{plugin: order}", "{arch: encoder, head: class, tie_embeddings: true}",
     "tie_embeddings needs head: tokens"},
    {"{plugin: order}", "{arch: encoder, head: class, input: patches}",
     "task 'order' has no patches; use model.input: tokens"},
    {"{plugin: images}", "{arch: encoder, input: patches}",
     "model.input: patches needs model.head: class"},
    {"{plugin: images}", "{arch: encoder, input: patches, head: class, tie_embeddings: true}",
     "tie_embeddings needs input: tokens"},
    {"{plugin: text, path: text.txt}", "{arch: seq2seq}", "model.arch: decoder"},
    {"{plugin: classify, path: texts.csv}", "{arch: seq2seq}",
     "task 'classify' has no source sequences, which model.arch: seq2seq needs"},
    {"{plugin: copy}", "{arch: seq2seq, head: class}", "head: class needs model.arch: encoder"},
    {"{plugin: images}", "{arch: seq2seq, input: patches}",
     "input: patches needs model.arch: encoder or decoder"},
    {"{plugin: order}", "{arch: encoder, head: klass}", "did you mean 'class'?"},
    {"{plugin: order}", "{mixer: lstm}", "arch.yaml:7:18: "},
    {"{plugin: copy}", "{arch: seq2seq, mixer: rnn}",
     "arch.yaml:7:33: mixer: rnn needs model.arch: decoder or encoder"},
    {"{plugin: copy}", "{mixer: conv, window: 4}",
     "'window' in model is for mixer: attention, and mixer is conv (conv_width limits that)"},
    {"{plugin: copy}", "{mixer: rnn, attention: {path: composed}}",
     "'attention' in model is for mixer: attention, and mixer is rnn"},
    {"{plugin: copy}", "{mixer: conv, qk_norm: rms}",
     "arch.yaml:7:33: 'qk_norm' in model is for mixer: attention, and mixer is conv"},
    {"{plugin: copy}", "{mixer: rnn, block: llama}", "arch.yaml:7:30: mixer: rnn needs bias: true"},
    {"{plugin: copy}", "{block: lama}", "did you mean 'llama'?"},
    {"{plugin: order}", "{arch: encoder, mixer: conv, conv_width: 4}",
     "arch.yaml:7:51: 'conv_width' must be odd in an encoder"},
    {"{plugin: order}", "{arch: encoder, mixer: conv, head: class}",
     "a class token sees only its neighbours: set pool: mean"},
    {"{plugin: order}", "{arch: encoder, mixer: rnn, head: class, cls_position: own}",
     "set cls_position: first, or pool: mean"},
};
enum { REFUSALS = sizeof(refusals) / sizeof(*refusals) };

LOOP_TEST(what_does_not_fit_is_refused_by_plan, REFUSALS)
{
    const struct refusal *r = &refusals[_i];
    char rest[512];
    snprintf(rest, sizeof(rest), "  model: %s\n", r->model);
    write_texts();
    write_grid(r->task, 32, rest);
    shell_says(2, r->line, "peat plan arch.yaml");
}

static const struct refusal across[] = {
    {"{plugin: copy}", "rotary, where: {across: true}", "'where.across' needs model.arch: seq2seq"},
    {"{plugin: copy}", "learned, where: {across: 1}", "'where.across' must be true, false or only"},
};

LOOP_TEST(across_needs_two_sequences, 2)
{
    char rest[512];
    snprintf(rest, sizeof(rest), "  position: {scheme: {plugin: %s}}\n", across[_i].model);
    write_grid(across[_i].task, 32, rest);
    shell_says(2, across[_i].line, "peat plan arch.yaml");
}

TEST(a_scheme_that_says_nothing_across_is_refused_there)
{
    write_grid("{plugin: copy}", 32,
               "  model: {arch: seq2seq}\n"
               "  position: {scheme: {plugin: learned, where: {across: true}}}\n");
    shell_says(2, "arch.yaml:8:31: scheme 'learned' is not defined across two sequences",
               "peat plan arch.yaml");
    write_grid("{plugin: copy}", 32,
               "  model: {arch: seq2seq}\n"
               "  position: {scheme: xpos}\n");
    shell_says(2, "in the encoder: scheme 'xpos' is defined only for a causal model",
               "peat plan arch.yaml");
}

/* `rest`: of the scheme. */
static const struct {
    const char *scheme, *line;
} inside[] = {
    {"rotary", "scheme 'rotary' works inside attention (qkv), and model.mixer: rnn has none"},
    {"alibi", "scheme 'alibi' works inside attention (bias_rel), and model.mixer: rnn has none"},
    {"{plugin: learned, at: attn_qk}",
     "scheme 'learned' enters where queries and keys are made, and model.mixer: rnn makes none"},
};

LOOP_TEST(schemes_inside_attention_are_refused_where_there_is_none, 3)
{
    char rest[512];
    snprintf(rest, sizeof(rest), "  model: {mixer: rnn}\n  position: {scheme: %s}\n",
             inside[_i].scheme);
    write_grid("{plugin: copy}", 32, rest);
    shell_says(2, inside[_i].line, "peat plan arch.yaml");
}

TEST(diagnose_says_that_it_does_not_read_classes)
{
    write_grid("{plugin: order}", 32,
               "  model: {arch: encoder, d_model: 16, n_layer: 1, n_head: 2, head: class}\n");
    shell_expect(0, "peat run arch.yaml -o run -t 1");
    shell_says(2, "predicts classes; diagnose reads decoders and encoders with",
               "peat diagnose run none.-.s0");
}

int main(void)
{
    return run_tests((struct tests){"architectures", shell_open, shell_close, .seconds = 120,
                                    .needs = "PEAT_SOURCE PEAT"});
}
