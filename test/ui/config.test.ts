import { readFileSync, writeFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openScene, type Scene } from "./harness/scene.ts";

let scene: Scene;
let before: string;
beforeAll(async () => {
  scene = await openScene({ config: { talk: { apiKey: "the-first-secret" }, cron: { maxConcurrentRuns: 2 } } });
  before = file();
});
beforeEach(() => writeFileSync(scene.place.configPath, before));
afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
afterAll(() => scene[Symbol.asyncDispose]());

const file = (): string => readFileSync(scene.place.configPath, "utf8");
const held = (): { readonly cron: { readonly maxConcurrentRuns: number }; readonly talk: { readonly apiKey: string }; readonly ui?: unknown } =>
  JSON.parse(file()) as ReturnType<typeof held>;

const runs = (page: Page) => page.getByRole("textbox", { name: "Max concurrent runs" });
const review = (page: Page) => page.getByRole("button", { name: "Review", exact: true });

async function save(page: Page): Promise<void> {
  await page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("status").getByText("Saved", { exact: true }).waitFor();
}

test("an error is shown at the field, a fix is reviewed as a difference and saved, and an earlier version comes back", async () => {
  const page = await scene.open("config?section=cron");
  await runs(page).fill("0");
  await page.getByLabel("Problems").getByText("cron.maxConcurrentRuns").waitFor();
  expect(await review(page).isDisabled()).toBe(true);
  expect(held().cron.maxConcurrentRuns).toBe(2);
  await runs(page).fill("5");
  await page.getByText("Valid", { exact: true }).waitFor();
  await review(page).click();
  const lines = page.getByRole("region", { name: "Changed lines" });
  await lines.getByText('"maxConcurrentRuns": 5').waitFor();
  await lines.getByText('"maxConcurrentRuns": 2').waitFor();
  await save(page);
  expect(held()).toMatchObject({ cron: { maxConcurrentRuns: 5 }, talk: { apiKey: "the-first-secret" } });

  await page.getByRole("button", { name: "Versions", exact: true }).click();
  await page.getByRole("list", { name: "Versions, newest first" }).getByRole("button").nth(1).click();
  await page.getByText("cron.maxConcurrentRuns").waitFor();
  await page.getByRole("button", { name: "Restore this version" }).click();
  await expect.poll(() => held().cron.maxConcurrentRuns).toBe(2);
  expect(held().talk.apiKey).toBe("the-first-secret");
  await page.getByRole("button", { name: "Form", exact: true }).click();
  await expect.poll(() => runs(page).inputValue(), { timeout: 20_000 }).toBe("2");
});

test("form and text are the same text: what is typed in one stands in the other, with errors at their lines", async () => {
  const page = await scene.open("config?section=cron");
  await runs(page).fill("7");
  await page.getByRole("button", { name: "Text", exact: true }).click();
  const text = page.getByRole("textbox", { name: "Configuration as JSON5" });
  expect(await text.inputValue()).toContain('"maxConcurrentRuns": 7');
  await text.fill((await text.inputValue()).replace('"maxConcurrentRuns": 7', '"maxConcurrentRuns": "many"'));
  await page
    .getByLabel("Problems")
    .getByRole("button", { name: /^cron\.maxConcurrentRuns:\d+$/ })
    .waitFor();
  await text.fill((await text.inputValue()).replace('"many"', "3"));
  await page.getByText("Valid", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Form", exact: true }).click();
  await expect.poll(() => runs(page).inputValue(), { timeout: 20_000 }).toBe("3");
});

test("a secret is never shown; a new one can be written, is not kept in the browser, and the other secrets stay", async () => {
  const page = await scene.open("config?section=talk");
  const secret = page.getByLabel("New value for API key");
  await secret.waitFor();
  expect(await page.locator("oc-config-secret").getByText("Set", { exact: true }).count()).toBe(1);
  await secret.fill("the-second-secret");
  await page.getByText("new, not saved yet").waitFor();
  await page.getByText("Valid", { exact: true }).waitFor();
  const kept = JSON.stringify((await page.context().storageState()).origins);
  expect(kept).toContain("config.draft");
  expect(kept).not.toMatch(/the-(?:first|second)-secret/);
  await review(page).click();
  await page.getByRole("dialog").getByText("new secret").waitFor();
  await save(page);
  expect(held().talk.apiKey).toBe("the-second-secret");
  expect(file()).toContain(scene.token);
  await page.locator("oc-config-secret").getByText("Set", { exact: true }).waitFor();
  expect(await secret.inputValue()).toBe("");
});

test("a draft survives a reload, and what changed in the file meanwhile is shown and merged", async () => {
  const page = await scene.open("config?section=cron");
  await runs(page).fill("8");
  await page.getByText("Valid", { exact: true }).waitFor();
  page.on("dialog", (dialog) => void dialog.accept());
  await page.reload();
  await expect.poll(() => runs(page).inputValue(), { timeout: 20_000 }).toBe("8");
  await review(page).click();
  await page.getByRole("dialog").getByText("cron.maxConcurrentRuns").waitFor();
  writeFileSync(scene.place.configPath, JSON.stringify({ ...held(), ui: { seamColor: "#112233" } }, undefined, 2));
  await page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).click();
  const conflict = page.getByRole("dialog", { name: "Nothing was saved" }).getByRole("alert");
  await conflict.getByText("The file was changed.").waitFor();
  await conflict.getByText('"seamColor": "#112233"').waitFor();
  expect(held().cron.maxConcurrentRuns).toBe(2);
  await page.getByRole("button", { name: "Merge my changes" }).click();
  await page.getByText("Valid", { exact: true }).waitFor();
  await review(page).click();
  await save(page);
  expect(held()).toMatchObject({ cron: { maxConcurrentRuns: 8 }, ui: { seamColor: "#112233" } });
});

test("comments that were typed stay when the file changed meanwhile and mine is put on top", async () => {
  const page = await scene.open("config");
  await page.getByRole("button", { name: "Text", exact: true }).click();
  const text = page.getByRole("textbox", { name: "Configuration as JSON5" });
  const typed = (await text.inputValue()).replace('"maxConcurrentRuns": 2', '// two were too few\n    "maxConcurrentRuns": 6');
  await text.fill(typed);
  await page.getByText("Valid", { exact: true }).waitFor();
  writeFileSync(scene.place.configPath, JSON.stringify({ ...held(), ui: { seamColor: "#112233" } }, undefined, 2));
  // Before anything is compared with the file it is read again.
  await review(page).click();
  await page.getByRole("dialog", { name: "Nothing was saved" }).getByRole("button", { name: "Merge my changes" }).click();
  await expect.poll(() => text.inputValue(), { timeout: 20_000 }).toContain("#112233");
  expect(await text.inputValue()).toMatch(/\/\/ two were too few\n\s*"maxConcurrentRuns": 6/);
  await page.getByText("Valid", { exact: true }).waitFor();
  await review(page).click();
  await save(page);
  expect(file()).toMatch(/\/\/ two were too few\n\s*"maxConcurrentRuns": 6[\s\S]*"seamColor": "#112233"/);
  expect(file()).toContain("the-first-secret");
});

test("leaving with unsaved changes is asked about", async () => {
  const page = await scene.open("config?section=cron");
  await runs(page).fill("9");
  await page.getByText("Valid", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Logs" }).click();
  await page.getByText("Leave with unsaved changes?").waitFor();
  await page.getByRole("button", { name: "Stay" }).click();
  expect(page.url()).toContain("config?section=cron");
  await page.getByRole("link", { name: "Logs" }).click();
  await page.getByRole("button", { name: "Leave", exact: true }).click();
  await page.locator("oc-logs-page").waitFor();
});
