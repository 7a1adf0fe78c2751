/* SPDX-License-Identifier: MIT */
/* trail.c: writes and reads texts in a shared page. */
#include "process/trail.h"

#include <sys/mman.h>

/* ---- the page ---- */

/* fd -1: an anonymous page, which forks share. */
static struct trail_page *map(int fd)
{
    int flags = MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0);
    void *page = mmap(NULL, sizeof(struct trail_page), PROT_READ | PROT_WRITE, flags, fd, 0);
    return page == MAP_FAILED ? NULL : page;
}

struct trail_page *trail_page_new(int *fd)
{
    struct trail_page *page = NULL;
    if (!fd)
        return map(-1);
    *fd = memfd_create("peat-trail", MFD_CLOEXEC);
    if (*fd >= 0 && ftruncate(*fd, sizeof(*page)) == 0)
        page = map(*fd);
    if (!page && *fd >= 0) {
        close(*fd);
        *fd = -1;
    }
    return page;
}

struct trail_page *trail_page_open(int fd)
{
    struct stat st;
    struct trail_page *page = NULL;
    if (fstat(fd, &st) == 0 && st.st_size == sizeof(*page)) {
        page = map(fd);
        close(fd);
    }
    return page;
}

void trail_page_free(struct trail_page *page)
{
    if (page)
        munmap(page, sizeof(*page));
}

/* ---- the process that leaves a trail ---- */

static void copy(char *to, size_t room, const char *from)
{
    size_t n = strnlen(from, room - 1);
    memcpy(to, from, n);
    to[n] = '\0';
}

#define COPY(field, text) copy((field), sizeof(field), (text))

static struct trail_page *page_of(struct trail *t)
{
    return t ? t->page : NULL;
}

void trail_enter(struct trail *t, const char *hook)
{
    struct trail_page *p = page_of(t);
    if (!p)
        return;
    p->beats++;
    p->missing[0] = '\0';
    COPY(p->hook, hook);
}

void trail_missing(struct trail *t, const char *missing)
{
    if (page_of(t))
        COPY(t->page->missing, missing);
}

void trail_leave(struct trail *t)
{
    struct trail_page *p = page_of(t);
    if (!p || !p->hook[0])
        return;
    if (t->left)
        t->left(t->ctx, p->hook);
    p->hook[0] = '\0';
}

void trail_enter_kernel(struct trail *t, const char *hook, const char *name, bool backward)
{
    struct trail_page *p = page_of(t);
    if (p)
        snprintf(p->kernel, sizeof(p->kernel), "%s%skernel '%s'%s", hook ? hook : "",
                 hook ? ", " : "", name, backward ? " backward" : "");
}

void trail_leave_kernel(struct trail *t)
{
    if (page_of(t))
        t->page->kernel[0] = '\0';
}

void trail_beat(struct trail *t)
{
    if (page_of(t))
        t->page->beats++;
}

void trail_step(struct trail *t, int64_t step)
{
    if (page_of(t))
        t->page->step = step;
    trail_beat(t);
}

void trail_cell(struct trail *t, const char *label)
{
    if (page_of(t))
        COPY(t->page->cell, label);
}

void trail_notice(struct trail *t, const char *text)
{
    if (page_of(t))
        COPY(t->page->notice, text);
}

void trail_forget_plugins(struct trail *t)
{
    if (page_of(t))
        t->page->n_plugin = 0;
}

static void name_plugin(struct trail_plugin *plugin, const char *id, const char *file,
                        const char *at)
{
    COPY(plugin->id, id);
    COPY(plugin->file, file);
    COPY(plugin->at, at);
}

void trail_plugin(struct trail *t, const char *id, const char *file, const char *at)
{
    struct trail_page *p = page_of(t);
    if (p && p->n_plugin >= 0 && p->n_plugin < TRAIL_PLUGINS)
        name_plugin(&p->plugin[p->n_plugin++], id, file, at);
}

void trail_say(struct trail *t, const struct error *err)
{
    struct trail_page *p = page_of(t);
    if (!p)
        return;
    p->status = err->status;
    COPY(p->said, err->text);
}

/* ---- the parent ---- */

void trail_where(const struct trail_page *page, char where[TRAIL_TEXT])
{
    const char *text = !page ? "" : page->kernel[0] ? page->kernel : page->hook;
    copy(where, TRAIL_TEXT, text);
}

void trail_hint(const struct trail_page *page, int signal, char hint[TRAIL_HINT])
{
    char missing[sizeof(page->missing)];
    hint[0] = '\0';
    if (signal == SIGBUS)
        snprintf(hint, TRAIL_HINT,
                 "; a data file was cut short while it was mapped into memory, "
                 "or its disk failed");
    if (!page || signal != SIGSEGV || !page->hook[0] || page->kernel[0] || !page->missing[0])
        return;
    COPY(missing, page->missing);
    snprintf(hint, TRAIL_HINT,
             "; the address is outside of its memory, or it is one of the pointers that it has not "
             "declared, which are NULL there: %s",
             missing);
}

bool trail_said(const struct trail_page *page, struct error *err)
{
    if (!page || !page->said[0])
        return false;
    err->status = (peat_status)page->status;
    COPY(err->text, page->said);
    return true;
}

bool trail_find(const struct trail_page *page, const char *where, struct trail_plugin *plugin)
{
    size_t n = strcspn(where, ".");
    for (int i = 0; page && i < page->n_plugin && i < TRAIL_PLUGINS; i++) {
        const struct trail_plugin *p = &page->plugin[i];
        name_plugin(plugin, p->id, p->file, p->at);
        if (strlen(plugin->id) == n && strncmp(plugin->id, where, n) == 0)
            return true;
    }
    return false;
}
