#!/usr/bin/env python3
"""Lists events of .ics files and makes files with one event. Standard library only."""
import argparse
import calendar
import datetime
import os
import re
import sys
import uuid
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

MOST_REPEATS = 5000
PLAIN_RULE = {"FREQ", "INTERVAL", "COUNT", "UNTIL", "BYDAY", "WKST"}
DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]


def fail(message):
    print(message, file=sys.stderr)
    sys.exit(1)


def zone_of(name):
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        fail(f"{name!r} is no time zone that is known here; expected a name such as Europe/Lisbon")


def unescape(text):
    return re.sub(r"\\(.)", lambda match: "\n" if match.group(1) in "nN" else match.group(1), text)


def properties(lines):
    for line in lines:
        match = re.match(r'([A-Za-z-]+)((?:;[A-Za-z-]+=(?:"[^"]*"|[^:;]*))*):(.*)$', line)
        if match:
            parameters = dict(one.split("=", 1) for one in re.findall(r'[A-Za-z-]+=(?:"[^"]*"|[^;]*)', match.group(2)))
            yield match.group(1).upper(), {key.upper(): value.strip('"') for key, value in parameters.items()}, match.group(3)


def moment(value, parameters):
    """A date, or a time with its zone; times without one are left so."""
    if re.fullmatch(r"\d{8}", value):
        return datetime.datetime.strptime(value, "%Y%m%d").date()
    found = datetime.datetime.strptime(value.rstrip("Z"), "%Y%m%dT%H%M%S")
    if value.endswith("Z"):
        return found.replace(tzinfo=datetime.timezone.utc)
    name = parameters.get("TZID")
    try:
        return found.replace(tzinfo=ZoneInfo(name)) if name else found
    except (ZoneInfoNotFoundError, ValueError):
        return found


def duration(text):
    match = re.fullmatch(r"(-)?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?", text)
    if not match:
        return datetime.timedelta()
    weeks, days, hours, minutes, seconds = (int(one or 0) for one in match.groups()[1:])
    return datetime.timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)


def read_events(path):
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            text = file.read()
    except FileNotFoundError:
        fail(f"{path} is not there")
    if "BEGIN:VCALENDAR" not in text.upper():
        fail(f"{path} is no calendar file")
    lines = re.sub(r"\r?\n[ \t]", "", text).splitlines()
    event, events = None, []
    for name, parameters, value in properties(lines):
        if name == "BEGIN" and value.upper() == "VEVENT":
            event = {"skip": []}
        elif name == "END" and value.upper() == "VEVENT" and event is not None:
            if "start" in event:
                events.append(event)
            event = None
        elif event is None:
            continue
        elif name == "DTSTART":
            event["start"] = moment(value, parameters)
        elif name == "DTEND":
            event["end"] = moment(value, parameters)
        elif name == "DURATION":
            event["length"] = duration(value)
        elif name == "EXDATE":
            event["skip"] += [moment(one, parameters) for one in value.split(",")]
        elif name in ("SUMMARY", "LOCATION", "RRULE", "STATUS"):
            event[name.lower()] = unescape(value) if name in ("SUMMARY", "LOCATION") else value
    return events


def length_of(event):
    if "end" in event:
        return event["end"] - event["start"]
    if "length" in event:
        return event["length"]
    return datetime.timedelta() if isinstance(event["start"], datetime.datetime) else datetime.timedelta(days=1)


def move(start, frequency, count):
    if frequency == "DAILY":
        return start + datetime.timedelta(days=count)
    if frequency == "WEEKLY":
        return start + datetime.timedelta(weeks=count)
    months = start.month - 1 + count * (12 if frequency == "YEARLY" else 1)
    year, month = start.year + months // 12, months % 12 + 1
    if start.day > calendar.monthrange(year, month)[1]:
        return None
    return start.replace(year=year, month=month)


def starts_of(event, last):
    """The starts of an event until a date, and whether the rule was understood."""
    start = event["start"]
    if "rrule" not in event:
        return [start], True
    rule = dict(one.split("=", 1) for one in event["rrule"].upper().split(";") if "=" in one)
    frequency = rule.get("FREQ")
    days = rule.get("BYDAY", "")
    known = frequency in ("DAILY", "WEEKLY", "MONTHLY", "YEARLY") and set(rule) <= PLAIN_RULE
    if days and (frequency != "WEEKLY" or any(day not in DAYS for day in days.split(","))):
        known = False
    if not known:
        return [start], False
    until = moment(rule["UNTIL"], {}) if "UNTIL" in rule else None
    most = min(int(rule.get("COUNT", MOST_REPEATS)), MOST_REPEATS)
    step = int(rule.get("INTERVAL", "1"))
    offsets = sorted(DAYS.index(day) - start.weekday() for day in days.split(",")) if days else [0]
    found, turn = [], 0
    while len(found) < most and turn < MOST_REPEATS:
        base = move(start, frequency, turn * step)
        turn += 1
        if base is None:
            continue
        for offset in offsets:
            one = base + datetime.timedelta(days=offset)
            if one < start or len(found) >= most:
                continue
            if day_of(one) > last or (until is not None and day_of(one) > day_of(until)):
                return found, True
            found.append(one)
    return found, True


def day_of(value):
    return value.date() if isinstance(value, datetime.datetime) else value


def in_zone(value, zone):
    if zone is None or not isinstance(value, datetime.datetime) or value.tzinfo is None:
        return value
    return value.astimezone(zone)


def shown(value):
    if not isinstance(value, datetime.datetime):
        return value.isoformat()
    zone = value.strftime("%z") if value.tzinfo else ""
    return value.strftime("%Y-%m-%d %H:%M") + zone


def list_events(options):
    first = datetime.date.fromisoformat(options.first) if options.first else datetime.date.min
    last = datetime.date.fromisoformat(options.last) if options.last else (first if options.first else datetime.date.today()) + datetime.timedelta(days=366)
    zone = zone_of(options.zone) if options.zone else None
    rows = []
    for event in read_events(options.file):
        starts, known = starts_of(event, last if options.last or "rrule" in event else datetime.date.max)
        for start in starts:
            if any(one == start or (day_of(one) == day_of(start) and not isinstance(one, datetime.datetime)) for one in event["skip"]):
                continue
            end = start + length_of(event)
            begin, finish = in_zone(start, zone), in_zone(end, zone)
            if day_of(finish) < first or (options.last and day_of(begin) > last):
                continue
            title = re.sub(r"\s+", " ", event.get("summary", "(no title)"))
            if not known:
                title += " [repeats]"
            if event.get("status") == "CANCELLED":
                title += " [cancelled]"
            rows.append((shown(begin), shown(finish), title, re.sub(r"\s+", " ", event.get("location", ""))))
    for row in sorted(rows):
        print("\t".join(row))
    if not rows:
        print("no events", file=sys.stderr)


def escape(text):
    return re.sub(r"([\\;,])", r"\\\1", text).replace("\n", "\\n")


def fold(line):
    parts, rest = [], line.encode()
    while len(rest) > 74:
        cut = 74
        while cut > 0 and (rest[cut] & 0xC0) == 0x80:
            cut -= 1
        parts.append(rest[:cut].decode())
        rest = rest[cut:]
    return "\r\n ".join(parts + [rest.decode()])


def new_event(options):
    if os.path.exists(options.file):
        fail(f"{options.file} is there already; choose another name")
    zone = zone_of(options.zone or "UTC")
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    try:
        start = datetime.datetime.fromisoformat(options.start)
    except ValueError:
        fail(f"cannot read the start {options.start!r}: expected 2026-03-04 or 2026-03-04 14:00")
    if re.fullmatch(r"\d{4}-\d\d-\d\d", options.start):
        end = start + datetime.timedelta(days=1)
        times = [f"DTSTART;VALUE=DATE:{start:%Y%m%d}", f"DTEND;VALUE=DATE:{end:%Y%m%d}"]
    else:
        utc = start.replace(tzinfo=zone).astimezone(datetime.timezone.utc)
        end = utc + datetime.timedelta(minutes=options.minutes or 60)
        times = [f"DTSTART:{utc:%Y%m%dT%H%M%SZ}", f"DTEND:{end:%Y%m%dT%H%M%SZ}"]
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//OpenClaw//calendar-files//EN", "BEGIN:VEVENT", f"UID:{uuid.uuid4()}", f"DTSTAMP:{now}"]
    lines += times + [f"SUMMARY:{escape(options.title)}"]
    lines += [f"LOCATION:{escape(options.place)}"] if options.place else []
    lines += [f"DESCRIPTION:{escape(options.notes)}"] if options.notes else []
    lines += ["END:VEVENT", "END:VCALENDAR", ""]
    with open(options.file, "x", newline="", encoding="utf-8") as file:
        file.write("\r\n".join(fold(line) for line in lines))
    print(options.file)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list")
    listing.add_argument("file")
    listing.add_argument("--from", dest="first")
    listing.add_argument("--to", dest="last")
    listing.add_argument("--zone")
    making = commands.add_parser("new")
    making.add_argument("file")
    making.add_argument("--title", required=True)
    making.add_argument("--start", required=True)
    making.add_argument("--minutes", type=int)
    making.add_argument("--zone")
    making.add_argument("--place")
    making.add_argument("--notes")
    options = parser.parse_args()
    if options.command == "list":
        try:
            list_events(options)
        except ValueError as error:
            fail(f"cannot read a date: {error}")
    else:
        new_event(options)


main()
