import { KNOWN_CHANNELS } from "./known-channels.ts";
/** What a change of configuration asks for. */
export type ReloadAction =
  /** Nothing: it is read on next use. */
  | { readonly kind: "none" }
  /** The module applies the new settings while it runs. */
  | { readonly kind: "hot"; readonly module: string }
  /** The module (of `channels`: the one named by `id`) stops and starts. */
  | { readonly kind: "restart"; readonly module: string; readonly id?: string }
  /** The gateway restarts. */
  | { readonly kind: "process" };

export type ReloadMode = "hybrid" | "hot" | "restart" | "off";

export interface ReloadPlan {
  /** Dotted paths that changed. */
  readonly paths: readonly string[];
  /** What is to be done; never `none`, no action twice, empty when nothing is. */
  readonly actions: readonly ReloadAction[];
  /** Those of `paths` that wait for a restart which the mode does not make: what was in use there stays. Absent when there are none. */
  readonly held?: readonly string[];
  /** Why they wait, for the log. */
  readonly ignored?: string;
}

const NONE: ReloadAction = { kind: "none" };
const PROCESS: ReloadAction = { kind: "process" };
const hot = (module: string): ReloadAction => ({ kind: "hot", module });
const restart = (module: string, id?: string): ReloadAction => (id === undefined ? { kind: "restart", module } : { kind: "restart", module, id });

interface Rule {
  readonly prefix: string;
  /** Holds only while this channel is loaded: its first settings load its plugin. */
  readonly channel?: string;
  readonly actions: readonly ReloadAction[];
}

const READ_ON_USE = "meta identity wizard logging auth models usage agents tools bindings audio agent routing messages session talk skills ui".split(" ");
const NEEDS_PROCESS = "plugins gateway discovery canvasHost".split(" ");

/** In order: the first that fits decides. `channels.<id>` of loaded channels is put in where `channels` stands. */
const RULES: readonly (Rule | "channels")[] = [
  { prefix: "gateway.remote", actions: [NONE] },
  { prefix: "gateway.reload", actions: [NONE] },
  // Asked with each command for a node.
  { prefix: "gateway.nodes.allowCommands", actions: [NONE] },
  { prefix: "gateway.nodes.denyCommands", actions: [NONE] },
  // A new secret closes what stands on the old one, and nothing else.
  { prefix: "gateway.auth.token", actions: [hot("auth")] },
  { prefix: "gateway.auth.password", actions: [hot("auth")] },
  // Who may give commands and who owns the gateway is asked with each message.
  { prefix: "commands.ownerAllowFrom", actions: [NONE] },
  { prefix: "commands.allowFrom", actions: [NONE] },
  { prefix: "commands.useAccessGroups", actions: [NONE] },
  { prefix: "hooks.gmail", actions: [restart("gmail"), hot("hooks")] },
  // The list of installed packs is for the install command; hooks from files are loaded at the start.
  { prefix: "hooks.internal.installs", actions: [NONE] },
  { prefix: "hooks.internal", actions: [PROCESS] },
  { prefix: "hooks", actions: [hot("hooks")] },
  { prefix: "agents.defaults.heartbeat", actions: [restart("heartbeat")] },
  { prefix: "agent.heartbeat", actions: [restart("heartbeat")] },
  { prefix: "cron", actions: [restart("cron")] },
  { prefix: "browser", actions: [restart("browser")] },
  ...KNOWN_CHANNELS.flatMap(({ id, connectionSection: prefix }) =>
    prefix === undefined
      ? []
      : [
          { prefix, actions: [restart("channels", id)] },
          // Whether an account runs, and with which credentials, is decided when it starts. The rest is read on use.
          ...["enabled", "accounts", "authDir"].map((key) => ({ prefix: `channels.${id}.${key}`, channel: id, actions: [restart("channels", id)] })),
          { prefix: `channels.${id}`, channel: id, actions: [NONE] },
        ],
  ),
  "channels",
  // The store is opened with it.
  { prefix: "session.store", actions: [PROCESS] },
  ...READ_ON_USE.map((prefix) => ({ prefix, actions: [NONE] })),
  ...NEEDS_PROCESS.map((prefix) => ({ prefix, actions: [PROCESS] })),
];

const BUNDLED_CHANNELS = KNOWN_CHANNELS.flatMap(({ id, bundled }) => (bundled === true ? [id] : []));

/** Settings of one plugin: it is reloaded with them. Whether it is loaded at all takes a restart of the gateway. */
const PLUGIN_SETTINGS = /^plugins\.entries\.([^.]+)\.(?:config|hooks)(?:\.|$)/;

/** Asked whenever a tool is called. */
const PLUGIN_READ_ON_USE = /^plugins\.entries\.[^.]+\.required$/;

/** Settings that a hook from a file reads whenever it is called. */
const HOOK_READ_ON_USE = /^hooks\.internal\.entries\.[^.]+\.(?!(?:enabled|env)(?:\.|$))/;

/** What one path asks for. What no rule names restarts the gateway. */
export function actionsFor(path: string, channels: readonly string[]): readonly ReloadAction[] {
  const plugin = PLUGIN_SETTINGS.exec(path)?.[1];
  if (plugin !== undefined) return [restart("plugins", plugin)];
  if (PLUGIN_READ_ON_USE.test(path) || HOOK_READ_ON_USE.test(path)) return [NONE];
  const isBelow = (prefix: string): boolean => path === prefix || path.startsWith(`${prefix}.`);
  for (const rule of RULES) {
    if (rule === "channels") {
      const id = channels.find((channel) => isBelow(`channels.${channel}`));
      if (id !== undefined) return [restart("channels", id)];
    } else if (isBelow(rule.prefix) && (rule.channel === undefined || channels.includes(rule.channel))) return rule.actions;
  }
  // The first settings of a channel that came with the gateway load its plugin.
  const first = BUNDLED_CHANNELS.find((id) => isBelow(`channels.${id}`));
  return [first === undefined ? PROCESS : restart("channels", first)];
}

/** Taken when reloading is off: the setting of reloading itself, and what no part of the gateway acts on. */
const TAKEN_WHEN_OFF = /^(?:gateway\.reload|meta|\$schema)(?:\.|$)/;

/** Which of the changes a mode leaves for the next restart. */
function heldBy(mode: ReloadMode, paths: readonly string[], channels: readonly string[]): readonly string[] {
  if (mode === "off") return paths.filter((path) => !TAKEN_WHEN_OFF.test(path));
  if (mode === "hot") return paths.filter((path) => actionsFor(path, channels).some(({ kind }) => kind === "process"));
  return [];
}

/** What a set of changes asks for under a reload mode, which is that of the new configuration. `channels`: ids of loaded channels. */
export function planReload(paths: readonly string[], mode: ReloadMode, channels: readonly string[]): ReloadPlan {
  if (paths.length === 0) return { paths, actions: [] };
  if (mode === "restart") return { paths, actions: [PROCESS] };
  const held = heldBy(mode, paths, channels);
  const taken = paths.filter((path) => !held.includes(path));
  const actions = mode === "off" ? [] : taken.flatMap((path) => actionsFor(path, channels)).filter((action) => action.kind !== "none");
  if (actions.some((action) => action.kind === "process")) return { paths, actions: [PROCESS] };
  if (held.length === 0) return { paths, actions: distinct(actions) };
  const why = mode === "off" ? "config reload is off; ignoring" : "config reload requires gateway restart; hot mode ignoring";
  return { paths, actions: distinct(actions), held, ignored: `${why} (${held.join(", ")})` };
}

function distinct(actions: readonly ReloadAction[]): ReloadAction[] {
  return [...new Map(actions.map((action) => [JSON.stringify(action), action])).values()];
}
