/* explain.c - e:levels, the causes that exclude vertices. Invariant: the graph is only read. */
#include "handle/engine.h"
#include "handle/support.h"
#include "policy/policy.h"

static void push_cause(lua_State *L, const weir_cause *cause)
{
    static const char *const words[WEIR_CAUSES] = {"constraint",  "aggregate", "state",    "policy",
                                                   "exclusivity", "time",      "aggregate"};

    lua_createtable(L, 0, 4);
    weirlua_set_text(L, "by", words[cause->by]);
    if (cause->type) {
        weirlua_set_text(L, "type", cause->type);
        weirlua_set_text(L, "of", cause->by == WEIR_CAUSE_SMALL ? "total" : "free");
    }
    weirlua_set_integer(L, "count", (int64_t)cause->count);
}

static void push_level(lua_State *L, const weir_level *level)
{
    lua_createtable(L, 0, 7);
    weirlua_set_text(L, "type", level->type);
    weirlua_set_text(L, "unit", level->unit);
    weirlua_set_integer(L, "resource", level->resource);
    weirlua_set_integer(L, "need", level->need);
    weirlua_set_integer(L, "visited", (int64_t)level->visited);
    weirlua_set_integer(L, "left", (int64_t)level->left);
    lua_createtable(L, (int)level->ncauses, 0);
    for (uint32_t i = 0; i < level->ncauses; i++) {
        push_cause(L, &level->causes[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "causes");
}

static void release_levels(void *levels)
{
    weir_levels_free(levels);
}

#define POLICY 5 /* stack index of the engine's policy in levels */

/* levels(request[, options]) -> list */
int weirlua_engine_levels(lua_State *L)
{
    static const char *const known[] = {"about", "at", "subsystem", "follow", WEIRLUA_CHANGES, WEIRLUA_STRICT, NULL};
    struct weirlua_graph *handle;
    struct hierarchy_choice hierarchy;
    weir_match_options o = {0};
    struct policy_change change;
    struct policy_job job = {.about = 7};
    struct weirlua_owner *held;
    weir_level *levels = NULL;
    struct hooks hooks;
    weir_err err = {0};
    uint32_t n;
    int rc;

    weirlua_engine_idle(L, &handle);
    lua_settop(L, 3);
    weirlua_options(L, 3, known);
    o.at = weirlua_field_time(L, 3, "at", weir_graph_now(handle->g));
    o.strict = weirlua_field_strict(L, 3);
    lua_getiuservalue(L, 1, 1); /* 4, 5: graph and policy stay alive during the hook */
    lua_getiuservalue(L, 1, 2);
    weirlua_change_read(L, 3, handle, &change); /* 6 */
    weirlua_push_about(L, 3);                   /* 7 */
    if (!weirlua_change_admitted(L, 2, POLICY, handle, &change, &job))
        return 3;
    weirlua_engine_idle(L, &handle);
    weirlua_hierarchy_read(L, 3, POLICY, &hierarchy);
    rc = weirlua_policy_init(L, POLICY, handle, &err);
    rc = rc ? rc : weirlua_change_around(L, &change, handle, &hierarchy, &err);
    if (rc)
        return weirlua_fail(L, &err, rc);
    held = weirlua_owner_push(L, release_levels);
    rc = weirlua_hooks_begin(L, &hooks, POLICY, handle, &job, &err);
    if (rc)
        return weirlua_fail(L, &err, rc);
    o.policy = weirlua_change_apply(&change, &hooks);
    rc = weirlua_hierarchy_begin(&hierarchy, handle, &o, &err);
    handle->matching = true;
    rc = rc ? rc : weir_explain_levels(handle->g, job.request, &o, change.within, &levels, &n, &err);
    handle->matching = false;
    weirlua_hierarchy_end(&hierarchy);
    held->p = levels;
    weirlua_hooks_end(&hooks, &err);
    if (rc)
        return weirlua_fail(L, &err, rc);
    lua_createtable(L, (int)n, 0);
    for (uint32_t i = 0; i < n; i++) {
        push_level(L, &levels[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}
