import { expect, test } from "vitest";
import { commandHelp, completions, windowOf, type Command } from "./composer-commands.ts";

const command = (name: string, fields: Partial<Command> = {}): Command => ({
  name,
  aliases: [],
  description: `does ${name}`,
  category: "",
  source: "core",
  args: [],
  ...fields,
});
const COMMANDS = [
  command("status"),
  command("stop"),
  command("think", { aliases: ["t", "thinking"], args: [{ name: "level", choices: ["off", "low", "high"] }] }),
  command("approve", {
    args: [
      { name: "id", required: true },
      { name: "decision", choices: ["allow-once", "deny"], required: true },
    ],
  }),
];
const texts = (typed: string) => completions(typed, COMMANDS).map(({ text }) => text);

test("a slash offers all commands, letters those that begin with them, then those that hold them", () => {
  expect(texts("/")).toHaveLength(4);
  expect(texts("/st")).toEqual(["/status", "/stop"]);
  expect(texts("/stop")).toEqual(["/stop"]);
  expect(texts("/op")).toEqual(["/stop"]);
  expect(texts("/thinki")).toEqual(["/think "]);
});

test("behind a command the choices of its argument are offered", () => {
  expect(texts("/think ")).toEqual(["/think off", "/think low", "/think high"]);
  expect(texts("/t H")).toEqual(["/t high"]);
  expect(texts("/think high")).toEqual([]);
  expect(texts("/approve 7 ")).toEqual(["/approve 7 allow-once", "/approve 7 deny"]);
});

test("ordinary text and paths offer nothing", () => {
  expect(texts("hello /st")).toEqual([]);
  expect(texts("/usr/bin")).toEqual([]);
  expect(texts("")).toEqual([]);
  expect(texts("/status\nmore")).toEqual([]);
});

test("a command that needs more is not sent at once", () => {
  expect(completions("/approve", COMMANDS)[0]).toMatchObject({ whole: false, label: "/approve <id> <decision>" });
  expect(completions("/think", COMMANDS)[0]).toMatchObject({ whole: true, label: "/think [level]" });
});

test("while its argument is written a command says what it is for", () => {
  expect(commandHelp("/t hi", COMMANDS)).toBe("/think [level]: does think");
  expect(commandHelp("hello", COMMANDS)).toBeUndefined();
});

test("of a long list those around the marked one are seen", () => {
  const letters = ["a", "b", "c", "d", "e", "f", "g", "h"];
  expect(windowOf(letters, 0, 4)).toEqual({ from: 0, seen: ["a", "b", "c", "d"] });
  expect(windowOf(letters, 4, 4)).toEqual({ from: 2, seen: ["c", "d", "e", "f"] });
  expect(windowOf(letters, 7, 4)).toEqual({ from: 4, seen: ["e", "f", "g", "h"] });
  expect(windowOf(["a"], 0, 4)).toEqual({ from: 0, seen: ["a"] });
});
