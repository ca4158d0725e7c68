import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import { createChannelActivity } from "../../channels/index.ts";
import type { Config } from "../../config/index.ts";
import { queueSystemEvent, type OwnCaller } from "../../gateway/index.ts";
import { createPluginRuntime } from "../runtime/runtime.ts";
import { createStateDatabases } from "../runtime/state/databases.ts";
import { type PluginEntry } from "../record.ts";
import { type RuntimeChannelSession } from "../sdk/types/index.ts";
import { type RuntimePorts } from "../runtime/ports.ts";
import { memoryParts, type MemoryPartsDeps } from "../runtime/memory.ts";
import { voiceParts, type VoicePartsDeps } from "../runtime/voice.ts";
import { conversationParts, type PluginTalk } from "../runtime/conversation/parts.ts";
import { agentOfKey } from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";

export interface RuntimeDeps {
  readonly config: Config;
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly version: string;
  readonly canonicalKey: RuntimePorts["canonicalKey"];
  readonly defaultAgentId: () => string;
  /** The conversations, once they are there; without it plugins have none. */
  readonly talk?: (() => PluginTalk | undefined) | undefined;
  readonly wake?: RuntimePorts["wake"] | undefined;
  /** What agents know, once it is there. */
  readonly memory?: MemoryPartsDeps["memory"];
  readonly memoryCommand?: MemoryPartsDeps["memoryCommand"];
  readonly voice?: VoicePartsDeps["voice"];
  /** Methods of the gateway, called for a plugin. */
  readonly call?: ((pluginId: string) => OwnCaller) | undefined;
}

/** Makes the `api.runtime` of every plugin. */
export interface Runtimes extends Disposable {
  readonly runtimeFor: (plugin: PluginEntry) => unknown;
  /** For the SDK's function of that name, which has no plugin to go by. */
  readonly recordInboundSession: RuntimeChannelSession["recordInboundSession"];
}

/** Texts that may wait for one session. */
const MAX_WAITING = 20;

/** Queues texts one after the other: one like the last that waits is dropped, and nothing is added to a full queue. */
function systemEvents({ store, clock, canonicalKey, log, ...deps }: RuntimeDeps): RuntimePorts["queueSystemEvent"] {
  let last: Promise<unknown> = Promise.resolve();
  async function queue({ text, sessionKey }: { readonly text: string; readonly sessionKey: string }): Promise<void> {
    const key = canonicalKey(sessionKey) ?? sessionKey;
    const waiting = await store.read("injections.waiting", { sessionKey: key, now: clock.now() });
    const events = waiting.filter((row) => row.placement === "system-event");
    if (text.trim() === "" || events.at(-1)?.text === text) return;
    if (events.length >= MAX_WAITING) return log.warn(`${MAX_WAITING} system events already wait for a session; one more was dropped`, { sessionKey: key });
    await queueSystemEvent({ ...deps, store }, { text, sessionKey: key });
  }
  return (event) => {
    const run = last.then(() => queue(event));
    last = run.catch(() => {});
    return run;
  };
}

/** Runs of agents, where there are conversations and a gateway. */
function subagentPorts({ talk, call }: RuntimeDeps): Pick<RuntimePorts, "subagents"> {
  if (!talk || !call) return {};
  const conversation = (): PluginTalk["conversation"] => {
    const found = talk();
    if (!found) throw new AppError("UNAVAILABLE", "the gateway is starting: try again in a moment");
    return found.conversation;
  };
  return { subagents: ({ id }) => ({ conversation, call: call(id) }) };
}

export function createRuntimes(deps: RuntimeDeps): Runtimes {
  const { config, store, clock, ids, log, version, canonicalKey, defaultAgentId } = deps;
  const databases = createStateDatabases(config.paths.state);
  const recordInboundSession: Runtimes["recordInboundSession"] = (params) =>
    createPluginRuntime(ports, { id: "sdk" }).channel.session.recordInboundSession(params);
  const level = (): string => config.current.logging?.level ?? "info";
  const ports: RuntimePorts = {
    version,
    config,
    store,
    clock,
    ids,
    log,
    verbose: () => level() === "debug" || level() === "trace",
    queueSystemEvent: systemEvents(deps),
    wake: (request) => deps.wake?.(request),
    canonicalKey,
    agentOf: (key) => agentOfKey(key, { defaultAgentId: defaultAgentId() }),
    activity: createChannelActivity(clock),
    databases,
    ...subagentPorts(deps),
    parts: {
      ...conversationParts({ ...deps, recordInboundSession }),
      ...voiceParts({ voice: deps.voice, env: config.env, now: clock.now }),
      ...memoryParts({ ...deps, agentOf: (key) => agentOfKey(key, { defaultAgentId: defaultAgentId() }) }),
    },
  };
  return {
    runtimeFor: (plugin) => createPluginRuntime(ports, plugin),
    recordInboundSession,
    [Symbol.dispose]: () => databases[Symbol.dispose](),
  };
}
