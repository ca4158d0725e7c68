#!/bin/sh
# Prints what is said in a recording: transcribe.sh file [--model name] [--language code] [--translate]
set -eu

usage() {
  echo 'usage: transcribe.sh file [--model name] [--language code] [--translate]' >&2
  exit 2
}

[ $# -ge 1 ] || usage
file=$1
shift
model=base language= task=transcribe
while [ $# -gt 0 ]; do
  case $1 in
    --translate) task=translate; shift ;;
    --model) [ $# -ge 2 ] || usage; model=$2; shift 2 ;;
    --language) [ $# -ge 2 ] || usage; language=$2; shift 2 ;;
    *) usage ;;
  esac
done
if [ ! -f "$file" ]; then
  echo "$file is not there" >&2
  exit 1
fi
case $file in
  /*) ;;
  *) file=$PWD/$file ;;
esac

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
set -- --model "$model" --task "$task" --output_format txt --output_dir "$folder" --verbose False
[ -z "$language" ] || set -- "$@" --language "$language"
whisper "$file" "$@" >"$folder/log" 2>&1 || { tail -5 "$folder/log" >&2; exit 1; }
cat "$folder"/*.txt
