/* SPDX-License-Identifier: MIT */
/* model_config.h: the sizes of a model, as the experiment file's `model` section and the task give
 * them. */
#pragma once

#include <peat/param.h>
#include <peat/task.h>

enum norm_place { NORM_BEFORE, NORM_AFTER };
enum activation {
    ACTIVATION_GELU,
    ACTIVATION_GELU_TANH,
    ACTIVATION_RELU,
    ACTIVATION_SWIGLU,
    ACTIVATION_GEGLU
};
enum qk_norm { QK_NORM_NONE, QK_NORM_RMS, QK_NORM_LAYER };

/* Classes are predicted from a class token or from the mean of all places. The class token is at
 * position 0, before the rest; or it has no position, and each positional stream has a trained row
 * or zeros for it. */
enum pooling { POOL_CLS, POOL_MEAN };
enum cls_position { CLS_FIRST, CLS_OWN, CLS_NONE };

struct model_config {
    int64_t block;              /* its name, while settings are read; 0 in a cell */
    int64_t arch;               /* peat_arch */
    int64_t input;              /* peat_input */
    int64_t head;               /* peat_head */
    int64_t pool, cls_position; /* for heads with classes: enum pooling, enum cls_position */
    int64_t mixer;              /* enum mixer of nn/mixer.h */
    int64_t conv_width;         /* number of places that a place reads; 0 where mixer is not conv */
    int64_t d_model, n_layer, n_head;
    int64_t encoder_layers; /* seq2seq; 0: n_layer */
    int64_t d_ff;           /* 0: 4 d_model; of a gate 8/3 d_model, up to a multiple of 8 */
    int64_t norm;           /* enum norm_kind of nn/norm.h */
    int64_t norm_place;     /* enum norm_place */
    double norm_eps;        /* of all norms, those of queries and keys included */
    int64_t qk_norm;        /* enum qk_norm */
    bool bias;              /* attention, mixers, feed-forward layers and norms have biases */
    int64_t activation;
    double dropout;
    bool tie_embeddings;
    bool tie_factored;  /* with tie_embeddings: adds a matrix where tokens are not as wide as the
                         * model */
    double embed_scale; /* 0: sqrt(d_model) */
    int64_t window;     /* 0: no window     */
    int64_t attention_path;       /* enum attention_path of nn/attention.h  */
    int64_t attention_scale;      /* enum attention_scale */
    double attention_scale_value; /* > 0: the factor itself, instead of attention_scale */
    peat_strings freeze;          /* patterns of names of weights that are not trained */
    bool freeze_loosely;          /* a pattern may match nothing, and all weights may be frozen */
    /* from the task and the experiment */
    int64_t source_T;            /* seq2seq: T of the longest source */
    int64_t patch_width, n_axes; /* 0: no patches; 0: the data has no positions */
    int64_t n_stream;            /* number of streams of the task's own */
    peat_stream stream[PEAT_MAX_STREAMS];
    int64_t vocab, n_segment, n_class, T_train, T_max; /* T counts no class token */
};
