/** Debian's Chromium, driven for real. It is installed when it is missing and this machine allows it. */
import { existsSync } from "node:fs";
import type { Browser } from "playwright-core";
import { installPackage } from "./packages.ts";

const CANDIDATES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
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

const found = (): string | undefined => [process.env["OPENCLAW_TEST_CHROMIUM"], ...CANDIDATES].find((path) => path !== undefined && existsSync(path));

/** Why there is no browser, or where it is. */
export function findChromium(): { readonly path: string } | { readonly missing: string } {
  const there = found();
  if (there !== undefined) return { path: there };
  if (!installPackage("chromium")) return { missing: "needs Chromium, as root on Debian: apt-get install chromium" };
  const now = found();
  return now === undefined ? { missing: "Chromium was installed and is not where it is expected" } : { path: now };
}

/** What the driver turns off and people have: pages that are left are put aside, and come back as they were. */
const KEEPS_PAGES = "--disable-back-forward-cache";

/** Starts the browser. With `keepsPages` the back button brings pages back as it does for people; the driver does not hear of their `load` then. */
export async function launchChromium({ keepsPages = false }: { readonly keepsPages?: boolean } = {}): Promise<Browser> {
  const chromium = findChromium();
  if ("missing" in chromium) throw new Error(chromium.missing);
  const { chromium: driver } = await import("playwright-core");
  return driver.launch({ executablePath: chromium.path, args: FLAGS, ignoreDefaultArgs: keepsPages ? [KEEPS_PAGES] : [] });
}
