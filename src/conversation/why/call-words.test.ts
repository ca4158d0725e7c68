import { expect, test } from "vitest";
import { createRedactor } from "../../base/redaction.ts";
import { askedOf, gaveOf } from "./call-words.ts";

const redactor = createRedactor();
redactor.register("hunter2-hunter2");

test("arguments are shown in one line and in full, without secrets", () => {
  const asked = askedOf({ command: "curl  -H x\nhunter2-hunter2", env: { API_TOKEN: "abc" } }, redactor);
  expect(asked.line).toBe("curl -H x ***");
  expect(asked.arguments).toEqual({ command: "curl  -H x\n***", env: { API_TOKEN: "***" } });
  expect(askedOf({ limit: 3, deep: true }, redactor).line).toBe("limit: 3, deep: true");
  expect(askedOf(undefined, redactor)).toEqual({ line: "", arguments: {} });
});

test("what was asked is bounded: long texts, long lists, and all of it", () => {
  const { arguments: args } = askedOf({ content: "x".repeat(100_000), list: Array.from({ length: 80 }, (_, at) => at) }, redactor);
  const { content, list } = args as { readonly content: string; readonly list: readonly unknown[] };
  expect(content).toMatch(/^x{2000}… \(/);
  expect(list.at(-1)).toBe("… 30 more");
  const many = askedOf(Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`k${at}`, "y".repeat(1000)])), redactor);
  expect(typeof many.arguments).toBe("string");
  expect(JSON.stringify(many).length).toBeLessThan(12_000);
});

test("a secret that stands where a text is cut is masked before", () => {
  const { text, cut } = gaveOf({}, `${"z".repeat(1990)} hunter2-hunter2 and more`, redactor, undefined);
  expect(text).not.toContain("hunter2");
  expect(cut).toBe(true);
});

test("what came back: its beginning, its length, how it ended, pictures, and where it stands", () => {
  const message = { details: { exitCode: 3, status: "completed" }, content: [{ type: "text", text: "a" }, { type: "image" }] };
  expect(gaveOf(message, "a", redactor, 9)).toEqual({ text: "a", chars: 1, cut: false, pictures: 1, exitCode: 3, status: "completed", seq: 9 });
  const long = gaveOf({ details: { exitCode: null, exitSignal: "SIGKILL" } }, "b".repeat(5000), redactor, undefined);
  expect(long).toMatchObject({ text: `${"b".repeat(2000)}…`, chars: 5000, cut: true, signal: "SIGKILL" });
  expect(long).not.toHaveProperty("seq");
});
