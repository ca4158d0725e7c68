import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Locator } from "playwright-core";
import { visit } from "../harness/device-client.ts";
import { openScene, type Scene } from "./harness/scene.ts";

let scene: Scene;
beforeAll(async () => {
  scene = await openScene({ model: "mock" });
});
afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
afterAll(() => scene[Symbol.asyncDispose]());

const KEPT = ["one", "two", "three", "four", "five", "six", "seven", "eight"];

/** The figures of a chart's table: each row's name and its number. */
const rowsOf = (card: Locator, label: string): Promise<[string, number][]> =>
  card
    .getByRole("table", { name: label })
    .getByRole("row")
    .evaluateAll((rows) =>
      rows.map((row) => [row.querySelector("th")!.textContent!.trim(), Number(row.querySelector("td.num")!.textContent!.replaceAll(/[^\d.]/g, ""))]),
    );

test("what was used is shown by day, model, agent and session, and adds up with conversations that were removed", async () => {
  await using client = await visit(scene.url, { token: scene.token, scopes: ["operator.admin"] });
  for (const key of [...KEPT, "gone"]) {
    expect((await client.ask("chat.send", { sessionKey: key, message: `hello ${key}`, idempotencyKey: key })).ok).toBe(true);
    await client.next(({ event, payload }) => event === "chat" && payload?.["state"] === "final" && payload["runId"] === key);
  }
  expect((await client.ask("sessions.delete", { key: "gone" })).ok).toBe(true);
  const page = await scene.open("overview");
  const card = page.getByRole("region", { name: "Usage and cost" });
  await card.getByRole("radio", { name: "Tokens" }).click();
  await card.getByRole("rowheader", { name: "1 removed conversation" }).waitFor();
  const sessions = await rowsOf(card, "Tokens by session");
  expect(sessions.map(([name]) => name)).toEqual(expect.arrayContaining([expect.stringMatching(/^\d+ others$/), "1 removed conversation"]));
  const sum = (rows: readonly (readonly [string, number])[]): number => rows.reduce((all, [, value]) => all + value, 0);
  const models = await rowsOf(card, "Tokens by model");
  expect([sum(sessions), sum(await rowsOf(card, "Tokens by agent"))]).toEqual([sum(models), sum(models)]);
  const cost = page.getByRole("region", { name: "Cost", exact: true });
  await cost.locator("summary", { hasText: "Data table" }).focus();
  await page.keyboard.press("Enter");
  const figures = cost.getByRole("region", { name: /by day .* data table/ });
  await figures.getByRole("row", { name: /^Total/ }).waitFor();
});
