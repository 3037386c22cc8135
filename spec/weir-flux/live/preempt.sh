# Jobs that may be preempted end for one that may not, which then has their place; others run on.
. "$HERE/lib.sh"
flux module reload sched-weir queue=preempt ${RECORD:+record=$RECORD}
nodes=$(count all)
await '[ "$(number running)" = 0 ]'
half=$((nodes / 2))
for i in 1 2; do
  ids="$ids $(fake_id 100s -N$half -n$half --exclusive --setattr=system.preemptible-after=0 -t10m)"
done
first=${ids% *} last=${ids##* }
await '[ "$(number running)" = 2 ]'
flux module reload sched-weir queue=preempt ${RECORD:+record=$RECORD} # what it knows of them it looks up
await '[ "$(number running)" = 2 ]'
urgent=$(fake_id 100s -N$half -n$half --exclusive -t10m)
flux job wait-event -t 30 "$urgent" alloc > /dev/null || fail "nobody makes way"
apart > /dev/null
flux job wait-event -t 30 "$last" clean > /dev/null
flux job eventlog "$last" | grep "exception type=\"cancel\" severity=0 note=\"preempted for $urgent\"" > /dev/null ||
  fail "$(flux job eventlog "$last" | grep exception)"
[ "$(result "$last")" = CANCELED ] || fail "a preempted job is $(result "$last")"
[ "$(state $first)" = RUN ] || fail "more were preempted than had to be"
meek=$(fake_id 0.1s -N1 -n1 --exclusive --setattr=system.preemptible-after=0 -t10m)
flux job wait-event -t 2 "$meek" alloc > /dev/null 2>&1 && fail "there is nothing free"
[ "$(state $first)" = RUN ] && [ "$(state "$urgent")" = RUN ] || fail "who may be preempted preempts others"
flux cancel $first "$urgent"
flux job wait-event -t 30 "$meek" clean > /dev/null
finish
