#!/usr/bin/env bash
# run.sh BUILD FILE [COMMAND...] - runs COMMAND FILE in a shell. A line tells of a run that passes; of a run that fails, all it
# printed. build/report.txt gets a row a run, with tabs: status, build, passed, failed, pending, seconds of CPU, file, and
# "again" where only the second try passed. With AGAIN=LIST in the environment a run that fails adds its file to LIST instead: the
# Makefile then runs it once more, with nothing beside it. Five files at most get that second try, as a mistake breaks many runs.
# A run that has not ended after 25 minutes has failed.
build=$1 file=$2
shift 2
said=$(mktemp) spent=$(mktemp)
trap 'rm -f "$said" "$spent"' EXIT
TIMEFORMAT='%R %U %S'
{ time timeout -k 10 1500 sh -c "$* $file" >"$said" 2>&1; } 2>"$spent"
status=$?
read -r real user system <"$spent"
# The last line of a C test is "N passed, N failed", of busted "N successes / N failures / N errors / N pending".
counts=$(sed -n -e 's#^\([0-9]*\) passed, \([0-9]*\) failed$#\1 \2 0 0#p' \
  -e 's#^\([0-9]*\) success[a-z]* / \([0-9]*\) failure[a-z]* / \([0-9]*\) error[a-z]* / \([0-9]*\) pending.*#\1 \2 \3 \4#p' \
  -e 's#^check-install: \([0-9]*\) checks passed$#\1 0 0 0#p' "$said" | tail -n 1)
read -r passed failed errors pending <<<"${counts:-0 0 0 0}"
if [ $status = 0 ]; then
  printf 'ok   %-7s %s: %s passed, %s pending, %s s\n' "$build" "$file" "$passed" "$pending" "$real"
elif [ -n "${AGAIN:-}" ] && [ "$(wc -l <"$AGAIN")" -lt 5 ]; then
  printf 'FAIL %-7s %s (it is run again, alone)\n' "$build" "$file"
  cat "$said"
  echo "$file" >>"$AGAIN"
  exit 0
else
  printf 'FAIL %-7s %s\n' "$build" "$file"
  cat "$said"
fi
cpu=$(awk "BEGIN { print $user + $system }")
printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' $status "$build" "$passed" $((failed + errors)) "$pending" "$cpu" "$file" "${TRY:-}" >>build/report.txt
exit $status
