#!/bin/sh
# Takes frames out of a video: frames.sh video [--at time] [--every seconds] [--sheet CxR] --out path
set -eu

usage() {
  echo 'usage: frames.sh video (--at time | --every seconds [--sheet CxR]) --out path' >&2
  exit 2
}

[ $# -ge 1 ] || usage
video=$1
shift
at= every= sheet= out=
while [ $# -ge 2 ]; do
  case $1 in
    --at) at=$2 ;;
    --every) every=$2 ;;
    --sheet) sheet=$2 ;;
    --out) out=$2 ;;
    *) usage ;;
  esac
  shift 2
done
[ $# -eq 0 ] && [ -n "$out" ] || usage
if [ ! -f "$video" ]; then
  echo "$video is not there" >&2
  exit 1
fi
case $video in
  -*) video=./$video ;;
esac
case $every in
  *[!0-9.]*) echo "expected seconds, not \"$every\"" >&2; exit 2 ;;
esac
case $sheet in
  *[!0-9x]*) echo "expected columns x rows such as 4x4, not \"$sheet\"" >&2; exit 2 ;;
esac
if [ -e "$out" ]; then
  echo "$out is there already; choose another name" >&2
  exit 1
fi

if [ -n "$at" ]; then
  ffmpeg -hide_banner -loglevel error -nostdin -n -ss "$at" -i "$video" -frames:v 1 -q:v 2 "$out"
  echo "$out"
elif [ -n "$sheet" ]; then
  ffmpeg -hide_banner -loglevel error -nostdin -n -i "$video" -vf "fps=1/${every:-10},scale=320:-2,tile=$sheet" -frames:v 1 -q:v 3 "$out"
  echo "$out"
elif [ -n "$every" ]; then
  mkdir -p "$out"
  ffmpeg -hide_banner -loglevel error -nostdin -n -i "$video" -vf "fps=1/$every" -frames:v 200 -q:v 2 "$out/frame-%04d.jpg"
  ls "$out" | sed "s|^|$out/|"
else
  usage
fi
