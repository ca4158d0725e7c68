#!/bin/sh
# Talks to Home Assistant: ha.sh states|state|services|call ...
set -eu

usage() {
  echo 'usage: ha.sh states [domain] | state <entity> | services [domain] | call <domain.service> [json]' >&2
  exit 2
}

: "${HASS_URL:?is not set: the address of Home Assistant}"
: "${HASS_TOKEN:?is not set: a long-lived access token}"
base=${HASS_URL%/}/api

# The token comes over the standard input, so that no list of processes shows it.
ask() {
  printf 'header = "Authorization: Bearer %s"\n' "$HASS_TOKEN" | curl -fsS --max-time 20 --config - -H 'Content-Type: application/json' "$@"
}

# Jinja runs in Home Assistant, so that no JSON program is needed here.
render() {
  ask -X POST --data "$1" "$base/template"
  echo
}

plain() {
  case $1 in
    '' | *[!a-z0-9_.]*) echo "\"$1\" is no name: expected small letters, digits, _ and ." >&2; exit 2 ;;
  esac
}

command=${1:-}
[ $# -gt 0 ] && shift
case $command in
  states)
    if [ $# -gt 0 ]; then
      plain "$1"
      from="states.$1"
    else
      from=states
    fi
    render "{\"template\": \"{% for s in $from %}{{ s.entity_id }}\\t{{ s.state }}\\t{{ s.name }}\\n{% endfor %}\"}"
    ;;
  state)
    [ $# -eq 1 ] || usage
    plain "$1"
    ask "$base/states/$1"
    echo
    ;;
  services)
    ask "$base/services"
    echo
    ;;
  call)
    [ $# -ge 1 ] || usage
    plain "$1"
    case $1 in
      *.*) ;;
      *) usage ;;
    esac
    ask -X POST --data "${2:-{\}}" "$base/services/${1%%.*}/${1#*.}"
    echo
    ;;
  *) usage ;;
esac
