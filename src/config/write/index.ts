import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { AppError, fileError, systemCode } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { ensureFolder, writeAtomic } from "../../base/files.ts";
import type { Ids } from "../../base/ids.ts";
import { parseDocument, type ConfigDocument } from "../document/document.ts";
import { rewriteDocument } from "../document/edit.ts";
import { invalidConfig } from "../last-good.ts";
import { loadConfig, type Loaded, type LoadOptions } from "../load.ts";
import { sha256 } from "../sha256.ts";
import type { LocatedIssue } from "../snapshot.ts";
import { diskFiles, overlayFiles, type ConfigFiles } from "../source-files.ts";
import { isObject, withValue } from "../value.ts";
import { appendAudit, auditEntry, type WriteResult } from "./audit.ts";
import { editedValue, placeChanges, restoredText, staleConfig, type ConfigEdit, type SimpleEdit } from "./edits.ts";

export type { ConfigEdit } from "./edits.ts";

export interface WriteRequest {
  readonly edit: ConfigEdit;
  /** Hash of the file that the edit was made for; with `requireBaseHash`, writing over an existing file without one is refused. */
  readonly baseHash?: string | undefined;
  readonly requireBaseHash?: boolean | undefined;
  /** Who writes, for the audit. */
  readonly by: string;
  /**
   * What must be there before the file says that it is. Called when the edit is known to be valid, while no other program of ours writes; a rejection
   * refuses the edit. Not called for an edit that changes nothing, and again when the file changed in between.
   */
  readonly beforeWrite?: (() => Promise<void>) | undefined;
}

export interface WriteDeps {
  readonly load: LoadOptions;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly version: string;
  /** The gateway ran with this file: why a part of a configuration cannot be written while it is missing. */
  readonly expectsFile?: string | undefined;
  /** Given the main file's text before another takes its place. */
  readonly replacing?: ((text: string) => void) | undefined;
  readonly warn?: ((message: string) => void) | undefined;
  /** What else is wrong with what a write changes: it is refused. */
  readonly reviewWrite?: ReviewWrite | undefined;
}

export type ReviewWrite = (write: Pick<Written, "before" | "after">) => Promise<readonly LocatedIssue[]>;

export interface Written {
  readonly before: Loaded;
  readonly after: Loaded;
  /** Files whose text changed; empty when the edit changed nothing and nothing was written. */
  readonly files: readonly string[];
}

/**
 * Changes the configuration file: the user's text is edited in place, checked as a whole before anything is written, and replaced in one step.
 * Throws `CONFIG_STALE`, `CONFIG_INVALID` (with all issues) or what the file system says; the file is then as it was.
 */
export function writeConfig(request: WriteRequest, deps: WriteDeps): Written {
  return finishWrite(prepareWrite(request, deps), request, deps);
}

/** As {@link writeConfig}, with what `reviewWrite` finds wrong refused too, and after what has to come before. */
export async function writeReviewed(request: WriteRequest, deps: WriteDeps): Promise<Written> {
  const prepared = prepareWrite(request, deps);
  const refused = (prepared.texts && (await deps.reviewWrite?.(prepared))) ?? [];
  if (refused.length > 0) throw validationFailed(refused, prepared.before.snapshot.exists);
  if (prepared.texts) await request.beforeWrite?.();
  return finishWrite(prepared, request, deps);
}

interface PreparedWrite extends Pick<Written, "before" | "after"> {
  /** New texts by file; undefined when nothing changes. */
  readonly texts?: Map<string, string>;
}

function finishWrite({ before, after, texts }: PreparedWrite, { by }: WriteRequest, deps: WriteDeps): Written {
  if (!texts) return { before, after, files: [] };
  store(texts, { before, after, by, files: deps.load.files ?? diskFiles, deps });
  return { before, after, files: [...texts.keys()] };
}

function mainDocument({ documents, snapshot: { path } }: Loaded): ConfigDocument {
  return documents.get(path) ?? parseDocument("", path);
}

function prepareWrite(request: WriteRequest, deps: WriteDeps): PreparedWrite {
  const files = deps.load.files ?? diskFiles;
  const before = loadConfig(deps.load);
  checkBase(before, request);
  const main = mainDocument(before);
  const edit = request.edit.kind === "from" ? request.edit.edit(before.snapshot) : request.edit;
  // A part of a configuration must not become all of it while the file is away.
  const isWhole = edit.kind === "text" || edit.kind === "replace";
  if (!before.snapshot.exists && !isWhole && deps.expectsFile) throw staleConfig(deps.expectsFile, { file: main.file });
  const texts = edit.kind === "text" ? new Map([[main.file, restoredText(edit.text, before)]]) : editedTexts(before, edit, files);
  if ([...texts].every(([file, text]) => before.documents.get(file)?.text === text) && before.snapshot.exists) return { before, after: before };
  stamp(texts, before, deps);
  const after = loadConfig({ ...deps.load, path: before.snapshot.path, files: overlayFiles(files, texts) });
  if (!after.snapshot.valid) throw validationFailed(after.snapshot.issues, before.snapshot.exists);
  return { before, after, texts };
}

function validationFailed(issues: readonly LocatedIssue[], hasFile: boolean): AppError {
  const [first, ...others] = issues.map(({ path, message }) => `${path || "<root>"}: ${message}`);
  const headline = `Config validation failed: ${first}`;
  // Lines of a file that was never written tell nobody anything.
  if (!hasFile) return new AppError("CONFIG_INVALID", [headline, ...others.map((text) => `- ${text}`)].join("\n"), { details: { issues } });
  return invalidConfig(headline, issues);
}

function checkBase(before: Loaded, request: WriteRequest): void {
  const { exists, hash } = before.snapshot;
  if (!exists || (request.baseHash === undefined && !request.requireBaseHash)) return;
  if (hash === "") throw staleConfig("config base hash unavailable; re-run config.get and retry");
  if (request.baseHash === undefined) throw staleConfig("config base hash required; re-run config.get and retry");
  if (request.baseHash !== hash) throw staleConfig("config changed since last load; re-run config.get and retry", { hash });
}

function editedTexts(before: Loaded, edit: Exclude<SimpleEdit, { kind: "text" }>, files: ConfigFiles): Map<string, string> {
  const main = mainDocument(before);
  if (edit.kind === "replace" && !main.root) return new Map([[main.file, `${JSON.stringify(edit.value, null, 2)}\n`]]);
  const broken = before.snapshot.issues.filter((issue) => issue.code === "syntax" || issue.code === "include" || issue.code === "unreadable");
  if (broken.length > 0) throw invalidConfig("invalid config; fix before patching", broken);
  return placeChanges(main, editedValue(before, edit), files);
}

/** Notes version and time in the main file. */
function stamp(texts: Map<string, string>, before: Loaded, deps: WriteDeps): void {
  const { path } = before.snapshot;
  const document = parseDocument(texts.get(path) ?? mainDocument(before).text, path);
  if (!document.root || !isObject(document.value)) return;
  const meta = isObject(document.value["meta"]) ? document.value["meta"] : {};
  const stamped = withValue(document.value, ["meta"], { ...meta, lastTouchedVersion: deps.version, lastTouchedAt: new Date(deps.clock.now()).toISOString() });
  texts.set(path, withFinalNewline(rewriteDocument(document, stamped?.value)));
}

function withFinalNewline(text: string): string {
  return /[\r\n]$/.test(text) ? text : `${text}\n`;
}

interface StoreContext {
  readonly before: Loaded;
  readonly after: Loaded;
  readonly by: string;
  readonly files: ConfigFiles;
  readonly deps: WriteDeps;
}

/** Included files first: a crash in between leaves a main file that fits one or the other. */
function store(texts: ReadonlyMap<string, string>, context: StoreContext): void {
  const { before, after, by, deps } = context;
  const { path } = before.snapshot;
  const order = [...texts].sort(([a], [b]) => Number(a === path) - Number(b === path));
  let result: WriteResult = "failed";
  try {
    for (const [file, text] of order) result = storeFile(file, text, context);
  } catch (error) {
    result = "failed";
    throw error;
  } finally {
    const nextText = texts.get(path) ?? "";
    const warn = deps.warn ?? (() => {});
    appendAudit(before.paths.state, auditEntry({ before: before.snapshot, after: after.snapshot, nextText, by, now: deps.clock.now(), result }), warn);
  }
}

function storeFile(file: string, text: string, { before, files, deps }: StoreContext): WriteResult {
  const exists = files.exists(file);
  ensureFolder(dirname(file));
  const target = exists ? files.realPath(file) : file;
  if (exists) {
    const current = files.read(file);
    const known = file === before.snapshot.path ? before.snapshot.hash : sha256(before.documents.get(file)?.text ?? "");
    if (sha256(current) !== known) {
      throw staleConfig("config changed since last load; re-run config.get and retry", { file });
    }
    keepBackup(file, current, deps.ids);
    if (file === before.snapshot.path && before.snapshot.raw !== null) deps.replacing?.(before.snapshot.raw);
  }
  // Never wider than the owner; a file that its owner made read-only stays that.
  const mode = (files.mode(target) ?? 0o600) & 0o600 || 0o600;
  const result = replaceFile(target, text, mode, deps.ids);
  failpoint("config.written");
  return result;
}

/** Some places (a file mounted into a container, some network disks) take no rename onto a file; there it is overwritten. */
function replaceFile(path: string, text: string, mode: number, ids: Ids): WriteResult {
  try {
    writeAtomic(path, text, { mode, temporary: temporaryName(path, ids) });
    return "rename";
  } catch (error) {
    const code = error instanceof AppError ? systemCode(error.cause) : undefined;
    if (code !== "EPERM" && code !== "EEXIST" && code !== "EBUSY") throw error;
    overwrite(path, text, mode);
    return "copy-fallback";
  }
}

function overwrite(path: string, text: string, mode: number): void {
  try {
    const fd = openSync(path, "w", mode);
    try {
      writeFileSync(fd, text);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    throw fileError(path, "could not write", error);
  }
}

/** Earlier versions that are kept: `.bak` is the newest, then `.bak.1` to `.bak.4`. */
const KEPT = 5;

/** Keeps `content` as the newest backup of `path` and lets the oldest go. */
function keepBackup(path: string, content: string | Uint8Array, ids: Ids): void {
  const name = (age: number): string => (age === 0 ? `${path}.bak` : `${path}.bak.${age}`);
  for (let age = KEPT - 2; age >= 0; age -= 1) {
    try {
      renameSync(name(age), name(age + 1));
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw error;
    }
  }
  writeAtomic(name(0), content, { mode: 0o600, temporary: temporaryName(name(0), ids) });
}

function temporaryName(path: string, ids: Ids): string {
  return `${path}.${process.pid}.${ids.uuid()}.tmp`;
}
