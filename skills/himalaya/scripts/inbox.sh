#!/bin/sh
# Lists mail as JSON, newest first: inbox.sh unread|search ...
set -eu

usage() {
  echo 'usage: inbox.sh unread [account] [count] | inbox.sh search "query" [account] [count]' >&2
  exit 2
}

case ${1:-} in
  unread) query='not flag seen'; shift ;;
  search) query=${2:-}; [ -n "$query" ] || usage; shift 2 ;;
  *) usage ;;
esac
account=${1:-}
count=${2:-20}
case $count in
  '' | *[!0-9]*) echo "expected how many messages, not \"$count\"" >&2; exit 2 ;;
esac

set -f
# The words of the query are arguments of their own.
set -- $query order by date desc
if [ -n "$account" ]; then
  himalaya envelope list --output json --account "$account" --page-size "$count" "$@"
else
  himalaya envelope list --output json --page-size "$count" "$@"
fi
