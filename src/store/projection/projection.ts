import { closeSync, constants, lstatSync, openSync, writeSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { AppError, fileError, messageOf, systemCode } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { checkTranscript } from "./check.ts";
import { removeFiles, renameFiles } from "./compressed-file.ts";
import { createCompressing } from "./compressing.ts";
import { resolveFile } from "./transcript-path.ts";
import { transcriptRow } from "./rows.ts";
import type { Projection, ProjectionDeps, ProjectionProblem, RepairReport } from "./types.ts";

/** Files that stay open. Each costs a descriptor; reopening costs some 20 µs. */
const MAX_OPEN = 64;

interface OpenFile {
  readonly fd: number;
  readonly path: string;
  readonly inode: number;
}

interface Waiting {
  readonly startBytes: number;
  readonly lines: string[];
}

/** Open descriptors by file name, least recently used closed first. */
function createDescriptors(stateDir: string): { open(file: string): OpenFile; close(file: string): void; closeAll(): void } {
  const opened = new Map<string, OpenFile>();
  const drop = (file: string, entry: OpenFile): void => {
    opened.delete(file);
    closeSync(entry.fd);
  };
  return {
    open(file) {
      const known = opened.get(file);
      if (known) {
        opened.delete(file);
        opened.set(file, known);
        return known;
      }
      const path = resolveFile(stateDir, file);
      const fd = openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o600);
      const entry = { fd, path, inode: lstatSync(path).ino };
      opened.set(file, entry);
      for (const [oldest, old] of opened) {
        if (opened.size <= MAX_OPEN) break;
        drop(oldest, old);
      }
      return entry;
    },
    close(file) {
      const entry = opened.get(file);
      if (entry) drop(file, entry);
    },
    closeAll() {
      for (const [file, entry] of opened) drop(file, entry);
    },
  };
}

/** Appends after checking that the file is still the one that was opened, with the expected size. */
function appendTo(entry: OpenFile, waiting: Waiting): void {
  const found = lstatSync(entry.path);
  if (found.ino !== entry.inode) throw new AppError("CONFLICT", "another file has replaced it");
  if (found.size !== waiting.startBytes) throw new AppError("CONFLICT", `it has ${found.size} bytes instead of ${waiting.startBytes}`);
  const bytes = Buffer.from(`${waiting.lines.join("\n")}\n`);
  for (let done = 0; done < bytes.length;) done += writeSync(entry.fd, bytes, done);
}

interface LineQueue {
  add(file: string, startBytes: number, lines: readonly string[]): void;
  /** Returns and clears the pending lines. */
  take(): readonly (readonly [file: string, Waiting])[];
  /** Number of lines of all files. */
  size(): number;
}

/** Pending lines, by file. */
function createLineQueue(): LineQueue {
  const waiting = new Map<string, Waiting>();
  let size = 0;
  return {
    add(file, startBytes, lines) {
      const batch = waiting.get(file);
      if (batch) batch.lines.push(...lines);
      else waiting.set(file, { startBytes, lines: [...lines] });
      size += lines.length;
    },
    take() {
      const batches = [...waiting];
      waiting.clear();
      size = 0;
      return batches;
    },
    size: () => size,
  };
}

/** Files with entries of another program that could not be made part of the conversation. */
function createBranches({ now, log }: ProjectionDeps): { note(report: RepairReport): void; list(): readonly ProjectionProblem[] } {
  const found = new Map<string, ProjectionProblem>();
  return {
    note({ file, apart }) {
      if (apart === undefined) return;
      const problem = `another program continued this conversation at an earlier message; its ${apart} entries are in the file, but the conversation continues without them`;
      found.set(file, { file, problem, at: now() });
      log(problem, { file });
    },
    list: () => [...found.values()],
  };
}

export function createProjection(deps: ProjectionDeps): Projection {
  const descriptors = createDescriptors(deps.stateDir);
  const queue = createLineQueue();
  const problems = new Map<string, ProjectionProblem>();
  const branches = createBranches(deps);
  const checked = new Set<string>();
  let isClosed = false;

  /** The file is left alone until its next check: its pending lines are in the database. */
  function suspect(file: string, problem: string): void {
    descriptors.close(file);
    checked.delete(file);
    const isKnown = problems.get(file)?.problem === problem;
    problems.set(file, { file, problem, at: deps.now() });
    if (!isKnown) deps.log("a transcript file is behind the database until its session is used again", { file, problem });
  }

  function write(file: string, batch: Waiting): void {
    try {
      appendTo(descriptors.open(file), batch);
    } catch (error) {
      const known = systemCode(error) === "ENOENT" ? "it was removed" : undefined;
      suspect(file, known ?? messageOf(fileError(file, "could not append", error)));
    }
  }

  function flush(): void {
    const batches = queue.take();
    for (const [file, batch] of batches) write(file, batch);
    if (batches.length > 0) failpoint("projection.appended");
  }

  /** Drops the cached state of a file before it is changed by other means. A missing file needs nothing. */
  function leave(file: string, work: (path: string) => void): boolean {
    flush();
    descriptors.close(file);
    checked.delete(file);
    problems.delete(file);
    try {
      work(resolveFile(deps.stateDir, file));
      return true;
    } catch (error) {
      if (systemCode(error) === "ENOENT") return true;
      suspect(file, messageOf(fileError(file, "could not rename or remove", error)));
      return false;
    }
  }

  function settle(report: RepairReport): RepairReport {
    if (report.action === "failed") suspect(report.file, report.problem ?? "unknown");
    else if (report.action === "compressed") problems.delete(report.file);
    else {
      checked.add(report.file);
      problems.delete(report.file);
      if (report.action !== "ok") deps.log("a transcript file was brought up to date", { ...report });
    }
    branches.note(report);
    return report;
  }

  function check(db: DatabaseSync, tid: number, { thorough = false, writing = true }: Parameters<Projection["check"]>[2] = {}): RepairReport {
    flush();
    descriptors.close(transcriptRow(db, tid).file);
    return settle(checkTranscript(db, tid, deps, { thorough, writing }));
  }

  return {
    append(file, startBytes, added) {
      if (added.length === 0 || problems.has(file)) return;
      queue.add(file, startBytes, added);
      if (startBytes === 0) checked.add(file);
    },
    flush,
    pending: queue.size,
    check,
    ensure: (db, tid, options) => (checked.has(transcriptRow(db, tid).file) ? undefined : check(db, tid, options)),
    compress: createCompressing({ ...deps, mayReplace: (file) => !isClosed && !problems.has(file), leave }),
    rename: (from, to) => leave(from, (path) => renameFiles(path, resolveFile(deps.stateDir, to))),
    remove: (file) => leave(file, removeFiles),
    problems: () => [...problems.values()],
    branched: branches.list,
    close() {
      isClosed = true;
      flush();
      descriptors.closeAll();
    },
  };
}
