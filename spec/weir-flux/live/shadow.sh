# Other policies run beside those in force, on the same jobs: what becomes of them is told, and nothing is changed.
. "$HERE/lib.sh"
nodes=$(count all)
flux weir policy use queue=fcfs policy=low > /dev/null || fail "fcfs was not taken"
told() { flux weir shadow status --json | sed -n "s/.*\"$1\": *\([0-9.a-z]*\).*/\1/p"; }

flux weir shadow status 2> /dev/null && fail "there is a shadow before the start"
flux weir shadow start queue=nonsense 2> /dev/null && fail "a policy that is not there was taken"
before=$(fake_id 100s -N1 --exclusive -t10m)
await '[ "$(state '$before')" = RUN ]'
flux weir shadow start queue=easy > /dev/null || fail "no start"
flux weir shadow start queue=easy 2> /dev/null && fail "a second shadow"
wide=$(fake_id 0.1s -N"$nodes" --exclusive -t1m)
short=$(fake_id 0.1s -N1 -n1 -t1m)
await '[ "$(told jobs)" = 2 ]'
[ "$(state "$short")" = SCHED ] || fail "a job was started"
flux resource drain 0 test
await '[ "$(told followed)" = 1 ]'
flux resource undrain 0
await '[ "$(told followed)" = 2 ]'
flux module reload -f sched-weir queue=fcfs policy=low || fail "the scheduler was not loaded again"
await '[ "$(told running)" = true ]'
flux cancel "$before"
flux job wait-event -t 60 "$wide" clean > /dev/null && flux job wait-event -t 60 "$short" clean > /dev/null || fail "the jobs do not end"
await '[ "$(told compared)" = 2 ]'
[ "$(told earlier)" = 1 ] || fail "the shadow of easy is no better: $(flux weir shadow status)"
flux weir shadow status --report "$TMP/page" | grep -q '1 would have started earlier' || fail "$(flux weir shadow status)"
grep -q '<svg' "$TMP/page/index.html" && grep -q '"compared"' "$TMP/page/shadow.json" || fail "no page"
# A queue that is stopped: the shadow, which would start the job at once, starts it no earlier.
flux queue stop > /dev/null
await 'flux weir shadow status | grep -q "The queue is stopped"'
late=$(fake_id 0.1s -N1 -n1 -t1m)
flux job wait-event -t 60 "$late" priority > /dev/null
flux queue start > /dev/null
flux job wait-event -t 60 "$late" clean > /dev/null || fail "the job of the queue that was stopped does not end"
await '[ "$(told compared)" = 3 ]'
[ "$(told earlier)" = 1 ] || fail "the shadow has started a job of a stopped queue: $(flux weir shadow status)"
flux weir shadow stop | grep -q 'It has ended: it was stopped' || fail "no stop"
flux weir shadow status 2> /dev/null && fail "there is a shadow after the stop"
finish
