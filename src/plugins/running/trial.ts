import { readFileSync } from "node:fs";
import { AppError, messageOf } from "../../base/errors.ts";
import { run } from "../../base/spawn.ts";
import { BLOCKED_MARK } from "../../base/watchdog/watch-loading.ts";
import type { Env } from "../../config/index.ts";
import type { InstallDeps } from "../install/deps.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { PluginDiagnostic, PluginEntry } from "../record.ts";
import type { PluginStatus } from "../host/status.ts";
import { openCommandHost, type CommandHostOptions } from "./command-host.ts";

/** Whether a plugin's code could be loaded. */
export interface TriedPlugin {
  readonly id: string;
  readonly source: string;
  readonly status: PluginStatus["status"];
  readonly error?: string | undefined;
}

export interface PluginTrial {
  readonly plugins: readonly TriedPlugin[];
  readonly diagnostics: readonly PluginDiagnostic[];
}

/** How to run this program once more. */
export interface TrialProgram {
  /** Arguments of the Node executable up to the command. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Env;
}

type InstallHooks = NonNullable<InstallDeps["hooks"]>;
type InstallOutcome = Awaited<ReturnType<InstallHooks["run"]>>;

/** A question for `before_install` handlers. */
interface InstallQuestion {
  readonly event: Parameters<InstallHooks["run"]>[1];
  readonly context: Parameters<InstallHooks["run"]>[2];
}

/** One process for all plugins; a plugin that blocks it ends it after ten seconds. */
const TRIAL_MS = 120_000;
/** One process for one plugin, with the time it takes to start. */
const ALONE_MS = 30_000;
const MOST_OUTPUT = 16 * 1024 * 1024;
/** Begins the lines that the child says: plugins may print what they like. */
const TRIAL_MARK = "plugins-trial:";
const ANSWER_MARK = "plugins-answer:";

const triable = ({ entries }: Pick<Inventory, "entries">): PluginEntry[] => entries.filter(({ enabled, error }) => enabled && error === undefined);

/** What the child does besides loading. */
export interface HereOptions extends Omit<CommandHostOptions, "sink"> {
  readonly print: (text: string) => void;
  /** Asked once the plugins are loaded. */
  readonly question?: InstallQuestion | undefined;
}

/** Loads the plugins that are on, as a gateway would, in this process, and prints for the parent what came of it. Their services are not started. */
export async function loadHere({ print, question, ...options }: HereOptions): Promise<PluginTrial> {
  const { inventory } = options;
  const sink = { write: () => {}, flush: async () => {} };
  await using host = await openCommandHost({ ...options, inventory: { ...inventory, entries: triable(inventory), diagnostics: [] }, sink });
  const plugins = host.list().map(({ id, source, status, error }) => ({ id, source, status, ...(error === undefined ? {} : { error }) }));
  // What failed has its reason already.
  const failed = new Set(plugins.flatMap(({ id, status }) => (status === "error" ? [id] : [])));
  const diagnostics = host.diagnostics().filter(({ pluginId }) => pluginId === undefined || !failed.has(pluginId));
  const trial = { plugins, diagnostics };
  print(`\n${TRIAL_MARK}${JSON.stringify(trial)}\n`);
  if (question) {
    // Time limits of handlers do not keep a process alive.
    const alive = setInterval(() => {}, 1000);
    try {
      const outcome = host.hooks.has("before_install") ? await host.hooks.run("before_install", question.event, question.context) : undefined;
      print(`\n${ANSWER_MARK}${JSON.stringify(outcome ?? {})}\n`);
    } finally {
      clearInterval(alive);
    }
  }
  return trial;
}

/** What a parent asks its child with `--ask`. */
export function readQuestion(): InstallQuestion {
  const question: InstallQuestion = JSON.parse(readFileSync(0, "utf8"));
  return question;
}

/** What one child said. */
interface Child {
  readonly trial?: PluginTrial;
  readonly answer?: NonNullable<InstallOutcome>;
  /** Why there is no trial, or no answer. */
  readonly ended: string;
  /** The plugin that the child named when it was blocked. */
  readonly culprit?: string;
}

async function runChild(
  program: TrialProgram,
  entries: readonly Pick<PluginEntry, "id">[],
  timeoutMs: number,
  { question, staged }: { readonly question?: InstallQuestion | undefined; readonly staged?: string } = {},
): Promise<Child> {
  const { cwd, env } = program;
  const args = [
    ...program.args,
    "plugins",
    "doctor",
    "--here",
    ...(question ? ["--ask"] : []),
    ...(staged === undefined ? [] : ["--staged", staged]),
    ...new Set(entries.map(({ id }) => id)),
  ];
  const input = question ? { input: JSON.stringify(question) } : {};
  try {
    const { code, stdout, stderr } = await run(process.execPath, { args, cwd, env, timeoutMs, maxOutputBytes: MOST_OUTPUT, ...input });
    const marked = (mark: string): string | undefined =>
      stdout
        .split("\n")
        .findLast((text) => text.startsWith(mark))
        ?.slice(mark.length);
    const [tried, answered] = [marked(TRIAL_MARK), marked(ANSWER_MARK)];
    const trial: PluginTrial | undefined = tried === undefined ? undefined : JSON.parse(tried);
    const answer: NonNullable<InstallOutcome> | undefined = answered === undefined ? undefined : JSON.parse(answered);
    const blocked = stderr
      .split("\n")
      .findLast((text) => text.startsWith(BLOCKED_MARK))
      ?.slice(BLOCKED_MARK.length);
    const last = stderr.trim().split("\n").at(-1) ?? "";
    const culprit = blocked === undefined ? undefined : entries.find(({ id }) => blocked.startsWith(`the plugin ${id} has `))?.id;
    return {
      ended: blocked?.replace(/; run: .*$/, "") ?? `the process that loaded it exited with ${code ?? "a signal"}${last === "" ? "" : `: ${last}`}`,
      ...(trial === undefined ? {} : { trial }),
      ...(answer === undefined ? {} : { answer }),
      ...(culprit === undefined ? {} : { culprit }),
    };
  } catch (error) {
    return { ended: error instanceof AppError && error.code === "TIMEOUT" ? `it was not loaded within ${timeoutMs / 1000} s` : messageOf(error) };
  }
}

const failedOne = ({ id, source }: PluginEntry, error: string): TriedPlugin => ({ id, source, status: "error", error: `load: ${error}` });

/**
 * Runs children until one comes to its end: a plugin that takes its process down is left out of the next one. Where a child does not say which it was, each
 * is tried by itself.
 */
async function runUntilLoaded(
  program: TrialProgram,
  tried: readonly PluginEntry[],
  question?: InstallQuestion,
): Promise<{ readonly child?: Child; readonly trial: PluginTrial }> {
  const failed: TriedPlugin[] = [];
  let rest = tried;
  while (rest.length > 0) {
    const child = await runChild(program, rest, rest.length === 1 ? ALONE_MS : TRIAL_MS, { question });
    if (child.trial) return { child, trial: { plugins: [...child.trial.plugins, ...failed], diagnostics: child.trial.diagnostics } };
    const suspects = child.culprit === undefined ? rest : rest.filter(({ id }) => id === child.culprit);
    const alone = suspects.length === 1 ? [] : await unloadable(program, suspects);
    // One was named; or they fail together and not alone, and nothing more is known about any of them.
    const bad = alone.length > 0 ? alone : suspects.map((entry) => failedOne(entry, child.ended));
    failed.push(...bad);
    rest = rest.filter(({ id, source }) => !bad.some((one) => one.id === id && one.source === source));
  }
  return { trial: { plugins: failed, diagnostics: [] } };
}

/** Those that take down a process in which nothing else is loaded. */
async function unloadable(program: TrialProgram, entries: readonly PluginEntry[]): Promise<TriedPlugin[]> {
  const found: TriedPlugin[] = [];
  for (const entry of entries) {
    const { trial, ended } = await runChild(program, [entry], ALONE_MS);
    if (!trial) found.push(failedOne(entry, ended));
  }
  return found;
}

/** Loads them in a child process: code that ends, blocks or litters its process does so there, and says nothing about the other plugins. */
export async function tryLoading(program: TrialProgram, inventory: Pick<Inventory, "entries">): Promise<PluginTrial> {
  return (await runUntilLoaded(program, triable(inventory))).trial;
}

/** Loads a plugin that is not installed yet, from its folder. Gives why it cannot be loaded; settings that are missing are no reason. */
export async function tryStaged(program: TrialProgram, folder: string, ids: readonly string[]): Promise<string | undefined> {
  const entries = ids.map((id) => ({ id }));
  const { trial, ended } = await runChild(program, entries, ALONE_MS, { staged: folder });
  if (!trial) return ended;
  return trial.plugins.find(({ id, status }) => ids.includes(id) && status === "error")?.error;
}

/**
 * Hooks that ask the `before_install` handlers of plugins that are on, in a child process. Undefined when no plugins are on but those that come with the
 * program: these ask nothing. One that cannot be loaded is named and not asked, as in the gateway; a process that ends while it is asked refuses.
 */
export function installHooks(program: TrialProgram, inventory: Pick<Inventory, "entries">, onStep: (message: string) => void): InstallHooks | undefined {
  const asked = triable(inventory).filter(({ origin }) => origin !== "bundled");
  if (asked.length === 0) return undefined;
  const ask = async (question: InstallQuestion): Promise<InstallOutcome> => {
    const { child, trial } = await runUntilLoaded(program, asked, question);
    for (const { id, status, error } of trial.plugins)
      if (status === "error") onStep(`the plugin ${id} was not checked, because it cannot be loaded: ${error}`);
    if (!child) return undefined;
    return child.answer ?? { block: true, blockReason: `a plugin did not respond: ${child.ended}` };
  };
  return {
    has: (name) => name === "before_install",
    run: (_name, event, context) => ask({ event, context }),
  };
}

export interface UnloadablePlugin extends TriedPlugin {
  /** Whether settings have to be made first, its settings keep it out, or its code failed. */
  readonly because: "missing settings" | "settings" | "code";
}

/** Those of the plugins that are on and cannot be loaded, with why. */
export async function unloadablePlugins(program: TrialProgram, inventory: Inventory, ids: readonly string[]): Promise<readonly UnloadablePlugin[]> {
  const entries = inventory.entries.filter(({ id, enabled }) => ids.includes(id) && enabled);
  const kept = entries.filter(({ error }) => error !== undefined);
  const { plugins } = await tryLoading(program, { ...inventory, entries });
  return [
    ...kept.map(({ id, source, error, missingSettings }): UnloadablePlugin => {
      return { id, source, status: "error", error, because: missingSettings ? "missing settings" : "settings" };
    }),
    ...plugins.filter(({ status }) => status === "error").map((plugin): UnloadablePlugin => ({ ...plugin, because: "code" })),
  ];
}
