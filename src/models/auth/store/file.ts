import { readFileSync, realpathSync, renameSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { Clock } from "../../../base/clock.ts";
import { fileError, systemCode } from "../../../base/errors.ts";
import { withFileLock } from "../../../base/file-lock.ts";
import { ensureFolder, writeAtomic } from "../../../base/files.ts";
import type { Ids } from "../../../base/ids.ts";
import type { Logger } from "../../../base/log/logger.ts";
import { EMPTY_DOCUMENT, parseAuthDocument, secretsOf, type AuthDocument } from "./document.ts";

export const STORE_NAME = "auth-profiles.json";
const LOCK_TIMEOUT_MS = 20_000;
const STALE_MS = 30_000;

export interface AuthFile {
  readonly path: string;
  /** The current content; undefined when there is no file. Read again only when it changed. */
  read(): AuthDocument | undefined;
  /** Changes the file under a lock. Returning the same value writes nothing. */
  update(change: (document: AuthDocument) => AuthDocument): Promise<AuthDocument>;
  /** Runs `work` exclusively among all processes that use `name` of this file. */
  alone<T>(name: string, work: () => Promise<T>): Promise<T>;
}

export interface AuthFileDeps {
  readonly folder: string;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "hex">;
  readonly log: Logger;
  readonly onSecret: (secret: string) => void;
  /** Initial content of a missing file. */
  readonly begin: () => AuthDocument;
}

interface Cached {
  readonly stamp: string;
  readonly document: AuthDocument | undefined;
}

/** One `auth-profiles.json`: owner-only, replaced atomically, changed under a lock shared by all processes. */
export function createAuthFile(deps: AuthFileDeps): AuthFile {
  const path = join(deps.folder, STORE_NAME);
  let cached: Cached | undefined;

  function stampOf(): string {
    try {
      // Called several times per call: an error created only to be caught would be most of its cost.
      const found = statSync(path, { throwIfNoEntry: false });
      return found ? `${found.ino}-${found.size}-${found.mtimeMs}` : "";
    } catch (error) {
      throw fileError(path, "could not read the credentials", error);
    }
  }

  /** An unreadable file is moved, never overwritten: its owner may want it back. */
  function setAside(problem: string): undefined {
    const kept = `${path}.damaged-${new Date(deps.clock.now()).toISOString().replaceAll(/[:.]/g, "-")}-${deps.ids.hex(2)}`;
    try {
      renameSync(path, kept);
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw fileError(path, "could not set the damaged file aside", error);
      return undefined;
    }
    deps.log.error(`${path} could not be used: ${problem}; it was set aside as ${basename(kept)}. Repair it and move it back, or log in again`, {
      path,
      kept,
    });
    return undefined;
  }

  function parse(): AuthDocument | undefined {
    let text: string;
    try {
      text = readFileSync(path, "utf8");
    } catch (error) {
      if (systemCode(error) === "ENOENT") return undefined;
      throw fileError(path, "could not read the credentials", error);
    }
    const document = parseAuthDocument(text);
    if ("problem" in document) return setAside(String(document.problem));
    for (const entry of Object.values(document.profiles)) for (const secret of secretsOf(entry)) deps.onSecret(secret);
    return document;
  }

  function read(): AuthDocument | undefined {
    const stamp = stampOf();
    if (cached?.stamp !== stamp) cached = { document: parse(), stamp };
    return cached.document;
  }

  /** A link to the real file stays a link. */
  function target(): string {
    try {
      return realpathSync(path);
    } catch {
      return path;
    }
  }

  const alone = <T>(lock: string, work: () => Promise<T> | T): Promise<T> =>
    withFileLock(lock, { timeoutMs: LOCK_TIMEOUT_MS, staleMs: STALE_MS, ids: deps.ids }, work);

  return {
    path,
    read,
    async update(change) {
      ensureFolder(deps.folder);
      return alone(`${path}.lock`, () => {
        const before = read();
        const base = before ?? deps.begin();
        const after = change(base);
        if (after === before || (before === undefined && after === EMPTY_DOCUMENT)) return after;
        for (const entry of Object.values(after.profiles)) for (const secret of secretsOf(entry)) deps.onSecret(secret);
        const file = target();
        writeAtomic(file, `${JSON.stringify(after, null, 2)}\n`, { mode: 0o600, temporary: `${file}.${deps.ids.hex(4)}.tmp` });
        cached = { document: after, stamp: stampOf() };
        return after;
      });
    },
    alone: (name, work) => alone(`${path}.${name.replaceAll(/[^A-Za-z0-9._-]/g, "_")}.lock`, work),
  };
}
