# What users and tools ask Fluxion, asked of weir.
. "$HERE/lib.sh"
ion() { flux ion-resource "$@" | tail -1; }
path=$(ion find --format=jgf -q status=up | sed 's/.*\("containment": *"[^"]*[a-z0-9]"\).*/\1/' | cut -d'"' -f4)
node=/$(echo "$path" | cut -d/ -f2-3)
job=$(fake_id 100s -N1 --exclusive -t10m)
await '[ "$(state '"$job"')" = RUN ]'
ion find sched-now=allocated | grep -q '"rank": *"0"' || fail "find tells $(ion find sched-now=allocated)"
ion find --format=simple -q jobid-alloc="$job" | grep -q core0 || fail "a job is not found"
[ "$(ion find status=down)" = null ] || fail "something is down"
ion status | grep -q '"down": *null' || fail "status tells $(ion status)"
ion info "$job" | grep -q ALLOCATED || fail "info tells $(ion info "$job")"
ion params | grep -q '"policy"' || fail "no params"
[ "$(ion ns-info 0 core 1)" = 1 ] || fail "ids are renamed"
flux ion-resource set-property "$node" class=one || fail "a property cannot be set"
[ "$(ion get-property "$node" class)" = "class = ['one']" ] || fail "a property is not told"
flux ion-resource remove-property "$node" class
flux ion-resource get-property "$node" class > /dev/null 2>&1 && fail "a property is not removed"
flux ion-resource set-status /no/where down 2> /dev/null && fail "a path that is not there was set down"
flux ion-resource set-status "$node" down || fail "a node cannot be set down"
[ "$(ion find status=down)" != null ] || fail "a node that was set down is not found"
flux ion-resource set-status "$node" up
flux run --dry-run -N2 -n2 -t1m true > "$TMP/job.json"
ion match satisfiability "$TMP/job.json" > /dev/null || fail "a job that fits is not"
ion match without_allocating "$TMP/job.json" | grep -q R_lite || fail "what a job would get is not told"
# Flux counts what jobs have; the scheduler knows what else is taken.
free() { FLUX_RESOURCE_LIST_RPC=sched.resource-status flux resource list -s free -no '{ncores}' | awk '{ n += $1 } END { print n + 0 }'; }
all=$(free)
taken=$(flux ion-resource match allocate "$TMP/job.json" | awk '$2 == "ALLOCATED" { print $1 }')
[ "$(free)" -lt "$all" ] || fail "match allocate takes nothing"
ion info "$taken" | grep -q ALLOCATED || fail "what was taken is not told"
flux ion-resource cancel "$job" 2> /dev/null && fail "a job of Flux was cancelled by Fluxion's request"
flux ion-resource cancel "$taken" || fail "what was taken cannot be given back"
[ "$(free)" = "$all" ] || fail "$(free) of $all cores are free after cancel"
# Several matches in one request, to their end and to the first that finds nothing.
[ "$(flux python "$HERE/many.py" "$TMP/job.json" 7001 7002)" = "7001 7002 ENODATA" ] || fail "match_multi does not answer job by job"
flux run --dry-run -N60 --exclusive -t1m true > "$TMP/large.json"
[ "$(flux python "$HERE/many.py" "$TMP/large.json" 7003 7004)" = "7003 EBUSY" ] || fail "match_multi goes on after a refusal"
for id in 7001 7002 7003; do flux ion-resource cancel "$id" || fail "what match_multi took cannot be given back"; done
flux ion-resource remove-subgraph "$node" 2> /dev/null && fail "a node with a job was removed"
flux ion-resource stats > /dev/null || fail "no stats"
flux module stats sched-fluxion-qmanager | grep -q '"running"' || fail "no stats of queues"
flux cancel "$job"
finish
