/* SPDX-License-Identifier: MIT */
/* complete.c: completes the last word of an unfinished command line. */

#include "cli/command.h"
#include "cli/offers.h"

static void offer_value(const struct offers *o, const struct cli_option *option)
{
    for (int i = 0; option->kind == CLI_KIND_WORD && i < option->max; i++)
        offer(o, option->word[i], "");
    offer_argument(o, option->argument, strlen(option->argument));
}

static void offer_options(const struct offers *o, const struct cli_command *c)
{
    const struct cli_option *option;
    for (int i = 0; (option = cli_option(c, i)); i++) {
        offer(o, arena_printf(o->a, "--%s", option->name), "");
        if (option->letter)
            offer(o, arena_printf(o->a, "-%c", option->letter), "");
    }
}

/* An operand in brackets is the last of the list; one with "..." may be repeated. */
static void offer_operand(struct offers *o, const struct cli_command *c)
{
    const char *name = c->operands ? c->operands : "";
    int which = o->n_operand;
    for (; which > 0 && *name != '[' && strchr(name, ' '); which--)
        name = strchr(name, ' ') + 1;
    size_t n = *name == '[' ? strlen(name) : strcspn(name, " ");
    o->is_operand = true;
    if (which == 0 || strstr(name, "..."))
        offer_argument(o, name, n);
}

static void offer_verbs(const struct offers *o, const struct cli_command *group)
{
    for (const struct cli_command *const *v = group->verb; *v; v++)
        offer(o, cli_verb(*v), "");
    offer(o, "help", "");
    offer_options(o, group);
}

/* Sets o->operand; returns the option whose argument the last word is; NULL: the word is not an
 * option's argument. */
static const struct cli_option *read_words(struct offers *o, const struct cli_command *c, int n,
                                           char *const *word)
{
    const struct cli_option *valued = NULL;
    for (int i = 0; i < n - 1; i++) {
        if (valued || word[i][0] != '-') {
            o->operand[o->n_operand] = word[i];
            o->n_operand += !valued;
            valued = NULL;
            continue;
        }
        valued = cli_find_option(c, word[i]);
        valued = valued && valued->argument ? valued : NULL;
    }
    return valued;
}

static void complete_command(struct offers *o, const struct cli_command *c, int n,
                             char *const *word)
{
    o->operand = ARENA_ARRAY(o->a, n, char *);
    const struct cli_option *valued = read_words(o, c, n, word);
    const char *last = word[n - 1], *equals = *last == '-' ? strchr(last, '=') : NULL;
    if (equals) {
        valued = cli_find_option(c, arena_printf(o->a, "%.*s", (int)(equals - last), last));
        o->begun = equals + 1;
    }
    if (valued && valued->argument)
        offer_value(o, valued);
    else if (*last == '-')
        offer_options(o, c);
    else
        offer_operand(o, c);
}

/* Shells may cut "--kind=bars" and "train.steps=10" at the '='. Joins them again; returns the
 * number of words. */
static int join_words(struct arena *a, int n, char *const *word, char **joined)
{
    int m = 0;
    for (int i = 0; i < n; i++)
        if (m > 0 && (!strcmp(word[i], "=") || !strcmp(word[i - 1], "=")))
            joined[m - 1] = arena_printf(a, "%s%s", joined[m - 1], word[i]);
        else
            joined[m++] = word[i];
    return m;
}

void cli_complete(const struct cli_command *c, int n_typed, char *const *typed)
{
    struct arena arena;
    arena_init(&arena, "completion", 1 << 14);
    char **word = ARENA_ARRAY(&arena, n_typed + 1, char *);
    int n = join_words(&arena, n_typed, typed, word);
    for (; c && c->verb && n > 1; n--, word++)
        c = strcmp(word[0], "help") != 0 ? cli_find_verb(c, word[0]) : c;
    if (c && n > 0) {
        const char *last = typed[n_typed - 1];
        struct offers o = {.a = &arena, .word = word[n - 1], .begun = word[n - 1]};
        o.cut = strlen(o.word) - (strcmp(last, "=") != 0 ? strlen(last) : 0);
        if (c->verb)
            offer_verbs(&o, c);
        else
            complete_command(&o, c, n, word);
    }
    arena_release(&arena);
}
