import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { AppError } from "../../../base/errors.ts";
import {
  formatLocated,
  hasPath,
  isSensitivePath,
  loadInEffect,
  parsePath,
  redactConfig,
  valueAt,
  type OpenClawConfig,
  parseValueText,
  changesBetween,
  loadLastGood,
  planReload,
} from "../../../config/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor, requireValid } from "../../config-source.ts";
import { printJson, type Io } from "../../io.ts";
import { sectionsIn } from "../../plugin-sections.ts";
import { describeEdit, editConfig } from "../../config-edit.ts";
import { clip } from "../../../base/text.ts";
import { createStyle } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";

async function inEffect(io: Io, config: OpenClawConfig): Promise<OpenClawConfig> {
  const { configInEffect } = await loadInEffect();
  return configInEffect(config, { env: io.env, exists: existsSync, osHome: homedir(), cwd: io.cwd });
}

export const get = defineCommand({
  positionals: "[path]",
  options: { json: JSON_OPTION, reveal: { type: "boolean", help: "Show secrets unmasked" } },
  examples: [
    { line: "openclaw config get gateway.port", does: "One value, with its default" },
    { line: "openclaw config get agents.defaults --json", does: "A whole section as JSON" },
  ],
  async run({ io, values, positionals }) {
    const loaded = loadFor(io);
    const { snapshot } = loaded;
    requireValid(snapshot, formatLocated);
    const path = positionals[0] === undefined ? [] : parsePath(positionals[0]);
    // Without a path: what is set.
    const config = path.length === 0 ? snapshot.config : await inEffect(io, snapshot.config);
    if (!hasPath(config, path))
      throw new AppError("NOT_FOUND", `Config path not found: ${positionals[0]}; it has no value and no default. List every key with: openclaw config schema`);
    const sections = values.reveal ? {} : await sectionsIn(io, loaded, [snapshot.config]);
    const shown = valueAt(values.reveal ? config : redactConfig(config, sections), path);
    if (typeof shown === "string" && !values.json) io.out(`${shown}\n`);
    else printJson(io, shown);
    if (!values.reveal && isSensitivePath(path, sections)) io.err("Secret value masked; use --reveal to show it\n");
  },
});

export const set = defineCommand({
  positionals: "<path> <value>",
  options: { json: { ...JSON_OPTION, help: "Require a JSON5 value and print the result as JSON" } },
  examples: [
    { line: "openclaw config set gateway.mode local", does: "A text" },
    { line: "openclaw config set gateway.port 19000", does: "A number" },
    { line: `openclaw config set agents.list '[{ id: "main", default: true }]'`, does: "Set a list or object, as JSON5" },
  ],
  async run({ io, values, positionals }) {
    const [path, text, extra] = positionals;
    if (path === undefined || text === undefined || extra !== undefined) {
      throw new AppError("INVALID_INPUT", `expected a path and a value, got ${positionals.length} words; quote a value with spaces`);
    }
    const result = await editConfig(
      io,
      { kind: "set", path: parsePath(path), value: parseValueText(text, { strict: values.json ?? false }) },
      "cli config set",
    );
    if (values.json) printJson(io, { ok: true, ...result });
    else io.out(io.runnable(describeEdit(`Set ${path}`, result)));
  },
});

export const unset = defineCommand({
  positionals: "<path>",
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw config unset gateway.port", does: "Restore the default" }],
  async run({ io, values, positionals }) {
    const [path, extra] = positionals;
    if (path === undefined || extra !== undefined) throw new AppError("INVALID_INPUT", `expected one path, got ${positionals.length} words`);
    const segments = parsePath(path);
    if (!hasPath(loadFor(io).snapshot.resolved, segments)) throw new AppError("NOT_FOUND", `Config path not found: ${path}; it is not set in the file`);
    const result = await editConfig(io, { kind: "unset", path: segments }, "cli config unset");
    if (values.json) printJson(io, { ok: true, ...result });
    else io.out(io.runnable(describeEdit(`Removed ${path}`, result)));
  },
});

const text = (value: unknown): string => (value === undefined ? "-" : clip(JSON.stringify(value), 60));

export const diff = defineCommand({
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw config diff", does: "Changes since the gateway last read the file, and how it applies them" }],
  async run({ io, values }) {
    const loaded = loadFor(io);
    requireValid(loaded.snapshot, formatLocated);
    const kept = loadLastGood({ env: io.env, cwd: io.cwd, osHome: homedir(), version: io.version }, loaded);
    const before = kept?.snapshot.config ?? {};
    const { config } = loaded.snapshot;
    const mode = config.gateway?.reload?.mode ?? "hybrid";
    const sections = await sectionsIn(io, loaded, [before, config]);
    const changes = changesBetween(redactConfig(before, sections), redactConfig(config, sections)).map(({ path, before: old, after }) => {
      const { actions, ignored } = planReload([path.join(".")], mode, Object.keys(config.channels ?? {}));
      return { path: path.join("."), before: old, after, actions, ...(ignored === undefined ? {} : { ignored }) };
    });
    if (values.json) {
      printJson(io, { path: loaded.snapshot.path, known: kept !== undefined, mode, changes });
      return;
    }
    if (!kept && !loaded.snapshot.exists) {
      io.out(`${loaded.snapshot.path} does not exist; using the defaults\n`);
      return;
    }
    if (!kept) io.err("No gateway has used this file yet, so every setting is shown as new\n");
    if (changes.length === 0) io.out("No changes since the gateway read the file\n");
    else {
      const what = (change: (typeof changes)[number]): string =>
        change.ignored
          ? "after a restart"
          : change.actions.length === 0
            ? "applied on next use"
            : change.actions
                .map((action) => (action.kind === "process" ? "needs a restart" : `${action.kind} ${"module" in action ? action.module : ""}`))
                .join(", ");
      const rows = changes.map((change) => [change.path, what(change), text(change.before), text(change.after)]);
      io.out(formatTable(["Path", "Effect", "Was", "Is"], rows, { style: createStyle(io.color), columns: io.columns }));
    }
  },
});
