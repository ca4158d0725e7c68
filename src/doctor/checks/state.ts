import { isRecord } from "../../base/records.ts";
import { accessSync, chmodSync, constants, existsSync, readdirSync, realpathSync, statSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { fileError, messageOf, systemCode } from "../../base/errors.ts";
import { ensureFolder } from "../../base/files.ts";
import type { DoctorDeps } from "../deps.ts";
import { namesIn } from "../files.ts";
import type { Check, Finding } from "../finding.ts";
import { hostname } from "node:os";
import { lockHolder } from "../../base/instance-lock.ts";

/** The system's code for why a folder cannot be written; undefined when it can. */
function whyNotWritable(path: string): string | undefined {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return systemCode(error) ?? "EACCES";
  }
}

function chmod(path: string, mode: number): void {
  try {
    chmodSync(path, mode);
  } catch (error) {
    throw fileError(path, `could not set its mode to ${mode.toString(8)}`, error);
  }
}

/** It is there, it is a folder, and this user may write in it. */
export const stateFolder: Check = {
  id: "state.folder",
  topic: "state",
  title: "State folder",
  run({ config, uid }) {
    const { state } = config.paths;
    const stat = statSync(state, { throwIfNoEntry: false });
    if (!stat) {
      const apply = (): string => {
        ensureFolder(state);
        return `Created ${state}`;
      };
      return [
        {
          part: "missing",
          level: "info",
          text: `${state} does not exist yet; the first start creates it`,
          repair: { summary: "create it", safe: true, apply },
        },
      ];
    }
    if (!stat.isDirectory())
      return [
        {
          part: "file",
          level: "error",
          text: `${state} is a file where a folder is needed`,
          todo: "move it away, or set OPENCLAW_STATE_DIR to another folder",
        },
      ];
    const why = whyNotWritable(state);
    if (why === undefined) return [];
    if (why === "EROFS")
      return [
        {
          part: "read-only",
          level: "error",
          text: `${state} is on a file system that is mounted read-only`,
          todo: "mount it writable (a disk error may have made it read-only: see dmesg), or set OPENCLAW_STATE_DIR to another folder",
        },
      ];
    const text = `${state} is not writable by this user`;
    if (uid !== undefined && stat.uid !== uid)
      return [{ part: "owner", level: "error", text: `${text}: it belongs to user ${stat.uid}`, todo: `sudo chown -R ${uid} ${state}` }];
    if ((stat.mode & 0o700) === 0o700)
      return [
        {
          part: "read-only",
          level: "error",
          text: `${text}, although its mode allows it (${why})`,
          todo: `check its attributes and ACLs: lsattr -d ${state}; getfacl ${state}`,
        },
      ];
    const apply = (): string => {
      chmod(state, 0o700);
      return `Set the mode of ${state} to 700`;
    };
    return [{ part: "read-only", level: "error", text, todo: `chmod 700 ${state}`, repair: { summary: "make it writable for its owner", safe: true, apply } }];
  },
};

interface Private {
  readonly path: string;
  readonly mode: 0o700 | 0o600;
}

/** Everything below a folder; nothing when it cannot be read. */
function allIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** Files with secrets or messages. */
function privatePlaces({ config }: DoctorDeps): Private[] {
  const { state, file } = config.paths;
  const folders = [state, join(state, "credentials"), join(state, "agents")];
  const agents = namesIn(join(state, "agents")).map((id) => join(state, "agents", id, "agent", "auth-profiles.json"));
  const database = ["openclaw.db", "openclaw.db-wal", "openclaw.db-shm"].map((name) => join(state, name));
  const credentials = allIn(join(state, "credentials"));
  // A `.env` of the current folder belongs to another project.
  const read = config.snapshot().files.filter((path) => basename(path) !== ".env");
  const files = [...read, file, join(state, ".env"), ...database, ...agents, ...credentials];
  return [
    ...folders.map((path) => ({ path, mode: 0o700 as const })),
    ...[...new Set(files)].flatMap((path): Private[] => (statSync(path, { throwIfNoEntry: false })?.isFile() ? [{ path, mode: 0o600 }] : [])),
  ];
}

/** Only their owner may read them. */
export const fileModes: Check = {
  id: "state.modes",
  topic: "state",
  title: "File permissions",
  run(deps) {
    if (deps.platform === "win32") return [];
    const wide = privatePlaces(deps).flatMap(({ path, mode }) => {
      const stat = statSync(path, { throwIfNoEntry: false });
      return stat && (stat.mode & 0o077) !== 0
        ? [{ path, mode, has: stat.mode & 0o777, mine: deps.uid === undefined || stat.uid === deps.uid || deps.uid === 0 }]
        : [];
    });
    return wide.map(({ path, mode, has, mine }): Finding => {
      const others = (has & 0o022) === 0 ? "read" : "change";
      const text = `other users can ${others} ${path} (mode ${has.toString(8)})`;
      const level = others === "change" ? "error" : "warn";
      if (!mine) return { level, text: `${text}, and it belongs to another user`, todo: `as its owner: chmod ${mode.toString(8)} ${path}` };
      const apply = (): string => {
        // What its owner may not do stays so.
        chmod(path, has & mode);
        return `${path} now has mode ${(has & mode).toString(8)}`;
      };
      return { level, text, todo: `chmod ${mode.toString(8)} ${path}`, repair: { summary: `restrict ${path} to its owner`, safe: true, apply } };
    });
  },
};

const FOLDERS = [".openclaw", ".clawdbot", ".moltbot", ".moldbot"];

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function holdsState(path: string): boolean {
  try {
    return readdirSync(path).some(
      (name) => name === "openclaw.db" || name === "agents" || name === "sessions" || /^(?:openclaw|clawdbot|moltbot|moldbot)\.json$/.test(name),
    );
  } catch {
    return false;
  }
}

/** Conversations in two places look as if one half were lost. */
export const stateFolders: Check = {
  id: "state.folders",
  topic: "state",
  title: "Several state folders",
  run({ config }) {
    const { state, home } = config.paths;
    const used = real(state);
    const others = FOLDERS.map((name) => join(home, name)).filter((path) => existsSync(path) && real(path) !== used && holdsState(path));
    // A chosen folder beside the usual one is a profile, and meant.
    if (others.length === 0 || !FOLDERS.some((name) => real(join(home, name)) === used)) return [];
    return [
      {
        level: "warn",
        text: `${state} is in use, but ${others.join(", ")} also has state`,
        todo: "merge what you need, then move the other folders away",
      },
    ];
  },
};

/** Where the files of conversations and logins are made. */
export const stateParts: Check = {
  id: "state.parts",
  topic: "state",
  title: "State subfolders",
  run({ config }) {
    const { state } = config.paths;
    const parts = ["agents", "credentials", "logs"].map((name) => join(state, name)).filter((path) => existsSync(path));
    return parts.flatMap((path): Finding[] => {
      try {
        accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
        return [];
      } catch (error) {
        return [
          {
            level: "error",
            text: `${path} cannot be used: ${messageOf(fileError(path, "no access", error))}`,
            todo: `make it a folder that this user can write to`,
          },
        ];
      }
    });
  },
};

/** A lock that does not say whose it is, or is another machine's, is left over after this long. */
const STALE_MS = 30 * 60_000;

function lockFiles(state: string): string[] {
  const agents = namesIn(join(state, "agents")).map((id) => join(state, "agents", id));
  const folders = [join(state, "sessions"), ...agents.flatMap((agent) => [join(agent, "sessions"), join(agent, "agent")])];
  return folders.flatMap((folder) => namesIn(folder).flatMap((name) => (name.endsWith(".lock") ? [join(folder, name)] : [])));
}

/** The process that held it is gone. */
function isStale(path: string, now: number): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isFile()) return false;
  let holder: { readonly pid?: unknown; readonly host?: unknown } | null;
  try {
    const parsed: unknown = JSON.parse(readFileSync(path, "utf8"));
    holder = isRecord(parsed) ? parsed : null;
  } catch {
    holder = null;
  }
  const isOurs = typeof holder?.pid === "number" && (holder.host === undefined || holder.host === hostname());
  return isOurs ? lockHolder(path) === undefined : now - stat.mtimeMs > STALE_MS;
}

function remove(paths: readonly string[], clock: DoctorDeps["clock"]): string {
  // Checked again: another process may have taken one over.
  const gone = paths.filter((path) => isStale(path, clock.now()));
  for (const path of gone) {
    try {
      rmSync(path, { force: true });
    } catch (error) {
      throw fileError(path, "could not remove the lock", error);
    }
  }
  return gone.length === 0 ? "They are already gone" : `Removed ${gone.join(", ")}`;
}

/** Locks that a killed process left: who comes next would wait for it. */
export const sessionLocks: Check = {
  id: "sessions.locks",
  topic: "state",
  title: "Stale locks",
  run({ config, clock }) {
    const stale = lockFiles(config.paths.state).filter((path) => isStale(path, clock.now()));
    if (stale.length === 0) return [];
    const text = `${stale.length === 1 ? "a lock" : `${stale.length} locks`} left by exited processes: ${stale.join(", ")}`;
    return [
      {
        level: "warn",
        text,
        todo: "remove them with: openclaw doctor --fix",
        repair: { summary: "remove them", safe: false, apply: () => remove(stale, clock) },
      },
    ];
  },
};
