# lib.sh - what the checks in an instance share. A check is a script that runs as the initial program of an instance; its last line is
# `finish`.

fail() { echo "FAILED: $*" >&2; flux dmesg | grep sched-weir | tail -20 >&2; exit 1; }

# Waits until a command succeeds, at most 60 s, or a fifth of the time that there is.
await() {
  until=$(($(date +%s) + ${LIMIT:-300} / 5))
  until eval "$*" > /dev/null 2>&1; do
    [ "$(date +%s)" -lt "$until" ] || fail "waited in vain for: $*"
    sleep 0.2
  done
}

# A job that does nothing for so many seconds: fake DURATION [OPTIONS OF flux submit].
fake() { lasts=$1; shift; flux submit --quiet --setattr=system.exec.test.run_duration="$lasts" "$@" true; }
# The same, and prints its id.
fake_id() { lasts=$1; shift; flux submit --setattr=system.exec.test.run_duration="$lasts" "$@" true; }

state() { flux jobs -no '{state}' "$1"; }
result() { flux jobs -no '{result}' "$1"; }
count() { flux resource list -s "$1" -no '{nnodes}' | awk '{ n += $1 } END { print n + 0 }'; }
cores() { flux resource list -s "$1" -no '{ncores}' | awk '{ n += $1 } END { print n + 0 }'; }
number() { flux weir stats | sed -n "s/.*\"$1\": *\([0-9.]*\).*/\1/p"; }

# No two jobs that run have something in common. Prints how many run.
apart() {
  for id in $(flux jobs -f running -c 0 -no '{id}'); do flux job info "$id" R 2> /dev/null; done > "$TMP/running"
  "$WEIR" run "$HERE/apart.lua" < "$TMP/running" || fail "jobs that run share resources"
}

# Everything is over, and nothing is allocated.
finish() {
  flux queue drain || fail "the queue cannot be drained"
  await '[ "$(cores allocated)" = 0 ]'
  [ "$(number running)" = 0 ] && [ "$(number pending)" = 0 ] || fail "the scheduler still has jobs: $(flux weir stats)"
  "$WEIR" run "$HERE/apart.lua" < /dev/null > /dev/null || fail apart
  exit 0
}

TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT
flux module list | grep -q -e '^sched-weir' -e '^sched-fluxion-qmanager' || fail "sched-weir is not loaded"
