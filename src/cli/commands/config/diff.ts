import { changesBetween, formatLocated, loadLastGood, planReload, redactConfig } from "../../../config/index.ts";
import { homedir } from "node:os";
import { clip } from "../../../base/text.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor, requireValid } from "../../config-source.ts";
import { printJson } from "../../io.ts";
import { sectionsIn } from "../../plugin-sections.ts";
import { createStyle } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";

const text = (value: unknown): string => (value === undefined ? "-" : clip(JSON.stringify(value), 60));

export const diff = defineCommand({
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw config diff", does: "what changed since the gateway last took the file, and what it will do about it" }],
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
      io.out(`there is no ${loaded.snapshot.path}; the defaults are in effect\n`);
      return;
    }
    if (!kept) io.err("no gateway has run with this file yet: everything in effect is shown as new\n");
    if (changes.length === 0) io.out("nothing changed since the gateway took the file\n");
    else {
      const what = (change: (typeof changes)[number]): string =>
        change.ignored
          ? "waits for a restart"
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
