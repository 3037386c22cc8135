/* explain.c - explanations for scripts: hooks are set up for each match, the result becomes a table. Invariant: the
 * vertices of an explanation are vertices of the graph asked about, never of the copy. */
#include "policy/policy.h"

/* Stack indices of the arguments of explain(). */
enum { ARG_GRAPH = 1, ARG_COPY, ARG_POLICY, ARG_REQUEST, ARG_OPTIONS };

struct framing {
    lua_State *L;
    struct weirlua_graph *copy;
};

static int frame(void *data, const weir_request *r, int (*use)(void *use_data, const weir_policy *p), void *use_data,
                 weir_err *err)
{
    struct framing *f = data;
    struct hooks hooks;
    int rc = weirlua_hooks_begin(f->L, &hooks, ARG_POLICY, f->copy, r, err);

    if (rc)
        return rc;
    f->copy->matching = true;
    rc = use(use_data, hooks.policy ? &hooks.given : NULL);
    f->copy->matching = false;
    weirlua_hooks_end(&hooks, err);
    return rc;
}

static void release(void *p)
{
    weir_explanation_free(p);
}

/* ---- as a table ---- */

static void set_text(lua_State *L, const char *key, const char *value)
{
    if (!value)
        return;
    lua_pushstring(L, value);
    lua_setfield(L, -2, key);
}

static void set_number(lua_State *L, const char *key, int64_t value)
{
    lua_pushinteger(L, value);
    lua_setfield(L, -2, key);
}

static void set_flag(lua_State *L, const char *key, bool value)
{
    lua_pushboolean(L, value);
    lua_setfield(L, -2, key);
}

static void set_vertex(lua_State *L, const struct weirlua_graph *box, const char *key, weir_vertex v)
{
    weirlua_push_vertex(L, box, v);
    lua_setfield(L, -2, key);
}

/* An explanation to be written as a table, and the copy that the explanation was made on. */
struct telling {
    const weir_explanation *x;
    const struct weirlua_graph *box, *copy;
};

static void push_obstacle(lua_State *L, const struct telling *t, const weir_obstacle *ob)
{
    static const char *const kinds[] = {"policy", "constraint", "state", "job"};

    lua_createtable(L, 0, 3);
    set_text(L, "kind", kinds[ob->kind]);
    if (ob->kind == WEIR_BY_JOB) {
        set_number(L, "job", ob->job);
        weirlua_push_time(L, ob->end);
        lua_setfield(L, -2, "end");
    } else if (ob->kind == WEIR_BY_STATE) {
        set_vertex(L, t->box, "vertex", ob->vertex);
        set_text(L, "state", weir_state_name(weir_vertex_state(t->copy->g, ob->vertex)));
    } else {
        set_text(L, ob->kind == WEIR_BY_POLICY ? "part" : "constraint", ob->text);
    }
}

static void push_way(lua_State *L, const struct telling *t, const weir_way *way)
{
    lua_createtable(L, (int)way->n, 1);
    for (uint32_t i = 0; i < way->n; i++) {
        push_obstacle(L, t, &way->list[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    if (way->cut)
        set_flag(L, "cut", true);
}

static void set_ways(lua_State *L, const struct telling *t)
{
    const weir_explanation *x = t->x;

    lua_createtable(L, (int)x->nways, 0);
    for (uint32_t i = 0; i < x->nways; i++) {
        push_way(L, t, &x->ways[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "ways");
    if (x->after.list) {
        push_way(L, t, &x->after);
        lua_setfield(L, -2, "after");
    }
}

static void set_shortage(lua_State *L, const struct weirlua_graph *box, const weir_shortage *s)
{
    lua_createtable(L, 0, 14);
    set_text(L, "part", s->part);
    set_text(L, "type", s->type);
    set_text(L, "unit", s->unit[0] ? s->unit : NULL);
    set_text(L, "level", s->level);
    set_vertex(L, box, "best", s->best);
    set_number(L, "need", s->need);
    set_number(L, "have", s->have);
    set_number(L, "total", s->total);
    if (s->slots) {
        set_number(L, "slots", s->slots);
        set_number(L, "fits", s->fits);
    }
    set_flag(L, "ideal", s->ideal);
    set_flag(L, "constrained", s->constrained);
    set_flag(L, "policy", s->policy);
    lua_setfield(L, -2, "shortage");
}

static void push_level(lua_State *L, const weir_level *level)
{
    static const char *const causes[] = {"constraint",  "aggregate", "state",    "policy",
                                         "exclusivity", "time",      "aggregate"};

    lua_createtable(L, 0, 6);
    set_text(L, "type", level->type);
    set_number(L, "resource", level->resource);
    set_number(L, "need", level->need);
    set_number(L, "visited", (int64_t)level->visited);
    set_number(L, "left", (int64_t)level->left);
    lua_createtable(L, (int)level->ncauses, 0);
    for (uint32_t i = 0; i < level->ncauses; i++) {
        lua_createtable(L, 0, 4);
        set_text(L, "by", causes[level->causes[i].by]);
        set_text(L, "type", level->causes[i].type);
        if (level->causes[i].type)
            set_text(L, "of", level->causes[i].by == WEIR_CAUSE_SMALL ? "total" : "free");
        set_number(L, "count", (int64_t)level->causes[i].count);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "causes");
}

static void set_levels(lua_State *L, const weir_explanation *x)
{
    lua_createtable(L, (int)x->nlevels, 0);
    for (uint32_t i = 0; i < x->nlevels; i++) {
        push_level(L, &x->levels[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "levels");
}

static void set_picks(lua_State *L, const struct weirlua_graph *box, const weir_explanation *x)
{
    lua_createtable(L, (int)x->npicks, 0);
    for (uint32_t i = 0; i < x->npicks; i++) {
        lua_createtable(L, 0, 3);
        set_vertex(L, box, "vertex", x->picks[i].vertex);
        set_number(L, "amount", x->picks[i].amount);
        set_flag(L, "exclusive", x->picks[i].exclusive);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "vertices");
    weirlua_push_time(L, x->start);
    lua_setfield(L, -2, "start");
}

static void set_stats(lua_State *L, const weir_stats *st)
{
    lua_createtable(L, 0, 7);
    set_number(L, "visited", (int64_t)st->visited);
    set_number(L, "pruned", (int64_t)st->pruned);
    set_number(L, "state", (int64_t)st->state);
    set_number(L, "constraint", (int64_t)st->constraint);
    set_number(L, "busy", (int64_t)st->busy);
    set_number(L, "policy", (int64_t)st->policy);
    set_number(L, "callbacks", (int64_t)st->callbacks);
    lua_setfield(L, -2, "stats");
}

static void push_explanation(lua_State *L, const struct telling *t)
{
    const weir_explanation *x = t->x;
    static const char *const verdicts[WEIR_VERDICTS] = {"fits", "busy", "blocked", "infeasible"};

    lua_createtable(L, 0, 10);
    set_text(L, "verdict", verdicts[x->verdict]);
    set_number(L, "tries", x->tries);
    if (x->cut)
        set_flag(L, "cut", true);
    if (x->start != WEIR_FOREVER)
        set_picks(L, t->box, x);
    set_vertex(L, t->box, "where", x->where);
    set_ways(L, t);
    if (x->shortage)
        set_shortage(L, t->box, x->shortage);
    set_levels(L, x);
    set_stats(L, &x->stats);
}

/* explain(graph, copy, policy or nil, request[, {at=, where=, and the readings of requests}]): the explanation, and the
 * request after admit. The copy is changed and of no further use. */
int weirlua_explain(lua_State *L)
{
    static const char *const known[] = {"at", "where", WEIRLUA_READINGS, NULL};
    struct weirlua *s = weirlua_of(L);
    struct weirlua_graph *box = weirlua_check_graph(L, s, ARG_GRAPH), *copy = weirlua_check_graph(L, s, ARG_COPY);
    weir_explain_options o = WEIR_EXPLAIN_OPTIONS_INIT;
    struct framing f = {L, copy};
    const struct policy *policy;
    struct weirlua_box *result;
    weir_explanation *x = NULL;
    const weir_request *request;
    weir_err err = {0};
    int admitted, rc;

    lua_settop(L, ARG_OPTIONS);
    policy = luaL_testudata(L, ARG_POLICY, WEIRLUA_POLICY);
    luaL_argcheck(L, lua_isnil(L, ARG_POLICY) || (policy && policy->open), ARG_POLICY,
                  "an open policy, or nil, expected");
    luaL_argcheck(L, box != copy, ARG_COPY, "a copy of the graph expected");
    luaL_argcheck(L, !box->matching && !copy->matching, ARG_GRAPH, "a match runs on the graph");
    weirlua_check_writable(L, s, copy);
    weirlua_options(L, ARG_OPTIONS, known);
    o.at = weirlua_field_time(L, ARG_OPTIONS, "at", weir_graph_now(copy->g));
    o.reading = weirlua_field_reading(L, ARG_OPTIONS);
    lua_getfield(L, ARG_OPTIONS, "where");
    o.where = lua_isnil(L, -1) ? WEIR_NONE : weirlua_check_vertex_of(L, s, lua_gettop(L), box);
    request = weirlua_admitted(L, ARG_REQUEST, ARG_POLICY);
    if (!request)
        return 3;
    admitted = lua_gettop(L);
    rc = weirlua_policy_init(L, ARG_POLICY, copy, &err);
    if (rc)
        return weirlua_fail(L, &err, rc);
    result = weirlua_box_push(L, release);
    o.frame = frame;
    o.data = &f;
    rc = weir_explain(copy->g, request, &o, &x, &err);
    if (rc)
        return weirlua_fail(L, &err, rc);
    result->p = x;
    push_explanation(L, &(struct telling){x, box, copy});
    lua_pushvalue(L, admitted);
    return 2;
}
