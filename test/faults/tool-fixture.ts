import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { textOutcome, type Tool } from "../../src/tools/index.ts";
import { KEY, openAgentFixture, said, type AgentFixture, type AgentFixtureOptions, type Call } from "../harness/agent-fixture.ts";

/** A tool with this `run`. */
export const tool = (name: string, run: Tool["run"], over: Partial<Tool> = {}): Tool => ({
  name,
  description: name,
  parameters: { type: "object", properties: { what: { type: "string" } } },
  source: { kind: "core" },
  run,
  ...over,
});
/** A tool that works. */
export const works = tool("works", () => Promise.resolve(textOutcome("it worked")));

/** An agent that is closed with the test. */
export async function agentWith(options: AgentFixtureOptions): Promise<AgentFixture> {
  const opened = await openAgentFixture(options);
  onTestFinished(() => opened[Symbol.asyncDispose]());
  return opened;
}

/** The result of a call as the transcript keeps it. */
export interface Result {
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly failed: boolean;
}

/** The results of a session, after a look at everything that must hold whatever tools and models do. */
export async function results(at: AgentFixture): Promise<readonly Result[]> {
  const messages = await at.transcript();
  const found: Result[] = [];
  let open: { readonly id: string; readonly name: string }[] = [];
  for (const message of messages) {
    if (message.role === "toolResult") {
      const { toolCallId: id, toolName: name, isError: failed } = message;
      expect({ id, name }, "results follow their calls in order, one for each").toEqual(open.shift());
      found.push({ id, name, text: said(message), failed });
      continue;
    }
    expect(open, "a call has no result").toEqual([]);
    if (message.role === "assistant") open = message.content.flatMap((part) => (part.type === "toolCall" ? [{ id: part.id, name: part.name }] : []));
  }
  expect(open, "the last calls have no results").toEqual([]);
  const turns = await at.store.read("turns.ofSession", { sessionKey: KEY });
  expect(turns.length).toBeGreaterThan(0);
  for (const { id, state } of turns) {
    expect(state).toBe("ended");
    expect(await at.store.read("journal.dangling", { turnId: id }), "an intent has no result").toEqual([]);
    expect(await at.store.read("inbox.find", { messageId: id })).toMatchObject([{ state: "settled" }]);
  }
  await expectSameOnDisk(at);
  return found;
}

/** The file that others read says what the store says, line by line. */
async function expectSameOnDisk({ store, folder }: AgentFixture): Promise<void> {
  const { agentId, entry } = (await store.read("sessions.get", { key: KEY }))!;
  const [transcript] = await store.read("transcripts.ofSession", { agentId, sessionId: entry.sessionId });
  const { file } = transcript!;
  const rows = await store.read("transcripts.path", { file });
  await expect.poll(() => readFileSync(join(folder, file), "utf8").trimEnd().split("\n").slice(1)).toEqual(rows.map(({ line }) => line));
}

/** One turn in which the model makes the calls and then says `done`. */
export async function turnWith(
  tools: readonly Tool[],
  calls: readonly Call[],
  options: Partial<AgentFixtureOptions> = {},
): Promise<{ at: AgentFixture; found: readonly Result[] }> {
  const at = await agentWith({ says: [{ calls }, "done"], tools, ...options });
  expect(await at.turn("go")).toMatchObject({ status: "ok", text: "done" });
  return { at, found: await results(at) };
}
