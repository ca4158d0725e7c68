import { expect, test } from "vitest";
import { AppError } from "../base/errors.ts";
import { defineCommand, JSON_OPTION, type Entry } from "./command.ts";
import { dispatch } from "./dispatch.ts";
import { showFailure } from "./failure.ts";
import type { Io } from "./io.ts";

function fakeIo(): Io & { readonly written: { out: string; err: string } } {
  const written = { out: "", err: "" };
  return {
    written,
    env: {},
    cwd: "/",
    version: "9.9.9",
    out: (text) => void (written.out += text),
    err: (text) => void (written.err += text),
    program: "openclaw",
    runnable: (text: string) => text,
    color: false,
    interactive: false,
    columns: 100,
    now: () => 0,
    confirm: () => Promise.resolve(false),
    signal: () => new AbortController().signal,
  };
}

const loaded: string[] = [];
const greet = defineCommand({
  positionals: "<name>",
  options: { json: JSON_OPTION, shout: { type: "boolean", help: "louder" }, times: { type: "string", value: "n", help: "how often" } },
  examples: [{ line: "openclaw greet Ada", does: "says hello" }],
  run: ({ io, values, positionals }) => {
    io.out(`hello ${positionals[0]}${values.shout ? "!" : ""} ${values.times ?? 1}`);
    return Promise.resolve(values.times === "0" ? 3 : undefined);
  },
});
const entries: Entry[] = [
  { name: "greet", summary: "says hello", load: () => (loaded.push("greet"), Promise.resolve(greet)) },
  {
    name: "group",
    summary: "holds others",
    load: () =>
      Promise.resolve({
        entries: [{ name: "inner", summary: "the inner one", load: () => Promise.resolve(greet) }],
        fallback: "inner",
        leadingFlags: { times: true, shout: false },
        examples: [],
      }),
  },
];

test("a command gets its own options and arguments, and its number is the exit code", async () => {
  const io = fakeIo();
  expect(await dispatch(entries, ["greet", "Ada", "--shout", "--times", "0"], io)).toBe(3);
  expect(io.written.out).toBe("hello Ada! 0");
});

test("a command below a group is found, and a group's default runs when none is named", async () => {
  const io = fakeIo();
  expect(await dispatch(entries, ["group", "inner", "A"], io)).toBe(0);
  expect(await dispatch(entries, ["group", "--times", "2", "--shout", "inner", "B"], io)).toBe(0);
  expect(await dispatch(entries, ["group", "--shout"], io)).toBe(0);
  expect(io.written.out).toBe("hello A 1hello B! 2hello undefined! 1");
});

test("help lists every command without loading any", async () => {
  loaded.length = 0;
  const io = fakeIo();
  await dispatch(entries, [], io);
  expect(io.written.out).toMatch(/9\.9\.9[\s\S]*greet\s+says hello[\s\S]*group\s+holds others/);
  expect(loaded).toEqual([]);
});

test("a command's help shows its usage, options and examples", async () => {
  const io = fakeIo();
  await dispatch(entries, ["greet", "--help"], io);
  expect(io.written.out).toMatch(/openclaw greet <name> \[options\][\s\S]*--times <n>[\s\S]*openclaw greet Ada/);
});

test("a misspelt command or option is answered with the one that was meant", async () => {
  await expect(dispatch(entries, ["great"], fakeIo())).rejects.toThrow('unknown command "great"; did you mean "greet"?');
  await expect(dispatch(entries, ["group", "innr"], fakeIo())).rejects.toThrow('unknown command "group innr"; did you mean "inner"?');
  await expect(dispatch(entries, ["greet", "--shuot"], fakeIo())).rejects.toThrow("unknown option --shuot; did you mean --shout?");
});

test("an error is one line for people and an object for machines", () => {
  const io = fakeIo();
  const error = new AppError("LOCKED", "held by 12", { details: { pid: 12 } });
  expect(showFailure(error, io, false)).toBe(1);
  expect(io.written).toEqual({ out: "", err: "error: held by 12\n" });
  showFailure(error, io, true);
  expect(JSON.parse(io.written.out)).toEqual({ ok: false, error: { code: "LOCKED", message: "held by 12", details: { pid: 12 } } });
});

test("a defect says that it is one and shows where it happened", () => {
  const io = fakeIo();
  showFailure(new TypeError("x is not a function"), io, false);
  expect(io.written.err).toMatch(/bug in openclaw[\s\S]*dispatch\.test\.ts/);
});
