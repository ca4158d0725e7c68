import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startModelServer, type ModelServer } from "../fakes/model-server/index.ts";
import { answers, REFUSES } from "../setup/place.ts";
import { choose, chosenIn } from "./harness/choose.ts";
import { openScene, type Scene } from "./harness/scene.ts";

const KEY = "sk-CANARY-0123456789abcdefghijkl";

let server: ModelServer;
let scene: Scene;
beforeAll(async () => {
  server = await startModelServer(answers("openai-responses"));
  scene = await openScene({ config: { models: { providers: { openai: { baseUrl: server.url, models: [] } } } } });
});
afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

async function giveKey(page: Page, key: string): Promise<void> {
  const card = page.getByRole("region", { name: "Add a provider key" });
  await choose(card.getByLabel("Provider"), "openai");
  await card.getByLabel("Key", { exact: true }).fill(key);
  await card.getByRole("button", { name: "Check and save" }).click();
}

test("a key that the provider refuses is reported as refused and not kept; one that it accepts answers from then on", async () => {
  const page = await scene.open("start?step=key");
  await page.getByText("builtin/offline", { exact: true }).waitFor();
  const before = readFileSync(scene.place.configPath, "utf8");
  server.play(REFUSES);
  await giveKey(page, "sk-wrong-0123456789abcdefghijkl");
  await page.getByText(/rejected the key. It was not saved/).waitFor({ timeout: 15_000 });
  await page.getByText("Incorrect API key provided").waitFor();
  expect(readFileSync(scene.place.configPath, "utf8")).toBe(before);
  server.play(answers("openai-responses"));
  await giveKey(page, KEY);
  await page.getByText(/accepted the key. It was saved/).waitFor({ timeout: 15_000 });
  await page.getByText("openai/gpt-5.2", { exact: true }).first().waitFor();
  expect(await page.getByLabel("Key", { exact: true }).inputValue()).toBe("");
  expect(await page.content()).not.toContain(KEY);
});

test("the address of a channel's set-up has that channel chosen", async () => {
  const page = await scene.open("start?step=channel");
  const select = page.getByLabel("Channel", { exact: true });
  await select.click();
  const others = await page
    .getByRole("option", { selected: false })
    .evaluateAll((options) => options.map((option) => (option as unknown as { readonly dataset: { readonly value: string } }).dataset.value));
  await page.goto(`${scene.url}/start?step=channel&channel=${others.at(-1)!}`);
  await expect.poll(() => chosenIn(select), { timeout: 20_000 }).toBe(others.at(-1));
});

test("the tour walks through the menu by keyboard, keeps the focus and is remembered", async () => {
  const page = await scene.open("start?step=tour");
  const tour = page.getByRole("dialog");
  await tour.getByText("1 of 6").waitFor();
  for (let at = 2; at <= 6; at += 1) {
    await page.keyboard.press("ArrowRight");
    await tour.getByText(`${at} of 6`).waitFor();
  }
  await page.keyboard.press("ArrowLeft");
  await tour.getByText("5 of 6").waitFor();
  for (let tabs = 0; tabs < 4; tabs += 1) {
    await page.keyboard.press("Tab");
    expect(await page.locator("oc-menu :focus, oc-start-key :focus").count()).toBe(0);
  }
  await page.keyboard.press("Escape");
  await tour.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Repeat tour" }).waitFor();
  await page.reload();
  await page.getByRole("link", { name: "Repeat tour" }).waitFor();
});
