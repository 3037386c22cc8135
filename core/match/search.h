/* search.h - the candidates of one type below a vertex, in the order of the policy: a best-first descent over rows.
 *
 * The heap holds vertices and rows, keyed by the first candidate in or below them, so that what is taken from it is
 * always the next in order. Rows that cannot hold what is needed, by their aggregates, are never opened. Taking k
 * candidates costs O(k d f) row visits, however large the machine is.
 */
#ifndef WEIR_SEARCH_H
#define WEIR_SEARCH_H

#include "match/free_list.h"
#include "index/nogood.h"

struct match;

#define SEARCH_NEEDS 16 /* types looked at when a row is weighed; more needs only prune less */

/* As a type of hosts: the vertices right below which all stands that a slot holds. */
#define SEARCH_PARENT ((weir_type)(WEIR_NO_TYPE - 1))

enum item_kind { ITEM_VERTEX, ITEM_BELOW, ITEM_ROW, ITEM_AGAIN };

struct item {
    weir_vertex key;    /* the first candidate in it */
    weir_vertex vertex; /* the vertex, or the one whose rows these are */
    uint32_t row;
    uint8_t kind, level;
    uint32_t from; /* where among what was opened it came out of (nogood_learn.c); WEIR_NONE */
    uint32_t next; /* behind it in a run, a place in `behind`; WEIR_NONE */
};

/* A row that was opened. */
struct opened {
    uint32_t from;  /* where it came out of itself */
    uint32_t items; /* that came out of it and may hold something */
    uint32_t row;   /* its number; WEIR_NONE: the roots */
    weir_vertex first; /* of those that may, in the end: weir_nogood_end() */
};

/* What there is too little of, where something was cut. */
struct lack {
    const char *type; /* as the request calls it */
    int64_t need, have;
};

struct search {
    struct match *m;
    const weir_resource *r;
    const weir_resource *slot; /* of hosts; NULL */
    uint32_t nslots;           /* alternatives of it, each of which makes a host */
    weir_type type;
    weir_type outer; /* the needs are those of one vertex of this type: `type`, or the host */
    weir_type host;  /* vertices of this type are the candidates, in the order of what is below; WEIR_NO_TYPE: none */
    weir_type spare[WEIR_DESCEND_TYPES]; /* the policy descends to where most of this is free */
    uint32_t nspare;                     /* 0: it has an order */
    bool by_tag;                         /* ... or to where `tag_key` has the greatest number */
    weir_name tag_key;                   /* WEIR_NO_NAME: nothing has such a tag */
    weir_vertex key; /* of the candidate found last: where it stands in the order */
    uint32_t tag;    /* of the candidate found last; WEIR_NONE the first time */
    bool idle; /* only vertices that can be taken as a whole */
    bool close; /* only the kids of where it starts */
    const weir_resource *beside; /* resources in whose vertices, or those of what they hold, the search does not look */
    uint32_t nbeside;
    struct index *index;
    struct item *heap; /* the first of each run (frontier.c) */
    uint32_t n, cap;
    struct item *behind; /* the others */
    uint32_t nbehind, behind_cap, spare_behind;
    struct item first; /* of the run that is being made, and its last one, WEIR_NONE while that is the first */
    uint32_t last;
    bool gathers, in_run;
    struct {
        weir_type type;
        const char *name;
        int64_t amount;
    } needs[SEARCH_NEEDS];
    uint32_t nneeds;
    struct lack lack; /* why something was cut last */
    struct free_list free_list; /* of candidates that a calendar knows, instead of the heap */
    weir_vertex open_parent; /* the last vertex above a candidate that all was well with, as with what is above it */
    bool noted;             /* what is opened is */
    struct opened *opened;
    uint32_t nopened, opened_cap;
    uint32_t from, into;    /* of the item taken last; of those that are put in */
    weir_vertex fits;       /* the key of the candidate found last, while nobody has refused it; WEIR_NONE */
    weir_vertex refused[NOGOODS_AFTER]; /* candidates, while the search has no bit */
    uint32_t nrefused;
    struct nogood_bit bit; /* of this search, if it has one */
    int64_t until;          /* goes with the bit: nogood_set() */
    enum { FILTER_UNKNOWN, FILTER_IDLE, FILTER_ACTIVE } filter; /* whether the nodes that the constraint allows matter here */
};

/* Starts at the kids of `under`; WEIR_NONE: at the roots. On failure there is nothing to end. */
int weir_search_begin(struct search *s, struct match *m, weir_vertex under, const weir_resource *r, bool idle);
/* The hosts, vertices of a type above r or SEARCH_PARENT, that may hold a slot: in the order of the first r that each has. */
int weir_search_hosts(struct search *s, struct match *m, weir_vertex under, const weir_resource *slot,
                      const weir_resource *r, weir_type host);
/* Puts a host back, to be found again where `key`, something below it, stands in the order; s->tag then tells the tag. */
int weir_search_again(struct search *s, weir_vertex host, weir_vertex key, uint32_t tag);
/* The next candidate; 1, 0 at the end, or negative. */
int weir_search_next(struct search *s, weir_vertex *v);
/* The last candidate did not fit: what is below it may (a type inside the same type), but for hosts. */
int weir_search_rejected(struct search *s, weir_vertex v);
void weir_search_end(struct search *s);

/* What there is still to look at (frontier.c): one thing more; the first of it, of which there is some. What is put in since
 * s->gathers was set stays aside, in runs, until weir_search_gathered(). */
int weir_search_push(struct search *s, struct item it) WEIR_CHECKED;
struct item weir_search_pop(struct search *s);
int weir_search_gathered(struct search *s) WEIR_CHECKED;

/* Whether it goes down to where most is free, in no order. */
static inline bool search_descends(const struct search *s)
{
    return s->nspare > 0;
}

/* What is opened in vain (nogood_learn.c). A search begins. A row is opened, then its items were put in; on failure of the first the
 * match fails. The last item holds nothing; a candidate v is refused. The search has found what it wanted, or all there is. */
void weir_nogood_begin(struct search *s);
int weir_nogood_open(struct search *s, uint32_t row) WEIR_CHECKED;
void weir_nogood_opened(struct search *s);
void weir_nogood_pass(struct search *s);
void weir_nogood_refuse(struct search *s, weir_vertex v);
void weir_nogood_found(struct search *s);
void weir_nogood_end(struct search *s);
/* Whether nothing in a row serves, as far as is known; else *key is put off to what may. */
bool weir_nogood_row(const struct search *s, uint32_t row, weir_vertex *key);

/* Whether the whole of what is below `under` can hold `times` of r, as far as aggregates tell; where it cannot, that is
 * counted as pruned. */
bool weir_search_bound_ok(struct match *m, weir_vertex under, const weir_resource *r, int64_t times, bool idle);

#endif
