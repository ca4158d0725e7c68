import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { createTextMatcher, eraseInJson, type TextMatcher } from "../../base/erase-text.ts";
import { isRecord } from "../../base/records.ts";
import type { Store } from "../../store/index.ts";
import type { Plan } from "./plan.ts";

export interface PlacesDeps {
  readonly stateDir: string;
  readonly workspaceOf: (agentId: string) => string;
  readonly store: Pick<Store, "read">;
}

const MAX_LISTED = 50;
const MAX_BYTES = 64 * 1024 * 1024;

/** Files below a folder that contain a text, and what to do about each. */
async function filesWith(
  folder: string,
  matches: TextMatcher,
  { what, except = [] }: { readonly what: string; readonly except?: readonly string[] },
): Promise<readonly string[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const found: string[] = [];
  for (const name of names.toSorted((a, b) => (a < b ? -1 : 1))) {
    const file = join(folder, name);
    const facts = await stat(file).catch(() => undefined);
    if (!facts?.isFile() || except.includes(name.split(sep).join("/"))) continue;
    if (facts.size > MAX_BYTES) found.push(`${file}: too large to be searched; check it yourself`);
    else if (matches(await readFile(file, "utf8").catch(() => ""))) found.push(`${file}: ${what}; delete it`);
  }
  const more = found.length - MAX_LISTED;
  return more > 0 ? [...found.slice(0, MAX_LISTED), `${folder}: ${more} more such files`] : found;
}

/** Jobs are what their owner wants done: they are named, not changed. */
async function scheduledJobs(store: Pick<Store, "read">, agentId: string, matches: TextMatcher): Promise<readonly string[]> {
  const jobs = await store.read("cron.job.list", {});
  return jobs.flatMap((row) => {
    const isOther = row.agentId !== null && row.agentId !== agentId;
    if (isOther || eraseInJson(JSON.stringify(row.job), matches) === undefined) return [];
    const name = isRecord(row.job) && typeof row.job["name"] === "string" && !matches(row.job["name"]) ? ` ${row.job["name"]}` : "";
    return [`scheduled job${name}: remove it with openclaw cron rm ${row.id}`];
  });
}

/** Where a text is that is not removed there. */
async function otherPlaces({ stateDir, store }: PlacesDeps, agentId: string, matches: TextMatcher): Promise<readonly string[]> {
  return [
    ...(await setAside(stateDir, agentId, matches)),
    ...(await scheduledJobs(store, agentId, matches)),
    ...(await filesWith(join(stateDir, "cron"), matches, { what: "about scheduled jobs", except: ["jobs.json"] })),
    ...(await filesWith(join(stateDir, "trash"), matches, { what: "of a deleted agent" })),
  ];
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
  deps: PlacesDeps,
  agentId: string,
  { units, needles }: Plan,
  { logEmptied }: { readonly logEmptied: boolean },
): Promise<readonly string[]> {
  return [
    ...units.flatMap(({ item }) => (item.kept === undefined ? [] : [`${item.path}#L${item.startLine}: ${item.kept}`])),
    ...(needles.length === 0 ? [] : await otherPlaces(deps, agentId, createTextMatcher(needles))),
    ...(logEmptied ? [] : ["the database's log, until the next restart: another program is reading it"]),
    ...(existsSync(join(deps.workspaceOf(agentId), ".git")) ? ["the git history of the workspace"] : []),
    "earlier backups",
    "log files, and what was sent to model providers and chats",
  ];
}
