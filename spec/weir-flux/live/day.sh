# A part of a real trace, played against an instance with mock execution, SPEED times as fast (100): jobs come, run and end when they did.
# TRACE=FILE (SWF), FROM=SECOND of the trace, HOURS=N (2; 24 take a quarter of an hour). No job is lost or started twice, no node is
# given to two jobs at a time, and `flux resource list` tells as many nodes as the jobs of that moment have, at every look that no change
# falls into: about each minute of the trace.
. "$HERE/lib.sh"
SPEED=${SPEED:-100} HOURS=${HOURS:-2} FROM=${FROM:-7473600}
case $TRACE in *.gz) zcat "$TRACE" ;; *) cat "$TRACE" ;; esac | awk -v from="$FROM" -v hours="$HOURS" -v speed="$SPEED" '
  /^[ \t]*[0-9]/ && $2 >= from && $2 < from + 3600 * hours && $4 > 0 {
    n = $8 > 0 ? $8 : $5; t = $9 > $4 ? $9 : $4
    printf "%.2f %d %.3f %.1f\n", ($2 - from) / speed, n, $4 / speed, t / speed + 3
  }' > "$TMP/jobs"
echo "$(wc -l < "$TMP/jobs") jobs"
begin=$(date +%s.%N)
since() { awk -v a="$begin" -v b="$(date +%s.%N)" 'BEGIN { printf "%.3f", b - a }'; }

# Looks at the list of resources go on beside the jobs that come: "look BEGIN END NODES".
(while [ ! -e "$TMP/over" ]; do
  from=$(date +%s.%N)
  held=$(count allocated)
  echo "look $from $(date +%s.%N) $held"
done > "$TMP/looks") &
looking=$!
while read -r at nodes runs limit; do
  sleep "$(awk -v at="$at" -v now="$(since)" 'BEGIN { print (at > now ? at - now : 0) }')"
  fake_id "${runs}s" -N"$nodes" --exclusive -t"${limit}s" >> "$TMP/ids"
done < "$TMP/jobs"
late=$(since)
awk -v h="$HOURS" -v s="$SPEED" -v now="$late" 'BEGIN { d = 3600 * h / s - now; if (d > 0) system("sleep " d) }'
touch "$TMP/over"
wait "$looking"
ended=$(flux jobs -f completed -c 0 -no '{id}' | wc -l)
flux cancel --all --quiet
flux queue drain || fail "the queue cannot be drained"
[ "$(sort -u "$TMP/ids" | wc -l)" = "$(wc -l < "$TMP/jobs")" ] || fail "not all jobs were taken"
while read -r id; do
  flux job wait-event -t 60 "$id" clean > /dev/null || fail "$id was lost"
  flux job eventlog -f json "$id" > "$TMP/log"
  case $(grep -c '"name":"alloc"' "$TMP/log") in
  0) grep -q '"type":"cancel"' "$TMP/log" || fail "$id has ended without resources" ;;
  1)
    awk -F'"timestamp":' '{ split($2, t, ","); if (/"name":"alloc"/) a = t[1]; if (/"name":"free"/) f = t[1] } END { printf "%s %s ", a, f }' "$TMP/log"
    flux job info "$id" R
    ;;
  *) fail "$id has had resources twice" ;;
  esac
done < "$TMP/ids" > "$TMP/spans"
cat "$TMP/spans" "$TMP/looks" | "$WEIR" run "$HERE/spans.lua" || fail "what jobs had is not what was told, or was given twice"
echo "$ended jobs ended, $(($(wc -l < "$TMP/ids") - ended)) were left and cancelled, after $late s"
finish
