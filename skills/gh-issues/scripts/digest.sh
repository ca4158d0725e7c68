#!/bin/sh
# Lists open issues: number, state (new, stale or active), last change, labels, title.
set -eu

if [ $# -lt 1 ]; then
  echo "usage: digest.sh owner/name [stale-days] [label]" >&2
  exit 2
fi
repository=$1
days=${2:-30}
label=${3:-}

case $repository in
  */*) ;;
  *) echo "expected owner/name, not \"$repository\"" >&2; exit 2 ;;
esac
case $days in
  '' | *[!0-9]*) echo "expected a number of days, not \"$days\"" >&2; exit 2 ;;
esac

filter=".[] | [.number,
  (if (.comments | length) == 0 then \"new\" elif (now - (.updatedAt | fromdateiso8601)) > $days * 86400 then \"stale\" else \"active\" end),
  .updatedAt[0:10], ([.labels[].name] | join(\",\")), .title] | @tsv"

if [ -n "$label" ]; then
  gh issue list --repo "$repository" --state open --limit 100 --label "$label" --json number,title,labels,comments,updatedAt --jq "$filter"
else
  gh issue list --repo "$repository" --state open --limit 100 --json number,title,labels,comments,updatedAt --jq "$filter"
fi
