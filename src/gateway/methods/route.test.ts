import { expect, test } from "vitest";
import type { OpenClawConfig } from "../../config/index.ts";
import type { MethodParams } from "../../protocol/index.ts";
import { loadAnswerChecks } from "../../protocol/index.ts";
import { routeHandlers } from "./route.ts";

const CONFIG: OpenClawConfig = {
  agents: { list: [{ id: "main", default: true }, { id: "family" }, { id: "work" }] },
  bindings: [
    { agentId: "family", match: { channel: "telegram", peer: { kind: "group", id: "-100" } } },
    { agentId: "work", match: { channel: "telegram" } },
    { agentId: "work", match: { channel: "slack", teamId: "T1" } },
  ],
} as never;

async function explain(params: MethodParams<"route.explain">) {
  const answer = await routeHandlers({ config: { current: CONFIG } as never })["route.explain"]!(params, {} as never);
  expect((await loadAnswerChecks()).result("route.explain", answer)).toBeUndefined();
  return answer;
}

test("who answers, in which session, by which binding, and what became of the others", async () => {
  const answer = await explain({ channel: "telegram", peerKind: "group", peerId: "-100" });
  expect(answer).toMatchObject({ agentId: "family", sessionKey: "agent:family:telegram:group:-100", binding: "bindings[0]", because: expect.any(String) });
  expect(answer.steps.at(-1)).toMatchObject({ matched: true });
  expect(answer.bindings).toMatchObject([
    { path: "bindings[0]", agentId: "family", matched: true, text: "chosen" },
    { path: "bindings[1]", matched: false, text: expect.stringContaining("matches too") },
    { path: "bindings[2]", matched: false, text: "channel is slack, here it is telegram" },
  ]);
});

test("where no binding fits the default agent answers", async () => {
  const answer = await explain({ channel: "irc", peerId: "someone" });
  expect(answer).toMatchObject({ agentId: "main", matchedBy: "default" });
  expect(answer).not.toHaveProperty("binding");
});

test("a thread without a chat is refused with what to give", async () => {
  await expect(explain({ channel: "telegram", threadId: "7" })).rejects.toThrow("set peerId to the chat");
});
