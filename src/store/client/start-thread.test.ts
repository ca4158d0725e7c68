import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const MB = 1024 * 1024;

/** The most that the heap of a store thread may grow to, in a process with these flags. */
async function heapLimit(flags: readonly string[]): Promise<number> {
  const code = `
    const { startThread } = await import(${JSON.stringify(new URL("start-thread.ts", import.meta.url).href)});
    const thread = startThread();
    await new Promise((resolve) => thread.once("online", resolve));
    console.log((await thread.getHeapStatistics()).heap_size_limit);
    await thread.terminate();
  `;
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, "--input-type=module", "--eval", code]);
  return Number(stdout);
}

test("the young generation of the thread stays small in a process that was started with a larger one", async () => {
  const usual = await heapLimit([]);
  expect(usual).toBeLessThan((1024 + 16) * MB);
  expect(await heapLimit(["--max-semi-space-size=8"])).toBe(usual);
});
