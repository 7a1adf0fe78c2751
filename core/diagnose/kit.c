/* SPDX-License-Identifier: MIT */
/* kit.c: numbers and sentences as a diagnosis shows them, and scores of single heads. */
#include "kit.h"

static double rounded(double x)
{
    char text[32];
    snprintf(text, sizeof(text), "%.6g", x);
    return isfinite(x) ? strtod(text, NULL) + 0.0 : x;
}

void put_rounded(struct json map, const char *key, double x)
{
    json_put_real(map, key, rounded(x));
}

void add_rounded(struct json list, double x)
{
    json_add_real(list, rounded(x));
}

void put_rounded_row(struct json map, const char *key, const double *x, int64_t n)
{
    struct json list = json_put_list(map, key);
    for (int64_t i = 0; i < n; i++)
        add_rounded(list, x[i]);
}

void put_summary(struct json map, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    json_put_text(map, "summary", arena_vprintf(map.a, fmt, args));
    va_end(args);
}

double *keys_seen(const struct trace *t, struct arena *a)
{
    return node_spread(t->keys, 4, (int64_t[]){t->in.B, 1, t->in.T, t->in.T}, a);
}

void centre_seen(double *x, const double *mask, int64_t T)
{
    for (int64_t i = 0; i < T; i++) {
        double sum = 0.0, n = 0.0;
        for (int64_t j = 0; j < T; j++) {
            sum += mask[i * T + j] != 0.0 ? x[i * T + j] : 0.0;
            n += mask[i * T + j] != 0.0;
        }
        for (int64_t j = 0; j < T; j++)
            x[i * T + j] = mask[i * T + j] != 0.0 ? x[i * T + j] - sum / n : 0.0;
    }
}

double ratio(double part, double whole)
{
    return whole > 0.0 ? part / whole : (double)NAN;
}
