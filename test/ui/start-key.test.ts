import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startModelServer, type ModelServer } from "../fakes/model-server/index.ts";
import { choose, chosenIn } from "./harness/choose.ts";
import { openScene, type Scene } from "./harness/scene.ts";

const KEY = "sk-CANARY-0123456789abcdefghijkl";
const BUSY = { kind: "status", status: 503, body: { error: { message: "down for maintenance" } } } as const;

let server: ModelServer;
let scene: Scene;
beforeAll(async () => {
  server = await startModelServer(BUSY);
  scene = await openScene({ config: { models: { providers: { openai: { baseUrl: server.url, models: [] } } } } });
});
afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

test("a key that nobody could check is kept, ticks nothing and displaces nothing until the user says so", async () => {
  const page = await scene.open("start?step=key");
  const card = page.getByRole("region", { name: "Add a provider key" });
  await choose(card.getByLabel("Provider"), "openai");
  await card.getByLabel("Key", { exact: true }).fill(KEY);
  await card.getByRole("button", { name: "Check and save" }).click();
  await card.getByText(/so the key was saved without being checked/).waitFor({ timeout: 20_000 });
  await card.getByText(/builtin\/offline stays in use/).waitFor();
  const done = page.getByRole("listitem").filter({ hasText: "Set up a language model" });
  await done.getByText("not done yet").waitFor();
  expect(await page.content()).not.toContain(KEY);
  await card.getByRole("button", { name: "Check again" }).click();
  await card.getByRole("button", { name: "Use it anyway" }).click({ timeout: 20_000 });
  await card.getByText("openai/gpt-5.2 is now in use").waitFor({ timeout: 20_000 });
  await done.getByText(", done").waitFor();
});

test("on a phone the address of a step leads to its card, and the keyboard goes on there", async () => {
  const page = await scene.open("start?step=channel", { viewport: { width: 390, height: 844 } });
  const card = page.locator("oc-start-channel");
  await card.getByLabel("Channel", { exact: true }).waitFor();
  await expect.poll(() => card.evaluate((element) => element.shadowRoot?.activeElement?.textContent), { timeout: 20_000 }).toContain("Connect a channel");
  // The last card ends with the page: it stands as high as the page can be moved.
  await expect.poll(async () => (await card.boundingBox())?.y ?? -1, { timeout: 20_000 }).toBeLessThan(400);
});

test("where keys are made can be followed, and the channel that is offered first is a usual one", async () => {
  const page = await scene.open("start");
  const card = page.getByRole("region", { name: "Add a provider key" });
  await choose(card.getByLabel("Provider"), "anthropic");
  const link = card.getByRole("link", { name: /^https:/ });
  expect(await link.getAttribute("href")).toMatch(/^https:\/\/console\.anthropic\.com/);
  expect(await link.getAttribute("rel")).toContain("noopener");
  expect(await chosenIn(page.getByLabel("Channel", { exact: true }))).toBe("telegram");
});
