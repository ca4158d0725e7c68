import { describe, expect, test } from "vitest";
import { createLogBook, matcher, NO_FILTER, parseLine, unfolded, type LogFilter } from "./log-lines.ts";
import { rowWindow } from "./log-window.ts";

const line = (level: string, message: string, subsystem = "app", time = "2026-01-02T03:04:05.000Z"): string =>
  JSON.stringify({ time, level, subsystem, message });

describe("reading", () => {
  test("a line of JSON gives its parts", () => {
    expect(parseLine(line("warn", "slow", "channels/telegram"), 7)).toMatchObject({
      id: 7,
      time: Date.UTC(2026, 0, 2, 3, 4, 5),
      level: "warn",
      subsystem: "channels/telegram",
      message: "slow",
    });
  });
  test("any other line is a message", () => {
    expect(parseLine("Killed", 1)).toEqual({ id: 1, time: undefined, level: "", subsystem: "", message: "Killed", raw: "Killed" });
    expect(parseLine("null", 1).message).toBe("null");
  });
  test("a line unfolds with indentation, what is no JSON stays", () => {
    expect([unfolded('{"a":1}'), unfolded("Killed")]).toEqual(['{\n  "a": 1\n}', "Killed"]);
  });
});

describe("filtering", () => {
  const passes = (filter: Partial<LogFilter>, raw: string): boolean => {
    const by = matcher({ ...NO_FILTER, ...filter });
    if (typeof by === "string") throw new Error(by);
    return by(parseLine(raw, 1));
  };
  test("a level shows itself and what is graver", () => {
    expect(["error", "warn", "info"].map((level) => passes({ level: "warn" }, line(level, "x")))).toEqual([true, true, false]);
    expect([passes({ level: "warn" }, "Killed"), passes({}, "Killed")]).toEqual([false, true]);
  });
  test("a subsystem shows what is below it, and not its namesakes", () => {
    expect(["channels", "channels/irc", "channelsx"].map((name) => passes({ subsystem: "channels" }, line("info", "x", name)))).toEqual([true, true, false]);
  });
  test("text is looked for in the whole line, as words or as a pattern", () => {
    expect([
      passes({ text: "A.B" }, line("info", "a.b")),
      passes({ text: "a.b" }, line("info", "axb")),
      passes({ text: "a.b", regex: true }, line("info", "axb")),
    ]).toEqual([true, false, true]);
  });
  test("a pattern that cannot be read is reported", () => {
    expect(matcher({ ...NO_FILTER, text: "(", regex: true })).toMatch(/regular expression/i);
  });
  test("older lines are left out", () => {
    expect([passes({ since: Date.UTC(2026, 0, 1) }, line("info", "x")), passes({ since: Date.UTC(2026, 0, 3) }, line("info", "x"))]).toEqual([true, false]);
  });
});

describe("the book", () => {
  test("lines that pass the filter are shown as they come", () => {
    const book = createLogBook();
    book.add([line("info", "one"), line("error", "two")]);
    book.filter(({ level }) => level === "error");
    book.add([line("error", "three"), "", line("info", "four", "models")]);
    expect(book.shown.map(({ message }) => message)).toEqual(["two", "three"]);
    expect([book.lines.length, [...book.subsystems]]).toEqual([4, ["app", "models"]]);
  });
  test("the oldest lines go when there are too many", () => {
    const book = createLogBook(100);
    book.add(Array.from({ length: 101 }, (_, at) => line("info", `m${at}`)));
    expect([book.lines.length, book.lines[0]?.message, book.shown[0]?.message, book.shown.at(-1)?.message]).toEqual([90, "m11", "m11", "m100"]);
  });
});

describe("the window", () => {
  const layout = { count: 1000, rowHeight: 20, viewHeight: 200, spare: 2 };
  test("only rows around what is seen are drawn", () => {
    expect(rowWindow({ ...layout, top: 1000 })).toEqual({ from: 48, to: 63, above: 960, height: 20_000 });
  });
  test("an unfolded row moves what is below it", () => {
    const open = { index: 10, height: 100 };
    expect(rowWindow({ ...layout, top: 1100, open })).toEqual({ from: 48, to: 63, above: 1060, height: 20_100 });
    expect(rowWindow({ ...layout, top: 250, open })).toMatchObject({ from: 8, above: 160 });
  });
  test("the ends are never passed", () => {
    expect(rowWindow({ ...layout, top: 19_900 })).toMatchObject({ to: 1000 });
    expect(rowWindow({ ...layout, count: 0, top: 500 })).toEqual({ from: 0, to: 0, above: 0, height: 0 });
  });
});
