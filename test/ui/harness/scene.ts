/** A gateway with the page, a model that says what the message asks it to, and a browser in front of it. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { launchChromium } from "../../harness/browser.ts";
import { makePlace, ROOT, type GatewayOptions, type GatewayProcess, type Place } from "../../harness/gateway-process.ts";

const TOKEN = "a-token-for-the-page-0123456789";

export interface SceneOptions {
  /** Laid over the configuration, area by area. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Without it the built-in offline model answers. */
  readonly model?: "mock";
  /** A folder with a built page; the build's own without it. */
  readonly uiRoot?: string;
  readonly gateway?: GatewayOptions;
}

export interface Scene extends AsyncDisposable {
  readonly place: Place;
  readonly token: string;
  readonly workspace: string;
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly browser: Browser;
  readonly gateway: GatewayProcess;
  /** Ends the gateway at once (SIGKILL, or the signal given) and starts it again on the same port. */
  restart(signal?: NodeJS.Signals): Promise<void>;
  /** A browser window of its own: nobody is logged in. */
  window(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** A page that is logged in, at a place below the base address. */
  open(path?: string, options?: BrowserContextOptions): Promise<Page>;
}

async function startModel(): Promise<{ readonly child: ChildProcess; readonly baseUrl: string }> {
  const child = spawn(process.execPath, [join(ROOT, "bench/drivers/mock-model.ts")], { stdio: ["ignore", "pipe", "inherit"] });
  const [baseUrl] = (await once(createInterface({ input: child.stdout! }), "line")) as [string];
  return { child, baseUrl };
}

function settings(workspace: string, uiRoot: string | undefined, baseUrl: string | undefined): Record<string, Record<string, unknown>> {
  const models = [{ id: "m1", name: "Mock One", contextWindow: 200_000, maxTokens: 8192, cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } }];
  return {
    gateway: { auth: { mode: "token", token: TOKEN }, ...(uiRoot === undefined ? {} : { controlUi: { root: uiRoot } }) },
    agents: { defaults: { workspace, ...(baseUrl === undefined ? {} : { model: { primary: "mock/m1" } }) } },
    ...(baseUrl === undefined ? {} : { models: { providers: { mock: { baseUrl, apiKey: "none", api: "openai-completions", models } } } }),
  };
}

/** Logs in by the form, as somebody does who has the token. */
export async function logIn(page: Page, token = TOKEN): Promise<void> {
  await page.getByLabel(/of the gateway/).fill(token);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.locator("oc-menu").waitFor();
}

export async function openScene(options: SceneOptions = {}): Promise<Scene> {
  const place = makePlace();
  const workspace = join(place.home, "workspace");
  mkdirSync(workspace, { recursive: true });
  writeFileSync(join(workspace, "note.txt"), "a note for the page\n");
  const model = options.model === "mock" ? await startModel() : undefined;
  place.configure(JSON.stringify({ ...settings(workspace, options.uiRoot, model?.baseUrl), ...options.config }, undefined, 2));
  let gateway = await place.gateway(options.gateway ?? {});
  if (gateway.url === undefined) throw new Error(`the gateway did not start:\n${gateway.output()}`);
  const { port } = new URL(gateway.url.replace(/^ws/, "http"));
  const url = `http://127.0.0.1:${port}`;
  const browser = await launchChromium();
  const scene: Scene = {
    place,
    token: TOKEN,
    workspace,
    url,
    browser,
    get gateway() {
      return gateway;
    },
    async restart(signal = "SIGKILL") {
      gateway.child.kill(signal);
      await gateway.exited;
      gateway = await place.gateway({ ...options.gateway, args: [...(options.gateway?.args ?? []), "--port", port] });
    },
    window: (window = {}) => browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-GB", reducedMotion: "reduce", ...window }),
    async open(path = "", window = {}) {
      const page = await (await scene.window(window)).newPage();
      await page.goto(`${url}/${path}`);
      await logIn(page);
      return page;
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
      await gateway[Symbol.asyncDispose]();
      model?.child.kill();
      rmSync(place.home, { recursive: true, force: true, maxRetries: 3 });
    },
  };
  return scene;
}
