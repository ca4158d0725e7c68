import { homedir } from "node:os";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { loadInternalHooks, type FoundHooks, type KnownHook } from "../../../automation/index.ts";
import { AppError } from "../../../base/errors.ts";
import { escapeLine } from "../../../base/printable.ts";
import { lockHolder } from "../../../base/instance-lock.ts";
import { agentWorkspace, defaultAgentId, stateLockPath } from "../../../config/index.ts";
import { recoverInstalls } from "../../../plugins/index.ts";
import type { MethodResult } from "../../../protocol/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { tryGateway } from "../../gateway-call.ts";
import { findTarget } from "../../gateway-target.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle, type Style } from "../../output/style.ts";
import { formatFacts, formatTable } from "../../output/table.ts";

type RunningHook = MethodResult<"hooks.status">["hooks"][number];
const PATIENCE_MS = 2000;

export interface Hooks extends FoundHooks {
  /** `hooks.internal.enabled`. */
  readonly isEnabled: boolean;
  readonly workspaceDir: string;
  readonly managedHooksDir: string;
  readonly stateDir: string;
  /** Why a hook is not called; undefined when it is. */
  readonly whyNot: (hook: KnownHook) => string | undefined;
}

/** Every hook, as the gateway would find it at its next start. */
export async function loadHooksFor(io: Io): Promise<Hooks> {
  const { snapshot, paths, env } = loadFor(io);
  const config = snapshot.config;
  for (const done of recoverInstalls({ stateDir: paths.state, config: () => snapshot.resolved, now: io.now(), what: "hooks" })) io.err(`${done}\n`);
  const { findHooks, managedFolder, whyNot } = await loadInternalHooks();
  const workspaceDir = agentWorkspace(config, { env, exists: existsSync, osHome: homedir(), cwd: paths.home }, defaultAgentId(config));
  const { platform } = process;
  const found = await findHooks({ config, env, platform, workspaceDir, stateDir: paths.state, home: paths.home, configDir: dirname(snapshot.path) });
  return {
    ...found,
    isEnabled: config.hooks?.internal?.enabled === true,
    workspaceDir,
    managedHooksDir: managedFolder(paths.state),
    stateDir: paths.state,
    whyNot,
  };
}

/** A hook by its name. */
export function namedHook({ hooks }: FoundHooks, name: string | undefined): KnownHook {
  if (name === undefined) throw new AppError("INVALID_INPUT", "expected a hook name; list them with: openclaw hooks list");
  const found = hooks.find((hook) => hook.name === name) ?? hooks.find((hook) => hook.key === name);
  if (found) return found;
  throw new AppError("NOT_FOUND", `hook ${JSON.stringify(name)} not found; list them with: openclaw hooks list`);
}

/** How a hook that can be used stands, for machines. */
const loadRecord = (hook: KnownHook, loading: Loading) => (hook.eligible ? { load: loading.of(hook).state, error: loading.of(hook).error } : {});

const recordOf = ({ name, description, emoji, eligible, disabled, source, events, homepage, missing }: KnownHook) => ({
  name,
  description,
  emoji,
  eligible,
  disabled,
  source,
  events,
  homepage,
  missing,
  managedByPlugin: false,
});

function statusOf(hook: KnownHook, isEnabled: boolean, loading: Loading, style: Style): string {
  if (hook.disabled) return style.dim("off");
  if (!hook.eligible) return style.yellow("not ready");
  if (!isEnabled) return "ready";
  const { state } = loading.of(hook);
  return state === "loaded" ? style.green("on") : state === "failed" ? style.red("error") : state;
}

/** Hooks as the gateway of this state folder loaded them; undefined when none runs. */
async function runningHooks(io: Io, stateDir: string): Promise<readonly RunningHook[] | undefined> {
  if (lockHolder(stateLockPath(stateDir)) === undefined) return undefined;
  const target = await findTarget(io, {});
  if (target.kind !== "local") return undefined;
  return (await tryGateway(io, target, PATIENCE_MS, (client) => client.request("hooks.status", {}))).value?.hooks;
}

/** How a hook that can be used stands in the gateway. */
type Loaded = "loaded" | "failed" | "not loaded" | "not checked";

interface Loading {
  of(hook: KnownHook): { readonly state: Loaded; readonly error?: string | undefined };
  /** Handlers of the older way that could not be loaded. */
  readonly handlers: readonly RunningHook[];
}

async function loadingOf(io: Io, { isEnabled, stateDir }: Hooks): Promise<Loading> {
  const running = isEnabled ? await runningHooks(io, stateDir) : undefined;
  return {
    of({ name, files }) {
      if (!running) return { state: files ? "not checked" : "loaded" };
      const same = running.find((one) => one.name === name && one.file === files?.handlerPath);
      return same ? { state: same.error === undefined ? "loaded" : "failed", error: same.error } : { state: "not loaded" };
    },
    handlers: (running ?? []).filter(({ name, error }) => error !== undefined && name.startsWith("hooks.internal.handlers[")),
  };
}

const OFF = "Hooks are off. Enable one with: openclaw hooks enable <name>";

export const list = defineCommand({
  options: {
    eligible: { type: "boolean", help: "Only ready ones" },
    verbose: { type: "boolean", short: "v", help: "Show requirements and locations" },
    json: JSON_OPTION,
  },
  examples: [
    { line: "openclaw hooks list", does: "All hooks" },
    { line: "openclaw hooks list --eligible --json", does: "Ready ones, as JSON" },
  ],
  async run({ io, values }) {
    const found = await loadHooksFor(io);
    const hooks = values.eligible ? found.hooks.filter(({ eligible }) => eligible) : found.hooks;
    const { workspaceDir, managedHooksDir } = found;
    const loading = await loadingOf(io, found);
    if (values.json) return printJson(io, { workspaceDir, managedHooksDir, hooks: hooks.map((hook) => ({ ...recordOf(hook), ...loadRecord(hook, loading) })) });
    const style = createStyle(io.color);
    const rows = hooks.map((hook) => [
      hook.name,
      statusOf(hook, found.isEnabled, loading, style),
      hook.source,
      hook.events.join(", ") || "-",
      ...(values.verbose ? [found.whyNot(hook) ?? loading.of(hook).error ?? "-", hook.files?.baseDir ?? "bundled"] : [hook.description]),
    ]);
    const last = values.verbose ? ["Needs", "Where"] : ["About"];
    io.out(formatTable(["Name", "Status", "Source", "Events", ...last], rows, { style, columns: io.columns, whole: values.verbose === true }));
    for (const { path, message } of found.problems) io.out(style.yellow(`${escapeLine(`${path}: ${message}`)}\n`));
    if (!found.isEnabled) io.out(io.runnable(`${OFF}\n`));
  },
});

export const info = defineCommand({
  positionals: "<name>",
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw hooks info session-memory", does: "Events, requirements and location" }],
  async run({ io, values, positionals: [name] }) {
    const found = await loadHooksFor(io);
    const hook = namedHook(found, name);
    const { key, files, exportName, requires, os, always, install } = hook;
    const loading = await loadingOf(io, found);
    if (values.json) {
      printJson(io, {
        ...recordOf(hook),
        ...loadRecord(hook, loading),
        hookKey: key,
        ...files,
        export: exportName,
        always,
        requirements: { ...requires, os },
        install,
      });
      return;
    }
    const style = createStyle(io.color);
    const needs = [
      ...requires.bins,
      ...(requires.anyBins.length === 0 ? [] : [`one of ${requires.anyBins.join(", ")}`]),
      ...requires.env.map((variable) => `$${variable}`),
      ...requires.config,
      ...os,
    ];
    const facts: (readonly [string, string | undefined])[] = [
      ["hook", style.bold(`${hook.emoji === undefined ? "" : `${hook.emoji} `}${escapeLine(hook.name)}`)],
      ["status", statusOf(hook, found.isEnabled, loading, style)],
      ["why", found.whyNot(hook) ?? loading.of(hook).error],
      ["about", hook.description || undefined],
      ["events", hook.events.join(", ")],
      ["needs", needs.join(", ") || undefined],
      ["source", hook.source],
      ["handler", files?.handlerPath ?? (files ? undefined : "bundled")],
      ["settings", `hooks.internal.entries.${key}`],
      ["homepage", hook.homepage],
    ];
    io.out(
      formatFacts(
        facts.flatMap(([label, value]) => (value === undefined ? [] : [[label, label === "hook" || label === "status" ? value : escapeLine(value)] as const])),
        style,
      ),
    );
  },
});

export const check = defineCommand({
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw hooks check", does: "Missing requirements of each hook" }],
  async run({ io, values }) {
    const found = await loadHooksFor(io);
    const loading = await loadingOf(io, found);
    const failed = found.hooks.filter((hook) => hook.eligible && loading.of(hook).state === "failed");
    const eligible = found.hooks.filter((hook) => hook.eligible && !failed.includes(hook));
    const others = found.hooks.filter((hook) => !hook.eligible);
    const handlers = loading.handlers.map(({ name, file, error = "" }) => ({ path: `${name} (${file ?? ""})`, message: error }));
    const broken = failed.map((hook) => ({ path: hook.files?.handlerPath ?? hook.name, message: `the hook ${hook.name}: ${loading.of(hook).error ?? ""}` }));
    const problems = [...found.problems, ...broken, ...handlers];
    const untried = eligible.filter((hook) => found.isEnabled && loading.of(hook).state === "not checked");
    if (values.json) {
      printJson(io, {
        enabled: found.isEnabled,
        total: found.hooks.length,
        eligible: eligible.length,
        notEligible: others.length,
        failed: failed.length,
        hooks: {
          eligible: eligible.map(({ name }) => name),
          notEligible: others.map((hook) => ({ name: hook.name, disabled: hook.disabled, missing: hook.missing, why: found.whyNot(hook) })),
          failed: failed.map((hook) => ({ name: hook.name, error: loading.of(hook).error })),
          notChecked: untried.map(({ name }) => name),
        },
        problems,
      });
      return problems.length > 0 ? 1 : 0;
    }
    const style = createStyle(io.color);
    io.out(`${eligible.length} of ${found.hooks.length} hooks are ready${found.isEnabled ? "" : "; hooks are off (hooks.internal.enabled)"}\n`);
    for (const hook of others)
      io.out(`${hook.disabled ? style.dim("off") : style.yellow("not ready")} ${escapeLine(`${hook.name}: ${found.whyNot(hook) ?? ""}`)}\n`);
    for (const { path, message } of problems) io.out(`${style.red("problem")} ${escapeLine(`${path}: ${message}`)}\n`);
    if (untried.length > 0) io.out(style.dim(`${escapeLine(untried.map(({ name }) => name).join(", "))}: not checked, because no gateway is running\n`));
    return problems.length > 0 ? 1 : 0;
  },
});
