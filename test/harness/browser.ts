/** Debian's Chromium, driven for real. It is installed when it is missing and this machine allows it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
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

/** Starts the browser. With `keepsPages` the back button of a whole one brings pages back as it does for people; the driver does not hear of their `load` then. */
export async function launchChromium({
  keepsPages = false,
  build = "headless",
  flags = [],
}: { readonly keepsPages?: boolean; readonly build?: Build; readonly flags?: readonly string[] } = {}): Promise<Browser> {
  const chromium = findChromium(keepsPages ? "whole" : build);
  if ("missing" in chromium) throw new Error(chromium.missing);
  const { chromium: driver } = await import("playwright-core");
  return driver.launch({ executablePath: chromium.path, args: [...FLAGS, ...flags], ignoreDefaultArgs: keepsPages ? [KEEPS_PAGES] : [] });
}

/**
 * The browser with the settings that people have: nothing is turned off, least of all the connections that it opens ahead. Only what running as
 * root and without a screen needs is passed.
 */
export async function launchOrdinaryChromium(): Promise<AsyncDisposable & { readonly browser: Browser }> {
  const chromium = findChromium("whole");
  if ("missing" in chromium) throw new Error(chromium.missing);
  const profile = mkdtempSync(join(tmpdir(), "openclaw-chromium-"));
  const args = ["--no-sandbox", "--headless=new", "--no-first-run", `--user-data-dir=${profile}`, "--remote-debugging-port=0", "about:blank"];
  const child = spawn(chromium.path, args, { stdio: ["ignore", "ignore", "pipe"], detached: true });
  let output = "";
  const endpoint = await new Promise<string>((resolve, reject) => {
    child.stderr.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      const [, url] = /DevTools listening on (ws:\S+)/.exec(output) ?? [];
      if (url !== undefined) resolve(url);
    });
    child.once("exit", () => reject(new Error(`Chromium did not start:\n${output}`)));
  });
  const { chromium: driver } = await import("playwright-core");
  const browser = await driver.connectOverCDP(endpoint);
  return {
    browser,
    async [Symbol.asyncDispose]() {
      await browser.close();
      const gone = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
      process.kill(-child.pid!, "SIGKILL");
      await gone;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
