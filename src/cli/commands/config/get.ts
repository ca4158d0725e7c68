import { AppError } from "../../../base/errors.ts";
import { formatLocated, hasPath, isSensitivePath, parsePath, redactConfig, valueAt } from "../../../config/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor, requireValid } from "../../config-source.ts";
import { printJson } from "../../io.ts";
import { sectionsIn } from "../../plugin-sections.ts";

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
    if (!hasPath(snapshot.config, path))
      throw new AppError("NOT_FOUND", `Config path not found: ${positionals[0]}; it has no value and no default (openclaw config schema lists every key)`);
    const sections = values.reveal ? {} : await sectionsIn(io, loaded, [snapshot.config]);
    const shown = valueAt(values.reveal ? snapshot.config : redactConfig(snapshot.config, sections), path);
    if (typeof shown === "string" && !values.json) io.out(`${shown}\n`);
    else printJson(io, shown);
    if (!values.reveal && isSensitivePath(path, sections)) io.err("this is a secret; --reveal shows it\n");
  },
});
