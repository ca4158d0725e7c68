import { isObject } from "../../value.ts";
import type { Issue, Path } from "../issue.ts";

/** A feature that configurations of the reference system may set up and that this version does not have. */
export interface UnavailableArea {
  /** Begins the sentence "… is not available in this version". */
  readonly name: string;
  /** Dotted paths of its settings; `*` stands for any key or item. */
  readonly paths: readonly string[];
  /** What to do instead, when there is something. */
  readonly instead?: string;
}

/** Remove an area, or a path of it, when its feature is built: the list may only get shorter. */
export const UNAVAILABLE: readonly UnavailableArea[] = [
  { name: "cron", paths: ["cron"] },
  { name: "the heartbeat", paths: ["agents.defaults.heartbeat", "agents.list.*.heartbeat"] },
  { name: "the browser", paths: ["browser", "agents.defaults.sandbox.browser", "agents.list.*.sandbox.browser"] },
  { name: "the canvas", paths: ["canvasHost"] },
  { name: "talk mode", paths: ["talk"] },
  { name: "text to speech", paths: ["messages.tts"] },
  { name: "memory search", paths: ["memory", "agents.defaults.memorySearch", "agents.list.*.memorySearch"] },
  {
    name: "the webhook endpoint",
    paths: ["hooks.enabled", "hooks.token", "hooks.path", "hooks.presets", "hooks.mappings", "hooks.transformsDir", "hooks.gmail"],
  },
  { name: "loading hooks from files", paths: ["hooks.internal.handlers", "hooks.internal.load"], instead: "a plugin can register them" },
  { name: "starting Tailscale Serve or Funnel", paths: ["gateway.tailscale"], instead: "run tailscale serve or tailscale funnel yourself" },
  { name: "understanding of links", paths: ["tools.links"] },
  { name: "understanding of audio and video", paths: ["tools.media", "audio"] },
  { name: "session maintenance", paths: ["session.maintenance"], instead: "store.retention says how long data is kept" },
  { name: "discovery on the network", paths: ["discovery"] },
  { name: "the node host", paths: ["nodeHost"] },
  { name: "a context engine from a plugin", paths: ["plugins.slots.contextEngine"] },
  { name: "an environment for one plugin", paths: ["plugins.entries.*.env"], instead: "set variables in env.vars" },
  { name: "turning off streaming for one model", paths: ["agents.defaults.models.*.streaming"] },
];

/** Values that ask for nothing: without the feature they are true. */
const ASKS_FOR_NOTHING: ReadonlySet<unknown> = new Set([false, "off", "none", "never", "legacy", "", "0", "0m", "0s", 0]);

/** Settings below a value that ask for something; none when it is switched off as a whole. */
function* asking(value: unknown, path: Path): Generator<Path> {
  if (Array.isArray(value)) {
    if (value.length > 0) yield path;
  } else if (!isObject(value)) {
    if (value !== undefined && !ASKS_FOR_NOTHING.has(value)) yield path;
  } else if (value["enabled"] !== false && value["mode"] !== "off" && !ASKS_FOR_NOTHING.has(value["every"])) {
    for (const [key, child] of Object.entries(value)) yield* asking(child, [...path, key]);
  }
}

/** Values at a pattern, with their paths. */
function* matching(value: unknown, [key, ...rest]: readonly string[], path: Path = []): Generator<{ readonly path: Path; readonly value: unknown }> {
  if (key === undefined) yield { path, value };
  else if (key === "*" && Array.isArray(value)) for (const [index, item] of value.entries()) yield* matching(item, rest, [...path, index]);
  else if (key === "*" && isObject(value)) for (const [name, child] of Object.entries(value)) yield* matching(child, rest, [...path, name]);
  else if (key !== "*" && isObject(value) && Object.hasOwn(value, key)) yield* matching(value[key], rest, [...path, key]);
}

/** What is set up for a feature that is not there is accepted and has no effect: one warning for each such feature, at its first setting. */
export function unavailableFeatures(config: Readonly<Record<string, unknown>>): readonly Issue[] {
  const issues: Issue[] = [];
  for (const { name, paths, instead } of UNAVAILABLE) {
    // The switch of webhooks is one of its settings.
    if (paths.includes("hooks.enabled") && isObject(config["hooks"]) && config["hooks"]["enabled"] === false) continue;
    const found = paths.flatMap((pattern) => [...matching(config, pattern.split("."))].flatMap(({ path, value }) => [...asked(value, path)]));
    if (found.length === 0) continue;
    const others = found.length === 1 ? "this setting has" : `this setting and ${found.length - 1} more have`;
    const message = `${name} is not available in this version: ${others} no effect${instead === undefined ? "" : `; ${instead}`}`;
    issues.push({ path: found[0]!, message, code: "unavailable", severity: "warning" });
  }
  return issues;
}

/** Streaming asks for something when it is turned off. */
function asked(value: unknown, path: Path): Iterable<Path> {
  return path.at(-1) === "streaming" ? (value === false ? [path] : []) : asking(value, path);
}
