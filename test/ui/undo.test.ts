import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Place } from "../harness/gateway-process.ts";
import { openTestStore } from "../harness/program.ts";
import { line, said, seedSession } from "../harness/seeded-session.ts";
import { describeInBrowser } from "./harness/in-browser.ts";
import { openScene, type Scene } from "./harness/scene.ts";

const key = (name: string): string => `agent:main:web:${name}`;
const toast = (page: Page, text: string): Locator => page.locator("oc-toasts .toast", { hasText: text });
const undo = (page: Page, text: string): Promise<void> => toast(page, text).getByRole("button", { name: "Undo" }).click();

/** A plugin that does nothing. */
function makePlugin(): string {
  const folder = join(mkdtempSync(join(tmpdir(), "openclaw-undo-")), "quiet");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "quiet", version: "1.0.0", openclaw: { extensions: ["./index.js"] } }));
  writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify({ id: "quiet", name: "Quiet", configSchema: { type: "object" } }));
  writeFileSync(join(folder, "index.js"), `module.exports = { id: "quiet", register() {} };`);
  return folder;
}

async function seed(place: Place): Promise<void> {
  mkdirSync(place.stateDir, { recursive: true, mode: 0o700 });
  await using store = await openTestStore(place.stateDir);
  for (const name of ["alpha", "beta", "gamma"]) await seedSession(store, [line("a", null, said(`${name} to plan`), 1)], key(name), `session-${name}`);
}

describeInBrowser("what can be brought back", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ prepare: seed });
  });
  afterEach(async () => void (await Promise.all(scene.browser.contexts().map((window: BrowserContext) => window.close()))));
  afterAll(() => scene?.[Symbol.asyncDispose]());

  test("a session that is deleted on the page Sessions is back after Undo", async () => {
    const page = await scene.open(`sessions/${encodeURIComponent(key("alpha"))}`);
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    const inTable = page.getByRole("row", { name: /alpha to plan/ });
    await page.getByRole("row", { name: /beta to plan/ }).waitFor();
    expect(await inTable.count()).toBe(0);
    await undo(page, "“alpha to plan” deleted");
    await inTable.waitFor();
  });

  test("a conversation that is renamed has its former name after Undo", async () => {
    const page = await scene.open(`chat/${encodeURIComponent(key("beta"))}`);
    const rename = async (to: string): Promise<void> => {
      await page.getByRole("button", { name: /rename$/ }).click();
      await page.getByLabel("Name of the conversation").fill(to);
      await page.getByLabel("Name of the conversation").press("Enter");
      await page.locator("oc-chat-header").getByText(to, { exact: true }).waitFor();
    };
    await page.locator("oc-chat-header").getByText("beta to plan", { exact: true }).waitFor();
    await rename("First");
    await undo(page, "“beta to plan” renamed to “First”");
    await page.locator("oc-chat-header").getByText("beta to plan", { exact: true }).waitFor();
  });

  test("a reset names the conversation before it happens", async () => {
    const page = await scene.open(`chat/${encodeURIComponent(key("gamma"))}`);
    await page.locator("oc-transcript").getByText("gamma to plan").waitFor();
    await page.getByRole("button", { name: "More about this conversation" }).click();
    await page.getByRole("button", { name: "Reset", exact: true }).click();
    await page.getByRole("dialog", { name: "Reset “gamma to plan”?" }).waitFor();
  });
});

// A gateway of its own: a switch may restart it.
describeInBrowser("plugin switches", () => {
  test("a plugin that is turned off is on after Undo", async () => {
    await using scene = await openScene({ config: { plugins: { load: { paths: [makePlugin()] } } } });
    const page = await scene.open("plugins");
    const turned = page.getByRole("switch", { name: "Quiet" });
    await turned.waitFor();
    const before = await turned.getAttribute("aria-checked");
    await turned.click();
    await undo(page, before === "true" ? "Quiet is off." : "Quiet is on.");
    await toast(page, before === "true" ? "Quiet is on." : "Quiet is off.").waitFor();
    expect(await turned.getAttribute("aria-checked")).toBe(before);
  });
});
