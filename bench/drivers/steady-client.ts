/**
 * A client that asks a gateway the same short question again and again, in a process of its own, while someone else asks for much.
 * Each line on its input is answered with the longest wait since the line before, in milliseconds. Options: a connection, as JSON, and the request.
 */
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { connectBench, createDevice, type BenchConnection } from "./client.ts";

/** Between two questions: enough to see a hold of a few milliseconds, and little work for the gateway. */
const PAUSE_MS = 3;

const [to, method, params] = process.argv.slice(2).map((text) => JSON.parse(text) as unknown) as [BenchConnection, string, object];
// A key does not travel as JSON.
const client = await connectBench({ ...to, device: createDevice() });
let [longest, asked] = [0, performance.now()];
const over = new AbortController();
const lines = createInterface({ input: process.stdin });
lines.on("line", () => {
  console.log(Math.max(longest, performance.now() - asked));
  longest = 0;
});
lines.on("close", () => over.abort());
while (!over.signal.aborted) {
  asked = performance.now();
  await client.request(method, params);
  longest = Math.max(longest, performance.now() - asked);
  asked = performance.now() + PAUSE_MS;
  await wait(PAUSE_MS);
}
client.close();
