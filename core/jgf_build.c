/* jgf_build.c - makes a graph of the vertices and edges of a JSON graph. See jgf.h.
 *
 * Main invariant: the containment edges are made a forest of items first, which proves that there are no cycles, second
 * parents or loose ends; only then vertices are added, in preorder. Nothing recurses.
 */
#include "jgf.h"

#include <inttypes.h>
#include <string.h>

/* ---- the forest ----------------------------------------------------------------------------------------------- */

static int set_parent(struct jgf *r, uint32_t at, uint32_t child, uint32_t parent)
{
    struct jgf_item *c = &r->items[child], *p = &r->items[parent];

    if (c->parent == parent)
        return WEIR_OK;
    if (child == parent)
        return weir_jgf_bad(r, WEIR_EINVAL, "edges", at, "", "vertex \"%.100s\" contains itself", jgf_key(r, child));
    if (c->parent != WEIR_NONE)
        return weir_jgf_bad(r, WEIR_EINVAL, "edges", at, "",
                            "vertex \"%.80s\" has two parents, \"%.80s\" and \"%.80s\"", jgf_key(r, child),
                            jgf_key(r, c->parent), jgf_key(r, parent));
    c->parent = parent;
    c->next = child;
    if (p->last != WEIR_NONE) {
        c->next = r->items[p->last].next;
        r->items[p->last].next = child;
    }
    p->last = child;
    return WEIR_OK;
}

/* "in" is the way back of "contains", and so is an edge without a name that leads up along the paths. */
int weir_jgf_contain(struct jgf *r, const struct jgf_edge *e)
{
    const struct jgf_item *from = &r->items[e->source], *to = &r->items[e->target];
    bool up =
        e->type == WEIR_NO_NAME ? from->above && from->above == to->path : strcmp(jgf_text(r, e->type), "in") == 0;

    return up ? set_parent(r, e->at, e->source, e->target) : set_parent(r, e->at, e->target, e->source);
}

/* ---- vertices ------------------------------------------------------------------------------------------------- */

static int set_entry(const struct jgf *r, uint32_t i, const struct jgf_entry *e)
{
    char name[64];
    weir_err why = {0};
    int map = e->field == JGF_PROPERTIES                          ? WEIR_PROPERTIES
              : e->field == JGF_TAGS || e->field == JGF_EPHEMERAL ? WEIR_TAGS
                                                                  : WEIR_EXTENDED;
    int rc = weir_vertex_set(r->g, r->items[i].v, map, jgf_text(r, e->key), jgf_text(r, e->value), &why);

    if (rc == WEIR_ENOMEM)
        return weir_fail_nomem(r->err);
    if (rc == WEIR_OK)
        return rc;
    snprintf(name, sizeof name, ".metadata.%s", weir_jgf_fields[e->field]);
    return weir_jgf_bad(r, rc, "nodes", r->items[i].at, name, "%s", why.text);
}

/* A UUID that would follow from the place of the pool anyway is not kept. */
static int set_uuid(const struct jgf *r, uint32_t i, weir_err *why)
{
    static const uint8_t none[16];
    uint8_t derived[16];

    if (i >= r->nuuids || memcmp(r->uuids[i], none, 16) == 0)
        return WEIR_OK;
    weir_uuid_get(r->g, r->items[i].v, derived);
    return memcmp(r->uuids[i], derived, 16) == 0 ? WEIR_OK : weir_uuid_put(r->g, r->items[i].v, r->uuids[i], why);
}

/* What the vertex of an item has besides its kind. */
static int dress_item(const struct jgf *r, uint32_t i)
{
    const struct jgf_item *it = &r->items[i];
    weir_err why = {0};
    int rc = WEIR_OK;

    for (uint32_t k = it->own; rc == WEIR_OK && k != WEIR_NONE; k = r->entries[k].more ? k + 1 : WEIR_NONE)
        rc = set_entry(r, i, &r->entries[k]);
    if (rc < 0)
        return rc;
    rc = set_uuid(r, i, &why);
    if (rc == WEIR_OK && it->state != WEIR_UP)
        rc = weir_vertex_set_state(r->g, it->v, it->state, &why);
    if (rc == WEIR_ENOMEM)
        return weir_fail_nomem(r->err);
    return rc < 0 ? weir_jgf_bad(r, rc, "nodes", it->at, "", "%s", why.text) : WEIR_OK;
}

static int add_item(struct jgf *r, uint32_t i)
{
    struct jgf_item *it = &r->items[i];
    const struct jgf_item *above = it->parent == WEIR_NONE ? NULL : &r->items[it->parent];
    const struct kind *kind = &r->g->kinds[it->kind];
    int64_t inherited = above ? above->rank : WEIR_NO_RANK;
    weir_pool_desc d = {.type = type_text(r->g, kind->type),
                        .basename = jgf_text(r, kind->basename),
                        .name = it->name == WEIR_NO_NAME ? NULL : jgf_text(r, it->name),
                        .unit = jgf_text(r, kind->unit),
                        .id = it->id,
                        .size = kind->size,
                        .rank = it->rank,
                        .exclusive = kind->exclusive};
    weir_err why = {0};
    int rc;

    if (d.rank == inherited)
        d.rank = WEIR_NO_RANK; /* a vertex has the rank of what it is in, for nothing */
    if (it->rank == WEIR_NO_RANK)
        it->rank = inherited;
    rc = weir_graph_add(r->g, above ? above->v : WEIR_NONE, &d, &it->v, &why);
    if (rc == WEIR_ENOMEM)
        return weir_fail_nomem(r->err);
    if (rc < 0)
        return weir_jgf_bad(r, rc, "nodes", it->at, "", "%s", why.text);
    return dress_item(r, i);
}

/* The item after `at` in the preorder below a root; WEIR_NONE: there is none. */
static uint32_t next_item(const struct jgf *r, uint32_t root, uint32_t at, uint32_t *depth)
{
    if (r->items[at].last != WEIR_NONE) {
        ++*depth;
        return r->items[r->items[at].last].next;
    }
    for (; at != root; at = r->items[at].parent, --*depth)
        if (r->items[r->items[at].parent].last != at)
            return r->items[at].next;
    return WEIR_NONE;
}

/* Adds a root and all below it, counting them. */
static int add_tree(struct jgf *r, uint32_t root, uint32_t *added)
{
    uint32_t depth = 1;
    int rc = WEIR_OK;

    for (uint32_t at = root; rc == WEIR_OK && at != WEIR_NONE; at = next_item(r, root, at, &depth), ++*added) {
        if (depth > WEIR_PATH_DEPTH)
            return weir_jgf_bad(r, WEIR_ELIMIT, "nodes", r->items[at].at, "", "more than %d levels deep",
                                WEIR_PATH_DEPTH);
        rc = add_item(r, at);
    }
    return rc;
}

static int fail_cycle(const struct jgf *r)
{
    uint32_t at = 0;

    while (r->items[at].v != WEIR_NONE)
        at++;
    for (uint32_t n = 0; n < r->count; n++)
        at = r->items[at].parent; /* onto the cycle, if `at` hangs below it */
    return weir_jgf_bad(r, WEIR_EINVAL, "nodes", r->items[at].at, "",
                        "vertex \"%.100s\" is below itself: the edges make a cycle", jgf_key(r, at));
}

/* ---- the graph ------------------------------------------------------------------------------------------------ */

static int add_edge(struct jgf *r, const struct jgf_edge *e)
{
    weir_err why = {0};
    int rc = weir_edge_add(r->g, r->items[e->source].v, r->items[e->target].v, jgf_text(r, e->subsystem),
                           e->type == WEIR_NO_NAME ? "contains" : jgf_text(r, e->type),
                           e->back == WEIR_NO_NAME ? NULL : jgf_text(r, e->back), &why);

    if (rc == WEIR_ENOMEM)
        return weir_fail_nomem(r->err);
    return rc < 0 ? weir_jgf_bad(r, rc, "edges", e->at, "", "%s", why.text) : WEIR_OK;
}

int weir_jgf_make(struct jgf *r, weir_graph **out)
{
    uint32_t added = 0;
    int rc = WEIR_OK;

    weir_graph_begin(r->g);
    if (weir_graph_reserve(r->g, r->count) < 0)
        return weir_fail_nomem(r->err);
    for (uint32_t i = 0; rc == WEIR_OK && i < r->count; i++)
        if (r->items[i].parent == WEIR_NONE)
            rc = add_tree(r, i, &added);
    if (rc == WEIR_OK && added < r->count)
        return fail_cycle(r);
    for (uint32_t i = 0; rc == WEIR_OK && i < r->nedges; i++)
        rc = add_edge(r, &r->edges[i]);
    if (rc == WEIR_OK)
        rc = weir_graph_end(r->g, r->err);
    if (rc < 0)
        return rc;
    *out = r->g;
    r->g = NULL;
    return WEIR_OK;
}
