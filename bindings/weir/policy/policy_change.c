/* policy_change.c - a policy with changes for a single match: without some parts, limited to the surroundings of a
 * vertex, or with a preference for vertices with few obstacles. Invariant: the hooks given to the core never raise, and
 * the policy itself stays as written. */
#include "handle/request.h"
#include "handle/support.h"
#include "handle/vertex.h"
#include "policy/policy.h"

#include <string.h>

#define OBSTACLES "weir.obstacles"

/* ---- obstacles ---- */

/* The obstacles of a graph, counted by vertex: jobs, and vertices that are not up. */
struct obstacles {
    uint32_t number; /* of the graph */
    uint64_t serial; /* of the graph's structure */
    uint32_t limit;
    struct obstacle_count {
        uint32_t at, below; /* obstacles at the vertex; at the vertex or below */
    } counts[];
};

/* Counts obstacle number `stamp` at v and at every ancestor, once for each vertex. */
static void count_obstacle(const weir_graph *g, struct obstacles *o, uint32_t *stamps, weir_vertex v, uint32_t stamp)
{
    if (stamps[v] != stamp)
        o->counts[v].at++;
    for (; v != WEIR_NONE && stamps[v] != stamp; v = weir_vertex_parent(g, v)) {
        stamps[v] = stamp;
        o->counts[v].below++;
    }
}

static uint32_t count_jobs(const weir_graph *g, struct obstacles *o, uint32_t *stamps)
{
    uint32_t jobs = weir_job_count(g);

    for (uint32_t i = 0; i < jobs; i++) {
        const weir_allocation *a = weir_job_at(g, i);
        for (uint32_t k = 0; k < a->npicks; k++)
            count_obstacle(g, o, stamps, a->picks[k].vertex, i + 1);
    }
    return jobs;
}

/* Pushes a record of obstacles for a graph, all counts 0. */
static struct obstacles *push_counts(lua_State *L, const struct weirlua_graph *handle, uint32_t limit)
{
    size_t size = sizeof(struct obstacles) + limit * sizeof(struct obstacle_count);
    struct obstacles *o = lua_newuserdatauv(L, size, 0);

    memset(o, 0, size);
    o->number = handle->number;
    o->serial = weir_graph_serial(handle->g);
    o->limit = limit;
    luaL_setmetatable(L, OBSTACLES);
    return o;
}

/* obstacles(graph[, hierarchy]): the obstacles as a match in the hierarchy (containment) meets them, and the list of
 * the vertices that are not up; or nil, message, code. */
int weirlua_obstacles(lua_State *L)
{
    struct weirlua_graph *handle = weirlua_check_graph(L, weirlua_of(L), 1);
    const char *name = luaL_optstring(L, 2, "containment");
    uint32_t limit = weir_graph_limit(handle->g), stamp;
    uint32_t *stamps = lua_newuserdatauv(L, (limit + (size_t)1) * sizeof *stamps, 0);
    struct obstacles *o = push_counts(L, handle, limit);
    weir_graph *view;
    weir_err err = {0};
    lua_Integer n = 0;

    weirlua_check_writable(L, weirlua_of(L), handle);
    if (weir_graph_hierarchy(handle->g, name, &view, &err))
        return weirlua_fail(L, &err, err.code);
    memset(stamps, 0, limit * sizeof *stamps);
    stamp = count_jobs(view, o, stamps);
    for (weir_vertex v = weir_vertex_unavailable(view, 0); v != WEIR_NONE; v = weir_vertex_unavailable(view, v + 1))
        count_obstacle(view, o, stamps, v, ++stamp);
    lua_newtable(L);
    for (weir_vertex v = weir_vertex_unavailable(handle->g, 0); v != WEIR_NONE;
         v = weir_vertex_unavailable(handle->g, v + 1)) {
        weirlua_push_vertex(L, handle, v);
        lua_rawseti(L, -2, ++n);
    }
    return 2;
}

/* Scores candidates by the number of obstacles at, below and above the vertex, fewest first. */
static int score_obstacles(void *data, const weir_graph *g, const weir_resource *r, const weir_vertex *v, size_t n,
                           double *score)
{
    const struct obstacles *o = ((struct hooks *)data)->change->fewest;

    (void)r;
    for (size_t i = 0; i < n; i++) {
        score[i] = -(double)o->counts[v[i]].below;
        for (weir_vertex up = weir_vertex_parent(g, v[i]); up != WEIR_NONE; up = weir_vertex_parent(g, up))
            score[i] -= o->counts[up].at;
    }
    return 0;
}

/* ---- surroundings ---- */

/* Whether v is in no tree: a pool outside of containment, such as a power unit. */
static bool stands_alone(const weir_graph *g, weir_vertex v)
{
    return weir_vertex_parent(g, v) == WEIR_NONE && weir_vertex_children(g, v) == 0;
}

/* Leaves out what is not at, above or below a vertex. A vertex of the tree is no word about pools outside of it. */
static int prune_around(void *data, const weir_graph *g, weir_vertex v, const weir_resource *r)
{
    const struct hooks *h = data;
    weir_vertex within = h->change->within;
    bool apart = !h->change->around && stands_alone(g, v) && !stands_alone(g, within);

    if (!apart && (h->change->around ? !h->change->around[v]
                                     : !weir_vertex_within(g, v, within) && !weir_vertex_within(g, within, v)))
        return 0;
    return h->change->prune ? h->change->prune(data, g, v, r) : 1;
}

/* ---- changes ---- */

static const char *const parts[] = {"admit", "prune", "evaluate", "exclusive", "locality", "select", NULL};

void weirlua_push_parts(lua_State *L, const struct policy_spec *spec)
{
    const bool has[] = {spec->has[HOOK_ADMIT],    spec->has[HOOK_PRUNE],
                        spec->has[HOOK_EVALUATE], spec->nexclusive > 0,
                        spec->nlocality > 0,      spec->chooses && spec->choice.kind == WEIR_CHOOSE_ONE};

    lua_newtable(L);
    for (int i = 0; parts[i]; i++)
        if (has[i]) {
            lua_pushstring(L, parts[i]);
            lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
        }
}

/* Reads the list of parts at the top of the stack. */
static unsigned read_parts(lua_State *L)
{
    unsigned without = 0;

    if (!lua_istable(L, -1))
        luaL_error(L, "field 'without': a list of parts of the policy expected, got %s", luaL_typename(L, -1));
    for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
        const char *name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : luaL_typename(L, -1);
        int part = weirlua_word(parts, name);
        if (part < 0)
            luaL_error(L, "field 'without': admit, prune, evaluate, exclusive, locality or select expected, got '%s'",
                       name);
        without |= 1u << part;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return without;
}

void weirlua_change_read(lua_State *L, int options, const struct weirlua_graph *handle, struct policy_change *c)
{
    *c = (struct policy_change){.within = WEIR_NONE};
    if (lua_isnil(L, options)) {
        lua_pushnil(L);
        return;
    }
    if (lua_getfield(L, options, "without") != LUA_TNIL)
        c->without = read_parts(L);
    lua_pop(L, 1);
    if (lua_getfield(L, options, "within") != LUA_TNIL)
        c->within = weirlua_check_vertex_of(L, weirlua_of(L), lua_gettop(L), handle);
    lua_pop(L, 1);
    if (lua_getfield(L, options, "fewest") == LUA_TNIL)
        return;
    c->fewest = luaL_testudata(L, -1, OBSTACLES);
    if (!c->fewest || c->fewest->number != handle->number || c->fewest->serial != weir_graph_serial(handle->g))
        luaL_error(L, "field 'fewest': obstacles of the graph expected");
}

int weirlua_change_around(lua_State *L, struct policy_change *c, const struct weirlua_graph *handle,
                          const struct hierarchy_choice *hierarchy, weir_err *err)
{
    const weir_graph *g = handle->g;
    uint32_t limit = weir_graph_limit(g);
    weir_edge e;
    bool *around;
    int rc;

    if (c->within == WEIR_NONE || !hierarchy->subsystem[0])
        return WEIR_OK;
    around = lua_newuserdatauv(L, (size_t)limit + 1, 0);
    c->around = around;
    rc = weir_graph_around(handle->g, hierarchy->subsystem, c->within, around, err);
    for (weir_vertex v = 0; !rc && !stands_alone(g, c->within) && v < limit; v++)
        if (weir_vertex_live(g, v) && stands_alone(g, v) &&
            !weir_vertex_edge(g, v, hierarchy->subsystem, true, 0, &e) &&
            !weir_vertex_edge(g, v, hierarchy->subsystem, false, 0, &e))
            around[v] = true;
    return rc;
}

bool weirlua_change_admitted(lua_State *L, int request, int policy, struct weirlua_graph *handle,
                             const struct policy_change *c, struct policy_job *job)
{
    if (!(c->without & PART_ADMIT))
        return weirlua_admitted(L, request, policy, handle, job);
    job->request = weirlua_request_at(L, weirlua_of(L), request);
    return job->request != NULL;
}

const weir_policy *weirlua_change_apply(struct policy_change *c, struct hooks *h)
{
    weir_policy *p = &h->given;

    if (c->within == WEIR_NONE && !c->fewest && !c->without)
        return h->policy ? p : NULL;
    h->change = c;
    p->data = h;
    p->name = h->policy ? p->name : "first";
    p->prune = c->without & PART_PRUNE ? NULL : p->prune;
    p->judge = p->prune && c->within == WEIR_NONE ? p->judge : NULL;
    p->evaluate = c->without & PART_EVALUATE ? NULL : p->evaluate;
    p->choice = c->without & PART_SELECT ? NULL : p->choice;
    p->score = p->evaluate && !c->fewest ? p->score : NULL;
    p->nexclusive = c->without & PART_EXCLUSIVE ? 0 : p->nexclusive;
    p->nlocality = c->without & PART_LOCALITY ? 0 : p->nlocality;
    c->prune = p->prune;
    if (c->within != WEIR_NONE)
        p->prune = prune_around;
    if (c->fewest) {
        p->evaluate = score_obstacles;
        p->select = NULL;
        p->choice = NULL;
        p->turn = NULL;
    }
    return p;
}

void weirlua_change_open(lua_State *L, struct weirlua *s)
{
    static const luaL_Reg meta[] = {{NULL, NULL}};

    weirlua_class(L, s, OBSTACLES, NULL, meta);
}
