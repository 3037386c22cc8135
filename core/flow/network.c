/* network.c - the flow of a network: demands are served by shortest ways, which may move earlier demands.
 *
 * Nodes: the entrance of unit i is node 2i, its exit node 2i + 1, and the vertex served by ends[k] is node 2n + k. A
 * node x precedes a node y where more can pass from x to y:
 *
 *     exit of u      -> entrance of w, or a vertex served    along an arc
 *     entrance of w, or a vertex served -> exit of u         back along an arc, as much as passes the arc
 *     entrance of u  -> exit of u                            the capacity of u, less what passes u
 *     exit of u      -> entrance of u                        as much as passes u
 *
 * Main invariant: the label of a node is at most 1 more than the label of any node that precedes it, and 0 for the
 * entrances of sources; so a label is at most the length of the shortest way from a source. A search for a way leads
 * from the vertex served up to nodes with labels that are lower by 1, and raises labels where there is no such node.
 * Where no node has label k any more, no way leads to nodes with higher labels, now or after further demands: their
 * label becomes FLOW_UNREACHED. A flow along such ways makes no label wrong, and an end of demands restores labels by
 * the log of changes. Vertices served by a single edge have no other way, and count as nodes only while they are
 * served.
 */
#include "flow/network.h"

#include <string.h>

/* ---- the network ---- */

struct flow_network *weir_flow_network_new(const weir_graph *g, const struct flow_layout *l, weir_vertex from,
                                           weir_flow_capacity *capacity, void *context)
{
    struct flow_network *w = weir_mem_zalloc(1, sizeof *w);
    size_t n = (size_t)l->n + 1, narcs = (size_t)l->narcs + 1;

    if (!w)
        return NULL;
    *w = (struct flow_network){.g = g, .l = l, .from = WEIR_NONE, .capacity_of = capacity, .context = context};
    w->units = weir_mem_alloc(n * sizeof *w->units);
    w->arcs_cap = w->arcs_n = l->narcs;
    w->arcs = weir_mem_zalloc(narcs, sizeof *w->arcs);
    w->nodes_cap = w->counts_cap = 2 * l->n;
    w->labels = weir_mem_alloc((2 * n) * sizeof *w->labels);
    w->counts = weir_mem_zalloc(2 * n, sizeof *w->counts);
    if (!w->units || !w->arcs || !w->labels || !w->counts) {
        weir_flow_network_free(w);
        return NULL;
    }
    if (from != WEIR_NONE)
        w->from = weir_map32_get(&l->numbers, from);
    w->one_source = from != WEIR_NONE;
    for (uint32_t i = 0; i < l->n; i++)
        w->units[i] = (struct flow_unit){.capacity = -1, .used = WEIR_NONE, .bound = INT64_MAX};
    for (uint32_t i = 0; i < 2 * l->n; i++) {
        w->labels[i] = !w->one_source ? l->labels[i] : i == 2 * w->from && w->from != WEIR_NONE ? 0 : 1;
        if (w->labels[i] < FLOW_UNREACHED)
            w->counts[w->labels[i]]++;
    }
    return w;
}

void weir_flow_network_free(struct flow_network *w)
{
    if (w) {
        WEIR_FREE(w->units, w->arcs, w->labels, w->counts, w->ends);
        weir_map32_free(&w->end_numbers);
        WEIR_FREE(w->log, w->marks, w->way, w);
    }
}

bool weir_flow_begins(const struct flow_network *w, uint32_t unit)
{
    return w->one_source ? unit == w->from : w->l->source[unit];
}

int64_t weir_flow_unit_capacity(struct flow_network *w, uint32_t unit)
{
    struct flow_unit *u = &w->units[unit];

    if (u->capacity < 0)
        u->capacity = w->capacity_of(w->context, w->l->units[unit]);
    return u->capacity;
}

bool weir_flow_capacities_divide(struct flow_network *w, int64_t step, int64_t most)
{
    for (uint32_t i = 0; i < w->l->n; i++) {
        int64_t capacity = weir_flow_unit_capacity(w, i);
        if (step == 0 || (capacity < most && capacity % step))
            return false;
    }
    return true;
}

uint32_t weir_flow_demands(const struct flow_network *w)
{
    return w->nmarks;
}

uint64_t weir_flow_visits(const struct flow_network *w)
{
    return w->visits;
}

/* ---- changes ---- */

static int log_change(struct flow_network *w, int what, uint32_t at, int64_t value)
{
    return WEIR_ARRAY_ADD(w->log, w->nlog, w->log_cap, (struct flow_change){what, at, value});
}

/* A vertex served is a node that ways lead through while it gets something, and may get it otherwise. */
static bool is_counted(const struct flow_network *w, uint32_t node)
{
    const struct flow_end *e = node < 2 * w->l->n ? NULL : &w->ends[node - 2 * w->l->n];
    return !e || (e->got > 0 && e->narcs > 1);
}

static void count(struct flow_network *w, uint32_t node, int by)
{
    if (is_counted(w, node) && w->labels[node] < w->counts_cap)
        w->counts[w->labels[node]] += (uint32_t)by;
}

static int set_label(struct flow_network *w, uint32_t node, uint32_t label)
{
    if (log_change(w, FLOW_LABEL, node, w->labels[node]))
        return WEIR_ENOMEM;
    count(w, node, -1);
    w->labels[node] = label;
    count(w, node, 1);
    return WEIR_OK;
}

/* Raises the label of a node. Where that leaves a label without nodes, nodes with higher labels are not reached. */
static int raise_label(struct flow_network *w, uint32_t node, uint32_t label)
{
    uint32_t old = w->labels[node], n = 2 * w->l->n + w->nends;
    int rc = set_label(w, node, label);

    if (rc || !is_counted(w, node) || old >= w->counts_cap || w->counts[old] > 0)
        return rc;
    for (uint32_t i = 0; !rc && i < n; i++)
        if (w->labels[i] > old && w->labels[i] < FLOW_UNREACHED)
            rc = set_label(w, i, FLOW_UNREACHED);
    return rc;
}

static int pass_arc(struct flow_network *w, uint32_t arc, int64_t amount)
{
    struct flow_arc *a = &w->arcs[arc];

    if (!a->chained) {
        uint32_t from = arc < w->l->narcs ? w->l->from[arc] : a->from;
        a->chained = true;
        a->next = w->units[from].used;
        w->units[from].used = arc;
    }
    a->flow += amount;
    return log_change(w, FLOW_ARC, arc, amount);
}

static int pass_unit(struct flow_network *w, uint32_t unit, int64_t amount)
{
    w->units[unit].through += amount;
    return log_change(w, FLOW_UNIT, unit, amount);
}

static int give_end(struct flow_network *w, uint32_t end, int64_t amount)
{
    uint32_t node = 2 * w->l->n + end;

    count(w, node, -1);
    w->ends[end].got += amount;
    count(w, node, 1);
    return log_change(w, FLOW_END, end, amount);
}

static void undo(struct flow_network *w, uint32_t nlog)
{
    while (w->nlog > nlog) {
        const struct flow_change c = w->log[--w->nlog];
        uint32_t node = c.what == FLOW_END ? 2 * w->l->n + c.at : c.at;
        switch (c.what) {
        case FLOW_ARC: w->arcs[c.at].flow -= c.value; break;
        case FLOW_UNIT: w->units[c.at].through -= c.value; break;
        case FLOW_END:
            count(w, node, -1);
            w->ends[c.at].got -= c.value;
            count(w, node, 1);
            break;
        default:
            count(w, node, -1);
            w->labels[node] = (uint32_t)c.value;
            count(w, node, 1);
        }
    }
}

/* ---- vertices served ---- */

/* Reserves nodes and labels for one more vertex served. */
static int reserve_end(struct flow_network *w)
{
    uint32_t nodes = 2 * w->l->n + w->nends + 1, had = w->counts_cap;

    if (weir_array_reserve(&w->ends, &w->ends_cap, (size_t)w->nends + 1, sizeof *w->ends) ||
        weir_array_reserve(&w->labels, &w->nodes_cap, nodes, sizeof *w->labels) ||
        weir_array_reserve(&w->counts, &w->counts_cap, (size_t)nodes + 2, sizeof *w->counts))
        return WEIR_ENOMEM;
    memset(w->counts + had, 0, (w->counts_cap - had) * sizeof *w->counts);
    return WEIR_OK;
}

/* The number of a vertex served, with the arcs that enter it. */
static int find_end(struct flow_network *w, weir_vertex v, uint32_t *out)
{
    struct weir_ends above = weir_ends(w->g, v, w->l->subsystem, false);
    uint32_t first = w->arcs_n;

    *out = weir_map32_get(&w->end_numbers, v);
    if (*out != WEIR_NONE)
        return WEIR_OK;
    if (reserve_end(w))
        return WEIR_ENOMEM;
    for (weir_vertex up; (up = weir_ends_next(&above)) != WEIR_NONE; w->arcs_n++) {
        if (weir_array_reserve(&w->arcs, &w->arcs_cap, (size_t)w->arcs_n + 1, sizeof *w->arcs))
            return WEIR_ENOMEM;
        w->arcs[w->arcs_n] =
            (struct flow_arc){.from = weir_map32_get(&w->l->numbers, up), .to = 2 * w->l->n + w->nends};
    }
    if (weir_map32_add(&w->end_numbers, v, w->nends))
        return WEIR_ENOMEM;
    w->ends[w->nends] = (struct flow_end){v, first, w->arcs_n - first, 0};
    w->labels[2 * w->l->n + w->nends] = 0;
    *out = w->nends++;
    return WEIR_OK;
}

/* ---- ways ---- */

/* Nodes that precede a node: an iterator. */
struct before {
    uint32_t node, stage, arc, end;
    struct flow_step step; /* the current one; its residual is above 0 */
};

static uint32_t arc_node(const struct flow_network *w, uint32_t arc)
{
    return arc < w->l->narcs ? 2 * w->l->to[arc] : w->arcs[arc].to;
}

static struct before precede(const struct flow_network *w, uint32_t node)
{
    struct before b = {.node = node, .arc = WEIR_NONE};
    const struct flow_layout *l = w->l;

    if (node >= 2 * l->n) {
        b.arc = w->ends[node - 2 * l->n].first;
        b.end = b.arc + w->ends[node - 2 * l->n].narcs;
    } else if (node % 2 == 0) {
        b.arc = l->entering[node / 2];
        b.end = l->entering[node / 2 + 1];
    }
    return b;
}

/* Ways into an entrance, or into a vertex served. */
static bool before_entrance(struct flow_network *w, struct before *b)
{
    uint32_t unit = b->node / 2;

    if (b->arc < b->end) {
        uint32_t from = b->arc < w->l->narcs ? w->l->from[b->arc] : w->arcs[b->arc].from;
        b->step = (struct flow_step){2 * from + 1, b->arc++, FLOW_ALONG, INT64_MAX};
        return true;
    }
    if (b->stage++ || b->node >= 2 * w->l->n || w->units[unit].through == 0)
        return false;
    b->step = (struct flow_step){b->node + 1, unit, FLOW_OUT_OF, w->units[unit].through};
    return true;
}

/* Ways into an exit. */
static bool before_exit(struct flow_network *w, struct before *b)
{
    uint32_t unit = b->node / 2;

    if (b->stage == 0) {
        int64_t residual = weir_flow_unit_capacity(w, unit) - w->units[unit].through;
        b->stage = 1;
        b->arc = w->units[unit].used;
        if (residual > 0) {
            b->step = (struct flow_step){b->node - 1, unit, FLOW_THROUGH, residual};
            return true;
        }
    }
    while (b->arc != WEIR_NONE) {
        uint32_t arc = b->arc;
        b->arc = w->arcs[arc].next;
        if (w->arcs[arc].flow > 0 && is_counted(w, arc_node(w, arc))) {
            b->step = (struct flow_step){arc_node(w, arc), arc, FLOW_BACK, w->arcs[arc].flow};
            return true;
        }
    }
    return false;
}

static bool next_before(struct flow_network *w, struct before *b)
{
    w->visits++;
    return b->node < 2 * w->l->n && b->node % 2 ? before_exit(w, b) : before_entrance(w, b);
}

static int add_step(struct flow_network *w, const struct flow_step *s)
{
    return WEIR_ARRAY_ADD(w->way, w->nway, w->way_cap, *s);
}

/* Takes one step up from a node, or raises its label and steps back. Returns 1, 0 when the start is not reached, or
 * negative. */
static int step_up(struct flow_network *w, uint32_t node)
{
    struct before b = precede(w, node);
    uint32_t label = FLOW_UNREACHED;

    while (next_before(w, &b)) {
        uint32_t above = w->labels[b.step.node];
        if (above >= FLOW_UNREACHED)
            continue;
        if (above + 1 == w->labels[node])
            return add_step(w, &b.step) ? WEIR_ENOMEM : 1;
        if (above + 1 < label)
            label = above + 1;
    }
    if (raise_label(w, node, label))
        return WEIR_ENOMEM;
    if (w->nway == 0)
        return label < FLOW_UNREACHED;
    w->nway--;
    return 1;
}

/* Finds a way from a source to a vertex served. Returns 1 with the steps in w->way, the last at a source; 0: there is
 * none; or negative. */
static int find_way(struct flow_network *w, uint32_t end)
{
    uint32_t start = 2 * w->l->n + end;
    int rc = 1;

    w->nway = 0;
    while (rc == 1) {
        uint32_t node = w->nway ? w->way[w->nway - 1].node : start;
        if (node < 2 * w->l->n && node % 2 == 0 && weir_flow_begins(w, node / 2))
            return 1;
        rc = step_up(w, node);
    }
    return rc;
}

/* The most that the way found can pass, at most `want`. */
static int64_t way_residual(const struct flow_network *w, int64_t want)
{
    for (uint32_t i = 0; i < w->nway; i++)
        if (w->way[i].residual < want)
            want = w->way[i].residual;
    return want;
}

static int pass_way(struct flow_network *w, uint32_t end, int64_t amount)
{
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < w->nway; i++) {
        const struct flow_step *s = &w->way[i];
        switch (s->kind) {
        case FLOW_ALONG: rc = pass_arc(w, s->at, amount); break;
        case FLOW_BACK: rc = pass_arc(w, s->at, -amount); break;
        case FLOW_THROUGH: rc = pass_unit(w, s->at, amount); break;
        default: rc = pass_unit(w, s->at, -amount);
        }
    }
    return rc ? rc : give_end(w, end, amount);
}

/* A label for a vertex served: 1 above the least of the nodes before it. Returns 1, 0 where none of them is reached, or
 * negative. */
static int label_end(struct flow_network *w, uint32_t end)
{
    uint32_t node = 2 * w->l->n + end, label = FLOW_UNREACHED;
    struct before b = precede(w, node);

    while (next_before(w, &b))
        if (w->labels[b.step.node] + 1 < label)
            label = w->labels[b.step.node] + 1;
    if (label == FLOW_UNREACHED || w->labels[node] >= FLOW_UNREACHED)
        return 0;
    return w->labels[node] >= label || raise_label(w, node, label) == WEIR_OK ? 1 : WEIR_ENOMEM;
}

/* Whether a way no longer than the labels require carries the whole demand: a search without any raise of
 * labels and without ways back, of at most `most` steps. Returns 1 with the way, 0: such a way was not found; or
 * negative. */
static int find_whole_way(struct flow_network *w, uint32_t node, int64_t want, uint32_t *most)
{
    struct before b = precede(w, node);

    if (node < 2 * w->l->n && node % 2 == 0 && weir_flow_begins(w, node / 2))
        return 1;
    while (w->labels[node]<FLOW_UNREACHED && * most> 0 && next_before(w, &b)) {
        uint32_t nway = w->nway;
        int rc;
        if (b.step.kind == FLOW_BACK || b.step.kind == FLOW_OUT_OF)
            return 0;
        if (b.step.residual < want || w->labels[b.step.node] + 1 != w->labels[node])
            continue;
        --*most;
        if (add_step(w, &b.step))
            return WEIR_ENOMEM;
        rc = find_whole_way(w, b.step.node, want, most);
        if (rc)
            return rc;
        w->nway = nway;
    }
    return 0;
}

/* ---- demands ---- */

enum { WHOLE_STEPS = 64 };

/* Serves as much of `want` as there is. Returns the amount, or negative. */
static int64_t serve(struct flow_network *w, uint32_t end, int64_t want)
{
    uint32_t most = WHOLE_STEPS;
    int64_t left = want;
    int rc = label_end(w, end);

    if (rc == 1 && want < INT64_MAX) {
        w->nway = 0;
        rc = find_whole_way(w, 2 * w->l->n + end, want, &most);
        if (rc == 1)
            return pass_way(w, end, want) ? WEIR_ENOMEM : want;
        rc = rc < 0 ? rc : 1;
    }
    while (rc == 1 && left > 0) {
        rc = find_way(w, end);
        if (rc == 1) {
            int64_t amount = way_residual(w, left);
            left -= amount;
            rc = pass_way(w, end, amount) ? WEIR_ENOMEM : 1;
        }
    }
    return rc < 0 ? rc : want - left;
}

/* What v can get at most judged by earlier refusals. */
static int64_t known_bound(const struct flow_network *w, uint32_t end)
{
    const struct flow_end *e = &w->ends[end];
    int64_t sum = 0;

    for (uint32_t a = e->first; a < e->first + e->narcs; a++) {
        int64_t bound = w->units[w->arcs[a].from].bound;
        if (bound == INT64_MAX)
            return INT64_MAX;
        sum = sum > INT64_MAX - bound ? INT64_MAX : sum + bound;
    }
    return sum;
}

/* Notes that no vertex whose nodes above are not reached can get more than `got`, in addition to the demands so far. */
static void note_bounds(struct flow_network *w, int64_t got)
{
    for (uint32_t i = 0; i < w->l->n; i++)
        if (w->labels[2 * i + 1] >= FLOW_UNREACHED && got < w->units[i].bound)
            w->units[i].bound = got;
    w->bounds_at = w->nmarks;
    w->bounded = true;
}

static void forget_bounds(struct flow_network *w)
{
    for (uint32_t i = 0; w->bounded && i < w->l->n; i++)
        w->units[i].bound = INT64_MAX;
    w->bounded = false;
}

/* Serves all demands from scratch. Returns 1; 0: the capacities do not allow that; or negative. */
static int serve_again(struct flow_network *w)
{
    int64_t got = 0;

    undo(w, 0);
    forget_bounds(w);
    w->raised = false;
    for (uint32_t i = 0; i < w->nmarks; i++) {
        w->marks[i].nlog = w->nlog;
        got = serve(w, w->marks[i].end, w->marks[i].units);
        if (got != w->marks[i].units)
            return got < 0 ? WEIR_ENOMEM : 0;
    }
    return 1;
}

int weir_flow_settle(struct flow_network *w)
{
    return w->raised ? serve_again(w) : 1;
}

int weir_flow_serve(struct flow_network *w, weir_vertex v, int64_t want, bool part, int64_t *got)
{
    uint32_t end, nlog;
    int64_t bound, had;

    *got = 0;
    if (weir_flow_settle(w) < 0)
        return WEIR_ENOMEM;
    nlog = w->nlog;
    if (weir_array_reserve(&w->marks, &w->marks_cap, (size_t)w->nmarks + 1, sizeof *w->marks) || find_end(w, v, &end))
        return WEIR_ENOMEM;
    bound = known_bound(w, end);
    if (bound < want && !part) {
        *got = bound;
        return WEIR_OK;
    }
    had = serve(w, end, want);
    if (had < 0)
        return WEIR_ENOMEM;
    *got = had;
    if (had == want || part) {
        w->marks[w->nmarks++] = (struct flow_mark){nlog, end, had};
        return WEIR_OK;
    }
    note_bounds(w, had);
    if (had > 0)
        undo(w, nlog);
    return WEIR_OK;
}

void weir_flow_drop(struct flow_network *w, uint32_t n)
{
    if (n >= w->nmarks)
        return;
    undo(w, w->marks[n].nlog);
    w->nmarks = n;
    if (n < w->bounds_at)
        forget_bounds(w);
}

int64_t weir_flow_through(struct flow_network *w, weir_vertex v)
{
    uint32_t unit = weir_map32_get(&w->l->numbers, v);

    if (unit == WEIR_NONE)
        return 0;
    return weir_flow_settle(w) < 0 ? WEIR_ENOMEM : w->units[unit].through;
}

/* ---- units taken otherwise ---- */

int weir_flow_reserve(struct flow_network *w, weir_vertex v, int64_t amount, bool *fits)
{
    uint32_t unit = weir_map32_get(&w->l->numbers, v);
    int64_t capacity = weir_flow_unit_capacity(w, unit);
    int rc = weir_flow_settle(w);

    *fits = amount <= capacity;
    if (rc < 0 || !*fits)
        return rc < 0 ? WEIR_ENOMEM : WEIR_OK;
    w->units[unit].capacity -= amount;
    rc = w->units[unit].through <= w->units[unit].capacity ? 1 : serve_again(w);
    *fits = rc == 1;
    if (rc == 0)
        weir_flow_give_back(w, v, amount);
    return rc < 0 ? WEIR_ENOMEM : WEIR_OK;
}

void weir_flow_give_back(struct flow_network *w, weir_vertex v, int64_t amount)
{
    w->units[weir_map32_get(&w->l->numbers, v)].capacity += amount;
    w->raised = true;
}

int weir_flow_spare(struct flow_network *w, weir_vertex v, int64_t want, bool move, int64_t *got)
{
    uint32_t unit = weir_map32_get(&w->l->numbers, v);
    int64_t most = weir_flow_unit_capacity(w, unit), least;

    if (weir_flow_settle(w) < 0)
        return WEIR_ENOMEM;
    least = most - w->units[unit].through;
    most = want < most ? want : most;
    if (!move && least < most)
        most = least;
    while (least < most) {
        int64_t middle = least + (most - least + 1) / 2;
        bool fits;
        if (weir_flow_reserve(w, v, middle, &fits))
            return WEIR_ENOMEM;
        if (fits) {
            weir_flow_give_back(w, v, middle);
            least = middle;
        } else {
            most = middle - 1;
        }
    }
    *got = most;
    return WEIR_OK;
}
