import { join, resolve } from "node:path";
import { expandHome, parseDuration, type OpenClawConfig } from "../../config/index.ts";

type Written = NonNullable<NonNullable<OpenClawConfig["memory"]>["qmd"]>;

/** A folder that qmd indexes under a name. */
export interface Collection {
  readonly name: string;
  readonly root: string;
  /** Files below it. */
  readonly pattern: string;
  readonly kind: "memory" | "custom" | "sessions";
}

/** `memory.qmd` for one agent with the documented defaults. */
export interface QmdSettings {
  readonly command: string;
  readonly searchMode: "search" | "vsearch" | "query";
  /** Everything that qmd keeps for this agent. */
  readonly home: string;
  readonly collections: readonly Collection[];
  readonly sessions?: { readonly folder: string; readonly retentionDays?: number | undefined } | undefined;
  readonly update: {
    /** 0 is never. */
    readonly intervalMs: number;
    readonly debounceMs: number;
    readonly onBoot: boolean;
    readonly waitForBootSync: boolean;
    readonly embedIntervalMs: number;
    readonly commandTimeoutMs: number;
    readonly updateTimeoutMs: number;
    readonly embedTimeoutMs: number;
  };
  readonly limits: { readonly maxResults: number; readonly maxSnippetChars: number; readonly maxInjectedChars: number; readonly timeoutMs: number };
  readonly scope: NonNullable<Written["scope"]>;
}

/** Chats with one person alone. */
const DIRECT_ONLY: QmdSettings["scope"] = { default: "deny", rules: [{ action: "allow", match: { chatType: "direct" } }] };

const nameOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "") || "notes";

export interface QmdContext {
  readonly stateDir: string;
  readonly home: string;
  readonly workspace: string;
}

function collectionsOf({ includeDefaultMemory, paths }: Written, sessionsFolder: string | undefined, { home, workspace }: QmdContext): readonly Collection[] {
  const found: Collection[] = [];
  const add = (wanted: string, root: string, pattern: string, kind: Collection["kind"]): void => {
    let name = nameOf(wanted);
    for (let number = 2; found.some((other) => other.name === name); number += 1) name = `${nameOf(wanted)}-${number}`;
    found.push({ name, root, pattern, kind });
  };
  if (includeDefaultMemory !== false) {
    add("memory-root", workspace, "MEMORY.md", "memory");
    add("memory-alt", workspace, "memory.md", "memory");
    add("memory-dir", join(workspace, "memory"), "**/*.md", "memory");
  }
  for (const [index, { path, name, pattern }] of (paths ?? []).entries())
    add(name ?? `custom-${index + 1}`, resolve(workspace, expandHome(path, home)), pattern ?? "**/*.md", "custom");
  if (sessionsFolder !== undefined) add("sessions", sessionsFolder, "**/*.md", "sessions");
  return found;
}

/** An old rule may give a whole session key as the beginning of one without the agent. */
function withRawKeys({ rules = [], default: otherwise = "deny" }: NonNullable<Written["scope"]>): QmdSettings["scope"] {
  return {
    default: otherwise,
    rules: rules.map(({ action, match = {} }) => {
      const { keyPrefix, ...others } = match;
      if (keyPrefix === undefined || !keyPrefix.toLowerCase().startsWith("agent:")) return { action, match };
      return { action, match: { ...others, rawKeyPrefix: keyPrefix } };
    }),
  };
}

export function qmdSettings(config: OpenClawConfig, agentId: string, context: QmdContext): QmdSettings {
  const written = config.memory?.qmd ?? {};
  const { update = {}, limits = {}, sessions } = written;
  const home = join(context.stateDir, "agents", agentId, "qmd");
  const folder =
    sessions?.enabled === true
      ? sessions.exportDir === undefined
        ? join(home, "sessions")
        : resolve(context.home, expandHome(sessions.exportDir, context.home))
      : undefined;
  return {
    command: written.command?.trim() || "qmd",
    searchMode: written.searchMode ?? "search",
    home,
    collections: collectionsOf(written, folder, context),
    ...(folder === undefined ? {} : { sessions: { folder, retentionDays: sessions?.retentionDays } }),
    update: {
      intervalMs: parseDuration(update.interval ?? "5m", "m") ?? 300_000,
      debounceMs: update.debounceMs ?? 15_000,
      onBoot: update.onBoot ?? true,
      waitForBootSync: update.waitForBootSync ?? false,
      embedIntervalMs: parseDuration(update.embedInterval ?? "60m", "m") ?? 3_600_000,
      commandTimeoutMs: update.commandTimeoutMs ?? 30_000,
      updateTimeoutMs: update.updateTimeoutMs ?? 120_000,
      embedTimeoutMs: update.embedTimeoutMs ?? 120_000,
    },
    limits: {
      maxResults: limits.maxResults ?? 6,
      maxSnippetChars: limits.maxSnippetChars ?? 700,
      maxInjectedChars: limits.maxInjectedChars ?? 4000,
      timeoutMs: limits.timeoutMs ?? 4000,
    },
    scope: written.scope ? withRawKeys(written.scope) : DIRECT_ONLY,
  };
}
