#!/usr/bin/env python3
"""Reads CSV, TSV and XLSX files with the standard library: info, show, group."""
import argparse
import csv
import datetime
import re
import sys
import zipfile
from xml.etree import ElementTree

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
MOST_BYTES = 200 * 1024 * 1024


def fail(message):
    print(message, file=sys.stderr)
    sys.exit(1)


def read_part(archive, name):
    size = archive.getinfo(name).file_size
    if size > MOST_BYTES:
        fail(f"{name} has {size} bytes, which is too large to be read")
    text = archive.read(name)
    if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
        fail(f"{name} declares entities, which no spreadsheet does")
    return ElementTree.fromstring(text)


def column_index(reference):
    index = 0
    for letter in re.match(r"[A-Z]*", reference).group(0):
        index = index * 26 + ord(letter) - 64
    return index - 1


def date_styles(archive):
    if "xl/styles.xml" not in archive.namelist():
        return set()
    root = read_part(archive, "xl/styles.xml")
    own = {
        int(one.get("numFmtId"))
        for one in root.iter(f"{MAIN}numFmt")
        if re.search(r"[ymdhs]", re.sub(r'"[^"]*"|\[[^\]]*\]', "", one.get("formatCode", "")), re.I)
    }
    dates = own | set(range(14, 23)) | {45, 46, 47}
    formats = root.find(f"{MAIN}cellXfs")
    cells = [] if formats is None else list(formats)
    return {index for index, one in enumerate(cells) if int(one.get("numFmtId", "0")) in dates}


def shown_date(number):
    moment = datetime.datetime(1899, 12, 30) + datetime.timedelta(days=number)
    return moment.date().isoformat() if number == int(number) else moment.isoformat(" ", "minutes")


def cell_text(cell, shared, dates):
    kind = cell.get("t")
    if kind == "inlineStr":
        return "".join(part.text or "" for part in cell.iter(f"{MAIN}t"))
    value = cell.findtext(f"{MAIN}v")
    if value is None:
        return ""
    if kind == "s":
        return shared[int(value)]
    if kind == "b":
        return "TRUE" if value == "1" else "FALSE"
    if kind in ("str", "e"):
        return value
    number = float(value)
    if int(cell.get("s", "0")) in dates:
        return shown_date(number)
    return str(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)


def read_xlsx(path):
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile:
        fail(f"{path} is no .xlsx file")
    names = archive.namelist()
    if "xl/workbook.xml" not in names:
        fail(f"{path} is no .xlsx file")
    shared = []
    if "xl/sharedStrings.xml" in names:
        for item in read_part(archive, "xl/sharedStrings.xml").iter(f"{MAIN}si"):
            shared.append("".join(part.text or "" for part in item.iter(f"{MAIN}t")))
    targets = {one.get("Id"): one.get("Target") for one in read_part(archive, "xl/_rels/workbook.xml.rels")}
    dates = date_styles(archive)
    sheets = {}
    for sheet in read_part(archive, "xl/workbook.xml").iter(f"{MAIN}sheet"):
        target = targets[sheet.get(RELATION)].lstrip("/")
        part = target if target.startswith("xl/") else f"xl/{target}"
        rows = []
        for row in read_part(archive, part).iter(f"{MAIN}row"):
            cells = {}
            for position, cell in enumerate(row.iter(f"{MAIN}c")):
                reference = cell.get("r")
                cells[column_index(reference) if reference else position] = cell_text(cell, shared, dates)
            rows.append([cells.get(index, "") for index in range(max(cells) + 1)] if cells else [])
        sheets[sheet.get("name")] = rows
    return sheets


def read_text(path, separator):
    with open(path, newline="", encoding="utf-8-sig", errors="replace") as file:
        sample = file.read(65536)
        file.seek(0)
        if separator is None:
            try:
                separator = csv.Sniffer().sniff(sample, ",;\t|").delimiter
            except csv.Error:
                separator = ","
        return {"": list(csv.reader(file, delimiter=separator))}


def load(path, sheet):
    lower = path.lower()
    try:
        sheets = read_xlsx(path) if lower.endswith(".xlsx") else read_text(path, "\t" if lower.endswith(".tsv") else None)
    except FileNotFoundError:
        fail(f"{path} is not there")
    if sheet is not None and sheet not in sheets:
        fail(f"there is no sheet {sheet!r}; there are: {', '.join(sheets) or 'none'}")
    return sheets, sheets[sheet] if sheet is not None else next(iter(sheets.values()), [])


def table(rows):
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    if not rows:
        fail("there are no rows")
    header = [name.strip() or f"column {index + 1}" for index, name in enumerate(rows[0])]
    width = len(header)
    return header, [(row + [""] * width)[:width] for row in rows[1:]]


def number(text):
    plain = text.strip().replace("\u00a0", "").replace(" ", "").rstrip("%")
    if re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d+)?", plain):
        plain = plain.replace(",", "")
    elif re.fullmatch(r"-?(\d{1,3}(\.\d{3})+|\d+),\d+", plain):
        plain = plain.replace(".", "").replace(",", ".")
    try:
        return float(plain)
    except ValueError:
        return None


def shown(value):
    return str(int(value)) if value == int(value) else f"{value:.10g}"


def place_of(header, name):
    if name in header:
        return header.index(name)
    fail(f"there is no column {name!r}; there are: {', '.join(header)}")


def compare(text, operator, wanted):
    if operator == "~":
        return wanted.lower() in text.lower()
    left, right = number(text), number(wanted)
    if operator in ("=", "!="):
        same = text.strip() == wanted.strip() or (left is not None and left == right)
        return same == (operator == "=")
    if left is None or right is None:
        # Dates in ISO form compare as texts do.
        left, right = text.strip(), wanted.strip()
        if left == "":
            return False
    return {">": left > right, "<": left < right, ">=": left >= right, "<=": left <= right}[operator]


def keep(header, rows, conditions):
    for condition in conditions:
        match = re.match(r"(.+?)(!=|>=|<=|=|>|<|~)(.*)$", condition)
        if not match:
            fail(f"cannot read {condition!r}: expected Column=text, !=, >, <, >=, <= or ~")
        index = place_of(header, match.group(1).strip())
        rows = [row for row in rows if compare(row[index], match.group(2), match.group(3))]
    return rows


def print_rows(header, rows, as_csv):
    if as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
        return
    clean = lambda text: re.sub(r"\s+", " ", text).replace("|", "\\|")
    print("| " + " | ".join(map(clean, header)) + " |")
    print("|" + " --- |" * len(header))
    for row in rows:
        print("| " + " | ".join(map(clean, row)) + " |")


def info(sheets):
    for name, raw in sheets.items():
        if name:
            print(f"sheet {name}")
        if not any(any(cell.strip() for cell in row) for row in raw):
            print("  empty")
            continue
        header, rows = table(raw)
        print(f"  {len(rows)} rows, {len(header)} columns")
        for index, column in enumerate(header):
            values = [row[index] for row in rows if row[index].strip()]
            numbers = [one for one in map(number, values) if one is not None]
            line = f"  {column}: {len(values)} values, {len(set(values))} different"
            if values and len(numbers) == len(values):
                line += f", {shown(min(numbers))} to {shown(max(numbers))}, sum {shown(sum(numbers))}"
            elif numbers:
                line += f", {len(numbers)} of them numbers"
            print(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["info", "show", "group"])
    parser.add_argument("file")
    parser.add_argument("--sheet")
    parser.add_argument("--where", action="append", default=[])
    parser.add_argument("--columns")
    parser.add_argument("--limit", type=int, default=50)
    parser.add_argument("--by")
    parser.add_argument("--sum")
    parser.add_argument("--csv", action="store_true")
    options = parser.parse_args()
    sheets, raw = load(options.file, options.sheet)
    if options.command == "info":
        return info(sheets)
    header, rows = table(raw)
    rows = keep(header, rows, options.where)
    if options.command == "group":
        if options.by is None:
            fail("group needs --by and a column")
        by = place_of(header, options.by)
        total = place_of(header, options.sum) if options.sum else None
        groups = {}
        for row in rows:
            count, sum_so_far = groups.get(row[by], (0, 0.0))
            groups[row[by]] = (count + 1, sum_so_far + ((number(row[total]) or 0) if total is not None else 0))
        ordered = sorted(groups.items(), key=lambda one: (-one[1][1], -one[1][0], one[0]))
        names = [options.by, "rows"] + ([f"sum of {options.sum}"] if total is not None else [])
        result = [[name, str(count)] + ([shown(amount)] if total is not None else []) for name, (count, amount) in ordered]
        return print_rows(names, result, options.csv)
    if options.columns:
        places = [place_of(header, name.strip()) for name in options.columns.split(",")]
        header, rows = [header[index] for index in places], [[row[index] for index in places] for row in rows]
    cut = rows if options.limit <= 0 else rows[: options.limit]
    print_rows(header, cut, options.csv)
    if len(cut) < len(rows):
        print(f"… {len(rows) - len(cut)} more rows (--limit 0 shows all)", file=sys.stderr)


main()
