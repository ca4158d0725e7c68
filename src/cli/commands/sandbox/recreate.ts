import { AppError } from "../../../base/errors.ts";
import type { ContainerEntry } from "../../../tools/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson } from "../../io.ts";
import { kindOf, openSource } from "./source.ts";

/** Which containers are meant. Exactly one way to choose must be given. */
function chooser(all: boolean | undefined, session: string | undefined, agent: string | undefined): (entry: ContainerEntry) => boolean {
  const given = [all, session !== undefined, agent !== undefined].filter(Boolean).length;
  if (given !== 1) throw new AppError("INVALID_INPUT", "say which: --all, --session <key> or --agent <id>");
  if (all) return () => true;
  const wanted = (session ?? `agent:${agent}`).trim().toLowerCase();
  return ({ sessionKey }) => {
    const key = sessionKey.toLowerCase();
    return key === wanted || (agent !== undefined && key.startsWith(`${wanted}:`));
  };
}

export const recreate = defineCommand({
  options: {
    all: { type: "boolean", help: "every container" },
    session: { type: "string", value: "key", help: "the one of this scope, as list shows it" },
    agent: { type: "string", value: "id", help: "those of this agent" },
    browser: { type: "boolean", help: "browsers' containers instead" },
    force: { type: "boolean", help: "do not ask" },
    json: JSON_OPTION,
  },
  examples: [{ line: "openclaw sandbox recreate --all --force", does: "after a change of image or settings" }],
  async run({ io, values }) {
    const matches = chooser(values.all, values.session, values.agent);
    const { registry, docker } = openSource(io);
    const kind = kindOf(values.browser);
    const chosen = registry.list(kind).filter(matches);
    const names = chosen.map(({ containerName }) => containerName);
    if (names.length > 0 && !values.force) {
      if (!values.json) io.out(names.map((name) => `  ${name}\n`).join(""));
      if (!(await io.confirm(`Remove ${names.length === 1 ? "this container" : `these ${names.length} containers`}?`)))
        throw new AppError("CANCELLED", "nothing was removed; --force does it without asking");
    }
    for (const name of names) {
      await docker.remove(name);
      registry.remove(name, kind);
    }
    if (values.json) return printJson(io, { removed: names });
    io.out(names.length === 0 ? "nothing to remove\n" : `removed ${names.length}; made again at the next use. Workspaces stay as they are\n`);
  },
});
