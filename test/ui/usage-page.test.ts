import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { visit } from "../harness/device-client.ts";
import { openScene, type Scene } from "./harness/scene.ts";

let scene: Scene;
beforeAll(async () => {
  scene = await openScene({ model: "mock" });
});
afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
afterAll(() => scene[Symbol.asyncDispose]());

const region = (page: Page, name: string): Locator => page.getByRole("region", { name });

test("without usage the page says what would be here; then it is ranked by model, agent, channel, cause and conversation, with the same figures in the file", async () => {
  const page = await scene.open("usage");
  await page.getByText("No usage in this period").waitFor();
  expect(await page.getByRole("button", { name: "Export CSV" }).count()).toBe(0);
  await using client = await visit(scene.url, { token: scene.token, scopes: ["operator.admin"] });
  for (const key of ["first", "second"]) {
    expect((await client.ask("chat.send", { sessionKey: key, message: `hello ${key}`, idempotencyKey: key })).ok).toBe(true);
    await client.next(({ event, payload }) => event === "chat" && payload?.["state"] === "final" && payload["runId"] === key);
  }
  await page.reload();
  const parts = region(page, "Breakdown");
  const rowsOf = async (name: string): Promise<readonly string[]> => {
    await parts.getByRole("radio", { name, exact: true }).click();
    const table = parts.getByRole("table", { name: `Usage by ${name}` });
    await table.waitFor();
    return table
      .getByRole("row")
      .evaluateAll((rows) => rows.slice(1).map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent!.trim()).join("|")));
  };
  const [model] = await rowsOf("Model");
  expect(model).toMatch(/^mock\/m1\|2\|/);
  const figures = model!.split("|").slice(1);
  expect(await rowsOf("Agent")).toEqual([["main", ...figures].join("|")]);
  expect(await rowsOf("Cause")).toEqual([["Messages", ...figures].join("|")]);
  expect(await rowsOf("Channel")).toEqual([["Control UI and clients", ...figures].join("|")]);
  expect(await rowsOf("Conversation")).toHaveLength(2);

  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export CSV" }).click();
  const text = readFileSync(await (await saved).path(), "utf8");
  expect(text).toContain("model,,mock/m1,2,");
  expect(text.split("\r\n").filter((line) => line.startsWith("session,"))).toHaveLength(2);

  await page.getByRole("radio", { name: "Today" }).click();
  await expect.poll(() => new URL(page.url()).search).toBe("?days=1");
  await parts.getByRole("table", { name: "Usage by Conversation" }).waitFor();
});

test("a budget is added with the keyboard, shows what is used of it and when it resets, and its removal is undone; a file with errors is left alone", async () => {
  const page = await scene.open("usage");
  const budgets = region(page, "Budgets");
  await budgets.getByText("No limits are set.").waitFor();
  await budgets.getByRole("button", { name: "Add budget" }).focus();
  await page.keyboard.press("Enter");
  await budgets.getByRole("button", { name: "Save" }).click();
  await budgets.getByText("Enter a limit above 0.").waitFor();
  await budgets.getByLabel("Limit", { exact: true }).fill("5");
  await page.keyboard.press("Enter");
  await budgets.getByText("$5.00 per day").waitFor();
  await budgets.getByText(/of \$5\.00/).waitFor();
  await budgets.getByText(/^Resets/).waitFor();
  expect(JSON.parse(scene.cli("models", "budgets", "--json").stdout)).toMatchObject({ budgets: [{ per: "day", limit: { usd: 5 } }] });
  await budgets.getByRole("button", { name: "Remove the budget $5.00 per day" }).click();
  await budgets.getByText("No limits are set.").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await budgets.getByText("$5.00 per day").waitFor();

  const text = readFileSync(scene.place.configPath, "utf8");
  scene.place.configure("{ not a configuration");
  await budgets.getByRole("button", { name: "Remove the budget $5.00 per day" }).click();
  await page.locator(".toast.bad").waitFor();
  await budgets.getByText("$5.00 per day").waitFor();
  scene.place.configure(text);
});

test("the list of budgets is changed as it is then: what was added elsewhere stays, and Undo brings back one budget alone", async () => {
  const text = readFileSync(scene.place.configPath, "utf8");
  const page = await scene.open("usage");
  const budgets = region(page, "Budgets");
  const setBudgets = (...list: readonly object[]): void => {
    const config = JSON.parse(readFileSync(scene.place.configPath, "utf8")) as Record<string, unknown>;
    scene.place.configure(JSON.stringify({ ...config, usage: { budgets: list } }));
  };
  const usdOf = (): readonly unknown[] =>
    ((JSON.parse(readFileSync(scene.place.configPath, "utf8")) as { usage?: { budgets?: readonly { usd?: number }[] } }).usage?.budgets ?? []).map(
      ({ usd }) => usd,
    );
  setBudgets({ per: "day", usd: 1 }, { per: "day", usd: 2 });
  await page.reload();
  await budgets.getByText("$2.00 per day").waitFor();
  await budgets.getByRole("button", { name: "Remove the budget $1.00 per day" }).click();
  await page.getByText("Budget removed").waitFor();
  setBudgets({ per: "day", usd: 2 }, { per: "day", usd: 3 });
  await page.getByRole("button", { name: "Undo" }).click();
  await budgets.getByText("$3.00 per day").waitFor();
  expect(usdOf()).toEqual([1, 2, 3]);

  scene.place.configure(text);
  await expect
    .poll(async () => {
      await page.reload();
      await budgets
        .getByText(/per day|No limits/)
        .first()
        .waitFor();
      return budgets.getByText("$3.00 per day").count();
    })
    .toBe(0);
});
