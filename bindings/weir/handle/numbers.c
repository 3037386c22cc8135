/* numbers.c - numbers(line): the words of a line as numbers, for reading logs of jobs. Invariant: words are read as Lua
 * reads numbers, and every number of integral value is an integer, however written.
 *
 *   n, first, second, ... = numbers "12 -1 0.5 x"      4, 12, -1, 0.5, false
 *
 * n counts all words; only the first WORDS_MAX words are returned, with false for a word that is no number. */
#include "handle/numbers.h"

#include <string.h>

#define WORDS_MAX  32
#define DIGITS_MAX 18 /* digits sure to fit an integer */
#define LENGTH_MAX 200

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Reads a word such as 17 or -1. Returns false for any different form. */
static bool read_integer(const char *word, size_t len, lua_Integer *out)
{
    size_t i = word[0] == '-';
    lua_Integer sum = 0;

    if (len == i || len - i > DIGITS_MAX)
        return false;
    for (; i < len; i++) {
        if (word[i] < '0' || word[i] > '9')
            return false;
        sum = 10 * sum + (word[i] - '0');
    }
    *out = word[0] == '-' ? -sum : sum;
    return true;
}

/* Pushes a word that read_integer() does not read: a number, or false. */
static void push_other(lua_State *L, const char *word, size_t len)
{
    char text[LENGTH_MAX + 1];
    lua_Integer n;
    int whole;

    if (len > LENGTH_MAX || memchr(word, '\0', len)) {
        lua_pushboolean(L, 0);
        return;
    }
    memcpy(text, word, len);
    text[len] = '\0';
    if (lua_stringtonumber(L, text) == 0) {
        lua_pushboolean(L, 0);
        return;
    }
    n = lua_tointegerx(L, -1, &whole);
    if (whole) {
        lua_pop(L, 1);
        lua_pushinteger(L, n);
    }
}

static void push_word(lua_State *L, const char *word, size_t len)
{
    lua_Integer n;

    if (read_integer(word, len, &n))
        lua_pushinteger(L, n);
    else
        push_other(L, word, len);
}

int weirlua_numbers(lua_State *L)
{
    size_t len, n = 0;
    const char *at = luaL_checklstring(L, 1, &len), *end = at + len;

    luaL_checkstack(L, WORDS_MAX + 4, "words");
    lua_settop(L, 1);
    lua_pushnil(L);
    for (;;) {
        const char *word;
        while (at < end && is_blank(*at))
            at++;
        if (at == end)
            break;
        for (word = at; at < end && !is_blank(*at); at++)
            continue;
        if (n++ < WORDS_MAX)
            push_word(L, word, (size_t)(at - word));
    }
    lua_pushinteger(L, (lua_Integer)n);
    lua_replace(L, 2);
    return lua_gettop(L) - 1;
}
