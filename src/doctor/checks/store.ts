import { existsSync, statfsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { formatBytes } from "../../base/text.ts";
import { defaultAgentId, stateLockPath } from "../../config/index.ts";
import { lockHolder } from "../../base/instance-lock.ts";
import { examineStore, inspectStore, lockingProcesses, nameHolders, suspectStore, transcriptFile, type Inspection } from "../../store/index.ts";
import type { Check, Finding } from "../finding.ts";

const MB = 1024 * 1024;
/** Up to this size the whole file is read each time; above it only with `--deep`. */
const QUICK_BYTES = 256 * MB;
/** A log of this size is not brought in any more. */
const LARGE_WAL = 256 * MB;

/** Whole, readable by this version, and not growing without end. */
export const storeFile: Check = {
  id: "store.database",
  topic: "state",
  title: "Database",
  run({ config, deep }) {
    const { state } = config.paths;
    const size = examineStore(state, { thorough: false });
    if (!size) return [];
    const thorough = deep || size.bytes + size.walBytes < QUICK_BYTES;
    const found = size.tooNew === undefined && thorough ? (examineStore(state, { thorough }) ?? size) : size;
    const { file, bytes, walBytes, suspect, tooNew, damage } = found;
    if (tooNew !== undefined)
      return [{ part: "too-new", level: "error", text: tooNew, todo: "update openclaw, or use a separate state folder for this version" }];
    const findings: Finding[] = [];
    // The gateway's own short locks are its work.
    const gateway = lockHolder(stateLockPath(state))?.pid;
    const holders = (lockingProcesses(file) ?? []).filter(({ pid }) => pid !== gateway);
    if (holders.length > 0)
      findings.push({
        part: "held",
        level: "warn",
        text: `${file} is locked for writing by ${nameHolders(holders)}; until it is released the gateway accepts no messages`,
        todo: "stop that process",
      });
    if (damage && damage.length > 0) {
      const text = `${file} is damaged: ${damage.join("; ")}`;
      const apply = (): string => {
        suspectStore(state, `openclaw doctor: ${damage[0]}`);
        return `Marked ${file}: the next gateway start recovers its data and keeps the damaged file`;
      };
      findings.push(
        suspect
          ? { part: "damaged", level: "error", text, todo: "restart the gateway; it recovers the data and keeps the damaged file" }
          : {
              part: "damaged",
              level: "error",
              text,
              todo: "openclaw backup restore, or --fix",
              repair: { summary: "recover its data on the next start", safe: true, apply },
            },
      );
    }
    if (walBytes > LARGE_WAL)
      findings.push({
        part: "wal",
        level: "warn",
        text: `the database log has grown to ${formatBytes(walBytes)}`,
        todo: "restart the gateway: openclaw gateway restart",
      });
    if (!thorough)
      findings.push({
        part: "size",
        level: "info",
        text: `the database is large (${formatBytes(bytes)}), so it was only checked in part`,
        todo: "check all of it with: openclaw doctor --deep",
      });
    return findings;
  },
};

/** Below these a disk is nearly full, or as good as full. */
const SCARCE = 1024 * MB;
const LAST = 200 * MB;

/** Space that the store needs to go on. */
export const freeDisk: Check = {
  id: "store.disk",
  topic: "state",
  title: "Free space",
  run({ config }) {
    let folder = config.paths.state;
    while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
    const disk = statfsSync(folder);
    const free = disk.bavail * disk.bsize;
    if (free >= SCARCE) return [];
    return [
      {
        level: free < LAST ? "error" : "warn",
        text: `only ${formatBytes(free)} free in ${folder}`,
        todo: "free some space; when the disk is full, no messages are accepted",
      },
    ];
  },
};

/** So many sessions, the newest first. */
const RECENT = 50;

/** So many transcripts that were written last; only these can have files that are behind. */
const LAST_WRITTEN = 2000;

interface LaggingFiles {
  /** Files that are not there. */
  readonly gone: readonly string[];
  /** Files that lack lines of the database: the gateway was killed, or the power was cut, before they were written. */
  readonly short: readonly string[];
}

/** Files that a running gateway has written or is about to write are not looked at. */
function laggingFiles(store: Inspection, state: string): LaggingFiles {
  if (lockHolder(stateLockPath(state))) return { gone: [], short: [] };
  const sizes = store.read("transcripts.unwritten", { limit: LAST_WRITTEN }).map(({ file, bytes }) => {
    const size = statSync(join(state, file), { throwIfNoEntry: false })?.size;
    return { file, lacks: bytes - (size ?? 0), isGone: size === undefined && !existsSync(join(state, `${file}.gz`)), isThere: size !== undefined };
  });
  return {
    gone: sizes.filter(({ isGone }) => isGone).map(({ file }) => file),
    short: sizes.filter(({ isThere, lacks }) => isThere && lacks > 0).map(({ file }) => file),
  };
}

/** Names in a message. */
const MOST_NAMED = 5;
const shortList = (names: readonly string[]): string => [...names.slice(0, MOST_NAMED), ...(names.length > MOST_NAMED ? ["…"] : [])].join(", ");

/** Transcripts of sessions exist and can be read. */
export const transcripts: Check = {
  id: "sessions.transcripts",
  topic: "state",
  title: "Transcripts",
  run({ config }) {
    const { state } = config.paths;
    // A database that cannot be read is the other check's.
    const exam = examineStore(state, { thorough: false });
    if (!exam || exam.tooNew !== undefined || exam.damage) return [];
    using store = inspectStore(state);
    if (!store) return [];
    const { rows } = store.read("sessions.list", { limit: RECENT });
    const without = rows.filter(({ agentId, entry }) => store.read("transcripts.ofSession", { agentId, sessionId: entry.sessionId }).length === 0);
    // One that was only made, or whose settings were changed, has nothing to hold yet.
    const lost = without.filter(({ entry }) => (entry.totalTokens ?? 0) > 0);
    const main = rows.find(({ key }) => key === `agent:${defaultAgentId(config.current)}:main`);
    const lagging = laggingFiles(store, state);
    const missing = rows.flatMap(({ agentId, entry }) =>
      store
        .read("transcripts.ofSession", { agentId, sessionId: entry.sessionId })
        .filter(({ file, archivedAt }) => archivedAt === null && !existsSync(join(state, file)) && !existsSync(join(state, `${file}.gz`)))
        .map(({ file }) => file),
    );
    const gone = new Set([...missing, ...lagging.gone]);
    return [
      ...(lost.length === 0
        ? []
        : [
            {
              part: "lost",
              level: "warn" as const,
              text: `${lost.length} of the ${rows.length} newest sessions have no transcript: ${lost.map(({ key }) => key).join(", ")}`,
              todo: "check for a backup: openclaw backup verify",
            },
          ]),
      ...(main && lost.includes(main)
        ? [
            {
              part: "main",
              level: "warn" as const,
              text: `the main session has lost its transcript ${transcriptFile(main.agentId, main.entry.sessionId)}; it will start empty`,
              todo: "openclaw backup restore",
            },
          ]
        : []),
      ...(lagging.short.length === 0
        ? []
        : [
            {
              part: "behind",
              level: "warn" as const,
              text: `${lagging.short.length} transcript files are missing their last messages because the gateway was killed; the database has them: ${shortList(lagging.short)}`,
              todo: "start the gateway to complete these files before another program uses them",
            },
          ]),
      ...(gone.size === 0
        ? []
        : [
            {
              part: "files",
              level: "info" as const,
              text: `${gone.size} transcript files are missing; the database has their content and the gateway rewrites them`,
            },
          ]),
    ];
  },
};
