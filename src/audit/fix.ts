import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { AppError, messageOf } from "../base/errors.ts";
import { guardedPaths } from "./checks/files.ts";
import { channelScopes } from "./channels.ts";
import { contextOf, type AuditContext, type AuditDeps } from "./finding.ts";

export interface FixAction {
  readonly kind: "chmod";
  readonly path: string;
  /** Octal, as `chmod` takes it. */
  readonly mode: string;
  readonly ok: boolean;
  readonly error?: string;
}

/** What `--fix` did; see the documentation for what it does and what it leaves alone. */
export interface FixReport {
  readonly ok: boolean;
  readonly stateDir: string;
  readonly configPath: string;
  readonly configWritten: boolean;
  /** Settings that were changed, each as `path: before → after`. */
  readonly changes: readonly string[];
  readonly actions: readonly FixAction[];
  readonly errors: readonly string[];
}

/** One thing that can be fixed safely, as it is shown before it is done. */
export interface PlannedFix {
  /** The same for as long as it is to be fixed. */
  readonly id: string;
  readonly kind: "config" | "chmod";
  /** A path of the configuration, or of a file. */
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

const BY = { by: "security audit --fix" } as const;

/** A patch with the value at a path. */
const patchAt = (path: readonly string[], value: unknown): unknown => path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);

interface ConfigChange {
  readonly path: readonly string[];
  readonly before: string;
  readonly after: string;
}

function changesFor({ cfg }: AuditContext): readonly ConfigChange[] {
  const open = channelScopes(cfg).filter(({ own }) => own["groupPolicy"] === "open");
  return [
    ...open.map(({ path }) => ({ path: [...path, "groupPolicy"], before: "open", after: "allowlist" })),
    ...(cfg.logging?.redactSensitive === "off" ? [{ path: ["logging", "redactSensitive"], before: "off", after: "tools" }] : []),
  ];
}

/** Session logs, which are many: each is looked at like the rest. */
function sessionFiles(state: string): string[] {
  const list = (folder: string): string[] => {
    try {
      return readdirSync(folder);
    } catch {
      return [];
    }
  };
  return list(join(state, "agents")).flatMap((id) => {
    const folder = join(state, "agents", id, "sessions");
    return list(folder)
      .filter((name) => /\.jsonl(?:\.gz)?$/.test(name) || name.startsWith("sessions.json"))
      .map((name) => join(folder, name));
  });
}

function credentialFiles(state: string): string[] {
  try {
    return readdirSync(join(state, "credentials"), { recursive: true, encoding: "utf8" }).map((name) => join(state, "credentials", name));
  } catch {
    return [];
  }
}

interface WantedMode {
  readonly path: string;
  readonly before: number;
  readonly mode: number;
}

/** Files that others may read or write and that are not for them; what their owner may do stays. */
function modesFor(context: AuditContext): readonly WantedMode[] {
  if (context.platform === "win32") return [];
  const { state } = context.config.paths;
  const paths = new Set([...guardedPaths(context).map(({ path }) => path), ...sessionFiles(state), ...credentialFiles(state)]);
  return [...paths].flatMap((path): WantedMode[] => {
    const stat = statSync(path, { throwIfNoEntry: false });
    return !stat || (stat.mode & 0o077) === 0 ? [] : [{ path, before: stat.mode & 0o777, mode: stat.mode & 0o700 }];
  });
}

function setMode({ path, mode }: WantedMode): FixAction {
  const shown = mode.toString(8);
  try {
    chmodSync(path, mode);
    return { kind: "chmod", path, mode: shown, ok: true };
  } catch (error) {
    return { kind: "chmod", path, mode: shown, ok: false, error: messageOf(error) };
  }
}

const setConfig = ({ config }: AuditContext, { path, after }: ConfigChange): Promise<unknown> =>
  config.edit({ kind: "patch", value: patchAt(path, after) }, BY);

const changeId = ({ path }: ConfigChange): string => `config:${path.join(".")}`;
const modeId = ({ path }: WantedMode): string => `chmod:${path}`;

/** What `applyFixes` would do, one by one. */
export function plannedFixes(deps: AuditDeps): readonly PlannedFix[] {
  const context = contextOf(deps);
  return [
    ...changesFor(context).map((change) => ({ ...change, id: changeId(change), kind: "config" as const, path: change.path.join(".") })),
    ...modesFor(context).map((wanted) => ({
      id: modeId(wanted),
      kind: "chmod" as const,
      path: wanted.path,
      before: wanted.before.toString(8),
      after: wanted.mode.toString(8),
    })),
  ];
}

/** Makes one of the planned fixes. `NOT_FOUND` when there is nothing to fix any more. */
export async function applyFix(deps: AuditDeps, id: string): Promise<PlannedFix> {
  const context = contextOf(deps);
  const fix = plannedFixes(deps).find((one) => one.id === id);
  if (!fix) throw new AppError("NOT_FOUND", "there is nothing to fix there any more; run the audit again", { details: { id } });
  const change = changesFor(context).find((one) => changeId(one) === id);
  if (change) await setConfig(context, change);
  const wanted = modesFor(context).find((one) => modeId(one) === id);
  const action = wanted && setMode(wanted);
  if (action && !action.ok) throw new AppError("UNAVAILABLE", `${action.path}: its mode could not be set: ${action.error ?? "no reason was given"}`);
  return fix;
}

/** Closes open groups, turns the redaction of logs on, and takes rights away from others; nothing else. */
export async function applyFixes(deps: AuditDeps): Promise<FixReport> {
  const context = contextOf(deps);
  const { config } = deps;
  const wanted = changesFor(context);
  // First: what is written afterwards has the right mode anyway, and what was wrong would not be reported.
  const actions = modesFor(context).map(setMode);
  const errors: string[] = [];
  const changes: string[] = [];
  for (const change of wanted) {
    const { path, before, after } = change;
    try {
      await setConfig(context, change);
      changes.push(`${path.join(".")}: ${before} → ${after}`);
    } catch (error) {
      errors.push(`${path.join(".")} could not be set: ${messageOf(error)}`);
    }
  }
  for (const { ok, path, error } of actions) if (!ok) errors.push(`${path}: ${error ?? "its mode could not be set"}`);
  return {
    ok: errors.length === 0,
    stateDir: config.paths.state,
    configPath: config.paths.file,
    configWritten: changes.length > 0,
    changes,
    actions,
    errors,
  };
}
