/* policy.h - policies: the description read from a policy's table, the sandbox of a policy, and the hooks during one
 * match. */
#ifndef WEIRLUA_POLICY_H
#define WEIRLUA_POLICY_H

#include <time.h>

#include "handle/vertex.h"
#include "policy/siphash.h"

#define POLICY_EXCLUSIVE 16
#define POLICY_LOCALITY  8

enum policy_hook {
    HOOK_ORDER,
    HOOK_PRUNE,
    HOOK_EVALUATE,
    HOOK_SELECT,
    HOOK_ADMIT,
    HOOK_INIT,
    HOOK_PLACED,
    HOOK_FINISHED,
    HOOK_SIBLINGS,
    HOOK_GROUP,
    HOOKS
};
extern const char *const weirlua_hook_names[HOOKS];
extern const char *const weirlua_policy_fields[]; /* of a policy table, NULL at the end */

/* The description of a policy, read from the table. Strings belong to the lua_State of the table; the anchor keeps the
 * strings alive. */
struct policy_spec {
    const char *name, *doc, *version; /* doc, version: may be NULL */
    const char *subsystem;            /* "HIERARCHY" or "HIERARCHY:TYPE"; NULL: as the engine says */
    const char *options;              /* JSON of the options and values; see policy_options.c */
    const char *order[WEIR_ORDER_KEYS];
    const char *exclusive[POLICY_EXCLUSIVE];
    const char *locality[POLICY_LOCALITY];
    const char *descend[WEIR_DESCEND_TYPES];
    uint32_t norder, nexclusive, nlocality, ndescend;
    bool chooses;                 /* select is data: */
    weir_choice choice;           /* without the hook */
    uint32_t candidates;          /* given to select at a time; 0: all */
    struct weirlua_fields fields; /* passed to prune and evaluate */
    const char *rotate;           /* the field of the state that has the turn; NULL: none */
    const char *origin; /* distinguishes the policy from others of an equal name; may be NULL. Set before the reading */
    const char *state, *state_key; /* JSON of the state declared, and the key of the state kept; NULL: no state */
    bool has[HOOKS];
};

/* ---- policy_read.c ---- */

/* The anchor of a policy, a table: the hooks at 1..HOOKS (false for an absent hook), the values of the options, the
 * numbers of the groups that the hook `group` has named, and all strings of the spec. */
#define ANCHOR_OPTIONS (HOOKS + 1)
#define ANCHOR_GROUPS  (HOOKS + 2)

/* A C function for lua_pcall: (policy table, light userdata of the spec, default name, options given or nil) -> anchor.
 * Raises for a wrong table. */
int weirlua_policy_read(lua_State *L);
/* Raises "policy NAME: ...". */
int weirlua_policy_refuse(lua_State *L, const struct policy_spec *spec, const char *fmt, ...);

/* ---- policy_choice.c ---- */

/* Reads the field `select` at the stack index `select` into the spec, unless a function. values: of the options.
 * Raises. */
void weirlua_policy_choice(lua_State *L, struct policy_spec *spec, int select, int values, int anchor);

/* ---- policy_options.c ---- */

/* Reads the declared options (a table or nil at `declared`) and the values given (a table or nil at `given`). Pushes
 * the table of values, and the JSON text {name = {type, value, doc, ...}}. Raises for a wrong option. */
void weirlua_policy_options(lua_State *L, const struct policy_spec *spec, int declared, int given);

/* ---- policy_scores.c ---- */

#define MEMORY_FIELDS 16 /* fields of the request that scores may depend on */
#define MEMORY_PARTS  16 /* variables of evaluate that are distinguished */

#define MEMORY_FUNCTIONS 2 /* behind a memory */
enum { MEMORY_SCORES, MEMORY_PRUNE, MEMORIES };

/* The memory for the scores of a policy, or for the answers of prune. */
struct policy_memory {
    bool refused;   /* scores are not remembered, for the reason in `why` */
    bool fresh;     /* no code that may have changed a variable ran since `reach` was computed */
    uint32_t graph; /* number of the graph then */
    bool scored;    /* evaluate ran since */
    char why[160];
    unsigned errors; /* matches in which evaluate raised */
    struct {
        struct digest state;          /* of the values that the function can reach */
        uint64_t parts[MEMORY_PARTS]; /* from the first variable up to each of the first variables */
    } reach[MEMORY_FUNCTIONS];        /* of evaluate, and of evaluate_siblings */
    char fields[MEMORY_FIELDS][32];   /* fields of the request that were read */
    unsigned nfields;
    struct {
        const weir_resource *resource; /* of the match; NULL: no key is known */
        uint32_t number;               /* of the resource: alternatives may have one address in turn */
        unsigned nfields;              /* at the time */
        size_t len;
        char key[1024];
    } keyed; /* the last key of scores */
};

/* ---- policy_survey.c ---- */

/* The values that a function can reach, as a digest. */
struct policy_survey {
    lua_State *S;
    int function, options;        /* stack indices; function 0: none */
    uint32_t graph;               /* number of the graph whose vertices may be among the values; 0: none */
    struct digest state;          /* of all values */
    uint64_t parts[MEMORY_PARTS]; /* of the variables up to each of the first */
    char why[160];                /* the value that cannot be compared */
};
/* Digests the values of n functions of one sandbox; a value that several reach counts for the first. Returns false,
 * with the reason in q->why, where some value cannot be compared. Never raises. */
bool weirlua_survey(struct policy_survey *q, int n);
/* Digests the value on top of the stack, likewise. */
bool weirlua_survey_value(lua_State *S, uint32_t graph, struct digest *out);

/* ---- policy_scores.c, during a score ---- */

/* Notes a field of the request, or with the prefix "job." of the job, that the score being computed depends on. */
void weirlua_scores_note(lua_State *S, const char *prefix, const char *name);
/* Replaces a handle of the request at `arg` by the table behind the handle, for a function that records reads of the
 * table. Returns false for a value that is no handle. */
bool weirlua_request_behind(lua_State *S, int arg);
/* Does so for a function whose reads are not followed. */
bool weirlua_request_bare(lua_State *S, int arg);

/* ---- sandbox.c ---- */

#define TRACE_SIZE      640
#define SANDBOX_PRELUDE "prelude" /* name of the library's own code in a sandbox */

/* A lua_State for one policy or file. Invariant: all instructions and bytes of code in the state are charged to `left`
 * and `used`. */
struct sandbox {
    lua_State *S;      /* NULL: closed */
    lua_State *thread; /* the running coroutine of S; S where none runs */
    size_t used, limit;
    int64_t budget, left; /* instructions */
    bool exhausted;
    bool long_text;              /* a string above the limit was refused */
    bool haste;                  /* a long string exists: check the budget more often */
    bool starved;                /* refuse all growth: memory was requested with the budget used up */
    int64_t unseen;              /* steps of C functions since the last look at the clock */
    char place[LUA_IDSIZE + 16]; /* "file:line: " of the refused allocation, or "" */
    char chunk[LUA_IDSIZE];      /* name of the main text in errors */
    char trace[TRACE_SIZE];      /* functions of the script that ran at the last error, a line each; or "" */
    uint64_t turn, seeded; /* number of the current turn, each turn with a budget; the turn that last seeded the random
                            * numbers */
    double seconds;        /* of wall time */
    int64_t since;         /* time of the turn's first look at the clock; 0: none yet */
    int64_t looked;        /* time of the last look */
    uint64_t calls, looked_calls; /* hook calls so far, and at the last look */
    double inside;                /* seconds of the turn between looks within one hook call */
    double overran;               /* `inside` of the last turn, where above SANDBOX_OVERRUN times `seconds`; else 0 */
    int64_t pause;                /* clock time at which coroutines yield; 0: never */
    /* While a score to be remembered is computed: what the policy reads is noted here. */
    const weir_graph *graph; /* NULL: at any other time */
    struct policy_memory *memory;
    const char *unfollowed;     /* something read whose changes are not followed; NULL: nothing */
    bool job_read;              /* something of the job that is not in the request was read */
    struct siphash_key digests; /* random; digested in place of values without an order */
    void (*sample)(void *sampler, const lua_Debug *ar); /* NULL, or called every few instructions */
    void *sampler;
};

#define SANDBOX_INSTRUCTIONS INT64_C(50000000)
#define SANDBOX_BYTES        (INT64_C(64) << 20)
#define SANDBOX_SECONDS      10.0
#define SANDBOX_OVERRUN      2.0       /* times the budget of seconds: beyond, the budget has failed */
#define SANDBOX_QUICK        0.25      /* seconds; smaller limits are checked more often */
#define SANDBOX_TEXT_MAX     (1 << 18) /* bytes of a string */
#define SANDBOX_STEPS_MAX    5e7       /* of one call of a C function: at most a tenth of a second */

int64_t weirlua_clock(void); /* nanoseconds of a monotonic clock */

struct sandbox_budget {
    int64_t instructions, bytes;
    double seconds;
};
/* Reads the fields instructions, memory (bytes) and seconds of a table of options over the budget. Raises. */
void weirlua_sandbox_budget(lua_State *L, int options, struct sandbox_budget *b);
/* Opens an empty state. Returns false without memory. */
bool weirlua_sandbox_new(struct sandbox *sb, const struct sandbox_budget *b);
/* Pushes the function of a text, called `name` in errors. Raises. */
void weirlua_compile(lua_State *S, const char *text, size_t len, const char *name);
/* Copies nil, a boolean, a number or a string. Returns NULL; for values of further types the name of the type, with
 * nothing pushed. The caller has made room on the target's stack. */
const char *weirlua_copy_scalar(lua_State *to, lua_State *from, int idx);

/* The text of a policy, with options and budgets. */
struct policy_source {
    const char *text, *chunk, *name; /* chunk: name of the text in Lua's errors */
    size_t len;
    const char *options; /* values given, as JSON; NULL: no values */
    const char *parts;   /* [{text, name, options}] as JSON: policies passed to the text as {policy, options}; or
                          * NULL */
    struct sandbox_budget budget;
};

/* Opens the state, runs the text, and reads the table returned. Returns a status; on failure the sandbox is closed and
 * err filled. */
int weirlua_sandbox_open(struct sandbox *sb, struct weirlua *home, const struct policy_source *source,
                         struct policy_spec *spec, weir_err *err);
void weirlua_sandbox_close(struct sandbox *sb);
/* _begin starts a turn (a match) with the whole budget; _call adds the share of one hook call. */
void weirlua_sandbox_begin(struct sandbox *sb);
void weirlua_sandbox_call(struct sandbox *sb);
/* Ends a turn: sets `overran`. */
void weirlua_sandbox_end(struct sandbox *sb);
/* Returns whether coroutines are to yield now. */
bool weirlua_sandbox_due(const struct sandbox *sb);
/* Returns the sandbox of a state; NULL for a state without a sandbox. */
struct sandbox *weirlua_sandbox_of(lua_State *S);
/* Writes the innermost place in the script as "file:line: ", or "". */
void weirlua_sandbox_place(lua_State *S, char *buf, size_t size);
/* A message handler: puts the innermost place in Lua before a message without a place, and keeps the traceback. */
int weirlua_sandbox_locate(lua_State *S);
/* Keeps the value on top of the stack, the table of the policy, as the anchor; pops it. */
void weirlua_sandbox_keep(lua_State *S);
/* Pushes the anchor table. Never raises. */
void weirlua_sandbox_anchor(struct sandbox *sb);
/* Moves the error value on top of the stack of S, as text, into err. Never raises. */
void weirlua_sandbox_error(struct sandbox *sb, const char *name, const char *hook, weir_err *err);
/* Fills err with a text about a hook (NULL: about the file). A text without a place gets the place of the hook. */
void weirlua_sandbox_complain(struct sandbox *sb, const char *name, const char *hook, const char *text, weir_err *err);
/* Writes the error value as one line into buf, cut to the size. */
void weirlua_sandbox_text(struct sandbox *sb, char *buf, size_t size);
/* Returns whether a text contains "name:line: ". */
bool weirlua_has_place(const char *text);
/* Returns the text after a leading "prelude:LINE: ", a place outside of the script; else the whole text. */
const char *weirlua_behind_prelude(const char *text);
/* Pops an error value, and writes its text as one line, without addresses. Never raises. */
void weirlua_error_text(lua_State *S, char *buf, size_t size);
/* Pops a function, and writes the place where the function begins, as "file:line: "; a value of a different type, or a
 * function in C, leaves buf as it is. */
void weirlua_function_place(lua_State *S, char *buf, size_t size);
/* Sets err to a failure of a hook (NULL: of the policy's file). place: written where the text names no line. */
void weirlua_hook_error(const char *name, const char *hook, const char *place, const char *text, weir_err *err);
#define PLACE_SIZE (LUA_IDSIZE + 16)

/* ---- sandbox_lib.c ---- */

/* Puts the whitelist of functions into the state. Called under lua_pcall. */
void weirlua_sandbox_libraries(lua_State *S);
/* Lets a script neither set globals or functions of libraries, nor read globals that do not exist. Called under
 * lua_pcall. */
void weirlua_sandbox_close_globals(lua_State *S);
int weirlua_policy_print(lua_State *L);

/* ---- frozen.c ---- */

#define FREEZE_SORTED  1u /* pairs gives the entries in the order of the keys, as in a sandbox */
#define FREEZE_LASTING 2u /* the table lasts as long as the lua_State, so that its address identifies the content */
/* Replaces the table on top by a table through which the values can be read; `refuse` is called as __newindex, and
 * raises. */
void weirlua_freeze(lua_State *S, lua_CFunction refuse, unsigned how);
/* lock(t): makes an empty table, through which its metatable shows values that change, a frozen table. */
int weirlua_lock(lua_State *S);
/* Returns whether the value at `arg` is a frozen table; _lasting: one with FREEZE_LASTING; _bare replaces such a table
 * by the table behind. */
bool weirlua_frozen(lua_State *S, int arg);
bool weirlua_frozen_lasting(lua_State *S, int arg);
bool weirlua_frozen_bare(lua_State *S, int arg);

/* ---- sandbox_order.c ---- */

int weirlua_sandbox_pairs(lua_State *S);
int weirlua_sandbox_next(lua_State *S);
int weirlua_sandbox_tostring(lua_State *S);
int weirlua_sandbox_random(lua_State *S);
/* Raises for %p, and replaces arguments that string.format would print as addresses by the names of the types. */
void weirlua_sandbox_hide(lua_State *S);

/* ---- sandbox_run.c: Lua files that describe data ---- */

#define SANDBOX_RUN_INSTRUCTIONS INT64_C(200000000)
#define SANDBOX_RUN_BYTES        (INT64_C(256) << 20)
int weirlua_sandbox_run(lua_State *L);
void weirlua_sandbox_run_open(lua_State *L, struct weirlua *s);

/* ---- sandbox_live.c: sandboxes that stay open, for many calls ---- */

int weirlua_sandbox_live(lua_State *L);
void weirlua_sandbox_live_open(lua_State *L, struct weirlua *s);

#define WEIRLUA_LIVE "weir.sandbox"
/* Runs f(data) in the sandbox whose handle, an open WEIRLUA_LIVE, has the index `handle` of L, as a call with the whole
 * budget. Returns false with the error in buf. */
bool weirlua_live_run(lua_State *L, int handle, lua_CFunction f, void *data, char *buf, size_t size);
/* The state of the sandbox whose handle has the index; NULL: closed. */
lua_State *weirlua_live_state(lua_State *L, int handle);
/* Pushes the table of the functions of a sandbox. */
void weirlua_live_functions(lua_State *S);

/* ---- policy.c ---- */

/* An answer of admit, remembered for a request: admit has read nothing but the request and the values that the function
 * can reach, and has changed nothing. */
struct admission_memory {
    uint64_t request;    /* serial of the handle; 0: none */
    struct digest state; /* of the values */
    uint64_t last_use;
    int verdict;
};
#define ADMISSIONS 16 /* of a policy; the least recently used is dropped first */

/* A policy. User values: 1 the anchor of a trusted policy, which lives in the user's state; of a sandboxed policy: 2
 * the source, 3 the path of the file, 4 a table with the values of remembered answers of admit, 5 the origin. */

/* FNV-1a, to distinguish texts. */
uint64_t weirlua_policy_hash(const char *text, size_t len);

/* ---- handle/engine_hierarchy.c ---- */

#define HIERARCHY_SIZE 256

/* The hierarchy and the vertices in which a match searches, from a text such as "power", "power:pdu" or
 * "containment:rack". */
struct hierarchy_choice {
    char subsystem[HIERARCHY_SIZE]; /* "": containment */
    char whole[HIERARCHY_SIZE];     /* a type given as a whole; "": none */
    char follow[HIERARCHY_SIZE];    /* a subsystem whose edges are followed, from the option `follow`; "": none */
    struct weirlua_graph *handle;   /* during the match, the handle of the graph, which has the view instead; or NULL */
    weir_graph *own;                /* the graph */
};

/* Sets the choice for a match of the engine at index 1: what the policy at `policy` (or nil) says, or else the engine.
 * The option `subsystem` of the table at `options` (0: none) counts most. Raises for a wrong text. */
void weirlua_hierarchy_read(lua_State *L, int options, int policy, struct hierarchy_choice *c);
/* Begins a search: sets the options of the core, and gives the handle the view of the hierarchy, so that hooks see the
 * vertices in this hierarchy. Returns a status. Must be ended before anything may raise. */
int weirlua_hierarchy_begin(struct hierarchy_choice *c, struct weirlua_graph *handle, weir_match_options *o,
                            weir_err *err);
void weirlua_hierarchy_end(struct hierarchy_choice *c);
/* Copies the field `granularity` of a table of options. Raises for a wrong text. */
void weirlua_granularity_read(lua_State *L, int options, char out[HIERARCHY_SIZE]);
/* The text of the own choice of the engine at `engine`, in memory of the engine; "" for none. */
const char *weirlua_engine_granularity(lua_State *L, int engine);

struct policy {
    struct policy_spec spec;
    struct sandbox sandbox; /* S is NULL for a trusted policy */
    uint64_t serial;
    bool open;
    uint32_t number;                /* of the graph that init was called for; 0: none */
    uint64_t structure;             /* serial of that graph's structure at the time */
    char label[80];                 /* name and hash of the source: kept with each job */
    bool personal;                  /* a hook has read what differs between jobs with equal requests */
    struct policy_profile *profile; /* NULL: not profiled */
    struct policy_memory memory[MEMORIES];
    struct admission_memory admitted[ADMISSIONS];
    uint64_t admissions;       /* count of uses of these */
    bool admit_changes;        /* admit changes values that the function can reach: no answer is remembered */
    bool admit_known;          /* no code that may have changed a variable ran since `admit_state` was computed */
    struct digest admit_state; /* of the values that admit can reach */
};

/* To be called when code of a policy runs that may change variables. */
void weirlua_policy_ran(struct policy *p);

#define WEIRLUA_POLICY "weir.policy"
int weirlua_policy_load(lua_State *L);
int weirlua_policy_source(lua_State *L);
int weirlua_policy_table(lua_State *L);
int weirlua_policy_origin(lua_State *L);
int weirlua_policy_stamp(lua_State *L);
/* Makes a policy from the table, policy or nil at `arg`. Returns 1 with the policy or nil pushed, or 0 with nil,
 * message, code pushed. */
int weirlua_policy_at(lua_State *L, struct weirlua *s, int arg);
void weirlua_policy_open(lua_State *L, struct weirlua *s);

/* ---- policy_profile.c ---- */

#define PROFILE_LINES 256

struct policy_profile {
    uint64_t calls[HOOKS];
    int64_t ns[HOOKS]; /* in Lua */
    struct {
        int line; /* 0: unused */
        uint64_t samples;
    } lines[PROFILE_LINES];
    uint64_t samples, lost; /* lost: samples of lines beyond PROFILE_LINES */
};

int weirlua_policy_profile(lua_State *L); /* policy:profile(on), policy:profile() */
/* Starts or ends the sampling of lines in a sandbox. Raises without memory. */
void weirlua_profile_set(lua_State *L, struct sandbox *sb, struct policy_profile **profile, bool on);
/* Fills the table on top with {[line] = samples}. */
void weirlua_profile_lines(lua_State *L, const struct policy_profile *profile);

/* ---- policy_walk.c ---- */

int weirlua_filter_limit(lua_State *L);
int weirlua_filter_walk(lua_State *L);

/* ---- policy_job.c ---- */

/* The job of a match, or of a call of admit, as far as the caller knows the job. */
struct policy_job {
    const weir_graph *g; /* of the state; NULL: none */
    lua_State *home;     /* the state of the caller */
    int about; /* index in `home` of the table, or nil, of what only the caller knows; 0: the hooks run in `home` */
    const weir_request *request; /* NULL: not known, of a job that has ended */
    int64_t duration, id;        /* 0: the duration of the request; an id still to be chosen */
    struct policy *policy;
    bool entered;
};
/* Pushes the option `about` of the options at the stack index, a table or nil; nil where absent. Raises for a wrong
 * value. */
void weirlua_push_about(lua_State *L, int options);

/* A C function for lua_pcall: (table of requests, resource, struct policy_job, options, about or nil): pushes the
 * request that hooks get for a resource, and keeps the request in the table of requests. */
int weirlua_request_view(lua_State *S);
/* Pushes the job, valid until weirlua_job_leave(). The index `about` of S has the table where the hooks run in the
 * caller's state, else nil. Raises without memory. */
void weirlua_job_push(lua_State *S, struct policy_job *job, int about);
/* Pushes the job of the table of requests at the index `requests`; the index `about` as above. Raises. */
void weirlua_job_of_requests(lua_State *S, int requests, int about, struct policy_job *job);
/* To be called, once no hook runs any more, after the two functions above. Never raises. */
void weirlua_job_leave(lua_State *S, struct policy_job *job);
void weirlua_job_open(lua_State *S);

/* ---- policy_state.c ---- */

/* A change of the state kept in a graph, to be undone. */
struct state_change {
    weir_vertex root;
    const char *key, *before; /* before: owned by the graph; NULL: nothing was kept */
    bool changed;
};

/* Pushes a new table with the state of the policy: the values kept by the graph, and the declared values where the
 * graph has no fitting value. _frozen: a table that can only be read. Raise without memory. */
void weirlua_state_push(lua_State *S, const weir_graph *g, const struct policy_spec *spec);
void weirlua_state_push_frozen(lua_State *S, const weir_graph *g, const struct policy_spec *spec);
/* Keeps a text as the state. Returns a status; on failure nothing has changed. */
int weirlua_state_put(struct state_change *c, weir_graph *g, const struct policy_spec *spec, const char *text,
                      weir_err *err);
/* Undoes a change, if there was any. Needs no memory. */
void weirlua_state_back(struct state_change *c, weir_graph *g);
/* Pushes and returns the JSON text of the declared state at the stack index; raises for values that no state has. */
const char *weirlua_state_declared(lua_State *S, int state);
/* For queue policies: encode(state, declared) gives the JSON text of a state, and raises unless it is plain data in the
 * declared fields; decode(text) gives the table of a JSON text, an empty table for anything else. */
int weirlua_state_encode(lua_State *S);
int weirlua_state_decode(lua_State *S);
const char *weirlua_state_push_key(lua_State *S, const char *name, const char *origin);

/* A call of the hook `placed` or `finished`. */
struct placing {
    const struct policy_spec *spec;
    struct weirlua_graph *handle;
    const weir_allocation *a;
    struct policy_job *job;
    char *text; /* of the state afterwards; to be freed */
};
/* A C function for lua_pcall: (placing, hook, table of requests, about, options). */
int weirlua_placed(lua_State *S);

/* ---- policy_hooks.c ---- */

/* The hooks during one match. */
struct hooks {
    lua_State *L;          /* the state that runs the hooks */
    struct weirlua *state; /* of L */
    int base;              /* stack index: the hooks, then the table of requests */
    struct policy *policy; /* NULL: none */
    struct weirlua_graph *handle;
    struct policy_job job;
    const char *failed;    /* the first failed hook */
    const char *complaint; /* the fault of the hook's result; NULL: the error value is on top of the stack */
    char said[320];        /* text of a complaint */
    weir_policy given;     /* to the core */
    weir_choice choice;    /* of `given` */
    double turn;           /* of `given` */
    const struct policy_change *change; /* NULL: none */
    bool unscored;                      /* scores are not remembered in this match */
    struct state_change moved;
};

/* The stack index of the table of requests. */
int weirlua_hooks_requests(const struct hooks *h);
/* Pushes the table of a resource, as hooks see the request. Returns a status, with an error value pushed. */
int weirlua_hooks_request(struct hooks *h, const weir_resource *r);
/* lua_pcall of a hook. A profiled policy's calls are counted and timed. */
int weirlua_hooks_call(struct hooks *h, int hook, int nargs, int nresults);
/* policy_scores.c: hooks of the core for remembered scores (weir_policy). */
int weirlua_hook_score(void *data, const weir_graph *g, const weir_resource *r, weir_vertex v, double *score,
                       bool *alike);
int weirlua_hook_score_siblings(void *data, const weir_graph *g, const weir_resource *r, weir_vertex v, double *part);
size_t weirlua_hook_score_key(void *data, const weir_resource *r, char *key, size_t size);
int weirlua_hook_judge(void *data, const weir_graph *g, const weir_resource *r, weir_vertex v, bool *keep);
size_t weirlua_hook_judge_key(void *data, const weir_resource *r, char *key, size_t size);
/* How an engine gets scores: remembered, remembered and compared with fresh scores, or by calls in each match. */
enum scores_mode { SCORES_REMEMBERED, SCORES_CHECKED, SCORES_CALLED };
/* Reads the mode in the field "scores" of a table of options; where absent, the mode in the environment variable
 * WEIR_SCORES, for tests. Raises. */
enum scores_mode weirlua_scores_mode(lua_State *L, int options);
void weirlua_scores_use(enum scores_mode mode, struct hooks *h, weir_match_options *o);
/* Finds out whether evaluate has changed values that evaluate can reach; called before any other code of the policy
 * runs, and at the end of a match. */
void weirlua_scores_verify(struct hooks *h);

/* Puts the hooks on the stack. Returns a status and never raises. The stack index `policy` has a policy, checked by the
 * caller, or nil. Of `job`, the request, and where known `about`, duration and id are filled. */
int weirlua_hooks_begin(lua_State *L, struct hooks *h, int policy, struct weirlua_graph *handle,
                        const struct policy_job *job, weir_err *err);
/* Calls the hook `finished` of a policy that has it, as the core calls `placed`. */
int weirlua_hook_finished(struct hooks *h, const weir_graph *g, const weir_allocation *a);
/* Removes the hooks from the stack. After a failed hook, err is overwritten with the hook's error. */
void weirlua_hooks_end(struct hooks *h, weir_err *err);

/* ---- policy_change.c ---- */

/* The parts that a policy can be left without, as bits in the order of the names in policy_change.c. */
enum { PART_ADMIT = 1, PART_PRUNE = 2, PART_EVALUATE = 4, PART_EXCLUSIVE = 8, PART_LOCALITY = 16, PART_SELECT = 32 };

/* Changes to a policy for one match. */
struct policy_change {
    unsigned without;               /* PART_ bits */
    weir_vertex within;             /* only vertices at, above or below this vertex; WEIR_NONE: all vertices */
    const bool *around;             /* by vertex: near by some parent in a hierarchy; NULL: by the tree */
    const struct obstacles *fewest; /* prefer vertices with few of these obstacles to the policy's choice; or NULL */
    int (*prune)(void *data, const weir_graph *g, weir_vertex v, const weir_resource *r); /* of the policy, or NULL */
};
/* Pushes the list of the parts that a policy has, by name. */
void weirlua_push_parts(lua_State *L, const struct policy_spec *spec);
#define WEIRLUA_CHANGES "fewest", "within", "without"
/* Reads the fields above from the options at `options`, a table or nil. Pushes one value, which keeps the obstacles
 * alive. Raises. */
void weirlua_change_read(lua_State *L, int options, const struct weirlua_graph *handle, struct policy_change *c);
/* For a match in a hierarchy, finds the vertices around `within`, and pushes one value, which owns the list of these
 * vertices. Returns a status. */
int weirlua_change_around(lua_State *L, struct policy_change *c, const struct weirlua_graph *handle,
                          const struct hierarchy_choice *hierarchy, weir_err *err);
/* As weirlua_admitted(), without a call of admit where admit is left out. */
bool weirlua_change_admitted(lua_State *L, int request, int policy, struct weirlua_graph *handle,
                             const struct policy_change *c, struct policy_job *job);
/* Returns the policy of hooks that have begun, with the changes; NULL: no policy and no change. */
const weir_policy *weirlua_change_apply(struct policy_change *c, struct hooks *h);
int weirlua_obstacles(lua_State *L);
void weirlua_change_open(lua_State *L, struct weirlua *s);

/* ---- policy_admit.c ---- */

/* Calls init of the policy at stack index `policy` (or nil) unless init was called for the graph's present structure.
 * Returns a status. */
int weirlua_policy_init(lua_State *L, int policy, struct weirlua_graph *handle, weir_err *err);
/* Reads the request at the stack index `request`, calls init where needed, calls admit of the policy at `policy` (or
 * nil), and pushes the request to be matched, which becomes job->request. Returns false with nil, message and code
 * pushed. All requests pass through this function before the core sees the request. */
bool weirlua_admitted(lua_State *L, int request, int policy, struct weirlua_graph *handle, struct policy_job *job);

#endif
