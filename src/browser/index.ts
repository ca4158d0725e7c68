/**
 * Browsers that agents drive.
 * Entry point of the module.
 */
import { lazy, type Lazy } from "../base/lazy.ts";
import type { Browser, BrowserDeps } from "./create-browser.ts";
import type * as operations from "./operations.ts";
import type { BrowserRequest } from "./routes.ts";
import type * as tool from "./tool/browser-tool.ts";

export type { Browser, BrowserDeps, BrowserStatus } from "./create-browser.ts";
export type { BrowserRequest } from "./routes.ts";
export type { BrowserToolDeps } from "./tool/browser-tool.ts";

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
  /** Takes changed settings: browsers that run are started again with the next request, with their tabs. */
  reload(): Promise<void>;
}

export function createLazyBrowser(deps: BrowserDeps): LazyBrowser {
  const open = lazy(async () => {
    const [{ createBrowser }, loaded] = await Promise.all([import("./create-browser.ts"), import("./operations.ts")]);
    return { browser: createBrowser(deps), operations: loaded };
  });
  return {
    open,
    request: async (request) => (await import("./routes.ts")).answer((await open()).browser, request),
    reload: async () => (await open.started())?.browser.reload(),
    async [Symbol.asyncDispose]() {
      await (await open.started()?.catch(() => undefined))?.browser[Symbol.asyncDispose]();
    },
  };
}

/** The tool for agents; it is small. */
export const loadBrowserTool = async (): Promise<typeof tool> => import("./tool/browser-tool.ts");
