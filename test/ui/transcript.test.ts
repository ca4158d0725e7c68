import { mkdirSync } from "node:fs";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { chosenIn, choose } from "./harness/choose.ts";
import { enter } from "../harness/device-client.ts";
import type { Place } from "../harness/gateway-process.ts";
import { openTestStore } from "../harness/program.ts";
import { line, said, seedSession } from "../harness/seeded-session.ts";
import { describeInBrowser } from "./harness/in-browser.ts";
import { openScene, type Scene } from "./harness/scene.ts";

const key = (name: string): string => `agent:main:web:${name}`;
const session = (name: string): string => `chat/${encodeURIComponent(key(name))}`;
const box = (page: Page): Locator => page.getByRole("textbox", { name: "Message", exact: true });
const log = (page: Page): Locator => page.locator("oc-transcript");
const own = (page: Page): Locator => page.getByRole("group", { name: "You said" });
const pictures = (page: Page): Locator => log(page).locator("oc-chat-picture img");
const attached = (page: Page): Locator => page.getByRole("list", { name: "Attached" }).getByRole("listitem");

const edited = (page: Page): Locator => page.getByRole("textbox", { name: "Edited message" });

/** Waits as long as anything else in a browser is waited for. */
const SOON = { timeout: 15_000 };
const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

async function say(page: Page, text: string): Promise<void> {
  await box(page).fill(text);
  await box(page).press("Enter");
}

async function answered(page: Page, text: string | RegExp): Promise<void> {
  await page.getByRole("group", { name: "Answer" }).getByText(text).last().waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
}

/** Presses a button of the last own message. */
async function press(page: Page, name: string): Promise<void> {
  await own(page).last().hover();
  await own(page).last().getByRole("button", { name, exact: true }).click();
}

const FAILURE = "HTTP 500: the provider is on fire";

/** More sessions than are listed at once, the oldest with settings of its own, and one whose last run failed. */
async function seed(place: Place): Promise<void> {
  mkdirSync(place.stateDir, { recursive: true, mode: 0o700 });
  await using store = await openTestStore(place.stateDir);
  const now = Date.now();
  for (let at = 0; at < 70; at += 1) {
    await seedSession(store, [line("a", null, said(`how number ${at} began`), 1)], key(`n${at}`), `session-${at}`);
    const settings = at === 0 ? { thinkingLevel: "high", providerOverride: "mock", modelOverride: "m2", totalTokens: 1234, totalTokensFresh: true } : {};
    await store.commit([["sessions.patch", { key: key(`n${at}`), patch: { updatedAt: now - (100 - at) * 60_000, ...settings } }]]);
  }
  const failed = { role: "assistant", content: [], provider: "mock", model: "m1", stopReason: "error", errorMessage: FAILURE };
  const note = { type: "custom", customType: "openclaw:prompt-error", data: { runId: "r1", error: FAILURE } };
  await seedSession(
    store,
    [line("a", null, said("please fail @say=it works now"), 1), line("b", "a", { message: failed }, 2), line("c", "b", note, 3)],
    key("failed"),
    "failed",
  );
  await store.commit([["sessions.patch", { key: key("failed"), patch: { updatedAt: now } }]]);
}

describeInBrowser("the transcript and the page around it", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ model: "mock", prepare: seed, config: { tools: { exec: { host: "gateway", security: "full", ask: "off" } } } });
  });
  afterEach(async () => void (await Promise.all(scene.browser.contexts().map((window: BrowserContext) => window.close()))));
  afterAll(() => scene?.[Symbol.asyncDispose]());

  test("a conversation that is not among the newest has its name and its settings", async () => {
    const page = await scene.open(session("n0"));
    await page.getByRole("heading", { name: /^how number 0 began/ }).waitFor();
    const composer = page.locator("oc-composer");
    await composer.getByRole("button", { name: /m2/ }).waitFor();
    await expect.poll(() => chosenIn(composer.getByLabel("Thinking")), SOON).toBe("high");
    expect(await page.locator("oc-chat-sidebar").getByText("how number 0 began").count()).toBe(0);
  });

  test("a failure stands there once, also after a reload, with buttons of one size; sent again it is answered", async () => {
    const page = await scene.open(session("failed"));
    const errors = page.getByRole("group", { name: "Error" });
    await errors.first().waitFor();
    await page.reload();
    await errors.first().waitFor();
    expect([await errors.count(), await log(page).getByText(FAILURE).count()]).toEqual([1, 1]);
    const [retry, trace] = await Promise.all([
      errors.getByRole("button", { name: "Send again" }).boundingBox(),
      errors.getByRole("link", { name: "Trace" }).boundingBox(),
    ]);
    expect(retry!.height).toBe(trace!.height);
    await errors.getByRole("button", { name: "Send again" }).click();
    await answered(page, "it works now");
    expect(await own(page).count()).toBe(2);
  });

  test("a message with a picture is sent again and edited with its picture", async () => {
    const page = await scene.open(session("picture"));
    await page.locator("oc-composer input[type=file]").setInputFiles([{ name: "dot.png", mimeType: "image/png", buffer: PNG }]);
    await attached(page).waitFor();
    await say(page, "look at this @say=a dot");
    await answered(page, "a dot");
    await expect.poll(() => pictures(page).count(), SOON).toBe(1);
    await press(page, "Send again");
    await expect.poll(() => pictures(page).count(), SOON).toBe(2);
    await expect.poll(() => page.getByRole("group", { name: "Answer" }).count(), SOON).toBe(2);
    await press(page, "Edit");
    await page.getByText("Sent again with it: picture-1.png").waitFor();
    await edited(page).fill("look once more @say=still a dot");
    await edited(page).press("Enter");
    await answered(page, "still a dot");
    // It takes the place of the second message: both are there.
    await expect.poll(() => pictures(page).count(), SOON).toBe(2);
    await page.getByLabel("Version 2 of 2").waitFor();
  });

  test("a long message that is shown cut says so, and is edited and sent again whole", async () => {
    const page = await scene.open(session("long"));
    const long = `@say=read it @chunks=1\nstart ${"lorem ipsum ".repeat(25_000)} END-MARK`;
    await say(page, long);
    await answered(page, "read it");
    await own(page).getByText("Too long to show in full").waitFor();
    await press(page, "Edit");
    await expect.poll(async () => (await edited(page).inputValue()) === long, SOON).toBe(true);
  });

  test("what is written and was not sent is not lost to an edit", async () => {
    const page = await scene.open(session("draft"));
    await say(page, "first words @say=first answer");
    await answered(page, "first answer");
    await box(page).fill("a draft that took a while");
    await press(page, "Edit");
    expect(await edited(page).inputValue()).toBe("first words @say=first answer");
    await edited(page).fill("other words @say=other answer");
    await page.getByRole("dialog").getByRole("button", { name: "Send" }).click();
    await answered(page, "other answer");
    expect(await box(page).inputValue()).toBe("a draft that took a while");
  });

  test("a new chat is a new chat, and has the name of its first words as soon as they are said", async () => {
    const page = await scene.open(session("named"));
    const title = page.locator("oc-chat-header").getByRole("heading");
    const titles: string[] = [];
    const read = async (): Promise<string> => {
      const now = (await title.innerText()).trim();
      if (titles.at(-1) !== now) titles.push(now);
      return now;
    };
    await expect.poll(read, SOON).toBe("New chat");
    await choose(page.getByLabel("Thinking"), "low");
    await page.locator(`oc-chat-sidebar a[title="${key("named")}"]`).waitFor();
    expect(await read()).toBe("New chat");
    await say(page, "What is the time? @chunks=40 @gap=25");
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
    while ((await page.getByRole("button", { name: "Stop", exact: true }).count()) > 0) await read();
    await expect.poll(read, SOON).toMatch(/^What is the time\?/);
    expect(titles.filter((name) => !/^(?:New chat|What is the time\?)/.test(name))).toEqual([]);
  });

  test("what is written from right to left is shown so, and code within it from left to right", async () => {
    const page = await scene.open(session("rtl"));
    await say(
      page,
      "مرحبا، كيف حالك؟ @say=مرحبا بالعالم، هذا `code 1` و 123.\\n\\n- بند أول\\n- بند ثان\\n\\n| عمود | آخر |\\n|---|---|\\n| واحد | اثنان |\\n\\nand one line in English",
    );
    await answered(page, "and one line in English");
    const direction = (of: Locator): Promise<string> =>
      of.evaluate(
        (element) => (globalThis as unknown as { getComputedStyle(of: unknown): { readonly direction: string } }).getComputedStyle(element).direction,
      );
    const answer = page.getByRole("group", { name: "Answer" });
    const parts = [
      own(page).locator(".bubble"),
      answer.locator("p").first(),
      answer.locator("ul"),
      answer.locator("table"),
      answer.locator("code"),
      answer.locator(".prose > p").last(),
    ];
    // An answer is drawn once more when it is complete.
    await expect.poll(() => Promise.all(parts.map(direction)), SOON).toEqual(["rtl", "rtl", "rtl", "rtl", "ltr", "ltr"]);
  });

  test("one can write at once when the page is there, and when a conversation was chosen from the list", async () => {
    const page = await scene.open(session("focus"));
    const inBox = (): Promise<number> => page.locator("oc-composer textarea:focus").count();
    await expect.poll(inBox, SOON).toBe(1);
    await page.reload();
    await expect.poll(inBox, SOON).toBe(1);
    await page
      .locator("oc-chat-sidebar")
      .getByRole("link", { name: /how number 69 began/ })
      .click();
    await page.getByRole("heading", { name: /^how number 69 began/ }).waitFor();
    await expect.poll(inBox, SOON).toBe(1);
  });

  test("a command that ended badly is not marked as done", async () => {
    const page = await scene.open(session("exit"));
    await say(page, `go @tool=exec @args=${JSON.stringify({ command: "echo oops; exit 3" })}`);
    await answered(page, "ok w1 w2 w3");
    const card = log(page).locator(".tool");
    expect(await card.locator(".card-state").innerText()).toMatch(/Failed[^]*exit 3/);
    expect(await card.locator(".card-state.done").count()).toBe(0);
  });
});

describeInBrowser("where the configured model cannot answer", () => {
  let scene: Scene;
  beforeAll(async () => {
    // Nobody listens there.
    const models = [{ id: "x", name: "Nobody", contextWindow: 100_000, maxTokens: 1000 }];
    const nobody = { baseUrl: "http://127.0.0.1:9/v1", apiKey: "none", api: "openai-completions", models };
    scene = await openScene({ config: { agents: { defaults: { model: { primary: "gone/m9" } } }, models: { providers: { nobody } } } });
  });
  afterAll(() => scene?.[Symbol.asyncDispose]());

  test("a run that fails shows why once, while one looks and after a reload, and can be sent again", async () => {
    await using client = await enter(scene.gateway.url!, { token: scene.token, scopes: ["operator.admin"] });
    await expect.poll(() => client.ask("sessions.patch", { key: key("fails"), model: "nobody/x" }), SOON).toMatchObject({ ok: true });
    const page = await scene.open(session("fails"));
    await say(page, "is anybody there?");
    const errors = page.getByRole("group", { name: "Error" });
    const once = [expect.stringMatching(/nobody\/x: the connection failed[^]*Send again/)];
    await expect.poll(() => errors.allInnerTexts(), SOON).toEqual(once);
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
    await page.reload();
    await expect.poll(() => errors.allInnerTexts(), SOON).toEqual(once);
  });

  test("a run that could not begin shows why once, with its trace, while one looks and after a reload", async () => {
    const page = await scene.open(session("unknown-model"));
    await say(page, "is anybody there?");
    const errors = page.getByRole("group", { name: "Error" });
    await errors.getByText("Unknown model: gone/m9").first().waitFor();
    await errors.getByRole("link", { name: "Trace" }).first().waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
    await expect.poll(() => errors.count(), SOON).toBe(1);
    await page.reload();
    await errors.getByRole("link", { name: "Trace" }).waitFor();
    await expect.poll(async () => [await errors.count(), await own(page).count()], SOON).toEqual([1, 1]);
  });

  test("the greeting tells of the model that was chosen for the conversation", async () => {
    const page = await scene.open(session("chosen"));
    const greeting = page.locator("oc-greeting");
    await greeting.getByText("No model available").waitFor();
    await page.locator("oc-model-picker").getByRole("button").first().click();
    await page.getByRole("option", { name: /Nobody/ }).click();
    await greeting.getByText("nobody/x").waitFor();
    await greeting.getByText("It was chosen for this conversation").waitFor();
    expect(await greeting.getByText("No model available").count()).toBe(0);
  });
});
