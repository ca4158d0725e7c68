import { existsSync, lstatSync, readFileSync, renameSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { AppError, fileError, messageOf } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { ensureFolder, syncFolder, writeAtomic } from "../../base/files.ts";
import type { Ids } from "../../base/ids.ts";
import { isObject, oauthFolder, stateLockPath } from "../../config/index.ts";
import { inspectStore } from "../../store/index.ts";
import { lockHolder } from "../../base/instance-lock.ts";
import type { DoctorDeps } from "../deps.ts";
import { isFile, isFolder, makeMoves, movesInto, namesIn, removeEmpty, type Move } from "../files.ts";
import type { Check, Finding } from "../finding.ts";

/** Keys that belong to no agent. */
const SHARED = new Set(["global", "unknown"]);
/** Who owns what was there before there were agents. */
const AGENT = "main";

const MOVED_LATER = "stop the gateway (openclaw gateway stop), then openclaw doctor --fix";

/** A repair that moves files waits until no process uses them. */
function moving(deps: DoctorDeps, finding: Finding): Finding {
  if (!finding.repair || !lockHolder(stateLockPath(deps.config.paths.state))) return finding;
  const { repair: _repair, ...rest } = finding;
  return { ...rest, todo: MOVED_LATER };
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

function readIndex(path: string): Record<string, unknown> {
  if (!existsSync(path)) return {};
  const value: unknown = JSON.parse(readFileSync(path, "utf8"));
  if (!isObject(value)) throw new AppError("INVALID_INPUT", `expected an object in ${path}`);
  return value;
}

const updatedAt = (entry: unknown): number => Number(isObject(entry) ? (entry["updatedAt"] ?? 0) : 0);

/** Adds the sessions of an index from before there were agents to the agent's own; of two with one key the newer stays. */
function mergeIndex(from: string, to: string, ids: Ids): number {
  const [old, now] = [readIndex(from), readIndex(to)];
  const merged = { ...now };
  for (const [key, entry] of Object.entries(old)) {
    const name = key.startsWith("agent:") || SHARED.has(key) ? key : `agent:${AGENT}:${key}`;
    if (!Object.hasOwn(merged, name) || updatedAt(entry) > updatedAt(merged[name])) merged[name] = entry;
  }
  ensureFolder(dirname(to));
  writeAtomic(to, `${JSON.stringify(merged, null, 2)}\n`, { temporary: `${to}.${process.pid}.${ids.hex(4)}.tmp` });
  failpoint("doctor.moved");
  // Stays there: its full content may be needed again.
  renameSync(from, `${from}.moved`);
  syncFolder(dirname(from));
  return Object.keys(old).length;
}

function sessionsFinding({ config, ids }: DoctorDeps): Finding[] {
  const { state } = config.paths;
  const [from, to] = [join(state, "sessions"), join(state, "agents", AGENT, "sessions")];
  const index = join(from, "sessions.json");
  const transcripts = namesIn(from).filter((name) => name.includes(".jsonl") && !name.endsWith(".lock"));
  if (transcripts.length === 0 && !isFile(index)) return [];
  // A database has taken them over, and refers to them by their paths.
  if (existsSync(join(state, "openclaw.db"))) return adopted(state, transcripts);
  try {
    readIndex(index);
    readIndex(join(to, "sessions.json"));
  } catch (error) {
    return [
      {
        part: "sessions",
        level: "warn",
        text: `${from} is a legacy location, and its session list cannot be read: ${messageOf(error)}`,
        todo: `repair ${index}, or move it away`,
      },
    ];
  }
  const { moves, taken } = movesInto(from, to, (name) => transcripts.includes(name));
  const both = inBoth(taken, to, "sessions");
  if (moves.length === 0 && !isFile(index)) return both;
  const apply = (): string => {
    const made = makeMoves(moves);
    const listed = isFile(index) ? mergeIndex(index, join(to, "sessions.json"), ids) : 0;
    removeEmpty(from);
    return `moved ${counted(made, "transcript")} and ${counted(listed, "session")} from ${from} to ${to}`;
  };
  const text = `${from} is a legacy location: ${counted(moves.length, "transcript")}${isFile(index) ? " and a session list" : ""}`;
  return [
    { part: "sessions", level: "warn", text, todo: "move them with: openclaw doctor --fix", repair: { summary: `move them to ${to}`, safe: true, apply } },
    ...both,
  ];
}

/** Files that exist in both folders have to be compared by the user. */
function inBoth(taken: readonly string[], to: string, part: string): Finding[] {
  if (taken.length === 0) return [];
  return [
    { part: `${part}-both`, level: "warn", text: `in both a legacy location and ${to}: ${taken.join(", ")}`, todo: "compare them and move the old ones away" },
  ];
}

function adopted(state: string, transcripts: readonly string[]): Finding[] {
  using store = inspectStore(state);
  const known = new Set((store?.read("imports.list", {}) ?? []).map(({ source }) => source));
  const left = transcripts.filter((name) => name.endsWith(".jsonl") && !known.has(`sessions/${name}`));
  if (left.length === 0 || !store || (store.read("meta.get", { key: "store.imported" }) ?? undefined) === undefined) return [];
  return [
    {
      part: "sessions",
      level: "info",
      text: `${counted(left.length, "transcript")} in ${join(state, "sessions")} were added after the migration and are not used: ${left.join(", ")}`,
    },
  ];
}

function agentFinding({ config }: DoctorDeps): Finding[] {
  const { state } = config.paths;
  const [from, to] = [join(state, "agent"), join(state, "agents", AGENT, "agent")];
  if (!isFolder(from) || lstatSync(from).isSymbolicLink()) return [];
  const { moves, taken } = movesInto(from, to, (name) => !name.endsWith(".lock"));
  const both = inBoth(taken, to, "agent");
  if (moves.length === 0 && taken.length > 0) return both;
  const apply = (): string => {
    const made = makeMoves(moves);
    removeEmpty(from);
    return `moved ${counted(made, "file")} from ${from} to ${to}`;
  };
  const text = `${from} is a legacy location: ${counted(moves.length, "file")}`;
  return [
    { part: "agent", level: "warn", text, todo: "move them with: openclaw doctor --fix", repair: { summary: `move them to ${to}`, safe: true, apply } },
    ...both,
  ];
}

const WHATSAPP = /^(?:creds\.json(?:\.bak)?|(?:app-state-sync|pre-key|sender-key|session|lid-mapping|device-list|tctoken)-.+\.json)$/;

function whatsappFinding({ config, env, osHome, cwd }: DoctorDeps): Finding[] {
  const from = oauthFolder({ env, osHome, cwd, exists: existsSync });
  const to = join(from, "whatsapp", "default");
  if (!isFolder(from) || from !== join(config.paths.state, "credentials")) return [];
  const { moves, taken } = movesInto(from, to, (name) => WHATSAPP.test(name) && isFile(join(from, name)));
  const both = inBoth(taken, to, "whatsapp");
  if (moves.length === 0) return both;
  // The file that makes a login of the others comes last: half of one is none.
  const ordered: readonly Move[] = moves.toSorted((a, b) => Number(basename(a.from) === "creds.json") - Number(basename(b.from) === "creds.json"));
  const apply = (): string => `moved the WhatsApp login (${counted(makeMoves(ordered), "file")}) to ${to}`;
  const text = `a WhatsApp login in a legacy location: ${counted(moves.length, "file")} in ${from}`;
  return [
    { part: "whatsapp", level: "warn", text, todo: "move it with: openclaw doctor --fix", repair: { summary: `move it to ${to}`, safe: true, apply } },
    ...both,
  ];
}

const OLD_FOLDERS = new Set([".clawdbot", ".moltbot", ".moldbot"]);

function folderFinding({ config, env }: DoctorDeps): Finding[] {
  const { state, home } = config.paths;
  const now = join(home, ".openclaw");
  const isChosen = Boolean((env["OPENCLAW_STATE_DIR"] ?? env["CLAWDBOT_STATE_DIR"])?.trim());
  if (isChosen || !OLD_FOLDERS.has(basename(state)) || existsSync(now) || lstatSync(state, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const apply = (): string => {
    try {
      renameSync(state, now);
      symlinkSync(now, state);
      syncFolder(home);
    } catch (error) {
      throw fileError(state, `could not rename it to ${now}`, error);
    }
    return `${state} is now ${now}; the old name is a link to it`;
  };
  return [
    {
      part: "name",
      level: "warn",
      text: `the state folder has an old name: ${state}`,
      todo: "rename it with: openclaw doctor --fix",
      repair: { summary: `rename it to ${now}, and leave a link`, safe: true, apply },
    },
  ];
}

/** Files that earlier versions stored elsewhere. */
export const legacyState: Check = {
  id: "state.legacy",
  topic: "state",
  title: "Legacy locations",
  // The folder's own name last: the others work in it.
  run: (deps) => [sessionsFinding, agentFinding, whatsappFinding, folderFinding].flatMap((look) => look(deps)).map((finding) => moving(deps, finding)),
};
