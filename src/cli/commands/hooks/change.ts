import { loadInternalHooks } from "../../../automation/index.ts";
import { AppError } from "../../../base/errors.ts";
import { escapeLine } from "../../../base/printable.ts";
import { loadInstall } from "../../../plugins/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { describeEdit, editConfig, type EditResult } from "../../config-edit.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { gatewayEffect, describeFinding, describeUpdate, createInstallDeps } from "../plugins/install.ts";
import { installHooks } from "../plugins/trial.ts";
import { loadHooksFor, namedHook } from "./show.ts";

const FULL_AUTHORITY = "A hook runs inside the gateway with full access: it can read and do everything the gateway can. Install only hooks you trust.";

/** When a change takes effect, as text. The gateway loads code once: replaced files need a restart. */
const effectOf = (edit: EditResult | undefined, isReplaced: boolean): string =>
  isReplaced && edit?.gatewayRunning ? "the gateway still runs the old code; load the new code with: openclaw gateway restart" : gatewayEffect(edit);

/** The other hooks that turning on the first one turns on as well. */
async function othersOn(io: Io, name: string): Promise<readonly string[]> {
  const { hooks } = await loadHooksFor(io);
  return hooks.filter((hook) => hook.eligible && hook.name !== name).map((hook) => hook.name);
}

export const enable = defineCommand({
  positionals: "<name>",
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw hooks enable command-logger", does: "Set hooks.internal.enabled and hooks.internal.entries.command-logger.enabled" }],
  async run({ io, values, positionals: [name] }) {
    const found = await loadHooksFor(io);
    const hook = namedHook(found, name);
    const why = hook.disabled ? undefined : found.whyNot(hook);
    if (why !== undefined)
      throw new AppError("INVALID_INPUT", `the hook ${hook.name} cannot be used here: ${why}. See what it needs with: openclaw hooks info ${hook.name}`);
    const value = { hooks: { internal: { enabled: true, entries: { [hook.key]: { enabled: true } } } } };
    const result = await editConfig(io, { kind: "patch", value }, "cli hooks enable");
    const others = found.isEnabled ? [] : await othersOn(io, hook.name);
    if (values.json) return printJson(io, { ok: true, name: hook.name, enabled: true, alsoEnabled: others, ...result });
    io.out(io.runnable(describeEdit(`Enabled hook ${hook.name}`, result)));
    if (others.length > 0) io.out(io.runnable(`This also turned on these hooks: ${others.join(", ")}. Disable one with: openclaw hooks disable <name>\n`));
  },
});

export const disable = defineCommand({
  positionals: "<name>",
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw hooks disable command-logger", does: "Keep the settings, but don't load the code" }],
  async run({ io, values, positionals: [name] }) {
    const hook = namedHook(await loadHooksFor(io), name);
    const value = { hooks: { internal: { entries: { [hook.key]: { enabled: false } } } } };
    const result = await editConfig(io, { kind: "patch", value }, "cli hooks disable");
    if (values.json) return printJson(io, { ok: true, name: hook.name, enabled: false, ...result });
    io.out(io.runnable(describeEdit(`Disabled hook ${hook.name}`, result)));
  },
});

export const install = defineCommand({
  positionals: "<path | archive | npm-package>",
  options: {
    link: { type: "boolean", short: "l", help: "Use the folder in place instead of copying it" },
    pin: { type: "boolean", help: "Pin the exact version" },
    force: { type: "boolean", help: "Replace an installed version" },
    "dry-run": { type: "boolean", help: "Show what would happen without changing anything" },
    json: JSON_OPTION,
  },
  examples: [{ line: "openclaw hooks install ./greeter --dry-run", does: "Review what would be installed" }],
  async run({ io, values, positionals: [spec] }) {
    if (spec === undefined) throw new AppError("INVALID_INPUT", "expected a folder, an archive or an npm package");
    const { installHookPack } = await loadInstall();
    const own = (await loadInternalHooks()).BUNDLED_HOOKS.map(({ name }) => name);
    const { deps, edited } = createInstallDeps(io, "cli hooks install", { quiet: values.json, hooks: await installHooks(io) });
    const result = await installHookPack({ spec, link: values.link, pin: values.pin, force: values.force, dryRun: values["dry-run"] }, deps);
    if (values.json) return printJson(io, { ok: true, ...result, warning: FULL_AUTHORITY, gateway: effectOf(edited(), result.replaced) });
    const style = createStyle(io.color);
    const { id, hooks, version, record, scan, dryRun, replaced } = result;
    for (const finding of scan.findings) io.out(describeFinding(finding, style.yellow));
    const what = escapeLine(`${id}${version === undefined ? "" : ` ${version}`} (${hooks.join(", ")})`);
    const done = values.link ? "linked" : replaced ? "replaced" : "installed";
    const after = effectOf(edited(), replaced);
    if (dryRun) io.out(`Would be ${done}: ${what} in ${record.installPath}. No changes made\n`);
    else io.out(io.runnable(`${done} ${what} in ${record.installPath}${after === "" ? "" : `; ${after}`}\n`));
    const bundled = hooks.filter((name) => own.includes(name));
    if (bundled.length > 0)
      io.out(style.yellow(`${escapeLine(bundled.join(", "))}: ${dryRun ? "would replace" : "replaces"} the bundled hook with the same name\n`));
    io.out(`${FULL_AUTHORITY}\n`);
  },
});

export const update = defineCommand({
  positionals: "[id]",
  options: {
    all: { type: "boolean", help: "Update everything installed from npm" },
    "dry-run": { type: "boolean", help: "Show what would be done" },
    yes: { type: "boolean", short: "y", help: "Accept changed files under the same version without asking" },
    json: JSON_OPTION,
  },
  examples: [{ line: "openclaw hooks update --all --dry-run", does: "List hooks with newer versions" }],
  async run({ io, values, positionals: [id] }) {
    if ((id === undefined) === (values.all !== true)) throw new AppError("INVALID_INPUT", "expected an install id, or --all");
    const { updateHookPacks } = await loadInstall();
    const { deps, edited } = createInstallDeps(io, "cli hooks update", { yes: values.yes, quiet: values.json, hooks: await installHooks(io) });
    const outcomes = await updateHookPacks({ id, dryRun: values["dry-run"] }, deps);
    const failed = outcomes.some(({ status }) => status === "failed");
    const after = effectOf(
      edited(),
      outcomes.some(({ status }) => status === "updated"),
    );
    if (values.json) printJson(io, { ok: !failed, outcomes, gateway: after });
    else {
      if (outcomes.length === 0) io.out(io.runnable("No hooks were installed with openclaw hooks install\n"));
      for (const outcome of outcomes) io.out(`${describeUpdate(outcome)}\n`);
      if (after !== "") io.out(io.runnable(`${after}\n`));
    }
    return failed ? 1 : 0;
  },
});
