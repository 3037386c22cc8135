/* room_hosts.h - hosts of slots for a choice that takes the emptiest groups first: by the room of their groups, and in
 * the order of the policy where groups have equal room. Private to the core.
 *
 * Groups are read by room from a group index, and searched one by one; where many groups have equal room, one search of
 * the graph finds the hosts of all of them.
 */
#ifndef WEIR_ROOM_HOSTS_H
#define WEIR_ROOM_HOSTS_H

#include "index/group_index.h"
#include "match/match.h"

#define ROOM_GROUPS 8 /* groups of equal room that are searched one by one */

struct room_hosts {
    struct match *m;
    const weir_resource *slot;
    weir_type host;
    struct group_index *index;
    uint64_t next; /* key of the groups to look at next, in index->rooms */
    uint64_t room; /* the groups looked at now: upper half of their keys */
    bool filtered; /* the only search finds hosts of other groups, too */
    struct {
        struct search search;
        weir_vertex found; /* the next host of the search */
    } groups[ROOM_GROUPS];
    uint32_t n;
};

/* Whether hosts below `under` can be taken by room. */
bool weir_room_hosts_apply(const struct match *m, weir_vertex under, weir_type host);
/* Begins. Pair with weir_room_hosts_end(), but not on failure. */
int weir_room_hosts_begin(struct room_hosts *h, struct match *m, const weir_resource *slot,
                          weir_type host) WEIR_CHECKED;
/* Finds the next host. Returns 1 with *v set, 0 at the end, or negative. */
int weir_room_hosts_next(struct room_hosts *h, weir_vertex *v) WEIR_CHECKED;
void weir_room_hosts_end(struct room_hosts *h);

#endif
