import { join } from "node:path";
import { AppError } from "../../../base/errors.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson, type Io } from "../../io.ts";
import { belongingsOf, outermost, type Belongings } from "./belongings.ts";

const SCOPES = {
  config: "the configuration",
  "config+creds+sessions": "the configuration, credentials, devices and conversations",
  full: "everything: the state folder, the configuration, credentials and all workspaces",
} as const;
type Scope = keyof typeof SCOPES;
const isScope = (text: string): text is Scope => Object.hasOwn(SCOPES, text);

function pathsOf(scope: Scope, { state, config, lastGood, credentials, workspaces }: Belongings, parts: readonly string[]): readonly string[] {
  if (scope === "full") return outermost([state, config, credentials, ...workspaces]);
  return outermost([config, lastGood, ...(scope === "config" ? [] : [credentials, ...parts.map((name) => join(state, name))])]);
}

async function chosenScope(io: Io, given: string | undefined, silent: boolean): Promise<Scope> {
  if (given !== undefined) {
    if (isScope(given)) return given;
    throw new AppError("INVALID_INPUT", `--scope takes ${Object.keys(SCOPES).join(", ")}, not "${given}"`);
  }
  if (silent || !io.interactive) throw new AppError("INVALID_INPUT", `without a terminal, --scope ${Object.keys(SCOPES).join("|")} is required`);
  const { prompterFor } = await import("../../prompter.ts");
  const options = Object.entries(SCOPES).map(([value, label]) => ({ value: value as Scope, label }));
  return prompterFor(io).select({ message: "What do you want to reset?", options });
}

export const reset = defineCommand({
  options: {
    scope: { type: "string", value: "what", help: Object.keys(SCOPES).join(", ") },
    yes: { type: "boolean", help: "Don't ask for confirmation" },
    "non-interactive": { type: "boolean", help: "Don't ask; needs --scope and --yes" },
    "dry-run": { type: "boolean", help: "Show what would be moved" },
    json: JSON_OPTION,
  },
  examples: [
    { line: "openclaw reset --scope config --dry-run", does: "Show what would be moved" },
    { line: "openclaw reset --scope full --yes", does: "Start over; everything is kept under another name" },
  ],
  async run({ io, values }) {
    const silent = values["non-interactive"] === true;
    const dry = values["dry-run"] === true;
    const scope = await chosenScope(io, values.scope, silent);
    const { putAside, stampOf, STATE_PARTS } = await import("../../../setup/index.ts");
    const belongings = await belongingsOf(io);
    const paths = pathsOf(scope, belongings, STATE_PARTS);
    if (dry) {
      if (values.json) printJson(io, { ok: true, dryRun: true, scope, paths });
      else io.out(paths.length === 0 ? "[dry-run] nothing to reset\n" : paths.map((path) => `[dry-run] move ${path}\n`).join(""));
      return 0;
    }
    if (!values.yes && (silent || !io.interactive))
      throw new AppError("INVALID_INPUT", "without a terminal, --yes is required; use --dry-run to see what would happen");
    if (!values.yes) {
      io.err(`This stops the gateway and renames:\n${paths.map((path) => `  ${path}\n`).join("")}`);
      if (!(await io.confirm("Continue?"))) {
        io.err("No changes made\n");
        return 0;
      }
    }
    const { stopGateway } = await import("../gateway/stop.ts");
    await stopGateway(io, belongings.state);
    const removed = putAside(paths, stampOf(io.now()));
    if (values.json) printJson(io, { ok: true, scope, removed });
    else if (removed.length === 0) io.out("Nothing to reset\n");
    else {
      io.out(removed.map(({ from, to }) => `Moved ${from}\n   to ${to}\n`).join(""));
      io.err("Nothing was deleted. Rename it back to restore it, or delete it. To set up again: openclaw onboard\n");
    }
    return 0;
  },
});
