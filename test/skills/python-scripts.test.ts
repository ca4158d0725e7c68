/** The Python scripts of bundled skills, on files that the test makes. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { zipOf } from "../harness/archives.ts";
import { scriptRunner } from "./run-script.ts";

const NS = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"';

/** A workbook with texts, numbers and a date, as spreadsheet programs write it. */
const WORKBOOK = zipOf([
  {
    name: "xl/workbook.xml",
    content: `<workbook ${NS}><sheets><sheet name="First" sheetId="1" r:id="r1"/><sheet name="Empty" sheetId="2" r:id="r2"/></sheets></workbook>`,
  },
  {
    name: "xl/_rels/workbook.xml.rels",
    content: '<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Target="/xl/worksheets/sheet2.xml"/></Relationships>',
  },
  { name: "xl/sharedStrings.xml", content: `<sst ${NS}><si><t>Day</t></si><si><r><t>Am</t></r><r><t>ount</t></r></si></sst>` },
  { name: "xl/styles.xml", content: `<styleSheet ${NS}><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>` },
  {
    name: "xl/worksheets/sheet1.xml",
    content: `<worksheet ${NS}><sheetData><row><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row><row><c r="A2" s="1"><v>46085</v></c><c r="C2"><v>12.5</v></c></row><row><c r="A3" s="1"><v>46086</v></c><c r="B3" t="inlineStr"><is><t>x|y</t></is></c><c r="C3"><v>7</v></c></row></sheetData></worksheet>`,
  },
  { name: "xl/worksheets/sheet2.xml", content: `<worksheet ${NS}><sheetData/></worksheet>` },
]);

describe("spreadsheets", () => {
  const CSV = "Region;Amount;When\nNorth;1.200,50;2026-01-02\nSouth;10;2026-02-03\nNorth;5;2026-03-04\n";
  const sheet = (here: ReturnType<typeof scriptRunner>, ...args: string[]) => here.run("spreadsheets/scripts/sheet.py", args);

  test("says what is in a CSV file, whatever separates its columns", async () => {
    const here = scriptRunner();
    here.write("a.csv", CSV);
    expect((await sheet(here, "info", "a.csv")).stdout).toBe(
      "  3 rows, 3 columns\n  Region: 3 values, 2 different\n  Amount: 3 values, 3 different, 5 to 1200.5, sum 1215.5\n  When: 3 values, 3 different\n",
    );
  });

  test("filters, chooses columns, groups and exports", async () => {
    const here = scriptRunner();
    here.write("a.csv", CSV);
    expect((await sheet(here, "show", "a.csv", "--where", "Region~nor", "--where", "When>2026-02-01", "--columns", "Amount,Region", "--csv")).stdout).toBe(
      "Amount,Region\n5,North\n",
    );
    expect((await sheet(here, "group", "a.csv", "--by", "Region", "--sum", "Amount")).stdout).toBe(
      "| Region | rows | sum of Amount |\n| --- | --- | --- |\n| North | 2 | 1205.5 |\n| South | 1 | 10 |\n",
    );
    const cut = await sheet(here, "show", "a.csv", "--limit", "1");
    expect([cut.stdout.split("\n").length, cut.stderr]).toEqual([4, "… 2 more rows (--limit 0 shows all)\n"]);
  });

  test("reads Excel files: shared texts, gaps, dates, sheets", async () => {
    const here = scriptRunner();
    here.write("b.xlsx", WORKBOOK);
    expect((await sheet(here, "show", "b.xlsx")).stdout).toBe(
      "| Day | column 2 | Amount |\n| --- | --- | --- |\n| 2026-03-04 |  | 12.5 |\n| 2026-03-05 | x\\|y | 7 |\n",
    );
    expect((await sheet(here, "info", "b.xlsx")).stdout).toContain("sheet Empty\n  empty");
  });

  test.each<[string, string | Buffer, string[], string]>([
    ["a.csv", "A,B\n1,2\n", ["show", "a.csv", "--columns", "C"], "there is no column 'C'; there are: A, B"],
    ["a.csv", "A,B\n1,2\n", ["show", "a.csv", "--where", "A"], "cannot read 'A'"],
    ["a.csv", "", ["show", "a.csv"], "there are no rows"],
    ["a.csv", "A\n1\n", ["show", "none.csv"], "none.csv is not there"],
    ["a.xlsx", "no archive", ["info", "a.xlsx"], "a.xlsx is no .xlsx file"],
    ["a.xlsx", WORKBOOK, ["show", "a.xlsx", "--sheet", "Third"], "there is no sheet 'Third'; there are: First, Empty"],
    [
      "a.xlsx",
      zipOf([
        { name: "xl/workbook.xml", content: '<!DOCTYPE x [<!ENTITY a "b">]><workbook/>' },
        { name: "xl/_rels/workbook.xml.rels", content: "<R/>" },
      ]),
      ["info", "a.xlsx"],
      "declares entities",
    ],
  ])("%s with %j: a clear error for %j", async (name, content, args, message) => {
    const here = scriptRunner();
    here.write(name, content);
    const result = await sheet(here, ...args);
    expect(result).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(message) });
  });
});

describe("calendar-files", () => {
  const ICS = [
    "BEGIN:VCALENDAR",
    "BEGIN:VEVENT",
    "DTSTART;TZID=Europe/Lisbon:20260304T140000",
    "DTEND;TZID=Europe/Lisbon:20260304T144500",
    "SUMMARY:Review\\, part two",
    "LOCATION:Hall",
    "  2",
    "END:VEVENT",
    "BEGIN:VEVENT",
    "DTSTART;VALUE=DATE:20260306",
    "SUMMARY:Holiday",
    "END:VEVENT",
    "BEGIN:VEVENT",
    "DTSTART:20260302T090000Z",
    "DURATION:PT30M",
    "RRULE:FREQ=WEEKLY;BYDAY=MO,WE;COUNT=6",
    "EXDATE:20260309T090000Z",
    "SUMMARY:Stand-up",
    "END:VEVENT",
    "BEGIN:VEVENT",
    "DTSTART:20260301T100000Z",
    "RRULE:FREQ=MONTHLY;BYDAY=-1FR",
    "STATUS:CANCELLED",
    "SUMMARY:Odd",
    "END:VEVENT",
    "END:VCALENDAR",
  ].join("\r\n");
  const ics = (here: ReturnType<typeof scriptRunner>, ...args: string[]) => here.run("calendar-files/scripts/ics.py", args);

  test("lists the events of a time, with those that repeat, in a zone", async () => {
    const here = scriptRunner();
    here.write("c.ics", ICS);
    const { stdout } = await ics(here, "list", "c.ics", "--from", "2026-03-01", "--to", "2026-03-11", "--zone", "Europe/Berlin");
    expect(stdout.split("\n")).toEqual([
      "2026-03-01 11:00+0100\t2026-03-01 11:00+0100\tOdd [repeats] [cancelled]\t",
      "2026-03-02 10:00+0100\t2026-03-02 10:30+0100\tStand-up\t",
      "2026-03-04 10:00+0100\t2026-03-04 10:30+0100\tStand-up\t",
      "2026-03-04 15:00+0100\t2026-03-04 15:45+0100\tReview, part two\tHall 2",
      "2026-03-06\t2026-03-07\tHoliday\t",
      "2026-03-11 10:00+0100\t2026-03-11 10:30+0100\tStand-up\t",
      "",
    ]);
    expect((await ics(here, "list", "c.ics", "--from", "2026-03-16", "--to", "2026-03-31")).stdout.match(/Stand-up/g)).toHaveLength(2);
  });

  test("makes a file that it can read again", async () => {
    const here = scriptRunner();
    const title = `Ünïcode, "quotes"; ${"long ".repeat(30)}`;
    expect(
      (await ics(here, "new", "n.ics", "--title", title, "--start", "2026-07-01 09:00", "--minutes", "90", "--zone", "Europe/Lisbon", "--place", "Café"))
        .stdout,
    ).toBe("n.ics\n");
    expect((await ics(here, "list", "n.ics", "--zone", "Europe/Lisbon")).stdout).toBe(
      `2026-07-01 09:00+0100\t2026-07-01 10:30+0100\t${title.replaceAll(/\s+/g, " ")}\tCafé\n`,
    );
    for (const line of readFileSync(join(here.home, "n.ics"), "utf8").split("\r\n")) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
    await ics(here, "new", "day.ics", "--title", "Day", "--start", "2026-07-02");
    expect((await ics(here, "list", "day.ics")).stdout).toBe("2026-07-02\t2026-07-03\tDay\t\n");
  });

  test("never writes over a file; what it cannot read is an error", async () => {
    const here = scriptRunner();
    here.write("n.ics", "mine");
    expect((await ics(here, "new", "n.ics", "--title", "x", "--start", "2026-07-01")).code).toBe(1);
    expect(readFileSync(join(here.home, "n.ics"), "utf8")).toBe("mine");
    expect(await ics(here, "list", "n.ics")).toMatchObject({ code: 1, stderr: "n.ics is no calendar file\n" });
    expect((await ics(here, "new", "m.ics", "--title", "x", "--start", "tomorrow")).code).toBe(1);
    expect((await ics(here, "new", "m.ics", "--title", "x", "--start", "2026-07-01", "--zone", "Mars/Base")).code).toBe(1);
    expect(existsSync(join(here.home, "m.ics"))).toBe(false);
  });
});

describe("blogwatcher", () => {
  const rss = (...items: readonly [title: string, date: string][]): string =>
    `<rss version="2.0"><channel><title>c</title>${items.map(([title, date]) => `<item><title>${title}</title><link>https://x.test/${title}</link><pubDate>${date}</pubDate></item>`).join("")}</channel></rss>`;
  const feed = (here: ReturnType<typeof scriptRunner>, input: string, ...args: string[]) => here.run("blogwatcher/scripts/feed.py", args, { input });

  test("reads RSS and Atom, newest first", async () => {
    const here = scriptRunner();
    const two = rss(["first", "Mon, 02 Mar 2026 08:00:00 +0100"], ["new", "Tue, 03 Mar 2026 08:00:00 GMT"]);
    expect((await feed(here, two)).stdout).toBe("2026-03-03 08:00\tnew\thttps://x.test/new\n2026-03-02 07:00\tfirst\thttps://x.test/first\n");
    const atom =
      '<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>1</id><title type="html">A  b</title><link rel="self" href="s"/><link href="https://x.test/a"/><updated>2026-03-01T00:00:00Z</updated></entry></feed>';
    expect((await feed(here, atom)).stdout).toBe("2026-03-01 00:00\tA b\thttps://x.test/a\n");
  });

  test("prints what is new since the last look, each once", async () => {
    const here = scriptRunner();
    const one = rss(["a", "Mon, 02 Mar 2026 08:00:00 GMT"]);
    const two = rss(["a", "Mon, 02 Mar 2026 08:00:00 GMT"], ["b", "Tue, 03 Mar 2026 08:00:00 GMT"]);
    const titles = async (input: string) =>
      (await feed(here, input, "--seen", "feeds/x.json")).stdout
        .split("\n")
        .map((line) => line.split("\t")[1])
        .filter(Boolean);
    expect([await titles(one), await titles(two), await titles(two), await titles(one)]).toEqual([["a"], ["b"], [], []]);
  });

  test.each(["", "<html><body/></html>", "no xml", '<!DOCTYPE x [<!ENTITY a "b">]><rss/>'])("%j is no feed", async (input) => {
    const here = scriptRunner();
    expect(await feed(here, input, "--seen", "seen.json")).toMatchObject({ code: 1, stdout: "" });
    expect(existsSync(join(here.home, "seen.json"))).toBe(false);
  });
});
