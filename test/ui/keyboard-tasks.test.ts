/** The ten main tasks, each from the address to its end with the keyboard alone. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startTelegram, type FakeTelegram } from "../fakes/telegram/index.ts";
import { describeInBrowser } from "./harness/in-browser.ts";
import { enterOn, tabTo, typeInto } from "./harness/keyboard.ts";
import { openScene, type Scene } from "./harness/scene.ts";

const session = (name: string): string => `chat/${encodeURIComponent(`agent:main:web:keys-${name}`)}`;
const box = (page: Page): Locator => page.getByRole("textbox", { name: "Message", exact: true });
const answers = (page: Page): Locator => page.getByRole("group", { name: "Answer" });

describeInBrowser("the keyboard alone", () => {
  let telegram: FakeTelegram;
  let scene: Scene;
  beforeAll(async () => {
    telegram = await startTelegram();
    scene = await openScene({
      model: "mock",
      browser: { ordinary: true },
      config: { tools: { exec: { host: "gateway", security: "full", ask: "always" } }, cron: { maxConcurrentRuns: 2 } },
      gateway: { env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot } },
      prepare({ configPath, configure }) {
        const config = JSON.parse(readFileSync(configPath, "utf8")) as { models: { providers: { mock: { models: object[] } } } };
        config.models.providers.mock.models.push({ id: "second", name: "Mock Two", contextWindow: 100_000, maxTokens: 4000 });
        configure(JSON.stringify(config));
      },
    });
  });
  afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
  afterAll(async () => {
    await scene?.[Symbol.asyncDispose]();
    await telegram?.[Symbol.asyncDispose]();
  });

  async function send(page: Page, text: string): Promise<void> {
    await typeInto(page, box(page), text);
    await page.keyboard.press("Enter");
  }

  async function answered(page: Page, text: string): Promise<void> {
    await answers(page).getByText(text).last().waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
  }

  test("1. sign in", async () => {
    const page = await (await scene.window()).newPage();
    await page.goto(scene.url);
    await typeInto(page, page.getByLabel("Token of the gateway"), scene.token);
    await page.keyboard.press("Enter");
    await box(page).waitFor();
  });

  test("2. send a message and read the answer", async () => {
    const page = await scene.open(session("send"));
    await send(page, "hello @say=good-morning");
    await answered(page, "good-morning");
  });

  test("3. approve a command", async () => {
    const page = await scene.open(session("approve"));
    const command = `echo yes > ${join(scene.workspace, "by-key.txt")}`;
    await send(page, `go @tool=exec @args=${JSON.stringify({ command })}`);
    await page.getByText("Allow this command?").waitFor();
    expect(existsSync(join(scene.workspace, "by-key.txt"))).toBe(false);
    // Enter allows nothing: one who writes does not allow by accident.
    await enterOn(page, page.getByRole("button", { name: "Allow once" }));
    expect(existsSync(join(scene.workspace, "by-key.txt"))).toBe(false);
    await page.keyboard.press("Space");
    await expect.poll(() => existsSync(join(scene.workspace, "by-key.txt"))).toBe(true);
  });

  test("4. search a conversation and open it", async () => {
    const page = await scene.open(session("search"));
    await send(page, "where is the rutabaga @say=in-the-cellar");
    await answered(page, "in-the-cellar");
    await page.goto(`${scene.url}/${session("other")}`);
    await typeInto(page, page.getByRole("searchbox", { name: "Search conversations" }), "rutabaga");
    await enterOn(
      page,
      page
        .getByRole("navigation", { name: "Conversations" })
        .getByRole("link", { name: /rutabaga/ })
        .first(),
    );
    await answers(page).getByText("in-the-cellar").waitFor();
  });

  test("5. switch the model", async () => {
    const page = await scene.open(session("model"));
    const picker = page.locator("oc-composer").getByRole("button", { name: /^Model:/ });
    await enterOn(page, picker);
    await page.getByRole("combobox", { name: "Search models" }).waitFor();
    await page.keyboard.type("second");
    await expect.poll(() => page.getByRole("option").count()).toBe(1);
    await page.keyboard.press("Enter");
    await page.locator("oc-composer").getByRole("button", { name: "Model: mock/second" }).waitFor();
  });

  test("6. connect a channel", async () => {
    const page = await scene.open("start");
    const card = page.locator("oc-start-channel");
    await tabTo(page, card.getByRole("combobox", { name: "Channel" }));
    await page.keyboard.type("teleg");
    await page.keyboard.press("Enter");
    await typeInto(page, card.locator('[id="field-botToken"]'), telegram.token);
    await page.keyboard.press("Enter");
    await card.getByText("is connected.").waitFor();
    await expect.poll(() => telegram.polling).toBe(true);
  });

  test("7. save a change of the configuration", async () => {
    const page = await scene.open("config?section=cron");
    await typeInto(page, page.getByRole("textbox", { name: "Max concurrent runs" }), "5");
    await page.getByText("Valid", { exact: true }).waitFor();
    await page.keyboard.press("Control+s");
    await enterOn(page, page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }));
    await page.getByRole("status").getByText("Saved", { exact: true }).first().waitFor();
    expect(JSON.parse(readFileSync(scene.place.configPath, "utf8"))).toMatchObject({ cron: { maxConcurrentRuns: 5 } });
  });

  test("8. create a job", async () => {
    const page = await scene.open("jobs");
    await enterOn(page, page.getByRole("link", { name: "New job" }).first());
    await typeInto(page, page.getByLabel("Name"), "Water the plants");
    await typeInto(page, page.getByLabel("Reminder", { exact: true }), "Water the plants on the balcony");
    await tabTo(page, page.getByRole("combobox", { name: "Repeat" }));
    await page.keyboard.type("every w");
    await page.keyboard.press("Enter");
    await enterOn(page, page.getByRole("button", { name: "Add job" }));
    await page.getByRole("heading", { name: "Water the plants" }).waitFor();
  });

  test("9. edit a message as a branch, and switch back", async () => {
    const page = await scene.open(session("branch"));
    await send(page, "one @say=first-answer");
    await answered(page, "first-answer");
    await enterOn(page, page.getByRole("group", { name: "You said" }).getByRole("button", { name: "Edit", exact: true }));
    await typeInto(page, page.getByRole("textbox", { name: "Edited message" }), "two @say=second-answer");
    await page.keyboard.press("Enter");
    await answered(page, "second-answer");
    await enterOn(page, page.getByRole("button", { name: "Previous version" }));
    await page.getByLabel("Version 1 of 2").waitFor();
    await answers(page).getByText("first-answer").waitFor();
  });

  test("10. open the palette and run a command", async () => {
    const page = await scene.open("overview");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search or run" }).waitFor();
    await page.keyboard.type(">dark");
    await page.getByRole("option").first().waitFor();
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("html").getAttribute("data-theme")).toBe("dark");
  });
});
