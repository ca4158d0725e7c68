/** What keeps sessions that wait for each other, or start each other, inside of bounds. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { labChat, lastResult, PATIENCE, using } from "../harness/lab-chat.ts";

let gateway: LabGateway;
const { say, asked, lastAnswer } = labChat(() => gateway);

beforeAll(async () => {
  const session = { agentToAgent: { maxPingPongTurns: 0 } };
  gateway = await startLabGateway({ build: "dist-test", sections: { tools: { sessions: { visibility: "all" } }, session } });
});
afterAll(() => gateway?.[Symbol.asyncDispose]());
beforeEach(() => gateway.model.answers(undefined));
afterEach(() => gateway.model.holds(undefined));

test("sessions_send waits as long as it was asked to, and not longer", async () => {
  const [one, other] = ["agent:main:impatient", "agent:main:never"];
  gateway.model.holds(({ user }) => user.includes("w-hang"));
  gateway.model.answers((request) => {
    const result = lastResult(request);
    return result ? `status ${String(result["status"])}` : using("sessions_send", { sessionKey: other, message: "w-hang", timeoutSeconds: 1 });
  });
  await say(one, "go");
  await expect.poll(() => lastAnswer(one), PATIENCE).toBe("status timeout");
  await say(other, "/stop");
});

test("two sessions that wait for each other's answer both go on when the time is over", async () => {
  const [one, other] = ["agent:main:ada", "agent:main:bob"];
  gateway.model.answers((request) => {
    const { user } = request;
    const result = lastResult(request);
    if (result) return `${user.includes("w-there") ? "other" : "one"} has ${String(result["status"])}`;
    if (user.includes("w-back")) return "heard it";
    return user.includes("w-there")
      ? using("sessions_send", { sessionKey: one, message: "w-back", timeoutSeconds: 1 })
      : using("sessions_send", { sessionKey: other, message: "w-there", timeoutSeconds: 20 });
  });
  await say(one, "begin");
  await expect.poll(() => lastAnswer(other), PATIENCE).toBe("other has timeout");
  await expect.poll(() => lastAnswer(one), PATIENCE).toBe("heard it");
  expect(asked("w-back")).toHaveLength(1);
});
