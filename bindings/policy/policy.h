/* policy.h - policies: what was read from the table, the sandbox it may live in, and the hooks of one match. */
#ifndef WEIRLUA_POLICY_H
#define WEIRLUA_POLICY_H

#include <time.h>

#include "handle/weirlua.h"

#define POLICY_EXCLUSIVE 16
#define POLICY_LOCALITY  8

enum policy_hook { HOOK_ORDER, HOOK_PRUNE, HOOK_EVALUATE, HOOK_SELECT, HOOK_ADMIT, HOOK_INIT, HOOKS };
extern const char *const weirlua_hook_names[HOOKS];
extern const char *const weirlua_policy_fields[]; /* of a policy table; NULL ends them */

/* What a policy table says. Strings belong to the lua_State of the table and are kept by its anchor. */
struct policy_spec {
    const char *name, *doc, *version; /* doc, version: NULL where there is none */
    const char *options; /* JSON: what options there are, and their values; see policy_options.c */
    const char *order[WEIR_ORDER_KEYS];
    const char *exclusive[POLICY_EXCLUSIVE];
    const char *locality[POLICY_LOCALITY];
    const char *descend[WEIR_DESCEND_TYPES];
    uint32_t norder, nexclusive, nlocality, ndescend;
    bool runs;                    /* select is "runs" */
    uint32_t candidates;          /* that select gets at a time; 0: all */
    struct weirlua_fields fields; /* that prune and evaluate get */
    bool has[HOOKS];
};

/* ---- policy_read.c ---- */

/* The anchor of a policy, a table: the hooks at 1..HOOKS (false where there is none), the values of its options, and all
 * strings of the spec. */
#define ANCHOR_OPTIONS (HOOKS + 1)

/* A C function for lua_pcall: (policy table, light userdata of the spec, default name, options given or nil) -> anchor.
 * Raises what is wrong with the table. */
int weirlua_policy_read(lua_State *L);
/* Raises "policy NAME: ...". */
int weirlua_policy_refuse(lua_State *L, const struct policy_spec *spec, const char *fmt, ...);

/* ---- policy_options.c ---- */

/* From what the policy declares (a table or nil at `declared`) and what was given (likewise at `given`): pushes the table
 * of values, and the JSON text of {name = {type, value, doc, ...}}. Raises which option is wrong. */
void weirlua_policy_options(lua_State *L, const struct policy_spec *spec, int declared, int given);

/* ---- sandbox.c ---- */

/* A lua_State of its own for one policy or file. Invariant: whatever runs in it is charged to `left` and `used`. */
struct sandbox {
    lua_State *S; /* NULL: closed */
    lua_State *thread; /* the coroutine of it that runs; S where none does */
    size_t used, limit;
    int64_t budget, left; /* instructions */
    bool exhausted;
    bool long_text; /* a string was not given, as it was too long */
    bool haste;     /* there was a long string: the budget is looked at more often */
    bool starved;   /* nothing grows any more: memory was refused when the budget was used up */
    int64_t unseen; /* steps of C functions since the last look at the clock */
    char place[LUA_IDSIZE + 16]; /* "file:line: " where memory was refused; "": nowhere */
    char chunk[LUA_IDSIZE];      /* what errors call the main text */
    uint64_t turn, seeded; /* turns, of which each has a budget; the one that random numbers were begun in */
    double seconds; /* of wall time */
    int64_t since;  /* when the first look at the clock was; 0: none yet */
    int64_t looked; /* when the last look was */
    uint64_t calls, looked_calls; /* calls of hooks so far, and at the last look */
    double inside;  /* seconds between looks within one call of a hook, of this turn */
    double overran; /* seconds of the last turn, where the turn took more than OVERRUN times its budget of seconds; 0: no */
    int64_t pause;  /* when coroutines in it yield, by the clock; 0: never */
    void (*sample)(void *sampler, const lua_Debug *ar); /* NULL, or called every few instructions */
    void *sampler;
};

#define SANDBOX_INSTRUCTIONS INT64_C(50000000)
#define SANDBOX_BYTES        ((size_t)64 << 20)
#define SANDBOX_SECONDS      10.0
#define SANDBOX_OVERRUN      2.0  /* times the budget of seconds, beyond which the budget did not hold */
#define SANDBOX_QUICK        0.25 /* seconds; with fewer the clock is looked at more often */
#define SANDBOX_TEXT_MAX     (1 << 18) /* bytes of a string */
#define SANDBOX_STEPS_MAX    5e7  /* of one call of a C function, which takes a tenth of a second at most */

int64_t weirlua_clock(void); /* nanoseconds, from some time on */

/* Opens an empty state; false: out of memory. */
bool weirlua_sandbox_new(struct sandbox *sb, int64_t instructions, size_t bytes);

/* What a policy is made from. */
struct policy_source {
    const char *text, *chunk, *name; /* chunk: what errors of Lua call the text */
    size_t len;
    const char *options; /* those given, as JSON; NULL: none */
    const char *parts;   /* [{text, name, options}], as JSON: policies that the text gets as {policy, options}; or NULL */
    int64_t instructions; /* budgets */
    size_t bytes;
    double seconds;
};

/* Opens the state, runs the text, reads the table it returns. On failure the sandbox is closed and err is filled; a
 * status. */
int weirlua_sandbox_open(struct sandbox *sb, struct weirlua *home, const struct policy_source *source,
                         struct policy_spec *spec, weir_err *err);
void weirlua_sandbox_close(struct sandbox *sb);
/* Starts the budget (of one match); gives one more hook call its share. */
void weirlua_sandbox_begin(struct sandbox *sb);
void weirlua_sandbox_call(struct sandbox *sb);
void weirlua_sandbox_charge(struct sandbox *sb, int64_t instructions);
/* Ends the budget: notes in `overran` whether the budget of seconds did not hold. */
void weirlua_sandbox_end(struct sandbox *sb);
/* Whether it is time for a coroutine to yield. */
bool weirlua_sandbox_due(const struct sandbox *sb);
/* The sandbox of a state that has one. */
struct sandbox *weirlua_sandbox_of(lua_State *S);
/* A message handler: puts the innermost place in Lua before a text that begins with none. */
int weirlua_sandbox_locate(lua_State *S);
/* Pushes the anchor table. Does not raise. */
void weirlua_sandbox_anchor(struct sandbox *sb);
/* Takes the error value on top of the stack of S as text into err, never raising. */
void weirlua_sandbox_error(struct sandbox *sb, const char *name, const char *hook, weir_err *err);
/* Fills err with a text about a hook (NULL: about the file), with the place where there is none in it. */
void weirlua_sandbox_complain(struct sandbox *sb, const char *name, const char *hook, const char *text, weir_err *err);
/* The error value as one line into buf; it may be longer than that. */
void weirlua_sandbox_text(struct sandbox *sb, char *buf, size_t size);

/* ---- sandbox_lib.c ---- */

/* Puts the whitelist into the state; called protected. */
void weirlua_sandbox_libraries(lua_State *S);

/* ---- sandbox_order.c ---- */

int weirlua_sandbox_pairs(lua_State *S);
int weirlua_sandbox_next(lua_State *S);
int weirlua_sandbox_tostring(lua_State *S);
int weirlua_sandbox_random(lua_State *S);
/* Refuses %p, and puts names of types in place of arguments that string.format would show by their address. */
void weirlua_sandbox_hide(lua_State *S);

/* ---- sandbox_run.c: files that describe something, in Lua ---- */

#define SANDBOX_RUN_INSTRUCTIONS INT64_C(200000000)
#define SANDBOX_RUN_BYTES        ((size_t)256 << 20)
int weirlua_sandbox_run(lua_State *L);
void weirlua_sandbox_run_open(lua_State *L, struct weirlua *s);

/* ---- sandbox_live.c: sandboxes whose functions are called for a long time ---- */

int weirlua_sandbox_live(lua_State *L);
void weirlua_sandbox_live_open(lua_State *L, struct weirlua *s);

/* ---- policy.c ---- */

/* User values: 1 the anchor of a policy that lives in the state of its user; of one in a sandbox: 2 its source, 3 the
 * name of its file. */
struct policy {
    struct policy_spec spec;
    struct sandbox sandbox; /* S is NULL for a trusted policy */
    uint64_t serial;
    bool open;
    uint32_t number;    /* of the graph that init was called for; 0: none */
    uint64_t structure; /* ... and the serial that it had */
    char label[80];     /* name, and hash of the source: kept with each job */
    struct policy_profile *profile; /* NULL: nobody asked */
};

#define WEIRLUA_POLICY "weir.policy"
int weirlua_policy_load(lua_State *L);
int weirlua_policy_source(lua_State *L);
int weirlua_policy_table(lua_State *L);
int weirlua_policy_stamp(lua_State *L);
/* Makes a policy of the table, policy or nil at `arg`: the policy, or nil, at the top of the stack; 1. Otherwise nil,
 * message, code are there; 0. */
int weirlua_policy_at(lua_State *L, struct weirlua *s, int arg);
void weirlua_policy_open(lua_State *L, struct weirlua *s);

/* ---- policy_profile.c ---- */

#define PROFILE_LINES 256

struct policy_profile {
    uint64_t calls[HOOKS];
    int64_t ns[HOOKS]; /* in Lua */
    struct {
        int line; /* 0: free */
        uint64_t samples;
    } lines[PROFILE_LINES];
    uint64_t samples, lost; /* lost: no room for their lines */
};

int weirlua_policy_profile(lua_State *L); /* policy:profile(on), policy:profile() */

/* ---- policy_walk.c ---- */

int weirlua_filter_limit(lua_State *L);
int weirlua_filter_walk(lua_State *L);

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

/* Puts the hooks on the stack. A status, never a raise: explanations begin the hooks of each match with the core below. The stack
 * index `policy` has a policy, or nil, which the caller has checked. */
int weirlua_hooks_begin(lua_State *L, struct hooks *h, int policy, struct weirlua_graph *box,
                        const weir_request *request, weir_err *err);
/* Takes them off; fills err (anew) when a hook failed. */
void weirlua_hooks_end(lua_State *L, struct hooks *h, weir_err *err);
/* ---- policy_admit.c ---- */

/* Sees to it that init was called for this graph as it is. A status. `policy` is a stack index. */
int weirlua_policy_init(lua_State *L, int policy, struct weirlua_graph *box, weir_err *err);
/* Reads the request at the stack index `request` and asks the policy's admit: the request to be matched, which is pushed;
 * NULL: nil, message and code were pushed. Whatever the core is asked about a request passes through here. */
const weir_request *weirlua_admitted(lua_State *L, int request, int policy);

#endif
