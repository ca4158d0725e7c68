import { statSync, type Stats } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AppError, messageOf } from "../../base/errors.ts";
import { isInside } from "../../base/files.ts";
import type { Logger } from "../../base/log/logger.ts";
import { realTarget, type CheckAccess, type FileAccess as Access } from "../../base/rooted-files.ts";
import type { Approvals } from "../approvals/approvals.ts";
import type { ToolContext } from "../tool.ts";
import type { FolderGrants } from "./grants.ts";
import { createHardLinks, holdsSealed } from "./hard-links.ts";
import type { SealedPlace } from "./places.ts";
import { createSealed, createSealedTable, realName, type OwnPlaces, type Sealed, type SealedTable } from "./sealed.ts";

export type OutsideRule = "ask" | "allow" | "deny";

/** What the configuration says about the files of one agent. */
export interface FileRules {
  /** `tools.fs.workspaceOnly`. */
  readonly workspaceOnly: boolean;
  /** `tools.fs.outside`: writes outside of the workspace. */
  readonly outside: OutsideRule;
  /** `tools.fs.unseal`, absolute. */
  readonly unseal: readonly string[];
}

/** What holds for one path, with the reason. `ask` becomes `deny` where nobody can be asked. */
export interface FileVerdict {
  readonly decision: OutsideRule;
  readonly why: string;
  /** The agent is confined to its workspace. */
  readonly escapes?: true;
}

export interface FileAccessDeps {
  /** Asked again after the configuration changed; the same object until then. */
  readonly own: () => OwnPlaces;
  readonly rules: (agentId: string) => FileRules;
  /** Folders in the state that every agent may write to. */
  readonly shared: readonly string[];
  readonly skillsDecide: (agentId: string) => boolean;
  readonly grants: FolderGrants;
  readonly approvals: Pick<Approvals, "request">;
  /** Why nobody can be asked about a call of this session; undefined when someone can. */
  readonly unasked: (context: ToolContext) => string | undefined;
  readonly log: Pick<Logger, "warn">;
  readonly ignoreCase: boolean;
}

/** Who calls: as much of it as decides about files. */
export type FileCaller = Pick<ToolContext, "agentId" | "workspaceDir">;

/** A tool's call, and how its question can be taken back. */
export interface FileCall {
  readonly tool: string;
  readonly callId?: string;
  readonly signal?: AbortSignal;
}

export interface CheckOptions extends FileCall {
  /** The folders of a sandbox: nothing outside of them is reached in any case, so only sealed places count. */
  readonly roots?: readonly string[];
}

/** The one place that decides which files tools may reach. */
export interface FileAccess {
  /** What opens and writes files asks before each access; see `createRootedFiles`. */
  check(context: ToolContext, options: CheckOptions): CheckAccess;
  /** What would be decided about a path, without asking anybody. */
  explainFile(caller: FileCaller, path: string): { readonly path: string; readonly read: FileVerdict; readonly write: FileVerdict };
  /** Throws when a path (or `file:` address) may not be read by this caller. For those who hand a path on to a channel. */
  mayRead(caller: FileCaller, written: string, options?: { readonly sealedOnly?: boolean }): Promise<void>;
  /** True when a command that names this path must not run without being asked about: it is sealed for reading, also under another name of the file. */
  isSealed(caller: FileCaller, path: string): boolean;
  /** The same for a command that reads everything in a folder. */
  holdsSealed(caller: FileCaller, folder: string): boolean;
}

const TIMEOUT_MS = 120_000;

export function createFileAccess(deps: FileAccessDeps): FileAccess {
  let table: SealedTable | undefined;
  let of: OwnPlaces | undefined;
  const tableNow = (): SealedTable => {
    const own = deps.own();
    if (!table || of !== own) [table, of] = [createSealedTable(own, deps.ignoreCase), own];
    return table;
  };

  function sealedFor({ agentId, workspaceDir }: FileCaller, roots: readonly string[] = []): Sealed {
    const { unseal } = deps.rules(agentId);
    return createSealed(tableNow(), { agentId, roots: [workspaceDir, ...roots], unsealed: unseal, skillsDecide: () => deps.skillsDecide(agentId) });
  }

  /** About a real path that is not sealed. `workspace` is real too. */
  function outsideVerdict(agentId: string, workspace: string, path: string, access: Access): FileVerdict {
    const { workspaceOnly, outside } = deps.rules(agentId);
    if (isInside(workspace, path)) return { decision: "allow", why: "it is in the workspace" };
    if (workspaceOnly) return { decision: "deny", why: "it is outside of the workspace (tools.fs.workspaceOnly)", escapes: true };
    if (access === "read") return { decision: "allow", why: "it may be read" };
    const shared = deps.shared.find((folder) => isInside(realName(folder), path));
    if (shared !== undefined) return { decision: "allow", why: `${shared} is there for agents` };
    if (outside !== "ask") return { decision: outside, why: `it is outside of the workspace (tools.fs.outside: ${JSON.stringify(outside)})` };
    const granted = deps.grants.covering(agentId, path);
    if (granted !== undefined) return { decision: "allow", why: `writing in ${granted} is always allowed` };
    return { decision: "ask", why: "it is outside of the workspace (tools.fs.outside)" };
  }

  return {
    check(context, options) {
      const sealed = sealedFor(context, options.roots);
      const links = createHardLinks(tableNow(), sealed);
      const workspace = realName(context.workspaceDir);
      /** Folders that the operator agreed to during this call. */
      const agreed = new Set<string>();
      let reported = false;
      return async (path, access, stat) => {
        const verdict: FileVerdict = options.roots
          ? { decision: "allow", why: "it is in the sandbox" }
          : outsideVerdict(context.agentId, workspace, path, access);
        if (verdict.escapes) throw new AppError("PERMISSION_DENIED", `Path escapes sandbox root (${context.workspaceDir}): ${path}`, { details: { path } });
        const place = sealed(path, access) ?? (access === "read" && stat !== undefined && stat.nlink > 1 ? links.findSealed(stat) : undefined);
        if (place) {
          // Once for a call: a search may come across many.
          if (!reported)
            deps.log.warn(`${options.tool} was denied access to a sealed path: ${path}`, { access, agentId: context.agentId, sessionKey: context.sessionKey });
          reported = true;
          throw sealedError(path, place, access);
        }
        if (verdict.decision === "allow" || agreed.has(dirname(path))) return;
        if (verdict.decision === "deny") throw new AppError("PERMISSION_DENIED", `${path} may not be written: ${verdict.why}`, { details: { path } });
        const answer = await ask(deps, context, path, options);
        agreed.add(dirname(path));
        if (answer === "always") remember(deps, context.agentId, dirname(path));
      };
    },

    explainFile(caller, written) {
      const path = realName(written);
      const sealed = sealedFor(caller);
      const decide = (access: Access): FileVerdict => {
        const place = sealed(path, access) ?? (access === "read" ? secondName(tableNow(), sealed, path) : undefined);
        if (place) return { decision: "deny", why: sealedText(path, place, access) };
        const { decision, why } = outsideVerdict(caller.agentId, realName(caller.workspaceDir), path, access);
        return { decision, why };
      };
      return { path, read: decide("read"), write: decide("write") };
    },

    async mayRead(caller, written, { sealedOnly = false } = {}) {
      const local = localPath(written, caller.workspaceDir, tableNow().homes[0]);
      if (local === undefined) return;
      const path = await realTarget(realName(local));
      const sealed = sealedFor(caller);
      const place = sealed(path, "read") ?? secondName(tableNow(), sealed, path);
      if (place) throw sealedError(path, place, "read");
      const folders = [caller.workspaceDir, ...deps.shared].map(realName);
      if (!sealedOnly && deps.rules(caller.agentId).workspaceOnly && !folders.some((folder) => isInside(folder, path)))
        throw new AppError("PERMISSION_DENIED", `${path} may not be read: it is outside of the workspace (tools.fs.workspaceOnly)`, { details: { path } });
    },

    isSealed: (caller, path) => commandReachesSealed(tableNow(), sealedFor(caller), realName(path)),

    holdsSealed: (caller, folder) => folderHoldsSealed(tableNow(), sealedFor(caller), realName(folder)),
  };
}

/** The sealed place that a file belongs to under another of its names. */
function secondName(table: SealedTable, sealed: Sealed, path: string): SealedPlace | undefined {
  const stat = fileAt(path);
  return stat && stat.nlink > 1 ? createHardLinks(table, sealed).findSealed(stat) : undefined;
}

/** Whether a command that names a real path is asked about: also where too many files are sealed to tell whether this is one of them. */
function commandReachesSealed(table: SealedTable, sealed: Sealed, path: string): boolean {
  if (sealed(path, "read")) return true;
  const stat = fileAt(path);
  if (!stat || stat.nlink < 2) return false;
  const links = createHardLinks(table, sealed);
  return links.findSealed(stat) !== undefined || !links.complete;
}

function folderHoldsSealed(table: SealedTable, sealed: Sealed, folder: string): boolean {
  const { same } = table;
  return holdsSealed(table, sealed, (path) => isInside(same(folder), same(path))) || createHardLinks(table, sealed).exist;
}

/** A regular file, as it is now. */
function fileAt(path: string): Stats | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat?.isFile() === true ? stat : undefined;
  } catch {
    return undefined; // It may not be looked at.
  }
}

/** Asks the operator about a write. Throws unless the answer is yes. */
async function ask(deps: FileAccessDeps, context: ToolContext, path: string, { tool, callId, signal }: FileCall): Promise<"once" | "always"> {
  const folder = dirname(path);
  const refuse = (why: string): AppError => {
    deps.log.warn(`${tool} may not write ${path}: ${why}`, { agentId: context.agentId, sessionKey: context.sessionKey });
    const text = `Writing ${path} was refused: it is outside of the workspace, and ${why}. Write inside the workspace, or ask the operator to set tools.fs.outside.`;
    return new AppError("PERMISSION_DENIED", text, { details: { path } });
  };
  const nobody = deps.unasked(context);
  if (nobody !== undefined) throw refuse(nobody);
  const { agentId, sessionKey, runId } = context;
  const facts = { title: `write ${path}`, description: `The file is outside of the workspace, in the folder ${folder}.`, toolName: tool, cwd: folder };
  const request = { ...facts, path, folder, severity: "warning", ...(callId === undefined ? {} : { toolCallId: callId }), agentId, sessionKey };
  const pending = await deps.approvals.request({ kind: "tool", request, sessionKey, agentId, turnId: runId, timeoutMs: TIMEOUT_MS }, signal);
  const decision = await pending.decision;
  if (decision === "allow-once") return "once";
  if (decision === "allow-always") return "always";
  throw refuse(
    decision === "timeout" ? "the approval request timed out" : decision === "deny" ? "the operator denied it" : "the approval request was withdrawn",
  );
}

function remember({ grants, log }: FileAccessDeps, agentId: string, folder: string): void {
  try {
    grants.add(agentId, folder);
  } catch (error) {
    // The write was allowed either way: it is asked again next time.
    log.warn(`the permission to write in ${folder} could not be stored: ${messageOf(error)}`);
  }
}

function sealedText(path: string, place: SealedPlace, access: Access): string {
  return `${path} is sealed: ${place.path === path ? "it" : place.path} ${place.because}, so no tool may ${access} it`;
}

export function sealedError(path: string, place: SealedPlace, access: Access): AppError {
  const advice = "The operator can open exactly this path with tools.fs.unseal.";
  return new AppError("PERMISSION_DENIED", `${sealedText(path, place, access)}. ${advice}`, { details: { path } });
}

/** The file that a text names; undefined when it is an address of something else. */
function localPath(written: string, from: string, home: string | undefined): string | undefined {
  const plain = written.trim().replace(/^(?:MEDIA:|FILE:(?!\/\/))\s*/i, "");
  if (/^file:/i.test(plain)) {
    try {
      return fileURLToPath(plain);
    } catch {
      throw new AppError("INVALID_INPUT", `${plain} is not a file URL of this machine`);
    }
  }
  if (/^[a-z][a-z0-9+.-]+:/i.test(plain) || plain === "") return undefined;
  if (/^~(?:\/|$)/.test(plain) && home !== undefined) return join(home, plain.slice(1));
  return isAbsolute(plain) ? plain : join(from, plain);
}
