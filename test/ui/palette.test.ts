import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDevice } from "../harness/auth.ts";
import { visit } from "../harness/device-client.ts";
import { describeInBrowser } from "./harness/in-browser.ts";
import { ensureApproval, openRichScene } from "./harness/rich.ts";
import type { Scene } from "./harness/scene.ts";
import { settled } from "./harness/settled.ts";

/** Keeps the page's next answers of a method back until `release`. Loads the page again. `answered` resolves when a request with these words is answered. */
async function holdAnswer(page: Page, method: string) {
  const released = Promise.withResolvers<void>();
  const names = new Map<string, string>();
  const answers: string[] = [];
  await page.routeWebSocket(/./, (socket) => {
    const gateway = socket.connectToServer();
    socket.onMessage((message) => {
      const frame = JSON.parse(String(message)) as { readonly type: string; readonly id?: string; readonly method?: string };
      if (frame.type === "req" && frame.id !== undefined) names.set(frame.id, `${frame.method} ${String(message)}`);
      gateway.send(message);
    });
    gateway.onMessage((message) => {
      const { type, id = "" } = JSON.parse(String(message)) as { readonly type: string; readonly id?: string };
      const name = type === "res" ? (names.get(id) ?? "") : "";
      const deliver = (): void => socket.send(message);
      if (name.startsWith(`${method} `)) void released.promise.then(deliver);
      else {
        deliver();
        answers.push(name);
      }
    });
  });
  await page.reload();
  return {
    release: () => released.resolve(),
    async answered(name: string, words: string): Promise<void> {
      await expect.poll(() => answers.some((one) => one.startsWith(`${name} `) && one.includes(`"${words}"`))).toBe(true);
    },
  };
}

describeInBrowser("the command palette", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openRichScene();
  });
  afterAll(() => scene?.[Symbol.asyncDispose]());

  const input = (page: Page): Locator => page.getByRole("combobox", { name: "Search or run" });
  const option = (page: Page, name: string | RegExp): Locator => page.getByRole("option", { name }).first();
  const chosen = (page: Page): Locator => page.locator('.option[aria-selected="true"]');

  async function openPalette(path: string): Promise<Page> {
    const page = await scene.open(path);
    await page.keyboard.press("Control+k");
    await input(page).waitFor();
    return page;
  }

  test("a page, a chat, an agent and a setting are found by typing and opened with Enter", async () => {
    const page = await openPalette("overview");
    for (const [words, name, address] of [
      ["@trieste", /Train to Trieste/, /\/chat\//],
      ["#gateway.port", /gateway\.port/, /\/config\?(?:path=gateway\.port|section=gateway)/],
      ["work", /^Work/i, /\/agents\/work$/],
    ] as const) {
      await input(page).fill(words);
      await option(page, name).hover();
      await expect.poll(() => chosen(page).textContent()).toMatch(new RegExp(name.source.replace("^", ""), "i"));
      await page.keyboard.press("Enter");
      await page.waitForURL(address);
      await page.keyboard.press("Control+k");
    }
    await input(page).fill("plugins");
    await option(page, /^Plugins Connections/).click();
    await page.waitForURL(/\/plugins$/);
  });

  test("a waiting approval is first; it is opened, and not decided", async () => {
    await ensureApproval(scene);
    const page = await openPalette("overview");
    await expect.poll(() => chosen(page).textContent()).toContain("Review approval");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/chat\//);
    await page.getByRole("button", { name: "Allow once" }).first().waitFor();
  });

  test("the open chat is the scope: its actions come first, and Backspace takes it away", async () => {
    const page = await openPalette(`chat/${encodeURIComponent("agent:main:web:trip")}`);
    await page.getByRole("button", { name: /not only in Train to Trieste/ }).waitFor();
    await input(page).fill("trace");
    await option(page, /^Open trace/).waitFor();
    await input(page).fill("");
    await input(page).press("Backspace");
    await page.getByRole("button", { name: /not only in/ }).waitFor({ state: "detached" });
    await input(page).fill("open trace");
    await expect.poll(() => page.getByRole("option", { name: /^Open trace/ }).count()).toBe(0);
  });

  test("Tab opens what else can be done, Escape goes back", async () => {
    const page = await openPalette("overview");
    await input(page).fill("@trieste");
    await option(page, /Train to Trieste/).waitFor();
    await page.keyboard.press("Tab");
    await option(page, /^Copy session key/).waitFor();
    await page.keyboard.press("Escape");
    await option(page, /^Copy session key/).waitFor({ state: "detached" });
    expect(await input(page).count()).toBe(1);
  });

  test("a command that can be undone offers it", async () => {
    const page = await openPalette("overview");
    await input(page).fill(">dark");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("html").getAttribute("data-theme")).toBe("dark");
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(() => page.locator("html").getAttribute("data-theme")).toBe("light");
  });

  test("a chat is renamed in the palette, pinned, archived and exported, each with a way back", async () => {
    const key = "agent:main:web:trip";
    const page = await openPalette(`chat/${encodeURIComponent(key)}`);
    await page.getByRole("button", { name: /not only in Train to Trieste/ }).waitFor();
    await input(page).fill("rename");
    await option(page, /^Rename…/).waitFor();
    await page.keyboard.press("Enter");
    const name = page.getByRole("combobox", { name: "New name" });
    expect(await name.inputValue()).toBe("Train to Trieste");
    await name.fill("By rail");
    await option(page, /^Rename to “By rail”/).waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("“Train to Trieste” renamed to “By rail”").waitFor();
    await page.getByRole("heading", { name: "By rail" }).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("heading", { name: "Train to Trieste" }).waitFor();

    const act = async (words: string, entry: RegExp): Promise<void> => {
      await page.keyboard.press("Control+k");
      await page.getByRole("button", { name: /not only in Train to Trieste/ }).waitFor();
      await input(page).fill(words);
      await option(page, entry).waitFor();
      await page.keyboard.press("Enter");
    };
    await act("pin", /^Pin\b/);
    await page.getByText("“Train to Trieste” pinned").waitFor();
    await act("unpin", /^Unpin/);
    await page.getByText("“Train to Trieste” unpinned").waitFor();
    await act("archive", /^Archive/);
    await page.getByText("“Train to Trieste” archived").waitFor();
    await act("unarchive", /^Unarchive/);
    await page.getByText("“Train to Trieste” unarchived").waitFor();
    for (const [words, entry, ending] of [
      ["html", /^Export as HTML/, ".html"],
      ["json lines", /^Export as JSON Lines/, ".jsonl"],
    ] as const) {
      const [file] = await Promise.all([page.waitForEvent("download"), act(words, entry)]);
      expect(file.suggestedFilename().endsWith(ending)).toBe(true);
    }
  });

  test("what the page is about stays known while one types before all is answered", async () => {
    const page = await openPalette(`chat/${encodeURIComponent("agent:main:web:trip")}`);
    const about = page.getByRole("button", { name: /not only in Train to Trieste/ });
    await page.keyboard.press("Escape");
    const slow = await holdAnswer(page, "cron.list");
    await page.getByRole("heading", { name: "Train to Trieste" }).waitFor();
    await page.keyboard.press("Control+k");
    await about.waitFor();
    await input(page).fill("compact");
    await slow.answered("sessions.list", "compact");
    slow.release();
    await settled(page);
    expect(await about.count()).toBe(1);
    await option(page, /^Compact history/).waitFor();
  });

  test("skills, plugins, accounts of channels and devices are found by name and open their pages", async () => {
    const page = await openPalette("overview");
    for (const [words, name, address] of [
      ["invoice-check", /^invoice-check Skill$/, /\/skills\/invoice-check$/],
      ["weather", /^Weather Plugin$/, /\/plugins\/weather$/],
      ["telegram", /^Telegram Channel$/, /\/channels\/telegram\/default$/],
      ["chrom", /^.*Chrom.* Device$/, /\/devices\/[0-9a-f]+$/],
    ] as const) {
      await input(page).fill(words);
      await option(page, name).click();
      await page.waitForURL(address);
      await page.keyboard.press("Control+k");
    }
  });

  test("a question of the palette is left with Escape, and its keys are shown where there are some", async () => {
    const page = await openPalette(`chat/${encodeURIComponent("agent:main:web:trip")}`);
    await page.getByRole("button", { name: /not only in Train to Trieste/ }).waitFor();
    await input(page).fill("stop");
    expect(
      await option(page, /^Stop the current run/)
        .locator("kbd")
        .allTextContents(),
    ).toEqual(["Esc"]);
    await input(page).fill("rename");
    await option(page, /^Rename…/).click();
    await page.getByRole("combobox", { name: "New name" }).press("Escape");
    await input(page).waitFor();
    await page.keyboard.press("Escape");
    await input(page).waitFor({ state: "detached" });
  });

  test("a node that asks is approved after a question, and renamed by typing", async () => {
    const device = createDevice();
    const params = { client: { id: "node-host", mode: "node", version: "1", platform: "linux", displayName: "Shed" }, commands: ["system.which"] } as const;
    const how = { device, token: scene.token, role: "node", scopes: [], from: "203.0.113.9", params: { ...params, commands: [...params.commands] } };
    await using refused = await visit(scene.url.replace("http", "ws"), how);
    expect(refused.answer.error).toMatchObject({ code: "NOT_PAIRED" });
    const page = await openPalette("overview");
    await input(page).fill("approve node shed");
    await option(page, /^Approve node Shed…/).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByText("Approve node Shed?").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    await page.getByText("Shed was approved.").waitFor();
    await page.keyboard.press("Control+k");
    await input(page).fill("rename node shed");
    await option(page, /^Rename node Shed…/).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("combobox", { name: "New name" }).fill("Greenhouse");
    await page.keyboard.press("Enter");
    await page.getByText("The node is now called Greenhouse.").waitFor();
    await page.keyboard.press("Control+k");
    await input(page).fill("greenhouse");
    await option(page, /^Greenhouse Node, offline/).click();
    await page.waitForURL(/\/nodes\//);
  });

  test("commands of the gateway: a backup is made, updates are looked for, and a restart is asked about first", async () => {
    const page = await openPalette("overview");
    await input(page).fill(">restart");
    await option(page, /^Restart gateway…/).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByText("Restart the gateway?").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await page.keyboard.press("Control+k");
    await input(page).fill(">back up");
    await option(page, /^Back up now/).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/backups$/);
    await page.getByRole("button", { name: /^Verify openclaw-backup/ }).waitFor();
    await page.keyboard.press("Control+k");
    await input(page).fill(">updates");
    await option(page, /^Check for updates/).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Show" }).click();
    await page.waitForURL(/\/update$/);
  });
});
