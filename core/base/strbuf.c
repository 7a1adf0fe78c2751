/* SPDX-License-Identifier: MIT */
/* strbuf.c: growable text, and the width of text on a terminal. */

#include "base/base.h"
#include <locale.h>
#include <wchar.h>

void strbuf_init(struct strbuf *b)
{
    *b = STRBUF_NEW;
}

void strbuf_release(struct strbuf *b)
{
    if (b->room)
        free(b->text);
    strbuf_init(b);
}

void strbuf_clear(struct strbuf *b)
{
    b->n = 0;
    if (b->room)
        b->text[0] = '\0';
}

/* Makes room for `more` bytes and the terminator. */
static void reserve(struct strbuf *b, size_t more)
{
    if (more > SIZE_MAX / 4 - b->n)
        BUG("a text of %zu bytes", more);
    size_t need = b->n + more + 1;
    if (need <= b->room)
        return;
    size_t room = b->room ? b->room : 64;
    while (room < need)
        room *= 2;
    char *text = realloc(b->room ? b->text : NULL, room);
    if (!text)
        out_of_memory("a text");
    b->text = text;
    b->room = room;
}

void strbuf_add(struct strbuf *b, const char *text)
{
    strbuf_add_bytes(b, text, strlen(text));
}

void strbuf_add_bytes(struct strbuf *b, const void *bytes, size_t n)
{
    reserve(b, n);
    if (n)
        memcpy(b->text + b->n, bytes, n);
    b->n += n;
    b->text[b->n] = '\0';
}

void strbuf_addv(struct strbuf *b, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    if (n < 0)
        BUG("format '%s' failed", fmt);
    reserve(b, (size_t)n);
    vsnprintf(b->text + b->n, (size_t)n + 1, fmt, again);
    b->n += (size_t)n;
    va_end(again);
}

void strbuf_addf(struct strbuf *b, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    strbuf_addv(b, fmt, args);
    va_end(args);
}

void strbuf_item(struct strbuf *b, const char *fmt, ...)
{
    va_list args;
    strbuf_add(b, b->n ? ", " : "");
    va_start(args, fmt);
    strbuf_addv(b, fmt, args);
    va_end(args);
}

void strbuf_join(struct strbuf *b, const char *const *text, int n)
{
    for (int i = 0; i < n; i++)
        strbuf_addf(b, "%s%s", i ? ", " : "", text[i]);
}

void strbuf_add_word(struct strbuf *b, const char *text)
{
    static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                   "._-/+=:,@%";
    bool plain = *text && strspn(text, harmless) == strlen(text);
    strbuf_add(b, plain ? text : "'");
    for (; !plain && *text; text++)
        strbuf_add(b, *text == '\'' ? "'\\''" : (char[]){*text, '\0'});
    strbuf_add(b, plain ? "" : "'");
}

void strbuf_fill(struct strbuf *b, char c, size_t n)
{
    reserve(b, n);
    memset(b->text + b->n, c, n);
    b->n += n;
    b->text[b->n] = '\0';
}

char *strbuf_detach(struct strbuf *b)
{
    reserve(b, 0);
    b->text[b->n] = '\0';
    char *text = b->text;
    strbuf_init(b);
    return text;
}

char *strbuf_keep(struct strbuf *b, struct arena *a)
{
    char *text = arena_strdup(a, b->text);
    strbuf_release(b);
    return text;
}

char *text_replaced(const char *text, const char *old, const char *by, struct arena *a)
{
    struct strbuf out = STRBUF_NEW;
    for (const char *hit; (hit = strstr(text, old)); text = hit + strlen(old)) {
        strbuf_add_bytes(&out, text, (size_t)(hit - text));
        strbuf_add(&out, by);
    }
    strbuf_add(&out, text);
    return strbuf_keep(&out, a);
}

size_t utf8_read(const unsigned char *s, size_t n, uint32_t *code)
{
    if (s[0] < 0x80) {
        *code = s[0];
        return 1;
    }
    size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (s[0] < 0xc2 || s[0] > 0xf4 || length > n)
        return 0;
    *code = s[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (s[i] & 0x3fu);
    }
    bool surrogate = *code >= 0xd800 && *code <= 0xdfff;
    return *code < least[length] || *code > 0x10ffff || surrogate ? 0 : length;
}

static size_t characters(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* A byte that is not UTF-8 and a control character count as one column. */
static size_t columns_in_locale(const char *text)
{
    size_t columns = 0;
    mbstate_t state = {0};
    for (const char *end = text + strlen(text); text < end;) {
        wchar_t c;
        size_t bytes = mbrtowc(&c, text, (size_t)(end - text), &state);
        if (bytes == (size_t)-1 || bytes == (size_t)-2) {
            state = (mbstate_t){0};
            bytes = 1;
            c = L'?';
        }
        int width = wcwidth(c);
        columns += width < 0 ? 1 : (size_t)width;
        text += bytes;
    }
    return columns;
}

size_t text_columns(const char *text)
{
    size_t n = 0;
    while (text[n] > 0)
        n++;
    if (!text[n])
        return n;
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (!utf8)
        return characters(text);
    locale_t before = uselocale(utf8);
    size_t columns = columns_in_locale(text);
    uselocale(before);
    freelocale(utf8);
    return columns;
}

size_t text_fit(const char *text, size_t columns)
{
    char character[5];
    size_t fits = 0, used = 0;
    while (text[fits]) {
        uint32_t code;
        size_t n = utf8_read((const unsigned char *)text + fits, SIZE_MAX, &code);
        n = n ? n : 1;
        memcpy(character, text + fits, n);
        character[n] = '\0';
        used += text_columns(character);
        if (used > columns)
            break;
        fits += n;
    }
    return fits;
}
