#!/usr/bin/env python3
"""Prints entries of an RSS, Atom or RDF feed from the standard input; with --seen only those that are new."""
import argparse
import datetime
import email.utils
import json
import os
import re
import sys
from xml.etree import ElementTree

MOST_BYTES = 10_000_000
FIRST_TIME = 10
MOST_REMEMBERED = 2000


def fail(message):
    print(message, file=sys.stderr)
    sys.exit(1)


def local(tag):
    return tag.rsplit("}", 1)[-1].lower() if isinstance(tag, str) else ""


def text_of(entry, *names):
    for name in names:
        for child in entry:
            if local(child.tag) == name and "".join(child.itertext()).strip():
                return re.sub(r"\s+", " ", "".join(child.itertext())).strip()
    return ""


def link_of(entry):
    found = ""
    for child in entry:
        if local(child.tag) == "link":
            address = child.get("href") or (child.text or "").strip()
            if address and child.get("rel", "alternate") == "alternate":
                return address
            found = found or address
    return found or text_of(entry, "guid", "id")


def date_of(entry):
    text = text_of(entry, "pubdate", "published", "updated", "date", "modified")
    if not text:
        return ""
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except (TypeError, ValueError):
        try:
            moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
        except ValueError:
            return ""
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.timezone.utc)
    return moment.strftime("%Y-%m-%d %H:%M")


def entries_of(data):
    if b"<!ENTITY" in data:
        fail("the feed declares entities; it is not read")
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        fail(f"this is no feed: {error}")
    entries = [one for one in root.iter() if local(one.tag) in ("item", "entry")]
    if not entries and local(root.tag) not in ("rss", "feed", "rdf"):
        fail("this is no feed: expected RSS, Atom or RDF")
    rows = []
    for one in entries:
        link = link_of(one)
        rows.append({"id": text_of(one, "guid", "id") or link, "date": date_of(one), "title": text_of(one, "title") or "(no title)", "link": link})
    return sorted(rows, key=lambda row: row["date"], reverse=True)


def load_seen(path):
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []
    except FileNotFoundError:
        return None
    except ValueError:
        fail(f"{path} cannot be read; delete it to begin again")


def store_seen(path, ids):
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    temporary = f"{path}.new"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(ids[:MOST_REMEMBERED], file)
    os.replace(temporary, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seen", help="file that remembers what was printed")
    parser.add_argument("--limit", type=int, default=50)
    options = parser.parse_args()
    data = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        fail("the feed is too large")
    rows = entries_of(data)
    shown = rows
    if options.seen:
        seen = load_seen(options.seen)
        shown = rows[:FIRST_TIME] if seen is None else [row for row in rows if row["id"] not in set(seen)]
        ids = [row["id"] for row in rows]
        store_seen(options.seen, ids + [one for one in seen or [] if one not in set(ids)])
    for row in shown[: max(0, options.limit)]:
        print(f"{row['date'] or '-'}\t{row['title']}\t{row['link']}")
    if not shown:
        print("nothing new", file=sys.stderr)


main()
