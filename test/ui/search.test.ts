import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { choose } from "./harness/choose.ts";
import { openTestStore } from "../harness/program.ts";
import { openScene, type Scene } from "./harness/scene.ts";

/** More than any list loads at first. */
const SESSIONS = 200;
/** Newer than all of those, and more than any list loads at first. */
const RUNS = 70;
/** Every tenth one began with the word, the others did not. */
const NEEDLES = SESSIONS / 10;

const key = (n: number): string => `agent:main:web:s${n}`;

async function seed(stateDir: string): Promise<void> {
  await using store = await openTestStore(stateDir);
  for (let n = 0; n < RUNS; n += 1) {
    const entry = { sessionId: `00000000-0000-4000-9000-${String(n).padStart(12, "0")}`, updatedAt: 1_760_000_000_000 + n, label: `Cron: Report ${n}` };
    await store.commit([["sessions.put", { key: `agent:main:cron:report-${n}`, agentId: "main", entry }]]);
  }
  for (let n = 0; n < SESSIONS; n += 1) {
    const sessionId = `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
    const file = `agents/main/sessions/${sessionId}.jsonl`;
    const text = n % 10 === 0 ? `Where is needle ${n}` : `Straw number ${n}`;
    const line = JSON.stringify({ type: "message", id: "e1", parentId: null, message: { role: "user", content: [{ type: "text", text }] } });
    await store.commit([
      ["sessions.put", { key: key(n), agentId: "main", entry: { sessionId, updatedAt: 1_750_000_000_000 + n * 60_000 } }],
      ["transcripts.ensure", { file, agentId: "main", sessionId, header: JSON.stringify({ type: "session", version: 3, id: sessionId }) }],
      ["transcripts.append", { file, entries: [{ id: "e1", parentId: null, type: "message", at: 1, line }] }],
    ]);
  }
}

let scene: Scene;
beforeAll(async () => {
  const models = Array.from({ length: 120 }, (_, at) => ({ id: `x${120 - at}`, name: `Model ${120 - at}`, contextWindow: 1000, maxTokens: 100 }));
  const providers = { many: { baseUrl: "http://127.0.0.1:9", apiKey: "none", api: "openai-completions", models } };
  scene = await openScene({ config: { models: { providers } }, prepare: ({ stateDir }) => seed(stateDir) });
});
afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
afterAll(() => scene[Symbol.asyncDispose]());

/** The conversations that are listed, without the messages that are found below them. */
const conversations = (page: Page) => {
  const list = page.getByRole("navigation", { name: "Conversations" });
  return list
    .getByRole("listitem")
    .filter({ hasNot: page.locator(".hit") })
    .getByRole("link");
};

test("the search of the list finds all conversations by how they began, however many are loaded", async () => {
  const page = await scene.open("chat");
  await conversations(page).first().waitFor();
  const box = page.getByRole("searchbox", { name: "Search conversations" });
  await box.fill("needle");
  await page.getByText(`${NEEDLES} found`, { exact: true }).waitFor();
  expect(await conversations(page).count()).toBe(NEEDLES);
  await box.fill("straw");
  await page.getByText(`${SESSIONS - NEEDLES} found`, { exact: true }).waitFor();
  await box.fill("no such thing at all");
  await page.getByText("No conversation matches by name or last message.").waitFor();
  await box.fill("");
  await conversations(page).first().waitFor();
});

test("sessions of jobs do not bury the conversations: they are counted, and shown when asked for", async () => {
  const page = await scene.open("chat");
  const list = page.getByRole("navigation", { name: "Conversations" });
  await conversations(page).first().waitFor();
  expect(await list.getByText("Cron: Report").count()).toBe(0);
  await list.getByRole("button", { name: `Show automation (${RUNS})` }).click();
  await list.getByRole("region", { name: "Jobs" }).getByText("Cron: Report 69").waitFor();
  await list.locator(".scroller").evaluate((scroller) => scroller.scrollTo(0, scroller.scrollHeight));
  await list.getByRole("region", { name: "Jobs" }).getByText("Cron: Report 0", { exact: true }).waitFor();
  await list.getByRole("button", { name: `Hide automation (${RUNS})` }).click();
  await list.getByRole("region", { name: "Jobs" }).waitFor({ state: "detached" });
  await page.getByRole("searchbox", { name: "Search conversations" }).fill("report 3");
  await list.getByRole("region", { name: "Jobs" }).getByText("Cron: Report 3", { exact: true }).waitFor();
  await page.goto(`${scene.url}/sessions`);
  await page.getByText(`${RUNS} sessions from jobs, webhooks and sub-agents hidden`).waitFor();
  expect(await page.getByRole("row", { name: /Cron: Report/ }).count()).toBe(0);
  await page.getByRole("button", { name: "Show all" }).click();
  await page
    .getByRole("row", { name: /Cron: Report/ })
    .first()
    .waitFor();
});

test("a conversation has the same name in the list, its header, the sessions and the palette", async () => {
  const name = "Where is needle 10";
  const page = await scene.open(`chat/${encodeURIComponent(key(10))}`);
  await page.locator("oc-chat-header").getByText(name).waitFor();
  await page.keyboard.press("Control+k");
  const words = page.getByRole("combobox", { name: "Search or run" });
  await words.fill("needle 10");
  await page
    .getByRole("option", { name: new RegExp(name) })
    .first()
    .waitFor();
  await page.keyboard.press("Escape");
  await page.goto(`${scene.url}/sessions`);
  await page.getByLabel("Search sessions").fill("needle 10");
  await page
    .getByRole("row", { name: new RegExp(`${name}\\b`) })
    .first()
    .getByRole("link")
    .click();
  await page.getByRole("heading", { name, exact: true }).waitFor();
});

test("a new chat is called by what was just said, never by its id", async () => {
  const page = await scene.open(`chat/${encodeURIComponent("agent:main:web:fresh")}`);
  const header = page.locator("oc-chat-header");
  await header.getByText("New chat").waitFor();
  await choose(page.locator("oc-composer").getByRole("combobox", { name: "Thinking" }), "low");
  await conversations(page).filter({ hasText: "New chat" }).waitFor();
  await header.getByText("New chat").waitFor();
  const box = page.getByRole("textbox", { name: "Message", exact: true });
  await box.fill("Plan a trip to Rome");
  await box.press("Enter");
  await conversations(page).filter({ hasText: "Plan a trip to Rome" }).first().waitFor();
  await header.getByText("Plan a trip to Rome").waitFor();
});

test("the marked row of the palette stays in view", async () => {
  const page = await scene.open("overview");
  await page.keyboard.press("Control+k");
  await page.getByText(/more sessions: type to find them/).waitFor();
  for (let at = 0; at < 30; at += 1) await page.keyboard.press("ArrowDown");
  const marked = page.locator("#choice-30");
  await page.locator('#choice-30[aria-selected="true"]').waitFor();
  const seen = await marked.evaluate((row) => {
    const list = row.parentElement!.getBoundingClientRect();
    const { top, bottom } = row.getBoundingClientRect();
    return top >= list.top && bottom <= list.bottom + 1;
  });
  expect(seen).toBe(true);
});

test("among many models one is found by typing, in the chat and in a session's settings", async () => {
  const page = await scene.open(`sessions/${encodeURIComponent(key(20))}`);
  const picker = page.locator("oc-session-detail oc-model-picker");
  await picker.getByRole("button", { name: /^Model:/ }).click();
  const options = picker.getByRole("option");
  await picker.getByRole("combobox", { name: "Search models" }).fill("many/ model");
  await options.first().waitFor();
  await expect.poll(async () => (await options.locator(".cut").allTextContents()).slice(0, 3)).toEqual(["Model 1", "Model 2", "Model 3"]);
  await picker.getByText("40 more. Type to search.").waitFor();
  await picker.getByRole("combobox", { name: "Search models" }).fill("model 77");
  await expect.poll(() => options.count()).toBe(1);
  await page.keyboard.press("Enter");
  await picker.getByRole("button", { name: "Model: many/x77" }).waitFor();
  await picker.getByRole("button", { name: "Model: many/x77" }).click();
  await picker.getByRole("button", { name: "Reset to default" }).click();
  await picker.getByRole("button", { name: "Model: many/x77" }).waitFor({ state: "detached" });
});

test("a toast does not cover the box, wide or narrow", async () => {
  for (const viewport of [
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ]) {
    const page = await scene.open(`chat/${encodeURIComponent(key(30))}`, { viewport, permissions: ["clipboard-write", "clipboard-read"] });
    await page.getByRole("button", { name: "More about this conversation" }).click();
    await page.getByRole("button", { name: "Copy the session key" }).click();
    const toast = page.locator("oc-toasts .toast");
    await toast.waitFor();
    const [over, box] = [await toast.boundingBox(), await page.locator("oc-composer").boundingBox()];
    expect(over!.y + over!.height).toBeLessThan(box!.y);
    const head = await page.locator("oc-chat-header").boundingBox();
    expect(over!.y).toBeGreaterThanOrEqual(head!.y + head!.height);
    await page.context().close();
  }
});
