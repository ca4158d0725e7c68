import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startTelegram, type FakeTelegram } from "../fakes/telegram/index.ts";
import { enter } from "../harness/device-client.ts";
import { openScene, type Scene } from "./harness/scene.ts";

const PATIENCE = { timeout: 15_000 };
let telegram: FakeTelegram;
let scene: Scene;
beforeAll(async () => {
  telegram = await startTelegram();
  telegram.direct(telegram.me);
  const accounts = {
    main: { botToken: telegram.token, dmPolicy: "pairing" },
    broken: { botToken: "1:not-the-token", dmPolicy: "open", allowFrom: ["*"] },
  };
  scene = await openScene({
    config: { channels: { telegram: { enabled: true, ackReaction: "", streamMode: "off", accounts } } },
    gateway: { env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot } },
  });
});
afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await telegram[Symbol.asyncDispose]();
});

const card = (page: Page, account: string): Locator =>
  page.locator("oc-account-card").filter({ has: page.getByRole("heading", { name: account, exact: true }) });
const said = (): readonly string[] =>
  telegram
    .messages(telegram.me.id)
    .filter(({ byBot }) => byBot)
    .map(({ text }) => text);
const codes = (): number => said().filter((text) => text.includes("Pairing code")).length;

test("an account is stopped, says so here and on the overview, and is started again", async () => {
  const page = await scene.open("channels/telegram/main");
  const main = card(page, "main");
  await main.locator(".badge", { hasText: /^Connected$/ }).waitFor();
  await main.getByRole("button", { name: "Stop telegram main" }).click();
  await main.locator(".badge", { hasText: /^Stopped manually$/ }).waitFor();
  await main.getByText("Outgoing messages wait").waitFor();
  await expect.poll(() => telegram.polling, PATIENCE).toBe(false);
  expect(await main.getByRole("button", { name: "Stop telegram main" }).count()).toBe(0);
  const overview = await scene.open("overview");
  await overview.locator("[aria-labelledby=health]").getByText("Stopped manually", { exact: true }).waitFor();
  await overview.getByText("Start it with: bin/openclaw channels start").waitFor();
  await main.getByRole("button", { name: "Start telegram main" }).click();
  await main.locator(".badge", { hasText: /^Connected$/ }).waitFor();
  await main.getByRole("button", { name: "Restart telegram main" }).click();
  await main.locator(".badge", { hasText: /^Connected$/ }).waitFor();
  await expect.poll(() => telegram.polling, PATIENCE).toBe(true);
});

test("a sender is approved, is on the account's list with the reason, and is a stranger once removed", async () => {
  const page = await scene.open("channels/telegram/main");
  await card(page, "main")
    .locator(".badge", { hasText: /^Connected$/ })
    .waitFor();
  const before = codes();
  telegram.say("hello");
  await expect.poll(codes, PATIENCE).toBe(before + 1);
  await page.getByRole("button", { name: /^Approve/ }).click();
  const id = String(telegram.me.id);
  const offer = page.getByRole("dialog").filter({ hasText: `Make ${id} the owner?` });
  await offer.getByRole("button", { name: "Not now" }).click();
  const row = card(page, "main").getByRole("listitem").filter({ hasText: id });
  await row.getByText("paired with a code").waitFor();
  // By key: the list may still be growing below the pointer.
  await row.getByRole("button", { name: `Remove ${id}` }).press("Enter");
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await row.waitFor({ state: "detached" });
  telegram.say("and now?");
  await expect.poll(codes, PATIENCE).toBe(before + 2);
  await page.getByRole("button", { name: /^Reject/ }).click();
  await page.getByText("No pending requests.").waitFor();
});

test("an error stands once on its card, and a list that lets everybody in warns", async () => {
  const page = await scene.open("channels/telegram/broken");
  const broken = card(page, "broken");
  const everyone = broken.locator("oc-senders-list .badge", { hasText: "everyone" });
  await everyone.waitFor();
  expect(await everyone.getAttribute("class")).toContain("warn");
  await broken.getByText("What to do:").waitFor();
  await page.getByRole("button", { name: "Check connections" }).click();
  await broken.getByText("Failed", { exact: true }).waitFor();
  expect(await broken.locator(".note").count()).toBe(1);
  expect(await broken.locator(".why").count()).toBe(0);
  await broken.getByRole("button", { name: "Start telegram broken" }).waitFor();
});

test("what waits for approval in another conversation is named after it, and the name leads there", async () => {
  const url = scene.gateway.url!;
  await using operator = await enter(url, { token: scene.token, scopes: ["operator.admin", "operator.read", "operator.write", "operator.approvals"] });
  const key = "agent:main:web:trip";
  const patched = await operator.ask("sessions.patch", { key, label: "A trip to Rome" });
  expect(patched.ok).toBe(true);
  const page = await scene.open("chat");
  await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
  const decided = operator.ask("exec.approval.request", { command: "ls", sessionKey: key, timeoutMs: 60_000 });
  const note = page.getByText("1 request is waiting for approval in A trip to Rome.");
  await note.waitFor();
  await note.getByRole("link", { name: "A trip to Rome" }).click();
  await page.getByRole("heading", { name: "Allow this command?" }).waitFor();
  await page.getByRole("button", { name: "Deny" }).click();
  expect(await decided).toMatchObject({ ok: true, payload: { decision: "deny" } });
});

test("the configuration is as it was: nothing of this is written to it", () => {
  const { channels } = JSON.parse(readFileSync(scene.place.configPath, "utf8")) as { channels: { telegram: { enabled: boolean; accounts: object } } };
  expect(channels.telegram.enabled).toBe(true);
  expect(Object.keys(channels.telegram.accounts)).toEqual(["main", "broken"]);
});

test("a German reader gets troubles in German, and what the gateway refuses in its words is marked as such", async () => {
  const page = await (await scene.window({ locale: "de-AT" })).newPage();
  await page.goto(scene.link());
  await page.getByRole("link", { name: "Übersicht" }).click();
  await page
    .getByText(/Das beheben und dann mit \S*openclaw channels status --probe prüfen\.|Die Verbindung wird automatisch wiederhergestellt\./)
    .first()
    .waitFor();
  expect(await page.getByText(/Fix this, then run|It reconnects automatically/).count()).toBe(0);
  await page.goto(`${scene.url}/skills?add=install`);
  await page.getByLabel("Quelle").fill("/nothing/is/here");
  await page.getByLabel("Quelle").press("Enter");
  await page.getByText(/^Das Gateway meldet: /).waitFor();
});
