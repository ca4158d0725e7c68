import { existsSync, mkdirSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, BrowserType, Page } from "playwright-core";
import { AppError, messageOf } from "../base/errors.ts";
import { ensureFolder } from "../base/files.ts";
import { checkedAddresses, type AddressLookup } from "../base/guarded-fetch.ts";
import type { HostPolicy } from "../base/host-rules.ts";
import type { Ids } from "../base/ids.ts";
import { inheritedEnvironment } from "../base/inherited-environment.ts";
import { chooseBrowser, type FindFacts, type FoundBrowser } from "./find-browser.ts";
import { tracesFolder } from "./files.ts";
import { openGuardProxy, type GuardProxy, type Refusal } from "./guard-proxy.ts";
import type { BrowserSettings, ProfileSettings } from "./settings.ts";

/** A browser that is connected. */
export interface Running {
  readonly context: BrowserContext;
  readonly program?: FoundBrowser | undefined;
  readonly pid?: number | undefined;
  /** Aborts when the browser is gone, for any reason. */
  readonly gone: AbortSignal;
  /** Refused connections after that many, and how many there are. */
  refusals(since: number): readonly Refusal[];
  refused(): number;
  /** Waits until a page's requests are checked, where that has to be turned on for each page. */
  readonly guarded?: ((page: Page) => Promise<void>) | undefined;
  /** Ends the browser, or the connection to one that runs elsewhere. */
  close(): Promise<void>;
}

export interface LaunchDeps extends FindFacts {
  readonly settings: () => BrowserSettings;
  readonly lookup?: AddressLookup | undefined;
  readonly ids: Pick<Ids, "hex">;
  /** Where downloads are written before they are stored. */
  readonly downloadsDir: string;
}

const VIEWPORT = { width: 1280, height: 800 };
const LAUNCH_MS = 30_000;
const CLOSE_MS = 5000;

/** Everything goes through the proxy, and nothing is sent that no page asked for. */
const ARGS: readonly string[] = [
  "--disable-quic",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--dns-prefetch-disable",
  "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
  "--no-first-run",
  "--no-default-browser-check",
  "--disable-sync",
  "--disable-background-networking",
  "--disable-component-update",
  "--hide-crash-restore-bubble",
];

async function driver(): Promise<BrowserType> {
  return (await import("playwright-core")).chromium;
}

/** The number of a colour as the browser stores it. */
const colorNumber = (color: string): number => (Number.parseInt(`ff${color.replace("#", "").padStart(6, "0").slice(0, 6)}`, 16) || 0) | 0;

/** A new profile has its name and its colour, so that its windows are recognised. */
function prepareProfile({ userDataDir, name, color }: ProfileSettings): void {
  ensureFolder(userDataDir);
  const preferences = join(userDataDir, "Default", "Preferences");
  if (existsSync(preferences)) return;
  mkdirSync(join(userDataDir, "Default"), { recursive: true, mode: 0o700 });
  const theme = { user_color2: colorNumber(color), color_variant2: 1 };
  const content = { profile: { name }, browser: { theme }, credentials_enable_service: false, download: { prompt_for_download: false } };
  writeFileSync(preferences, JSON.stringify(content), { mode: 0o600 });
}

/** What is in folders for unfinished files now: of a process that was killed, as soon as the profile's browser runs here. */
function leftIn(...folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) => {
    ensureFolder(folder);
    return readdirSync(folder).map((name) => join(folder, name));
  });
}

/** The browser's process as its lock says. */
function pidOf({ userDataDir }: ProfileSettings): number | undefined {
  try {
    const pid = Number(/-(\d+)$/.exec(readlinkSync(join(userDataDir, "SingletonLock")))?.[1]);
    return pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

function launchFailure(error: unknown, program: FoundBrowser, { userDataDir }: ProfileSettings): AppError {
  const text = messageOf(error);
  const advice = /sandbox|namespace/i.test(text)
    ? "this machine does not allow its own sandbox; set browser.noSandbox if you trust the pages it opens"
    : /ProcessSingleton|already in use|SingletonLock/i.test(text)
      ? `another browser uses the profile in ${userDataDir}; close it`
      : /DISPLAY|X server|ozone/i.test(text)
        ? "there is no screen for its windows; set browser.headless"
        : "run it manually to see why, or set browser.executablePath to another browser";
  const first = text.split("\n").find((line) => line.trim() !== "") ?? "";
  return new AppError("UNAVAILABLE", `${program.path} could not be started: ${advice} (${first.slice(0, 200)})`, { cause: error });
}

/** Starts a profile's own browser, with the proxy in front of it. */
export async function launchOwn(profile: ProfileSettings, deps: LaunchDeps): Promise<Running> {
  const settings = deps.settings();
  const program = chooseBrowser(settings.executablePath, deps);
  prepareProfile(profile);
  const tracesDir = tracesFolder(deps);
  const left = leftIn(deps.downloadsDir, tracesDir);
  const proxy: GuardProxy = await openGuardProxy({ policy: () => deps.settings().policy, lookup: deps.lookup, ids: deps.ids });
  try {
    const context = await (
      await driver()
    ).launchPersistentContext(profile.userDataDir, {
      executablePath: program.path,
      headless: settings.headless,
      chromiumSandbox: !settings.noSandbox,
      args: [...ARGS, ...(profile.cdpPort === undefined ? [] : [`--remote-debugging-port=${profile.cdpPort}`])],
      proxy: { server: proxy.url, bypass: "<-loopback>", username: proxy.username, password: proxy.password },
      env: inheritedEnvironment(deps.env),
      viewport: settings.headless ? VIEWPORT : null,
      acceptDownloads: true,
      downloadsPath: deps.downloadsDir,
      tracesDir,
      timeout: LAUNCH_MS,
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    });
    await Promise.all(left.map((path) => rm(path, { recursive: true, force: true }).catch(() => undefined)));
    const gone = goneWith(context);
    gone.addEventListener("abort", () => void proxy[Symbol.asyncDispose](), { once: true });
    return {
      context,
      program,
      pid: pidOf(profile),
      gone,
      refusals: proxy.refusals,
      refused: proxy.refused,
      close: () => closed(context, gone),
    };
  } catch (error) {
    await proxy[Symbol.asyncDispose]();
    throw launchFailure(error, program, profile);
  }
}

/** The address of a browser that runs elsewhere, without what may be secret in it. */
export function shownAddress(cdpUrl: string): string {
  return URL.canParse(cdpUrl) ? new URL(cdpUrl).origin.replace(/^null$/, new URL(cdpUrl).protocol + "//" + new URL(cdpUrl).host) : "an invalid address";
}

/** Connects to a browser that runs elsewhere. */
export async function attach(profile: ProfileSettings, deps: LaunchDeps): Promise<Running> {
  const { cdpUrl = "" } = profile;
  if (!URL.canParse(cdpUrl) || !/^(?:https?|wss?):$/.test(new URL(cdpUrl).protocol))
    throw new AppError(
      "CONFIG_INVALID",
      `the cdpUrl of the browser profile ${profile.name} is not an http or ws URL; check browser.profiles.${profile.name}.cdpUrl`,
    );
  try {
    const browser = await (await driver()).connectOverCDP(cdpUrl, { timeout: deps.settings().connectMs });
    const context = browser.contexts()[0] ?? (await browser.newContext());
    const refused: Refusal[] = [];
    const guarded = await guardPages(
      context,
      () => deps.settings().policy,
      deps.lookup,
      (refusal) => refused.push(refusal),
    );
    const gone = new AbortController();
    browser.once("disconnected", () => gone.abort());
    return {
      context,
      gone: gone.signal,
      refusals: (since) => refused.slice(since),
      refused: () => refused.length,
      guarded,
      // It goes on: only the connection ends.
      close: () => closed(browser, gone.signal),
    };
  } catch (error) {
    const where = shownAddress(cdpUrl);
    throw new AppError(
      "UNAVAILABLE",
      `the browser of the profile ${profile.name} cannot be reached at ${where}: start it with --remote-debugging-port, or check cdpUrl`,
      { cause: error },
    );
  }
}

function goneWith(context: BrowserContext): AbortSignal {
  const gone = new AbortController();
  context.once("close", () => gone.abort());
  return gone.signal;
}

/** A browser that hangs does not hold up a shutdown. */
async function closed(target: { close(): Promise<void> }, gone: AbortSignal): Promise<void> {
  const late = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, CLOSE_MS);
    timer.unref();
    gone.addEventListener("abort", () => resolve(), { once: true });
    if (gone.aborted) resolve();
  });
  await Promise.race([target.close().catch(() => undefined), late]);
}

/** Checks each request of a page in a browser that does not use our proxy, also those that redirects lead to. */
async function guardPages(
  context: BrowserContext,
  policy: () => HostPolicy,
  lookup: AddressLookup | undefined,
  refuse: (refusal: Refusal) => void,
): Promise<(page: Page) => Promise<void>> {
  let order = 0;
  const guards = new WeakMap<Page, Promise<void>>();
  const guard = async (page: Page): Promise<void> => {
    const session = await context.newCDPSession(page);
    session.on("Fetch.requestPaused", ({ requestId, request }) => {
      const url = URL.canParse(request.url) ? new URL(request.url) : undefined;
      const isNetwork = url !== undefined && /^(?:https?|wss?|ftp):$/.test(url.protocol);
      const check = isNetwork ? checkedAddresses(url.hostname, policy(), lookup) : Promise.resolve([]);
      check
        .then(() => session.send("Fetch.continueRequest", { requestId }))
        .catch((error: unknown) => {
          order += 1;
          if (error instanceof AppError) refuse({ host: url?.hostname ?? "", why: error.message, order });
          return session.send("Fetch.failRequest", { requestId, errorReason: "BlockedByClient" });
        })
        .catch(() => undefined);
    });
    await session.send("Fetch.enable", { patterns: [{ urlPattern: "*", requestStage: "Request" }] });
  };
  const guarded = (page: Page): Promise<void> => {
    const begun = guards.get(page) ?? guard(page);
    guards.set(page, begun);
    begun.catch(() => undefined);
    return begun;
  };
  context.on("page", (page) => void guarded(page));
  await Promise.all(context.pages().map(guarded));
  return guarded;
}
