import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { describeInBrowser } from "./harness/in-browser.ts";
import { openScene, type Scene } from "./harness/scene.ts";

describeInBrowser("the page of scheduled jobs", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ model: "mock" });
  });
  afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
  afterAll(() => scene?.[Symbol.asyncDispose]());

  async function say(page: Page, text: string): Promise<void> {
    const box = page.getByRole("textbox", { name: "Message", exact: true });
    await box.fill(text);
    await box.press("Enter");
  }
  const add = (...args: readonly string[]): string => {
    const { code, stdout, stderr } = scene.cli("cron", "add", ...args, "--json");
    expect([code, stderr]).toEqual([0, ""]);
    return (JSON.parse(stdout) as { id: string }).id;
  };

  test("a reminder that is asked for in a chat appears in the page while it is open", async () => {
    const page = await scene.open("jobs");
    await page.getByRole("heading", { name: "Automation" }).waitFor();
    expect(await page.getByRole("row", { name: /Stand-up/ }).count()).toBe(0);
    const chat = await scene.open("chat/agent%3Amain%3Amain");
    const job = { name: "Stand-up", schedule: { kind: "cron", expr: "0 9 * * 1-5", tz: "Europe/Berlin" }, text: "Stand-up in five minutes" };
    const answers = [{ tool: "cron", args: JSON.stringify({ action: "add", job }) }, { say: "It is scheduled." }];
    await fetch(`${scene.modelUrl}/next`, { method: "POST", body: JSON.stringify(answers) });
    await say(chat, "remind me every weekday at 9");
    const row = page.getByRole("row", { name: /Stand-up/ });
    await row.waitFor();
    expect(await row.textContent()).toContain("weekdays at 09:00 (Europe/Berlin)");
    expect(await row.textContent()).toMatch(/Never ran/);
    await chat.getByText("It is scheduled.").first().waitFor();
  });

  test("a job is run, its history shows how it went, and it is disabled and deleted after a question", async () => {
    const id = add("--name", "Report", "--every", "1h", "--message", "hello @chunks=1", "--no-deliver");
    const page = await scene.open("jobs");
    await page.getByRole("button", { name: "Run now: Report" }).click();
    await page
      .getByRole("row", { name: /Report/ })
      .getByRole("cell", { name: "OK", exact: true })
      .waitFor();
    await page.getByRole("region", { name: "Next 24 hours" }).getByRole("link", { name: "Report" }).first().click();
    await page.getByRole("heading", { name: "Report" }).waitFor();
    const run = page.getByRole("region", { name: "Runs" }).getByRole("row").nth(1);
    await run.waitFor();
    expect(await run.textContent()).toMatch(/OK.*\$0\.\d+/s);
    await page.getByRole("button", { name: "Disable Report" }).click();
    await page.getByText("none (disabled)").waitFor();
    expect(scene.cli("cron", "list", "--json").stdout).not.toContain(id);
    await page.getByRole("button", { name: "Delete Report" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Delete Report" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "Automation" }).waitFor();
    await page.getByRole("row", { name: /Report/ }).waitFor({ state: "detached" });
    expect(scene.cli("cron", "list", "--all", "--json").stdout).not.toContain(id);
  });

  test("a job that fails says why, on a phone too", async () => {
    const id = add("--name", "Broken", "--every", "1h", "--message", "hello", "--no-deliver", "--model", "nobody/none");
    const page = await scene.open(`jobs/${id}`, { viewport: { width: 390, height: 844 } });
    await page.getByText("No runs yet.").waitFor();
    await page.getByRole("button", { name: "Run now: Broken" }).press("Enter");
    const run = page.getByRole("region", { name: "Runs" }).getByRole("row").nth(1);
    await run.getByText("Failed").waitFor();
    expect(await run.textContent()).toContain("nobody");
    await page.getByRole("link", { name: "Back to Automation" }).click();
    await page.getByRole("row", { name: /Broken/ }).waitFor();
  });

  const quiet = ["--message", "hello @chunks=1", "--no-deliver"];
  const removeAll = (): void => {
    const { jobs } = JSON.parse(scene.cli("cron", "list", "--all", "--json").stdout) as { jobs: readonly { id: string }[] };
    for (const { id } of jobs) scene.cli("cron", "rm", id);
  };

  test("the coming day has a band for a job of every minute, all times of the others, and one stop for Tab", async () => {
    removeAll();
    add("--name", "Pulse", "--cron", "* * * * *", "--disabled", ...quiet);
    add("--name", "Hourly", "--every", "1h", ...quiet);
    add("--name", "Once", "--at", "23h", ...quiet);
    const page = await scene.open("jobs");
    await page.getByText("25 runs of 2 jobs in the next 24 hours.").waitFor();
    await page.getByRole("button", { name: "Enable Pulse" }).click();
    await page.getByText(/^1,46[45] runs of 3 jobs in the next 24 hours\.$/).waitFor();
    const strip = page.getByRole("region", { name: "Next 24 hours" });
    await strip.getByRole("link", { name: /^Pulse: every minute, 1,4(?:39|40) runs$/ }).waitFor();
    expect(await strip.getByRole("link", { name: "Hourly" }).count()).toBe(24);
    expect(await strip.getByRole("link", { name: "Once" }).count()).toBe(1);
    await page.getByRole("button", { name: "Disable Pulse" }).click();
    await page.getByRole("button", { name: "Enable Pulse" }).waitFor();
    const stops = strip.locator("a, button");
    expect(await stops.evaluateAll((all) => all.filter((one) => (one as unknown as { tabIndex: number }).tabIndex >= 0).length)).toBe(1);
    await stops.first().focus();
    await page.keyboard.press("ArrowRight");
    await strip.locator(":focus", { hasText: "Hourly" }).waitFor();
    await page.keyboard.press("End");
    expect(await stops.last().evaluate((one) => one.matches(":focus"))).toBe(true);
    await page.keyboard.press("Tab");
    expect(
      await page
        .locator("td.name a")
        .first()
        .evaluate((one) => one.matches(":focus")),
    ).toBe(true);
  });

  test("an hour with many jobs shows all of them when asked to, and jobs are searched", async () => {
    removeAll();
    for (let index = 0; index < 11; index += 1) add("--name", `Job-${index}`, "--at", "20h", ...quiet);
    const page = await scene.open("jobs");
    const strip = page.getByRole("region", { name: "Next 24 hours" });
    const chips = strip.getByRole("link");
    await strip.getByRole("button", { name: "7 more" }).click();
    await strip.getByRole("button", { name: "Show fewer" }).waitFor();
    expect(await chips.count()).toBe(11);
    await page.getByRole("searchbox", { name: "Search jobs" }).fill("job-7");
    await page.getByText("1 job found").waitFor();
    expect(await page.getByRole("row").count()).toBe(2);
  });

  test("on a narrow phone the buttons of a job are within the screen, and seconds are counted down", async () => {
    removeAll();
    add("--name", "A job with a name that is rather long", "--every", "44s", ...quiet);
    const page = await scene.open("jobs", { viewport: { width: 360, height: 740 } });
    const box = await page.getByRole("button", { name: /^Delete / }).boundingBox();
    expect((box?.x ?? 999) + (box?.width ?? 999)).toBeLessThanOrEqual(360);
    const table = page.locator(".scroll", { has: page.getByRole("table") });
    expect(await table.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
    const left = async (): Promise<number> => Number(/in (\d+) sec/.exec((await page.getByRole("row").last().innerText()).replaceAll("\n", " "))?.[1]);
    const seen = new Set<number>();
    await expect.poll(async () => seen.add(await left()).size, { timeout: 15_000 }).toBeGreaterThan(2);
  });

  test("without a connection a job is not started, neither at once nor later", async () => {
    removeAll();
    const id = add("--name", "Later", "--every", "1h", ...quiet);
    const page = await scene.open("jobs");
    const run = page.getByRole("button", { name: "Run now: Later" });
    await expect.poll(() => run.isEnabled()).toBe(true);
    await page.context().setOffline(true);
    scene.gateway.child.kill("SIGKILL");
    await expect.poll(() => run.isDisabled()).toBe(true);
    expect(await page.getByText("Later was started.").count()).toBe(0);
    await page.context().setOffline(false);
    await scene.restart();
    await expect.poll(() => run.isEnabled(), { timeout: 30_000 }).toBe(true);
    expect(JSON.parse(scene.cli("cron", "runs", "--id", id, "--json").stdout)).toMatchObject({ entries: [] });
    await run.click();
    await page.getByText("Later was started.").waitFor();
  });
});
