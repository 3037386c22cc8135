/* edge.c - subsystems: edges and roots; lookup by URI. Invariant: an edge is in the chain of edges that leave the
 * source, and in the chain of edges that enter the target. Edges of containment are the tree itself. */
#include "graph/journal.h"
#include "graph/observer.h"

#include <string.h>

uint32_t weir_subsystem_find(const weir_graph *g, const char *name)
{
    for (uint32_t i = 0; i < g->nsubsystems; i++)
        if (strcmp(weir_strtab_text(&g->names, g->subsystems[i]), name) == 0)
            return i;
    return WEIR_NONE;
}

uint32_t weir_subsystem_add(weir_graph *g, const char *name)
{
    uint32_t i = weir_subsystem_find(g, name);
    weir_name n;

    if (i != WEIR_NONE)
        return i;
    n = weir_strtab_add(&g->names, name, strlen(name));
    if (n == WEIR_NO_NAME || weir_array_reserve(&g->subsystems, &g->cap.subsystems, g->nsubsystems + 1, sizeof n))
        return WEIR_NONE;
    g->subsystems[g->nsubsystems] = n;
    return g->nsubsystems++;
}

static int check_edge(const weir_graph *g, weir_vertex source, weir_vertex target, const char *subsystem,
                      const char *type, weir_err *err)
{
    int rc = weir_graph_writable(g, err);

    if (rc)
        return rc;
    if (!vertex_valid(g, source) || !vertex_valid(g, target))
        return weir_fail(err, WEIR_ENOENT, "an edge joins two vertices that are there; %u or %u is not", source,
                         target);
    if (!subsystem || !subsystem[0] || !type || !type[0])
        return weir_fail(err, WEIR_EINVAL, "an edge needs a subsystem and a type");
    if (weir_subsystem_find(g, subsystem) == 0) /* containment; in a view, its hierarchy */
        return weir_fail(err, WEIR_EINVAL, "%.100s is made by adding vertices below their parent, not by edges",
                         subsystem);
    return WEIR_OK;
}

static uint32_t take_edge(weir_graph *g)
{
    uint32_t i = g->free.edges;

    if (i != WEIR_NONE) {
        g->free.edges = g->edges[i].next_out;
        return i;
    }
    if (weir_array_reserve(&g->edges, &g->cap.edges, g->nedges + 1, sizeof *g->edges))
        return WEIR_NONE;
    return g->nedges++;
}

/* Appends an edge to a chain: chains keep the order of addition. */
static void chain_out(weir_graph *g, struct pool *p, uint32_t i)
{
    struct edge *e = &g->edges[i];

    e->prev_out = p->last_out;
    e->next_out = WEIR_NONE;
    *(p->last_out == WEIR_NONE ? &p->edges_out : &g->edges[p->last_out].next_out) = i;
    p->last_out = i;
}

static void chain_in(weir_graph *g, struct pool *p, uint32_t i)
{
    struct edge *e = &g->edges[i];

    e->prev_in = p->last_in;
    e->next_in = WEIR_NONE;
    *(p->last_in == WEIR_NONE ? &p->edges_in : &g->edges[p->last_in].next_in) = i;
    p->last_in = i;
}

int weir_edge_link(weir_graph *g, weir_vertex source, weir_vertex target, uint32_t subsystem, const char *type,
                   const char *back)
{
    weir_name name = weir_strtab_add(&g->names, type, strlen(type));
    weir_name back_name = back ? weir_strtab_add(&g->names, back, strlen(back)) : WEIR_NO_NAME;
    struct pool *to = weir_pool_get(g, source) ? weir_pool_get(g, target) : NULL;
    /* The second call may have moved the record of the source. */
    struct pool *from = to ? pool_of(g, source) : NULL;
    uint32_t i = from && name != WEIR_NO_NAME && !(back && back_name == WEIR_NO_NAME) ? take_edge(g) : WEIR_NONE;

    if (i == WEIR_NONE)
        return WEIR_ENOMEM;
    g->edges[i] =
        (struct edge){.source = source, .target = target, .type = name, .back = back_name, .subsystem = subsystem};
    g->edges[i].serial = ++g->edge_serial;
    chain_out(g, from, i);
    chain_in(g, to, i);
    g->live_edges++;
    weir_tree_changed(g);
    g->saves.revision++;
    return WEIR_OK;
}

int weir_edge_add(weir_graph *g, weir_vertex source, weir_vertex target, const char *subsystem, const char *type,
                  const char *back, weir_err *err)
{
    uint32_t s;
    int rc = check_edge(g, source, target, subsystem, type, err);

    if (rc)
        return rc;
    s = weir_subsystem_add(g, subsystem);
    return s == WEIR_NONE || weir_edge_link(g, source, target, s, type, back) ? weir_fail_nomem(err) : WEIR_OK;
}

static void unchain(weir_graph *g, const struct edge *e)
{
    struct pool *from = pool_of(g, e->source), *to = pool_of(g, e->target);

    *(e->prev_out == WEIR_NONE ? &from->edges_out : &g->edges[e->prev_out].next_out) = e->next_out;
    *(e->next_out == WEIR_NONE ? &from->last_out : &g->edges[e->next_out].prev_out) = e->prev_out;
    *(e->prev_in == WEIR_NONE ? &to->edges_in : &g->edges[e->prev_in].next_in) = e->next_in;
    *(e->next_in == WEIR_NONE ? &to->last_in : &g->edges[e->next_in].prev_in) = e->prev_in;
}

void weir_edge_drop(weir_graph *g, uint32_t i)
{
    struct edge *e = &g->edges[i];

    unchain(g, e);
    note_edge(g, e->serial);
    e->source = e->target = WEIR_NONE;
    e->next_out = g->free.edges;
    g->free.edges = i;
    g->live_edges--;
    weir_tree_changed(g);
}

int weir_edge_remove(weir_graph *g, weir_vertex source, weir_vertex target, const char *subsystem, const char *type,
                     weir_err *err)
{
    uint32_t s = subsystem ? weir_subsystem_find(g, subsystem) : WEIR_NONE, found = WEIR_NONE;
    int rc = check_edge(g, source, target, subsystem, type ? type : "any", err);

    if (rc)
        return rc;
    for (uint32_t i = weir_edge_first(g, source, s, true); s != WEIR_NONE && i != WEIR_NONE && found == WEIR_NONE;
         i = weir_edge_next(g, i, true))
        if (g->edges[i].target == target && (!type || strcmp(weir_strtab_text(&g->names, g->edges[i].type), type) == 0))
            found = i;
    if (found == WEIR_NONE)
        return weir_fail(err, WEIR_ENOENT, "there is no such edge of the subsystem '%.100s'", subsystem);
    weir_edge_drop(g, found);
    g->saves.revision++;
    return WEIR_OK;
}

uint32_t weir_edge_count(const weir_graph *g)
{
    return g->live_edges;
}

static void edge_out(const weir_graph *g, const struct edge *e, weir_edge *out)
{
    *out = (weir_edge){e->source, e->target, weir_strtab_text(&g->names, g->subsystems[e->subsystem]),
                       weir_strtab_text(&g->names, e->type),
                       e->back == WEIR_NO_NAME ? NULL : weir_strtab_text(&g->names, e->back)};
}

bool weir_edge_get(const weir_graph *g, uint32_t i, weir_edge *out)
{
    if (i >= g->nedges || g->edges[i].source == WEIR_NONE)
        return false;
    edge_out(g, &g->edges[i], out);
    return true;
}

/* Sets *to to the place of a word in g, for `word` in another graph. */
static int copy_word(weir_graph *g, const weir_graph *from, weir_name word, weir_name *to)
{
    const char *text = word ? weir_strtab_text(&from->names, word - 1) : NULL;
    weir_name name = text ? weir_strtab_add(&g->names, text, strlen(text)) : WEIR_NO_NAME;

    *to = text && name != WEIR_NO_NAME ? name + 1 : 0;
    return text && name == WEIR_NO_NAME ? WEIR_ENOMEM : WEIR_OK;
}

int weir_words_copy(weir_graph *g, const weir_graph *from)
{
    weir_name down, up;

    if (copy_word(g, from, from->words.down, &down) || copy_word(g, from, from->words.up, &up))
        return WEIR_ENOMEM;
    g->words.down = down;
    g->words.up = up;
    return WEIR_OK;
}

const char *weir_word_down(const weir_graph *g)
{
    return g->words.down ? weir_strtab_text(&g->names, g->words.down - 1) : "contains";
}

static bool contained_edge(const weir_graph *g, weir_vertex v, bool out, uint32_t i, weir_edge *e)
{
    weir_vertex child = out ? weir_vertex_child(g, v, i) : v;
    weir_vertex parent = child == WEIR_NONE ? WEIR_NONE : vertex_at(g, child)->parent;

    if (parent == WEIR_NONE || (!out && i > 0))
        return false;
    *e = (weir_edge){parent, child, weir_strtab_text(&g->names, g->subsystems[0]), weir_word_down(g),
                     g->words.up ? weir_strtab_text(&g->names, g->words.up - 1) : "in"};
    return true;
}

bool weir_vertex_edge(const weir_graph *g, weir_vertex v, const char *subsystem, bool out, uint32_t i, weir_edge *e)
{
    const struct pool *p = pool_of(g, v);
    uint32_t s = subsystem ? weir_subsystem_find(g, subsystem) : WEIR_NONE;
    uint32_t contained = out ? weir_vertex_children(g, v) : vertex_at(g, v)->parent != WEIR_NONE;

    if (subsystem && s == WEIR_NONE)
        return false;
    if (!subsystem || s == 0) {
        if (i < contained)
            return contained_edge(g, v, out, i, e);
        i -= contained;
    }
    for (uint32_t k = p ? (out ? p->edges_out : p->edges_in) : WEIR_NONE; k != WEIR_NONE;
         k = out ? g->edges[k].next_out : g->edges[k].next_in)
        if ((!subsystem || g->edges[k].subsystem == s) && i-- == 0) {
            edge_out(g, &g->edges[k], e);
            return true;
        }
    return false;
}

uint32_t weir_edge_first(const weir_graph *g, weir_vertex v, uint32_t subsystem, bool out)
{
    const struct pool *p = pool_of(g, v);
    uint32_t i = p ? (out ? p->edges_out : p->edges_in) : WEIR_NONE;

    while (i != WEIR_NONE && g->edges[i].subsystem != subsystem)
        i = out ? g->edges[i].next_out : g->edges[i].next_in;
    return i;
}

uint32_t weir_edge_next(const weir_graph *g, uint32_t i, bool out)
{
    uint32_t subsystem = g->edges[i].subsystem;

    do
        i = out ? g->edges[i].next_out : g->edges[i].next_in;
    while (i != WEIR_NONE && g->edges[i].subsystem != subsystem);
    return i;
}

struct weir_ends weir_ends(const weir_graph *g, weir_vertex v, uint32_t subsystem, bool out)
{
    return (struct weir_ends){g, v, subsystem, weir_edge_first(g, v, subsystem, out), out, false};
}

weir_vertex weir_ends_next(struct weir_ends *e)
{
    for (;;) {
        bool out = e->out != e->turned;
        const struct edge *at;
        if (e->i == WEIR_NONE && e->turned)
            return WEIR_NONE;
        if (e->i == WEIR_NONE) {
            e->turned = true;
            e->i = weir_edge_first(e->g, e->v, e->subsystem, !e->out);
            continue;
        }
        at = &e->g->edges[e->i];
        e->i = weir_edge_next(e->g, e->i, out);
        if (!e->turned || edge_both_ways(at))
            return out ? at->target : at->source;
    }
}

uint32_t weir_subsystem_count(const weir_graph *g)
{
    return g->nsubsystems;
}

const char *weir_subsystem_name(const weir_graph *g, uint32_t i)
{
    return i < g->nsubsystems ? weir_strtab_text(&g->names, g->subsystems[i]) : NULL;
}

/* ---- roots and lookup ---- */

static bool is_root(const weir_graph *g, weir_vertex v, uint32_t s)
{
    if (s == 0)
        return v != WEIR_NONE && (weir_vertex_children(g, v) || !in_other_subsystem(g, v));
    return vertex_valid(g, v) && weir_edge_first(g, v, s, true) != WEIR_NONE &&
           weir_edge_first(g, v, s, false) == WEIR_NONE;
}

weir_vertex weir_graph_next_root(const weir_graph *g, const char *subsystem, uint32_t *at)
{
    uint32_t s = subsystem ? weir_subsystem_find(g, subsystem) : 0, end = s == 0 ? g->nroots : g->limit;

    while (s != WEIR_NONE && *at < end) {
        weir_vertex v = s == 0 ? g->roots[*at] : *at;
        ++*at;
        if (is_root(g, v, s))
            return v;
    }
    return WEIR_NONE;
}

weir_vertex weir_graph_root(const weir_graph *g, const char *subsystem, uint32_t i)
{
    uint32_t at = 0;
    weir_vertex v = weir_graph_next_root(g, subsystem, &at);

    while (v != WEIR_NONE && i-- > 0)
        v = weir_graph_next_root(g, subsystem, &at);
    return v;
}

static bool named(const weir_graph *g, weir_vertex v, const char *name, size_t len)
{
    char buf[WEIR_NAME_MAX + 32];
    return weir_vertex_name(g, v, buf, sizeof buf) == len && memcmp(buf, name, len) == 0;
}

/* The child of `at` with a name in a subsystem; the root with the name where `at` is WEIR_NONE. */
static weir_vertex step_down(const weir_graph *g, weir_vertex at, const char *subsystem, const char *name, size_t len)
{
    weir_edge e;
    weir_vertex v;

    if (at == WEIR_NONE) {
        uint32_t next = 0;
        while ((v = weir_graph_next_root(g, subsystem, &next)) != WEIR_NONE)
            if (named(g, v, name, len))
                return v;
        return WEIR_NONE;
    }
    for (uint32_t i = 0; weir_vertex_edge(g, at, subsystem, true, i, &e); i++)
        if (named(g, e.target, name, len))
            return e.target;
    return WEIR_NONE;
}

/* The child of `at`, or the root, number i in a subsystem; WEIR_NONE: there are no more. */
static weir_vertex child_at(const weir_graph *g, weir_vertex at, const char *subsystem, uint32_t i)
{
    weir_edge e;

    if (at == WEIR_NONE)
        return weir_graph_root(g, subsystem, i);
    return weir_vertex_edge(g, at, subsystem, true, i, &e) ? e.target : WEIR_NONE;
}

/* The child for a step "NAME#N": the N-th of the children of one name. */
static weir_vertex step_to_twin(const weir_graph *g, weir_vertex at, const char *subsystem, const char *step,
                                size_t len)
{
    size_t digits = 0;
    uint64_t n = 0, unit = 1;
    weir_vertex v;

    while (digits < len && digits < 9 && step[len - 1 - digits] >= '0' && step[len - 1 - digits] <= '9') {
        n += unit * (uint64_t)(step[len - 1 - digits] - '0');
        unit *= 10;
        digits++;
    }
    if (digits == 0 || digits == len || step[len - 1 - digits] != '#')
        return WEIR_NONE;
    for (uint32_t i = 0; (v = child_at(g, at, subsystem, i)) != WEIR_NONE; i++)
        if (named(g, v, step, len - 1 - digits) && --n == 0)
            return v;
    return WEIR_NONE;
}

uint32_t weir_vertex_twin(const weir_graph *g, weir_vertex v, const char *subsystem)
{
    char name[WEIR_NAME_MAX + 32];
    size_t len = weir_vertex_name(g, v, name, sizeof name);
    uint32_t n = 1;
    weir_edge e;
    weir_vertex at = weir_vertex_edge(g, v, subsystem, false, 0, &e) ? e.source : WEIR_NONE, kid;

    for (uint32_t i = 0; (kid = child_at(g, at, subsystem, i)) != WEIR_NONE && kid != v; i++)
        n += named(g, kid, name, len);
    return n;
}

/* Sets err to where a path ends to exist: below the vertex of the last step, or at the top. */
static int not_there(const weir_graph *g, const char *subsystem, const char *uri, const char *at, weir_err *err)
{
    const char *path = strchr(uri, '/'), *last = at;
    size_t len = strcspn(at, "/");
    int shown = (int)(len > 100 ? 100 : len);
    weir_vertex root = weir_graph_root(g, subsystem, 0);
    char top[WEIR_NAME_MAX + 32];

    while (last > path && last[-1] == '/')
        last--;
    if (last > path)
        return weir_fail(err, WEIR_ENOENT, "%.300s: there is no '%.*s' below %.*s", uri, shown, at,
                         (int)(last - path > 300 ? 300 : last - path), path);
    if (root == WEIR_NONE)
        return weir_fail(err, WEIR_ENOENT, "%.300s: the subsystem is empty", uri);
    weir_vertex_name(g, root, top, sizeof top);
    return weir_fail(err, WEIR_ENOENT, "%.300s: there is no '%.*s' at the top; there is '%.100s'", uri, shown, at, top);
}

int weir_graph_lookup(const weir_graph *g, const char *uri, weir_vertex *out, weir_err *err)
{
    const char *colon = strchr(uri, ':'), *slash = strchr(uri, '/'), *at = uri;
    char named_first[256];
    const char *subsystem = weir_strtab_text(&g->names, g->subsystems[0]);
    weir_vertex v = WEIR_NONE, next;

    if (colon && (!slash || colon < slash)) {
        if ((size_t)(colon - uri) >= sizeof named_first)
            return weir_fail(err, WEIR_ENOENT, "there is no subsystem with so long a name");
        memcpy(named_first, uri, (size_t)(colon - uri));
        named_first[colon - uri] = '\0';
        subsystem = named_first;
        at = colon + 1;
    }
    if (weir_subsystem_find(g, subsystem) == WEIR_NONE)
        return weir_fail(err, WEIR_ENOENT, "there is no subsystem '%s'", subsystem);
    if (*at != '/')
        return weir_fail(err, WEIR_EINVAL, "'%.200s' is not a URI: subsystem:/path/to/resource or /path/to/resource",
                         uri);
    while (*at) {
        size_t len;
        while (*at == '/')
            at++;
        len = strcspn(at, "/");
        if (len == 0)
            break;
        next = step_down(g, v, subsystem, at, len);
        v = next == WEIR_NONE ? step_to_twin(g, v, subsystem, at, len) : next;
        if (v == WEIR_NONE)
            return not_there(g, subsystem, uri, at, err);
        at += len;
    }
    if (v == WEIR_NONE)
        v = weir_graph_root(g, subsystem, 0);
    if (v == WEIR_NONE)
        return weir_fail(err, WEIR_ENOENT, "%.300s: the subsystem is empty", uri);
    *out = v;
    return WEIR_OK;
}
