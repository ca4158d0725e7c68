#!/bin/sh
# Prints the Obsidian vaults below a folder (default: home) with how many notes each has.
set -eu

root=${1:-$HOME}
if [ ! -d "$root" ]; then
  echo "$root is no folder" >&2
  exit 1
fi
find "$root" -maxdepth 5 \( -name node_modules -o -name .git -o -name .Trash -o -name .cache \) -prune -o -type d -name .obsidian -print 2>/dev/null |
  while IFS= read -r marker; do
    vault=$(dirname "$marker")
    notes=$(find "$vault" -name '*.md' -not -path '*/.obsidian/*' -not -path '*/.trash/*' 2>/dev/null | wc -l | tr -d ' ')
    printf '%s\t%s notes\n' "$vault" "$notes"
  done
