/* search.h - the candidates of one type below a vertex, in the order of the policy: a best-first descent over rows.
 *
 * The heap holds vertices and rows, keyed by the first candidate in or below each, so the item popped from the heap is
 * always the next in order. Rows that cannot hold the needed units, by their aggregates, are never opened. Taking k
 * candidates costs O(k d f) row visits (d: depth of the graph, f: entries of a row), however large the machine is.
 */
#ifndef WEIR_SEARCH_H
#define WEIR_SEARCH_H

#include "match/candidate/free_list.h"
#include "index/nogood.h"

struct flow_reach;
struct match;

#define SEARCH_NEEDS 16 /* types compared with the aggregates of a row; further needs only prune less */

#define SEARCH_FLOWS 2 /* subsystems whose units are compared with what may get to a row; likewise */

/* As a type of hosts: any vertex with all types of a slot among its children. */
#define SEARCH_PARENT ((weir_type)(WEIR_NO_TYPE - 1))

/* An item of the heap: a candidate, a vertex above candidates, a row, or a host put back by weir_search_again(). */
enum item_kind { ITEM_VERTEX, ITEM_BELOW, ITEM_ROW, ITEM_AGAIN };

struct frontier_item {
    weir_vertex key;    /* the first candidate in the item */
    weir_vertex vertex; /* the vertex, or the owner of the row */
    uint32_t row;       /* the row of the owner, or the tag of a host put back */
    uint8_t kind, level;
    uint32_t origin; /* number in `opened` of the row that the item came out of; WEIR_NONE: not recorded */
    uint32_t next;   /* the next item of the run, in `run_items`; WEIR_NONE: the last */
};

/* A row that the search opened (nogood_learn.c). */
struct opened {
    uint32_t origin;   /* number in `opened` of the row that this row came out of; WEIR_NONE */
    uint32_t live;     /* items out of this row that may still hold something */
    uint32_t row;      /* row number; WEIR_NONE: the roots */
    weir_vertex first; /* the first candidate left in live items, set by weir_nogood_end() */
};

/* The items left for a search, best first (frontier.c): a heap of runs. */
struct frontier {
    struct frontier_item *heap; /* the first item of each run */
    uint32_t n, cap;
    struct frontier_item *run_items; /* all further items of the runs */
    uint32_t nrun_items, run_items_cap;
    uint32_t run_free; /* first unused entry of run_items; WEIR_NONE: none */
    /* whether a pushed item goes into the heap, begins a run next to the heap, or joins the run under construction; the
     * latter two until weir_search_gathered() */
    enum { PUSH_ITEM, PUSH_NEW_RUN, PUSH_IN_RUN } push;
    struct frontier_item run_first; /* the first item of the run under construction */
    uint32_t run_last;              /* the last item, in run_items; WEIR_NONE: run_first is the last */
};

/* The rows that a search opened, for nogoods (nogood_learn.c). */
struct learner {
    bool active; /* opened rows are recorded */
    struct opened *opened;
    uint32_t nopened, cap;
    uint32_t popped_from;               /* number in `opened` of the origin of the item popped last */
    uint32_t pushed_from;               /* number in `opened` of the origin of items pushed now */
    weir_vertex refused[NOGOODS_AFTER]; /* candidates refused before the search has a bit */
    uint32_t nrefused;
    struct nogood_bit bit; /* the bit of this search; bit.born 0: none yet */
    int64_t until;         /* end of the window that the bit is set for; see nogood_set() */
};

/* The need that caused a pruning: the units needed and the units there. */
struct shortage {
    const char *type; /* by the name in the request */
    int64_t need, have;
};

/* Groups of which a search finds only those with a number of free units: vertices of type `type` with `units` free
 * units of type `of` below. */
struct search_groups {
    weir_type type, of;
    int64_t units; /* 0: the search finds vertices of all groups */
};

struct search {
    /* The question */
    struct match *m;
    const weir_resource *r;
    weir_type type; /* type of the candidates, or of the first resource of a slot where hosts are searched for */
    bool idle_only; /* only vertices that can be taken as a whole */
    bool kids_only; /* only children of the start */
    /* the search does not enter vertices of the types of these resources and their slots */
    const weir_resource *barred;
    uint32_t nbarred;
    struct index *index;
    struct { /* units that a candidate, or host, must hold */
        weir_type type;
        const char *name;
        int64_t amount;
    } needs[SEARCH_NEEDS];
    uint32_t nneeds;
    weir_type needs_type; /* the type of the vertices that must hold the needs: `type`, or `host` */

    /* Hosts of slots (weir_search_hosts()) */
    /* vertices of this type are the candidates, in the order of `type` below; WEIR_NO_TYPE: no hosts */
    weir_type host;
    const weir_resource *slot; /* NULL: no hosts */
    uint32_t nslots;           /* alternative slots from `slot` on; a host has room for at least one of them */

    struct { /* units of other subsystems that a candidate, or host, must get by itself */
        const struct flow_reach *reach;
        uint32_t subsystem;
        int64_t least;
    } flows[SEARCH_FLOWS];
    uint32_t nflows;

    struct search_groups groups; /* may be set before the first candidate is found */

    /* A turn of the policy: first the segment of the order from the turn on is searched, then the segment before. */
    enum { WHOLE_ORDER, FROM_TURN, BEFORE_TURN } segment;
    weir_vertex under; /* the start */

    struct order_scores by; /* scores that decide before the order of the policy */
    bool descends;          /* the policy descends instead of ordering, in the order of the index */

    /* The candidate found last */
    weir_vertex found_key;    /* the position of the candidate in the order */
    uint32_t found_tag;       /* the tag given to weir_search_again(); WEIR_NONE: the candidate was not put back */
    weir_vertex accepted_key; /* found_key until the candidate is refused; WEIR_NONE: refused, or none found */
    struct shortage shortage; /* why the search pruned last */

    struct frontier frontier; /* items still to be looked at */

    /* Progress without a heap */
    struct free_list free_list; /* candidates by occupancy; free_list.occupancy NULL: not used */
    weir_vertex admitted;       /* this vertex and all vertices above are known to be admissible */

    struct learner learner;

    /* whether the constraint filter can exclude rows here */
    enum { FILTER_UNKNOWN, FILTER_IDLE, FILTER_ACTIVE } filter;
};

/* Begins a search for r at the children of `under`; WEIR_NONE: at the roots. Pair with weir_search_end(), but not on
 * failure. */
int weir_search_begin(struct search *s, struct match *m, weir_vertex under, const weir_resource *r, bool idle_only);
/* Begins a search for hosts of a slot: vertices of type `host`, which is a type above r or SEARCH_PARENT, in the
 * order of the first r below each. Pair with weir_search_end(), but not on failure. */
int weir_search_hosts(struct search *s, struct match *m, weir_vertex under, const weir_resource *slot,
                      const weir_resource *r, weir_type host);
/* Let scores decide first (weir_match_rank()); else as the functions above. */
int weir_search_begin_by(struct search *s, struct match *m, weir_vertex under, const weir_resource *r, bool idle_only,
                         const struct order_scores *by);
int weir_search_hosts_by(struct search *s, struct match *m, weir_vertex under, const weir_resource *slot,
                         const weir_resource *r, weir_type host, const struct order_scores *by);
/* Whether the candidate v, found last in the order of scores, has no score: then no further candidate has. */
bool weir_search_unscored(const struct search *s, weir_vertex v);
/* Puts a host back, to be found again at the position of `key`, a vertex below the host, with s->found_tag set to
 * `tag`. */
int weir_search_again(struct search *s, weir_vertex host, weir_vertex key, uint32_t tag);
/* Finds the next candidate. Returns 1 with *v set, 0 at the end, or negative. */
int weir_search_next(struct search *s, weir_vertex *v);
/* Informs the search that the candidate v, found last, does not fit. The search then goes below v, as a type may occur
 * inside the same type; never below a host. */
int weir_search_rejected(struct search *s, weir_vertex v);
void weir_search_end(struct search *s);

/* Pushes an item on the frontier (frontier.c). Items of a row that is being opened go into runs next to the heap. */
int weir_search_push(struct search *s, struct frontier_item it) WEIR_CHECKED;
/* Pops the first item of a frontier that is not empty. */
struct frontier_item weir_search_pop(struct search *s);
/* Ends the collecting of pushed items, and moves the run under construction to the heap. */
int weir_search_gathered(struct search *s) WEIR_CHECKED;

/* Whether the search descends to the vertices with most free units, in no order. */
static inline bool search_descends(const struct search *s)
{
    return s->descends;
}

/* Begins the recording of opened rows, where nogoods can be learned from the search (nogood_learn.c). */
void weir_nogood_begin(struct search *s);
/* Records that a row is about to be opened; on failure the match fails. */
int weir_nogood_open(struct search *s, uint32_t row) WEIR_CHECKED;
/* Records that all items of the row opened last were pushed. */
void weir_nogood_opened(struct search *s);
/* Records that the item popped last holds nothing. */
void weir_nogood_pass(struct search *s);
/* Records that the candidate v is refused. */
void weir_nogood_refuse(struct search *s, weir_vertex v);
/* Records that the candidate found last was not refused before the search went on. */
void weir_nogood_found(struct search *s);
/* Ends the recording: sets the bits of all opened rows in which nothing is left, or nothing before a known
 * candidate. */
void weir_nogood_end(struct search *s);
/* Whether a row is known to hold no candidate that serves; otherwise *key advances to the first candidate that may
 * serve. */
bool weir_nogood_row(const struct search *s, uint32_t row, weir_vertex *key);

/* Sets everything of a search for r that does not depend on the start, with the needs of `whole`, which is r, or a
 * slot that r is the first resource of. */
void weir_search_prepare(struct search *s, struct match *m, const weir_resource *whole, const weir_resource *r,
                         bool idle_only);
/* Whether the aggregates of a row allow a candidate with its needs; else s->shortage is the reason. */
bool weir_search_row_ok(struct search *s, const struct schema *sc, const int64_t *cells);
/* Whether the aggregates of v, a candidate, allow the needs below v; else s->shortage is the reason. */
bool weir_search_vertex_ok(struct search *s, weir_vertex v);
/* Whether the search may enter v, by state, holders, constraint and policy. Returns 1, 0 or negative. */
int weir_search_admit(struct search *s, weir_vertex v);
/* The next vertex of s->free_list that states, holders above and the constraint allow. Returns 1 with *v set, 0 at
 * the end, or negative. */
int weir_search_next_free(struct search *s, weir_vertex *v);

/* Whether all vertices below `under` together can hold `times` units of r and the needs of r, by aggregates. A
 * failure counts as pruned. O(roots) */
bool weir_search_bound_ok(struct match *m, weir_vertex under, const weir_resource *r, int64_t times, bool idle_only);

#endif
