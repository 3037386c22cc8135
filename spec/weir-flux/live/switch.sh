# What doc/guides/switching-from-fluxion.md says, followed to the letter: an instance of Fluxion goes on with weir, then with Fluxion again, while jobs run and
# wait; nothing is lost, nothing is given twice.
. "$HERE/lib.sh"
all=$(cores all)
for i in 1 2 3; do ran="$ran $(fake_id 1000s -N2 --exclusive -t1h)"; done
ran="$ran $(fake_id 1000s -n5 -t1h)"
await '[ "$(flux jobs -f running -c 0 -no "{id}" | wc -l)" = 4 ]'
wide=$(fake_id 0.1s -N"$(count all)" --exclusive -t1m)
held() { flux resource list -s allocated -no '{rlist}'; }
before=$(held)
same() { [ "$(held)" = "$before" ] || fail "$1: allocated was \"$before\", and is \"$(held)\""; }
[ -n "$before" ] || fail "nothing is allocated under Fluxion"

# to weir
flux module remove -f sched-fluxion-feasibility
flux module remove sched-fluxion-qmanager || fail "Fluxion's qmanager cannot be removed"
flux module remove sched-fluxion-resource || fail "Fluxion's resource module cannot be removed"
flux module load sched-weir || fail "weir cannot be loaded"
await '[ "$(number running)" = 4 ] && [ "$(number pending)" = 1 ]'
same "after the switch to weir"
flux weir why "$wide" | grep -q "waits" || fail "weir does not know the job that waits"
flux dmesg | grep -q 'sched-weir.*prune-filters' || fail "what Fluxion's tables say and weir leaves out is not told"
flux ion-resource find sched-now=allocated | grep -q R_lite || fail "flux ion-resource is not answered"
new=$(fake_id 500s -n1 -t10m)
flux weir policy use queue=easy > /dev/null
await '[ "$(state '"$new"')" = RUN ]'
apart > /dev/null
before=$(held)

# and back
flux module remove sched-weir || fail "weir cannot be removed"
flux module load sched-fluxion-resource || fail "Fluxion's resource module cannot be loaded again"
flux module load sched-fluxion-feasibility || fail "Fluxion's feasibility module cannot be loaded again"
flux module load sched-fluxion-qmanager || fail "Fluxion's qmanager cannot be loaded again"
flux module stats sched-fluxion-qmanager > /dev/null
await '[ "$(held)" = "'"$before"'" ]'
for id in $ran $new; do [ "$(state "$id")" = RUN ] || fail "job $id is $(state "$id") after the switch back"; done
more=$(fake_id 0.1s -n1 -t1m)
flux cancel "$new" $ran
flux job wait-event -t 60 "$wide" clean > /dev/null || fail "the job that waited all the time does not start"
flux job wait-event -t 60 "$more" clean > /dev/null || fail "a job that came last does not start"
flux queue drain
await '[ "$(cores allocated)" = 0 ]'
[ "$(cores free)" = "$all" ] || fail "$(cores free) of $all cores are free in the end"
for id in $ran $new $wide $more; do
  [ "$(flux job eventlog "$id" | grep -c ' alloc')" = 1 ] || fail "$id has had resources more than once"
done
exit 0
