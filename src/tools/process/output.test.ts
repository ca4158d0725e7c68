import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import { logPage } from "./process.ts";
import { CommandOutput, TailText } from "./output.ts";

test("the end of a text is kept, whatever the sizes of its pieces", () => {
  const tail = new TailText(10);
  for (const piece of ["abc", "d".repeat(50), "", "efghi", "jklm"]) tail.add(piece);
  expect(tail.text()).toBe("defghijklm");
  expect({ total: tail.total, truncated: tail.truncated }).toEqual({ total: 62, truncated: true });
  const pair = new TailText(3);
  pair.add("😀😀");
  expect(pair.text()).toBe("😀");
});

/** Bytes that are still referenced. What is freed only after a pause, such as buffers of finished writes, is not counted. */
async function retained(): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let round = 0; round < 3; round += 1) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test("of a flood only the end is kept", async () => {
  const output = new CommandOutput();
  onTestFinished(() => output.release());
  const chunk = Buffer.from(`${"x".repeat(1023)}\n`.repeat(64));
  void output.add("stdout", chunk);
  const before = await retained();
  for (let count = 1; count < 4096; count += 1) await output.add(count % 2 ? "stdout" : "stderr", chunk);
  // Other tests share the process: the bound is far above what they leave, and far below the 256 MB that came.
  expect((await retained()) - before).toBeLessThan(16 * 1024 * 1024);
  expect(output.total).toBe(256 * 1024 * 1024);
  expect(output.aggregated()).toHaveLength(200_000);
  expect(output.tail()).toHaveLength(2000);
  expect(output.drain().length).toBeLessThanOrEqual(80_001);
  expect(output.shown()).toMatch(/^x+\n[^]*\[\d+ characters left out here\][^]*x\n$/);
});

test("of what is new, too, the beginning and the end are shown, by whole lines, with a note between them", async () => {
  const output = new CommandOutput();
  const lines = Array.from({ length: 20_000 }, (_, line) => `line ${line}\n`);
  void output.add("stdout", Buffer.from("old\n"));
  expect(output.drain()).toBe("old\n");
  for (const line of lines) void output.add("stdout", Buffer.from(line));
  const shown = output.drain("; there is more");
  expect(shown).toMatch(/^line 0\nline 1\n[^]*line \d+\n\n\[\d+ characters left out here; there is more\]\n\nline \d+\n[^]*\nline 19999\n$/);
  expect(shown.length).toBeGreaterThan(30_000);
  expect(shown.length).toBeLessThan(41_000);
  const left = Number(/\[(\d+) characters/.exec(shown)![1]);
  expect(Math.abs(left - (lines.join("").length - 40_000))).toBeLessThan(600);
  expect(output.drain()).toBe("");
  await output.release();
});

test("an output that was released opens no file again", async () => {
  const output = new CommandOutput();
  const line = Buffer.from(`${"x".repeat(1023)}\n`);
  for (let count = 0; count < 100; count += 1) void output.add("stdout", line);
  expect((await output.whole())?.content).toHaveLength(100 * 1024);
  await output.release();
  void output.add("stdout", line);
  expect(await output.whole()).toBeUndefined();
});

test("what was drained does not come again", () => {
  const output = new CommandOutput();
  void output.add("stdout", Buffer.from("one"));
  void output.add("stderr", Buffer.from("two\n"));
  expect(output.drain()).toBe("one\ntwo\n");
  expect(output.drain()).toBe("");
  expect(output.aggregated()).toBe("onetwo\n");
});

test("pages of a log: the last lines, from an offset, or so many", () => {
  const text = `${Array.from({ length: 300 }, (_, line) => `l${line}`).join("\n")}\n`;
  expect(logPage(text).text).toMatch(/^l100\n[^]*\nl299\n\n\[the last 200 of 300 lines/);
  expect(logPage(text, 298).text).toBe("l298\nl299");
  expect(logPage(text, undefined, 1).text).toBe("l299");
  expect(logPage(text, 5, 2)).toEqual({ text: "l5\nl6", totalLines: 300 });
  expect(logPage("", undefined, undefined)).toEqual({ text: "", totalLines: 0 });
});
