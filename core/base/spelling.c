/* SPDX-License-Identifier: MIT */
/* spelling.c: finds the name that was probably meant by a mistyped word. */

#include "base/base.h"

static bool is_spelled(const char *name, const char *word)
{
    while (*name && (*name == *word || (strchr("-_", *name) && *word && strchr("-_", *word)))) {
        name++;
        word++;
    }
    return *name == *word;
}

int names_count(const char *const *name)
{
    int n = 0;
    while (name && name[n])
        n++;
    return n;
}

int names_find(const char *const *name, const char *word)
{
    for (int i = 0; word && name && name[i]; i++)
        if (strcmp(name[i], word) == 0)
            return i;
    return -1;
}

int texts_find(const char *const *text, int n, const char *word)
{
    int i = 0;
    while (i < n && strcmp(text[i], word) != 0)
        i++;
    return i < n ? i : -1;
}

int name_index(const char *const *name, int n, const char *word)
{
    int found = texts_find(name, n, word);
    for (int i = 0; found < 0 && i < n; i++)
        found = is_spelled(name[i], word) ? i : -1;
    return found;
}

enum { NAME_MAX_LENGTH = 63 };

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/*
 * Insertions, deletions, substitutions and swaps of neighbours that turn a into b; case is ignored.
 *   d[i][j] = min(d[i-1][j] + 1, d[i][j-1] + 1, d[i-1][j-1] + (a_i != b_j),
 *                 d[i-2][j-2] + 1 when a_i a_{i-1} = b_{j-1} b_j)
 */
static int edit_distance(const char *a, int na, const char *b, int nb)
{
    int row[3][NAME_MAX_LENGTH + 1];
    for (int j = 0; j <= nb; j++)
        row[0][j] = j;
    for (int i = 1; i <= na; i++) {
        int *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= nb; j++) {
            int ca = lower(a[i - 1]), cb = lower(b[j - 1]);
            int64_t best = at_most(last[j], now[j - 1]) + 1;
            best = at_most(best, last[j - 1] + (ca != cb));
            if (i > 1 && j > 1 && ca == lower(b[j - 2]) && lower(a[i - 2]) == cb)
                best = at_most(best, before[j - 2] + 1);
            now[j] = (int)best;
        }
    }
    return row[na % 3][nb];
}

/* What other programs call a key, a verb or an option. */
static const char *const called[][2] = {
    {"learning_rate", "lr"},
    {"batch_size", "batch"},
    {"epochs", "steps"},
    {"max_steps", "steps"},
    {"iterations", "steps"},
    {"max_iters", "steps"},
    {"dim", "d_model"},
    {"n_embd", "d_model"},
    {"hidden_size", "d_model"},
    {"embed_dim", "d_model"},
    {"n_heads", "n_head"},
    {"num_heads", "n_head"},
    {"depth", "n_layer"},
    {"num_layers", "n_layer"},
    {"ffn_dim", "d_ff"},
    {"block_size", "seq_len"},
    {"context", "seq_len"},
    {"max_length", "seq_len"},
    {"train", "run"},
    {"sweep", "run"},
    {"fit", "run"},
    {"list", "runs"},
    {"ls", "runs"},
    {"init", "new"},
    {"eval", "results"},
    {"table", "results"},
    {"show", "results"},
};

/* A dotted name counts by its last part; a dotted word means names of its own section only. */
static const char *called_elsewhere(const char *word, const char *const *name, int n)
{
    const char *dot = strrchr(word, '.');
    size_t section = dot ? (size_t)(dot + 1 - word) : 0;
    for (size_t i = 0; i < sizeof(called) / sizeof(*called); i++)
        for (int k = 0; k < n && strcasecmp(word + section, called[i][0]) == 0; k++)
            if (strcmp(key_name(name[k]), called[i][1]) == 0 &&
                strncmp(name[k], word, section) == 0)
                return name[k];
    return NULL;
}

const char *nearest_name(const char *word, const char *const *name, int n)
{
    size_t length = strlen(word);
    const char *found = called_elsewhere(word, name, n);
    if (found || length > NAME_MAX_LENGTH)
        return found;
    int nearest = length < 2 ? 0 : length < 6 ? 1 : (int)length / 3;
    for (int i = 0; i < n; i++) {
        size_t other = strlen(name[i]);
        if (other > NAME_MAX_LENGTH)
            continue;
        int distance = edit_distance(word, (int)length, name[i], (int)other);
        if (distance < nearest || (distance == nearest && !found)) {
            nearest = distance;
            found = name[i];
        }
    }
    return found;
}

const char *suggestion(const char *word, const char *const *name, int n, char text[SUGGESTION])
{
    const char *near = nearest_name(word, name, n);
    text[0] = '\0';
    if (near)
        snprintf(text, SUGGESTION, "; did you mean '%s'?", near);
    return text;
}

void error_add_nearest(struct error *err, const char *word, const char *const *name, int n)
{
    char text[SUGGESTION];
    if (err)
        error_set(err, err->status, "%s%s", err->text, suggestion(word, name, n, text));
}

void error_add_names(struct error *err, const char *word, const char *const *name, int n)
{
    for (int i = 0; err && i < n; i++)
        error_set(err, err->status, "%s%s%s", err->text, i ? ", " : "", name[i]);
    error_add_nearest(err, word, name, n);
}
