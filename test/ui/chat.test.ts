import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { enter } from "../harness/device-client.ts";
import { openScene, type Scene } from "./harness/scene.ts";

/** A session of its own for each test: nothing of another is in it. */
const session = (name: string): string => `chat/${encodeURIComponent(`agent:main:web:${name}`)}`;

const box = (page: Page): Locator => page.getByRole("textbox", { name: "Message", exact: true });
const stop = (page: Page): Locator => page.getByRole("button", { name: "Stop", exact: true });
const shown = (page: Page, text: string | RegExp): Locator => page.locator("oc-transcript").getByText(text);

async function say(page: Page, text: string): Promise<void> {
  await box(page).fill(text);
  await box(page).press("Enter");
}

/** The end of the mock model's answer with so many pieces. */
const lastWords = (chunks: number): RegExp => new RegExp(`w${chunks - 2} w${chunks - 1}\\s*$`);

/** Waits until the answer is whole and nothing runs. */
async function answered(page: Page, chunks: number): Promise<void> {
  await shown(page, lastWords(chunks)).waitFor({ timeout: 25_000 });
  await stop(page).waitFor({ state: "detached" });
}

async function closeWindows({ browser }: Scene): Promise<void> {
  await Promise.all(browser.contexts().map((window) => window.close()));
}

describe("with the offline model", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ browser: { ordinary: true } });
  });
  afterEach(() => closeWindows(scene));
  afterAll(() => scene[Symbol.asyncDispose]());

  test("an empty chat says that the offline model answers and how to add another, and an example works", async () => {
    const page = await scene.open();
    await page.getByText("The built-in offline model answers").waitFor();
    const steps = await page.locator("oc-greeting a").evaluateAll((links) => links.map((link) => link.getAttribute("href")));
    expect(steps).toEqual(["start?step=key", "start?step=local", "start?step=channel", "start?step=tour"]);
    await page.getByRole("button", { name: 'write "buy milk" to todo.md' }).click();
    await shown(page, "todo.md").first().waitFor();
    await expect.poll(() => existsSync(join(scene.workspace, "todo.md")) && readFileSync(join(scene.workspace, "todo.md"), "utf8")).toContain("buy milk");
  });

  test("a command is found, completed and sent with the keyboard", async () => {
    const page = await scene.open(session("command"));
    await box(page).pressSequentially("/stat");
    await page.getByRole("option", { name: /\/status/ }).waitFor();
    await box(page).press("Tab");
    expect(await box(page).inputValue()).toBe("/status");
    await box(page).press("Enter");
    await shown(page, "builtin/offline").first().waitFor();
  });

  test("a conversation is renamed, found by its name and exported", async () => {
    const page = await scene.open(session("renamed"));
    await say(page, "What can you do?");
    await shown(page, "I am the built-in offline model").first().waitFor();
    await page.getByRole("button", { name: /rename$/ }).click();
    await page.getByLabel("Name of the conversation").fill("Groceries");
    await page.getByLabel("Name of the conversation").press("Enter");
    await page.getByLabel("Search conversations").fill("grocer");
    await page.getByRole("link", { name: /Groceries/ }).waitFor();
    await page.getByRole("button", { name: "More about this conversation" }).click();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export as Markdown" }).click()]);
    const text = readFileSync(await download.path(), "utf8");
    expect(download.suggestedFilename()).toMatch(/\.md$/);
    expect(text).toContain("What can you do?");
    expect(text).toContain("I am the built-in offline model");
  });
});

describe("with a model that streams", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ model: "mock", browser: { ordinary: true }, config: { tools: { exec: { host: "gateway", security: "full", ask: "always" } } } });
  });
  afterEach(() => closeWindows(scene));
  afterAll(() => scene[Symbol.asyncDispose]());

  test("an answer appears while it is written and stands there once when it is done", async () => {
    const page = await scene.open(session("streaming"));
    await say(page, "stream it @chunks=50 @gap=20");
    await stop(page).waitFor();
    await shown(page, "w5").first().waitFor();
    expect(await shown(page, lastWords(50)).count()).toBe(0);
    await answered(page, 50);
    expect([await shown(page, "stream it").count(), await shown(page, lastWords(50)).count()]).toEqual([1, 1]);
  });

  test("Escape stops an answer, and what waited behind it comes back into the box", async () => {
    const page = await scene.open(session("stopped"));
    await say(page, "long @chunks=400 @gap=25");
    await shown(page, "w3").first().waitFor();
    await say(page, "and then this");
    await page.getByRole("list", { name: "Queued messages" }).getByText("and then this").waitFor();
    await box(page).press("Escape");
    await stop(page).waitFor({ state: "detached" });
    await expect.poll(() => box(page).inputValue()).toBe("and then this");
    expect([await shown(page, "w399").count(), await shown(page, "and then this").count()]).toEqual([0, 0]);
  });

  test("a command waits for approval, is shown exactly, and runs when it is allowed; another window sees that", async () => {
    const page = await scene.open(session("approved"));
    const other = await scene.open(session("approved"));
    const command = `echo granted > ${join(scene.workspace, "granted.txt")}`;
    await say(page, `go @tool=exec @args=${JSON.stringify({ command })}`);
    for (const one of [page, other]) await one.getByLabel("What will run").getByText(command, { exact: true }).waitFor();
    expect(existsSync(join(scene.workspace, "granted.txt"))).toBe(false);
    await page.getByRole("button", { name: "Allow once" }).click();
    await expect.poll(() => existsSync(join(scene.workspace, "granted.txt"))).toBe(true);
    await page.getByText("Allow this command?").waitFor({ state: "detached" });
    await other.getByText("Allow this command?").waitFor({ state: "detached" });
    await other.getByText(/was allowed once/).waitFor();
  });

  test("a command that is denied does not run", async () => {
    const page = await scene.open(session("denied"));
    const file = join(scene.workspace, "denied.txt");
    await say(page, `go @tool=exec @args=${JSON.stringify({ command: `echo no > ${file}` })}`);
    await page.getByRole("button", { name: "Deny" }).click();
    await page.getByText("Allow this command?").waitFor({ state: "detached" });
    // The agent continues with the result.
    await shown(page, lastWords(4)).nth(1).waitFor();
    expect(existsSync(file)).toBe(false);
  });

  test("the address of a run leads to where it began, however far back, and marks it for a moment", async () => {
    await using client = await enter(scene.gateway.url!, { token: scene.token, scopes: ["operator.write"] });
    for (let at = 1; at <= 45; at += 1) {
      const runId = `long-ago-${at}`;
      await client.ask("chat.send", { sessionKey: "agent:main:web:long", message: `question ${at}. @chunks=1`, idempotencyKey: runId });
      await client.next(({ event, payload }) => event === "chat" && payload?.["runId"] === runId && payload["state"] === "final");
    }
    const page = await scene.open(`${session("long")}?run=long-ago-3`);
    const found = page.locator("oc-transcript .item.found");
    await found.waitFor();
    expect(await found.innerText()).toContain("question 3.");
    const [row, log] = await Promise.all([found.boundingBox(), page.locator("oc-transcript .scroller").boundingBox()]);
    expect(row!.y - log!.y).toBeGreaterThanOrEqual(0);
    expect(row!.y - log!.y).toBeLessThan(120);
    await found.waitFor({ state: "detached" });
    await shown(page, "question 3.").first().waitFor();
    await page.goto(new URL(`${session("long")}?run=nobody`, page.url().replace(/chat\/.*$/, "")).href);
    await page.getByText("Message not found").waitFor();
  });

  test("what is written survives a reload, per conversation", async () => {
    const page = await scene.open(session("draft-1"));
    await box(page).fill("half a thought");
    await page.reload();
    await expect.poll(() => box(page).inputValue()).toBe("half a thought");
    await page.goto(`${scene.url}/${session("draft-2")}`);
    await box(page).waitFor();
    expect(await box(page).inputValue()).toBe("");
  });

  test("a second tab shows the same conversation as it goes on", async () => {
    const page = await scene.open(session("tabs"));
    const tab = await page.context().newPage();
    await tab.goto(`${scene.url}/${session("tabs")}`);
    await box(tab).waitFor();
    await say(page, "from the first tab @chunks=30 @gap=20");
    for (const one of [page, tab]) {
      await answered(one, 30);
      expect([await shown(one, "from the first tab").count(), await shown(one, lastWords(30)).count()]).toEqual([1, 1]);
    }
    await say(tab, "from the second tab @chunks=20 @gap=10");
    for (const one of [page, tab]) {
      await shown(one, "from the second tab").waitFor();
      await answered(one, 20);
      expect([await shown(one, "from the first tab").count(), await shown(one, "from the second tab").count()]).toEqual([1, 1]);
    }
  });

  test("a page that is reloaded while an answer streams shows the message and the answer once", async () => {
    const page = await scene.open(session("reloaded"));
    await say(page, "reload me @chunks=80 @gap=25");
    await shown(page, "w5").first().waitFor();
    await page.reload();
    await shown(page, "reload me").waitFor();
    await answered(page, 80);
    expect([await shown(page, "reload me").count(), await shown(page, lastWords(80)).count()]).toEqual([1, 1]);
  });

  test("a gateway that is killed while it answers comes back and the message is answered once", async () => {
    const page = await scene.open(session("killed"));
    await say(page, "survive this @chunks=60 @gap=25");
    await shown(page, "w5").first().waitFor();
    await scene.restart("SIGKILL");
    await answered(page, 60);
    expect([await shown(page, "survive this").count(), await shown(page, lastWords(60)).count()]).toEqual([1, 1]);
    await page.reload();
    await answered(page, 60);
    expect([await shown(page, "survive this").count(), await shown(page, lastWords(60)).count()]).toEqual([1, 1]);
  });

  test("a message that is sent without a connection waits and is answered once when it is back", async () => {
    const page = await scene.open(session("waiting"));
    scene.gateway.child.kill("SIGKILL");
    await scene.gateway.exited;
    await page.getByText("Connection lost").waitFor();
    await say(page, "said in the dark @chunks=20");
    await page.getByText("1 message waiting for the connection").waitFor();
    await page.reload().catch(() => undefined);
    await scene.restart("SIGKILL");
    await page.goto(`${scene.url}/${session("waiting")}`);
    await answered(page, 20);
    expect([await shown(page, "said in the dark").count(), await shown(page, lastWords(20)).count()]).toEqual([1, 1]);
  });
});
