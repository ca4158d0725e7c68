/** The control interface as requests: what `browser.request` and the command line ask for. */
import { AppError } from "../base/errors.ts";
import { isRecord } from "../base/records.ts";
import type { Browser, Caller } from "./create-browser.ts";
import * as ops from "./operations.ts";
import { MORE_ROUTES, type Route, type RouteWork } from "./page-routes.ts";
import { numberIn, required, textIn, type Params } from "./params.ts";

export interface BrowserRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly query: Params;
  readonly body: unknown;
  readonly timeoutMs?: number | undefined;
  readonly signal: AbortSignal;
  /** The tab that is meant when none is named is the caller's. */
  readonly caller: string;
  /** The caller may change the configuration. */
  readonly mayConfigure: boolean;
}

const tabList = async (work: RouteWork): Promise<unknown> => {
  const { running: isRunning, driver } = work.browser.status(work.caller.profile);
  // Which tabs are shared is only known once it is asked.
  const running = isRunning || driver === "extension";
  return { running, tabs: running ? await ops.tabRows(work) : [] };
};

/** Tabs by their position, for the command line. */
async function tabAction(work: RouteWork): Promise<unknown> {
  const { browser, caller, params } = work;
  const action = required(params, "action");
  if (action === "list") return tabList(work);
  if (action === "new") return ops.open({ ...work, params: { targetUrl: textIn(params, "url") ?? "about:blank" } });
  const index = numberIn(params, "index");
  const tabs = await browser.tabsOf(caller);
  const tab = index === undefined ? await browser.tabFor(caller) : tabs[index];
  if (!tab) throw new AppError("NOT_FOUND", `there is no tab number ${index}; ${tabs.length} are open, counted from 0`);
  if (action === "select") return ops.focus({ ...work, params: { targetId: tab.id } });
  if (action === "close") return ops.closeTab({ ...work, params: { targetId: tab.id } });
  throw new AppError("INVALID_INPUT", `action must be list, new, select or close, not "${action.slice(0, 40)}"`);
}

/** Profiles are settings: those who add, remove or empty one have to be allowed to change the configuration. */
const configuring =
  (route: Route): Route =>
  async (work) => {
    if (work.mayConfigure) return route(work);
    throw new AppError("PERMISSION_DENIED", "profiles are part of the configuration: adding, removing and resetting them needs the scope operator.admin");
  };

const ROUTES: Readonly<Record<string, Route>> = {
  "GET /": async ({ browser, caller }) => browser.status(caller.profile),
  "GET /profiles": async ({ browser }) => ({ profiles: browser.profiles() }),
  async "POST /start"({ browser, caller }) {
    await browser.session(caller.profile).start();
    return { ok: true, profile: browser.status(caller.profile).profile };
  },
  async "POST /stop"({ browser, caller }) {
    const { running, profile } = browser.status(caller.profile);
    await browser.session(caller.profile).stop();
    return { ok: true, stopped: running, profile };
  },
  "POST /reset-profile": configuring(async ({ browser, caller }) => ({ ok: true, ...(await browser.reset(caller.profile)) })),
  "POST /profiles/create": configuring(({ browser, params }) => browser.createProfile(params)),
  "POST /trace/start": (work) => work.browser.traces.start(work),
  "POST /trace/stop": (work) => work.browser.traces.stop(work),
  "GET /tabs": tabList,
  "POST /tabs/open": ops.open,
  "POST /tabs/focus": ops.focus,
  "POST /tabs/action": tabAction,
  "GET /snapshot": ops.snapshot,
  "POST /screenshot": async (work) => {
    const { path, mimeType, targetId, url } = await ops.screenshot(work);
    return { ok: true, path, contentType: mimeType, targetId, url };
  },
  "POST /navigate": ops.navigate,
  "POST /pdf": async (work) => ({ ok: true, ...(await ops.pdf(work)) }),
  "GET /console": ops.consoleOf,
  "POST /act": ops.perform,
  "POST /hooks/file-chooser": ops.upload,
  "POST /hooks/dialog": ops.armDialog,
  ...MORE_ROUTES,
};

/** Routes with a name at their end. */
const NAMED: readonly (readonly [string, RegExp, Route])[] = [
  ["DELETE", /^\/tabs\/([^/]+)$/, ops.closeTab],
  [
    "DELETE",
    /^\/profiles\/([^/]+)$/,
    configuring(async ({ browser, params }) => {
      const profile = required(params, "targetId");
      return { ok: true, profile, ...(await browser.deleteProfile(profile)) };
    }),
  ],
];

/** Answers one request; an unknown path says what there is. */
export async function answer(browser: Browser, request: BrowserRequest): Promise<unknown> {
  const { method, query, body, timeoutMs, signal, mayConfigure } = request;
  const [path = "/"] = request.path.split("?");
  const clean = path === "" || path === "/" ? "/" : `/${path.replaceAll(/^\/+|\/+$/g, "")}`;
  const params: Params = { ...(timeoutMs === undefined ? {} : { timeoutMs }), ...query, ...(isRecord(body) ? body : {}) };
  const caller: Caller = { key: request.caller, profile: textIn(params, "profile"), signal };
  const route = Object.hasOwn(ROUTES, `${method} ${clean}`) ? ROUTES[`${method} ${clean}`] : undefined;
  if (route) return route({ browser, caller, params, mayConfigure });
  for (const [verb, pattern, named] of NAMED) {
    const [, id] = verb === method ? (pattern.exec(clean) ?? []) : [];
    if (id !== undefined) return named({ browser, caller, mayConfigure, params: { ...params, targetId: decodeURIComponent(id) } });
  }
  throw new AppError("NOT_FOUND", `the browser has no route ${method} ${clean.slice(0, 100)}; available: ${Object.keys(ROUTES).join(", ")}`);
}
