/**
 * Mail: the program `gog` registers a watch at Gmail and takes what Google pushes, and posts each mail to the hook `gmail`. It runs while the gateway
 * does, and is started again when it ends.
 */
import type { Clock } from "../../base/clock.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import { inheritedEnvironment } from "../../base/inherited-environment.ts";
import type { Logger } from "../../base/log/logger.ts";
import { run, startChild, type Child } from "../../base/spawn.ts";
import { clip } from "../../base/text.ts";
import type { Config, OpenClawConfig } from "../../config/index.ts";
import { trimmedPath } from "./mappings.ts";

/** What is watched, and where it goes. */
export interface GmailSettings {
  readonly account: string;
  readonly label: string;
  /** `projects/<project>/topics/<name>`. */
  readonly topic: string;
  readonly subscription: string;
  readonly pushToken: string;
  readonly hookUrl: string;
  readonly hookToken: string;
  readonly includeBody: boolean;
  readonly maxBytes: number;
  readonly renewEveryMinutes: number;
  readonly serve: { readonly bind: string; readonly port: number; readonly path: string };
  readonly tailscale: { readonly mode: "off" | "serve" | "funnel"; readonly path: string; readonly target?: string };
}

type Written = NonNullable<NonNullable<OpenClawConfig["hooks"]>["gmail"]>;
/** Settings of the file, or of a command line, with their secrets resolved. */
export type GmailInput = Omit<Written, "pushToken"> & { readonly pushToken?: string | undefined; readonly hookToken?: string | undefined };

const PATH = "/gmail-pubsub";
export const GMAIL_DEFAULTS = { label: "INBOX", topic: "gog-gmail-watch", subscription: "gog-gmail-watch-push", port: 8788, path: PATH } as const;

const slashed = (path: string): string => `/${trimmedPath(path)}`;

/** The settings with their defaults; a text says what is missing. `port` is the gateway's. */
export function gmailSettings(input: GmailInput, hooksPath: string | undefined, port: number): GmailSettings | string {
  const { account, topic, pushToken, hookToken, tailscale = {}, serve = {} } = input;
  if (!account?.trim()) return "hooks.gmail.account is not set";
  if (!hookToken) return "hooks.token is not set";
  if (!topic?.trim()) return "hooks.gmail.topic is not set";
  if (!pushToken) return "hooks.gmail.pushToken is not set";
  const { mode = "off", target } = tailscale;
  const path = slashed(tailscale.path ?? serve.path ?? PATH);
  // Tailscale takes its path away before it passes a request on, unless it is given a whole address.
  const isStripped = mode !== "off" && !target?.trim();
  return {
    account: account.trim(),
    label: input.label?.trim() || GMAIL_DEFAULTS.label,
    topic: topic.trim(),
    subscription: input.subscription?.trim() || GMAIL_DEFAULTS.subscription,
    pushToken,
    hookToken,
    hookUrl: input.hookUrl?.trim() || `http://127.0.0.1:${port}${slashed(hooksPath ?? "/hooks")}/gmail`,
    includeBody: input.includeBody ?? true,
    maxBytes: input.maxBytes ?? 20_000,
    renewEveryMinutes: input.renewEveryMinutes ?? 720,
    serve: { bind: serve.bind?.trim() || "127.0.0.1", port: serve.port ?? GMAIL_DEFAULTS.port, path: isStripped ? "/" : slashed(serve.path ?? PATH) },
    tailscale: { mode, path, ...(target?.trim() ? { target: target.trim() } : {}) },
  };
}

const flags = (values: Readonly<Record<string, string>>): readonly string[] => Object.entries(values).flat();

export const watchStartArgs = ({ account, label, topic }: Pick<GmailSettings, "account" | "label" | "topic">): readonly string[] => [
  "gmail",
  "watch",
  "start",
  ...flags({ "--account": account, "--label": label, "--topic": topic }),
];

export const watchServeArgs = ({ account, serve, pushToken, hookUrl, hookToken, includeBody, maxBytes }: GmailSettings): readonly string[] => [
  "gmail",
  "watch",
  "serve",
  ...flags({ "--account": account, "--bind": serve.bind, "--port": String(serve.port), "--path": serve.path }),
  ...flags({ "--token": pushToken, "--hook-url": hookUrl, "--hook-token": hookToken }),
  ...(includeBody ? ["--include-body", "--max-bytes", String(maxBytes)] : []),
];

export const tailscaleArgs = ({ tailscale: { mode, path, target }, serve }: Pick<GmailSettings, "tailscale" | "serve">): readonly string[] => [
  mode,
  "--bg",
  "--set-path",
  path,
  "--yes",
  target ?? String(serve.port),
];

/** What the programs of Google and Tailscale may see of the environment: their own variables, and no secrets of others. */
export function programEnvironment(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return inheritedEnvironment(
    env,
    Object.keys(env).filter((name) => /^(?:GOG|GOOGLE|CLOUDSDK|TS|TAILSCALE)_/i.test(name)),
  );
}

const COMMAND_MS = 120_000;
const MAX_OUTPUT = 1_000_000;

/** Runs a program to its end. Rejects with what it wrote when it fails. */
export async function runProgram(command: string, args: readonly string[], env: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<string> {
  const { code, stdout, stderr } = await run(command, { args, env, timeoutMs: COMMAND_MS, maxOutputBytes: MAX_OUTPUT, ...(signal ? { signal } : {}) });
  if (code === 0) return stdout;
  const said = clip((stderr.trim() || stdout.trim()).replaceAll(/\s+/g, " "), 500);
  throw new AppError("UNAVAILABLE", `${command} ${args.slice(0, 3).join(" ")} failed${code === null ? "" : ` (exit ${code})`}: ${said || "no output"}`);
}

export interface GmailWatcherDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly env: () => Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** One run of the watch, with one set of settings. */
export interface GmailWatch {
  /** Resolves when it will not be started again: it was stopped, or something is wrong that trying again does not mend. */
  readonly ended: Promise<void>;
  /** Ends `gog`: politely, after 3 s by force. */
  stop(): Promise<void>;
}

const RESTART_MS = 5000;
const KILL_MS = 3000;
const MAX_LINE = 500;
const IN_USE = /address already in use|EADDRINUSE/i;

/** The end of a child that was asked to end. */
async function end(child: Child, clock: Clock): Promise<void> {
  child.signal("SIGTERM");
  using _ = clock.after(KILL_MS, () => void child.signal("SIGKILL"));
  await child.exited;
}

export function watchGmail(settings: GmailSettings, { clock, log, env, cwd }: GmailWatcherDeps): GmailWatch {
  const stopping = new AbortController();
  const programs = programEnvironment(env());
  let child: Child | undefined;
  let renewal: Disposable | undefined;

  const pause = async (ms: number): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (stopping.signal.aborted) return;
    const timer = clock.after(ms, resolve);
    stopping.signal.addEventListener("abort", () => resolve(), { once: true });
    return promise.finally(() => timer[Symbol.dispose]());
  };

  /** Gmail forgets a watch after a week: it is renewed long before. */
  async function register(): Promise<void> {
    await runProgram("gog", watchStartArgs(settings), programs, stopping.signal);
    log.info(`watching ${settings.label} of ${settings.account}`);
  }
  function renew(): void {
    renewal = clock.after(settings.renewEveryMinutes * 60_000, () => {
      register().catch(
        (error: unknown) => !stopping.signal.aborted && log.warn(`the Gmail watch of ${settings.account} could not be renewed: ${messageOf(error)}`),
      );
      renew();
    });
  }

  /** Runs the server once; true when its address is taken by another program. */
  async function serve(): Promise<boolean> {
    let said = "";
    child = await startChild("gog", {
      args: watchServeArgs(settings),
      cwd,
      env: programs,
      onOutput(_stream, chunk) {
        const text = chunk.toString("utf8").slice(0, MAX_LINE * 10);
        said = (said + text).slice(-MAX_LINE * 4);
        for (const line of text.split("\n")) if (line.trim() !== "") log.info(`gog: ${clip(line.trim(), MAX_LINE)}`);
        return undefined;
      },
    });
    if (stopping.signal.aborted) await end(child, clock);
    const { code, signal } = await child.exited;
    child = undefined;
    if (!stopping.signal.aborted) log.warn(`gog gmail watch serve ended (${signal ?? `exit ${code}`})`);
    return IN_USE.test(said);
  }

  async function watch(): Promise<void> {
    try {
      if (settings.tailscale.mode !== "off") await runProgram("tailscale", tailscaleArgs(settings), programs, stopping.signal);
      await register().catch((error: unknown) => {
        if (error instanceof AppError && error.code === "NOT_FOUND") throw error;
        if (!stopping.signal.aborted) log.warn(`Gmail did not accept the watch, mail may not arrive: ${messageOf(error)}`);
      });
      renew();
      while (!stopping.signal.aborted) {
        if (await serve()) {
          const { bind, port } = settings.serve;
          return log.error(`mail is not received: another program is listening on ${bind}:${port}; stop it or set hooks.gmail.serve.port`);
        }
        await pause(RESTART_MS);
      }
    } catch (error) {
      if (!stopping.signal.aborted) log.error(`mail is not watched: ${messageOf(error)}`);
    } finally {
      renewal?.[Symbol.dispose]();
    }
  }

  const ended = watch();
  return {
    ended,
    async stop() {
      stopping.abort();
      if (child) await end(child, clock);
      await ended;
    },
  };
}

export interface GmailWatcherPorts extends Omit<GmailWatcherDeps, "env"> {
  readonly config: Pick<Config, "current" | "resolveSecret" | "env">;
  /** The gateway's. */
  readonly port: () => number;
}

/** The watch that the configuration asks for. */
export interface GmailWatcher extends AsyncDisposable {
  /** Starts, changes or ends the watch as the configuration is now. */
  reconsider(): Promise<void>;
}

export function createGmailWatcher({ config, clock, log, cwd, port }: GmailWatcherPorts): GmailWatcher {
  let running: { readonly watch: GmailWatch; readonly key: string } | undefined;
  let order: Promise<void> = Promise.resolve();

  async function wanted(): Promise<GmailSettings | undefined> {
    const { hooks } = config.current;
    const { gmail } = hooks ?? {};
    if (hooks?.enabled !== true || !gmail?.account?.trim() || config.env()["OPENCLAW_SKIP_GMAIL_WATCHER"] === "1") return undefined;
    const { pushToken, ...rest } = gmail;
    const resolved = pushToken === undefined ? undefined : await config.resolveSecret(pushToken, "hooks.gmail.pushToken");
    const hookToken = hooks.token === undefined ? undefined : await config.resolveSecret(hooks.token, "hooks.token");
    const settings = gmailSettings({ ...rest, pushToken: resolved, hookToken }, hooks.path, port());
    if (typeof settings !== "string") return settings;
    log.warn(`mail is not watched: ${settings}. Set it up with: openclaw webhooks gmail setup --account ${gmail.account.trim()}`);
    return undefined;
  }

  async function apply(): Promise<void> {
    const settings = await wanted();
    const key = JSON.stringify(settings);
    if (running?.key === key) return;
    await running?.watch.stop();
    running = settings && { key, watch: watchGmail(settings, { clock, log, cwd, env: config.env }) };
  }

  return {
    reconsider() {
      order = order.then(apply).catch((error: unknown) => log.error(`mail is not watched: ${messageOf(error)}`));
      return order;
    },
    async [Symbol.asyncDispose]() {
      await order;
      await running?.watch.stop();
    },
  };
}
