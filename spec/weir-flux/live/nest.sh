# Instances in an instance: each is scheduled by weir, on what weir gave it.
. "$HERE/lib.sh"
conf=--conf=modules.alternatives.sched=sched-weir
await '[ "$(count free)" = '"$(flux getattr size)"' ]'
cat > "$TMP/inner.sh" <<'EOT'
flux module list | grep -q '^sched-weir' || exit 7
[ "$(flux resource list -s all -no '{nnodes}')" = 2 ] || exit 8
flux submit --quiet --cc=1-10 -n1 -t1m true && flux run -N2 -n2 -t1m true && flux queue drain || exit 9
[ "$(flux jobs -f completed -c 0 -no '{id}' | wc -l)" = 11 ] || exit 10
[ "$(flux resource list -s allocated -no '{ncores}' | awk '{ n += $1 } END { print n + 0 }')" = 0 ] || exit 11
EOT
flux alloc $conf -N2 -n2 -t5m sh "$TMP/inner.sh" || fail "flux alloc: $?"
one=$(flux batch $conf --output=none -N2 -n2 -t5m --wrap sh "$TMP/inner.sh")
two=$(flux batch $conf --output=none -N2 -n2 -t5m --wrap sh "$TMP/inner.sh")
await '[ "$(number running)" -ge 1 ]'
apart > /dev/null
for id in "$one" "$two"; do
  flux job wait-event -t 120 "$id" clean > /dev/null
  [ "$(result "$id")" = COMPLETED ] || fail "flux batch: $(result "$id"), $(flux job status -v "$id" 2>&1)"
done
finish
