/* graph_force.c - the jobs that prevent an unlink, and unlinking in spite of jobs. Invariant: a job has units of a
 * vertex when a pick of the job is at or below the vertex, or is a whole vertex above. */
#include "handle/support.h"
#include "handle/vertex.h"
#include "policy/charge.h"

#include <string.h>

/* Inserts a job into n ascending ids unless present. Returns the new number of ids. */
static uint32_t insert(int64_t *ids, uint32_t n, int64_t job)
{
    uint32_t at = n;

    while (at > 0 && ids[at - 1] > job)
        at--;
    if (at > 0 && ids[at - 1] == job)
        return n;
    memmove(ids + at + 1, ids + at, (n - at) * sizeof *ids);
    ids[at] = job;
    return n + 1;
}

/* Inserts the jobs that have a whole vertex above v. Returns the new number of ids. */
static uint32_t add_above(const weir_graph *g, weir_vertex v, int64_t *ids, uint32_t n)
{
    weir_use u;

    while ((v = weir_vertex_parent(g, v)) != WEIR_NONE)
        for (uint32_t i = 0; weir_vertex_use(g, v, i, &u); i++)
            n = u.exclusive && u.job > 0 ? insert(ids, n, u.job) : n;
    return n;
}

/* Pushes the ascending list of the jobs that have units of v, and returns the length. */
static uint32_t push_jobs(lua_State *L, const weir_graph *g, weir_vertex v)
{
    struct weirlua_owner *below = weirlua_owner_push(L, weir_free);
    int64_t *ids = lua_newuserdatauv(L, (weir_job_count(g) + (size_t)1) * sizeof *ids, 0), *found = NULL;
    uint32_t n = 0;
    weir_err err = {0};

    if (weir_vertex_jobs(g, v, &found, &n, &err))
        weirlua_raise(L, &err);
    below->p = found;
    if (n)
        memcpy(ids, found, n * sizeof *ids);
    n = add_above(g, v, ids, n);
    lua_createtable(L, (int)n, 0);
    for (uint32_t i = 0; i < n; i++) {
        lua_pushinteger(L, ids[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_replace(L, -3);
    lua_pop(L, 1);
    return n;
}

#define NAMED 10 /* jobs named in a message */

/* Pushes "PATH is in use by jobs 1, 2; ..." for the n jobs listed at index `jobs`. */
static void push_refusal(lua_State *L, const struct weirlua_graph *handle, weir_vertex v, int jobs, uint32_t n)
{
    luaL_Buffer b;

    luaL_buffinit(L, &b);
    weirlua_push_field(L, handle, v, FIELD_PATH);
    luaL_addvalue(&b);
    luaL_addstring(&b, n == 1 ? " is in use by job " : " is in use by jobs ");
    for (uint32_t i = 0; i < n && i < NAMED; i++) {
        luaL_addstring(&b, i ? ", " : "");
        lua_rawgeti(L, jobs, (lua_Integer)i + 1);
        luaL_addvalue(&b);
    }
    if (n > NAMED) {
        lua_pushfstring(L, " and %d more", (int)(n - NAMED));
        luaL_addvalue(&b);
    }
    luaL_addstring(&b, n == 1 ? "; release it first, or force it" : "; release them first, or force it");
    luaL_pushresult(&b);
}

bool weirlua_unlink_refused(lua_State *L, const struct weirlua_graph *handle, weir_vertex v)
{
    uint32_t n = push_jobs(L, handle->g, v);
    int jobs = lua_gettop(L);

    if (n == 0) {
        lua_pop(L, 1);
        return false;
    }
    lua_pushnil(L);
    push_refusal(L, handle, v, jobs, n);
    lua_pushstring(L, weir_status_name(WEIR_EBUSY));
    lua_pushvalue(L, jobs);
    return true;
}

int weirlua_vertex_jobs(lua_State *L)
{
    struct weirlua *s = weirlua_of(L);
    struct weirlua_handle h = weirlua_check_vertex(L, s, 1);
    int64_t begin;

    weir_read_other(h.g, "v:jobs()");
    weirlua_anchor(L, s, h.handle);
    begin = weirlua_timing(s);
    push_jobs(L, h.g, h.v);
    weirlua_spend_since(L, s, begin);
    return 1;
}

static void push_loss(lua_State *L, const struct weirlua_graph *handle, int64_t job, weir_vertex v, int64_t amount)
{
    lua_createtable(L, 0, 5);
    weirlua_set_integer(L, "job", job);
    weirlua_set_vertex(L, "vertex", handle, v);
    weirlua_push_field(L, handle, v, FIELD_PATH);
    lua_setfield(L, -2, "path");
    weirlua_push_field(L, handle, v, FIELD_TYPE);
    lua_setfield(L, -2, "type");
    weirlua_set_integer(L, "amount", amount);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

/* Appends the picks of a job at and below v to the list on top of the stack; for a pick of a whole vertex above,
 * appends v. */
static void push_losses(lua_State *L, const struct weirlua_graph *handle, const weir_allocation *a, weir_vertex v)
{
    const weir_graph *g = handle->g;

    for (uint32_t i = 0; i < a->npicks; i++) {
        const weir_pick *p = &a->picks[i];
        if (weir_vertex_within(g, p->vertex, v))
            push_loss(L, handle, a->job, p->vertex, p->amount);
        else if (p->exclusive && weir_vertex_within(g, v, p->vertex))
            push_loss(L, handle, a->job, v, weir_vertex_size(g, v));
    }
}

int weirlua_unlink_forced(lua_State *L, struct weirlua_graph *handle, weir_vertex v)
{
    uint32_t n = push_jobs(L, handle->g, v);
    int jobs = lua_gettop(L), rc;
    int64_t *ids = lua_newuserdatauv(L, (n + (size_t)1) * sizeof *ids, 0);
    weir_err err = {0};

    lua_newtable(L);
    for (uint32_t i = 0; i < n; i++) {
        lua_rawgeti(L, jobs, (lua_Integer)i + 1);
        ids[i] = lua_tointeger(L, -1);
        lua_pop(L, 1);
        push_losses(L, handle, weir_job_get(handle->g, ids[i]), v);
    }
    rc = weir_graph_unlink_forced(handle->g, v, ids, n, &err);
    return rc ? weirlua_fail(L, &err, rc) : 1;
}
