/** The gateway is killed in the middle of what the page does, and comes back: everything is done once, and nobody has to do it again. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTelegram, type FakeTelegram } from "../fakes/telegram/index.ts";
import { choose } from "./harness/choose.ts";
import { describeInBrowser } from "./harness/in-browser.ts";
import { interrupt, MOMENTS } from "./harness/interrupt.ts";
import { openScene, type Scene } from "./harness/scene.ts";
import { settled } from "./harness/settled.ts";

interface Config {
  readonly cron?: { readonly maxConcurrentRuns?: number };
  readonly plugins?: { readonly entries?: Readonly<Record<string, { readonly enabled?: boolean }>> };
}

describeInBrowser("a gateway that goes and comes back in the middle", () => {
  let telegram: FakeTelegram;
  let scene: Scene;
  beforeAll(async () => {
    telegram = await startTelegram();
    scene = await openScene({
      model: "mock",
      gateway: { env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot } },
      config: { cron: { maxConcurrentRuns: 2 } },
      prepare(_, workspace) {
        mkdirSync(join(workspace, "memory"), { recursive: true });
        for (const name of ["MEMORY.md", "SOUL.md"]) writeFileSync(join(workspace, name), "Be kind.\n");
      },
    });
  });
  // The test before may have ended while its gateway was coming back.
  beforeEach(async () => {
    await expect.poll(async () => (await fetch(`${scene.url}/health`).catch(() => undefined))?.ok, { timeout: 60_000 }).toBe(true);
  });
  afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
  afterAll(async () => {
    await scene?.[Symbol.asyncDispose]();
    await telegram?.[Symbol.asyncDispose]();
  });

  const config = (): Config => JSON.parse(readFileSync(scene.place.configPath, "utf8")) as Config;
  const inWorkspace = (name: string): string => readFileSync(join(scene.workspace, name), "utf8");
  const box = (page: Page): Locator => page.getByRole("textbox", { name: "Message", exact: true });
  const answers = (page: Page): Locator => page.getByRole("group", { name: "Answer" });
  const warnings = (page: Page): Locator => page.getByRole("status").getByText(/could not|lost before|did not answer|stopped while/);
  const back = (page: Page): Promise<void> => page.getByText("Connection lost").waitFor({ state: "detached" });

  async function talked(name: string, said: string): Promise<Page> {
    const page = await scene.open(`chat/${encodeURIComponent(`agent:main:web:${name}`)}`);
    await box(page).fill(said);
    await box(page).press("Enter");
    await answers(page).first().waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
    return page;
  }

  describe.each(MOMENTS)("%s", (moment) => {
    const at = MOMENTS.indexOf(moment);

    test("a change of the configuration is saved, and nobody is asked to merge it with itself", async () => {
      const page = await scene.open("config?section=cron");
      const runs = page.getByRole("textbox", { name: "Max concurrent runs" });
      const wanted = config().cron?.maxConcurrentRuns === 7 ? 8 : 7;
      const { over } = await interrupt(page, scene, "config.set", moment);
      await runs.fill(String(wanted));
      await page.getByText("Valid", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Review", exact: true }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).click();
      await over;
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.getByRole("status").getByText("Saved", { exact: true }).first().waitFor();
      expect(config().cron?.maxConcurrentRuns).toBe(wanted);
      expect([await runs.inputValue(), await page.getByText("The file was changed").count(), await warnings(page).count()]).toEqual([String(wanted), 0, 0]);
    });

    test("a note is saved", async () => {
      const page = await scene.open("memory?note=MEMORY.md&edit=1");
      const { over } = await interrupt(page, scene, "memory.notes.set", moment);
      const text = `Written when it went, ${at}.\n`;
      await page.getByRole("textbox", { name: "Text of MEMORY.md" }).fill(text);
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await over;
      await page.getByText("MEMORY.md was saved").waitFor();
      expect([inWorkspace("MEMORY.md"), await page.getByRole("dialog").count()]).toEqual([text, 0]);
    });

    test("a file of an agent is saved", async () => {
      const page = await scene.open("agents/main/files");
      const { over } = await interrupt(page, scene, "agents.files.set", moment);
      await page.getByRole("button", { name: "SOUL.md" }).click();
      const text = `Be patient, ${at}.\n`;
      await page.getByRole("textbox", { name: "SOUL.md" }).fill(text);
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await over;
      await page.getByText("SOUL.md was saved.").waitFor();
      expect([inWorkspace("SOUL.md"), await page.getByRole("dialog").count()]).toEqual([text, 0]);
    });

    test("a plugin is switched", async () => {
      const page = await scene.open("plugins");
      const { over } = await interrupt(page, scene, "plugins.enable", moment);
      const audit = page.getByRole("switch", { name: "Audit log" });
      const wanted = (await audit.getAttribute("aria-checked")) !== "true";
      await audit.click();
      await over;
      await expect.poll(() => audit.getAttribute("aria-checked")).toBe(String(wanted));
      expect(config().plugins?.entries?.["audit-log"]?.enabled).toBe(wanted);
      await page.getByText(wanted ? "Audit log is on." : "Audit log is off.").waitFor();
    });

    test("a conversation is deleted, and brought back", async () => {
      const page = await talked(`gone-${at}`, `keep this ${at} @say=it-is-kept`);
      const deleting = await interrupt(page, scene, "sessions.delete", moment);
      await page.getByRole("button", { name: "More about this conversation" }).click();
      await page.getByRole("button", { name: "Delete", exact: true }).click();
      await deleting.over;
      await page.getByRole("button", { name: "Undo", exact: true }).hover();
      const list = page.getByRole("navigation", { name: "Conversations" });
      await expect.poll(() => list.getByText(`keep this ${at}`).count()).toBe(0);
      await page.getByRole("button", { name: "Undo", exact: true }).click();
      await page.getByText("1 conversation restored").waitFor();
      await page.goto(`${scene.url}/chat/${encodeURIComponent(`agent:main:web:gone-${at}`)}`);
      await answers(page).getByText("it-is-kept").waitFor();
    });

    test("undoing a deletion brings the conversation back once", async () => {
      const page = await talked(`undone-${at}`, `bring this ${at} @say=it-is-back`);
      const { over } = await interrupt(page, scene, "sessions.restore", moment);
      await page.getByRole("button", { name: "More about this conversation" }).click();
      await page.getByRole("button", { name: "Delete", exact: true }).click();
      await page.getByRole("button", { name: "Undo", exact: true }).click();
      await over;
      await page.getByText("1 conversation restored").waitFor();
      expect(await warnings(page).count()).toBe(0);
      await page.goto(`${scene.url}/chat/${encodeURIComponent(`agent:main:web:undone-${at}`)}`);
      await answers(page).getByText("it-is-back").waitFor();
    });

    test("a channel is set up and connects", async () => {
      const page = await scene.open("start");
      const { over } = await interrupt(page, scene, "setup.channel", moment);
      const card = page.locator("oc-start-channel");
      await choose(card.getByRole("combobox"), "telegram");
      await card.locator('[id="field-botToken"]').fill(telegram.token);
      await card.getByRole("button", { name: "Connect" }).click();
      await over;
      await card.getByText("is connected.").waitFor();
      await expect.poll(() => telegram.polling).toBe(true);
    });

    test("a backup is made, or the page says that it was not, and then it is made", async () => {
      const page = await scene.open("backups");
      const { over } = await interrupt(page, scene, "backup.create", moment);
      const create = page.getByRole("button", { name: "Create backup" });
      const made = page.getByRole("button", { name: /^Verify openclaw-backup/ });
      await create.first().click();
      const before = await made.count();
      await page.getByRole("dialog").getByRole("button", { name: "Create backup" }).click();
      await over;
      await expect.poll(() => made.count()).toBeGreaterThan(before);
      await settled(page);
      const folder = join(scene.place.stateDir, "backups");
      const names = readdirSync(folder).filter((name) => name.startsWith("openclaw-backup-"));
      for (const name of names) expect(scene.cli("backup", "verify", join(folder, name)).code, name).toBe(0);
      expect(names).toHaveLength(await made.count());
    });

    test("another answer is made, once", async () => {
      const page = await talked(`again-${at}`, "tell me @say=an-answer");
      const { over } = await interrupt(page, scene, "chat.regenerate", moment);
      await answers(page).last().hover();
      await answers(page).last().getByRole("button", { name: "Regenerate", exact: true }).click();
      await over;
      await back(page);
      await page.getByLabel("Answer 2 of 2").waitFor();
      await settled(page);
      expect([await answers(page).count(), await page.getByRole("alert").count()]).toEqual([1, 0]);
    });
  });
});
