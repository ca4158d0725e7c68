/** Commands where no model can answer: they show what is wrong, and `/model` mends it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";

/** Agents by what is wrong with their model. */
const WRONG = {
  small: ["acme/small", "Model context window too small (8000 tokens)"],
  unknown: ["nobody/nothing", "the model nobody/nothing is not known"],
  keyless: ["openai/gpt-5.2", "there is no key for openai; add one with: bin/openclaw models auth add"],
} as const;

let gateway: LabGateway;
let sent = 0;

beforeAll(async () => {
  const model = { name: "M", maxTokens: 8_000, input: ["text"], reasoning: false };
  gateway = await startLabGateway();
  const { models, agents } = gateway.sections as { models: { providers: { acme: object } }; agents: { defaults: object } };
  gateway.configure({
    models: {
      providers: {
        acme: {
          ...models.providers.acme,
          models: [
            { ...model, id: "large", contextWindow: 200_000 },
            { ...model, id: "small", contextWindow: 8_000 },
          ],
        },
      },
    },
    agents: { ...agents, list: [{ id: "main", default: true }, ...Object.entries(WRONG).map(([id, [ref]]) => ({ id, model: ref }))] },
  });
  await gateway.stop();
  await gateway.start();
}, 60_000);
afterAll(() => gateway?.[Symbol.asyncDispose]());

async function say(agent: string, message: string): Promise<string> {
  const runId = `no-model-${(sent += 1)}`;
  expect(await gateway.operator.request("chat.send", { sessionKey: `agent:${agent}:main`, message, idempotencyKey: runId })).toMatchObject({ ok: true });
  const { payload } = await gateway.operator.next(({ event, payload }) => event === "chat" && payload?.["runId"] === runId && payload["state"] !== "delta");
  const { message: answer, errorMessage } = payload as { message?: { content: readonly { text?: string }[] }; errorMessage?: string };
  return errorMessage ?? answer?.content.map(({ text = "" }) => text).join("\n") ?? "";
}

test.each(Object.entries(WRONG))("an agent whose model is %s answers commands, and works after /model", async (agent, [ref, problem]) => {
  for (const command of ["/status", "/model", "/model status"]) {
    const text = await say(agent, command);
    expect([command, text]).toEqual([command, expect.stringContaining(ref)]);
    expect([command, text]).toEqual([command, expect.stringContaining(`⚠️ ${problem}`)]);
  }
  for (const [command, answer] of [
    ["/new", `⚠️ ${problem}`],
    ["/reset", `⚠️ ${problem}`],
    ["/think", "Thinking: "],
    ["/think low", "Thinking: low."],
    ["/models", "acme (2)"],
    ["/models acme", "acme/large"],
    ["/context", "context"],
    ["/help", "/status"],
    ["/usage tokens", "tokens"],
    ["/queue", "Queue"],
  ] as const) {
    expect([command, await say(agent, command)]).toEqual([command, expect.stringContaining(answer)]);
  }
  const asked = gateway.model.requests.length;
  const failed = await say(agent, "w-apple");
  expect([gateway.model.requests.length, failed]).toEqual([asked, expect.stringMatching(/too small|not known|unknown model|key/i)]);
  expect(await say(agent, "/model acme/large")).toBe("Model set to acme/large.");
  expect(await say(agent, "w-apple")).toContain("Heard w-apple.");
  // Of the turn, and not of this command or the one before it.
  await say(agent, "/status");
  for (const _ of ["first", "again"]) expect(await say(agent, "/trace")).toContain("acme/large");
});
