/* SPDX-License-Identifier: MIT */
/* services.h: the engine functions that plugins may call. For host.c alone, whose table plugins
 * get.
 */
#ifndef NN_SERVICES_H
#define NN_SERVICES_H

#include <peat/host.h>

/* setup.c */
int32_t service_param(peat_setup *s, const char *name, int32_t rank, const int64_t *dim,
                      peat_init init, peat_scope scope, uint32_t use);
void service_bound(peat_setup *s, int32_t handle, double lo, double hi);
peat_status service_refuse(peat_setup *s, const char *fmt, ...);
void *service_alloc(peat_setup *s, size_t bytes);
void service_resolved(peat_setup *s, const char *key, double value);
void service_resolved_list(peat_setup *s, const char *key, peat_reals value);
const unsigned char *service_read_file(peat_setup *s, const char *path, int64_t *bytes);
peat_token_table service_token_table(peat_setup *s);
const char *service_file_kind(const unsigned char *byte, int64_t n);
const int32_t *service_npy_ids(peat_setup *s, const char *path, const unsigned char *byte,
                               int64_t bytes, int64_t *n);

/* services.c */
peat_node *service_use(const peat_call *c, int32_t handle);
peat_node *service_project(const peat_call *c, peat_node *x, int32_t which);
double *service_scratch(const peat_call *c, int64_t n);
peat_node *service_fill(const peat_call *c, int32_t rank, const int64_t *dim, const double *value);
peat_node *service_fill_index(const peat_call *c, int32_t rank, const int64_t *dim,
                              const double *value);
peat_node *service_rows(const peat_call *c, const peat_side *side, int64_t d, peat_row_fn row);
peat_node *service_pos(const peat_call *c, const peat_side *side, int32_t axis);
peat_node *service_delta(const peat_call *c, int32_t axis);
peat_node *service_random(const peat_call *c, const char *name, int32_t rank, const int64_t *dim);
void service_random_row(const peat_call *c, const char *name, int64_t b, int64_t n, double *out);
void service_probe(const peat_call *c, const char *name, peat_node *n);

#endif
