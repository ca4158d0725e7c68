#!/bin/sh
# Weather of a place from wttr.in, as plain text.
set -eu

if [ $# -lt 1 ] || [ -z "$1" ]; then
  echo "usage: weather.sh place [now|forecast] [m|u]" >&2
  exit 2
fi
place=$(printf '%s' "$1" | sed -e 's/%/%25/g' -e 's/ /+/g' -e 's/[?#&]//g')
what=${2:-now}
units=${3:-m}
base=${WEATHER_BASE_URL:-https://wttr.in}

case $units in
  m | u) ;;
  *) echo "units are m or u, not \"$units\"" >&2; exit 2 ;;
esac
case $what in
  now) query="format=%l:+%C,+%t+(feels+%f),+wind+%w,+rain+%p,+humidity+%h&$units" ;;
  forecast) query="T&n&$units" ;;
  *) echo "expected now or forecast, not \"$what\"" >&2; exit 2 ;;
esac

curl -fsS --max-time 20 -H 'User-Agent: curl' "$base/$place?$query"
echo
