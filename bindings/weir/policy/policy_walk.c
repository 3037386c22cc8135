/* policy_walk.c - the filters prune and evaluate of a policy on a walk, as sent by clients of a service.
 * Invariant: during the walk the graph is marked, as during a match, and no function raises before the hooks have
 * ended.
 *
 *   filter_limit(policy, seconds)              limits the time of each later match or walk
 *   filter_walk(policy, graph[, {start =, subsystem =, type =, best =, seconds =}])
 *       {{vertex =, score =}...} in descending score; without evaluate the visited vertices, with score 0; or nil,
 *       message, code. As in a match, a vertex refused by prune is left out, with all vertices below. */
#include "handle/support.h"
#include "handle/vertex.h"
#include "policy/policy.h"

#include <math.h>
#include <string.h>

#define TICKS 64 /* visits between two looks at the clock */

struct filter_walk {
    struct weirlua_graph *handle;
    struct hooks hooks;
    const weir_resource *resource; /* the request passed to the filters */
    const char *type;              /* the only type to evaluate; NULL: all */
    weir_walk *walk;
    weir_accum *accum;
    weir_vertex pruned; /* the vertex refused by prune last; the next postorder visit */
    uint64_t visits;
    int64_t deadline;
};

static void free_walk(void *p)
{
    weir_walk_free(p);
}

static void free_accum(void *p)
{
    weir_accum_free(p);
}

static void free_request(void *p)
{
    weir_request_free(p);
}

/* ---- the walk ---- */

static int out_of_time(struct filter_walk *f, weir_err *err)
{
    if (++f->visits % TICKS != 0 || weirlua_clock() < f->deadline)
        return WEIR_OK;
    err->code = WEIR_ELIMIT;
    snprintf(err->text, sizeof err->text, "policy %.64s: the walk took more than its time, after %llu visits",
             f->hooks.policy->spec.name, (unsigned long long)f->visits);
    return WEIR_ELIMIT;
}

static int visit_down(struct filter_walk *f, weir_vertex v)
{
    const weir_policy *p = &f->hooks.given;
    int on = p->prune ? p->prune(p->data, f->handle->g, v, f->resource) : 1;

    if (on == 0) {
        weir_walk_prune(f->walk);
        f->pruned = v;
    }
    return on < 0 ? on : WEIR_OK;
}

static int visit_up(struct filter_walk *f, weir_vertex v)
{
    const weir_policy *p = &f->hooks.given;
    double score = 0;
    int rc;

    if (v == f->pruned) {
        f->pruned = WEIR_NONE;
        return WEIR_OK;
    }
    if (f->type && strcmp(weir_vertex_type(f->handle->g, v), f->type) != 0)
        return WEIR_OK;
    rc = p->evaluate ? p->evaluate(p->data, f->handle->g, f->resource, &v, 1, &score) : WEIR_OK;
    if (rc < 0 || isnan(score))
        return rc < 0 ? rc : WEIR_OK;
    return weir_accum_add(f->accum, v, score);
}

static int run(struct filter_walk *f, weir_err *err)
{
    weir_vertex v = WEIR_NONE;
    int event, rc = WEIR_OK;

    while (rc == WEIR_OK && (event = weir_walk_next(f->walk, &v, err)) != WEIR_WALK_DONE) {
        if (event < 0)
            return event;
        rc = out_of_time(f, err);
        if (rc == WEIR_OK)
            rc = event == WEIR_PREORDER ? visit_down(f, v) : visit_up(f, v);
    }
    return rc;
}

/* ---- in Lua ---- */

static struct policy *check_policy(lua_State *L)
{
    struct policy *p = luaL_checkudata(L, 1, WEIRLUA_POLICY);

    luaL_argcheck(L, p->open && p->sandbox.S, 1, "a policy in a sandbox expected");
    return p;
}

static double seconds_of(lua_State *L, int arg)
{
    lua_Number seconds = luaL_checknumber(L, arg);

    luaL_argcheck(L, seconds > 0 && seconds < 1e9, arg, "seconds above 0 expected");
    return seconds;
}

int weirlua_filter_limit(lua_State *L)
{
    struct policy *p = check_policy(L);

    p->sandbox.seconds = seconds_of(L, 2);
    return 0;
}

/* Returns whether JSON can contain a type unescaped. */
static bool is_bare(const char *type)
{
    for (; *type; type++)
        if ((unsigned char)*type < ' ' || *type == '"' || *type == '\\')
            return false;
    return true;
}

/* Returns a request for one vertex of the type, to be passed to hooks. Pushes the owner of the request. */
static const weir_request *push_request(lua_State *L, const char *type, weir_err *err)
{
    struct weirlua_owner *held = weirlua_owner_push(L, free_request);
    weir_request *r = NULL;
    const char *text;

    if (type && !is_bare(type)) {
        err->code = WEIR_EINVAL;
        snprintf(err->text, sizeof err->text,
                 "type: expected a name without quotes, backslashes and control characters");
        return NULL;
    }
    text = lua_pushfstring(L, "{\"resources\":[{\"type\":\"%s\",\"count\":1}]}", type ? type : "vertex");
    if (weir_request_parse(text, strlen(text), "filter", &r, err))
        r = NULL;
    held->p = r;
    lua_pop(L, 1);
    return r;
}

/* Opens the walk and the accumulator and pushes the owners. Returns a status. */
static int open_walk(lua_State *L, struct filter_walk *f, const weir_walk_options *o, int64_t best, weir_err *err)
{
    struct weirlua_owner *walk = weirlua_owner_push(L, free_walk), *accum = weirlua_owner_push(L, free_accum);

    walk->p = f->walk = weir_walk_new(f->handle->g, o, err);
    if (!f->walk)
        return err->code;
    accum->p = f->accum = weir_accum_new((size_t)best);
    return f->accum ? WEIR_OK : WEIR_ENOMEM;
}

int weirlua_filter_walk(lua_State *L)
{
    static const char *const known[] = {"start", "subsystem", "type", "best", "seconds", NULL};
    struct policy *p = check_policy(L);
    struct filter_walk f = {.handle = weirlua_check_graph(L, weirlua_of(L), 2), .pruned = WEIR_NONE};
    weir_walk_options o = {.events = WEIR_PREORDER | WEIR_POSTORDER};
    const weir_request *request;
    weir_err err = {0};
    uint32_t n;
    int64_t best;
    int rc;

    luaL_argcheck(L, !f.handle->matching, 2, "a match runs on the graph");
    lua_settop(L, 3);
    weirlua_options(L, 3, known);
    o.start = weirlua_field_vertex(L, 3, "start", f.handle);
    o.subsystem = weirlua_field_string(L, 3, "subsystem", NULL);
    f.type = weirlua_field_string(L, 3, "type", NULL);
    best = weirlua_field_integer(L, 3, "best", 0);
    luaL_argcheck(L, best >= 0, 3, "field 'best': a count expected");
    if (lua_getfield(L, 3, "seconds") != LUA_TNIL)
        p->sandbox.seconds = seconds_of(L, lua_gettop(L));
    request = push_request(L, f.type, &err);
    if (!request)
        return weirlua_fail(L, &err, err.code);
    f.resource = weir_request_resources(request, &n);
    rc = open_walk(L, &f, &o, best, &err);
    rc = rc ? rc : weirlua_hooks_begin(L, &f.hooks, 1, f.handle, &(struct policy_job){.request = request}, &err);
    if (rc)
        return weirlua_fail(L, &err, rc);
    f.deadline = weirlua_clock() + (int64_t)(p->sandbox.seconds * 1e9);
    f.handle->matching = true;
    rc = run(&f, &err);
    f.handle->matching = false;
    weirlua_hooks_end(&f.hooks, &err);
    if (rc)
        return weirlua_fail(L, &err, rc);
    weirlua_push_scores(L, f.handle->number, f.accum);
    return 1;
}
