/* pty.c - a Lua module for specs: a program on a pseudo-terminal, as a person would have it.
 *
 *   t = pty.spawn({"program", "argument"...}, {NAME = "value"}, rows, columns)
 *   t:write(text)
 *   t:wait_for(text, seconds)   the output until `text` came (since the last wait); nil and the output on timeout
 *   t:finish(seconds)           the exit status (128 + signal), and the rest of the output; nil on timeout
 *   t:pid()                     the process id
 *   t:signal(number)            sends a signal
 *   t:close()                   kills the program if need be
 */
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>

#define GRACE    0.5 /* seconds */
#define TERMINAL "spec.pty"

struct terminal {
    int fd;
    pid_t pid; /* 0: the process was waited for */
};

static struct terminal *check_terminal(lua_State *L)
{
    struct terminal *t = luaL_checkudata(L, 1, TERMINAL);

    luaL_argcheck(L, t->fd >= 0, 1, "the terminal is closed");
    return t;
}

/* Signals are as at a login, whatever runs the specs has ignored. */
static void run_child(lua_State *L, char **argv)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    if (lua_istable(L, 2))
        for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1))
            setenv(lua_tostring(L, -2), lua_tostring(L, -1), 1);
    execvp(argv[0], argv);
    _exit(127);
}

static int spawn(lua_State *L)
{
    struct winsize size = {.ws_row = (unsigned short)luaL_optinteger(L, 3, 40),
                           .ws_col = (unsigned short)luaL_optinteger(L, 4, 100)};
    int n = (int)luaL_len(L, 1);
    char **argv = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof *argv, 0);
    struct terminal *t;

    for (int i = 0; i < n; i++) {
        lua_rawgeti(L, 1, i + 1);
        argv[i] = (char *)(size_t)lua_tostring(L, -1); /* the table keeps the string alive */
        lua_pop(L, 1);
    }
    argv[n] = NULL;
    t = lua_newuserdatauv(L, sizeof *t, 1); /* its user value has the output read and not asked for yet */
    *t = (struct terminal){.fd = -1};
    luaL_setmetatable(L, TERMINAL);
    t->pid = forkpty(&t->fd, NULL, NULL, &size);
    if (t->pid < 0)
        return luaL_error(L, "forkpty: %s", strerror(errno));
    if (t->pid == 0)
        run_child(L, argv);
    return 1;
}

static int terminal_write(lua_State *L)
{
    struct terminal *t = check_terminal(L);
    size_t len;
    const char *text = luaL_checklstring(L, 2, &len);

    while (len > 0) {
        ssize_t n = write(t->fd, text, len);
        if (n < 0)
            return luaL_error(L, "write: %s", strerror(errno));
        text += n;
        len -= (size_t)n;
    }
    return 0;
}

static double now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Adds the bytes that can be read to the buffer. Returns 1 after reading, 0 at the deadline, -1 when the far end
 * is closed. */
static int read_some(struct terminal *t, luaL_Buffer *b, double until)
{
    struct pollfd in = {.fd = t->fd, .events = POLLIN};
    double left;
    ssize_t n;
    int ready;

    do { /* a signal, such as the end of a second child, is no reason to stop */
        left = until - now();
        ready = left > 0 ? poll(&in, 1, (int)(left * 1000) + 1) : 0;
    } while (ready < 0 && errno == EINTR);
    if (ready <= 0)
        return 0;
    n = read(t->fd, luaL_prepbuffsize(b, 4096), 4096);
    if (n <= 0)
        return -1;
    luaL_addsize(b, (size_t)n);
    return 1;
}

/* Starts a buffer with the remainder of earlier reads. */
static void begin_with_rest(lua_State *L, luaL_Buffer *b)
{
    luaL_buffinit(L, b);
    if (lua_getiuservalue(L, 1, 1) == LUA_TSTRING)
        luaL_addvalue(b);
    else
        lua_pop(L, 1);
    lua_pushnil(L);
    lua_setiuservalue(L, 1, 1);
}

static int terminal_wait_for(lua_State *L)
{
    struct terminal *t = check_terminal(L);
    size_t len;
    const char *text = luaL_checklstring(L, 2, &len);
    double until = now() + luaL_optnumber(L, 3, 10);
    luaL_Buffer b;
    int rc = 1;

    begin_with_rest(L, &b);
    while (rc == 1) {
        const char *found = memmem(luaL_buffaddr(&b), luaL_bufflen(&b), text, len);
        if (found) {
            size_t n = (size_t)(found - luaL_buffaddr(&b)) + len;
            luaL_pushresult(&b);
            lua_pushlstring(L, lua_tostring(L, -1) + n, lua_rawlen(L, -1) - n);
            lua_setiuservalue(L, 1, 1);
            lua_pushlstring(L, lua_tostring(L, -1), n);
            return 1;
        }
        rc = read_some(t, &b, until);
    }
    luaL_pushresult(&b);
    lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
}

static bool reap(struct terminal *t, int *status)
{
    if (t->pid <= 0 || waitpid(t->pid, status, WNOHANG) != t->pid)
        return false;
    t->pid = 0;
    return true;
}

static int terminal_finish(lua_State *L)
{
    struct terminal *t = check_terminal(L);
    double until = now() + luaL_optnumber(L, 2, 10);
    struct timespec pause = {.tv_nsec = 1000000};
    luaL_Buffer b;
    int status = 0;
    bool ended = false;

    begin_with_rest(L, &b);
    while (read_some(t, &b, until) == 1)
        ;
    while (!(ended = reap(t, &status)) && now() < until)
        nanosleep(&pause, NULL);
    luaL_pushresult(&b);
    if (ended)
        lua_pushinteger(L, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    else
        lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
}

static int terminal_pid(lua_State *L)
{
    lua_pushinteger(L, check_terminal(L)->pid);
    return 1;
}

static int terminal_signal(lua_State *L)
{
    struct terminal *t = check_terminal(L);

    luaL_argcheck(L, t->pid > 0, 1, "it has ended");
    kill(t->pid, (int)luaL_checkinteger(L, 2));
    return 0;
}

/* Asks the program to end, so that its exit handlers (coverage, sanitizers) run, and kills the program after
 * GRACE. */
static void end_program(struct terminal *t)
{
    struct timespec pause = {.tv_nsec = 1000000};
    double until = now() + GRACE;
    int status;

    if (t->pid <= 0)
        return;
    kill(t->pid, SIGTERM);
    while (!reap(t, &status) && now() < until)
        nanosleep(&pause, NULL);
    if (t->pid <= 0)
        return;
    kill(t->pid, SIGKILL);
    waitpid(t->pid, NULL, 0);
    t->pid = 0;
}

static int terminal_close(lua_State *L)
{
    struct terminal *t = luaL_checkudata(L, 1, TERMINAL);

    end_program(t);
    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
    return 0;
}

int luaopen_pty(lua_State *L);
int luaopen_pty(lua_State *L)
{
    static const luaL_Reg methods[] = {
        {"write", terminal_write}, {"wait_for", terminal_wait_for}, {"finish", terminal_finish},
        {"pid", terminal_pid},     {"signal", terminal_signal},     {"close", terminal_close},
        {"__gc", terminal_close},  {"__close", terminal_close},     {NULL, NULL}};
    static const luaL_Reg functions[] = {{"spawn", spawn}, {NULL, NULL}};

    luaL_newmetatable(L, TERMINAL);
    luaL_setfuncs(L, methods, 0);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
    luaL_newlib(L, functions);
    return 1;
}
