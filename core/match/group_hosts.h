/* group_hosts.h - hosts of slots for a choice that takes the emptiest groups first: by the free units of their
 * groups, and in the order of the policy where groups have as many. Private to the core.
 *
 * Groups are read from a group index, the emptiest first, and searched one by one; where many groups have as many free
 * units, one search of the graph finds the hosts of all of them.
 */
#ifndef WEIR_GROUP_HOSTS_H
#define WEIR_GROUP_HOSTS_H

#include "index/group_index.h"
#include "match/match.h"

#define EQUAL_GROUPS 8 /* groups of equally many free units that are searched one by one */

struct group_hosts {
    struct match *m;
    const weir_resource *slot;
    weir_type host;
    struct group_index *index;
    uint64_t next;  /* key of the groups to look at next, in index->emptiest_first */
    uint64_t level; /* the groups looked at now: upper half of their keys */
    bool filtered;  /* the only search finds hosts of other groups, too */
    struct {
        struct search search;
        weir_vertex found; /* the next host of the search */
    } groups[EQUAL_GROUPS];
    uint32_t n;
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
