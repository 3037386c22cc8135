# A copy of the scheduler that writes a dump is killed amid the dump: the command says so, and the instance goes on.
. "$HERE/lib.sh"
broker=$(flux getattr broker.pid)
children() { cat /proc/"$broker"/task/*/children; }
before=" $(children) "
flux weir dump > "$TMP/dump" 2> "$TMP/said" &
dump=$!
killed=
while [ -z "$killed" ] && kill -0 $dump 2> /dev/null; do
  [ -s "$TMP/dump" ] || continue
  for child in $(children); do
    case $before in *" $child "*) ;; *) kill -9 "$child" && killed=1 ;; esac
  done
done
if wait $dump; then
  tail -c 4 "$TMP/dump" | grep -q '}' || fail "a dump that was cut is told as whole"
else
  grep -q 'before the end of the answer' "$TMP/said" || fail "the command says: $(cat "$TMP/said")"
fi
flux weir dump | tail -c 2 | grep -q '}' || fail "there is no dump any more"
finish
