/* match.h - declarations shared by the files of the matcher. Private to the core.
 *
 * Three folders, of which each calls only itself and those below:
 *
 *   core/match             the modes of a match, and what is tried one after another
 *     match.c              modes, reservations, commit
 *     alternatives.c       requests with xor_slots
 *     in_hierarchy.c, assign.c  matches in another hierarchy than containment; vertices with several parents
 *     earliest_start.c     the earliest start of a reservation
 *     attempt.c            an attempt at one start; counts.c: with the largest counts that fit
 *     flow_choice.c        vertices for which one flow exists, by a flow over all candidates; flow_search.c: by trial
 *     whole.c              matches that give a type as a whole
 *   core/match/place       the recursion: the contents of a request, below a vertex (place/place.h)
 *   core/match/candidate   the queries of the recursion about vertices
 *     search.c             the candidates of a type, best first; frontier.c, nogood_learn.c, free_list.c
 *     candidate.c          the units that one vertex can give for one resource
 *     bulk.c               many whole vertices at once
 *     choose*.c            choices of the engine for a policy
 *     slot_host.c          the vertices that may contain a slot; group_hosts.c: by the free units of their groups
 *     competing_*.c        siblings that compete for the same vertices (competing.h)
 *     flow*.c              units on the ways to the sources of another subsystem (flow_state.h)
 *     constraint_filter.c  the nodes that a constraint allows
 *     context.c            the listener, the scores of the policy, the indexes
 *
 * Functions that place something return 1 (placed, picks added), 0 (does not fit, picks as before) or a negative
 * status.
 */
#ifndef WEIR_MATCH_H
#define WEIR_MATCH_H

#include "graph/graph.h"
#include "index/rank_order.h"
#include "request/request.h"
#include "time/earliest_fit.h"
#include "match/candidate/search.h"

#define WEIR_NO_END    INT64_MIN
#define RESOURCE_CACHE 32 /* resources of a request with cached facts */
#define TYPE_CACHE     16 /* names of types with cached types */
#define FILTER_AFTER   8  /* nodes refused by a constraint before all allowed nodes are computed */

/* The vertices that count as available while a request is placed. */
enum match_view {
    VIEW_NOW,      /* free at the time of the clock and all over the window */
    VIEW_RESERVED, /* free all over a window that starts later */
    VIEW_CAPACITY, /* below a vertex that is free as a whole: all vertices that are up */
    VIEW_ALL       /* feasibility: all vertices */
};

/* The input of a match. Nothing of it changes during the match, but that `request` is bound when it begins. */
struct question {
    const weir_request *original; /* the request as given */
    const weir_request *request;  /* the request with amounts in the units of the graph */
    const weir_policy *policy;    /* never NULL */
    struct whole_policy
        *whole; /* the policy with o->whole among the exclusive types, in place of the caller's; or NULL */
    const weir_match_options *options; /* never NULL */
    const struct job *growing;         /* the job to grow; NULL: the request is for a new job */
    weir_type node_type;               /* the subject of constraints, and the host of slots */
    /* "storage_node" where there is a constraint, whose subject it is, too; a graph with such vertices gets no
     * constraint filter */
    weir_type store_type;
    /* the subsystem whose edges lead to nested resources (options->follow); WEIR_NONE: no edges do */
    uint32_t links;
};

/* The interval for which resources are sought, in an attempt; and what attempts at earlier starts have shown. */
struct window {
    int64_t t0, t1;
    int64_t duration;
    int64_t end;          /* of the interval where the duration does not say; WEIR_NO_END: the duration says */
    int64_t latest;       /* latest start from which the resources are valid to the end; weir_match_latest() */
    int64_t tried;        /* the latest start considered for a reservation */
    uint32_t undecided;   /* starts for which a search that was cut off left open whether the request fits */
    int64_t undecided_at; /* the first of them */
};

/* What a step of the recursion changes, and what has to be as before when the step ends: scope_mark() before the
 * changes, scope_leave(), scope_undo() or scope_end() behind them. No function restores a field of it by itself. */
struct scope {
    enum match_view view;
    uint32_t npicks; /* picks so far; those of steps that were undone are dropped by this number alone */
    /* number of the first pick that conflicts with resources placed now; WEIR_NONE: none does */
    uint32_t conflicts_from;
    bool minimum; /* counts with a range take their minimum */
    /* only whether a resource fits matters: the picks are given back, so any of several equivalent ones serves */
    bool probing;
};

/* Facts about a pick while a request is placed. */
struct pick_detail {
    weir_vertex endpoint; /* the vertex served by units of a flow; WEIR_NONE for all other picks */
    uint32_t slots;       /* slots that were complete with this pick */
    uint32_t flow;        /* stamp of the demand that the pick represents (flow_state.h); 0: none */
    uint32_t waiting;     /* number + 1 of the waiting resource that the pick represents (flow_state.h); 0: none */
    bool nested;          /* the pick is below a vertex taken as a whole, and enters no schedule */
};

/* What an attempt has placed so far: the first scope.npicks picks, and the flows that go with them. */
struct progress {
    weir_pick *picks;
    uint32_t picks_cap;
    struct pick_detail *details; /* by pick */
    uint32_t details_cap;
    bool shared;             /* one vertex may have several picks, which are merged at the end */
    struct flow_state *flow; /* of the attempt; NULL until a request has a flow */
};

/* Cached facts about a resource of the request. */
struct resource_facts {
    enum { NOT_ASKED, BY_AGGREGATES, BY_SEARCH } decided; /* of weir_candidate_by_aggregates() */
};

/* What was found out once, and holds for the whole match, or for the window: everything here could be found out again.
 */
struct knowledge {
    /* about the window (earliest_start.c) */
    struct occupancy *occupancy; /* vertices of one type held in the window; NULL: none is kept */
    uint64_t occupancy_need;     /* vertices of the type of `occupancy` needed by the request, at least */
    uint32_t occupancy_askers;   /* resources of the request that have this type */
    bool masked;                 /* occupancy->busy is about the window that is searched */
    /* represents the whole request: occupancy->busy also has hosts too full for it; no needs: it does not apply */
    struct fit_request fits;

    /* about the constraint (constraint_filter.c) */
    struct node_table *node_table; /* set with `allowed` */
    weir_idset *allowed; /* nodes allowed by the constraint, by number in the node table; NULL: not computed yet */

    /* about the request and the policy */
    struct order *order;                         /* of the policy; NULL until the first index is sought */
    struct divided_slot *divided;                /* slots with a part outside nodes (slot_host.c) */
    struct resource_facts facts[RESOURCE_CACHE]; /* by resource */
    struct {
        const char *name;
        weir_type type;
    } types[TYPE_CACHE]; /* of names by their address: names of the request and the policy stay during a match */
    uint32_t ntypes;
};

/* What a match gives in addition to the picks. */
struct match_result {
    struct {
        weir_pick *list;
        uint32_t n, cap;
    } nested;               /* picks of nested resources, where the caller requests them */
    struct flow_use *flows; /* by pick of a flow: the vertex to be served; filled when picks are merged */
    uint32_t nflows;
    weir_stats stats;
};

struct match {
    weir_graph *g;
    weir_err *err;
    struct question ask;
    struct window window;
    struct scope scope;
    struct progress progress;
    struct knowledge known;
    struct match_result result;
};

/* Whether scores decide between candidates: by `evaluate`, or by the free units in a candidate's group. */
static inline bool match_scored(const struct match *m)
{
    const weir_policy *p = m->ask.policy;
    return p->evaluate || (p->choice && p->choice->emptiest);
}

/* Whether the policy has a `select` or a choice. */
static inline bool match_chooses(const struct match *m)
{
    return m->ask.policy->select || m->ask.policy->choice;
}

/* Whether known.fits applies to the occupancy. */
static inline bool match_has_fits(const struct match *m)
{
    return m->known.fits.n > 0;
}

/* ---- scopes ---- */

/* Begins a step: returns what to go back to. */
static inline struct scope scope_mark(const struct match *m)
{
    return m->scope;
}

/* Ends a step with its picks. */
static inline void scope_leave(struct match *m, const struct scope *mark)
{
    uint32_t npicks = m->scope.npicks;
    m->scope = *mark;
    m->scope.npicks = npicks;
}

/* Ends a step without its picks. */
static inline void scope_undo(struct match *m, const struct scope *mark)
{
    m->scope = *mark;
}

/* Ends a step with its picks where rc, its result, is 1, else without. Returns rc. */
static inline int scope_end(struct match *m, const struct scope *mark, int rc)
{
    if (rc == 1)
        scope_leave(m, mark);
    else
        scope_undo(m, mark);
    return rc;
}

/* From here on picks conflict with what is placed, unless earlier ones do already: both may take parts of one pool. */
static inline void scope_conflict(struct match *m)
{
    if (m->scope.conflicts_from == WEIR_NONE)
        m->scope.conflicts_from = m->scope.npicks;
}

/* The type of a name that the request or the policy has; WEIR_NO_TYPE: the graph has no such type. */
static inline weir_type weir_match_type_named(struct match *m, const char *name)
{
    uint32_t i = 0;

    while (i < m->known.ntypes && m->known.types[i].name != name)
        i++;
    if (i == TYPE_CACHE)
        return weir_type_find(m->g, name);
    if (i == m->known.ntypes) {
        m->known.types[i].name = name;
        m->known.types[m->known.ntypes++].type = weir_type_find(m->g, name);
    }
    return m->known.types[i].type;
}

/* The type of a resource of the request; WEIR_NO_TYPE: the graph has no such type. */
static inline weir_type weir_match_type(struct match *m, const weir_resource *r)
{
    return weir_match_type_named(m, r->type);
}

/* Sets *out to the index of a type in the order of the policy, or (not `ordered`) of no order; made where missing.
 * `by`: NULL, or scores that decide first. */
int weir_match_index(struct match *m, bool ordered, const struct order_scores *by, weir_type t, enum index_mode mode,
                     struct index **out);
/* Calls the policy's `prune` for v, or remembers the answer. Returns 1 to go on, 0 or negative. */
int weir_match_prune(struct match *m, const weir_resource *r, weir_vertex v);
/* As weir_match_rank(), for a policy without scores whose `prune` is remembered: what it leaves out comes last. */
int weir_match_rank_kept(struct match *m, weir_vertex under, const weir_resource *r, weir_type t,
                         struct order_scores *by);
/* Brings the scores of all vertices of a type for r up to date, so that a search below `under` may follow the scores.
 * Sets by->memory to NULL where the policy must be called for each candidate. Returns
 * WEIR_OK or negative. */
int weir_match_rank(struct match *m, weir_vertex under, const weir_resource *r, weir_type t, struct order_scores *by);
/* Places the whole request in a view, with a window that starts at t0: one resource after another, and where flows need
 * it with other choices of vertices. Returns 1, 0 or negative. */
int weir_match_place(struct match *m, enum match_view view, int64_t t0);
/* The same with the counts that the request gets: see "Meaning of a request" in weir.h. Returns 1, 0 or negative. */
int weir_match_attempt(struct match *m, enum match_view view, int64_t t0);
/* Called once the request fits in a view: places it again with the largest counts with which it fits, the same for each
 * instance of a resource. O(attempts), of which each varying count takes up to twice the logarithm of its range.
 * Returns 1 or negative. */
int weir_match_settle_counts(struct match *m, enum match_view view, int64_t t0);
/* Whether the request could ever be met. Returns 1, WEIR_EINFEASIBLE or another negative status. */
int weir_match_feasible(struct match *m, int64_t at);
/* Whether the request may fit at `start`, as far as an occupancy that is kept shows. Returns 1, 0 or negative. */
int weir_match_bound_ok(struct match *m, int64_t start);
/* Places the request at the earliest possible time after t. Returns 1 with *start set, 0 if no time will do, or
 * negative. */
int weir_match_reserve(struct match *m, int64_t t, int64_t *start);
/* Notes that a search at `start` was cut off (rc is WEIR_ELIMIT), so that later starts may be tried. Returns 0; or rc,
 * where it is another failure, or too many starts are undecided. */
int weir_match_undecided(struct match *m, int rc, int64_t start);
/* How to let flows be searched longer, for the end of a message; empty where the match has no flow. */
static inline const char *weir_flow_hint(const struct match *m)
{
    return m->progress.flow ? " (WEIR_FLOW_STEPS=N in the environment allows more steps)" : "";
}
/* The latest start of a job that ends while the resources are valid; WEIR_FOREVER: any. May be negative. */
int64_t weir_match_latest(const struct match *m);
/* Sets *start to the earliest time from t on at which the usage totals of all jobs leave enough; WEIR_FOREVER:
 * never. */
int weir_match_start_bound(struct match *m, int64_t t, int64_t *start);

/* The resource of a slot that decides between hosts: the first that is neither the units of a flow nor direct; else
 * the first direct one; the first of all, where all are units of flows. */
const weir_resource *weir_slot_first(const struct match *m, const weir_resource *slot);
/* The type of host for slots below `under`: node, the type of the policy's locality, or SEARCH_PARENT. WEIR_NO_TYPE:
 * slots may be anywhere. */
weir_type weir_slot_host(struct match *m, weir_vertex under, const weir_resource *slot);
/* A slot that holds something inside nodes and something outside: two slots in place of it, each with the least count.
 * Their index is RESOURCE_NONE; they live as long as the match. */
struct divided_slot {
    struct divided_slot *next;
    const weir_resource *slot;
    weir_resource inside, outside;
    weir_resource with[]; /* the children of both, in this order */
};
/* Sets *out to the two parts of a slot below `under`; to NULL where the slot is not divided. WEIR_OK or WEIR_ENOMEM. */
int weir_slot_divide(struct match *m, weir_vertex under, const weir_resource *slot, const struct divided_slot **out);
void weir_slots_undivide(struct match *m); /* frees all */
/* Whether v has children of all types of a slot, except units of flows. O(children of v) */
bool weir_slot_is_parent(struct match *m, weir_vertex v, const weir_resource *slot);
/* Whether the resources of a slot must be children of its host (WEIR_STRICT_SLOTS). */
bool weir_slot_children_only(const struct match *m, const weir_resource *slot);
/* Whether no two slots may have parts of the same pool (WEIR_STRICT_POOLS), so that slots are placed one by one. */
bool weir_slot_whole_pools(struct match *m, const weir_resource *slot);
/* Chooses `max` of n candidates, as a policy's `choice` says. Writes positions in v to `chosen`, best first, and
 * returns the number of positions: `max`, or less for WEIR_CHOOSE_ONE; or negative. O(n log n) */
int64_t weir_choose_listed(struct match *m, const weir_resource *r, const weir_vertex *v, uint32_t n, uint32_t min,
                           uint32_t max, uint32_t *chosen);
/* Chooses vertices for r below `under`, as weir_choose_listed() would from all candidates. Returns 1 with *n vertices
 * in *chosen, best first, to be freed; 0: a list of the candidates is needed; or negative. */
int weir_choose_indexed(struct match *m, weir_vertex under, const weir_resource *r, int64_t want, weir_vertex **chosen,
                        uint32_t *n);
/* Whether a choice of the policy, or its `select`, rather than the order, decides between `want` candidates for r below
 * `under`. */
bool weir_choice_matters(const struct match *m, weir_vertex under, const weir_resource *r, int64_t want);
/* As weir_choose_listed(), for WEIR_CHOOSE_BESIDE (choose_beside.c). */
int64_t weir_choose_beside(struct match *m, const weir_resource *r, const weir_vertex *v, uint32_t n, uint32_t max,
                           uint32_t *chosen);
/* Whether r is a resource adjacent to others, for WEIR_CHOOSE_BESIDE. */
bool weir_choice_besides(const weir_resource *r);
/* Calls the policy for scores of vertices that fit; NAN: the policy does not want the vertex. */
int weir_match_scores(struct match *m, const weir_resource *r, const weir_vertex *v, size_t n, double *score);
/* Whether some resources of a list compete for the same vertices. */
bool weir_siblings_compete(struct match *m, const weir_resource *list, uint32_t n);
/* Whether a list requests several vertices of a type that is nested in itself: the first vertex taken may enclose two
 * that serve. */
bool weir_siblings_nest(struct match *m, const weir_resource *list, uint32_t n, int64_t times);

/* Takes `want` whole vertices for r without a search for each. Returns 1 with the picks added; 0, no pick added: a
 * search must decide; or negative. */
int weir_bulk_take(struct match *m, weir_vertex under, const weir_resource *r, int64_t want);

/* Computes m->known.allowed, the nodes allowed by the constraint, if any; WEIR_ENOMEM. The functions
 * weir_filter_matters(), weir_filter_excludes_row() and weir_filter_excludes() need m->known.allowed. */
int weir_filter_prepare(struct match *m);
/* Whether the filter can exclude anything for a search: the candidates, or some need, are only found in nodes. */
bool weir_filter_matters(const struct search *s);
/* Whether a row holds nodes, but no allowed node. */
bool weir_filter_excludes_row(const struct match *m, const struct inner *in, uint32_t row);
/* Whether v is a forbidden node, or holds nodes, but no allowed node. */
bool weir_filter_excludes(const struct match *m, weir_vertex v);
/* Whether the constraint allows all nodes below v, a vertex to be taken as a whole. Returns 1, 0 or negative. */
int weir_filter_allows_whole(struct match *m, weir_vertex v);

/* Whether v is only ever given as a whole, by its kind or by the policy. */
bool weir_candidate_whole(const struct match *m, weir_vertex v);
/* Whether v serves r only by resources below v. */
bool weir_candidate_passes(const struct match *m, weir_vertex v, const weir_resource *r);
/* Whether v, which serves r by resources below, may do so in addition to the conflicting picks. */
bool weir_candidate_enter(const struct match *m, weir_vertex v, const weir_resource *r);
/* Whether aggregates alone decide if a vertex taken as a whole holds the resources nested in r. */
bool weir_candidate_by_aggregates(struct match *m, const weir_resource *r);
/* Whether v can give r some of its units only. */
bool weir_candidate_divisible(const struct match *m, weir_vertex v, const weir_resource *r);
/* Whether only vertices without any user can serve r. */
bool weir_candidate_idle(struct match *m, const weir_resource *r);
/* Whether no job has any part of v, or of vertices below v, in the window. */
bool weir_candidate_unused(const struct match *m, weir_vertex v);
/* Units that v, a divisible pool, has left; negative: conflicting picks have all of v. O(conflicting picks) */
int64_t weir_candidate_units_left(const struct match *m, weir_vertex v);
/* Whether v, as a whole, is free for r, what is nested in r not considered. Returns 1, 0 or negative. */
int weir_candidate_fits_whole(struct match *m, weir_vertex v, const weir_resource *r);
/* Takes at most `want` units of v for r, as if v held what is nested in r. Returns the units taken, picks added; 0: v
 * does not fit; or negative. */
int64_t weir_candidate_take(struct match *m, weir_vertex v, const weir_resource *r, int64_t want);

/* The subsystem of the units that a resource of the given name requests; WEIR_NONE: the name is a type of vertices. */
uint32_t weir_flow_find(const weir_graph *g, const char *name);
/* What may get to vertices in a subsystem now, at most; NULL: not known for the window, or a listener wants to hear of
 * each vertex without a flow. */
const struct flow_reach *weir_flow_reach_known(const struct match *m, uint32_t subsystem);
/* How many times, up to `most`, the flow to `under` could give the least count of r in addition to the demands so far;
 * `most` where no flow enters. Returns the number or negative. */
int64_t weir_flow_bound(struct match *m, weir_vertex under, uint32_t subsystem, const weir_resource *r, int64_t most);
/* The most units of a subsystem, in the unit of r, that a flow could give `under` in addition to the demands so far; 0
 * where no flow enters. Or negative. */
int64_t weir_flow_units(struct match *m, weir_vertex under, uint32_t subsystem, const weir_resource *r);
/* Takes `times` times the units of r on the ways to `under` (RFC 4): one pick that represents the demand. Returns 1, 0
 * or negative. */
int weir_flow_allocate(struct match *m, weir_vertex under, uint32_t subsystem, const weir_resource *r, int64_t times);
/* Takes the units of all resources of a list, and of its slots, named after subsystems. Returns 1, 0 or negative. */
int weir_flows_allocate(struct match *m, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times);

/* Finds the direct resources of the request: those whose type is that of distribution units that flows of the request
 * pass through. WEIR_ENOMEM. O(resources x units) once a match */
int weir_direct_prepare(struct match *m);
/* Whether r is a direct resource, in a match with flows. */
bool weir_direct_listed(const struct match *m, const weir_resource *r);
/* Whether r is a direct resource; whether r or a resource nested in r is. */
static inline bool weir_direct_is(const struct match *m, const weir_resource *r)
{
    return m->progress.flow && weir_direct_listed(m, r);
}
bool weir_direct_within(const struct match *m, const weir_resource *r);
/* The most units of v, at most `want`, that leave enough for the flows of the match; or negative. */
int64_t weir_direct_spare(struct match *m, weir_vertex v, int64_t want);
/* The fewest units of a type that the request takes directly; 0 where that is not known. */
int64_t weir_direct_needed(struct match *m, weir_type t);
/* Makes `times` times the units of a direct resource below `under` wait until all flows are there. Returns 1, 0: more
 * may not wait there; or negative. */
int weir_direct_wait(struct match *m, weir_vertex under, const weir_resource *r, int64_t times);
/* Places the direct resources that wait, in any way that serves all. Returns 1, 0 or negative. */
int weir_direct_place(struct match *m);

/* Whether the sources have as much left as the request needs. Returns 1, 0 or negative. */
int weir_flow_enough(struct match *m);
/* Replaces the picks of demands by picks of the distribution units. Returns 1, 0 or negative. */
int weir_flow_place(struct match *m);
/* Drops the demands and networks of an attempt; of the match. */
void weir_flow_reset(struct match *m);
void weir_flow_end(struct match *m);
/* Chooses vertices by one flow over all candidates, and places the request on them. Returns 1; 0: there are none;
 * WEIR_ENOENT: that is not known; or another negative status. */
int weir_flow_choice(struct match *m, enum match_view view, int64_t t0);
/* After an attempt without success: tries choices of vertices that share flows. Returns 1, 0 or negative. */
int weir_flow_search(struct match *m, enum match_view view, int64_t t0);

/* Whether v has the unit of r; true where v or r names no unit. */
bool weir_candidate_unit(const struct match *m, weir_vertex v, const weir_resource *r);
/* Records n slots as served by the picks from number `from` on. */
void weir_pick_slots(struct match *m, uint32_t from, int64_t n);
/* Adds a pick. WEIR_ENOMEM. */
int weir_pick_add(struct match *m, weir_vertex v, const weir_resource *r, int64_t amount, bool exclusive);
/* Fails a match because a hook of the policy failed. Returns WEIR_EPOLICY; an error set by the hook is kept. */
int weir_match_policy_failed(struct match *m, const char *hook);

/* Makes the policy of the match give o->whole as a whole. WEIR_ENOENT: no such type. */
int weir_match_whole(struct match *m) WEIR_CHECKED;
/* Replaces picks of vertices given as a whole for o->whole by the parts that are up. WEIR_ENOMEM */
int weir_match_trim(struct match *m) WEIR_CHECKED;
/* WEIR_EINVAL and others: the graph or the options do not allow a match. */
int weir_match_check(const weir_graph *g, const weir_match_options *o, weir_err *err);
/* Makes a job, or with o->stage a stage, of what was found for r: picks, flows, slots, start and end of `found` count,
 * and are copied. Notifies the policy before. */
int weir_match_book(weir_graph *g, const weir_request *r, const weir_match_options *o, const weir_policy *p,
                    struct job *found, const weir_allocation **out, weir_err *err) WEIR_CHECKED;
/* Notifies the policy of picks that job a is to get. Returns a status. */
int weir_match_tell_grown(const weir_policy *p, weir_graph *g, const weir_allocation *a, const weir_pick *picks,
                          uint32_t n, weir_err *err);
/* weir_match() and weir_job_grow() in the tree of g, ignoring o->subsystem (in_hierarchy.c). */
int weir_match_here(weir_graph *g, const weir_request *r, const weir_match_options *o, const weir_allocation **out,
                    weir_err *err) WEIR_CHECKED;
int weir_grow_here(weir_graph *g, int64_t job, const weir_request *r, const weir_match_options *o,
                   const weir_allocation **out, weir_err *err) WEIR_CHECKED;

/* As weir_match_here(), but *start is set to the start found, and nothing is booked. */
int weir_match_look(weir_graph *g, const weir_request *r, const weir_match_options *o, int64_t *start,
                    weir_err *err) WEIR_CHECKED;
/* weir_match(), weir_soonest() and weir_job_grow() of a request without alternatives. */
int weir_match_one(weir_graph *g, const weir_request *r, const weir_match_options *o, const weir_allocation **out,
                   weir_err *err) WEIR_CHECKED;
int weir_match_soonest(weir_graph *g, const weir_request *r, const weir_match_options *o, int64_t *start,
                       weir_err *err) WEIR_CHECKED;
int weir_grow_one(weir_graph *g, int64_t job, const weir_request *r, const weir_match_options *o,
                  const weir_allocation **out, weir_err *err) WEIR_CHECKED;
/* The start that weir_match_one() would find, with vertices of several parents below the first of them. */
int weir_match_start(weir_graph *g, const weir_request *r, const weir_match_options *o, int64_t *start,
                     weir_err *err) WEIR_CHECKED;

/* Reports an event to the listener of a match; options->trace must be set. */
void weir_match_tell(const struct match *m, int event, weir_vertex v, uint32_t resource,
                     const struct shortage *shortage, double score);

/* Counts an event about v, looked at for r, and reports the event to the listener, if any. */
static inline void count_shortage(struct match *m, enum weir_event event, weir_vertex v, const weir_resource *r,
                                  const struct shortage *shortage)
{
    switch (event) {
    case WEIR_EVENT_VISITED: m->result.stats.visited++; break;
    case WEIR_EVENT_PRUNED: m->result.stats.pruned++; break;
    case WEIR_EVENT_STATE: m->result.stats.state++; break;
    case WEIR_EVENT_CONSTRAINT: m->result.stats.constraint++; break;
    case WEIR_EVENT_BUSY: m->result.stats.busy++; break;
    case WEIR_EVENT_POLICY: m->result.stats.policy++; break;
    default: break;
    }
    if (m->ask.options->trace)
        weir_match_tell(m, (int)event, v, r->index, shortage, 0);
}

/* Counts and reports an event without a shortage. */
static inline void count_event(struct match *m, enum weir_event event, weir_vertex v, const weir_resource *r)
{
    count_shortage(m, event, v, r, NULL);
}

/* Whether v has any children. */
static inline bool has_kids(const weir_graph *g, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);
    return in && in->nkids > in->holes;
}

/* Whether picks of the current view reach the caller, so that the order of the policy matters. */
static inline bool view_ordered(const struct match *m)
{
    return m->scope.view <= VIEW_RESERVED || (m->scope.view == VIEW_CAPACITY && m->ask.options->inside);
}

/* Whether the request is taken strictly in a respect. */
static inline bool strict(const struct match *m, enum weir_strict how)
{
    return m->ask.options->strict & (unsigned)how;
}

/* Maximum of a count. */
static inline int64_t count_limit(const weir_count *c)
{
    return weir_count_floor(c, WEIR_FOREVER - 1);
}

/* Whether a count allows more than one number. */
static inline bool count_varies(const weir_count *c)
{
    return c->min != count_limit(c);
}

/* Sets the nested picks that the caller requests to none, without freeing any. */
static inline void clear_nested(const weir_match_options *o)
{
    if (o->inside) {
        *o->inside = NULL;
        *o->ninside = 0;
    }
}

/* Maximum of a count in this match. */
static inline int64_t count_most(const struct match *m, const weir_count *c)
{
    return m->scope.minimum ? c->min : count_limit(c);
}

/* The product of two amounts of at least 0; at most WEIR_FOREVER. */
static inline int64_t saturating_mul(int64_t a, int64_t b)
{
    return a != 0 && b > WEIR_FOREVER / a ? WEIR_FOREVER : a * b;
}

#endif
