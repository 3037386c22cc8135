/* suggest.c - the known word nearest to a mistyped word, for messages. The distance of two words is the number of
 * letters to add, remove, replace, or exchange with a neighbour; upper and lower case are equal. Of the words
 * that begin with the mistyped word the shortest is the nearest. */
#include "handle/request.h"
#include "handle/support.h"

#include <ctype.h>
#include <string.h>

#define WORD  64         /* bytes of a mistyped word; no word is near a longer one */
#define KNOWN (2 * WORD) /* bytes of a known word */

/* The nearest of the known words offered so far. */
struct nearest_word {
    const char *word, *best; /* best: NULL where none is near */
    size_t len;
    uint32_t letters; /* letters_of(word) */
    int smallest;     /* the distance of best, or a distance too great */
    bool begins;      /* whether best begins with the word */
};

/* The set of a word's bytes, each by its lowest five bits, which upper and lower case have in common. */
static uint32_t letters_of(const char *word)
{
    uint32_t set = 0;

    for (; *word; word++)
        set |= UINT32_C(1) << (*word & 31);
    return set;
}

/* Whether a word lacks more of the letters than `most`, each of which counts as a step of the distance. */
static bool lacks_letters(const char *word, uint32_t letters, int most)
{
    letters &= ~letters_of(word);
    for (; letters && most >= 0; most--)
        letters &= letters - 1;
    return most < 0;
}

static struct nearest_word begin(const char *word)
{
    size_t len = strlen(word);
    int most = len < 2 ? 0 : len < 5 ? 1 : len < 9 ? 2 : (int)len / 3; /* the greatest distance of a near word */

    return (struct nearest_word){.word = word, .len = len, .letters = letters_of(word), .smallest = most + 1};
}

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static int smaller_of(int a, int b)
{
    return a < b ? a : b;
}

static int distance(const char *a, size_t na, const char *b, size_t nb)
{
    int rows[3][KNOWN + 1], *above = rows[0], *row = rows[1], *before = rows[2];

    for (size_t j = 0; j <= nb; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int *next = before;
        before = above, above = row, row = next;
        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            row[j] = smaller_of(above[j - 1] + !same(a[i - 1], b[j - 1]), smaller_of(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                row[j] = smaller_of(row[j], before[j - 2] + 1);
        }
    }
    return row[nb];
}

/* The number of places where two words of equal length differ. A short word with one letter replaced is a different
 * word: gpu is no misspelt tpu. */
static int differences(const char *a, const char *b)
{
    int n = 0;

    for (; *a; a++, b++)
        n += !same(*a, *b);
    return n;
}

/* Whether a known word precedes the best of equal distance: the shorter of two that begin with the mistyped word,
 * else by the alphabet. */
static bool goes_before(const char *known, size_t len, bool begins, const struct nearest_word *s)
{
    size_t best = strlen(s->best);

    return begins && s->begins && len != best ? len < best : strcmp(known, s->best) < 0;
}

static void offer(struct nearest_word *s, const char *known)
{
    size_t len = strlen(known);
    bool begins;
    int d, most; /* the distance, and the greatest that is of interest */

    if (s->len > WORD || len > KNOWN || len < 2 || (s->len < 4 && len == s->len && differences(known, s->word) == 1))
        return;
    begins = s->len >= 2 && known[0] == s->word[0] && strncmp(known, s->word, s->len) == 0;
    most = s->best ? s->smallest : s->smallest - 1;
    if (!begins && ((int)(len > s->len ? len - s->len : s->len - len) > most || lacks_letters(known, s->letters, most)))
        return; /* the distance is greater: that of the lengths, or the number of letters to be replaced */
    d = begins ? 1 : distance(s->word, s->len, known, len);
    if (d < s->smallest || (s->best && d == s->smallest && goes_before(known, len, begins, s))) {
        s->best = known;
        s->smallest = d;
        s->begins = begins;
    }
}

/* Pushes the hint, and returns its text. */
static const char *push_hint(lua_State *L, const struct nearest_word *s)
{
    return s->best ? lua_pushfstring(L, " (did you mean \"%s\"?)", s->best) : lua_pushliteral(L, "");
}

const char *weirlua_hint(lua_State *L, const char *word, const char *const *known)
{
    struct nearest_word s = begin(word);

    for (size_t i = 0; known[i]; i++)
        offer(&s, known[i]);
    return push_hint(L, &s);
}

const char *weirlua_hint_of_keys(lua_State *L, const char *word, int table)
{
    struct nearest_word s = begin(word);

    luaL_checkstack(L, 4, "hint");
    table = lua_absindex(L, table);
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1))
        if (lua_type(L, -2) == LUA_TSTRING)
            offer(&s, lua_tostring(L, -2)); /* kept alive by the table */
    return push_hint(L, &s);
}

const char *weirlua_hint_of_types(lua_State *L, const char *word, const weir_graph *g)
{
    struct nearest_word s = begin(word);
    weir_aggregate a;

    for (uint32_t i = 0; weir_graph_aggregate(g, WEIR_NONE, i, &a); i++)
        if (a.total > 0)
            offer(&s, a.type);
    for (uint32_t i = 1; i < weir_subsystem_count(g); i++) /* 0 is containment */
        offer(&s, weir_subsystem_name(g, i));
    return push_hint(L, &s);
}

/* nearest(word, words): the entry of a list of texts that is nearest to the word; nil where none is near. */
int weirlua_nearest(lua_State *L)
{
    struct nearest_word s = begin(luaL_checkstring(L, 1));

    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    for (lua_Integer i = 1; lua_rawgeti(L, 2, i) == LUA_TSTRING; i++, lua_pop(L, 1))
        offer(&s, lua_tostring(L, -1));
    lua_pushstring(L, s.best);
    return 1;
}
