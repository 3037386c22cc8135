#!/bin/sh
# pictures.sh - makes the pictures of the README again, in doc/pictures. From the project's root, after make: sh spec/tools/pictures.sh
# The page of a replay is photographed by Chromium.
set -e
weir=build/weir
out=doc/pictures
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

$weir show -r "cluster:1 rack:2 node:6 core:16 gpu:2" -j slot=3/node -j "slot=4/[core=8;gpu=1]" -j slot=20/core=2 -j slot=1/core=5 \
  --svg --width 860 -o $out/machine.svg

$weir replay -r "cluster:1 rack:8 node:16 core:8" --generate 2000 --seed 1 --compare "easy fcfs" --report "$work/report" --quiet > "$work/table"
chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update \
  --disable-sync --hide-scrollbars --user-data-dir="$work/profile" --window-size=1200,820 --screenshot="$PWD/$out/replay.png" \
  "file://$work/report/index.html" > "$work/log" 2>&1
