/* group_hosts.h - hosts of slots in the order of their groups: hosts of the groups with most free units first, as the
 * choice `emptiest` of a policy says; among equal groups in the order of the policy. Private to the matcher.
 *
 * One search for each number of free units that some group has, most units first. Aggregates show the search where
 * groups with so many units are.
 */
#ifndef WEIR_GROUP_HOSTS_H
#define WEIR_GROUP_HOSTS_H

#include "index/group_index.h"
#include "match/match.h"

struct group_hosts {
    struct match *m;
    const weir_resource *slot;
    weir_type host;
    struct group_index *index;
    uint64_t next;        /* key of the groups to look at next, in index->emptiest_first */
    uint64_t level;       /* the groups looked at now: upper half of their keys */
    struct search search; /* for hosts of these groups, if `searching` */
    bool searching;
};

/* Whether hosts below `under` can be taken in the order of their groups. */
bool weir_group_hosts_apply(const struct match *m, weir_vertex under, weir_type host);
/* Begins. Pair with weir_group_hosts_end(), but not on failure. */
int weir_group_hosts_begin(struct group_hosts *h, struct match *m, const weir_resource *slot,
                           weir_type host) WEIR_CHECKED;
/* Finds the next host. Returns 1 with *v set, 0 at the end, or negative. */
int weir_group_hosts_next(struct group_hosts *h, weir_vertex *v) WEIR_CHECKED;
void weir_group_hosts_end(struct group_hosts *h);

#endif
