/* SPDX-License-Identifier: MIT */
/* check_environment.c: loading and running a plugin leaves the process as it was. Its static and
 * thread-local variables stay as they were loaded: two uses of the plugin would share a changed
 * value, and a resumed run would lose it. */
#include <elf.h>

#include "plugin/elf_symbols.h"
#include "property.h"

static void compare_state(const struct checked *s, const char *when, struct check_outcome *o)
{
    struct state now;
    struct strbuf changed = STRBUF_NEW;
    state_read(&now);
    state_compare(s->unloaded, &now, &changed);
    if (now.openmp > 1 && !changed.n)
        strbuf_addf(&changed, "there are %d OpenMP runtimes in memory", now.openmp);
    if (changed.n)
        check_fail(o, "%s%s", changed.text, when);
    strbuf_release(&changed);
}

void environment_after_load(const struct checked *s, struct check_outcome *o)
{
    struct error err = {0};
    compare_state(s, " (by loading it)", o);
    if (s->plugin->desc->kind == PEAT_TASK && !task_runs(s, &err))
        check_fail(o, "%s", err.text);
    compare_state(s, "", o);
}

void environment_after_step(const struct trial *t)
{
    rig_step(t->rig, &t->x->in, true);
    compare_state(t->subject, "", t->o);
}

/* ---- variables ---- */

/* One writable piece of the file in memory, and a copy of it as it was loaded. */
struct piece {
    const unsigned char *at; /* NULL: the thread has not touched its variables */
    unsigned char *was;
    size_t n;
};

struct statics {
    struct arena *arena;
    uintptr_t inside, base; /* an address inside the loaded file; its load address */
    struct piece piece[8], thread;
    int n;
};

/* Not instrumented, because it also reads the bytes that AddressSanitizer puts around variables. */
__attribute__((no_sanitize("address"))) static unsigned char byte_at(const unsigned char *at)
{
    return *(const volatile unsigned char *)at;
}

/* Adds [begin, end) without the part that the linker has made read-only again (RELRO). */
static void add_piece(struct statics *x, uintptr_t begin, uintptr_t end,
                      const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t sealed = info->dlpi_addr + p->p_vaddr + p->p_memsz;
        if (p->p_type == PT_GNU_RELRO && sealed > begin && sealed <= end)
            begin = sealed;
    }
    if (begin >= end || x->n == (int)(sizeof(x->piece) / sizeof(*x->piece)))
        return;
    struct piece *piece = &x->piece[x->n++];
    *piece = (struct piece){.at = (const unsigned char *)begin, .n = end - begin};
    piece->was = arena_alloc(x->arena, piece->n);
    for (size_t k = 0; k < piece->n; k++)
        piece->was[k] = byte_at(piece->at + k);
}

/* The linker makes a thread's copy of these variables at the first access: the bytes of the file,
 * then zeros. */
static void note_thread(struct statics *x, const ElfW(Phdr) * p, uintptr_t begin)
{
    x->thread = (struct piece){.was = arena_zalloc(x->arena, p->p_memsz), .n = p->p_memsz};
    memcpy(x->thread.was, (const void *)begin, p->p_filesz);
}

static int look_at_thread(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct statics *x = ctx;
    (void)size;
    if (info->dlpi_addr != x->base)
        return 0;
    x->thread.at = info->dlpi_tls_data;
    return 1;
}

static int look_at_file(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct statics *x = ctx;
    bool found = false;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        found = found ||
                (p->p_type == PT_LOAD && x->inside - (info->dlpi_addr + p->p_vaddr) < p->p_memsz);
    }
    for (int i = 0; found && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && p->p_flags & PF_W)
            add_piece(x, begin, begin + p->p_memsz, info);
        if (p->p_type == PT_TLS)
            note_thread(x, p, begin);
    }
    x->base = found ? info->dlpi_addr : x->base;
    return found;
}

/* ---- naming the changed variable ---- */

struct changed {
    unsigned type; /* STT_OBJECT, STT_TLS */
    uintptr_t offset;
};

static bool covers(const void *ctx, const elf_symbol *s, const char *name)
{
    const struct changed *c = ctx;
    return (s->st_info & 0xf) == c->type && *name && c->offset - s->st_value < s->st_size;
}

static void report(const struct checked *s, const struct changed *c, struct check_outcome *o)
{
    struct elf_image file;
    if (file_read(s->plugin->path, 0, &file.bytes, &file.n, NULL) != PEAT_OK)
        return;
    const char *name = elf_find_symbol(&file, SHT_SYMTAB, covers, c);
    /* Plugins made by rustc are exempt: Rust's standard library has caches of its own. */
    if (!elf_made_by(&file, "rustc"))
        check_fail(o,
                   "its %s variable%s%s%s changes while it runs: two uses would share it, and a "
                   "resumed run would lose it (keep such data in self)",
                   c->type == STT_TLS ? "thread-local" : "static", name ? " '" : "",
                   name ? name : "", name ? "'" : "");
    free(file.bytes);
}

/* The first byte of a piece that has changed; -1: none. */
static ptrdiff_t changed_byte(const struct piece *p)
{
    for (size_t k = 0; p->at && k < p->n; k++)
        if (byte_at(p->at + k) != p->was[k])
            return (ptrdiff_t)k;
    return -1;
}

static void compare_variables(const struct checked *s, struct statics *x, struct check_outcome *o)
{
    ptrdiff_t at = -1;
    for (int i = 0; i < x->n && at < 0; i++) {
        at = changed_byte(&x->piece[i]);
        if (at >= 0)
            report(s, &(struct changed){STT_OBJECT, (uintptr_t)(x->piece[i].at + at) - x->base}, o);
    }
    dl_iterate_phdr(look_at_thread, x);
    at = changed_byte(&x->thread);
    if (at >= 0)
        report(s, &(struct changed){STT_TLS, (uintptr_t)at}, o);
}

/* Passes that fail are ignored here: other checks report them. */
void statics_stay(const struct checked *s, struct check_outcome *o)
{
    struct error err = {0};
    struct check_outcome ignored = {CHECK_PASSED};
    struct statics now = {.arena = s->arena, .inside = (uintptr_t)s->plugin->desc->id};
    const struct rig_plan plan = {.dtype = PEAT_F32};
    dl_iterate_phdr(look_at_file, &now);
    const struct check_cells *cells = cells_of(s, o);
    if (s->plugin->desc->kind == PEAT_TASK)
        task_runs(s, &err);
    for (int i = 0; s->plugin->desc->kind != PEAT_TASK && i < cells->n; i++) {
        struct rig *r = rig_open(s, &cells->item[i], &plan, &ignored);
        for (int phase = PEAT_TRAIN; r->status == PEAT_OK && phase <= PEAT_EVAL; phase++) {
            struct rig_input x = rig_input(r, (peat_phase)phase);
            x.in.step = phase == PEAT_TRAIN;
            rig_step(r, &x.in, true);
        }
        rig_close(r);
    }
    compare_variables(s, &now, o);
}
