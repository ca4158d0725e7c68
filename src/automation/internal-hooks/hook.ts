/** A hook as its `HOOK.md` describes it, and whether it can be used here. */
import { isSettingOn, parseFrontMatter, readMetadata, textOf, textsOf, type SkillRequirements } from "../../agent/index.ts";
import type { Env, OpenClawConfig } from "../../config/index.ts";

/** Where a hook was found; a later one replaces an earlier of the same name. */
export const HOOK_SOURCES = ["openclaw-extra", "openclaw-bundled", "openclaw-managed", "openclaw-workspace"] as const;
export type HookSource = (typeof HOOK_SOURCES)[number];

/** Files of a hook: real paths. */
export interface HookFiles {
  readonly baseDir: string;
  /** Its `HOOK.md`. */
  readonly filePath: string;
  /** Absent when there is no handler. */
  readonly handlerPath?: string;
}

export interface Hook {
  readonly name: string;
  readonly description: string;
  readonly source: HookSource;
  /** Its key in `hooks.internal.entries`. */
  readonly key: string;
  /** `type` or `type:action`. */
  readonly events: readonly string[];
  /** The export of the handler's module that is called. */
  readonly exportName: string;
  readonly homepage?: string;
  readonly emoji?: string;
  readonly always: boolean;
  /** Platforms it works on; any when empty. */
  readonly os: readonly string[];
  readonly requires: SkillRequirements;
  /** How what it needs can be installed, as written. */
  readonly install: readonly unknown[];
  /** Absent for hooks that are part of this program. */
  readonly files?: HookFiles;
}

/** Why a hook is not called. */
export interface HookState {
  readonly eligible: boolean;
  readonly disabled: boolean;
  readonly missing: SkillRequirements & { readonly os: readonly string[] };
  /** What is wrong with its files; it is not loaded then. */
  readonly problem?: string;
}

export type KnownHook = Hook & HookState;

export interface HookLocation {
  readonly files: HookFiles;
  readonly source: HookSource;
  /** Name when the file gives none. */
  readonly folderName: string;
}

const NAME_CHARS = 100;
const MOST_EVENTS = 64;

/** What handlers are called for. */
const EVENTS = {
  command: ["new", "reset", "stop"],
  agent: ["bootstrap"],
  gateway: ["startup"],
  message: ["received", "sent"],
} as const satisfies Readonly<Record<string, readonly string[]>>;
const KNOWN_EVENTS: readonly string[] = Object.entries(EVENTS).flatMap(([type, actions]) => [type, ...actions.map((action) => `${type}:${action}`)]);

export const isKnownEvent = (event: string): boolean => KNOWN_EVENTS.includes(event);

/** Says that nothing calls a handler for these. */
export const unknownEvents = (events: readonly string[]): string =>
  `there is no event ${events.join(", ")}: expected one of ${KNOWN_EVENTS.filter((event) => event.includes(":")).join(", ")}`;

/** Reads the front matter of a `HOOK.md`; a text in place of a hook says why it is none. */
export function parseHook(text: string, { files, source, folderName }: HookLocation): Hook | string {
  const front = parseFrontMatter(text);
  if (!front) return "no front matter: the file must start with a block between --- lines that names the hook and its events";
  const { fields } = front;
  const { own, ...shared } = readMetadata(fields);
  const name = textOf(fields["name"]) ?? folderName;
  const events = [...new Set(textsOf(own["events"]))].slice(0, MOST_EVENTS);
  // A line that is wrong does no harm where the rest says enough.
  if (front.problems.length > 0 && (events.length === 0 || /^[[{]/.test(name))) return `the front matter cannot be read: ${front.problems.join("; ")}`;
  if (name.length > NAME_CHARS || /[\p{Cc}]/u.test(name)) return `the name ${JSON.stringify(name.slice(0, 40))} is too long or has control characters`;
  return {
    name,
    description: textOf(fields["description"]) ?? "",
    source,
    key: textOf(own["hookKey"]) ?? name,
    events,
    exportName: textOf(own["export"]) ?? "default",
    ...shared,
    files,
  };
}

/** What hooks are judged by. */
export interface HookGates {
  readonly config: OpenClawConfig;
  readonly env: Env;
  readonly platform: string;
  /** Programs on the path. */
  readonly programs: ReadonlySet<string>;
}

/** Settings that count as on until they are turned off. */
const ON_UNLESS_SET: ReadonlySet<string> = new Set(["workspace.dir", "browser.enabled", "browser.evaluateEnabled"]);

/** Whether a hook can be used, and if not, everything that stands in its way. */
export function stateOf(hook: Hook, { config, env, platform, programs }: HookGates): HookState {
  const { requires, os, always, files, events } = hook;
  const entry = config.hooks?.internal?.entries?.[hook.key];
  const disabled = entry?.enabled === false;
  const missing = {
    os: os.length === 0 || os.includes(platform) ? [] : os,
    bins: requires.bins.filter((name) => !programs.has(name)),
    anyBins: requires.anyBins.some((name) => programs.has(name)) ? [] : requires.anyBins,
    env: requires.env.filter((name) => !env[name] && !entry?.env?.[name]),
    config: requires.config.filter((path) => !isSettingOn(config, path, ON_UNLESS_SET)),
  };
  const problem =
    files && files.handlerPath === undefined
      ? "it has no handler: expected handler.ts, handler.js, index.ts or index.js beside HOOK.md"
      : events.length === 0
        ? "it has no events: expected metadata.openclaw.events, such as command:new"
        : events.every((event) => !isKnownEvent(event))
          ? unknownEvents(events)
          : undefined;
  const lacks = missing.os.length > 0 || (!always && [missing.bins, missing.anyBins, missing.env, missing.config].some((list) => list.length > 0));
  return { eligible: !disabled && !lacks && problem === undefined, disabled, missing, ...(problem === undefined ? {} : { problem }) };
}

/** Why a hook is not called, for people; undefined when it is. */
export function whyNot({ disabled, missing, problem }: HookState): string | undefined {
  if (disabled) return "disabled in the configuration";
  if (problem !== undefined) return problem;
  const { os, bins, anyBins, env, config } = missing;
  const parts = [
    os.length > 0 ? `works only on ${os.join(", ")}` : "",
    bins.length > 0 ? `needs the program ${bins.join(", ")}` : "",
    anyBins.length > 0 ? `needs one of the programs ${anyBins.join(", ")}` : "",
    env.length > 0 ? `needs the environment variable ${env.join(", ")}` : "",
    config.length > 0 ? `needs the setting ${config.join(", ")}` : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? undefined : parts.join("; ");
}
