import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { INTERRUPTED, NOT_STARTED } from "../../src/agent/turn/tools.ts";
import { textOutcome, type Tool } from "../../src/tools/index.ts";
import { openAgentFixture, said } from "../harness/agent-fixture.ts";

const tool = (name: string, over: Partial<Tool> = {}): Tool => ({
  name,
  description: name,
  parameters: { type: "object", properties: { what: { type: "string" } } },
  source: { kind: "core" },
  run: ({ params }) => Promise.resolve(textOutcome(`${name} did ${JSON.stringify(params)}`)),
  ...over,
});

test("calls run side by side once all their intents are on disk; a crash leaves each without a result interrupted, and later ones not run", async () => {
  const folder = mkdtempSync(join(tmpdir(), "agent-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const stop = new AbortController();
  const seen: unknown[] = [];
  const both = Promise.withResolvers<void>();
  const side = (name: string, run: () => Promise<void>): Tool =>
    tool(name, {
      executionMode: "parallel",
      async run() {
        seen.push((await first.store.read("journal.dangling", { turnId: "run-1-1" })).map((step) => step.callId));
        if (seen.length === 2) both.resolve();
        await both.promise;
        await run();
        return textOutcome(`${name} done`);
      },
    });
  const tools = [
    side("one", () => Promise.resolve()),
    side("two", async () => stop.abort()),
    tool("three", { executionMode: "parallel", idempotent: true }),
    tool("later", {}),
  ];
  const calls = ["two", "one", "three", "later"].map((name) => ({ name, id: name }));
  const first = await openAgentFixture({ folder, says: [{ calls }], tools });
  const input = await first.accept("look");
  expect(await first.agents.turn(input, first.ports({ stopping: stop.signal }))).toBeUndefined();
  await first[Symbol.asyncDispose]();
  expect(seen).toEqual([calls.map(({ id }) => id), calls.map(({ id }) => id)]);
  // The tools of the next process declare nothing: what started together is on record.
  const next = await openAgentFixture({ folder, says: ["seen"], tools: tools.map((one) => ({ ...one, executionMode: "sequential" as const })), seed: 2 });
  onTestFinished(() => next[Symbol.asyncDispose]());
  await next.agents.turn({ ...input, resumed: true }, next.ports());
  expect(next.requests[0]!.messages.map(said).slice(2)).toEqual([INTERRUPTED, INTERRUPTED, "three did {}", NOT_STARTED]);
});
