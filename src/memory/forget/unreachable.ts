import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createTextMatcher, type TextMatcher } from "../../base/erase-text.ts";
import type { Plan } from "./plan.ts";

export interface PlacesDeps {
  readonly stateDir: string;
  readonly workspaceOf: (agentId: string) => string;
}

/** Files beside the transcripts that the store does not keep: what was set aside when another program had changed them. */
async function setAside(stateDir: string, agentId: string, matches: TextMatcher): Promise<readonly string[]> {
  const folder = join(stateDir, "agents", agentId, "sessions");
  const names = await readdir(folder).catch(() => []);
  const found: string[] = [];
  for (const name of names.filter((one) => one.includes(".bak"))) {
    const text = await readFile(join(folder, name), "utf8").catch(() => "");
    if (matches(text)) found.push(`${join(folder, name)}: a copy that was set aside; delete it`);
  }
  return found;
}

/** Where something may still be after it was removed. */
export async function unreachablePlaces(
  { stateDir, workspaceOf }: PlacesDeps,
  agentId: string,
  { units, needles }: Plan,
  { logEmptied }: { readonly logEmptied: boolean },
): Promise<readonly string[]> {
  return [
    ...units.flatMap(({ item }) => (item.kept === undefined ? [] : [`${item.path}#L${item.startLine}: ${item.kept}`])),
    ...(needles.length === 0 ? [] : await setAside(stateDir, agentId, createTextMatcher(needles))),
    ...(logEmptied ? [] : ["the database's log, until the next restart: another program is reading it"]),
    ...(existsSync(join(workspaceOf(agentId), ".git")) ? ["the git history of the workspace"] : []),
    "backups that were made before",
    "log files, and what was sent to model providers and chats",
  ];
}
