# The module is loaded again while jobs run and wait: every allocation stays, every job that waits gets its turn.
. "$HERE/lib.sh"
# The state of a policy goes on: nodes take turns before and after.
turn() {
  flux module reload sched-weir policy=round_robin || fail "cannot be loaded again"
  id=$(fake_id 0.1s -N1 --exclusive -t1m)
  flux job wait-event -t 60 "$id" clean > /dev/null || fail "a job of one node does not end"
  flux jobs -no '{ranks}' "$id"
}
first=$(turn) && second=$(turn) && third=$(turn)
[ "$first $second $third" = "0 1 2" ] || fail "the nodes take no turns over a reload: $first $second $third"
flux module reload sched-weir
fake 100s --cc=1-25 -N3 -n5 -t10m
fake 100s --cc=1-10 -N2 --exclusive -t10m
fake 0.1s --cc=1-5 -N"$(count all)" --exclusive -t1m
await '[ "$(number running)" = 35 ]'
before=$(flux resource list -s allocated -no '{rlist}')
for again in 1 2 3; do
  flux module reload sched-weir || fail "cannot be loaded again"
  await '[ "$(number running)" = 35 ] && [ "$(number pending)" = 5 ]'
  [ "$(flux resource list -s allocated -no '{rlist}')" = "$before" ] || fail "other resources are allocated after a reload"
done
[ "$(apart)" = 35 ] || fail "35 jobs should run"
flux module remove sched-weir
flux cancel "$(flux jobs -f running -c 1 -no '{id}')"
flux module load sched-weir queue=easy
await '[ "$(number running)" = 34 ]'
more=$(fake_id 0.1s -N2 -n2 -t10s)
flux job wait-event -t 30 "$more" clean > /dev/null || fail "what is free is not used after a reload"
flux cancel --all --states=RUN
flux queue drain
[ "$(flux jobs -f completed -c 0 -no '{id}' | wc -l)" = 9 ] || fail "not all that waited ran" # 5, one after them, and 3 turns
# The resource module ends the acquisition when it is loaded again (fake nodes are down from then on): the broker goes on without a
# scheduler, which can be loaded again.
flux module reload -f resource
await '! flux module list | grep -q sched-weir'
flux module load sched-weir
flux weir stats > /dev/null || fail "cannot be loaded after the resource module"
finish
