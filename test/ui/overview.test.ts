import { mkdirSync } from "node:fs";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openTestStore } from "../harness/program.ts";
import { visit } from "../harness/device-client.ts";
import { openScene, type Scene } from "./harness/scene.ts";

const HOUR = 3_600_000;
let scene: Scene;
beforeAll(async () => {
  scene = await openScene({
    model: "mock",
    config: { usage: { budgets: [{ per: "day", usd: 5 }] } },
    prepare: async ({ stateDir }) => {
      mkdirSync(stateDir, { recursive: true, mode: 0o700 });
      await using store = await openTestStore(stateDir);
      const now = Date.now();
      const changes = [[now - 20 * HOUR, "ok"], [now - 9 * HOUR, "slow"], [now - 8 * HOUR, "ok"]]; // prettier-ignore
      const runs = [
        { from: now - 20 * HOUR, to: now - 7 * HOUR, clean: true },
        { from: now - 6 * HOUR, to: now - 3 * HOUR, clean: true },
      ];
      await store.write("meta.set", { key: "overview.states", value: { runs, parts: { "channel:telegram:default": changes } } });
    },
  });
});
afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
afterAll(() => scene[Symbol.asyncDispose]());

async function answered(...keys: readonly string[]): Promise<void> {
  await using client = await visit(scene.url, { token: scene.token, scopes: ["operator.admin"] });
  for (const key of keys) {
    expect((await client.ask("chat.send", { sessionKey: key, message: `hello ${key}`, idempotencyKey: key })).ok).toBe(true);
    await client.next(({ event, payload }) => event === "chat" && payload?.["state"] === "final" && payload["runId"] === key);
  }
}

test("health, activity and cost are above the fold, with today, the limit, and messages per hour", async () => {
  await answered("one", "two");
  const page = await scene.open("overview", { viewport: { width: 1280, height: 800 } });
  for (const name of ["Health", "Needs attention", "Activity", "Cost"]) {
    const box = await page.getByRole("region", { name, exact: true }).boundingBox();
    expect(box!.y + box!.height, name).toBeLessThanOrEqual(800);
  }
  await page
    .getByRole("region", { name: "Activity" })
    .getByText(/^\d+ messages, 100% answered$/)
    .waitFor();
  await page.getByRole("region", { name: "Activity" }).getByRole("img", { name: "Messages per hour, by channel" }).waitFor();
  await page.getByRole("region", { name: "Cost", exact: true }).getByRole("meter", { name: "0% of the daily limit of $5.00" }).waitFor();
  await page.getByRole("region", { name: "Cost", exact: true }).getByText("today", { exact: true }).waitFor();
});

test("the history of the gateway is shown for the chosen period, and survives the end of the process", async () => {
  await answered("three");
  const page = await scene.open("overview");
  const strip = page.getByRole("region", { name: "Health" }).getByRole("img", { name: /^Gateway: down from .* to .*, down from/ });
  await strip.waitFor();
  const before = await strip.locator("i.bad").count();
  await scene.restart("SIGTERM");
  await page.reload();
  await expect.poll(() => strip.locator("i.bad").count()).toBe(before + 1);
  await page.getByRole("radio", { name: "7 days" }).click();
  await page.getByRole("img", { name: "Messages per 6 hours, by channel" }).waitFor();
});
