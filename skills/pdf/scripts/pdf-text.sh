#!/bin/sh
# Prints the text of a PDF with a line before each page.
set -eu

if [ $# -lt 1 ]; then
  echo "usage: pdf-text.sh file.pdf [first] [last]" >&2
  exit 2
fi
file=$1
if [ ! -f "$file" ]; then
  echo "$file is not there" >&2
  exit 1
fi
pages=$(pdfinfo "$file" | sed -n 's/^Pages:[[:space:]]*//p')
if [ -z "$pages" ]; then
  echo "$file has no pages that can be read" >&2
  exit 1
fi
page=${2:-1}
last=${3:-$pages}
for number in "$page" "$last"; do
  case $number in
    '' | *[!0-9]*) echo "expected a page number, not \"$number\"" >&2; exit 2 ;;
  esac
done
[ "$last" -le "$pages" ] || last=$pages

while [ "$page" -le "$last" ]; do
  echo "=== page $page ==="
  pdftotext -layout -f "$page" -l "$page" -- "$file" -
  page=$((page + 1))
done
