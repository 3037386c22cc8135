/* main.c - the host of the `weir` command: Lua 5.4 with weir.core linked in; the command line itself is lua/weir/cli.
 * Invariant: a single lua_State, and every error ends here.
 *
 * Exit status: the number returned by weir.cli; 1 after an uncaught error; 2 when the output cannot be written; 130
 * after an interrupt, 143 after SIGTERM and 129 after SIGHUP; 141 when the reader of a pipe has gone, like the status
 * of a program killed by SIGPIPE. WEIR_TRACE=1 adds a traceback to errors. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host.h"
#include "system/interrupt.h"

#define INTERRUPTED        "interrupted"
#define INTERRUPTED_STATUS 130

/* ---- places of files ---- */

/* Pushes the folder of the executable. */
static void push_exe_dir(lua_State *L)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    char *slash;

    path[n < 0 ? 0 : n] = '\0';
    slash = strrchr(path, '/');
    lua_pushlstring(L, slash ? path : ".", slash ? (size_t)(slash - path) : 1);
}

/* Pushes the folder of weir's Lua files, and adds the folders of C modules, installed or built, to package.cpath. */
static void push_lua(lua_State *L, const char *dir)
{
    static const char *const folders[] = {"lua", "../share/lua/5.4", NULL};

    weirlua_push_folder(L, dir, folders, "weir/init.lua");
    if (lua_isnil(L, -1))
        luaL_error(L, "cannot find its Lua files: neither %s/lua nor %s/../share/lua/5.4 has weir/init.lua", dir, dir);
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "cpath");
    lua_pushfstring(L, "%s/../lib/lua/5.4/?.so;%s/?.so;%s", dir, lua_tostring(L, -3), lua_tostring(L, -1));
    lua_setfield(L, -3, "cpath");
    lua_pop(L, 2);
}

/* Opens weir.core and sets core.prefix.policies. */
static int open_core(lua_State *L)
{
    static const char *const folders[] = {"../policies", "../../policies", "../share/weir/policies", NULL};

    luaopen_weir_core(L);
    lua_createtable(L, 0, 1);
    push_exe_dir(L);
    weirlua_push_folder(L, lua_tostring(L, -1), folders, "low.lua");
    lua_setfield(L, -3, "policies");
    lua_pop(L, 1);
    lua_setfield(L, -2, "prefix");
    return 1;
}

static void set_arg(lua_State *L, int argc, char **argv)
{
    lua_createtable(L, argc, 1);
    for (int i = 0; i < argc; i++) {
        lua_pushstring(L, argv[i]);
        lua_rawseti(L, -2, i);
    }
    lua_setglobal(L, "arg");
}

/* ---- running ---- */

/* (argc, argv): returns the results of weir.cli's main. */
static int run(lua_State *L)
{
    int argc = (int)lua_tointeger(L, 1);
    char **argv = lua_touserdata(L, 2);

    luaL_openlibs(L);
    set_arg(L, argc, argv);
    push_exe_dir(L);
    push_lua(L, lua_tostring(L, -1));
    weirlua_host(L, lua_tostring(L, -1), open_core, "weir.cli");
    lua_getfield(L, -1, "main");
    lua_getglobal(L, "arg");
    lua_call(L, 1, 1);
    return 1;
}

static int on_error(lua_State *L)
{
    const char *message = luaL_tolstring(L, 1, NULL), *trace = getenv("WEIR_TRACE");

    if (trace && trace[0] == '1' && strcmp(message, INTERRUPTED) != 0)
        luaL_traceback(L, L, message, 1);
    return 1;
}

static int status_of(lua_State *L, int rc)
{
    const char *message;

    if (rc == LUA_OK)
        return lua_isinteger(L, -1) ? (int)lua_tointeger(L, -1) : lua_isboolean(L, -1) && !lua_toboolean(L, -1);
    message = lua_tostring(L, -1);
    if (message && strcmp(message, INTERRUPTED) == 0)
        return INTERRUPTED_STATUS;
    fprintf(stderr, "weir: %s\n", message ? message : "an error that is no text");
    return 1;
}

/* Flushes the output. Returns `status`, or 141 for a pipe without a reader, or 2 for a full disk; after a
 * signal 128 plus the signal's number, without a flush. */
static int finish_output(int status)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

    if (status == INTERRUPTED_STATUS)
        return 128 + (weirlua_interrupts_last() ? weirlua_interrupts_last() : SIGINT);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    if (poll(&out, 1, 0) == 1 && (out.revents & POLLERR))
        return 141;
    fprintf(stderr, "weir: cannot write the output: %s\n", strerror(errno));
    return status > 2 ? status : 2;
}

/* Opens /dev/null for closed standard streams: a file opened later must not get the number of a standard stream, since
 * printed text would go into the file. Reads of stream 0 and writes of streams 1 and 2 fail, as on a closed stream. */
static void fill_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            exit(2);
}

int main(int argc, char **argv)
{
    lua_State *L;
    int status;

    fill_standard_streams();
    L = luaL_newstate();
    if (!L) {
        fputs("weir: out of memory\n", stderr);
        return 1;
    }
    weirlua_interrupts_begin(L);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* reaching a limit of file size is an error, like a full disk */
    lua_pushcfunction(L, on_error);
    lua_pushcfunction(L, run);
    lua_pushinteger(L, argc);
    lua_pushlightuserdata(L, argv);
    status = status_of(L, lua_pcall(L, 2, 1, 1));
    weirlua_interrupts_end();
    lua_close(L);
    if (weirlua_ending())
        status = INTERRUPTED_STATUS;
    return finish_output(status);
}
