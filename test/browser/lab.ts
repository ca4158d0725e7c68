import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createLazyBrowser, loadBrowserTool, type OpenBrowser } from "../../src/browser/index.ts";
import type { Config, OpenClawConfig } from "../../src/config/index.ts";
import type { Tool, ToolContext, ToolOutcome } from "../../src/tools/index.ts";
import { findChromium } from "../harness/browser.ts";
import { openSite, type Site } from "./site.ts";

/** Hosts of the tests; all of them are this machine. */
const OPEN_HOST = "shop.test";

export interface Lab extends AsyncDisposable {
  readonly site: Site;
  readonly state: string;
  readonly opened: OpenBrowser;
  readonly tool: Tool;
  /** An address of the shop. */
  at(path: string, host?: string): string;
  /** One call of the tool. */
  call(params: Readonly<Record<string, unknown>>, session?: string): Promise<ToolOutcome>;
  /** The text of one call, which has to succeed. */
  text(params: Readonly<Record<string, unknown>>, session?: string): Promise<string>;
  act(request: Readonly<Record<string, unknown>>): Promise<string>;
  change(browser: NonNullable<OpenClawConfig["browser"]>): void;
}

export const textOf = ({ content }: ToolOutcome): string => content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");

/** The ref of the line that has this text. */
export function refIn(text: string, line: string | RegExp): string {
  const found = text.split("\n").find((one) => /\[e\d+\]/.test(one) && (typeof line === "string" ? one.includes(line) : line.test(one)));
  const ref = /\[(e\d+)\]/.exec(found ?? "")?.[1];
  if (ref === undefined) throw new Error(`no ref for ${String(line)} in:\n${text}`);
  return ref;
}

export function browserPath(): string {
  const chromium = findChromium("headless");
  if ("missing" in chromium) throw new Error(chromium.missing);
  return chromium.path;
}

export async function openLab({ maxDownloadBytes }: { readonly maxDownloadBytes?: number } = {}): Promise<Lab> {
  const site = await openSite();
  const home = mkdtempSync(join(tmpdir(), "openclaw-browser-"));
  const state = join(home, "state");
  let browser: NonNullable<OpenClawConfig["browser"]> = {
    executablePath: browserPath(),
    headless: true,
    noSandbox: true,
    ssrfPolicy: { allowedHostnames: [OPEN_HOST] },
  };
  const config = {
    get current() {
      return { browser } as OpenClawConfig;
    },
    env: () => process.env,
    paths: { state, home },
  } as unknown as Config;
  const ids = createIds(systemRandom);
  const lookup = async () => [{ address: "127.0.0.1", family: 4 }];
  const lazy = createLazyBrowser({ config, clock: systemClock, ids, log: silentLogger, lookup, maxDownloadBytes });
  const { browserTool } = await loadBrowserTool();
  const tool = browserTool({ open: lazy.open, ids, sandbox: async () => ({ sandboxed: false, hostAllowed: false }) });
  let calls = 0;
  const call: Lab["call"] = (params, session = "agent:main:main") => {
    calls += 1;
    const context = { sessionKey: session, agentId: "main", runId: "run" } as ToolContext;
    return tool.run({ id: String(calls), params, signal: new AbortController().signal, update: () => undefined, context });
  };
  const text: Lab["text"] = async (params, session) => {
    const outcome = await call(params, session);
    if (outcome.isError) throw new Error(textOf(outcome));
    return textOf(outcome);
  };
  return {
    site,
    state,
    opened: await lazy.open(),
    tool,
    at: (path, host = OPEN_HOST) => `http://${host}:${site.port}${path}`,
    call,
    text,
    act: (request) => text({ action: "act", request }),
    change(next) {
      browser = { ...browser, ...next };
    },
    async [Symbol.asyncDispose]() {
      const t = performance.now();
      await lazy[Symbol.asyncDispose]();
      console.log("closed", performance.now() - t);
      await site[Symbol.asyncDispose]();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
