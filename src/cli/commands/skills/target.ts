import { basename, join } from "node:path";
import { skillFolders } from "../../../agent/index.ts";
import { AppError } from "../../../base/errors.ts";
import { bundledSkillsFolder } from "../../../base/program-folders.ts";
import type { Values } from "../../command.ts";
import type { Io } from "../../io.ts";
import { skillPlaces } from "./source.ts";

/** Flags that say which folder of skills is meant. */
export const TARGET_OPTIONS = {
  managed: { type: "boolean", help: "Skills of all agents (<state>/skills)" },
  workspace: { type: "boolean", help: "Skills in the default agent's workspace" },
  agent: { type: "string", value: "id", help: "Skills in this agent's workspace" },
} as const;

/** The folder that the flags mean; the managed one when there are none. */
export function skillsDirOf(io: Io, { managed, workspace, agent }: Values<typeof TARGET_OPTIONS>): string {
  if (managed && (workspace || agent !== undefined)) throw new AppError("INVALID_INPUT", "--managed and --workspace or --agent exclude each other");
  const places = skillPlaces(io, agent);
  return workspace || agent !== undefined ? join(places.workspaceDir, "skills") : places.managedSkillsDir;
}

/** Names of the skills that come with the program. */
export async function bundledNames(io: Pick<Io, "env">): Promise<ReadonlySet<string>> {
  const folder = bundledSkillsFolder(io.env);
  return new Set(folder === undefined ? [] : (await skillFolders(folder, 1000)).map((path) => basename(path)));
}
