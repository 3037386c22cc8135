/* file.c - files for the library's Lua: read whole or by line, up to a limit; written as a whole or not at all. */
#include "handle/support.h"
#include "system/system.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define DRAFT "weir.draft"

/* read_file(path, what, max): the content of a file, "-" for standard input; or nil, message, code. More than max bytes
 * are an error with the name `what`, such as "a jobspec". */
static int file_read(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1), *what = luaL_checkstring(L, 2);
    lua_Integer max = luaL_checkinteger(L, 3);
    struct weirlua_owner *handle;
    weir_err err = {0};
    char *text = NULL;
    size_t len = 0;
    int rc;

    luaL_argcheck(L, max >= 0, 3, "a count of bytes expected");
    handle = weirlua_owner_push(L, weir_free);
    rc = weir_file_read(path, what, (size_t)max, &text, &len, &err);
    if (rc)
        return weirlua_fail(L, &err, rc);
    handle->p = text;
    lua_pushlstring(L, text, len);
    weirlua_owner_clear(handle);
    return 1;
}

/* read_line(file, max): the next line without line end; nil at the end of the file; or nil, message, code. */
static int file_line(lua_State *L)
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

/* next_byte(file): the next byte, as a text, which stays to be read; nil at the end of the file. Blocks until the file
 * has one. */
static int file_byte(lua_State *L)
{
    FILE *file = weirlua_check_file(L, 1);
    int c = getc(file);
    char byte = (char)c;

    if (c == EOF) {
        lua_pushnil(L);
        return 1;
    }
    ungetc(c, file);
    lua_pushlstring(L, &byte, 1);
    return 1;
}

/* ---- writing ---- */

/* Reads the options {links = false} at `arg`. */
static unsigned write_flags(lua_State *L, int arg)
{
    static const char *const known[] = {"links", NULL};

    weirlua_options(L, arg, known);
    return weirlua_field_boolean(L, arg, "links", true) ? 0 : WEIR_WRITE_NO_LINK;
}

/* write_file(path, text[, {links = false}]): true; or nil, message, code. */
static int file_write(lua_State *L)
{
    size_t len;
    const char *path = luaL_checkstring(L, 1), *text = luaL_checklstring(L, 2, &len);
    weir_err err = {0};

    return weirlua_status(L, weir_file_write(path, text, len, write_flags(L, 3), &err), &err);
}

/* Makes a directory, with all missing directories above; part: room for the path. Returns 0, or an errno. */
static int make_directories(const char *path, char *part)
{
    struct stat made;

    for (size_t n = 1; *path; n++) {
        if (path[n] && path[n] != '/')
            continue;
        memcpy(part, path, n);
        part[n] = '\0';
        if (mkdir(part, 0777) && errno != EEXIST)
            return errno;
        if (!path[n])
            break;
    }
    if (stat(path, &made))
        return errno;
    return S_ISDIR(made.st_mode) ? 0 : EEXIST;
}

/* make_directory(path): makes a directory, with all missing directories above, in this process: a child process could
 * make the directory after a signal has ended the program. Returns true, also for a directory that exists; or nil,
 * message, code. */
static int make_directory(lua_State *L)
{
    size_t len;
    const char *path = luaL_checklstring(L, 1, &len);
    int reason;

    luaL_argcheck(L, strlen(path) == len, 1, "a path has no byte 0");
    reason = make_directories(path, lua_newuserdatauv(L, len + 1, 0));
    lua_pushboolean(L, true);
    if (!reason)
        return 1;
    lua_pushnil(L);
    lua_pushfstring(L, "%s: the directory cannot be made: %s", path, strerror(reason));
    lua_pushliteral(L, "io");
    return 3;
}

static void close_directory(void *dir)
{
    closedir(dir);
}

/* list_directory(path): the names in a directory, in any order, without "." and ".."; or nil, message, code. */
static int list_directory(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    struct weirlua_owner *own = weirlua_owner_push(L, close_directory);
    DIR *dir = own->p = opendir(path);
    const struct dirent *entry;
    lua_Integer n = 0;

    if (!dir) {
        lua_pushnil(L);
        lua_pushfstring(L, "%s: cannot open the directory: %s", path, strerror(errno));
        lua_pushliteral(L, "io");
        return 3;
    }
    lua_newtable(L);
    while ((entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            lua_pushstring(L, entry->d_name);
            lua_rawseti(L, -2, ++n);
        }
    weirlua_owner_clear(own);
    return 1;
}

/* draft(path[, {links = false}]): a file to be written piece by piece; or nil, message, code. */
static int draft_open_new(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    unsigned flags = write_flags(L, 2);
    weir_draft **own = lua_newuserdatauv(L, sizeof *own, 0);
    weir_err err = {0};
    int rc;

    *own = NULL;
    luaL_setmetatable(L, DRAFT);
    rc = weir_draft_begin(path, flags, own, &err);
    return rc ? weirlua_fail(L, &err, rc) : 1;
}

static weir_draft **check_draft(lua_State *L)
{
    weir_draft **own = luaL_checkudata(L, 1, DRAFT);

    luaL_argcheck(L, *own, 1, "the draft was kept or dropped already");
    return own;
}

/* write(text, ...): adds texts: true; or nil, message, code, and keep() will fail with the same error. */
static int draft_write(lua_State *L)
{
    weir_draft *d = *check_draft(L);
    int top = lua_gettop(L), rc = WEIR_OK;
    weir_err err = {0};

    for (int i = 2; i <= top && !rc; i++) {
        size_t len;
        const char *text = luaL_checklstring(L, i, &len);

        rc = weir_draft_write(d, text, len, &err);
    }
    return weirlua_status(L, rc, &err);
}

/* keep(): replaces the file by the draft: true; or nil, message, code, and the draft is deleted. */
static int draft_keep(lua_State *L)
{
    weir_draft **own = check_draft(L), *d = *own;
    weir_err err = {0};

    *own = NULL;
    return weirlua_status(L, weir_draft_end(d, WEIR_OK, &err), &err);
}

/* drop(): deletes the draft, unless kept. */
static int draft_drop(lua_State *L)
{
    weir_draft **own = luaL_checkudata(L, 1, DRAFT), *d = *own;

    *own = NULL;
    if (d)
        (void)!weir_draft_end(d, WEIR_EINTERRUPTED, NULL);
    return 0;
}

void weirlua_draft_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg methods[] = {
        {"write", draft_write}, {"keep", draft_keep}, {"drop", draft_drop}, {NULL, NULL}};
    static const luaL_Reg meta[] = {{"__gc", draft_drop}, {"__close", draft_drop}, {NULL, NULL}};

    weirlua_class(L, s, DRAFT, methods, meta);
}

const luaL_Reg weirlua_file_functions[] = {{"read_file", file_read},           {"read_line", file_line},
                                           {"next_byte", file_byte},           {"write_file", file_write},
                                           {"make_directory", make_directory}, {"list_directory", list_directory},
                                           {"draft", draft_open_new},          {NULL, NULL}};
