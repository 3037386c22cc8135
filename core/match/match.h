/* match.h - what the files of the matcher share. Private to the core.
 *
 * A file calls only files below it in the list; candidate.c, flow.c and backtrack_conflicts.c are one level.
 *   match.c               modes, reservations, commit
 *   earliest_start.c      the earliest start of a reservation
 *   allocate.c            the recursion: resources of a request below a vertex
 *   backtrack*.c          siblings that compete for the same vertices (backtrack.h)
 *   or_slot.c             slots that are alternatives
 *   slot.c                slots, each inside one node
 *   gather.c              units of one resource; contiguous.c: neighbours first
 *   allocate_bulk.c       many whole vertices at once
 *   search.c              the candidates of a type, best first; frontier.c, nogood_learn.c, free_list.c
 *   slot_host.c           where a slot may lie
 *   candidate.c           what one vertex can give for one resource
 *   flow.c                units on the way to the source of another subsystem
 *   constraint_filter.c   the nodes that a constraint allows
 *   context.c             the listener, the policy's scores, the indexes at hand
 */
#ifndef WEIR_MATCH_H
#define WEIR_MATCH_H

#include "graph/graph.h"
#include "index/rank_order.h"
#include "request/request.h"
#include "time/earliest_fit.h"
#include "match/search.h"

#define WEIR_NO_END INT64_MIN
#define PLAIN_MEMO 32
#define INDEX_MEMO 4 /* indexes that a match gets at hand */
#define FILTER_AFTER 8 /* nodes that a constraint refuses before all that it allows are looked for */

/* What counts as available while a request is placed. */
enum match_view {
    VIEW_NOW,      /* free at the clock's time and all over the window */
    VIEW_LATER,    /* free all over a window that starts later */
    VIEW_CAPACITY, /* below a vertex that is free as a whole: what is up */
    VIEW_ALL       /* feasibility: whatever is there */
};

/* What is known of a pick while a request is placed. */
struct pick_note {
    weir_vertex endpoint; /* what units of a channel are taken for; WEIR_NONE for all others */
    uint32_t slots;       /* slots that were complete with it */
    bool inside;          /* of a vertex that is taken as a whole: in no book */
};

struct match;

/* Places `times` times each of n resources below `under` (WEIR_NONE: anywhere). 1: placed, picks added; 0: does not
 * fit, no pick added; negative: failed. */
typedef int weir_allocate(struct match *m, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times);

struct match {
    weir_graph *g;
    weir_allocate *place; /* the way back into the recursion of allocate.c, set by weir_match_attempt() */
    const weir_request *asked;   /* as it was given */
    const weir_request *request; /* ... with amounts in the units of the graph */
    const weir_policy *policy; /* never NULL */
    enum match_view view;
    int64_t t0, t1;
    int64_t duration; /* of the window */
    int64_t end;      /* of the window, where it does not follow from the duration; WEIR_NO_END */
    weir_type node_type; /* what constraints are about, and where a slot has its place */
    uint32_t links;      /* the subsystem whose edges lead to what is asked for inside something; WEIR_NONE: none does */
    weir_type store_type; /* "storage_node": constraints are about these, too; where there are any, no fence is raised */
    struct node_table *node_table; /* with `allowed` */
    weir_idset *allowed;   /* the nodes that the constraint allows, by their numbers in the roster; NULL: nobody asked yet */
    weir_pick *picks;
    uint32_t npicks, picks_cap;
    struct pick_note *notes; /* by pick */
    uint32_t notes_cap;
    weir_pick *inside; /* those that serve the request inside of others, in the end; NULL: nobody asks */
    uint32_t ninside, inside_cap;
    struct occupancy *calendar; /* that tells what is held in a window (earliest_start.c), or NULL */
    uint64_t wanted;           /* so many vertices of its type, at least */
    bool single_resource;                /* one resource of the request is of that type, no more */
    bool has_busy_mask;               /* it knows the window that is searched */
    bool has_fit_index;                /* ... and so are vertices that have no room for `room`, which all of the request is */
    struct fit_request room;
    const struct job *grows; /* the job that asks for more; NULL: none does */
    uint32_t rivals; /* picks from here on compete with what is placed now; WEIR_NONE: none do */
    struct flow_use *flows; /* what the picks of channels were taken for, once they are tidied */
    uint32_t nflows;
    bool take_minimum;      /* take the least of what may vary */
    weir_type types[PLAIN_MEMO]; /* by resource: its type, and whether that was looked up */
    bool typed[PLAIN_MEMO];
    uint8_t plain[PLAIN_MEMO]; /* by resource: whether aggregates tell all about what is inside it; 0: not known yet */
    struct {
        struct index *index;
        weir_type type;
        enum index_mode mode;
        bool ordered;
    } indexes[INDEX_MEMO]; /* at hand: while it runs nothing changes that they depend on */
    uint32_t nindexes;
    bool probing;     /* does it fit? what it takes is given back: which of what is alike is chosen does not matter */
    bool needs_known_met;   /* what is taken is known to hold what is asked for inside it */
    bool backtracked;  /* siblings competed: one vertex may have several picks */
    weir_stats stats;
    const weir_match_options *options; /* never NULL */
    weir_err *err;
};

/* The type of what a resource of the request asks for; WEIR_NO_TYPE: there is none. */
static inline weir_type weir_match_type(struct match *m, const weir_resource *r)
{
    if (r->index >= PLAIN_MEMO)
        return weir_type_find(m->g, r->type);
    if (!m->typed[r->index]) {
        m->types[r->index] = weir_type_find(m->g, r->type);
        m->typed[r->index] = true;
    }
    return m->types[r->index];
}

/* The index of the policy's order, or (not `ordered`) of none. */
int weir_match_index(struct match *m, bool ordered, weir_type t, enum index_mode mode, struct index **out);
/* Places the whole request in one view, from t0 on. 1, 0 or negative. */
int weir_match_attempt(struct match *m, enum match_view view, int64_t t0);
/* Whether the request could ever be met. 1, or negative. */
int weir_match_feasible(struct match *m, int64_t at);
/* Whether the request may fit at `start`, as far as a calendar that is kept can tell. 1, 0 or negative. */
int weir_match_bound_ok(struct match *m, int64_t start);
/* Places the request at the earliest time after t. 1 with *start set, 0 when there is none, or negative. */
int weir_match_later(struct match *m, int64_t t, int64_t *start);
/* The earliest time from t on at which the totals of what all jobs take leave enough; WEIR_FOREVER: none. */
int weir_match_soonest(struct match *m, int64_t t, int64_t *start);

/* How often what a slot holds fits below `under`, at most `most`, as far as each part tells by itself. */
int64_t weir_slot_bound(struct match *m, weir_vertex under, const weir_resource *slot, int64_t most);
/* What each of these slots has to lie inside of, below `under`: a node, what the policy's locality wants, or SEARCH_PARENT.
 * WEIR_NO_TYPE: nothing. */
weir_type weir_slot_host(struct match *m, weir_vertex under, const weir_resource *slot);
/* Whether all that a slot holds has vertices right below v. O(children of v) */
bool weir_slot_stands(struct match *m, weir_vertex v, const weir_resource *slot);
/* Whether what a slot holds is only looked for right below its host (WEIR_SLOT_PARENT). */
bool weir_slot_close(const struct match *m, const weir_resource *slot);
/* Whether two slots cannot have a part of one pool each (WEIR_WHOLE_POOLS), so that they are placed one by one. */
bool weir_slot_apart(struct match *m, const weir_resource *slot);
/* Whether slots are taken in the order of sums (WEIR_SLOT_SUMS). */
bool weir_slot_summed(const struct match *m);
/* Adds up the fields of the things that one slot has, in the picks from `from` on. */
void weir_slot_sum(const struct match *m, const weir_resource *slot, const struct order *o, uint32_t from,
                   double sums[WEIR_ORDER_KEYS]);
/* Places so many slots anywhere below `under`. 1, 0 or negative. */
int weir_slots_fill(struct match *m, weir_vertex under, const weir_resource *slot, int64_t slots);
/* Places slots, each inside one vertex of that type. */
int weir_slot_place(struct match *m, weir_vertex under, const weir_resource *slot, weir_type host);
/* Places or_slots: n alternatives, `times` times as many in all as the last one asks for. 1, 0 or negative. */
int weir_or_slot_allocate(struct match *m, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times);
/* Chooses `max` of n candidates that lie together, as a policy's `runs` says: their positions, best first; how many, or WEIR_ENOMEM.
 * O(n), or O(n log n) where they do not stand by place. */
int64_t weir_contiguous_choose(const weir_graph *g, const weir_vertex *v, uint32_t n, uint32_t max, uint32_t *chosen);
/* Asks the policy for the scores of vertices that fit; NAN: no candidate. */
int weir_allocate_evaluate(struct match *m, const weir_resource *r, const weir_vertex *v, size_t n, double *score);
/* A weir_allocate for siblings that compete (backtrack.c). */
int weir_allocate_backtracking(struct match *m, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times);
bool weir_allocate_competes(struct match *m, const weir_resource *list, uint32_t n);
/* Whether several of a type are asked for that may stand inside each other: taken in order, one may be what two stand in. */
bool weir_allocate_nests(struct match *m, const weir_resource *list, uint32_t n, int64_t times);
/* Places `times` times the units of one resource below `under`. 1, 0 or negative. */
int weir_allocate_resource(struct match *m, weir_vertex under, const weir_resource *r, int64_t times);
/* Places up to `want` units of one resource below `under`; returns the units placed, or negative. */
int64_t weir_allocate_some(struct match *m, weir_vertex under, const weir_resource *r, int64_t want);

/* Takes `want` whole vertices for r, where it need not be searched for each. 1: they are picked; 0: a search has to tell, nothing is
 * picked; negative: failed. */
int weir_allocate_bulk(struct match *m, weir_vertex under, const weir_resource *r, int64_t want);

/* Finds the nodes that the constraint allows, if there is one; WEIR_ENOMEM. The others then need m->allowed. */
int weir_filter_prepare(struct match *m);
/* Whether it tells where not to search: what is searched for, or something needed inside it, is only found in nodes. */
bool weir_filter_matters(const struct search *s);
/* Whether a row, or a vertex, holds nodes but none that is allowed. */
bool weir_filter_excludes_row(const struct match *m, const struct inner *in, uint32_t row);
bool weir_filter_excludes(const struct match *m, weir_vertex v);
/* Whether the constraint allows all nodes below v, which is to be taken as a whole. 1, 0 or negative. */
int weir_filter_allows_whole(struct match *m, weir_vertex v);

/* Whether v is only ever given as a whole (A5): because it says so, or the policy does. */
bool weir_candidate_whole(const struct match *m, weir_vertex v);
/* Whether v serves r by what is below it only, and whether it may do so beside its rivals. */
bool weir_candidate_passes(const struct match *m, weir_vertex v, const weir_resource *r);
bool weir_candidate_enter(const struct match *m, weir_vertex v, const weir_resource *r);
/* Whether aggregates alone tell that a vertex taken as a whole holds what r asks for below it. */
bool weir_candidate_plain(struct match *m, const weir_resource *r);
/* Whether v serves r only as a whole. */
bool weir_candidate_all(const struct match *m, weir_vertex v, const weir_resource *r);
/* Whether v can give r some of its units only. */
bool weir_candidate_divisible(const struct match *m, weir_vertex v, const weir_resource *r);
/* Whether only vertices that nobody uses can serve r. */
bool weir_candidate_idle(struct match *m, const weir_resource *r);
/* Units that v, a pool that gives some of its units, still has. O(picks of rivals) */
int64_t weir_candidate_room(const struct match *m, weir_vertex v);
/* What v gives for r, at most `want` units, its picks added; 0: it does not fit; negative: failed. */
int64_t weir_candidate_take(struct match *m, weir_vertex v, const weir_resource *r, int64_t want);

/* The subsystem whose units a resource of that name asks for; WEIR_NONE: it names a type of vertices. */
uint32_t weir_flow_find(const weir_graph *g, const char *name);
/* Takes `times` times the units of r on the way up from `under`; 1, 0 or negative. */
int weir_flow_allocate(struct match *m, weir_vertex under, uint32_t subsystem, const weir_resource *r, int64_t times);
/* The same for all resources of a list, and of its slots, that name subsystems. */
int weir_flows_allocate(struct match *m, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times);

/* Whether the units that r asks for are those of v. */
bool weir_candidate_unit(const struct match *m, weir_vertex v, const weir_resource *r);
/* Notes that the picks from number `from` on serve n slots. */
void weir_pick_slots(struct match *m, uint32_t from, int64_t n);
int weir_pick_add(struct match *m, weir_vertex v, const weir_resource *r, int64_t amount, bool exclusive);
/* Fails a match because a hook failed; keeps what the hook said. */
int weir_match_policy_failed(struct match *m, const char *hook);

/* Tells the listener of a match. */
void weir_match_tell(const struct match *m, int event, weir_vertex v, uint32_t resource, const struct lack *lack,
                     double score);

/* Counts an event about v, looked at for r, and tells it. */
static inline void note_lack(struct match *m, enum weir_event event, weir_vertex v, const weir_resource *r,
                             const struct lack *lack)
{
    switch (event) {
    case WEIR_EVENT_VISITED: m->stats.visited++; break;
    case WEIR_EVENT_PRUNED: m->stats.pruned++; break;
    case WEIR_EVENT_STATE: m->stats.state++; break;
    case WEIR_EVENT_CONSTRAINT: m->stats.constraint++; break;
    case WEIR_EVENT_BUSY: m->stats.busy++; break;
    case WEIR_EVENT_POLICY: m->stats.policy++; break;
    default: break;
    }
    if (m->options->trace)
        weir_match_tell(m, (int)event, v, r->index, lack, 0);
}

static inline void note(struct match *m, enum weir_event event, weir_vertex v, const weir_resource *r)
{
    note_lack(m, event, v, r, NULL);
}

/* Whether what is placed in this view is told to somebody, so that the policy has a say. */
static inline bool view_ordered(const struct match *m)
{
    return m->view <= VIEW_LATER || (m->view == VIEW_CAPACITY && m->options->inside);
}

static inline bool reads(const struct match *m, enum weir_reading how)
{
    return m->options->reading & (unsigned)how;
}

static inline int64_t count_limit(const weir_count *c)
{
    return weir_count_floor(c, WEIR_FOREVER - 1);
}

/* The most that a count may be in this match. */
static inline int64_t count_most(const struct match *m, const weir_count *c)
{
    return m->take_minimum ? c->min : count_limit(c);
}

/* Of two amounts, neither of them negative. */
static inline int64_t saturating_mul(int64_t a, int64_t b)
{
    return a != 0 && b > WEIR_FOREVER / a ? WEIR_FOREVER : a * b;
}

#endif
