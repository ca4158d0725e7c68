import { homedir } from "node:os";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { loadInternalHooks, type FoundHooks, type KnownHook } from "../../../automation/index.ts";
import { AppError } from "../../../base/errors.ts";
import { escapeLine } from "../../../base/printable.ts";
import { agentWorkspace, defaultAgentId } from "../../../config/index.ts";
import { recoverInstalls } from "../../../plugins/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle, type Style } from "../../output/style.ts";
import { formatFacts, formatTable } from "../../output/table.ts";

export interface Hooks extends FoundHooks {
  /** `hooks.internal.enabled`. */
  readonly isEnabled: boolean;
  readonly workspaceDir: string;
  readonly managedHooksDir: string;
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
  return { ...found, isEnabled: config.hooks?.internal?.enabled === true, workspaceDir, managedHooksDir: managedFolder(paths.state), whyNot };
}

/** A hook by its name. */
export function namedHook({ hooks }: FoundHooks, name: string | undefined): KnownHook {
  if (name === undefined) throw new AppError("INVALID_INPUT", "expected the name of a hook; openclaw hooks list shows them");
  const found = hooks.find((hook) => hook.name === name) ?? hooks.find((hook) => hook.key === name);
  if (found) return found;
  throw new AppError("NOT_FOUND", `there is no hook ${JSON.stringify(name)}; openclaw hooks list shows them`);
}

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

function statusOf(hook: KnownHook, isEnabled: boolean, style: Style): string {
  if (hook.disabled) return style.dim("off");
  if (!hook.eligible) return style.yellow("not ready");
  return isEnabled ? style.green("on") : "ready";
}

const OFF = "Hooks are off. Turn one on to use them: openclaw hooks enable <name>";

export const list = defineCommand({
  options: {
    eligible: { type: "boolean", help: "only those that can be used" },
    verbose: { type: "boolean", short: "v", help: "what the others need, and where each is" },
    json: JSON_OPTION,
  },
  examples: [
    { line: "openclaw hooks list", does: "all hooks" },
    { line: "openclaw hooks list --eligible --json", does: "those that can be used, for machines" },
  ],
  async run({ io, values }) {
    const found = await loadHooksFor(io);
    const hooks = values.eligible ? found.hooks.filter(({ eligible }) => eligible) : found.hooks;
    const { workspaceDir, managedHooksDir } = found;
    if (values.json) return printJson(io, { workspaceDir, managedHooksDir, hooks: hooks.map(recordOf) });
    const style = createStyle(io.color);
    const rows = hooks.map((hook) => [
      hook.name,
      statusOf(hook, found.isEnabled, style),
      hook.source,
      hook.events.join(", ") || "-",
      ...(values.verbose ? [found.whyNot(hook) ?? "-", hook.files?.baseDir ?? "part of this program"] : [hook.description]),
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
  examples: [{ line: "openclaw hooks info session-memory", does: "when it is called, what it needs, where it is" }],
  async run({ io, values, positionals: [name] }) {
    const found = await loadHooksFor(io);
    const hook = namedHook(found, name);
    const { key, files, exportName, requires, os, always, install } = hook;
    if (values.json) {
      printJson(io, { ...recordOf(hook), hookKey: key, ...files, export: exportName, always, requirements: { ...requires, os }, install });
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
      ["status", statusOf(hook, found.isEnabled, style)],
      ["why", found.whyNot(hook)],
      ["about", hook.description || undefined],
      ["events", hook.events.join(", ")],
      ["needs", needs.join(", ") || undefined],
      ["source", hook.source],
      ["handler", files?.handlerPath ?? (files ? undefined : "part of this program")],
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
  examples: [{ line: "openclaw hooks check", does: "what is missing for which hook" }],
  async run({ io, values }) {
    const found = await loadHooksFor(io);
    const eligible = found.hooks.filter((hook) => hook.eligible);
    const others = found.hooks.filter((hook) => !hook.eligible);
    if (values.json) {
      printJson(io, {
        enabled: found.isEnabled,
        total: found.hooks.length,
        eligible: eligible.length,
        notEligible: others.length,
        hooks: {
          eligible: eligible.map(({ name }) => name),
          notEligible: others.map((hook) => ({ name: hook.name, disabled: hook.disabled, missing: hook.missing, why: found.whyNot(hook) })),
        },
        problems: found.problems,
      });
      return found.problems.length > 0 ? 1 : 0;
    }
    const style = createStyle(io.color);
    io.out(`${eligible.length} of ${found.hooks.length} hooks can be used${found.isEnabled ? "" : "; hooks are off (hooks.internal.enabled)"}\n`);
    for (const hook of others)
      io.out(`${hook.disabled ? style.dim("off") : style.yellow("not ready")} ${escapeLine(`${hook.name}: ${found.whyNot(hook) ?? ""}`)}\n`);
    for (const { path, message } of found.problems) io.out(`${style.red("problem")} ${escapeLine(`${path}: ${message}`)}\n`);
    return found.problems.length > 0 ? 1 : 0;
  },
});
