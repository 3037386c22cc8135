/* policy.h - policies: what was read from the table, the sandbox it may live in, and the hooks of one match. */
#ifndef WEIRLUA_POLICY_H
#define WEIRLUA_POLICY_H

#include <time.h>

#include "weirlua.h"

#define POLICY_FIELDS    8
#define POLICY_EXCLUSIVE 16

enum policy_hook { HOOK_ORDER, HOOK_PRUNE, HOOK_EVALUATE, HOOK_SELECT, HOOKS };

/* What a policy table says. Strings belong to the lua_State of the table and are kept by its anchor. */
struct policy_spec {
    const char *name, *doc;
    const char *order[WEIR_ORDER_KEYS];
    const char *exclusive[POLICY_EXCLUSIVE];
    uint32_t norder, nexclusive, nfields;
    int fields[POLICY_FIELDS]; /* enum weirlua_field */
    bool texts;                /* one of the fields is a string */
    bool has[HOOKS];
};

/* ---- policy_read.c ---- */

/* A C function for lua_pcall: (policy table, light userdata of the spec, default name) -> anchor table, which holds the
 * hooks at 1..HOOKS (false where there is none) and all strings. Raises what is wrong with the table. */
int weirlua_policy_read(lua_State *L);

/* ---- sandbox.c ---- */

/* A lua_State of its own for one policy. Invariant: whatever runs in it is charged to `left` and `used`. */
struct sandbox {
    lua_State *S; /* NULL: closed */
    size_t used, limit;
    int64_t left; /* instructions */
    bool exhausted;
    uint64_t call, timed; /* the call that runs; the one that `since` belongs to */
    struct timespec since;
};

#define SANDBOX_INSTRUCTIONS INT64_C(50000000)
#define SANDBOX_BYTES        ((size_t)64 << 20)

/* Opens the state, runs the text (or the file `path`, where text is NULL), reads the table it returns. On failure the
 * sandbox is closed and err is filled; a status. */
int weirlua_sandbox_open(struct sandbox *sb, struct weirlua *home, const char *path, const char *text, size_t len,
                         const char *name, struct policy_spec *spec, weir_err *err);
void weirlua_sandbox_close(struct sandbox *sb);
/* Starts the budget of one match; gives one more hook call its share. */
void weirlua_sandbox_begin(struct sandbox *sb);
void weirlua_sandbox_call(struct sandbox *sb);
void weirlua_sandbox_charge(struct sandbox *sb, int64_t instructions);
/* The sandbox of a state that has one. */
struct sandbox *weirlua_sandbox_of(lua_State *S);
/* Pushes the anchor table. Does not raise. */
void weirlua_sandbox_anchor(struct sandbox *sb);
/* Takes the error value on top of the stack of S as text into err, never raising. */
void weirlua_sandbox_error(struct sandbox *sb, const char *name, const char *hook, weir_err *err);

/* ---- sandbox_lib.c ---- */

/* Puts the whitelist into the state; called protected. */
void weirlua_sandbox_libraries(lua_State *S);

/* ---- policy.c ---- */

/* User value 1: the anchor of a policy that lives in the state of its user. */
struct policy {
    struct policy_spec spec;
    struct sandbox sandbox; /* S is NULL for a trusted policy */
    uint64_t serial;
    bool open;
};

#define WEIRLUA_POLICY "weir.policy"
int weirlua_policy_load(lua_State *L);
int weirlua_policy_source(lua_State *L);
/* Makes a policy of the table, policy or nil at `arg`: the policy, or nil, at the top of the stack; 1. Otherwise nil,
 * message, code are there; 0. */
int weirlua_policy_at(lua_State *L, struct weirlua *s, int arg);
void weirlua_policy_open(lua_State *L, struct weirlua *s);

/* ---- policy_hooks.c ---- */

/* The hooks during one match. */
struct hooks {
    lua_State *L;          /* where they run */
    int base;              /* stack: the hooks, then the table of requests */
    struct policy *policy; /* NULL: none */
    struct weirlua_graph *box;
    const weir_request *request;
    const char *failed;    /* the hook that failed */
    const char *complaint; /* what was wrong with its result; NULL: the error value is on top of the stack */
    weir_policy given;     /* to the core */
};

/* Puts the hooks on the stack. Raises on L; a status for what goes wrong in a sandbox. `policy` is on the stack. */
int weirlua_hooks_begin(lua_State *L, struct hooks *h, int policy, struct weirlua_graph *box,
                        const weir_request *request, weir_err *err);
/* Takes them off; fills err (anew) when a hook failed. */
void weirlua_hooks_end(lua_State *L, struct hooks *h, weir_err *err);

#endif
