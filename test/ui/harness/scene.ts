/** A gateway with the page, a model that says what the message asks it to, and a browser in front of it. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { launchChromium } from "../../harness/browser.ts";
import { makePlace, type GatewayOptions, type GatewayProcess, type Place } from "../../harness/gateway-process.ts";
import { startMockModel, type MockModel } from "../../harness/mock-model.ts";
import { runCommand, type Build, type CommandResult } from "../../harness/program.ts";

const TOKEN = "a-token-for-the-page-0123456789";
/** Less than a test has: what is waited for in vain is then named. */
const PATIENCE_MS = 30_000;
/** Another build than `dist`, for work on the page. */
const BUILD = process.env["OPENCLAW_TEST_BUILD"] as Build | undefined;
/** `ordinary` or `headless`: every test in that browser, whatever it asks for. */
const BROWSER = process.env["OPENCLAW_TEST_BROWSER"];

type Areas = Record<string, Record<string, unknown>>;

export interface SceneOptions {
  /** Laid over the configuration: an area's keys over those of the area. */
  readonly config?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Nothing is configured and nothing was ever run: as after the installation. */
  readonly bare?: boolean;
  /** Called with the state folder's place before the gateway starts. */
  readonly prepare?: (place: Place, workspace: string) => void | Promise<void>;
  /** Without it the built-in offline model answers. */
  readonly model?: "mock";
  /** A folder with a built page; the build's own without it. */
  readonly uiRoot?: string;
  readonly gateway?: GatewayOptions;
  /**
   * Without it the browser is the engine without windows, which needs half the processor time and has neither a microphone nor a loudspeaker.
   * The main suite asks for `{ ordinary: true }`, the browser as people have it; `OPENCLAW_TEST_BROWSER=ordinary` gives it to every test.
   */
  readonly browser?: Parameters<typeof launchChromium>[0];
}

export interface Scene extends AsyncDisposable {
  readonly place: Place;
  readonly token: string;
  readonly workspace: string;
  /** Where the page is, without a slash at its end: `http://127.0.0.1:<port>`, and the base path behind it. */
  readonly url: string;
  readonly browser: Browser;
  readonly gateway: GatewayProcess;
  /** Where the mock model is, when it answers. */
  readonly modelUrl: string | undefined;
  /** Ends the gateway at once (SIGKILL, or the signal given) and starts it again on the same port. */
  restart(signal?: NodeJS.Signals): Promise<void>;
  /** Runs a command of the program beside the gateway. */
  cli(...args: string[]): CommandResult;
  /** A link that logs one browser in, once, as `openclaw dashboard` prints it. */
  link(): string;
  /** A browser window of its own: nobody is logged in. */
  window(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** A page that is logged in, at a place below the base address. */
  open(path?: string, options?: BrowserContextOptions): Promise<Page>;
}

function settings(workspace: string, uiRoot: string | undefined, baseUrl: string | undefined): Areas {
  const models = [{ id: "m1", name: "Mock One", contextWindow: 200_000, maxTokens: 8192, cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } }];
  return {
    gateway: { auth: { mode: "token", token: TOKEN }, ...(uiRoot === undefined ? {} : { controlUi: { root: uiRoot } }) },
    agents: { defaults: { workspace, ...(baseUrl === undefined ? {} : { model: { primary: "mock/m1" } }) } },
    ...(baseUrl === undefined ? {} : { models: { providers: { mock: { baseUrl, apiKey: "none", api: "openai-completions", models } } } }),
  };
}

/** The configuration with other keys over it. */
function laidOver(base: Areas, over: NonNullable<SceneOptions["config"]>): Areas {
  const names = [...new Set([...Object.keys(base), ...Object.keys(over)])];
  return Object.fromEntries(names.map((name) => [name, { ...base[name], ...over[name] }]));
}

/** The path below which the page is: nothing, or one with a slash in front. */
function basePath({ config = {} }: SceneOptions): string {
  const given = (config["gateway"]?.["controlUi"] as { basePath?: string } | undefined)?.basePath;
  return given === undefined ? "" : `/${given.replace(/^\/+|\/+$/g, "")}`;
}

/** The browser that a test asks for, or the one that all get. */
function browserOf({ browser }: SceneOptions): Parameters<typeof launchChromium>[0] {
  if (BROWSER === undefined) return browser;
  return { ...browser, ordinary: BROWSER === "ordinary" };
}

/** Signs in with the form and the token. */
export async function logIn(page: Page, token = TOKEN): Promise<void> {
  await page.getByLabel(/of the gateway/).fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.locator("oc-menu").waitFor({ state: "attached" });
}

/** A gateway in a place of its own, with whatever the options put there first. */
async function prepared(options: SceneOptions): Promise<{ readonly place: Place; readonly workspace: string; readonly model: MockModel | undefined }> {
  const place = makePlace();
  const workspace = join(place.home, "workspace");
  const model = options.model === "mock" ? await startMockModel() : undefined;
  if (!options.bare) {
    mkdirSync(workspace, { recursive: true });
    writeFileSync(join(workspace, "note.txt"), "a note for the page\n");
    place.configure(JSON.stringify(laidOver(settings(workspace, options.uiRoot, model?.url), options.config ?? {}), undefined, 2));
  }
  await options.prepare?.(place, workspace);
  return { place, workspace, model };
}

export async function openScene(options: SceneOptions = {}): Promise<Scene> {
  const { place, workspace, model } = await prepared(options);
  const start: GatewayOptions = { ...(BUILD === undefined ? {} : { build: BUILD }), ...options.gateway };
  let gateway = await place.gateway(start);
  if (gateway.url === undefined) throw new Error(`the gateway did not start:\n${gateway.output()}`);
  const { origin, port } = new URL(gateway.url.replace(/^ws/, "http"));
  const url = origin.replace("localhost", "127.0.0.1") + basePath(options);
  const browser = await launchChromium(browserOf(options));
  const scene: Scene = {
    place,
    token: TOKEN,
    workspace,
    url,
    browser,
    modelUrl: model?.url,
    get gateway() {
      return gateway;
    },
    async restart(signal = "SIGKILL") {
      gateway.child.kill(signal);
      await gateway.exited;
      gateway = await place.gateway({ ...start, args: [...(start.args ?? []), "--port", port] });
    },
    cli: (...args) => runCommand(place, args, start.build === undefined ? {} : { build: start.build }),
    link() {
      const { code, stdout, stderr } = scene.cli("dashboard", "--no-open");
      if (code !== 0) throw new Error(`dashboard ended with ${code}: ${stderr}`);
      return stdout.trim();
    },
    async window(window = {}) {
      const opened = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-GB", reducedMotion: "reduce", ...window });
      opened.setDefaultTimeout(PATIENCE_MS);
      return opened;
    },
    async open(path = "", window = {}) {
      const page = await (await scene.window(window)).newPage();
      await page.goto(`${url}/${path}`);
      await logIn(page);
      return page;
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
      await gateway[Symbol.asyncDispose]();
      model?.[Symbol.dispose]();
      rmSync(place.home, { recursive: true, force: true, maxRetries: 3 });
    },
  };
  return scene;
}
