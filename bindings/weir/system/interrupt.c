/* interrupt.c - signals that end a program: running Lua code gets the error "interrupted", and running functions of the
 * core end early. SIGINT (Ctrl-C) stops the current work; SIGTERM and SIGHUP stop the program, and no work begins
 * afterwards. Invariant: outside of main and of guarded() the program's own signal handling is in force.
 *
 * guarded(f, ...) is pcall for input of a person: after the signal every instruction of f fails until guarded returns,
 * so that no loop around a pcall continues. watch(co) makes a coroutine check for the signal too, since coroutines have
 * hooks of their own.
 *
 * limited(seconds, f, ...) makes functions of the core end early once the time is over; the Lua code of f continues. */
#include <math.h>
#include <signal.h>
#include <sys/time.h>

#include "system/editor.h"
#include "system/interrupt.h"

#define INTERRUPTED "interrupted"
#define WATCH_EVERY 10000 /* instructions */
#define PATIENCE    3     /* signals after which the program ends at once */

static lua_State *running; /* for the signal handler, which gets no argument */
static volatile sig_atomic_t signals, last, ending;
static bool sticky;

static void stop(lua_State *L, lua_Debug *ar)
{
    (void)ar;
    if (!sticky) {
        lua_sethook(L, NULL, 0, 0);
        weir_interrupt(false);
    }
    lua_pushliteral(L, INTERRUPTED);
    lua_error(L);
}

static void on_interrupt(int signal_number)
{
    signals = signals + 1;
    last = signal_number;
    ending = ending || signal_number != SIGINT;
    if (signals >= (sticky ? PATIENCE : 2)) {
        signal(signal_number, SIG_DFL);
        raise(signal_number); /* delivered when the handler returns */
    }
    weir_interrupt(true);
    lua_sethook(running, stop, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1);
}

static void install(int signal_number, int flags, struct sigaction *old)
{
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = flags};

    sigemptyset(&action.sa_mask);
    sigaction(signal_number, &action, old);
}

void weirlua_interrupts_clear(void)
{
    signals = 0;
    weir_interrupt(false);
}

/* Installs handlers that make blocking reads and writes return. A signal ignored by the parent, as by nohup, stays
 * ignored. */
void weirlua_interrupts_begin(lua_State *L)
{
    static const int list[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction now;

    running = L;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (sigaction(list[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            install(list[i], 0, NULL);
}

void weirlua_interrupts_end(void)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
}

int weirlua_interrupts_last(void)
{
    return last;
}

bool weirlua_ending(void)
{
    return ending != 0;
}

static void watch_hook(lua_State *L, lua_Debug *ar)
{
    (void)ar;
    if (!signals)
        return;
    lua_pushliteral(L, INTERRUPTED);
    lua_error(L);
}

/* watch(co): checks for the signal in a coroutine every WATCH_EVERY instructions. */
static int watch_thread(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTHREAD);
    lua_sethook(lua_tothread(L, 1), watch_hook, LUA_MASKCOUNT, WATCH_EVERY);
    return 0;
}

/* The message handler of guarded: makes a table of the error and the traceback. */
static int with_trace(lua_State *L)
{
    const char *text = luaL_tolstring(L, 1, NULL);

    lua_createtable(L, 2, 0);
    lua_pushvalue(L, 1);
    lua_rawseti(L, -2, 1);
    luaL_traceback(L, L, text, 1);
    lua_rawseti(L, -2, 2);
    return 1;
}

/* guarded(f, ...): true and the results of f; or false, the error ("interrupted" after a signal), and the traceback as
 * text. */
static int run_guarded(lua_State *L)
{
    lua_State *outer = running;
    bool was_sticky = sticky;
    struct sigaction old;
    bool stopped;
    int rc;

    luaL_checkany(L, 1);
    lua_pushcfunction(L, with_trace);
    lua_insert(L, 1);
    running = L;
    sticky = true;
    weirlua_interrupts_clear();
    install(SIGINT, SA_RESTART, &old);
    if (ending || weirlua_editor_interrupted())
        on_interrupt(ending ? last : SIGINT);
    rc = lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 1);
    sigaction(SIGINT, &old, NULL);
    lua_sethook(L, NULL, 0, 0);
    stopped = signals != 0;
    weirlua_interrupts_clear();
    running = outer;
    sticky = was_sticky;
    if (rc == LUA_OK) {
        lua_pushboolean(L, 1);
        lua_replace(L, 1);
        return lua_gettop(L);
    }
    lua_pushboolean(L, 0);
    if (lua_type(L, 2) != LUA_TTABLE) { /* an error in the handler, or no memory */
        lua_pushvalue(L, 2);
        return 2;
    }
    lua_rawgeti(L, 2, 1);
    lua_rawgeti(L, 2, 2);
    if (stopped) { /* code between may have made something else of the error */
        lua_pushliteral(L, INTERRUPTED);
        lua_replace(L, -3);
    }
    return 3;
}

/* ---- a limit of time ---- */

static void on_alarm(int signal_number)
{
    (void)signal_number;
    weir_interrupt(true);
}

/* 0: no alarm. */
static void set_alarm(double seconds)
{
    double whole = floor(seconds);
    struct itimerval timer = {.it_value = {(time_t)whole, (suseconds_t)((seconds - whole) * 1e6)}};

    if (seconds > 0 && timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0)
        timer.it_value.tv_usec = 1;
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* limited(seconds, f, ...): the results of f. Matches, walks and finds begun by f fail with the code "interrupted" once
 * the time is over, with nothing changed. Calls must not be nested. */
static int run_limited(lua_State *L)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART}, old;
    lua_Number seconds = luaL_checknumber(L, 1);
    int rc;

    luaL_argcheck(L, seconds > 0 && seconds < 1e9, 1, "seconds above 0 expected");
    luaL_checkany(L, 2);
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, &old);
    set_alarm(seconds);
    rc = lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 0);
    set_alarm(0);
    sigaction(SIGALRM, &old, NULL);
    weir_interrupt(signals != 0);
    return rc == LUA_OK ? lua_gettop(L) - 1 : lua_error(L);
}

const luaL_Reg weirlua_interrupt_functions[] = {
    {"guarded", run_guarded}, {"watch", watch_thread}, {"limited", run_limited}, {NULL, NULL}};
