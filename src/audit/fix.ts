import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../base/errors.ts";
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

const BY = { by: "security audit --fix" } as const;

/** A patch with the value at a path. */
const patchAt = (path: readonly string[], value: unknown): unknown => path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);

function changesFor({ cfg }: AuditContext): readonly { readonly path: readonly string[]; readonly before: string; readonly after: string }[] {
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

/** Takes the rights of others away from what is not for them; what its owner may do stays. */
function chmodAll(context: AuditContext): readonly FixAction[] {
  if (context.platform === "win32") return [];
  const { state } = context.config.paths;
  const paths = new Set([...guardedPaths(context).map(({ path }) => path), ...sessionFiles(state), ...credentialFiles(state)]);
  return [...paths].flatMap((path): FixAction[] => {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat || (stat.mode & 0o077) === 0) return [];
    const mode = stat.mode & 0o700;
    const shown = mode.toString(8);
    try {
      chmodSync(path, mode);
      return [{ kind: "chmod", path, mode: shown, ok: true }];
    } catch (error) {
      return [{ kind: "chmod", path, mode: shown, ok: false, error: messageOf(error) }];
    }
  });
}

/** Closes open groups, turns the redaction of logs on, and takes rights away from others; nothing else. */
export async function applyFixes(deps: AuditDeps): Promise<FixReport> {
  const context = contextOf(deps);
  const { config } = deps;
  const wanted = changesFor(context);
  // First: what is written afterwards has the right mode anyway, and what was wrong would not be reported.
  const actions = chmodAll(context);
  const errors: string[] = [];
  const changes: string[] = [];
  for (const { path, before, after } of wanted) {
    try {
      await config.edit({ kind: "patch", value: patchAt(path, after) }, BY);
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
