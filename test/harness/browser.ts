/** Debian's Chromium, driven for real. It is installed when it is missing and this machine allows it. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext } from "playwright-core";
import { installPackage } from "./packages.ts";

/** The browser as people have it, and the same engine without windows, which needs half the processor time. */
export type Build = "whole" | "headless";

const PLACES: Readonly<Record<Build, readonly string[]>> = {
  whole: ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"],
  headless: ["/usr/bin/chromium-headless-shell"],
};
const PACKAGES: Readonly<Record<Build, string>> = { whole: "chromium", headless: "chromium-headless-shell" };

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--force-color-profile=srgb",
  "--font-render-hinting=none",
  // Pages of others are refused by the gateway itself, also where a browser does not stop them on the way.
  "--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets,BlockInsecurePrivateNetworkRequests",
];

const found = (build: Build): string | undefined =>
  [process.env["OPENCLAW_TEST_CHROMIUM"], ...PLACES[build]].find((path) => path !== undefined && existsSync(path));

/** Why there is no browser, or where it is. One with windows does for one without. */
export function findChromium(build: Build): { readonly path: string } | { readonly missing: string } {
  const there = found(build);
  if (there !== undefined) return { path: there };
  const name = PACKAGES[build];
  const installed = installPackage(name);
  const now = found(build);
  if (now !== undefined) return { path: now };
  if (build === "headless") return findChromium("whole");
  return { missing: installed ? "Chromium was installed and is not where it is expected" : `needs Chromium, as root on Debian: apt-get install ${name}` };
}

/** What the driver turns off and people have: pages that are left are put aside, and come back as they were. */
const KEEPS_PAGES = "--disable-back-forward-cache";

interface Launch {
  readonly keepsPages?: boolean;
  readonly build?: Build;
  readonly flags?: readonly string[];
  /** The browser with the settings that people have. */
  readonly ordinary?: boolean;
}

/** Starts the browser. With `keepsPages` the back button of a whole one brings pages back as it does for people; the driver does not hear of their `load` then. */
export async function launchChromium({ keepsPages = false, build = "headless", flags = [], ordinary: isOrdinary = false }: Launch = {}): Promise<Browser> {
  if (isOrdinary) return launchOrdinaryChromium(flags);
  const chromium = findChromium(keepsPages ? "whole" : build);
  if ("missing" in chromium) throw new Error(chromium.missing);
  const { chromium: driver } = await import("playwright-core");
  return driver.launch({ executablePath: chromium.path, args: [...FLAGS, ...flags], ignoreDefaultArgs: keepsPages ? [KEEPS_PAGES] : [] });
}

/** Chromium refuses to run as root otherwise. */
const AS_ROOT = process.getuid?.() === 0 ? ["--no-sandbox"] : [];

/**
 * What the ordinary browser is started with. Nothing is turned off, least of all the connections that it opens ahead: neither the driver's flags nor those
 * of the other tests are passed, only what being driven, a profile of its own, and running as root and without a screen need.
 */
async function ordinary(flags: readonly string[] = []) {
  const chromium = findChromium("whole");
  if ("missing" in chromium) throw new Error(chromium.missing);
  const profile = mkdtempSync(join(tmpdir(), "openclaw-chromium-"));
  const args = ["--headless=new", "--remote-debugging-pipe", `--user-data-dir=${profile}`, ...AS_ROOT, ...flags];
  const { chromium: driver } = await import("playwright-core");
  const remove = (): void => rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  return { driver, profile, remove, options: { executablePath: chromium.path, args, ignoreDefaultArgs: true } };
}

async function launchOrdinaryChromium(flags: readonly string[]): Promise<Browser> {
  const { driver, options, remove } = await ordinary(flags);
  const browser = await driver.launch(options);
  browser.once("disconnected", remove);
  return browser;
}

/** The window of the ordinary browser that has its profile. In the others, which forget everything, it opens no connections ahead. */
export async function openOrdinaryWindow(): Promise<BrowserContext> {
  const { driver, profile, options, remove } = await ordinary();
  const window = await driver.launchPersistentContext(profile, options);
  window.once("close", remove);
  return window;
}
