import { appendFileSync, readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { choose } from "./harness/choose.ts";
import { openScene, type Scene } from "./harness/scene.ts";

let scene: Scene;
beforeAll(async () => {
  scene = await openScene({
    browser: { ordinary: true },
    prepare({ configPath, configure }) {
      const config = JSON.parse(readFileSync(configPath, "utf8")) as { agents: object };
      const list = [
        { id: "main", default: true },
        { id: "ops", name: "Night watch" },
      ];
      const bindings = [{ agentId: "ops", match: { channel: "telegram", peer: { kind: "group", id: "-42" } } }];
      configure(JSON.stringify({ ...config, agents: { ...config.agents, list }, bindings }));
    },
  });
});
afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
afterAll(() => scene[Symbol.asyncDispose]());

/** Says something and waits for the answer of the offline model. */
async function talk(page: Page, text: string): Promise<void> {
  const box = page.getByRole("textbox", { name: "Message", exact: true });
  await box.fill(text);
  await box.press("Enter");
  await page.locator("oc-transcript").getByText("I am the built-in offline model").first().waitFor();
}

test("a bundled plugin is turned on, shows its hooks, and is turned off again", async () => {
  const page = await scene.open("plugins");
  await page.getByRole("switch", { name: "Audit log" }).click();
  const off = page.getByRole("switch", { name: "Audit log", checked: true }).first();
  await off.waitFor({ timeout: 20_000 });
  await page.getByRole("link", { name: "Audit log" }).click();
  await page.locator("oc-plugin-detail").getByText("after_tool_call").first().waitFor({ timeout: 20_000 });
  expect(JSON.parse(readFileSync(scene.place.configPath, "utf8"))).toMatchObject({ plugins: { entries: { "audit-log": { enabled: true } } } });
  await off.click();
  await page.getByRole("switch", { name: "Audit log", checked: false }).first().waitFor({ timeout: 20_000 });
});

test("an agent is made from a template that the form offers and explains", async () => {
  const page = await scene.open("agents");
  await page.getByRole("button", { name: "New agent" }).click();
  await choose(page.getByLabel("Template"), "readonly");
  await page.getByText("It reads and searches them").waitFor();
  await page.getByLabel("Name").fill("Library");
  await page.getByLabel(/Workspace/).fill("~/library");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { name: "Library" }).waitFor();
  const { agents } = JSON.parse(readFileSync(scene.place.configPath, "utf8")) as { agents: { list: readonly { id: string; tools?: object }[] } };
  expect(agents.list.find(({ id }) => id === "library")).toMatchObject({ tools: { fs: { workspaceOnly: true } } });
});

test("a session is found in the table, gets a label, and its export is a file that parses", async () => {
  const key = "agent:main:web:exported";
  const page = await scene.open(`chat/${encodeURIComponent(key)}`);
  await talk(page, "What can you do?");
  await page.goto(`${scene.url}/sessions`);
  await page.getByLabel("Search sessions").fill("exported");
  await page
    .getByRole("row", { name: /What can you do/ })
    .getByRole("link")
    .click();
  await page.getByLabel("Label").fill("Kept for later");
  await page.getByLabel("Label").press("Enter");
  await page.getByRole("heading", { name: "Kept for later" }).waitFor();
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export", exact: true }).click()]);
  const lines = readFileSync(await file.path(), "utf8")
    .trim()
    .split("\n");
  const said = lines.map((line) => JSON.parse(line) as { message?: { role?: string } }).flatMap(({ message }) => message?.role ?? []);
  expect(said).toEqual(expect.arrayContaining(["user", "assistant"]));
});

test("the route tester says which agent answers and which binding decided", async () => {
  const page = await scene.open("channels/routing");
  await page.getByLabel("Channel", { exact: true }).fill("telegram");
  await choose(page.getByLabel("Chat type"), "group");
  await page.getByLabel("Sender or chat").fill("-42");
  await page.getByRole("button", { name: "Test route" }).click();
  const answer = page.locator("oc-route-tester .answer");
  await answer.getByText("agent:ops:telegram:group:-42").first().waitFor();
  expect(await answer.textContent()).toContain("bindings[0]");
  await page.getByLabel("Sender or chat").fill("-7");
  await page.getByRole("button", { name: "Test route" }).click();
  await answer.getByText("agent:main:telegram:group:-7").first().waitFor();
});

test("the device list marks this browser, and a login link lets another one in", async () => {
  const page = await scene.open("devices");
  await page.getByText("This browser", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Create sign-in link" }).click();
  await page.getByRole("textbox", { name: "Sign-in link" }).waitFor();
  const address = await page.getByRole("textbox", { name: "Sign-in link" }).inputValue();
  const other = await (await scene.window()).newPage();
  await other.goto(address);
  await other.locator("oc-menu").waitFor();
  await other.goto(`${scene.url}/devices`);
  await other.getByText("This browser", { exact: true }).waitFor();
  expect(await other.getByText("This browser", { exact: true }).count()).toBe(1);
  expect(await other.locator("oc-devices-page").getByRole("row").count()).toBeGreaterThanOrEqual(3);
});

test("the log follows what is written, filters it and unfolds a line", async () => {
  const page = await scene.open("logs");
  const list = page.locator("oc-log-list");
  await list.getByRole("button").first().waitFor();
  const file = await page.locator("oc-logs-page .page-head .mono").textContent();
  const line = (message: string, level = "info"): string =>
    `${JSON.stringify({ n: 7, time: new Date().toISOString(), level, subsystem: "page-test", message })}\n`;
  appendFileSync(file!, line("a first line of ours") + line("a grave line of ours", "error"));
  await list.getByText("a first line of ours").waitFor();
  appendFileSync(file!, Array.from({ length: 2000 }, (_, at) => line(`one of many ${at}`)).join(""));
  await list.getByText("one of many 1999").waitFor();
  expect(await list.getByRole("button").count()).toBeLessThan(100);
  await choose(page.getByLabel("Level"), "error");
  await list.getByText("a first line of ours").waitFor({ state: "detached" });
  await list.getByRole("button", { name: /a grave line of ours/ }).click();
  await list.getByText('"n": 7').waitFor();
  await choose(page.getByLabel("Level"), "");
  await list.getByText("one of many 1999").waitFor();
});

test("a German browser gets the page in German, with German figures, and the sidebar switches to English for good", async () => {
  const page = await (await scene.window({ locale: "de-AT" })).newPage();
  await page.goto(scene.link());
  await page.getByRole("link", { name: "Sitzungen" }).click();
  await page.getByRole("link", { name: "Übersicht" }).waitFor();
  expect(await page.locator("html").getAttribute("lang")).toBe("de");
  await page.getByRole("heading", { name: "Sitzungen", exact: true }).first().waitFor();
  await page.getByRole("button", { name: "Deutsch" }).click();
  await page.getByRole("link", { name: "Overview" }).waitFor();
  await page.reload();
  await page.getByRole("link", { name: "Overview" }).waitFor();
  expect(await page.locator("html").getAttribute("lang")).toBe("en");
});
