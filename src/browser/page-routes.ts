/** What the command line has beyond the tool: requests, cookies, storage, emulation. */
import { AppError, messageOf } from "../base/errors.ts";
import { isRecord } from "../base/records.ts";
import { actionError, boundedMs, MOST_MS } from "./actions.ts";
import { usesRef } from "./answers.ts";
import type { Browser, Caller } from "./create-browser.ts";
import { flagIn, numberIn, rawIn, required, textIn, type Params } from "./params.ts";
import { ANSWER_MS, elementOf, inPage, within } from "./read-tab.ts";
import type { Tab } from "./tab.ts";

export interface RouteWork {
  readonly browser: Browser;
  readonly caller: Caller;
  readonly params: Params;
  readonly mayConfigure: boolean;
}

export type Route = (work: RouteWork) => Promise<unknown>;

const WAIT_MS = 20_000;
const BODY_CHARS = 200_000;
const MAX_COOKIES = 500;
const EVERYWHERE_MS = 5000;

/** Does something with the caller's tab, alone. */
function inTab(name: string, work: (tab: Tab, params: Params, route: RouteWork) => Promise<object | void>, limitMs = ANSWER_MS): Route {
  return async (route) => {
    const { browser, caller, params } = route;
    const tab = await browser.tabFor(caller, textIn(params, "targetId"), usesRef(params));
    browser.choose(caller, tab);
    const use = { name, repeatable: false, signal: caller.signal };
    const done = browser.session(caller.profile).use(tab, use, async () => ({
      ok: true,
      targetId: tab.id,
      ...(await inPage(tab, browser.clock, limitMs, work(tab, params, route))),
    }));
    return done.catch((error: unknown) => {
      throw actionError(error, name, boundedMs(numberIn(params, "timeoutMs"), WAIT_MS));
    });
  };
}

const storage = (kind: "local" | "session"): Readonly<Record<string, Route>> => {
  const store = `${kind}Storage`;
  return {
    [`GET /storage/${kind}`]: inTab("storage", async ({ page }, params) => {
      const key = textIn(params, "key");
      const values: unknown = await page.evaluate(`Object.fromEntries(Object.entries(${store}).slice(0, 500))`);
      return { values: key === undefined || !isRecord(values) ? values : { [key]: values[key] } };
    }),
    [`POST /storage/${kind}/set`]: inTab("storage", async ({ page }, params) => {
      const pair = JSON.stringify([required(params, "key"), rawIn(params, "value") ?? ""]);
      await page.evaluate(`${store}.setItem(...${pair})`);
    }),
    [`POST /storage/${kind}/clear`]: inTab("storage", async ({ page }) => void (await page.evaluate(`${store}.clear()`))),
  };
};

const cookieOf = (params: Params): { name: string; value: string; url?: string; domain?: string; path?: string } => {
  const cookie = isRecord(params["cookie"]) ? params["cookie"] : params;
  const [url, domain, path] = [textIn(cookie, "url"), textIn(cookie, "domain"), textIn(cookie, "path")];
  if (url === undefined && domain === undefined) throw new AppError("INVALID_INPUT", "url or domain required for a cookie");
  const where = url === undefined ? { domain: domain ?? "", path: path ?? "/" } : { url };
  return { name: required(cookie, "name"), value: rawIn(cookie, "value") ?? "", ...where };
};

async function responseBody({ page }: Tab, params: Params): Promise<object> {
  const url = required(params, "url");
  const timeout = boundedMs(numberIn(params, "timeoutMs"), WAIT_MS);
  const response = await page.waitForResponse((answer) => answer.url() === url || answer.url().includes(url), { timeout });
  const most = Math.min(Math.max(numberIn(params, "maxChars") ?? BODY_CHARS, 1), BODY_CHARS);
  const body = (await response.body()).toString("utf8");
  return { response: { url: response.url(), status: response.status(), body: body.slice(0, most), truncated: body.length > most } };
}

/** Until the tab has stored the download that runs or begins next. */
async function download(tab: Tab, params: Params, { browser }: RouteWork): Promise<object> {
  const timeout = boundedMs(numberIn(params, "timeoutMs"), WAIT_MS);
  const ref = textIn(params, "ref");
  const begun = tab.downloads.size > 0 ? Promise.resolve() : tab.page.waitForEvent("download", { timeout });
  begun.catch(() => undefined);
  if (ref !== undefined) await (await elementOf(tab, ref, browser.clock)).click({ timeout });
  await begun;
  await within(browser.clock, timeout, Promise.all(tab.downloads), `the download did not finish within ${timeout} ms`);
  const [events, downloads] = [tab.notes, tab.stored.splice(0)];
  tab.notes = [];
  return { events, downloads };
}

/** A setting of the whole browser. A tab that does not answer now gets it later and holds up nobody. */
async function everywhere({ browser }: RouteWork, work: Promise<void>): Promise<object> {
  const late = "it applies, except in a tab that does not respond now";
  return within(browser.clock, EVERYWHERE_MS, work, late).then(
    () => ({}),
    (error: unknown) => {
      if (error instanceof AppError && error.message === late) return { note: late };
      throw error;
    },
  );
}

const emulate: Readonly<Record<string, (tab: Tab, params: Params, route: RouteWork) => Promise<object | void>>> = {
  offline: (tab, params, route) => everywhere(route, tab.page.context().setOffline(flagIn(params, "offline") ?? true)),
  async headers(tab, params) {
    const headers = isRecord(params["headers"]) ? params["headers"] : {};
    await tab.page.setExtraHTTPHeaders(Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])));
  },
  async credentials(tab, params, route) {
    const [username, password] = [textIn(params, "username"), rawIn(params, "password")];
    const credentials = flagIn(params, "clear") === true || username === undefined ? null : { username, password: password ?? "" };
    return everywhere(route, tab.page.context().setHTTPCredentials(credentials));
  },
  async geolocation(tab, params, route) {
    const [latitude, longitude] = [numberIn(params, "latitude"), numberIn(params, "longitude")];
    const context = tab.page.context();
    if (flagIn(params, "clear") === true || latitude === undefined || longitude === undefined) return everywhere(route, context.setGeolocation(null));
    const accuracy = numberIn(params, "accuracy") ?? 10;
    if (Math.abs(latitude) > 90 || Math.abs(longitude) > 180 || accuracy < 0)
      throw new AppError("INVALID_INPUT", "latitude is from -90 to 90, longitude from -180 to 180, accuracy at least 0");
    await context.grantPermissions(["geolocation"]);
    return everywhere(route, context.setGeolocation({ latitude, longitude, accuracy }));
  },
  async media(tab, params) {
    const scheme = textIn(params, "colorScheme");
    await tab.page.emulateMedia({ colorScheme: scheme === "dark" || scheme === "light" || scheme === "no-preference" ? scheme : null });
  },
  timezone: (tab, params) => send(tab, "Emulation.setTimezoneOverride", { timezoneId: required(params, "timezoneId") }),
  locale: (tab, params) => send(tab, "Emulation.setLocaleOverride", { locale: required(params, "locale") }),
  async device(tab, params) {
    const { devices } = await import("playwright-core");
    const name = required(params, "name");
    const found = Object.hasOwn(devices, name) ? devices[name] : undefined;
    if (!found) throw new AppError("NOT_FOUND", `no device is called "${name.slice(0, 60)}"; for example: iPhone 14, Pixel 7, iPad Mini`);
    await tab.page.setViewportSize(found.viewport);
    await send(tab, "Emulation.setUserAgentOverride", { userAgent: found.userAgent });
  },
};

async function send(
  tab: Tab,
  method: "Emulation.setTimezoneOverride" | "Emulation.setLocaleOverride" | "Emulation.setUserAgentOverride",
  params: object,
): Promise<void> {
  const session = await tab.page.context().newCDPSession(tab.page);
  try {
    await session.send(method, params);
  } catch (error) {
    if (!/Invalid|already in effect/i.test(messageOf(error))) throw error;
    throw new AppError(
      "INVALID_INPUT",
      `the browser does not know ${Object.values(params)
        .map((value) => JSON.stringify(value))
        .join(", ")}, or another one is set already`,
    );
  }
}

/** Runs in the page: a frame around an element that goes by itself and leaves nothing behind. */
function showFrame(element: unknown): void {
  const frame = { outline: "4px solid #FF4500", outlineOffset: "2px" };
  (element as { animate(frames: readonly object[], options: object): void }).animate([frame, frame], { duration: 3000 });
}

export const MORE_ROUTES: Readonly<Record<string, Route>> = {
  "GET /errors": inTab("errors", async (tab) => ({ errors: tab.console.filter(({ text }) => text.startsWith("uncaught: ")) })),
  "GET /requests": inTab("requests", async (tab, params) => {
    const filter = textIn(params, "filter");
    return { requests: tab.requests.filter(({ url }) => filter === undefined || url.includes(filter)) };
  }),
  "POST /response/body": inTab("response body", responseBody, 2 * MOST_MS),
  "POST /highlight": inTab("highlight", async (tab, params, { browser }) => {
    const element = await elementOf(tab, required(params, "ref"), browser.clock);
    await element.scrollIntoViewIfNeeded();
    await element.evaluate(showFrame);
  }),
  "POST /download": inTab("download", download, 2 * MOST_MS),
  "POST /wait/download": inTab("download", download, 2 * MOST_MS),
  "GET /cookies": inTab("cookies", async ({ page }) => ({ cookies: (await page.context().cookies()).slice(0, MAX_COOKIES) })),
  "POST /cookies/set": inTab("cookies", async ({ page }, params) => page.context().addCookies([cookieOf(params)])),
  "POST /cookies/clear": inTab("cookies", async ({ page }) => page.context().clearCookies()),
  ...storage("local"),
  ...storage("session"),
  ...Object.fromEntries(Object.entries(emulate).map(([name, work]) => [`POST /set/${name}`, inTab(`set ${name}`, work)])),
};
