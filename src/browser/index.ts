/**
 * Browsers that agents drive.
 * Entry point of the module.
 */
import { homedir } from "node:os";
import { lazy, type Lazy } from "../base/lazy.ts";
import type { Browser, BrowserDeps } from "./create-browser.ts";
import type * as findBrowser from "./find-browser.ts";
import type * as operations from "./operations.ts";
import type { ProxyAnswer, ProxyDeps } from "./proxy.ts";
import type { BrowserRequest } from "./routes.ts";
import type * as nodeBrowser from "./tool/browser-of-node.ts";
import type * as here from "./tool/tool-browser.ts";
import type * as extension from "./relay/install.ts";
import type * as tool from "./tool/browser-tool.ts";

export type { Browser, BrowserDeps, BrowserStatus } from "./create-browser.ts";
export type { BrowserRequest } from "./routes.ts";
export type { ProxyAnswer } from "./proxy.ts";
export type { BrowserTarget, BrowserToolDeps } from "./tool/browser-tool.ts";
export type { ToolBrowser } from "./tool/tool-browser.ts";

/** The browser with what can be asked of it. */
export interface OpenBrowser {
  readonly browser: Browser;
  readonly operations: typeof operations;
}

/** The code, and the driver below it, are loaded with the first request. */
export interface LazyBrowser extends AsyncDisposable {
  readonly open: Lazy<OpenBrowser>;
  /** A request to the control interface. */
  request(request: BrowserRequest): Promise<unknown>;
  /** Carries out a `browser.proxy` of a gateway. */
  proxy(params: unknown, signal: AbortSignal, settings: ProxyDeps["settings"]): Promise<ProxyAnswer>;
  /** Takes changed settings: browsers that run are started again with the next request, with their tabs. */
  reload(): Promise<void>;
}

export function createLazyBrowser(deps: BrowserDeps): LazyBrowser {
  const open = lazy(async () => {
    const [{ createBrowser }, loaded] = await Promise.all([import("./create-browser.ts"), import("./operations.ts")]);
    return { browser: createBrowser(deps), operations: loaded };
  });
  const request: LazyBrowser["request"] = async (asked) => (await import("./routes.ts")).answer((await open()).browser, asked);
  return {
    open,
    request,
    async proxy(params, signal, settings) {
      const { answerProxy } = await import("./proxy.ts");
      const defaultProfile = async (): Promise<string> => (await open()).browser.settings().defaultProfile;
      return answerProxy(params, signal, { request, settings, defaultProfile, stateDir: deps.config.paths.state });
    },
    reload: async () => (await open.started())?.browser.reload(),
    async [Symbol.asyncDispose]() {
      await (await open.started()?.catch(() => undefined))?.browser[Symbol.asyncDispose]();
    },
  };
}

/** The tool for agents; it is small. */
export const loadBrowserTool = async (): Promise<typeof tool> => import("./tool/browser-tool.ts");

/** The browser of this machine, and that of a node, as the tool uses them. */
export const loadToolBrowsers = async (): Promise<typeof here & typeof nodeBrowser> => ({
  ...(await import("./tool/tool-browser.ts")),
  ...(await import("./tool/browser-of-node.ts")),
});

/** The folder with the Chrome extension, and how it is written. */
export const loadExtension = async (): Promise<typeof extension> => import("./relay/install.ts");

/** Whether this machine has a browser to share: one that is installed, or an address of one. */
export async function hasBrowser({ config }: Pick<BrowserDeps, "config">): Promise<boolean> {
  const { browser } = config.current;
  if (browser?.enabled === false) return false;
  const { detectBrowser } = await import("./find-browser.ts");
  const facts = { platform: process.platform, env: config.env(), home: homedir() };
  return browser?.executablePath !== undefined || browser?.cdpUrl !== undefined || detectBrowser(facts) !== undefined;
}

/** Finding an installed browser; loads nothing of the driver. */
export const loadFindBrowser = async (): Promise<typeof findBrowser> => import("./find-browser.ts");
