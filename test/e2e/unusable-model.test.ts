import { afterAll, beforeAll, expect, test } from "vitest";
import { startTelegramGateway, type TelegramGateway } from "../security/telegram-gateway.ts";

const PATIENCE = { timeout: 15_000, interval: 25 };

let place: TelegramGateway;
beforeAll(async () => {
  place = await startTelegramGateway((telegram) => ({ dmPolicy: "allowlist", allowFrom: [String(telegram.me.id)], streamMode: "off" }));
});
afterAll(() => place[Symbol.asyncDispose]());

interface Models {
  readonly providers: { readonly acme: { readonly models: readonly object[] } };
}

test("a chat is shown what is wrong with the chosen model, in one sentence that names no secret", async () => {
  const { telegram, gateway } = place;
  const { agents, models } = gateway.sections as { readonly agents: { readonly defaults: object }; readonly models: Models };
  const { acme } = models.providers;
  const small = { ...acme.models[0], id: "small", contextWindow: 8_000 };
  const said = (): readonly string[] =>
    telegram
      .messages(telegram.me.id)
      .filter(({ byBot }) => byBot)
      .map(({ text }) => text ?? "");
  for (const [primary, words] of [
    ["acme/small", /^⚠️ No answer, the model cannot be used: Model context window too small \(8000 tokens\)\. Minimum is 16000/],
    ["nobody/knows", /^⚠️ No answer, the model cannot be used: Unknown model: nobody\/knows/],
  ] as const) {
    gateway.configure({
      agents: { ...agents, defaults: { ...agents.defaults, model: { primary } } },
      models: { ...models, providers: { acme: { ...acme, models: [...acme.models, small] } } },
    });
    await expect.poll(async () => JSON.stringify((await gateway.operator.ask("config.get", {})).payload), PATIENCE).toContain(primary);
    const before = said().length;
    telegram.say("hello");
    await expect.poll(() => said().length, PATIENCE).toBeGreaterThan(before);
    expect(said().at(-1)).toMatch(words);
    expect(said().at(-1)).not.toMatch(/sk-|try again/);
    expect(said().at(-1)).not.toContain("\n");
  }
});
