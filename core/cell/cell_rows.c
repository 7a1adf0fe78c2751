/* SPDX-License-Identifier: MIT */
/* cell_rows.c: the keys of the sections model, train and eval with their bounds and meaning. */
#include "cell/block_name.h"
#include "cell/cell.h"
#include "nn/norm.h"
#include "plugin/params.h"

#define MODEL(type, field, ...) PARAM_ROW(type, struct model_config, field, #field, __VA_ARGS__)
#define TRAIN(type, field, ...) PARAM_ROW(type, struct train_config, field, #field, __VA_ARGS__)
#define EVAL(type, field, ...)  PARAM_ROW(type, struct eval_config, field, #field, __VA_ARGS__)

static const char *const arch_labels[] = {"decoder", "encoder", "seq2seq", NULL};
static const char *const input_labels[] = {"tokens", "patches", NULL};
static const char *const head_labels[] = {"tokens", "class", "both", NULL};
static const char *const pool_labels[] = {"cls", "mean", NULL};
static const char *const cls_labels[] = {"first", "own", "none", NULL};
static const char *const mixer_labels[] = {"attention", "conv", "rnn", NULL};
static const char *const norm_labels[] = {"layer", "rms", NULL};
static const char *const place_labels[] = {"before", "after", NULL};
static const char *const activation_labels[] = {"gelu",   "gelu_tanh", "relu",
                                                "swiglu", "geglu",     NULL};
static const char *const qk_labels[] = {"none", "rms", "layer", NULL};
static const char *const path_labels[] = {"auto", "fused", "composed", NULL};
static const char *const scale_labels[] = {"auto", "sqrt", "none", NULL};
static const char *const schedule_labels[] = {"cosine", "linear", "constant", "wsd", NULL};
static const char *const precision_labels[] = {"fp32", "bf16", NULL};

const peat_param model_rows[] = {
    MODEL(PEAT_ENUM, block,
          "a name that fills in settings; one that is given beside it wins. gpt2: norm: layer, "
          "norm_eps: 1e-5, activation: gelu, bias: true, the defaults; llama: norm: rms, "
          "norm_eps: 1e-6, activation: swiglu, bias: false",
          .labels = block_names, .flags = CELL_LATER),
    MODEL(PEAT_ENUM, arch,
          "decoder: a token sees itself and those before it; encoder: every token sees all; "
          "seq2seq: an encoder, and a decoder that attends to it",
          .labels = arch_labels),
    MODEL(PEAT_ENUM, input,
          "tokens of a vocabulary, or patches: vectors of numbers, projected (as in ViT)",
          .labels = input_labels, .flags = CELL_LATER),
    MODEL(PEAT_ENUM, head,
          "tokens: predict a token at every position; class: one class for each sequence "
          "(encoder); both, as in BERT: the losses are added",
          .labels = head_labels, .flags = CELL_LATER),
    MODEL(PEAT_ENUM, pool,
          "head: class, both: predict the class from an added class token, or from the mean",
          .labels = pool_labels, .flags = CELL_LATER),
    MODEL(PEAT_ENUM, cls_position,
          "pool: cls: the class token is at position 0, or has no position: with a trained row "
          "(own) or with zeros (none)",
          .labels = cls_labels, .flags = CELL_LATER),
    MODEL(PEAT_ENUM, mixer,
          "how positions exchange information: attention, a gated convolution, or a gated linear "
          "recurrence",
          .labels = mixer_labels, .flags = CELL_LATER),
    MODEL(PEAT_INT, conv_width,
          "mixer: conv: number of places that the convolution reads; odd in an encoder",
          WITHIN(1, 65536), .automatic = "5", .unit = "places", .flags = PEAT_AUTO | CELL_LATER),
    MODEL(PEAT_INT, d_model, "width of the model", .preset = 128, WITHIN(1, 65536)),
    MODEL(PEAT_INT, n_layer, "number of blocks", .preset = 4, WITHIN(1, 1024)),
    MODEL(PEAT_INT, encoder_layers, "seq2seq: number of blocks of the encoder", WITHIN(1, 1024),
          .automatic = "n_layer", .flags = PEAT_AUTO | CELL_LATER),
    MODEL(PEAT_INT, n_head, "attention heads; d_model is a multiple of their number", .preset = 4,
          WITHIN(1, 1024)),
    MODEL(PEAT_INT, d_ff, "width of the feed-forward layer", WITHIN(1, 1048576),
          .automatic = "4 d_model; swiglu, geglu: 8/3 d_model, up to a multiple of 8",
          .flags = PEAT_AUTO),
    MODEL(
        PEAT_BOOL, bias,
        "biases in attention, mixers, feed-forward layers and norms; those of patches and streams "
        "at the input are always there",
        .preset = true, .flags = CELL_LATER),
    MODEL(PEAT_ENUM, norm, "normalisation of each part of a block", .labels = norm_labels),
    MODEL(PEAT_REAL, norm_eps, "all norms: added to the variance, or to the mean of squares",
          .preset = NORM_EPS, WITHIN(0, 1), .flags = PEAT_OPEN_MIN | CELL_LATER),
    MODEL(
        PEAT_ENUM, qk_norm,
        "mixer: attention: normalisation of the queries and keys of each head, before schemes act "
        "on them",
        .labels = qk_labels, .flags = CELL_LATER),
    MODEL(PEAT_ENUM, norm_place,
          "place of the norms: before each part of a block and the head, or after each part is "
          "added (Vaswani et al. 2017)",
          .labels = place_labels, .flags = CELL_LATER),
    MODEL(PEAT_ENUM, activation,
          "activation of the feed-forward layer; gelu is the erf form, swiglu and geglu gate a "
          "second product by silu or gelu of the first",
          .labels = activation_labels),
    MODEL(PEAT_REAL, dropout, "share of activations that training sets to 0", WITHIN(0, 0.99)),
    MODEL(PEAT_BOOL, tie_embeddings, "use the token table for the output too"),
    MODEL(PEAT_BOOL, tie_factored,
          "with tie_embeddings: where tokens are not as wide as the model, a matrix brings its "
          "output to their width",
          .flags = CELL_LATER),
    MODEL(PEAT_REAL, embed_scale, "factor on the token embedding", WITHIN(0, 1e6),
          .automatic = "sqrt(d_model)", .flags = PEAT_AUTO | PEAT_OPEN_MIN),
    MODEL(PEAT_INT, window, "a query sees keys nearer than this; 0: no limit", WITHIN(0, 1e9),
          .unit = "tokens"),
    MODEL(PEAT_STRINGS, freeze,
          "parameters that are not trained: names as in docs/checkpoint.md, or patterns such as "
          "token.*",
          .flags = CELL_LATER),
    PEAT_PARAM_END,
};

const peat_param attention_rows[] = {
    PARAM_ROW(PEAT_ENUM, struct model_config, attention_path, "path",
              "fused stores no T x T tensor; composed can serve every hook", .labels = path_labels),
    /* A number above 0 is accepted too and becomes attention_scale_value. */
    PARAM_ROW(PEAT_ENUM, struct model_config, attention_scale, "scale",
              "factor on q.k; sqrt: 1/sqrt(C) whatever the schemes say", .labels = scale_labels,
              .unit = "or the factor itself"),
    PEAT_PARAM_END,
};

const peat_param train_rows[] = {
    TRAIN(PEAT_INT, steps, "updates of the weights", .preset = 1000, WITHIN(1, 1e9)),
    TRAIN(PEAT_INT, batch, "sequences for each step", .preset = 16, WITHIN(1, 65536),
          .unit = "sequences"),
    TRAIN(PEAT_INT, seq_len, "length of the longest training sequence", .preset = 128,
          WITHIN(1, 1048576), .unit = "tokens"),
    TRAIN(PEAT_REAL, lr, "highest learning rate", .preset = 1e-3, WITHIN(0, 100),
          .flags = PEAT_OPEN_MIN),
    /* 0 is a valid length; cell.c distinguishes it from auto by whether the key was given. */
    TRAIN(PEAT_INT, warmup, "steps over which the learning rate rises", WITHIN(0, 1e9),
          .automatic = "steps/10, at most 200; wsd: at most 100", .unit = "steps",
          .flags = PEAT_AUTO),
    TRAIN(PEAT_ENUM, schedule,
          "how the learning rate falls after the warm-up; wsd: constant, then a decay",
          .labels = schedule_labels),
    /* 0 for other schedules; for wsd cell.c sets the default. */
    TRAIN(PEAT_REAL, decay,
          "schedule: wsd: the share of the steps in which the learning rate falls", WITHIN(0, 1),
          .automatic = "0.2", .flags = PEAT_AUTO | PEAT_OPEN_MIN | CELL_LATER),
    TRAIN(PEAT_REAL, lr_min, "learning rate of the last step, as a share of lr", .preset = 0.1,
          WITHIN(0, 1)),
    TRAIN(PEAT_REAL, weight_decay, "decoupled weight decay", .preset = 0.01, WITHIN(0, 10)),
    TRAIN(PEAT_REAL, beta1, "decay of AdamW's mean", .preset = 0.9, WITHIN(0, 0.9999999)),
    TRAIN(PEAT_REAL, beta2, "decay of AdamW's mean square", .preset = 0.98, WITHIN(0, 0.9999999)),
    TRAIN(PEAT_REAL, eps, "added to the root of the mean square", .preset = 1e-8, WITHIN(0, 1),
          .flags = PEAT_OPEN_MIN),
    TRAIN(PEAT_REAL, clip, "gradients with a larger norm are scaled down to it; 0: never",
          .preset = 1, WITHIN(0, 1e9)),
    TRAIN(PEAT_ENUM, precision,
          "operands of products by weights and of fused attention; bf16: rounded, summed in fp32 "
          "(needs oneDNN and a CPU with bf16)",
          .labels = precision_labels),
    TRAIN(PEAT_INT, patience,
          "stop after so many evaluations without a better value of the main metric; 0: never",
          WITHIN(0, 1e9), .unit = "evaluations", .flags = CELL_LATER),
    PEAT_PARAM_END,
};

const peat_param eval_rows[] = {
    EVAL(PEAT_INT, every, "steps between evaluations; 0: only at the end", WITHIN(0, 1e9),
         .unit = "steps"),
    EVAL(PEAT_REALS, lengths, "lengths to evaluate, in the task's unit", WITHIN(1, 1048576),
         .automatic = "as the task says", .flags = PEAT_AUTO),
    EVAL(PEAT_INT, tokens, "targets to score at each length; all: everything there is",
         .preset = 65536, WITHIN(1, 1e12), .unit = "targets for each length, or all"),
    EVAL(PEAT_BOOL, halves,
         "also measure two halves of the held-out data separately, for report.best_over",
         .flags = CELL_LATER),
    /* For an experiment of version 2, experiment.c sets it where the file does not. */
    EVAL(PEAT_REAL, test,
         "share of the held-out data that is the test part: evaluated once, at the end, and "
         "reported; the rest validates. 0: no test part. In a file of version: 2 the default "
         "is 0.5",
         WITHIN(0, 0.9), .flags = CELL_LATER),
    PEAT_PARAM_END,
};
