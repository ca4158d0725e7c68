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
    await page.getByRole("heading", { name: "Jobs" }).waitFor();
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
    await page.getByRole("region", { name: "The coming 24 hours" }).getByRole("link", { name: "Report" }).first().click();
    await page.getByRole("heading", { name: "Report" }).waitFor();
    const run = page.getByRole("region", { name: "Runs" }).getByRole("row").nth(1);
    await run.waitFor();
    expect(await run.textContent()).toMatch(/OK.*\$0\.\d+/s);
    await page.getByRole("button", { name: "Disable Report" }).click();
    await page.getByText("none: it is disabled").waitFor();
    expect(scene.cli("cron", "list", "--json").stdout).not.toContain(id);
    await page.getByRole("button", { name: "Delete Report" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Delete Report" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "Jobs" }).waitFor();
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
    await page.getByRole("link", { name: "All jobs" }).click();
    await page.getByRole("row", { name: /Broken/ }).waitFor();
  });
});
