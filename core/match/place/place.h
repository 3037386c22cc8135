/* place.h - the recursion of a match: it places the contents of a request below a vertex. Private to the matcher.
 *
 * A request is a list of resources, and the recursion has a function for each rule of this grammar, as a
 * recursive-descent parser has for its language. Each rule is a file, and each arrow a direct call:
 *
 *   request  -> list                                              weir_place_request()    list.c
 *   list     -> { resource | slot | flow | direct resource }      weir_place_list()       list.c
 *             | or_slots                                          weir_place_or_slots()   or_slot.c
 *             | siblings that compete for the same vertices       weir_place_competing()  competing.c
 *   resource -> { vertex }, as many as the count says             weir_place_resource()   resource.c
 *   vertex   -> its units, and the list nested in the resource    weir_place_vertex()     vertex.c
 *   slot     -> { list inside one host }, slot by slot            weir_place_slots()      slot.c
 *   or_slots -> { list inside one vertex }, any mix of slots      weir_place_or_slots()   or_slot.c
 *
 * Everything else is below the recursion and never calls it: searches for candidates (search.h), units of a single
 * vertex (candidate.c), choices of a policy (choose*.c), flows (flow*.c), nogoods. Only attempt.c and flow_search.c,
 * above it, begin it. `make layers` checks both.
 *
 * A function of the recursion returns 1 (placed, picks added), 0 (does not fit, picks as before) or a negative status
 * (picks as before); where it returns a number of units, that number, 0, or a negative status.
 */
#ifndef WEIR_PLACE_H
#define WEIR_PLACE_H

#include "match/match.h"

/* Places the whole request in a view, with a window that starts at t0: each resource on the first vertices that serve
 * it. Returns 1, 0 or negative. */
int weir_place_request(struct match *m, enum match_view view, int64_t t0);
/* Places `times` times each of n resources below `under` (WEIR_NONE: anywhere). Returns 1, 0 or negative. */
int weir_place_list(struct match *m, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times);
/* Places `times` times the units of a direct resource (flow_direct.c) below `under`, or makes it wait until all flows
 * are there. Returns 1, 0 or negative. */
int weir_place_direct(struct match *m, weir_vertex under, const weir_resource *r, int64_t times);

/* Places `times` times the units of one resource below `under`. Returns 1, 0 or negative. */
int weir_place_resource(struct match *m, weir_vertex under, const weir_resource *r, int64_t times);
/* Places up to `want` units of one resource below `under`. Returns the number of units placed, or negative. */
int64_t weir_place_some(struct match *m, weir_vertex under, const weir_resource *r, int64_t want);
/* Takes at most `want` units of v for r, with what is nested in r. Returns the units taken, picks added; 0: v does not
 * fit; or negative. `known`: v is known to hold what is nested in r. */
int64_t weir_place_vertex(struct match *m, weir_vertex v, const weir_resource *r, int64_t want);
int64_t weir_place_vertex_known(struct match *m, weir_vertex v, const weir_resource *r, int64_t want);

/* Places slots, each inside one vertex of type `host`. Returns 1, 0 or negative. */
int weir_place_slots(struct match *m, weir_vertex under, const weir_resource *slot, weir_type host);
/* Places slots anywhere below `under`. Returns 1, 0 or negative. */
int weir_place_slots_in(struct match *m, weir_vertex under, const weir_resource *slot, int64_t slots);
/* How many slots fit below `under`, at most `most`, judged by each resource of the slot alone; or
 * negative. */
int64_t weir_slot_bound(struct match *m, weir_vertex under, const weir_resource *slot, int64_t most);
/* Places or_slots: a mix of n alternatives, in all `times` times as many slots as the last alternative requests.
 * Returns 1, 0 or negative. */
int weir_place_or_slots(struct match *m, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times);

/* As weir_place_list(), for siblings that compete. */
int weir_place_competing(struct match *m, weir_vertex under, const weir_resource *list, uint32_t n, int64_t times);

#endif
