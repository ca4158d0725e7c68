#!/bin/sh
# Waits until a line of a pane matches a pattern, then prints the pane.
set -eu

if [ $# -lt 2 ]; then
  echo "usage: wait-for-text.sh session pattern [seconds]" >&2
  exit 2
fi
session=$1
pattern=$2
left=${3:-15}

while :; do
  pane=$(tmux -L "${TMUX_SOCKET_NAME:-openclaw}" capture-pane -p -J -t "$session" -S -200)
  if printf '%s\n' "$pane" | grep -Eq -- "$pattern"; then
    printf '%s\n' "$pane"
    exit 0
  fi
  [ "$left" -gt 0 ] || break
  left=$((left - 1))
  sleep 1
done
printf '%s\n' "$pane"
echo "no line matched: $pattern" >&2
exit 1
