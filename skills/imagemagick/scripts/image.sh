#!/bin/sh
# Converts an image: image.sh source target [options ...]. Never writes over a file.
set -eu

if [ $# -lt 2 ]; then
  echo 'usage: image.sh source target [options ...]' >&2
  exit 2
fi
source=$1
target=$2
shift 2
if [ ! -f "$source" ]; then
  echo "$source is not there" >&2
  exit 1
fi
for option in "$@"; do
  case $option in
    @* | -write | -script | *://*) echo "\"$option\" is not taken here" >&2; exit 2 ;;
  esac
done
case $target in
  info:) ;;
  *:*) echo "expected the name of a file, not \"$target\"" >&2; exit 2 ;;
  *)
    if [ -e "$target" ]; then
      echo "$target is there already; choose another name" >&2
      exit 1
    fi
    ;;
esac
case $source in
  /*) ;;
  *) source=./$source ;;
esac

if command -v magick >/dev/null 2>&1; then
  magick "$source" "$@" "$target"
else
  convert "$source" "$@" "$target"
fi
[ "$target" = info: ] || echo "$target"
