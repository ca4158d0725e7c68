#!/bin/sh
# How this machine is: system, load, memory, full disks, busy processes. Reads only.
set -u

echo "== system"
uname -srm
if [ -r /proc/uptime ]; then
  awk '{ printf "up %d days %d hours\n", $1 / 86400, ($1 % 86400) / 3600 }' /proc/uptime
fi

echo "== load"
if [ -r /proc/loadavg ]; then
  cut -d ' ' -f 1-3 /proc/loadavg
  echo "cores $(grep -c '^processor' /proc/cpuinfo)"
else
  ps -A -o %cpu= | awk '{ sum += $1 } END { printf "all processes use %.0f%% of one core\n", sum }'
fi

echo "== memory"
if [ -r /proc/meminfo ]; then
  awk '/^MemTotal:/ { total = $2 } /^MemAvailable:/ { free = $2 } END { if (total > 0) printf "%d of %d MB available\n", free / 1024, total / 1024 }' /proc/meminfo
else
  ps -A -o rss= | awk '{ sum += $1 } END { printf "processes use %d MB\n", sum / 1024 }'
fi

echo "== disks over 80%"
df -P -k 2>/dev/null | awk 'NR > 1 { used = $5; sub("%", "", used); if (used + 0 > 80 && $1 !~ /^(devfs|tmpfs|overlay|map)/) { print $6, $5; found = 1 } } END { if (!found) print "none" }'

echo "== busiest processes"
ps -A -o pid=,%cpu=,%mem=,comm= | sort -k2 -rn | head -5
