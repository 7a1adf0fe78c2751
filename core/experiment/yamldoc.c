/* SPDX-License-Identifier: MIT */
/* yamldoc.c: from libyaml's events to a tree of settings. */
#include "experiment/yamldoc.h"

#include <yaml.h>

#define MOST_BYTES     ((size_t)256 * 1024)
#define MOST_DEPTH     32
#define MOST_NODES     100000
#define MOST_KEYS      4096 /* in one map, because trees search keys one by one */
#define MOST_KEY_BYTES 256
#define CORE_TAG       "tag:yaml.org,2002:"

struct anchor {
    struct place at;
    struct value *value; /* node of an anchor; NULL while the node is open */
    int64_t nodes;       /* number of values in the anchored subtree, with aliases expanded */
    int height;          /* levels of nesting in it */
};

/* A list or map whose end has not been read. */
struct level {
    struct value *node;
    struct anchor *anchor;
    int64_t nodes_before;
    int height;
    struct text_index keys;
    const char *key; /* a map's key that waits for its value */
    struct place key_at;
};

struct reader {
    yaml_parser_t parser;
    struct arena *a;
    const char *file;
    const struct place *whole; /* when set, every place is this one */
    struct error *err;
    struct value *root;
    bool has_document;
    int64_t nodes;
    int depth;
    struct level level[MOST_DEPTH];
    int n_anchor, anchor_room;
    struct anchor **anchor;
    struct text_index anchors; /* indices in `anchor` */
};

static struct place place_at(const struct reader *r, size_t line, size_t column)
{
    if (r->whole)
        return *r->whole;
    return (struct place){r->file, (int)line, (int)column};
}

static struct place place_of(const struct reader *r, yaml_mark_t mark)
{
    return place_at(r, mark.line + 1, mark.column + 1);
}

static bool yaml_no_memory(struct reader *r)
{
    return error_fail(r->err, PEAT_NOMEM, "%s: out of memory", r->file);
}

/* ---- bytes ---- */

/* Printable by YAML's rule, except characters that editors hide or that only some readers treat as
 * the end of a line: U+0085, U+2028, U+2029, and a byte order mark anywhere but at the start. */
static bool character_allowed(uint32_t c)
{
    if (c < 0x20 || (c >= 0x7f && c < 0xa0))
        return c == '\t' || c == '\n' || c == '\r';
    return c != 0x2028 && c != 0x2029 && c != 0xfeff && c != 0xfffe && c != 0xffff;
}

static bool check_bytes(struct reader *r, const unsigned char *s, size_t n)
{
    size_t line = 1, column = 1;
    for (size_t i = 0, length; i < n; i += length) {
        uint32_t c = 0;
        length = utf8_read(s + i, n - i, &c);
        struct place at = place_at(r, line, column);
        if (length == 0)
            return mistake(r->err, at, "byte 0x%02x is not UTF-8", s[i]);
        if (c == 0)
            return mistake(r->err, at, "NUL bytes are not allowed");
        if (!character_allowed(c))
            return mistake(r->err, at, "character U+%04X is not allowed", (unsigned)c);
        bool ends_line = c == '\n' || (c == '\r' && (i + 1 == n || s[i + 1] != '\n'));
        line += ends_line;
        column = ends_line ? 1 : column + 1;
    }
    return true;
}

/* The first byte of the character to which a mark points, 0 at the end. Marks count characters. */
static char byte_at(const char *text, size_t n, yaml_mark_t mark)
{
    size_t i = 0;
    for (size_t index = 0; i < n; i++) {
        bool starts_character = ((unsigned char)text[i] & 0xc0) != 0x80;
        if (starts_character && index++ == mark.index)
            return text[i];
    }
    return 0;
}

/* ---- names that may occur once ---- */

/* noun: "key" or "anchor" */
static bool refuse_twice(struct reader *r, const char *noun, const char *name, struct place at,
                         struct place first)
{
    if (r->whole)
        return mistake(r->err, at, "duplicate %s '%s'", noun, name);
    return mistake(r->err, at, "duplicate %s '%s'; first given at line %d", noun, name, first.line);
}

static bool open_anchor(struct reader *r, const yaml_char_t *name, struct place at,
                        struct anchor **anchor)
{
    const char *text = (const char *)name;
    int first = name ? text_index_find(&r->anchors, text) : -1;
    *anchor = NULL;
    if (first >= 0)
        return refuse_twice(r, "anchor", text, at, r->anchor[first]->at);
    if (!name)
        return true;
    *anchor = ARENA_NEW(r->a, struct anchor);
    (*anchor)->at = at;
    text_index_add(&r->anchors, r->a, arena_strdup(r->a, text), r->n_anchor);
    *ARENA_APPEND(r->a, r->anchor, r->n_anchor, r->anchor_room) = *anchor;
    return true;
}

/* ---- nodes ---- */

static bool count_nodes(struct reader *r, struct place at, int64_t n)
{
    r->nodes += n;
    if (r->nodes > MOST_NODES)
        return mistake(r->err, at, "more than %d values, aliases counted as what they stand for",
                       MOST_NODES);
    return true;
}

static bool too_deep(struct reader *r, struct place at)
{
    return mistake(r->err, at, "nested more than %d levels deep", MOST_DEPTH);
}

/* Puts a finished node into the root, the open list, or the open map's key. */
static bool attach(struct reader *r, struct value *node, int height)
{
    if (r->depth == 0) {
        r->root = node;
        return true;
    }
    struct level *top = &r->level[r->depth - 1];
    if (top->height < height)
        top->height = height;
    if (top->node->kind == VALUE_LIST)
        value_append(r->a, top->node, node);
    else
        value_set(r->a, top->node, top->key, top->key_at, node);
    top->key = NULL;
    return true;
}

static bool wants_key(const struct reader *r)
{
    const struct level *top = r->depth > 0 ? &r->level[r->depth - 1] : NULL;
    return top && top->node->kind == VALUE_MAP && !top->key;
}

static bool read_alias(struct reader *r, const yaml_event_t *e)
{
    const char *name = (const char *)e->data.alias.anchor;
    struct place at = place_of(r, e->start_mark);
    if (wants_key(r))
        return mistake(r->err, at, "a key must be a text, not the alias '*%s'", name);
    int found = text_index_find(&r->anchors, name);
    const struct anchor *anchor = found < 0 ? NULL : r->anchor[found];
    if (!anchor)
        return mistake(r->err, at, "alias '*%s' has no anchor '&%s' before it", name, name);
    if (!anchor->value)
        return mistake(r->err, at, "alias '*%s' is inside its own anchor", name);
    if (r->depth + anchor->height > MOST_DEPTH)
        return too_deep(r, at);
    return count_nodes(r, at, anchor->nodes) && attach(r, anchor->value, anchor->height);
}

/* ---- tags ---- */

/* Escapes in a tag can spell invisible characters, so such a tag is not repeated in the message. */
static bool refuse_tag(struct reader *r, struct place at, const char *tag)
{
    size_t core = strlen(CORE_TAG);
    for (const char *c = tag; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f)
            return mistake(r->err, at, "this tag is not allowed");
    if (strncmp(tag, CORE_TAG, core) == 0)
        return mistake(r->err, at, "tag '!!%s' is not allowed", tag + core);
    return mistake(r->err, at, "tag '%s' is not allowed", tag);
}

/* Lists and maps may have the tag of their own type. */
static bool check_tag(struct reader *r, struct place at, const yaml_char_t *tag, const char *own)
{
    const char *text = (const char *)tag;
    if (!text || strcmp(text, "!") == 0 || strcmp(text, own) == 0)
        return true;
    return refuse_tag(r, at, text);
}

/* A scalar with one of the core schema's tags; the text must be valid for that type. */
static bool read_tagged(struct reader *r, struct place at, const char *tag, const char *text,
                        struct value **value)
{
    static const char *const kinds[] = {"null", "bool", "int", "float", NULL}; /* enum value_kind */
    size_t core = strlen(CORE_TAG);
    int kind = strncmp(tag, CORE_TAG, core) == 0 ? names_find(kinds, tag + core) : -1;
    if (strcmp(tag, "!") == 0 || strcmp(tag, CORE_TAG "str") == 0) {
        *value = value_text(r->a, at, text);
        return true;
    }
    if (kind < 0)
        return refuse_tag(r, at, tag);
    struct value *v = *value = value_scalar(r->a, at, text);
    if (kind == VALUE_REAL && v->kind == VALUE_INT)
        v->kind = VALUE_REAL;
    return (int)v->kind == kind ||
           mistake(r->err, at, "the value is not of its tag's type '!!%s'", tag + core);
}

/* ---- events ---- */

/* Keys are compared, suggested and printed, so they must be short and visible. A number is a key as
 * written. */
static bool read_key(struct reader *r, const yaml_event_t *e)
{
    const char *text = (const char *)e->data.scalar.value;
    const char *tag = (const char *)e->data.scalar.tag;
    size_t n = e->data.scalar.length;
    struct place at = place_of(r, e->start_mark);
    bool plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (e->data.scalar.anchor)
        return mistake(r->err, at, "a key cannot have an anchor");
    if (tag && strcmp(tag, "!") != 0 && strcmp(tag, CORE_TAG "str") != 0)
        return refuse_tag(r, at, tag);
    if (plain && strcmp(text, "<<") == 0)
        return mistake(r->err, at, "merge keys (<<) are not supported; write the keys out");
    if (n == 0)
        return mistake(r->err, at, "a key cannot be empty");
    if (n > MOST_KEY_BYTES)
        return mistake(r->err, at, "a key cannot be longer than %d bytes", MOST_KEY_BYTES);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return mistake(r->err, at, "a key cannot hold control characters");
    struct level *top = &r->level[r->depth - 1];
    if (top->node->n == MOST_KEYS)
        return mistake(r->err, at, "more than %d keys in one map", MOST_KEYS);
    int first = text_index_find(&top->keys, text);
    if (first >= 0)
        return refuse_twice(r, "key", text, at, top->node->key_at[first]);
    top->key = arena_strdup(r->a, text);
    text_index_add(&top->keys, r->a, top->key, top->node->n);
    top->key_at = at;
    return true;
}

static bool read_scalar(struct reader *r, const yaml_event_t *e)
{
    if (wants_key(r))
        return read_key(r, e);
    const char *text = (const char *)e->data.scalar.value;
    const char *tag = (const char *)e->data.scalar.tag;
    struct place at = place_of(r, e->start_mark);
    struct anchor *anchor;
    struct value *value = NULL;
    bool ok = true;
    if (strlen(text) != e->data.scalar.length)
        return mistake(r->err, at, "a text cannot hold a NUL character");
    if (tag)
        ok = read_tagged(r, at, tag, text, &value);
    else if (e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        value = value_scalar(r->a, at, text);
    else
        value = value_text(r->a, at, text);
    if (!(ok && open_anchor(r, e->data.scalar.anchor, at, &anchor) && count_nodes(r, at, 1)))
        return false;
    if (anchor) {
        anchor->value = value;
        anchor->nodes = 1;
    }
    return attach(r, value, 0);
}

/* Opens a list or map. The depth is checked here, at the first event, because libyaml's own time
 * grows with the square of the nesting. */
static bool open_level(struct reader *r, const yaml_event_t *e)
{
    bool is_map = e->type == YAML_MAPPING_START_EVENT;
    const yaml_char_t *name = is_map ? e->data.mapping_start.anchor : e->data.sequence_start.anchor;
    struct place at = place_of(r, e->start_mark);
    if (wants_key(r))
        return mistake(r->err, at, "a key must be a text, not a %s", is_map ? "map" : "list");
    if (r->depth == MOST_DEPTH)
        return too_deep(r, at);
    bool ok = is_map ? check_tag(r, at, e->data.mapping_start.tag, CORE_TAG "map")
                     : check_tag(r, at, e->data.sequence_start.tag, CORE_TAG "seq");
    struct level *level = &r->level[r->depth];
    *level = (struct level){.nodes_before = r->nodes, .height = 0};
    if (!(ok && open_anchor(r, name, at, &level->anchor) && count_nodes(r, at, 1)))
        return false;
    level->node = is_map ? value_map(r->a, at) : value_list(r->a, at);
    r->depth++;
    return true;
}

static bool close_level(struct reader *r)
{
    const struct level *level = &r->level[--r->depth];
    int height = level->height + 1;
    if (level->anchor) {
        level->anchor->value = level->node;
        level->anchor->nodes = r->nodes - level->nodes_before;
        level->anchor->height = height;
    }
    return attach(r, level->node, height);
}

static bool read_event(struct reader *r, const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (r->has_document)
            return mistake(r->err, place_of(r, e->start_mark),
                           "a second document starts here; a file holds one");
        r->has_document = true;
        return true;
    case YAML_ALIAS_EVENT:
        return read_alias(r, e);
    case YAML_SCALAR_EVENT:
        return read_scalar(r, e);
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return open_level(r, e);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return close_level(r);
    default:
        return true;
    }
}

/* libyaml's own message, with the line on which its context began, if that is another line. */
static bool syntax_error(struct reader *r, const char *text, size_t n)
{
    const yaml_parser_t *p = &r->parser;
    struct place at = place_of(r, p->problem_mark);
    if (p->error == YAML_MEMORY_ERROR || !p->problem)
        return yaml_no_memory(r);
    if (p->error == YAML_SCANNER_ERROR && byte_at(text, n, p->problem_mark) == '\t')
        return mistake(r->err, at, "tabs cannot indent");
    if (!p->context || r->whole || p->context_mark.line == p->problem_mark.line)
        return mistake(r->err, at, "%s", p->problem);
    return mistake(r->err, at, "%s %s that starts at line %zu", p->problem, p->context,
                   p->context_mark.line + 1);
}

static bool read_events(struct reader *r, const char *text, size_t n)
{
    bool ok = true;
    for (bool ended = false; ok && !ended;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&r->parser, &event))
            return syntax_error(r, text, n);
        ended = event.type == YAML_STREAM_END_EVENT;
        ok = read_event(r, &event);
        yaml_event_delete(&event);
    }
    return ok;
}

static bool read_tree(struct reader *r, const char *text, size_t n)
{
    if (!check_bytes(r, (const unsigned char *)text, n))
        return false;
    if (!yaml_parser_initialize(&r->parser))
        return yaml_no_memory(r);
    yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)text, n);
    bool ok = read_events(r, text, n);
    yaml_parser_delete(&r->parser);
    return ok;
}

/* `whole` may be NULL. An empty text gives *root NULL or an empty null. */
static peat_status yaml_read_text(struct arena *a, const char *text, size_t n, const char *file,
                                  const struct place *whole, struct value **root, struct error *err)
{
    if (n > MOST_BYTES)
        return error_set(err, PEAT_INVALID, "%s: larger than %zu KiB", file, MOST_BYTES / 1024);
    struct error own = {0};
    struct reader r = {
        .a = a, .file = arena_strdup(a, file), .whole = whole, .err = err ? err : &own};
    if (!read_tree(&r, text, n))
        return r.err->status;
    *root = r.root;
    return PEAT_OK;
}

peat_status yaml_parse(struct arena *a, const char *text, size_t n, const char *file,
                       struct value **root, struct error *err)
{
    bool has_mark = n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
    struct value *read = NULL;
    peat_status status =
        yaml_read_text(a, text + 3 * has_mark, n - 3 * has_mark, file, NULL, &read, err);
    if (status != PEAT_OK)
        return status;
    if (!read || (read->kind == VALUE_NULL && (!read->text || !read->text[0])))
        return place_error(err, (struct place){file, 1, 1}, "the file is empty");
    *root = read;
    return PEAT_OK;
}

peat_status yaml_load(struct arena *a, const char *file, struct value **root, struct error *err)
{
    char *text;
    size_t n;
    peat_status status = file_read_stream(file, MOST_BYTES, &text, &n, err);
    if (status != PEAT_OK)
        return status;
    status = yaml_parse(a, text, n, file, root, err);
    free(text);
    return status;
}

peat_status yaml_value(struct arena *a, const char *text, struct place at, struct value **value,
                       struct error *err)
{
    struct value *read = NULL;
    const char *file = at.file ? at.file : "value";
    peat_status status = yaml_read_text(a, text, strlen(text), file, &at, &read, err);
    if (status != PEAT_OK)
        return status;
    *value = read ? read : value_null(a, at);
    return PEAT_OK;
}
