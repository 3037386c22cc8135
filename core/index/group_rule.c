/* group_rule.c - see group_rule.h. */
#include "index/group_rule.h"

#include <math.h>
#include <string.h>

#include "aggregate/schema.h"

static weir_name find_name(const weir_graph *g, const char *text)
{
    return text ? weir_strtab_find(&g->names, text, strlen(text)) : WEIR_NO_NAME;
}

int weir_choice_check(const weir_policy *p, weir_err *err)
{
    const weir_choice *c = p->choice;
    const char *name = p->name ? p->name : "?";

    if (c->kind < WEIR_CHOOSE_LONGEST || c->kind > WEIR_CHOOSE_BESIDE)
        return weir_fail(err, WEIR_EINVAL, "policy %s: there is no choice %d", name, c->kind);
    if (c->kind == WEIR_CHOOSE_CLOSEST && (!c->property || c->group || c->subsystem))
        return weir_fail(err, WEIR_EINVAL, "policy %s: the choice of the closest candidates needs a property", name);
    if (c->kind == WEIR_CHOOSE_BESIDE && (!c->type || c->group || c->subsystem || c->property))
        return weir_fail(err, WEIR_EINVAL, "policy %s: a choice of adjacent resources needs a type", name);
    if (c->subsystem && !c->type)
        return weir_fail(err, WEIR_EINVAL, "policy %s: groups by subsystem need the type of the vertex above", name);
    if (c->group && p->serial == 0)
        return weir_fail(err, WEIR_EINVAL, "policy %s: a group function needs a serial number", name);
    if (c->emptiest && (c->kind != WEIR_CHOOSE_EACH || c->group || c->subsystem || c->property || p->evaluate))
        return weir_fail(err, WEIR_EINVAL,
                         "policy %s: the emptiest group first is for one from each group, by parent or by type, "
                         "without evaluate",
                         name);
    return WEIR_OK;
}

void weir_group_rule_read(const weir_graph *g, const weir_policy *p, struct group_rule *r)
{
    const weir_choice *c = p->choice;

    *r = (struct group_rule){.policy = p, .kind = c->kind, .typed = c->type != NULL};
    r->by = c->group       ? GROUP_BY_HOOK
            : c->subsystem ? GROUP_BY_SUBSYSTEM
            : c->property  ? GROUP_BY_PROPERTY
            : c->type      ? GROUP_BY_TYPE
                           : GROUP_BY_PARENT;
    r->type = c->type ? weir_type_find(g, c->type) : WEIR_NO_TYPE;
    r->property = find_name(g, c->property);
    r->position = find_name(g, c->position);
    r->subsystem = c->subsystem ? weir_subsystem_find(g, c->subsystem) : WEIR_NONE;
    r->node = weir_type_find(g, "node");
}

/* The value of a property of v (WEIR_NONE: no vertex), or WEIR_NO_NAME. */
static weir_name property_of(const weir_graph *g, weir_vertex v, weir_name key)
{
    const struct pool *p = v == WEIR_NONE || key == WEIR_NO_NAME ? NULL : pool_of(g, v);
    const struct map *m = p ? &p->maps[WEIR_PROPERTIES] : NULL;

    for (uint32_t i = 0; m && i < m->count; i++)
        if (m->entries[i].key == key)
            return m->entries[i].value;
    return WEIR_NO_NAME;
}

/* ---- subsystems ---- */

/* The vertices met on the way up in a subsystem, depth first. */
struct climb {
    weir_vertex *list;
    uint32_t n, cap;
};

static bool met(const struct climb *c, weir_vertex v)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (c->list[i] == v)
            return true;
    return false;
}

/* Finds the first vertex of the type above v, the last vertex met. *out stays WEIR_NONE where there is none. */
static int climb(const weir_graph *g, const struct group_rule *r, weir_vertex v, struct climb *c, weir_vertex *out)
{
    int rc = WEIR_OK;

    for (uint32_t i = weir_edge_first(g, v, r->subsystem, false); !rc && *out == WEIR_NONE && i != WEIR_NONE;
         i = weir_edge_next(g, i, false)) {
        weir_vertex up = g->edges[i].source;
        if (met(c, up))
            continue;
        if (kind_of(g, up)->type == r->type) {
            *out = up;
            break;
        }
        if (WEIR_ARRAY_ADD(c->list, c->n, c->cap, up))
            return WEIR_ENOMEM;
        rc = climb(g, r, up, c, out);
    }
    return rc;
}

static int above_in_subsystem(const weir_graph *g, const struct group_rule *r, weir_vertex v, weir_vertex *out)
{
    weir_vertex node = vertex_at_or_above(g, v, r->node), from = node == WEIR_NONE ? v : node;
    struct climb c = {0};
    int rc;

    *out = WEIR_NONE;
    if (r->subsystem == WEIR_NONE || r->type == WEIR_NO_TYPE)
        return WEIR_OK;
    if (r->subsystem == 0) {
        *out = vertex_at(g, from)->parent == WEIR_NONE ? WEIR_NONE
                                                       : vertex_at_or_above(g, vertex_at(g, from)->parent, r->type);
        return WEIR_OK;
    }
    if (weir_array_reserve(&c.list, &c.cap, 1, sizeof *c.list))
        return WEIR_ENOMEM;
    c.list[c.n++] = from;
    rc = climb(g, r, from, &c, out);
    weir_mem_free(c.list);
    return rc;
}

/* ---- groups ---- */

/* Sets *out to the group that is a vertex. */
static void group_of_vertex(weir_vertex v, struct group_key *out)
{
    *out = (struct group_key){v == WEIR_NONE ? GROUP_NONE : GROUP_OF_VERTEX, v};
}

static int ask_hook(const weir_graph *g, const struct group_rule *r, weir_vertex v, struct group_key *out,
                    weir_err *err)
{
    const weir_policy *p = r->policy;
    uint32_t number = 0;
    int rc = p->choice->group(p->data, g, v, &number);

    if (rc < 0)
        return weir_fail(err, WEIR_EPOLICY, "policy %s: group failed", p->name ? p->name : "?");
    *out = (struct group_key){rc ? GROUP_OF_HOOK : GROUP_NONE, number};
    return WEIR_OK;
}

int weir_group_of(const weir_graph *g, const struct group_rule *r, weir_vertex v, struct group_key *out, weir_err *err)
{
    weir_vertex up = WEIR_NONE;
    weir_name value;
    int rc = WEIR_OK;

    switch (r->by) {
    case GROUP_BY_PARENT: group_of_vertex(vertex_at(g, v)->parent, out); break;
    case GROUP_BY_TYPE: group_of_vertex(vertex_at_or_above(g, v, r->type), out); break;
    case GROUP_BY_SUBSYSTEM:
        rc = above_in_subsystem(g, r, v, &up) ? weir_fail_nomem(err) : WEIR_OK;
        group_of_vertex(up, out);
        break;
    case GROUP_BY_PROPERTY:
        value = property_of(g, r->typed ? vertex_at_or_above(g, v, r->type) : v, r->property);
        *out = (struct group_key){value == WEIR_NO_NAME ? GROUP_NONE : GROUP_OF_VALUE, value};
        break;
    case GROUP_BY_HOOK: rc = ask_hook(g, r, v, out, err); break;
    }
    if (!rc && out->space == GROUP_NONE && choice_of_runs(r->kind))
        group_of_vertex(vertex_at(g, v)->parent, out);
    return rc;
}

double weir_group_value(const weir_graph *g, const struct group_rule *r, weir_vertex v)
{
    weir_name value = property_of(g, r->typed ? vertex_at_or_above(g, v, r->type) : v, r->property);
    const char *text = value == WEIR_NO_NAME ? "" : weir_strtab_text(&g->names, value);
    char *end;
    double number = weir_number_read(text, &end);

    return end == text || *end || isnan(number) ? HUGE_VAL : number;
}

int64_t weir_group_position(const weir_graph *g, const struct group_rule *r, weir_vertex v)
{
    weir_name value = property_of(g, v, r->position);
    const char *text = value == WEIR_NO_NAME ? "" : weir_strtab_text(&g->names, value);
    int64_t id = vertex_at(g, v)->id;
    char *end;
    double number = weir_number_read(text, &end);

    if (end != text && !*end && fabs(number) < 9e15 && floor(number) >= number)
        return (int64_t)number;
    return id == WEIR_NO_ID ? (int64_t)weir_vertex_place(g, v) : id;
}

bool weir_group_encloses(const weir_graph *g, const struct group_rule *r, weir_vertex under)
{
    weir_type t = r->by == GROUP_BY_SUBSYSTEM                                          ? r->node
                  : r->by == GROUP_BY_TYPE || (r->by == GROUP_BY_PROPERTY && r->typed) ? r->type
                                                                                       : WEIR_NO_TYPE;
    const struct inner *in = under == WEIR_NONE ? NULL : inner_of(g, under);

    if (!in || t == WEIR_NO_TYPE || choice_of_runs(r->kind) || type_cell(schema_at(g, in->schema), t))
        return false;
    return vertex_at_or_above(g, under, t) != WEIR_NONE;
}

weir_vertex weir_group_vertex(const weir_graph *g, const struct group_rule *r, weir_vertex v)
{
    return r->by == GROUP_BY_TYPE ? vertex_at_or_above(g, v, r->type) : vertex_at(g, v)->parent;
}

double weir_group_free(const weir_graph *g, const struct group_rule *r, weir_vertex v)
{
    weir_vertex up = weir_group_vertex(g, r, v);
    const struct inner *in = up == WEIR_NONE ? NULL : inner_of(g, up);
    uint32_t cell = in && in->cells ? type_cell(schema_at(g, in->schema), kind_of(g, v)->type) : 0;

    return cell ? (double)in->cells[cell + TYPE_FREE] : -1;
}

bool weir_group_rule_reads(const struct group_rule *r, int map, weir_name key)
{
    if (map == WEIR_EXTENDED)
        return false;
    return r->by == GROUP_BY_HOOK || (map == WEIR_PROPERTIES && key != WEIR_NO_NAME);
}
