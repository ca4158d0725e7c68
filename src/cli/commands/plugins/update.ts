import { AppError } from "../../../base/errors.ts";
import { loadInstall, type UpdateOutcome } from "../../../plugins/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson } from "../../io.ts";
import { afterwards, installing } from "../../plugin-install.ts";
import { printable } from "./record.ts";
import { installHooks, tryStaged } from "./trial.ts";

export const update = defineCommand({
  positionals: "[id]",
  options: {
    all: { type: "boolean", help: "all that came from the npm registry" },
    "dry-run": { type: "boolean", help: "say what would be done" },
    yes: { type: "boolean", short: "y", help: "take other files under the same version without asking" },
    json: JSON_OPTION,
  },
  examples: [{ line: "openclaw plugins update --all --dry-run", does: "which plugins have newer versions" }],
  async run({ io, values, positionals }) {
    const id = positionals[0];
    if ((id === undefined) === (values.all !== true)) throw new AppError("INVALID_INPUT", "expected the id of a plugin, or --all");
    const { updatePlugins } = await loadInstall();
    const hooks = await installHooks(io);
    const { deps, edited } = installing(io, "cli plugins update", { yes: values.yes, quiet: values.json, hooks, tryStaged: tryStaged(io) });
    const outcomes = await updatePlugins({ id, dryRun: values["dry-run"] }, deps);
    const failed = outcomes.some(({ status }) => status === "failed");
    if (values.json) printJson(io, { ok: !failed, outcomes, gateway: afterwards(edited()) });
    else {
      if (outcomes.length === 0) io.out(io.runnable("no plugin was installed with openclaw plugins install\n"));
      for (const outcome of outcomes) io.out(`${describe(outcome)}\n`);
      const after = afterwards(edited());
      if (after !== "") io.out(`${after}\n`);
    }
    return failed ? 1 : 0;
  },
});

function describe({ id, status, from, to, reason }: UpdateOutcome): string {
  const versions =
    from === undefined && to === undefined ? "" : ` (${[from, to].filter((one, at) => one !== undefined && (at === 0 || one !== from)).join(" → ")})`;
  return printable(`${id}: ${status}${versions}${reason === undefined ? "" : `: ${reason}`}`);
}
