/* assign.h - vertices with several parents in a hierarchy (struct hierarchy: shared), assigned to the groups of a
 * request. Private to the matcher.
 *
 * In a match each shared vertex is below one of its parents. An assignment chooses parents such that as many groups as
 * the request names (2 power units) hold as much as each needs (4 nodes): by a flow for each set of groups, and a
 * bounded search for the set. */
#ifndef WEIR_ASSIGN_H
#define WEIR_ASSIGN_H

#include "hierarchy/hierarchy.h"
#include "request/request.h"

/* A window, and how the resources in it are seen. */
struct assign_window {
    int64_t t0, t1;
    bool all; /* regardless of use, states and reservations */
    /* `prune`, and without `all` `evaluate`, exclude vertices; they are called in the first view. NULL: nothing does */
    const weir_policy *policy;
    uint32_t skip; /* choices known not to serve; those from number 1 on have all shared vertices in groups */
};

/* Chooses parents for the shared vertices of h, a view of g: those that groups of the request need; for all others
 * the first over which the way to a source is open, neither down, nor had by a job as a whole, nor left out by the
 * policy. Returns 1 with *choice, by vertex as in struct hierarchy, to be freed; 0: no choice serves the request, or
 * none other than the first parents is needed; or negative. *several is whether shared vertices bring several units,
 * so that a choice need not serve the request although each group has the sum of what it needs: then window.skip gives
 * further choices.
 * So it is where further levels of the request lie above shared vertices, too. WEIR_ELIMIT: the search took too long
 * to decide, or such levels are above groups with several parents; WEIR_EPOLICY: a hook failed. O(n + edges of shared
 * vertices) for each group tried, and at most two calls of each hook for each vertex. */
int weir_assign_parents(const weir_graph *g, struct hierarchy *h, const weir_request *r, struct assign_window at,
                        weir_vertex **choice, bool *several) WEIR_CHECKED;

#endif
