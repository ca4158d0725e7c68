import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { AppError, fileError, systemCode } from "../../base/errors.ts";
import { withFileLock } from "../../base/file-lock.ts";
import { ensureFolder, writeAtomic } from "../../base/files.ts";
import type { Ids } from "../../base/ids.ts";
import type { Random } from "../../base/random.ts";
import type { AllowEntry } from "./allowlist.ts";
import { ASK_LEVELS, SECURITY_LEVELS, stricterAsk, stricterSecurity, type ExecAsk, type ExecSecurity } from "./settings.ts";
import { isRecord } from "../../base/records.ts";

interface Rules {
  readonly security?: ExecSecurity;
  readonly ask?: ExecAsk;
  readonly askFallback?: ExecSecurity;
  readonly autoAllowSkills?: boolean;
}

type AgentRules = Rules & { readonly allowlist?: readonly AllowEntry[] };

/** `exec-approvals.json`. */
export interface ExecRulesFile {
  readonly version: 1;
  readonly socket?: { readonly path?: string; readonly token?: string };
  readonly defaults?: Rules;
  readonly agents?: Readonly<Record<string, AgentRules>>;
}

/** What holds for one agent. */
export interface EffectiveRules {
  readonly security: ExecSecurity;
  readonly ask: ExecAsk;
  readonly askFallback: ExecSecurity;
  readonly autoAllowSkills: boolean;
  readonly allowlist: readonly AllowEntry[];
}

/** The file as clients see it: without the socket's token. */
export interface ExecRulesSnapshot {
  readonly path: string;
  readonly exists: boolean;
  /** Of the file's text. */
  readonly hash: string;
  readonly file: ExecRulesFile;
}

export interface ExecRules {
  snapshot(): ExecRulesSnapshot;
  /**
   * Puts other rules in place. The socket's token stays. `INVALID_INPUT` when the file is not (or no longer) the one that `baseHash` names, or what is
   * given is no file of rules.
   */
  replace(file: unknown, baseHash: string | undefined): Promise<ExecRulesSnapshot>;
  /** The stricter of the file and the tool's own values. Read again each time: people edit the file. */
  effective(agentId: string, tool: { readonly security: ExecSecurity; readonly ask: ExecAsk }): EffectiveRules;
  /** Notes that entries were used. */
  used(agentId: string, entries: readonly AllowEntry[], command: string): Promise<void>;
}

export interface ExecRulesDeps {
  /** Of `exec-approvals.json`. */
  readonly path: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
}

const LOCK = { timeoutMs: 5000, staleMs: 30_000 };
const TOKEN_BYTES = 24;
const COMMAND_CHARS = 2000;
/** A file that cannot be read may have forbidden everything: nothing runs unasked until it is repaired. */
const UNREADABLE: ExecRulesFile = { version: 1, defaults: { security: "allowlist", ask: "on-miss" } };

export function createExecRules({ path, clock, ids, random }: ExecRulesDeps): ExecRules {
  /** Undefined when there is no file. */
  function text(): string | undefined {
    try {
      return readFileSync(path, "utf8");
    } catch (error) {
      if (systemCode(error) === "ENOENT") return undefined;
      throw fileError(path, "could not read the rules for commands", error);
    }
  }

  function load(written = text()): ExecRulesFile | "broken" {
    if (written === undefined) return { version: 1 };
    try {
      return parseRules(written, ids);
    } catch {
      return "broken";
    }
  }

  function snapshot(): ExecRulesSnapshot {
    const written = text();
    const loaded = load(written);
    const { socket, ...rules } = loaded === "broken" ? UNREADABLE : loaded;
    const file = { ...rules, ...(socket?.path === undefined ? {} : { socket: { path: socket.path } }) };
    return { path, exists: written !== undefined, hash: hashOf(written), file };
  }

  async function replace(given: unknown, baseHash: string | undefined): Promise<ExecRulesSnapshot> {
    const rules = parsedRules(given, ids);
    ensureFolder(dirname(path));
    await withFileLock(`${path}.lock`, { ...LOCK, ids }, () => {
      const written = text();
      const retry = "re-run exec.approvals.get and retry";
      if (written !== undefined && baseHash === undefined) throw new AppError("INVALID_INPUT", `exec approvals base hash required; ${retry}`);
      if (baseHash !== undefined && baseHash !== hashOf(written)) throw new AppError("INVALID_INPUT", `exec approvals changed since last load; ${retry}`);
      const loaded = load(written);
      const before = loaded === "broken" ? undefined : loaded.socket;
      write({ ...rules, socket: socketOf({ ...before, ...(rules.socket?.path === undefined ? {} : { path: rules.socket.path }) }) });
    });
    return snapshot();
  }

  const socketOf = (socket: ExecRulesFile["socket"]): NonNullable<ExecRulesFile["socket"]> => ({
    path: `${path.replace(/\.json$/, "")}.sock`,
    token: random.bytes(TOKEN_BYTES).toString("base64url"),
    ...socket,
  });

  function write(file: ExecRulesFile): void {
    writeAtomic(path, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600, temporary: `${path}.${ids.hex(4)}.tmp` });
  }

  async function change(agentId: string, edit: (list: readonly AllowEntry[]) => readonly AllowEntry[]): Promise<void> {
    ensureFolder(dirname(path));
    await withFileLock(`${path}.lock`, { ...LOCK, ids }, () => {
      const file = load();
      if (file === "broken")
        throw new AppError("CONFIG_INVALID", `${path} is not a valid rules file (version 1); fix it or move it away`, { details: { path } });
      const own = file.agents?.[agentId] ?? {};
      write({ ...file, socket: socketOf(file.socket), agents: { ...file.agents, [agentId]: { ...own, allowlist: edit(own.allowlist ?? []) } } });
    });
  }

  return {
    snapshot,
    replace,
    effective(agentId, tool) {
      const loaded = load();
      return effectiveRules(loaded === "broken" ? UNREADABLE : loaded, agentId, tool);
    },
    async used(agentId, entries, command) {
      if (entries.length === 0) return;
      const mark = { lastUsedAt: clock.now(), lastUsedCommand: command.slice(0, COMMAND_CHARS) };
      const patterns = new Set(entries.map((entry) => entry.pattern));
      await change(agentId, (list) => list.map((entry) => (patterns.has(entry.pattern) ? { ...entry, ...mark } : entry)));
    },
  };
}

/** Agent, then `*`, then the defaults, then the tool's value; after that the stricter of the result and the tool. */
export function effectiveRules(file: ExecRulesFile, agentId: string, tool: { readonly security: ExecSecurity; readonly ask: ExecAsk }): EffectiveRules {
  const own: AgentRules = (file.agents && Object.hasOwn(file.agents, agentId) && file.agents[agentId]) || {};
  const all = file.agents?.["*"] ?? {};
  const layers: readonly Rules[] = [own, all, file.defaults ?? {}];
  const first = <K extends keyof Rules>(key: K): Rules[K] | undefined => layers.find((layer) => layer[key] !== undefined)?.[key];
  return {
    security: stricterSecurity(first("security") ?? tool.security, tool.security),
    ask: stricterAsk(first("ask") ?? tool.ask, tool.ask),
    askFallback: first("askFallback") ?? "deny",
    autoAllowSkills: first("autoAllowSkills") ?? false,
    allowlist: [...(all.allowlist ?? []), ...(own.allowlist ?? [])],
  };
}

const hashOf = (text: string | undefined): string =>
  createHash("sha256")
    .update(text ?? "")
    .digest("hex");

/** Rules from a client. What would silently be left out of a file is refused here. */
function parsedRules(given: unknown, ids: Ids): ExecRulesFile {
  const refused = (text: string): AppError => new AppError("INVALID_INPUT", `invalid exec approvals: ${text}`);
  if (!isRecord(given) || given["version"] !== 1) throw refused("expected a file of version 1");
  const scopes: [string, unknown][] = [["defaults", given["defaults"]], ...Object.entries(isRecord(given["agents"]) ? given["agents"] : {})];
  for (const [scope, rules] of scopes) {
    if (!isRecord(rules)) continue;
    const known = rulesOf(rules);
    for (const key of ["security", "ask", "askFallback"] as const) {
      const levels = key === "ask" ? ASK_LEVELS : SECURITY_LEVELS;
      if (rules[key] !== undefined && known[key] === undefined) throw refused(`${scope}.${key} must be ${levels.join(", ")}`);
    }
  }
  return parseRules(JSON.stringify(given), ids);
}

/** Throws for what is no file of version 1. Values that are not known are left out. */
function parseRules(text: string, ids: Ids): ExecRulesFile {
  const raw: unknown = JSON.parse(text);
  if (!isRecord(raw) || raw["version"] !== 1) throw new SyntaxError("not version 1");
  const given = isRecord(raw["agents"]) ? raw["agents"] : {};
  const agents = new Map(Object.entries(given).flatMap(([id, rules]) => (isRecord(rules) ? [[id, agentRules(rules, ids)] as const] : [])));
  const old = agents.get("default");
  if (old) {
    const main = agents.get("main") ?? {};
    agents.set("main", { ...old, ...main, allowlist: [...(old.allowlist ?? []), ...(main.allowlist ?? [])] });
    agents.delete("default");
  }
  return {
    version: 1,
    ...(isRecord(raw["socket"]) ? { socket: socketOf(raw["socket"]) } : {}),
    ...(isRecord(raw["defaults"]) ? { defaults: rulesOf(raw["defaults"]) } : {}),
    agents: Object.fromEntries(agents),
  };
}

function agentRules(raw: Record<string, unknown>, ids: Ids): AgentRules {
  const list: readonly unknown[] | undefined = Array.isArray(raw["allowlist"]) ? raw["allowlist"] : undefined;
  const entries = list?.flatMap((item): AllowEntry[] => {
    const entry = typeof item === "string" ? { pattern: item } : item;
    if (!isRecord(entry) || typeof entry["pattern"] !== "string" || entry["pattern"].trim() === "") return [];
    const used = typeof entry["lastUsedAt"] === "number" ? { lastUsedAt: entry["lastUsedAt"] } : {};
    const id = typeof entry["id"] === "string" && entry["id"] !== "" ? entry["id"] : ids.uuid();
    const command = textOf(entry["lastUsedCommand"]);
    const path = textOf(entry["lastResolvedPath"]);
    return [
      {
        id,
        pattern: entry["pattern"],
        ...used,
        ...(command === undefined ? {} : { lastUsedCommand: command }),
        ...(path === undefined ? {} : { lastResolvedPath: path }),
      },
    ];
  });
  return { ...rulesOf(raw), ...(entries ? { allowlist: entries } : {}) };
}

function rulesOf(raw: Record<string, unknown>): Rules {
  const security = SECURITY_LEVELS.find((level) => level === raw["security"]);
  const ask = ASK_LEVELS.find((level) => level === raw["ask"]);
  const askFallback = SECURITY_LEVELS.find((level) => level === raw["askFallback"]);
  const autoAllowSkills = raw["autoAllowSkills"];
  return {
    ...(security === undefined ? {} : { security }),
    ...(ask === undefined ? {} : { ask }),
    ...(askFallback === undefined ? {} : { askFallback }),
    ...(typeof autoAllowSkills === "boolean" ? { autoAllowSkills } : {}),
  };
}

function socketOf(raw: Record<string, unknown>): NonNullable<ExecRulesFile["socket"]> {
  const path = textOf(raw["path"]);
  const token = textOf(raw["token"]);
  return { ...(path === undefined ? {} : { path }), ...(token === undefined ? {} : { token }) };
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
