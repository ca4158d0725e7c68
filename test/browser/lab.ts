import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import { createLazyBrowser, loadBrowserTool, loadToolBrowsers, type LazyBrowser, type OpenBrowser } from "../../src/browser/index.ts";
import { openConfig, type Config, type OpenClawConfig } from "../../src/config/index.ts";
import type { Tool, ToolContext, ToolOutcome } from "../../src/tools/index.ts";
import { findChromium } from "../harness/browser.ts";
import { openSite, type Site } from "./site.ts";

/** Hosts of the tests; all of them are this machine. */
const OPEN_HOST = "shop.test";

type Params = Readonly<Record<string, unknown>>;

/** A session with the tool. */
export interface User {
  call(params: Params): Promise<ToolOutcome>;
  /** The text of a call that has to succeed. */
  text(params: Params): Promise<string>;
  /** The text of a call that has to fail. */
  failure(params: Params): Promise<string>;
  act(request: Params): Promise<string>;
  /** Opens a page of the shop in a tab of its own. */
  open(path: string): Promise<string>;
}

export interface Lab extends AsyncDisposable {
  readonly site: Site;
  readonly state: string;
  readonly opened: OpenBrowser;
  readonly lazy: LazyBrowser;
  readonly tool: Tool;
  /** An address of the shop. */
  at(path: string, host?: string): string;
  user(): User;
  change(browser: NonNullable<OpenClawConfig["browser"]>): Promise<void>;
  readonly config: Config;
  /** Asks as the command line does. */
  request(method: "GET" | "POST" | "DELETE", path: string, params?: Params, options?: { readonly mayConfigure?: boolean }): Promise<unknown>;
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
  const browser: NonNullable<OpenClawConfig["browser"]> = {
    executablePath: browserPath(),
    headless: true,
    noSandbox: true,
    ssrfPolicy: { allowedHostnames: [OPEN_HOST] },
  };
  const file = join(home, "openclaw.json");
  mkdirSync(state, { recursive: true });
  writeFileSync(file, JSON.stringify({ browser }));
  const ids = createIds(systemRandom);
  const env = { ...process.env, HOME: home, OPENCLAW_STATE_DIR: state, OPENCLAW_CONFIG_PATH: file };
  const config = await openConfig({ env, cwd: home, osHome: home, version: "1.0.0", clock: systemClock, ids, purpose: "start" });
  const lookup = async () => [{ address: "127.0.0.1", family: 4 }];
  const lazy = createLazyBrowser({ config, clock: systemClock, ids, log: silentLogger, lookup, maxDownloadBytes });
  const { browserTool } = await loadBrowserTool();
  const { browserHere, browserOfNode } = await loadToolBrowsers();
  const { browser: here, operations } = await lazy.open();
  const shared = { allowProfiles: ["openclaw"] };
  const tool = browserTool({
    ids,
    sandbox: async () => ({ sandboxed: false, hostAllowed: false }),
    async choose({ target }) {
      if (target !== "node") return browserHere(here, operations);
      // What a node would answer, over the wire as JSON.
      const send = async (request: object, signal: AbortSignal): Promise<unknown> =>
        JSON.parse(JSON.stringify(await lazy.proxy(JSON.parse(JSON.stringify(request)), signal, () => shared)));
      return browserOfNode({ nodeId: "n1", send, files: { stateDir: state, ids }, evaluateEnabled: () => config.current.browser?.evaluateEnabled !== false });
    },
  });
  const at: Lab["at"] = (path, host = OPEN_HOST) => `http://${host}:${site.port}${path}`;
  let [calls, users] = [0, 0];

  function user(): User {
    users += 1;
    const context = { sessionKey: `agent:main:user-${users}`, agentId: "main", runId: "run" } as ToolContext;
    const call = (params: Params): Promise<ToolOutcome> => {
      calls += 1;
      return tool.run({ id: String(calls), params, signal: new AbortController().signal, update: () => undefined, context });
    };
    const checked = async (params: Params, isError: boolean): Promise<string> => {
      const outcome = await call(params);
      if (outcome.isError !== isError) throw new Error(`${isError ? "expected a failure" : "failed"}: ${textOf(outcome)}`);
      return textOf(outcome);
    };
    const text = (params: Params): Promise<string> => checked(params, false);
    return {
      call,
      text,
      failure: (params) => checked(params, true),
      act: (request) => text({ action: "act", request }),
      open: (path) => text({ action: "open", targetUrl: at(path) }),
    };
  }

  return {
    site,
    state,
    opened: { browser: here, operations },
    lazy,
    tool,
    at,
    user,
    config,
    async change(next) {
      await config.edit({ kind: "patch", value: { browser: next } }, { by: "test" });
    },
    request: (method, path, params = {}, { mayConfigure = true } = {}) =>
      lazy.request({ method, path, query: params, body: undefined, signal: new AbortController().signal, caller: "client:test", mayConfigure }),
    async [Symbol.asyncDispose]() {
      await lazy[Symbol.asyncDispose]();
      config[Symbol.dispose]();
      await site[Symbol.asyncDispose]();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
