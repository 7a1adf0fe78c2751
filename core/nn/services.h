/* SPDX-License-Identifier: MIT */
/* services.h: functions of setup.c that a plugin's setup may call, for the table in host.c. */
#pragma once

#include <peat/host.h>

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
bool service_is_folder(peat_setup *s, const char *path);
