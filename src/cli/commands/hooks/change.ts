import { loadInternalHooks } from "../../../automation/index.ts";
import { AppError } from "../../../base/errors.ts";
import { escapeLine } from "../../../base/printable.ts";
import { loadInstall } from "../../../plugins/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { describeEdit, editConfig, type EditResult } from "../../config-edit.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { afterwards, describeFinding, describeUpdate, installing } from "../plugins/install.ts";
import { installHooks } from "../plugins/trial.ts";
import { loadHooksFor, namedHook } from "./show.ts";

const FULL_AUTHORITY =
  "A hook runs inside of the gateway with the gateway's full authority: it can read and do whatever the gateway can. Install only what you trust.";

/** From when a change counts. The gateway loads code once: only another start takes other files. */
const counts = (edit: EditResult | undefined, isReplaced: boolean): string =>
  isReplaced && edit?.gatewayRunning ? "the gateway still runs the old code; to load the new: openclaw gateway restart" : afterwards(edit);

/** Turning on the first hook turns on all that can be used: they are named. */
async function othersOn(io: Io, name: string): Promise<readonly string[]> {
  const { hooks } = await loadHooksFor(io);
  return hooks.filter((hook) => hook.eligible && hook.name !== name).map((hook) => hook.name);
}

export const enable = defineCommand({
  positionals: "<name>",
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw hooks enable command-logger", does: "sets hooks.internal.enabled and hooks.internal.entries.command-logger.enabled" }],
  async run({ io, values, positionals: [name] }) {
    const found = await loadHooksFor(io);
    const hook = namedHook(found, name);
    const why = hook.disabled ? undefined : found.whyNot(hook);
    if (why !== undefined)
      throw new AppError("INVALID_INPUT", `the hook ${hook.name} cannot be used here: ${why}; openclaw hooks info ${hook.name} shows what it needs`);
    const value = { hooks: { internal: { enabled: true, entries: { [hook.key]: { enabled: true } } } } };
    const result = await editConfig(io, { kind: "patch", value }, "cli hooks enable");
    const others = found.isEnabled ? [] : await othersOn(io, hook.name);
    if (values.json) return printJson(io, { ok: true, name: hook.name, enabled: true, alsoEnabled: others, ...result });
    io.out(io.runnable(describeEdit(`enabled the hook ${hook.name}`, result)));
    if (others.length > 0) io.out(io.runnable(`Hooks are on now, and with them: ${others.join(", ")}. Turn one off with: openclaw hooks disable <name>\n`));
  },
});

export const disable = defineCommand({
  positionals: "<name>",
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw hooks disable command-logger", does: "its settings stay, its code is not loaded" }],
  async run({ io, values, positionals: [name] }) {
    const hook = namedHook(await loadHooksFor(io), name);
    const value = { hooks: { internal: { entries: { [hook.key]: { enabled: false } } } } };
    const result = await editConfig(io, { kind: "patch", value }, "cli hooks disable");
    if (values.json) return printJson(io, { ok: true, name: hook.name, enabled: false, ...result });
    io.out(io.runnable(describeEdit(`disabled the hook ${hook.name}`, result)));
  },
});

export const install = defineCommand({
  positionals: "<path | archive | npm-package>",
  options: {
    link: { type: "boolean", short: "l", help: "use the folder where it is, instead of a copy" },
    pin: { type: "boolean", help: "stay with the exact version at updates" },
    force: { type: "boolean", help: "replace what is installed" },
    "dry-run": { type: "boolean", help: "look at everything, change nothing" },
    json: JSON_OPTION,
  },
  examples: [{ line: "openclaw hooks install ./greeter --dry-run", does: "what would be installed, and what stands out in it" }],
  async run({ io, values, positionals: [spec] }) {
    if (spec === undefined) throw new AppError("INVALID_INPUT", "expected a folder, an archive or an npm package");
    const { installHookPack } = await loadInstall();
    const own = (await loadInternalHooks()).BUNDLED_HOOKS.map(({ name }) => name);
    const { deps, edited } = installing(io, "cli hooks install", { quiet: values.json, hooks: await installHooks(io) });
    const result = await installHookPack({ spec, link: values.link, pin: values.pin, force: values.force, dryRun: values["dry-run"] }, deps);
    if (values.json) return printJson(io, { ok: true, ...result, warning: FULL_AUTHORITY, gateway: counts(edited(), result.replaced) });
    const style = createStyle(io.color);
    const { id, hooks, version, record, scan, dryRun, replaced } = result;
    for (const finding of scan.findings) io.out(describeFinding(finding, style.yellow));
    const what = escapeLine(`${id}${version === undefined ? "" : ` ${version}`} (${hooks.join(", ")})`);
    const done = values.link ? "linked" : replaced ? "replaced" : "installed";
    const after = counts(edited(), replaced);
    if (dryRun) io.out(`would be ${done}: ${what} in ${record.installPath}; nothing was changed\n`);
    else io.out(io.runnable(`${done} ${what} in ${record.installPath}${after === "" ? "" : `; ${after}`}\n`));
    const bundled = hooks.filter((name) => own.includes(name));
    if (bundled.length > 0)
      io.out(style.yellow(`${escapeLine(bundled.join(", "))}: ${dryRun ? "would take" : "takes"} the place of the hook of this program with the same name\n`));
    io.out(`${FULL_AUTHORITY}\n`);
  },
});

export const update = defineCommand({
  positionals: "[id]",
  options: {
    all: { type: "boolean", help: "all that came from the npm registry" },
    "dry-run": { type: "boolean", help: "say what would be done" },
    yes: { type: "boolean", short: "y", help: "take other files under the same version without asking" },
    json: JSON_OPTION,
  },
  examples: [{ line: "openclaw hooks update --all --dry-run", does: "which hooks have newer versions" }],
  async run({ io, values, positionals: [id] }) {
    if ((id === undefined) === (values.all !== true)) throw new AppError("INVALID_INPUT", "expected the id of an install, or --all");
    const { updateHookPacks } = await loadInstall();
    const { deps, edited } = installing(io, "cli hooks update", { yes: values.yes, quiet: values.json, hooks: await installHooks(io) });
    const outcomes = await updateHookPacks({ id, dryRun: values["dry-run"] }, deps);
    const failed = outcomes.some(({ status }) => status === "failed");
    const after = counts(
      edited(),
      outcomes.some(({ status }) => status === "updated"),
    );
    if (values.json) printJson(io, { ok: !failed, outcomes, gateway: after });
    else {
      if (outcomes.length === 0) io.out(io.runnable("no hook was installed with openclaw hooks install\n"));
      for (const outcome of outcomes) io.out(`${describeUpdate(outcome)}\n`);
      if (after !== "") io.out(io.runnable(`${after}\n`));
    }
    return failed ? 1 : 0;
  },
});
