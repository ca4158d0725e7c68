/** What real turns leave behind is read by others as the model and the clients see it. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { enter, type DeviceClient } from "../harness/device-client.ts";
import { makePlace } from "../harness/gateway-process.ts";
import { orders, startHijackedModel, textOf, type SentMessage } from "../harness/hijacked-model.ts";
import { contextOf, fileOf, readSessionFile, resetFiles, spoken, type Line, type ReadMessage } from "./independent-reader.ts";

const KEY = "agent:main:main";

/** Says a message and waits for its end. */
async function say(client: DeviceClient, idempotencyKey: string, message: string): Promise<void> {
  await client.ask("chat.send", { sessionKey: KEY, message, idempotencyKey });
  const end = await client.ask("agent.wait", { runId: idempotencyKey, timeoutMs: 15_000 });
  expect(end.payload).toMatchObject({ status: "ok" });
}

/** What a provider was sent, in the reader's words; the system's word left out. */
function sentWords(
  messages: readonly (SentMessage & { readonly tool_calls?: readonly { id: string; function: { name: string; arguments: string } }[] })[],
): readonly string[] {
  return messages.flatMap(({ role, content, tool_call_id, tool_calls = [] }) => {
    if (role === "system" || role === "developer") return [];
    const text = textOf(content);
    const summary = /<summary>\n(.*)\n<\/summary>/s.exec(text)?.[1];
    const said = summary !== undefined ? [`summary: ${summary}`] : text === "" ? [] : [`${role === "tool" ? `result of ${tool_call_id}` : role}: ${text}`];
    return [...said, ...tool_calls.map((call) => `call ${call.id}: ${call.function.name} ${JSON.stringify(JSON.parse(call.function.arguments))}`)];
  });
}

async function shown(
  client: DeviceClient,
): Promise<{ readonly sessionId: string; readonly messages: readonly (ReadMessage & { readonly __openclaw?: unknown })[] }> {
  return (await client.ask("chat.history", { sessionKey: KEY, limit: 1000 })).payload as unknown as Awaited<ReturnType<typeof shown>>;
}

/** What a client is shown, in the reader's words. */
async function shownWords(client: DeviceClient): Promise<readonly string[]> {
  const { messages } = await shown(client);
  return messages.flatMap((message) => (message.__openclaw === undefined ? spoken({ type: "message", message } as unknown as Line) : ["(summary)"]));
}

test("turns with tools, an abort, a summary and a reset are read from the files alone", async () => {
  await using model = await startHijackedModel();
  const place = makePlace();
  onTestFinished(() => rmSync(place.home, { recursive: true, force: true }));
  const models = [{ id: "m1", name: "m1", contextWindow: 64_000, maxTokens: 8192 }];
  place.configure(
    JSON.stringify({
      gateway: { mode: "local", auth: { token: "reader" } },
      agents: {
        defaults: { model: { primary: "mock/m1" }, skipBootstrap: true, workspace: join(place.home, "workspace"), compaction: { mode: "default" } },
      },
      models: { providers: { mock: { baseUrl: model.url, apiKey: "k", api: "openai-completions", models } } },
      tools: { exec: { host: "gateway", security: "full", ask: "off" } },
    }),
  );
  await using gateway = await place.gateway();
  await using client = await enter(gateway.url!, { token: "reader", scopes: ["operator.admin", "operator.read", "operator.write"] });
  const folder = join(place.stateDir, "agents/main/sessions");
  const words = (path: string): readonly string[] => contextOf(readSessionFile(path)).flatMap(spoken);

  // Each part is short enough to be shown whole.
  const tell = (part: number): Promise<void> => say(client, `part-${part}`, `part ${part} of ${"a long story. ".repeat(750).trim()}`);
  for (const part of [1, 2, 3]) await tell(part);
  await say(
    client,
    "tools",
    orders([
      { name: "write", args: { path: "a.txt", content: "ä 🦞" } },
      { name: "read", args: { path: "a.txt" } },
      { name: "read", args: { path: "gone" } },
    ]),
  );
  await client.ask("chat.send", {
    sessionKey: KEY,
    message: orders([{ name: "exec", args: { command: "touch started; sleep 60" } }]),
    idempotencyKey: "stopped",
  });
  await expect.poll(() => existsSync(join(place.home, "workspace/started"))).toBe(true);
  await client.ask("chat.abort", { sessionKey: KEY, runId: "stopped" });
  await client.ask("agent.wait", { runId: "stopped", timeoutMs: 15_000 });
  // More than what a summary leaves word for word.
  for (const part of [4, 5, 6, 7, 8, 9, 10, 11]) await tell(part);
  await say(client, "plain", "and then?");
  const { sessionId } = await shown(client);
  const path = join(folder, `${sessionId}.jsonl`);
  const inUse = (): readonly string[] => (existsSync(path) ? words(path) : []);
  await expect.poll(() => inUse().slice(0, -1)).toEqual(sentWords(model.requests.at(-1)!.messages));
  expect(inUse()).toEqual(await shownWords(client));
  expect(inUse().filter((line) => line.startsWith("call "))).toHaveLength(4);
  expect(inUse().filter((line) => line.startsWith("result of "))).toHaveLength(4);

  const whole = readSessionFile(path).lines.length;
  expect((await client.ask("sessions.compact", { key: KEY })).payload).toMatchObject({ ok: true, compacted: true });
  await say(client, "after", "go on");
  await expect.poll(() => inUse().slice(0, -1)).toEqual(sentWords(model.requests.at(-1)!.messages));
  const [first, ...rest] = inUse();
  expect(first).toContain("what was said so far");
  expect(rest.some((line) => line.startsWith("call "))).toBe(false);
  const after = readSessionFile(path);
  expect(after.lines.length, "nothing was taken out").toBeGreaterThan(whole);
  expect(after.branch.flatMap((line) => (line.type === "compaction" ? ["(summary)"] : spoken(line)))).toEqual(await shownWords(client));

  expect(after.header).toMatchObject({ type: "session", version: 3, id: sessionId });
  const before = inUse();
  await client.ask("sessions.reset", { key: KEY });
  await say(client, "fresh", "who are you?");
  const fresh = await shown(client);
  expect(fresh.sessionId).not.toBe(sessionId);
  await expect.poll(() => fileOf(folder, fresh.sessionId)).toBeDefined();
  await expect.poll(() => words(fileOf(folder, fresh.sessionId)!)).toEqual(["user: who are you?", "assistant: nothing to do"]);
  expect(await shownWords(client)).toEqual(["user: who are you?", "assistant: nothing to do"]);
  expect(sentWords(model.requests.at(-1)!.messages)).toEqual(["user: who are you?"]);
  await expect.poll(() => resetFiles(folder)).toHaveLength(1);
  expect(words(resetFiles(folder)[0]!)).toEqual(before);
});
