/** A Chrome as its user has it: with the extension from the folder that `openclaw browser extension install` wrote, and its button. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContext, Page, Worker } from "playwright-core";
import { findChromium } from "../harness/browser.ts";

/** What the code that runs in the extension sees. */
interface Extension {
  readonly action: {
    readonly onClicked: { dispatch(tab: object): void };
    getBadgeText(about: object): Promise<string>;
    getTitle(about: object): Promise<string>;
  };
  readonly debugger: {
    getTargets(): Promise<readonly { readonly id: string; readonly tabId?: number }[]>;
    sendCommand(target: object, method: string, params: object): Promise<unknown>;
  };
  readonly storage: { readonly local: { set(values: object): Promise<void> } };
}

export interface UserChrome extends AsyncDisposable {
  readonly context: BrowserContext;
  /** Opens a page in a tab of its own, as the user does. */
  open(url: string): Promise<Page>;
  /** Clicks the extension's button in a tab. */
  click(page: Page): Promise<void>;
  badge(page: Page): Promise<string>;
  title(page: Page): Promise<string>;
  /** The extension is attached to the tab. */
  isDebugged(page: Page): Promise<boolean>;
  /** What the user enters in the extension's options. */
  enter(settings: { readonly port: number; readonly secret: string }): Promise<void>;
  /** The address of the extension's own pages. */
  readonly origin: string;
}

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--site-per-process"];

export async function openChrome(folder: string): Promise<UserChrome> {
  const chromium = findChromium("whole");
  if ("missing" in chromium) throw new Error(chromium.missing);
  const { chromium: driver } = await import("playwright-core");
  const profile = mkdtempSync(join(tmpdir(), "openclaw-chrome-"));
  const context = await driver.launchPersistentContext(profile, {
    executablePath: chromium.path,
    headless: false,
    args: ["--headless=new", ...FLAGS, "--host-resolver-rules=MAP *.test 127.0.0.1", `--disable-extensions-except=${folder}`, `--load-extension=${folder}`],
    ignoreDefaultArgs: ["--disable-extensions"],
    viewport: null,
  });
  const worker = async (): Promise<Worker> => context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker", { timeout: 20_000 }));
  const origin = new URL((await worker()).url()).origin;
  /** Runs in the extension. It has no right to see addresses of tabs, but the debugger's list names them. */
  async function inExtension(page: Page, what: "click" | "badge" | "title" | "debugged"): Promise<string> {
    const session = await context.newCDPSession(page);
    const { targetInfo } = await session.send("Target.getTargetInfo");
    await session.detach();
    return (await worker()).evaluate(
      async ([targetId, asked]) => {
        const { chrome } = globalThis as unknown as { readonly chrome: Extension };
        const target = (await chrome.debugger.getTargets()).find(({ id }) => id === targetId);
        // The list says the same of any other debugger, such as this test's own.
        if (asked === "debugged")
          return chrome.debugger.sendCommand({ tabId: target?.tabId }, "Runtime.evaluate", { expression: "1" }).then(
            () => "true",
            () => "false",
          );
        if (asked === "badge") return chrome.action.getBadgeText({ tabId: target?.tabId });
        if (asked === "title") return chrome.action.getTitle({ tabId: target?.tabId });
        chrome.action.onClicked.dispatch({ id: target?.tabId });
        return "";
      },
      [targetInfo.targetId, what] as const,
    );
  }
  return {
    context,
    origin,
    async open(url) {
      const page = await context.newPage();
      await page.goto(url);
      return page;
    },
    click: async (page) => void (await inExtension(page, "click")),
    badge: (page) => inExtension(page, "badge"),
    title: (page) => inExtension(page, "title"),
    isDebugged: async (page) => (await inExtension(page, "debugged")) === "true",
    async enter(settings) {
      await (
        await worker()
      ).evaluate(async (entered) => {
        const { chrome } = globalThis as unknown as { readonly chrome: Extension };
        await chrome.storage.local.set({ entered });
      }, settings);
    },
    async [Symbol.asyncDispose]() {
      await context.close();
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
