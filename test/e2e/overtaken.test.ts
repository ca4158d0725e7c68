import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { startTelegram } from "../fakes/telegram/index.ts";
import { makePlace } from "../harness/gateway-process.ts";
import { startMockModel } from "../harness/mock-model.ts";

const SOON = { timeout: 20_000, interval: 25 };

/** What another process does that writes to the same state folder. */
function changeSession(stateDir: string): void {
  using database = new DatabaseSync(join(stateDir, "openclaw.db"), { timeout: 5000 });
  database.prepare("UPDATE sessions SET version = version + 1").run();
}

test("a turn whose session another process changed is begun again, and its chat gets the answer once", async () => {
  using model = await startMockModel();
  await using telegram = await startTelegram();
  const place = makePlace();
  onTestFinished(() => rmSync(place.home, { recursive: true, force: true, maxRetries: 3 }));
  const models = [{ id: "m1", name: "Mock One", contextWindow: 200_000, maxTokens: 8192 }];
  place.configure(
    JSON.stringify({
      agents: { defaults: { workspace: join(place.home, "workspace"), model: { primary: "mock/m1" } } },
      models: { providers: { mock: { baseUrl: model.url, apiKey: "none", api: "openai-completions", models } } },
      channels: { telegram: { enabled: true, ackReaction: "", streamMode: "off", botToken: telegram.token, dmPolicy: "open", allowFrom: ["*"] } },
    }),
  );
  await using gateway = await place.gateway({ env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot } });
  await expect.poll(() => telegram.polling, SOON).toBe(true);
  const answers = (): readonly string[] => telegram.messages(telegram.me.id).flatMap(({ byBot, text }) => (byBot ? [text] : []));
  for (const [n, word] of ["one", "two", "three", "four"].entries()) {
    telegram.say(`@say=answer ${word}`);
    await expect.poll(answers, { ...SOON, message: gateway.output() }).toHaveLength(n + 1);
    expect(answers().at(-1)).toBe(`answer ${word}`);
    changeSession(place.stateDir);
  }
  // At least one was asked once more: its beginning was refused after it had been answered.
  const { requests } = (await (await fetch(`${model.url}/stats`)).json()) as { readonly requests: number };
  expect(requests).toBeGreaterThan(4);
});
