/** The browser of a sandbox: a container of its own, with the network, whose control port is published on the loopback interface. */
import type { Clock } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import { loadHttp } from "../../../base/builtin.ts";
import type { SandboxBrowser, SandboxPlan } from "../backend.ts";
import { insideEnvironment } from "../environment.ts";
import { containerName } from "../scope.ts";
import { configHash, createArgs } from "./create-args.ts";
import { createUpkeep, type UpkeepDeps } from "./upkeep.ts";

const MAKE_MS = 10 * 60_000;
/** An answer is used again for so long: a page is worked on in many calls. */
const FRESH_MS = 10_000;
const MAX_KNOWN = 200;
const POLL_MS = 200;
const PROBE_MS = 2000;

export interface BrowsersDeps extends UpkeepDeps {
  readonly clock: Clock;
}

export interface BrowserContainers {
  /** The scope's browser, made and started as far as it is not there. */
  ensure(plan: SandboxPlan): Promise<SandboxBrowser>;
  /** Where its screen was seen last. */
  screenUrl(plan: SandboxPlan): string | undefined;
}

const screenAt = (port: number): string => `http://127.0.0.1:${port}/vnc.html?autoconnect=1&resize=remote`;
const hasScreen = ({ settings: { browser } }: SandboxPlan): boolean => browser.enableNoVnc && !browser.headless;
const nameOf = ({ settings, scope }: SandboxPlan): string => containerName(settings.browser.containerPrefix, scope);

/** The plan of the tools' container, as far as it holds for a browser: it needs the network, and another image. */
function planOf(plan: SandboxPlan): SandboxPlan {
  const { docker, browser } = plan.settings;
  return { ...plan, settings: { ...plan.settings, docker: { ...docker, network: "bridge", image: browser.image } } };
}

const flagText = (flag: boolean): string => (flag ? "1" : "0");

function environmentOf(plan: SandboxPlan, warn: (text: string) => void): Readonly<Record<string, string>> {
  const { docker, browser } = plan.settings;
  return {
    ...insideEnvironment(docker.env, warn),
    OPENCLAW_BROWSER_HEADLESS: flagText(browser.headless),
    OPENCLAW_BROWSER_ENABLE_NOVNC: flagText(browser.enableNoVnc),
    OPENCLAW_BROWSER_CDP_PORT: String(browser.cdpPort),
    OPENCLAW_BROWSER_VNC_PORT: String(browser.vncPort),
    OPENCLAW_BROWSER_NOVNC_PORT: String(browser.noVncPort),
  };
}

/** Whether a browser answers at its control port. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = loadHttp().get({ host: "127.0.0.1", port, path: "/json/version", timeout: PROBE_MS, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(false));
  });
}

async function untilAnswering(clock: Clock, name: string, port: number, timeoutMs: number): Promise<void> {
  const end = clock.monotonic() + timeoutMs;
  while (!(await answers(port))) {
    if (clock.monotonic() >= end)
      throw new AppError(
        "TIMEOUT",
        `the browser in the container ${name} did not answer within ${timeoutMs} ms: see docker logs ${name}, or raise sandbox.browser.autoStartTimeoutMs`,
      );
    const { promise, resolve } = Promise.withResolvers<void>();
    using _timer = clock.after(POLL_MS, resolve);
    await promise;
  }
}

export function createBrowsers({ clock, cli, registry, warn }: BrowsersDeps): BrowserContainers {
  const upkeep = createUpkeep({ clock, cli, registry, warn }, "browsers");
  const making = new Map<string, Promise<SandboxBrowser>>();
  const known = new Map<string, { readonly at: number; readonly hash: string; readonly browser: SandboxBrowser }>();

  /** The port of this machine that leads to one inside. */
  async function published(name: string, port: number): Promise<number> {
    const text = await cli.must(["port", name, `${port}/tcp`], `could not find the port ${port} of ${name}`);
    const found = Number(/^127\.0\.0\.1:(\d{1,5})\s*$/m.exec(text)?.[1]);
    if (found > 0) return found;
    throw new AppError(
      "UNAVAILABLE",
      `docker publishes the port ${port} of ${name} as ${JSON.stringify(text.slice(0, 100))}, not on 127.0.0.1; remove it: openclaw sandbox recreate --browser --all`,
    );
  }

  async function create(name: string, plan: SandboxPlan, hash: string): Promise<void> {
    const { browser } = plan.settings;
    await cli.image(browser.image);
    const labels = { scopeKey: plan.scope.key, createdAtMs: clock.now(), configHash: hash };
    const publish = [browser.cdpPort, ...(hasScreen(plan) ? [browser.noVncPort] : [])];
    const args = createArgs(name, planOf(plan), environmentOf(plan, warn), labels, { label: "sandboxBrowser", publish });
    await cli.must(args, `could not create the container ${name}`, MAKE_MS);
    await cli.must(["start", name], `could not start the container ${name}`);
  }

  async function make(name: string, plan: SandboxPlan, hash: string): Promise<SandboxBrowser> {
    const { browser, prune } = plan.settings;
    await upkeep.prune(prune, name);
    let state = await cli.state(name);
    if (state !== "absent" && upkeep.isOutdated(name, hash, state === "running")) {
      await cli.remove(name);
      state = "absent";
    }
    if (state !== "running" && !browser.autoStart)
      throw new AppError(
        "UNAVAILABLE",
        `the browser of this sandbox is not running and sandbox.browser.autoStart is off: start the container ${name}, or turn it on`,
      );
    if (state === "absent") {
      registry.remove(name, "browsers");
      await create(name, plan, hash);
    } else if (state === "stopped") await cli.must(["start", name], `could not start the container ${name}`);
    const cdpPort = await published(name, browser.cdpPort);
    const noVncPort = hasScreen(plan) ? await published(name, browser.noVncPort) : undefined;
    const kept = registry.list("browsers").find((entry) => entry.containerName === name)?.configHash;
    const now = clock.now();
    const entry = {
      containerName: name,
      sessionKey: plan.scope.key,
      createdAtMs: now,
      lastUsedAtMs: now,
      image: browser.image,
      configHash: kept ?? hash,
      cdpPort,
    };
    registry.put({ ...entry, ...(noVncPort === undefined ? {} : { noVncPort }) }, "browsers");
    await untilAnswering(clock, name, cdpPort, browser.autoStartTimeoutMs);
    return { id: plan.scope.slug, cdpUrl: `http://127.0.0.1:${cdpPort}`, ...(noVncPort === undefined ? {} : { screenUrl: screenAt(noVncPort) }) };
  }

  return {
    async ensure(plan) {
      const name = nameOf(plan);
      const hash = configHash(planOf(plan), { browser: plan.settings.browser });
      const fresh = known.get(name);
      if (fresh && fresh.hash === hash && clock.monotonic() - fresh.at < FRESH_MS) return fresh.browser;
      const running = making.get(name) ?? make(name, plan, hash).finally(() => making.delete(name));
      making.set(name, running);
      const browser = await running;
      known.delete(name);
      known.set(name, { at: clock.monotonic(), hash, browser });
      const [oldest] = known.keys();
      if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
      return browser;
    },
    screenUrl(plan) {
      const port = hasScreen(plan) ? registry.list("browsers").find(({ containerName: name }) => name === nameOf(plan))?.noVncPort : undefined;
      return port === undefined ? undefined : screenAt(port);
    },
  };
}
