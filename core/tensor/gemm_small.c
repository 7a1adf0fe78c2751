/* SPDX-License-Identifier: MIT */
/* gemm_small.c: which way a library multiplies, and the products that need it no more. */
#include "gemm_small.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "chain.h"
#include "gemm_notes.h"
#include "tensor/parallel.h"

/* Libraries are as fast where there is more work. */
enum { WORK_MOST = 1 << 21 };

/* What a way was found for; compared as bytes, so it has no gaps. */
struct shape {
    int64_t m, n, k;
    int64_t lda, ldb, ldc;
    int64_t trans_a, trans_b;
    double alpha, beta;
};

enum known { UNSEEN, CHAIN, OTHER /* the library's to do */ };

/* Also a note. */
struct found {
    struct shape shape;
    enum known known;
    struct chain_way way; /* of a CHAIN */
    uint64_t library;
};

/* By hash, next free place; at most half full. */
struct shapes {
    unsigned n, size;
    struct found *table;
};

struct thread_products {
    struct shapes used;
    _Alignas(64) float panel[CHAIN_DEEPEST * CHAIN_COLUMNS];
};

struct small_products {
    int threads, notes;
    uint64_t library;
    struct shapes told; /* by other cells, before this one began */
    struct thread_products *thread;
};

/* ---- what was found ---- */

static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static unsigned hash(const struct shape *s)
{
    static const uint64_t factor[] = {UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xbf58476d1ce4e5b9),
                                      UINT64_C(0x94d049bb133111eb), UINT64_C(0xd6e8feb86659fd93),
                                      UINT64_C(0xff51afd7ed558ccd), UINT64_C(0xc4ceb9fe1a85ec53),
                                      UINT64_C(0x87c37b91114253d5), UINT64_C(0x4cf5ad432745937f),
                                      UINT64_C(0x2545f4914f6cdd1d), UINT64_C(0x369dea0f31a53f85)};
    enum { WORDS = sizeof(factor) / sizeof(*factor) };
    _Static_assert(sizeof(*s) == WORDS * sizeof(*factor), "a factor for each word");
    uint64_t word[WORDS], h = 0;
    memcpy(word, s, sizeof(word));
    for (int i = 0; i < WORDS; i++)
        h += word[i] * factor[i];
    return (unsigned)(h >> 32);
}

/* The shape's place, or a free one. */
static struct found *place_of(const struct shapes *all, const struct shape *s)
{
    unsigned at = hash(s) & (all->size - 1);
    while (all->table[at].known != UNSEEN && memcmp(&all->table[at].shape, s, sizeof(*s)) != 0)
        at = (at + 1) & (all->size - 1);
    return &all->table[at];
}

static bool grow(struct shapes *all)
{
    enum { LEAST = 256 };
    struct shapes larger = {all->n, all->size == 0 ? LEAST : 2 * all->size, NULL};
    larger.table = calloc(larger.size, sizeof(*larger.table));
    if (larger.table == NULL)
        return false;
    for (unsigned i = 0; i < all->size; i++)
        if (all->table[i].known != UNSEEN)
            *place_of(&larger, &all->table[i].shape) = all->table[i];
    free(all->table);
    *all = larger;
    return true;
}

/* False: there is no room for one more, for want of memory or since there are so many. */
static bool make_room(struct shapes *all)
{
    enum { MOST = 1 << 15 };
    return 2 * all->n < all->size || (all->n < MOST && grow(all));
}

/* After make_room. */
static void keep(struct shapes *all, const struct found *f)
{
    struct found *place = place_of(all, &f->shape);
    all->n += place->known == UNSEEN;
    *place = *f;
}

/* NULL: it is not among them. */
static const struct found *find(const struct shapes *all, const struct shape *s)
{
    const struct found *place = all->n == 0 ? NULL : place_of(all, s);
    return place == NULL || place->known == UNSEEN ? NULL : place;
}

/* What was found for other libraries is left out. */
static void take_told(void *ctx, const void *note)
{
    struct small_products *all = ctx;
    const struct found *f = note;
    if (f->library == all->library && f->known != UNSEEN && make_room(&all->told))
        keep(&all->told, f);
}

struct small_products *small_products_open(int threads, const char *library, int notes)
{
    if (!chain_available())
        return NULL;
    threads = threads < 1 ? 1 : threads;
    struct small_products *all = calloc(1, sizeof(*all));
    size_t bytes = (size_t)threads * sizeof(struct thread_products);
    struct thread_products *thread = all == NULL ? NULL : aligned_alloc(64, bytes);
    if (thread == NULL) {
        free(all);
        return NULL;
    }
    for (int i = 0; i < threads; i++)
        thread[i].used = (struct shapes){0};
    *all =
        (struct small_products){.threads = threads, .notes = notes, .library = 1, .thread = thread};
    for (const char *c = library; *c != '\0'; c++)
        all->library = mix(all->library, (unsigned char)*c);
    gemm_notes_read(notes, NOTE_PRODUCT, sizeof(struct found), take_told, all);
    return all;
}

void small_products_close(struct small_products *all)
{
    if (all == NULL)
        return;
    for (int i = 0; i < all->threads; i++)
        free(all->thread[i].used.table);
    free(all->thread);
    free(all->told.table);
    free(all);
}

/* ---- which way ---- */

/* x [rows, cols] of numbers in [-0.5, 0.5). */
static void draw(float *x, int64_t rows, int64_t cols, int64_t step, uint32_t seed)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            uint32_t h = ((uint32_t)(i * cols + j) + seed) * 0x9e3779b1u;
            h = (h ^ h >> 15) * 0x85ebca6bu;
            h = (h ^ h >> 13) * 0xc2b2ae35u;
            x[i * step + j] = (float)(int32_t)(h >> 8) * 0x1p-24f - 0.5f;
        }
}

static bool same_rows(const float *x, const float *y, int64_t rows, int64_t cols, int64_t step)
{
    for (int64_t i = 0; i < rows; i++)
        if (memcmp(x + i * step, y + i * step, (size_t)cols * sizeof(*x)) != 0)
            return false;
    return true;
}

/* A product of drawn numbers: its operands, C as it was, the library's and one of ours. */
struct trial {
    peat_gemm_product p;
    int64_t a_rows, a_cols, b_rows, b_cols;
    float *a, *b, *old, *wanted, *got;
};

static bool trial_open(struct trial *t, const peat_gemm_product *p)
{
    *t = (struct trial){.p = *p,
                        .a_rows = p->trans_a ? p->k : p->m,
                        .a_cols = p->trans_a ? p->m : p->k,
                        .b_rows = p->trans_b ? p->n : p->k,
                        .b_cols = p->trans_b ? p->k : p->n};
    const int64_t a = t->a_rows * p->lda, b = t->b_rows * p->ldb, c = p->m * p->ldc;
    t->a = malloc((size_t)(a + b + 3 * c) * sizeof(float));
    if (t->a == NULL)
        return false;
    t->b = t->a + a;
    t->old = t->b + b;
    t->wanted = t->old + c;
    t->got = t->wanted + c;
    t->p.a = t->a;
    t->p.b = t->b;
    return true;
}

static void copy_rows(float *to, const float *from, const peat_gemm_product *p)
{
    for (int64_t i = 0; i < p->m; i++)
        memcpy(to + i * p->ldc, from + i * p->ldc, (size_t)p->n * sizeof(float));
}

/* A row of zeros by a column of negative numbers: a sum that does not begin at zero is -0 there. */
static void add_zeros(struct trial *t)
{
    for (int64_t k = 0; k < t->p.k; k++) {
        float *b = t->b + (t->p.trans_b ? k : k * t->p.ldb);
        t->a[t->p.trans_a ? k * t->p.lda : k] = 0.0f;
        *b = *b > 0.0f ? -*b : *b;
    }
}

static void trial_draw(struct trial *t, uint32_t round)
{
    enum { FAR = 9973, B = 1000000007, C = 2000000011 };
    draw(t->a, t->a_rows, t->a_cols, t->p.lda, FAR * round);
    draw(t->b, t->b_rows, t->b_cols, t->p.ldb, FAR * round + B);
    draw(t->old, t->p.m, t->p.n, t->p.ldc, FAR * round + C);
    if (round == 0)
        add_zeros(t);
    copy_rows(t->wanted, t->old, &t->p);
    copy_rows(t->got, t->old, &t->p);
}

/* Who multiplies. */
struct rivals {
    library_multiply library;
    const void *of;
    float *panel;
};

/* Ways differ in perhaps a tenth of all numbers, so a few hundred tell them apart. */
static bool agree(struct trial *t, struct chain_way way, const struct rivals *r)
{
    enum { RESULTS = 500 };
    int64_t results = 0;
    for (uint32_t round = 0; results < RESULTS; round++) {
        trial_draw(t, round);
        t->p.c = t->wanted;
        r->library(r->of, &t->p);
        t->p.c = t->got;
        chain_multiply(&t->p, way, r->panel);
        if (!same_rows(t->got, t->wanted, t->p.m, t->p.n, t->p.ldc))
            return false;
        results += round == 0 ? 0 : t->p.m * t->p.n;
    }
    return true;
}

/* Whether some way is the library's; tried in the order in which they are likely. */
static bool find_way(struct trial *t, const struct rivals *r, struct chain_way *way)
{
    const bool deep = t->p.k > CHAIN_DEEPEST;
    const enum chain_cut last_cut = deep ? CHAIN_STRAIGHT : CHAIN_HALVED;
    const enum chain_sum last_sum = t->p.trans_b ? CHAIN_SCALED_RIGHT : CHAIN_FUSED_SUM;
    *way = (struct chain_way){.lanes = CHAIN_ALONE};
    for (way->cut = CHAIN_HALVED; way->cut <= last_cut; way->cut++)
        for (way->sum = CHAIN_SCALED_SUM; way->sum <= last_sum; way->sum++)
            if (agree(t, *way, r))
                return true;
    *way = (struct chain_way){.sum = CHAIN_SCALED_SUM, .cut = CHAIN_HALVED};
    for (way->lanes = CHAIN_ALL_LANES; way->lanes <= CHAIN_LAST_LANES && !deep; way->lanes++)
        if (agree(t, *way, r))
            return true;
    return false;
}

/* Without memory the library multiplies, with the same bits. */
static void try_ways(const struct small_products *all, const peat_gemm_product *p,
                     const struct rivals *r, struct found *f)
{
    struct trial t;
    f->library = all->library;
    f->known = OTHER;
    if (!trial_open(&t, p))
        return;
    f->known = find_way(&t, r, &f->way) ? CHAIN : OTHER;
    free(t.a);
    gemm_note_add(all->notes, NOTE_PRODUCT, f, sizeof(*f));
}

/* ---- products ---- */

/* Others are few. */
static bool is_small(const peat_gemm_product *p)
{
    return p->dtype == PEAT_F32 && p->m * p->n * p->k <= WORK_MOST && p->alpha != 0.0 &&
           (p->beta == 0.0 || p->beta == 1.0);
}

/* What this thread knows of the shape, or another cell did, or a trial tells; NULL: it could not be
 * kept. */
static const struct found *known_of(struct small_products *all, struct thread_products *t,
                                    const struct shape *shape, const peat_gemm_product *p,
                                    const struct rivals *r)
{
    const struct found *known = find(&t->used, shape), *told;
    if (known != NULL || !make_room(&t->used))
        return known;
    struct found f = {.shape = *shape};
    told = find(&all->told, shape);
    if (told != NULL)
        f = *told;
    else
        try_ways(all, p, r, &f);
    keep(&t->used, &f);
    return find(&t->used, shape);
}

bool small_products_multiply(struct small_products *all, const peat_gemm_product *p,
                             library_multiply library, const void *of)
{
    if (!is_small(p))
        return false;
    const int thread = parallel_thread();
    BUG_UNLESS(thread < all->threads);
    struct thread_products *t = &all->thread[thread];
    const struct shape shape = {p->m,   p->n,       p->k,       p->lda,   p->ldb,
                                p->ldc, p->trans_a, p->trans_b, p->alpha, p->beta};
    const struct rivals rivals = {library, of, t->panel};
    const struct found *known = known_of(all, t, &shape, p, &rivals);
    if (known == NULL || known->known != CHAIN)
        return false;
    chain_multiply(p, known->way, t->panel);
    return true;
}
