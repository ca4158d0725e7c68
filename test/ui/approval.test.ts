import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { logIn, openScene, type Scene } from "./harness/scene.ts";

let scene: Scene;
beforeAll(async () => {
  scene = await openScene({ model: "mock", browser: { ordinary: true }, config: { tools: { exec: { host: "gateway", ask: "always" } } } });
});
afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
afterAll(() => scene[Symbol.asyncDispose]());

const session = (name: string): string => `chat/${encodeURIComponent(`agent:main:web:approval-${name}`)}`;
const card = (page: Page): Locator => page.locator("oc-transcript .tool");
const state = (page: Page): Locator => card(page).locator(".card-state");
const bubbles = (page: Page): Locator => page.locator("oc-transcript .bubble");
const shown = (page: Page, text: string | RegExp): Locator => page.locator("oc-transcript .prose").getByText(text);
const allow = (page: Page): Locator => page.getByRole("button", { name: "Allow once" });

/** Sends a message that makes the agent ask about a command. The reply comes from the scripted model. */
async function ask(page: Page, command: string): Promise<void> {
  const plans = [{ tool: "exec", args: JSON.stringify({ command }) }, { say: "I asked." }];
  await fetch(`${scene.modelUrl}/next`, { method: "POST", body: JSON.stringify(plans) });
  const box = page.getByRole("textbox", { name: "Message", exact: true });
  await box.fill("run it please");
  await box.press("Enter");
  await page.getByText("Allow this command?").waitFor();
  // Else the next request would be answered with what was planned for this one.
  await shown(page, "I asked.").last().waitFor();
}

test("a command that is allowed is seen running, with what it writes, and the answer follows by itself; a reload shows the same", async () => {
  const page = await scene.open(session("allowed"));
  await ask(page, "echo first; while [ ! -e go-on ]; do sleep 0.02; done; echo '@say=The number is 42.'; exit 3");
  await state(page).getByText("Waiting for approval").waitFor();
  await allow(page).click();
  await card(page).locator(".spinner").waitFor();
  await card(page).getByLabel("Output so far").getByText("first").waitFor();
  writeFileSync(join(scene.workspace, "go-on"), "");
  await shown(page, "The number is 42.").waitFor();
  for (const again of [false, true]) {
    if (again) await page.reload();
    await state(page).getByText("exit 3").waitFor();
    await page.getByText("The command finished with exit code 3").waitFor();
    await card(page).getByRole("group", { name: "Result" }).getByText("first").waitFor();
    expect(await bubbles(page).allTextContents()).toEqual(["run it please"]);
  }
});

test("one that is denied says so on its card, and the agent goes on", async () => {
  const page = await scene.open(session("denied"));
  await ask(page, "touch denied # @say=You did not allow it.");
  await page.getByRole("button", { name: "Deny" }).click();
  await shown(page, "You did not allow it.").waitFor();
  for (const again of [false, true]) {
    if (again) await page.reload();
    await state(page).getByText("Denied").waitFor();
    await page.getByText("The command was denied").waitFor();
    expect(await bubbles(page).allTextContents()).toEqual(["run it please"]);
  }
  expect(existsSync(join(scene.workspace, "denied"))).toBe(false);
});

test("a job that waits for approval is known by its name in other chats", async () => {
  const page = await scene.open(session("beside"));
  const plans = [{ tool: "exec", args: JSON.stringify({ command: "echo from-a-job # @say=It ran." }) }, { say: "I asked." }];
  await fetch(`${scene.modelUrl}/next`, { method: "POST", body: JSON.stringify(plans) });
  const { stdout } = scene.cli("cron", "add", "--name", "Water the plants", "--every", "1d", "--message", "water them", "--json");
  const { id } = JSON.parse(stdout) as { readonly id: string };
  scene.cli("cron", "run", id);
  const note = page.getByText("1 request is waiting for approval in");
  await note.waitFor();
  await expect.poll(() => note.getByRole("link").textContent()).toBe("Cron: Water the plants");
  await note.getByRole("link").click();
  await page.getByRole("button", { name: "Deny" }).click();
  await note.waitFor({ state: "detached" });
  scene.cli("cron", "rm", id);
});

test("Enter never allows; what is dangerous is marked; what always means is read before it counts", async () => {
  const page = await scene.open(session("enter"));
  await ask(page, "rm -rf nothing-there # @say=You did not allow it either.");
  await page.getByLabel("What will run").locator("mark").first().waitFor();
  expect(await page.getByLabel("What will run").locator("mark").allInnerTexts()).toEqual(["rm", "-rf"]);
  await page.getByText("Deletes data.").waitFor();
  await allow(page).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Always allow…" }).click();
  await page.getByRole("button", { name: "Always allow", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Back" }).click();
  await page.getByRole("button", { name: "Deny" }).click();
  await shown(page, "You did not allow it either.").waitFor();
  await state(page).getByText("Denied").waitFor();
});

test("one that a restart finds undecided does not run, and the page says so without being reloaded", async () => {
  const page = await scene.open(session("restart"));
  await ask(page, "touch restarted # @say=It did not run.");
  await scene.restart();
  await shown(page, "It did not run.").waitFor();
  await state(page).getByText("Gateway restarted").waitFor();
  await page.getByText("Allow this command?").waitFor({ state: "detached" });
});

test("with the clock of the computer far ahead or behind it can be decided, and the time left is the gateway's", async () => {
  for (const [name, minutes] of [
    ["ahead", 60],
    ["behind", -60],
  ] as const) {
    const window = await scene.window();
    await window.addInitScript((ms: number) => {
      const real = Date.now.bind(Date);
      Date.now = () => real() + ms;
    }, minutes * 60_000);
    const page = await window.newPage();
    await page.goto(`${scene.url}/${session(name)}`);
    await logIn(page);
    await ask(page, "echo '@say=In time.'");
    const [, minutesLeft, seconds] = /(\d+):(\d\d)/.exec((await page.getByRole("timer").textContent()) ?? "") ?? [];
    const left = Number(minutesLeft) * 60 + Number(seconds);
    expect(left).toBeGreaterThan(60);
    expect(left).toBeLessThanOrEqual(120);
    await allow(page).click();
    await shown(page, "In time.").waitFor();
  }
});

test("a long command cannot be allowed before its end was on the screen", async () => {
  const page = await scene.open(session("long"));
  await ask(page, `${Array.from({ length: 60 }, (_, at) => `true step ${at}`).join("\n")}\necho '@say=Read whole.'`);
  await page.getByText(/61 lines, [\d,]+ characters: about \d+ lines below/).waitFor();
  expect([await allow(page).isDisabled(), await page.getByRole("button", { name: "Deny" }).isDisabled()]).toEqual([true, false]);
  await page.getByRole("button", { name: "Show in full" }).click();
  await page.getByText("shown in full").waitFor();
  await page.getByRole("button", { name: "Show less" }).click();
  await page.getByLabel("What will run").evaluate((block) => block.scrollTo(0, block.scrollHeight));
  await allow(page).click();
  await shown(page, "Read whole.").waitFor();
});

test("someone who looks elsewhere is notified that a command waits, without the command, and led to it; the notification goes with the decision", async () => {
  const window = await scene.window({ permissions: ["notifications"] });
  const page = await window.newPage();
  // Headless pages always have the focus, and nobody sees their notifications.
  await page.addInitScript({
    content: `
      document.hasFocus = () => false;
      globalThis.seenNotifications = [];
      globalThis.Notification = class extends EventTarget {
        static permission = "granted";
        constructor(title, { body }) {
          super();
          this.entry = { title, body, closed: false };
          seenNotifications.push(this.entry);
        }
        close() {
          this.entry.closed = true;
        }
      };`,
  });
  await page.goto(`${scene.url}/${session("away")}`);
  await logIn(page);
  await ask(page, "touch away # @say=It is done.");
  const seen = (): Promise<readonly { closed: boolean }[]> => page.evaluate("seenNotifications");
  expect(await seen()).toEqual([{ title: "Approval needed", body: expect.not.stringContaining("touch"), closed: false }]);
  await page.getByRole("button", { name: "Deny" }).click();
  await expect.poll(async () => (await seen())[0]?.closed).toBe(true);
});
