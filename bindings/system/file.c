/* file.c - reading files for the library's Lua: whole, or a line at a time, never more than a limit. */
#include "handle/weirlua.h"

#include <errno.h>
#include <string.h>

/* read_file(path, what, max): what is in a file, "-" being standard input; or nil, message, code. `what`, such as "a jobspec",
 * is what more than max bytes are too long for. */
int weirlua_read_file(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1), *what = luaL_checkstring(L, 2);
    lua_Integer max = luaL_checkinteger(L, 3);
    struct weirlua_box *box;
    weir_err err = {0};
    char *text = NULL;
    size_t len = 0;
    int rc;

    luaL_argcheck(L, max >= 0, 3, "a count of bytes expected");
    box = weirlua_box_push(L, weir_free);
    rc = weir_file_read(path, what, (size_t)max, &text, &len, &err);
    if (rc)
        return weirlua_fail(L, &err, rc);
    box->p = text;
    lua_pushlstring(L, text, len);
    weirlua_box_clear(box);
    return 1;
}

/* read_line(file, max): the next line without its end; nil at the end of the file; or nil, message, code. */
int weirlua_read_line(lua_State *L)
{
    FILE *file = weirlua_check_file(L, 1);
    lua_Integer max = luaL_checkinteger(L, 2), n = 0;
    weir_err err = {.code = WEIR_EIO};
    luaL_Buffer b;
    int c;

    luaL_buffinit(L, &b);
    while ((c = getc_unlocked(file)) != EOF && c != '\n' && n++ < max)
        luaL_addchar(&b, (char)c);
    luaL_pushresult(&b);
    if (n > max) {
        err.code = WEIR_ELIMIT;
        snprintf(err.text, sizeof err.text, "a line is longer than %d MiB", (int)(max >> 20));
        return weirlua_fail(L, &err, err.code);
    }
    if (c == EOF && ferror(file)) {
        snprintf(err.text, sizeof err.text, "cannot read: %s", strerror(errno));
        return weirlua_fail(L, &err, err.code);
    }
    if (c == EOF && n == 0)
        lua_pushnil(L);
    return 1;
}
