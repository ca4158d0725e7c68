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
  /** Values that ask for what this version does anyway; otherwise those that switch something off. */
  readonly satisfiedBy?: readonly unknown[];
}

/** Remove an area, or a path of it, when its feature is built: the list may only get shorter. */
export const UNAVAILABLE: readonly UnavailableArea[] = [
  { name: "a separate port for the canvas", paths: ["canvasHost.port"], instead: "it is served on the gateway's port" },
  { name: "a proxy for Edge's voices, and subtitles", paths: ["messages.tts.edge.proxy", "messages.tts.edge.saveSubtitles"] },
  { name: "starting Tailscale Serve or Funnel", paths: ["gateway.tailscale"], instead: "run tailscale serve or tailscale funnel yourself" },
  {
    name: "Deepgram for images and video",
    paths: ["tools.media.image.deepgram", "tools.media.image.models.*.deepgram", "tools.media.video.deepgram", "tools.media.video.models.*.deepgram"],
  },
  { name: "session maintenance", paths: ["session.maintenance"], instead: "store.retention says how long data is kept" },
  { name: "discovery on the network", paths: ["discovery"] },
  { name: "a mark on messages to other chats", paths: ["tools.message.crossContext.marker"] },
  { name: "running other programs as models", paths: ["agents.defaults.cliBackends"] },
  { name: "emitting diagnostic events", paths: ["diagnostics"] },
  { name: "showing secrets in logs", paths: ["logging.redactSensitive"], satisfiedBy: ["tools"] },
  { name: "looking for updates", paths: ["update"], instead: "update it in the way it was installed" },
  { name: "a custom colour for the Control UI", paths: ["ui.seamColor"] },
  { name: "a message about each failed tool", paths: ["messages.suppressToolErrors"], satisfiedBy: [true] },
  { name: "a regular check of all channels", paths: ["gateway.channelHealthCheckMinutes"], instead: "each channel watches its own connection" },
  { name: "a tunnel to a remote gateway", paths: ["gateway.remote.sshTarget", "gateway.remote.sshIdentity"], instead: "open it yourself: ssh -L" },
  { name: "connecting over SSH", paths: ["gateway.remote.transport"], instead: "set gateway.remote.url", satisfiedBy: ["direct"] },
  { name: "model access for a plugin", paths: ["plugins.entries.*.llm"] },
  { name: "a context engine from a plugin", paths: ["plugins.slots.contextEngine"] },
  { name: "a key or an environment for one plugin", paths: ["plugins.entries.*.env", "plugins.entries.*.apiKey"], instead: "set variables in env.vars" },
  { name: "turning off streaming for one model", paths: ["agents.defaults.models.*.streaming"], satisfiedBy: [true] },
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
  for (const { name, paths, instead, satisfiedBy } of UNAVAILABLE) {
    const found = paths.flatMap((pattern) =>
      [...matching(config, pattern.split("."))].flatMap(({ path, value }) =>
        satisfiedBy ? (satisfiedBy.includes(value) ? [] : [path]) : [...asking(value, path)],
      ),
    );
    const [first] = found;
    if (!first) continue;
    const others = found.length === 1 ? "this setting has" : `this setting and ${found.length - 1} more have`;
    const message = `${name} is not available in this version: ${others} no effect${instead === undefined ? "" : `; ${instead}`}`;
    issues.push({ path: first, message, code: "unavailable", severity: "warning" });
  }
  return issues;
}
