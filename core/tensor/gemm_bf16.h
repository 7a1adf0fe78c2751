/* SPDX-License-Identifier: MIT */
/* gemm_bf16.h: operands rounded to bf16, and a provider's products of them. */
#pragma once

#include "tensor/gemm.h"

/* State of one team: the provider's, and memory for operands, separate for each thread. */
struct bf16_products;

/* NULL: out of memory. */
struct bf16_products *bf16_products_open(const peat_gemm_bf16 *provider, int threads);
void bf16_products_close(struct bf16_products *all);
/* The operand op(B), rounded, without gaps between rows; valid until the thread's next call. */
const void *bf16_products_round_b(struct bf16_products *all, const struct gemm *p);
/* Whether products may have a bias. */
bool bf16_products_add_bias(const struct bf16_products *all);
/* As gemm_one, for F32; alpha is multiplied into the rounded A. PEAT_REFUSED: the library has no
 * fast kernel for this shape. */
peat_status bf16_products_multiply(struct bf16_products *all, const struct gemm *p);
/* The product with operands in F32, taken from the rounded ones where A or B is NULL; valid until
 * the thread's next call. */
struct gemm bf16_products_widen(struct bf16_products *all, const struct gemm *p);
