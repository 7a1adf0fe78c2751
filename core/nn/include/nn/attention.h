/* SPDX-License-Identifier: MIT */
/*
 * attention.h: multi-head attention, and the only caller of the attention hooks.
 *
 * Neighbouring heads on which the same schemes act are one group, with one attention call. It is
 * fused unless a hook needs the logits or the weights themselves.
 */
#pragma once

#include "autograd/ops.h"
#include "nn/norm.h"
#include "nn/pass.h"

struct attention_weights {
    struct weight *qkv_w; /* [3D, D]: Q, K, V stacked    */
    struct weight *qkv_b; /* [3D]; NULL: no bias         */
    struct weight *out_w; /* [D, D]                      */
    struct weight *out_b; /* [D]; NULL: no bias          */
    /* Norms [C] of the queries and keys of each head, before any hook sees them: the order of Qwen
     * 3 (Yang et al. 2025, arXiv:2505.09388). w NULL: none. */
    struct norm_weights q_norm, k_norm;
};

enum attention_path { PATH_AUTO, PATH_FUSED, PATH_COMPOSED };
/* AUTO: 1/sqrt((1 + score terms) C), or the scale that a scheme demands; SQRT: 1/sqrt(C); NONE: 1.
 */
enum attention_scale { SCALE_AUTO, SCALE_SQRT, SCALE_NONE };

struct attention_options {
    enum attention_path path;
    enum attention_scale scale;
    double scale_value; /* > 0: the factor itself, instead of scale */
};

/* x [B,T,D] (normed) -> [B,T,D]. `layer` counts from 0. In a pass across two sequences keys and
 * values are projected from memory [B,Tk,D]; else memory is NULL, and they are projected from x. */
peat_node *attention_forward(struct pass *pass, const struct attention_weights *w,
                             const struct attention_options *options, int64_t layer, peat_node *x,
                             peat_node *memory);
