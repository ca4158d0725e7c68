import { createLazyHeartbeat, type LazyHeartbeat } from "../automation/index.ts";
import { defaultAgentId, heartbeatAgents, heartbeatSettings, isActiveHour } from "../config/index.ts";
import type { Conversation, Responder } from "../conversation/index.ts";
import type { HeartbeatPort, SystemEvent } from "../gateway/index.ts";
import type { ChannelPlugin, EventPayload } from "../protocol/index.ts";
import type { CommandEnd } from "../tools/index.ts";
import type { Core } from "./core.ts";

export interface OpenHeartbeatDeps {
  readonly core: Core;
  readonly runs: Pick<Responder, "accept" | "outcome">;
  /** Queues a line for a session's next turn, on disk. Gives the session. */
  readonly notify: (event: SystemEvent) => Promise<string>;
  readonly isBusy: Conversation["isBusy"];
  /** Announces how a heartbeat went. */
  readonly beat: (event: EventPayload<"heartbeat">) => void;
  readonly channelOf: (id: string) => ChannelPlugin | undefined;
}

export interface OpenHeartbeat {
  readonly port: Omit<HeartbeatPort, "hooks">;
  /** Queues a line that is acted on: at once, or with the next heartbeat. */
  wake(event: SystemEvent, reason: string): Promise<void>;
  /** Queues a line for a session's next turn. With the end of a command the session acts on it by itself, unless its agent was shown the end meanwhile. */
  notify(event: Pick<SystemEvent, "sessionKey" | "text" | "idempotencyKey"> & { readonly end?: CommandEnd | undefined }): Promise<void>;
  /** Has agents act on what waits for them. */
  readonly wakeAgents: LazyHeartbeat["wake"];
  start(): Promise<void>;
  /** The configuration changed. */
  follow(): void;
}

/** What wakes agents by itself. */
export function openHeartbeat({ core, runs, notify, isBusy, beat, channelOf }: OpenHeartbeatDeps, stack: AsyncDisposableStack): OpenHeartbeat {
  const { config, store, clock, ids } = core;
  /** Ends of commands that sessions are to act on, by the lines that report them. */
  const ends = new Map<string, CommandEnd>();
  const heartbeat = stack.use(
    createLazyHeartbeat({
      config,
      store,
      clock,
      log: core.log.subsystem("automation"),
      times: () => heartbeatAgents(config.current).map((id) => [id, heartbeatSettings(config.current, id).everyMs]),
      runs,
      isBusy,
      workspace: core.workspaceOf,
      async notReady(channel, accountId) {
        const ready = await channelOf(channel)?.heartbeat?.checkReady?.({ cfg: config.current, accountId });
        return ready?.ok === false ? ready.reason : undefined;
      },
      emit: beat,
      isSeen: (ref) => ends.get(ref)?.isSeen() ?? false,
      done: (refs) => refs.forEach((ref) => ends.delete(ref)),
    }),
  );
  async function wake(event: SystemEvent, reason: string): Promise<void> {
    const sessionKey = await notify(event);
    if (event.wake?.now === true) heartbeat.wake({ sessionKey, reason });
  }
  return {
    port: {
      last: heartbeat.last,
      setEnabled: heartbeat.setEnabled,
      async wakeMain(text, mode) {
        await wake({ text, wake: { source: "wake", now: mode === "now" } }, "wake");
        if (mode !== "now") return {};
        const { current } = config;
        const settings = heartbeatSettings(current, defaultAgentId(current));
        if (!heartbeat.isEnabled) return { waits: "disabled" };
        return isActiveHour(settings, current.agents?.defaults?.userTimezone, clock.now()) ? {} : { waits: "quiet-hours" };
      },
    },
    wake,
    async notify({ end, ...event }) {
      if (end) {
        const ref = ids.uuid();
        ends.set(ref, end);
        await wake({ ...event, wake: { source: "exec", now: true, ref } }, "exec-event");
      } else await notify({ ...event, keep: true });
    },
    wakeAgents: heartbeat.wake,
    start: heartbeat.start,
    follow: heartbeat.follow,
  };
}
