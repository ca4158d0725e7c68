import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { AppError } from "../../../base/errors.ts";
import { formatLocated, hasPath, isSensitivePath, loadInEffect, parsePath, redactConfig, valueAt, type OpenClawConfig } from "../../../config/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor, requireValid } from "../../config-source.ts";
import { printJson, type Io } from "../../io.ts";
import { sectionsIn } from "../../plugin-sections.ts";

async function inEffect(io: Io, config: OpenClawConfig): Promise<OpenClawConfig> {
  const { configInEffect } = await loadInEffect();
  return configInEffect(config, { env: io.env, exists: existsSync, osHome: homedir(), cwd: io.cwd });
}

export const get = defineCommand({
  positionals: "[path]",
  options: { json: JSON_OPTION, reveal: { type: "boolean", help: "show secrets instead of masking them" } },
  examples: [
    { line: "openclaw config get gateway.port", does: "one value, with its default" },
    { line: "openclaw config get agents.defaults --json", does: "a whole section" },
  ],
  async run({ io, values, positionals }) {
    const loaded = loadFor(io);
    const { snapshot } = loaded;
    requireValid(snapshot, formatLocated);
    const path = positionals[0] === undefined ? [] : parsePath(positionals[0]);
    // Without a path: what is set.
    const config = path.length === 0 ? snapshot.config : await inEffect(io, snapshot.config);
    if (!hasPath(config, path))
      throw new AppError("NOT_FOUND", `Config path not found: ${positionals[0]}; it has no value and no default (openclaw config schema lists every key)`);
    const sections = values.reveal ? {} : await sectionsIn(io, loaded, [snapshot.config]);
    const shown = valueAt(values.reveal ? config : redactConfig(config, sections), path);
    if (typeof shown === "string" && !values.json) io.out(`${shown}\n`);
    else printJson(io, shown);
    if (!values.reveal && isSensitivePath(path, sections)) io.err("this is a secret; --reveal shows it\n");
  },
});
