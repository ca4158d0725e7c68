import axe from "axe-core";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { choose } from "./harness/choose.ts";
import { describeInBrowser } from "./harness/in-browser.ts";
import { openScene, type Scene } from "./harness/scene.ts";

interface Job {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly schedule: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly delivery?: Readonly<Record<string, unknown>>;
}

describeInBrowser("making and changing jobs in the page", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ model: "mock" });
  });
  afterEach(async () => {
    await Promise.all(scene.browser.contexts().map((window) => window.close()));
    for (const { id } of jobs()) scene.cli("cron", "rm", id);
  });
  afterAll(() => scene?.[Symbol.asyncDispose]());

  const jobs = (): readonly Job[] => (JSON.parse(scene.cli("cron", "list", "--all", "--json").stdout) as { jobs: readonly Job[] }).jobs;
  const coming = (page: Page): Locator => page.getByRole("status", { name: "Next runs" });
  /** What axe finds serious or critical. */
  async function faults(page: Page): Promise<readonly string[]> {
    await page.evaluate(axe.source);
    return page.evaluate(async () => {
      interface Found {
        readonly violations: readonly { readonly id: string; readonly impact: string | null; readonly nodes: readonly { readonly html: string }[] }[];
      }
      const inside = globalThis as unknown as { readonly axe: { run(options: object): Promise<Found> } };
      const { violations } = await inside.axe.run({ resultTypes: ["violations"] });
      return violations.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ""}`);
    });
  }

  test("a job is made with the keyboard alone, with its schedule in words and its next five runs", async () => {
    const page = await scene.open("jobs");
    await page.getByRole("link", { name: "New job" }).press("Enter");
    await page.getByRole("heading", { name: "New job" }).waitFor();
    await page.getByLabel("Name").focus();
    await page.keyboard.type("Stand-up");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.type("Stand-up in five minutes");
    await page.keyboard.press("Tab");
    await page.keyboard.type("Every weekday");
    await page.getByLabel("Time zone").fill("Europe/Berlin");
    await coming(page).getByText("Runs weekdays at 09:00 (Europe/Berlin)").waitFor();
    await expect.poll(() => coming(page).getByRole("listitem").count()).toBe(5);
    await page.getByLabel("Time zone").press("Enter");
    await page.getByText("Stand-up was added.").waitFor();
    await page.getByRole("heading", { name: "Stand-up" }).waitFor();
    expect(jobs()).toMatchObject([
      {
        name: "Stand-up",
        enabled: true,
        schedule: { kind: "cron", expr: "0 9 * * 1-5", tz: "Europe/Berlin" },
        payload: { kind: "systemEvent", text: "Stand-up in five minutes" },
      },
    ]);
  });

  test("what is wrong is said beside its field, and the first such field has the focus", async () => {
    // The page's policy forbids foreign scripts: only this window lets axe in.
    const page = await scene.open("jobs/new", { bypassCSP: true });
    await page.getByRole("button", { name: "Add job" }).click();
    const name = page.getByLabel("Name");
    await expect.poll(() => name.evaluate((field) => field.matches(":focus"))).toBe(true);
    expect(await name.getAttribute("aria-invalid")).toBe("true");
    expect(await name.getAttribute("aria-describedby")).toBe("name-wrong");
    await page.getByText("Enter a name").waitFor();
    await page.getByText("Enter a reminder").waitFor();
    expect(await faults(page)).toEqual([]);
    await name.fill("Broken");
    await expect.poll(() => page.getByText("Enter a name").count()).toBe(0);
    await page.getByRole("textbox", { name: "Reminder" }).fill("x");
    // What only the gateway knows is said while one types.
    await choose(page.getByLabel("Repeat"), "custom");
    await page.getByLabel("Expression").fill("61 * * * *");
    const wrong = page.locator("#expr-wrong");
    await wrong.waitFor();
    expect(await wrong.textContent()).toMatch(/"61 \* \* \* \*".* cannot be used: /);
    expect(await page.getByLabel("Expression").getAttribute("aria-invalid")).toBe("true");
    await page.getByRole("button", { name: "Add job" }).click();
    await expect.poll(() => page.getByLabel("Expression").evaluate((field) => field.matches(":focus"))).toBe(true);
    expect(jobs()).toEqual([]);
    await page.getByLabel("Expression").fill("*/5 * * * *");
    await coming(page).getByText("every 5 minutes").waitFor();
    expect(await wrong.count()).toBe(0);
    expect(await faults(page)).toEqual([]);
  });

  test("a job is changed, paused and deleted, and what was not touched stays as it was", async () => {
    const { code, stdout } = scene.cli(
      "cron",
      "add",
      "--name",
      "Report",
      "--every",
      "2h",
      "--message",
      "hello",
      "--model",
      "mock/echo",
      "--channel",
      "telegram",
      "--to",
      "42",
      "--json",
    );
    expect(code).toBe(0);
    const before = JSON.parse(stdout) as Job;
    const page = await scene.open(`jobs/${before.id}`);
    await page.getByRole("link", { name: "Edit Report" }).click();
    await page.getByRole("heading", { name: "Edit Report" }).waitFor();
    expect(await page.getByLabel("Every").inputValue()).toBe("2");
    expect(await page.getByLabel("Channel").inputValue()).toBe("telegram");
    await page.getByLabel("Task").fill("hello again");
    await page.getByLabel("Enabled").uncheck();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("none (disabled)").waitFor();
    expect(jobs()).toMatchObject([
      { enabled: false, schedule: before.schedule, delivery: before.delivery, payload: { message: "hello again", model: "mock/echo" } },
    ]);
    await page.getByRole("link", { name: "Edit Report" }).click();
    await choose(page.getByLabel("Send the answer to"), "webchat");
    await page.getByLabel("Enabled").check();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("shown in WebChat, in the job’s session").waitFor();
    expect(jobs()).toMatchObject([{ enabled: true, schedule: before.schedule, delivery: { mode: "announce", channel: "webchat" } }]);
    await page.getByRole("button", { name: "Delete Report" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "Automation" }).waitFor();
    expect(jobs()).toEqual([]);
  });

  test("what was typed is there again after a reload, and is gone once it was saved or discarded", async () => {
    const page = await scene.open("jobs/new");
    await page.getByLabel("Name").fill("Tea");
    await page.getByRole("textbox", { name: "Reminder" }).fill("make tea");
    await choose(page.getByLabel("Repeat"), "custom");
    await page.getByLabel("Expression").fill("0 * * * *");
    await page.getByLabel("Time zone").fill("Asia/Tokyo");
    await page.reload();
    await page.getByText("Your unsaved input was restored.").waitFor();
    expect(await page.getByRole("textbox", { name: "Reminder" }).inputValue()).toBe("make tea");
    await coming(page).getByText("Times in Asia/Tokyo").waitFor();
    await coming(page).getByText("up to 5 minutes later").waitFor();
    await page.getByRole("button", { name: "Add job" }).click();
    await page.getByText("Tea was added.").waitFor();
    await page.goto(`${scene.url}/jobs/new`);
    expect(await page.getByLabel("Name").inputValue()).toBe("");
    await page.getByLabel("Name").fill("Coffee");
    await page.reload();
    await page.getByRole("button", { name: "Discard" }).click();
    await expect.poll(() => page.getByLabel("Name").inputValue()).toBe("");
  });

  test("a job with an interval of one and a half seconds can be renamed", async () => {
    scene.cli("cron", "add", "--name", "Tick", "--every", "1500ms", "--message", "x", "--channel", "telegram", "--disabled");
    const [before] = jobs();
    const page = await scene.open(`jobs/${before?.id}/edit`);
    await page.getByLabel("Name").fill("Tock");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Tock was changed.").waitFor();
    expect(jobs()).toEqual([{ ...before, name: "Tock", updatedAtMs: expect.any(Number) }]);
  });

  test("on a phone the form is as wide as the screen, and leaving it adds nothing", async () => {
    const page = await scene.open("jobs/new", { viewport: { width: 360, height: 740 } });
    await page.getByLabel("Name").fill("Nothing");
    const widths = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = (globalThis as unknown as { document: { documentElement: { scrollWidth: number; clientWidth: number } } }).document
        .documentElement;
      return scrollWidth - clientWidth;
    });
    expect(widths).toBe(0);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("heading", { name: "Automation" }).waitFor();
    expect(jobs()).toEqual([]);
  });
});
