/* SPDX-License-Identifier: MIT */
/* registry.c: finds the file of a plugin, and lists the plugins of all directories. */
#include "plugin/registry.h"

#include <strings.h>

#include "plugin/elf_symbols.h"

static const peat_kind kinds[] = {PEAT_SCHEME, PEAT_COMBINE, PEAT_TASK};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

peat_status registry_init(struct registry *r, struct arena *arena, struct trail *trail,
                          struct error *err)
{
    *r = (struct registry){.arena = arena, .trail = trail};
    return plugin_dirs_find(&r->dirs, arena, err);
}

/* ---- loading once ---- */

static const struct plugin *with_path(const struct registry *r, const char *real)
{
    for (int i = 0; i < r->n; i++)
        if (!strcmp(r->item[i]->path, real))
            return r->item[i];
    return NULL;
}

static const struct plugin *loaded_from(const struct registry *r, const char *path)
{
    char *real = realpath(path, NULL);
    const struct plugin *found = real ? with_path(r, real) : NULL;
    free(real);
    return found;
}

static void remember(struct registry *r, const struct plugin *plugin)
{
    *ARENA_APPEND(r->arena, r->item, r->n, r->room) = plugin;
}

/* Loading runs the plugin's constructors and its entry. */
static peat_status load_noted(struct registry *r, const char *path, enum object_hash hash,
                              const struct plugin **plugin, struct error *err)
{
    struct error at = {0};
    char name[TRAIL_TEXT / 2], hook[TRAIL_TEXT];
    const char *file = path_name(path);
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(file, "."), file);
    snprintf(hook, sizeof(hook), "%s.load", name);
    place_error(&at, r->at, "%s", "");
    trail_forget_plugins(r->trail);
    trail_plugin(r->trail, name, path, at.text);
    trail_enter(r->trail, hook);
    peat_status status = plugin_load(r->arena, path, hash, plugin, err);
    trail_leave(r->trail);
    return status;
}

/* Before any of its code runs. A file that cannot be read is left to the loader. */
static peat_status check_imports(const char *path, struct error *err)
{
    struct elf_image file;
    if (file_read(path, 0, &file.bytes, &file.n, NULL) != PEAT_OK)
        return PEAT_OK;
    peat_status status = imports_check(&file, true, err);
    free(file.bytes);
    if (status != PEAT_OK)
        error_prefix(err, "'%s'", path);
    return status;
}

static peat_status load(struct registry *r, const char *path, const struct plugin **plugin,
                        struct error *err)
{
    *plugin = loaded_from(r, path);
    if (*plugin)
        return PEAT_OK;
    bool python = path_ends_in(path, ".py");
    peat_status status = r->any_imports || python ? PEAT_OK : check_imports(path, err);
    if (status == PEAT_OK && python)
        status = python_plugin_load(r->arena, path, plugin, err);
    else if (status == PEAT_OK)
        status = load_noted(r, path, OBJECT_HASHED, plugin, err);
    if (status == PEAT_OK)
        remember(r, *plugin);
    return status;
}

static peat_status expect_kind(const struct plugin *plugin, peat_kind kind, struct error *err)
{
    if (plugin->desc->kind == kind)
        return PEAT_OK;
    return error_set(err, PEAT_INVALID, "'%s' is a %s, not a %s", plugin->path,
                     kind_name(plugin->desc->kind), kind_name(kind));
}

static peat_status load_kind(struct registry *r, const char *path, peat_kind kind,
                             const struct plugin **plugin, struct error *err)
{
    peat_status status = load(r, path, plugin, err);
    return status == PEAT_OK ? expect_kind(*plugin, kind, err) : status;
}

/* ---- names ---- */

/* The parts of a name for a plugin as the user wrote it. */
struct request {
    bool is_path;
    bool has_kind; /* "scheme/rotary" */
    peat_kind kind;
    const char *name; /* or it is a path */
};

static struct request request_parse(const char *text)
{
    const char *slash = strchr(text, '/');
    if (object_is_named(text) || (slash && strchr(slash + 1, '/')))
        return (struct request){.is_path = true, .name = text};
    if (!slash)
        return (struct request){.name = text};
    for (int i = 0; i < KINDS; i++) {
        const char *kind = kind_name(kinds[i]);
        if (strlen(kind) == (size_t)(slash - text) && !strncmp(kind, text, strlen(kind)))
            return (struct request){.has_kind = true, .kind = kinds[i], .name = slash + 1};
    }
    return (struct request){.is_path = true, .name = text};
}

bool registry_is_path(const char *name)
{
    return request_parse(name).is_path;
}

/* Looks for <dir>/<kind>/NAME.so, then <dir>/NAME.so if that is of this kind. *plugin stays NULL
 * when the directory has neither. */
static peat_status search_directory(struct registry *r, const char *dir, peat_kind kind,
                                    const char *name, const struct plugin **plugin,
                                    struct error *err)
{
    *plugin = NULL;
    const char *inside = arena_printf(r->arena, "%s/%s/%s.so", dir, kind_name(kind), name);
    const char *flat = arena_printf(r->arena, "%s/%s.so", dir, name);
    if (file_exists(inside))
        return load_kind(r, inside, kind, plugin, err);
    if (!file_exists(flat))
        return PEAT_OK;
    peat_status status = load(r, flat, plugin, err);
    if (status == PEAT_OK && (*plugin)->desc->kind != kind)
        *plugin = NULL;
    return status;
}

/* *plugin stays NULL when no directory has it. */
static peat_status search(struct registry *r, peat_kind kind, const char *name,
                          const struct plugin **plugin, struct error *err)
{
    *plugin = NULL;
    for (int i = 0; i < r->dirs.n; i++) {
        peat_status status = search_directory(r, r->dirs.dir[i], kind, name, plugin, err);
        if (status != PEAT_OK || *plugin)
            return status;
    }
    return PEAT_OK;
}

const char *registry_hidden(const struct registry *r, const char *kind, const char *path)
{
    const char *file = path_name(path);
    bool found = false;
    for (int i = 0; i < r->dirs.n; i++) {
        const char *inside = arena_printf(r->arena, "%s/%s/%s", r->dirs.dir[i], kind, file);
        bool own = file_is_same(inside, path);
        if (found && !own && file_exists(inside))
            return inside;
        found = found || own ||
                file_is_same(arena_printf(r->arena, "%s/%s", r->dirs.dir[i], file), path);
    }
    return NULL;
}

/* ---- unknown names ---- */

struct names {
    struct arena *arena;
    int n, room;
    const char **item;
};

/* Whether the list "rope, roformer" has the word. */
static bool lists_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (; *list; list += strspn(list, ", ")) {
        size_t length = strcspn(list, ",");
        if (length == n && strncasecmp(list, word, n) == 0)
            return true;
        list += length;
    }
    return false;
}

/* Whether the file's note of other names has this word. */
static bool is_also_called(const char *path, const char *word, struct arena *a)
{
    const char *called;
    return object_note("plugin", path, PEAT_ALSO_NOTE, &called, a, NULL) == PEAT_OK && called &&
           lists_word(called, word);
}

/* Adds the plugins of a folder; word: only those that are also called by it. */
static void names_collect(struct names *names, const char *dir, const char *word)
{
    struct arena *a = names->arena;
    char **entry;
    int n;
    dir_list(dir, &entry, &n, NULL);
    for (int i = 0; i < n; i++)
        if (object_is_named(entry[i]) &&
            (!word || is_also_called(path_in(dir, entry[i]).text, word, a)))
            *ARENA_APPEND(a, names->item, names->n, names->room) = object_stem(a, entry[i]);
    names_free(entry, n);
}

/* "concat_split', 'concat_wide' or 'concat_project", to be put in quotes; NULL: no plugin. */
static const char *synonyms(struct registry *r, peat_kind kind, const char *word)
{
    struct names names = {.arena = r->arena};
    const char *list = NULL;
    for (int i = 0; i < r->dirs.n && !names.n; i++)
        names_collect(&names, path_in(r->dirs.dir[i], kind_name(kind)).text, word);
    for (int i = 0; i < names.n; i++)
        list = list ? arena_printf(r->arena, "%s'%s'%s", list, i + 1 < names.n ? ", " : " or ",
                                   names.item[i])
                    : names.item[i];
    return list;
}

int registry_names(struct registry *r, peat_kind kind, const char *const **name)
{
    struct names names = {.arena = r->arena};
    for (int i = 0; i < r->dirs.n; i++) {
        names_collect(&names, path_in(r->dirs.dir[i], kind_name(kind)).text, NULL);
        names_collect(&names, r->dirs.dir[i], NULL);
    }
    *name = names.item;
    return names.n;
}

/* The plugins that people also call by this word, or else the one that is spelled most like it. */
static const char *nearest_plugin(struct registry *r, peat_kind kind, const char *word)
{
    const char *known = synonyms(r, kind, word);
    if (known)
        return known;
    const char *const *name;
    int n = registry_names(r, kind, &name);
    return nearest_name(word, name, n);
}

static bool exists_as(struct registry *r, peat_kind kind, const char *name)
{
    const struct plugin *plugin;
    return search(r, kind, name, &plugin, NULL) == PEAT_OK && plugin;
}

/* `other`: a kind that has the name; `near`: the nearest name; either may be NULL. With neither,
 * the message says what was searched. */
static peat_status not_found(const struct registry *r, const char *kind, const char *name,
                             const char *other, const char *near, struct error *err)
{
    struct strbuf text = STRBUF_NEW;
    strbuf_addf(&text, "there is no %s '%s'", kind, name);
    if (other)
        strbuf_addf(&text, ", but there is a %s of that name", other);
    else if (near)
        strbuf_addf(&text, "; did you mean '%s'?", near);
    else
        plugin_dirs_add(&r->dirs, &text);
    peat_status status = error_set(err, PEAT_NOTFOUND, "%s", text.text);
    strbuf_release(&text);
    return status;
}

static peat_status not_of_kind(struct registry *r, peat_kind kind, const char *name,
                               struct error *err)
{
    const char *other = NULL;
    for (int i = 0; i < KINDS && !other; i++)
        if (kinds[i] != kind && exists_as(r, kinds[i], name))
            other = kind_name(kinds[i]);
    return not_found(r, kind_name(kind), name, other, nearest_plugin(r, kind, name), err);
}

static peat_status not_anywhere(struct registry *r, const char *name, struct error *err)
{
    const char *near = NULL;
    for (int i = 0; i < KINDS && !near; i++)
        near = synonyms(r, kinds[i], name);
    for (int i = 0; i < KINDS && !near; i++)
        near = nearest_plugin(r, kinds[i], name);
    return not_found(r, "plugin", name, NULL, near, err);
}

/* ---- one plugin ---- */

static peat_status find(struct registry *r, peat_kind kind, const char *text, const char *beside,
                        const struct plugin **plugin, struct error *err)
{
    struct request request = request_parse(text);
    if (request.has_kind && request.kind != kind)
        return error_set(err, PEAT_INVALID, "'%s' names a %s, but a %s is needed here", text,
                         kind_name(request.kind), kind_name(kind));
    if (request.is_path && (path_ends_in(request.name, ".c") || path_ends_in(request.name, ".cc")))
        return error_set(err, PEAT_INVALID,
                         "'%s' is source: build it with 'peat plugins build' and name the .so",
                         request.name);
    if (request.is_path) {
        char *path = path_beside(beside, request.name);
        peat_status status = load_kind(r, path, kind, plugin, err);
        free(path);
        return status;
    }
    peat_status status = search(r, kind, request.name, plugin, err);
    if (status == PEAT_OK && !*plugin)
        status = not_of_kind(r, kind, request.name, err);
    return status;
}

static bool has_file(const struct registry *r, peat_kind kind, const char *name)
{
    for (int i = 0; i < r->dirs.n; i++)
        if (file_exists(
                arena_printf(r->arena, "%s/%s/%s.so", r->dirs.dir[i], kind_name(kind), name)))
            return true;
    return false;
}

static bool may_exist(const struct registry *r, peat_kind kind, const char *name)
{
    bool any = false;
    for (int i = 0; i < r->dirs.n; i++) {
        any = any || file_exists(arena_printf(r->arena, "%s/%s", r->dirs.dir[i], kind_name(kind)));
        if (file_exists(arena_printf(r->arena, "%s/%s.so", r->dirs.dir[i], name)))
            return true;
    }
    return !any || has_file(r, kind, name);
}

peat_status registry_expect(struct registry *r, peat_kind kind, const char *name, struct place at,
                            struct error *err)
{
    struct request request = request_parse(name);
    const char *other = NULL;
    if (request.is_path || request.has_kind || may_exist(r, kind, request.name))
        return PEAT_OK;
    for (int i = 0; i < KINDS && !other; i++)
        if (kinds[i] != kind && has_file(r, kinds[i], name))
            other = kind_name(kinds[i]);
    not_found(r, kind_name(kind), name, other, nearest_plugin(r, kind, name), err);
    return err ? place_error(err, at, "%s", err->text) : PEAT_NOTFOUND;
}

peat_status registry_find(struct registry *r, peat_kind kind, const char *name, struct place at,
                          const struct plugin **plugin, struct error *err)
{
    const struct plugin *found;
    r->at = at;
    peat_status status = find(r, kind, name, at.file ? at.file : "", &found, err);
    if (status == PEAT_OK)
        *plugin = found;
    else if (at.file && err)
        place_error(err, at, "%s", err->text);
    return status;
}

/* A name without a kind: exactly one kind must have it. */
static peat_status find_in_all_kinds(struct registry *r, const char *name,
                                     const struct plugin **plugin, struct error *err)
{
    const struct plugin *found = NULL;
    for (int i = 0; i < KINDS; i++) {
        const struct plugin *hit;
        peat_status status = search(r, kinds[i], name, &hit, err);
        if (status != PEAT_OK)
            return status;
        if (found && hit)
            return error_set(err, PEAT_INVALID, "'%s' is both a %s and a %s: say %s/%s or %s/%s",
                             name, kind_name(found->desc->kind), kind_name(hit->desc->kind),
                             kind_name(found->desc->kind), name, kind_name(hit->desc->kind), name);
        if (hit)
            found = hit;
    }
    if (!found)
        return not_anywhere(r, name, err);
    *plugin = found;
    return PEAT_OK;
}

peat_status registry_find_any(struct registry *r, const char *name, const struct plugin **plugin,
                              struct error *err)
{
    struct request request = request_parse(name);
    if (request.has_kind)
        return find(r, request.kind, name, "", plugin, err);
    if (request.is_path)
        return load(r, name, plugin, err);
    return find_in_all_kinds(r, name, plugin, err);
}

/* ---- all plugins ---- */

/* A walk over the directories. The first file with a kind and name counts, loadable or not. */
struct walk {
    struct registry *r;
    struct text_index claimed; /* "scheme/rotary", "combine/sum" */
    void (*bad)(void *ctx, const char *path, const char *why);
    void *ctx;
};

/* Takes the kind and name for a file; false when an earlier file has them. */
static bool claim(struct walk *w, peat_kind kind, const char *file)
{
    struct arena *a = w->r->arena;
    const char *key = arena_printf(a, "%s/%s", kind_name(kind), object_stem(a, file));
    if (text_index_find(&w->claimed, key) >= 0)
        return false;
    text_index_add(&w->claimed, a, key, 0);
    return true;
}

/* kind NULL: a file beside the folders of the kinds */
static void walk_file(struct walk *w, const char *path, const char *file, const peat_kind *kind)
{
    if (kind && !claim(w, *kind, file))
        return;
    if (texts_find(w->r->skip, w->r->n_skip, path) >= 0)
        return;
    struct error why = {0};
    const struct plugin *plugin;
    peat_status status = load_noted(w->r, path, OBJECT_UNHASHED, &plugin, &why);
    if (status == PEAT_OK && with_path(w->r, plugin->path))
        return; /* an existing file, also through a link */
    if (status == PEAT_OK && kind)
        status = expect_kind(plugin, *kind, &why);
    if (status != PEAT_OK)
        w->bad(w->ctx, path, why.text);
    else if (kind || claim(w, plugin->desc->kind, file))
        remember(w->r, plugin);
}

static void walk_directory(struct walk *w, const char *dir, const peat_kind *kind)
{
    struct error why = {0};
    char **entry;
    int n;
    peat_status status = dir_list(dir, &entry, &n, &why);
    if (status != PEAT_OK && status != PEAT_NOTFOUND)
        w->bad(w->ctx, dir, why.text);
    for (int i = 0; i < n; i++)
        if (object_is_named(entry[i]))
            walk_file(w, path_in(dir, entry[i]).text, entry[i], kind);
    names_free(entry, n);
}

static void walk_all(struct walk *w)
{
    for (int i = 0; i < w->r->dirs.n; i++) {
        for (int k = 0; k < KINDS; k++)
            walk_directory(w, path_in(w->r->dirs.dir[i], kind_name(kinds[k])).text, &kinds[k]);
        walk_directory(w, w->r->dirs.dir[i], NULL);
    }
}

static int compare_plugins(const void *a, const void *b)
{
    const struct plugin *x = *(const struct plugin *const *)a;
    const struct plugin *y = *(const struct plugin *const *)b;
    if (x->desc->kind != y->desc->kind)
        return x->desc->kind < y->desc->kind ? -1 : 1;
    return strcmp(x->name, y->name);
}

void registry_load_all(struct registry *r,
                       void (*bad)(void *ctx, const char *path, const char *why), void *ctx)
{
    struct walk w = {.r = r, .bad = bad, .ctx = ctx};
    walk_all(&w);
    if (r->n)
        qsort(r->item, (size_t)r->n, sizeof(*r->item), compare_plugins);
}
