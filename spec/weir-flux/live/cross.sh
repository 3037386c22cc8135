# Instances of Fluxion in an instance of weir, and of weir in one of Fluxion: each reads the R that the other wrote, with and without a
# graph in it, and gives out what is in it.
. "$HERE/lib.sh"
await '[ "$(count free)" = '"$(flux getattr size)"' ]'
cat > "$TMP/inner.sh" <<'EOT'
flux module list | grep -q "^$1" || exit 7
[ "$(flux resource list -s all -no '{nnodes}')" = 2 ] || exit 8
[ "$(flux resource list -s all -no '{ncores}')" = "$2" ] || exit 9
flux submit --quiet --cc=1-6 -n1 -t1m true && flux run -N2 -n2 -t1m true && flux queue drain || exit 10
[ "$(flux jobs -f completed -c 0 -no '{id}' | wc -l)" = 7 ] || exit 11
EOT
# inner MODULE CORES OPTIONS: an instance of two nodes, whole or with that many cores in all
inner() {
  module=$1 cores=$2
  shift 2
  flux alloc --conf=modules.alternatives.sched="$module" -t5m "$@" sh "$TMP/inner.sh" "${module%-qmanager}" "$cores" || fail "$module in $outer, $*: $?"
}
both() {
  outer=$1
  per=$(($(cores all) / $(count all)))
  for module in sched-fluxion-qmanager sched-weir; do
    inner $module $((2 * per)) -N2 -n2 --exclusive
    inner $module 2 -N2 -n2 -c1
  done
}
both weir
flux module reload sched-weir R-format=rv1
both "weir with graphs in R"
flux module remove sched-weir
flux module load sched-fluxion-resource match-format=rv1
flux module load sched-fluxion-feasibility
flux module load sched-fluxion-qmanager
flux module stats sched-fluxion-qmanager > /dev/null
both "Fluxion with graphs in R"
exit 0
