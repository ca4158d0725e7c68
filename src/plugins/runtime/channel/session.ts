/** `runtime.channel.session`: who wrote last in which session, over the store's index. */
import { isRecord } from "../../../base/records.ts";
import { sessionIndexFile } from "../../../config/index.ts";
import type { MsgContext, SessionEntry } from "../../../protocol/index.ts";
import type { RuntimeChannelSession } from "../../sdk/types/index.ts";
import type { RuntimePorts } from "../ports.ts";

type Patch = Readonly<Record<string, unknown>>;

const filled = (patch: Patch): Patch => Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined && value !== ""));

/** What a message tells about its session. */
function metaOf(ctx: MsgContext): Patch {
  const channel = ctx.OriginatingChannel ?? ctx.Surface ?? ctx.Provider;
  const direct = ctx.ChatType === undefined || ctx.ChatType === "direct";
  return filled({
    channel,
    chatType: ctx.ChatType,
    displayName: ctx.ConversationLabel,
    subject: direct ? undefined : ctx.GroupSubject,
    groupChannel: direct ? undefined : ctx.GroupChannel,
    space: direct ? undefined : ctx.GroupSpace,
    origin: filled({
      provider: ctx.Provider ?? channel,
      surface: ctx.Surface,
      chatType: ctx.ChatType,
      from: ctx.From,
      to: ctx.OriginatingTo ?? ctx.To,
      accountId: ctx.AccountId,
      threadId: ctx.MessageThreadId,
      label: ctx.ConversationLabel,
    }),
  });
}

interface Route {
  readonly channel?: string | undefined;
  readonly to?: string | undefined;
  readonly accountId?: string | undefined;
  readonly threadId?: string | number | undefined;
}

function routeOf({ channel, to, accountId, threadId }: Route): Patch {
  const deliveryContext = filled({ channel, to, accountId, threadId });
  return filled({ lastChannel: channel, lastTo: to, lastAccountId: accountId, lastThreadId: threadId, deliveryContext });
}

/** How often a write is tried again because the session was changed in between. */
const MAX_ATTEMPTS = 5;

export function createChannelSession(ports: RuntimePorts): RuntimeChannelSession {
  const { store, clock, ids, config } = ports;
  // The index is read from another thread, and plugins ask at once: what was seen in this process is answered from here.
  const updatedAt = new Map<string, number>();

  const keyOf = (written: string): string => ports.canonicalKey(written) ?? written.trim().toLowerCase();

  async function look(key: string): Promise<void> {
    const row = await store.read("sessions.get", { key });
    if (row && !updatedAt.has(key)) updatedAt.set(key, row.entry.updatedAt);
  }

  /** Changes fields of the session; makes it where it is not there and that is wanted. */
  async function change(written: string, patch: Patch, create: boolean): Promise<SessionEntry | null> {
    const key = keyOf(written);
    for (let attempt = 1; ; attempt += 1) {
      const row = await store.read("sessions.get", { key });
      if (!row && !create) return null;
      const now = clock.now();
      const entry: SessionEntry = {
        ...(row?.entry ?? { sessionId: ids.uuid() }),
        ...patch,
        updatedAt: Math.max(now, row?.entry.updatedAt ?? 0),
      };
      try {
        await store.write("sessions.put", { key, agentId: row?.agentId ?? ports.agentOf(key), entry, version: row?.version ?? 0 });
        updatedAt.set(key, entry.updatedAt);
        return entry;
      } catch (error) {
        if (!isRecord(error) || error["code"] !== "CONFLICT" || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  return {
    // The file follows the store: it is there to be read.
    resolveStorePath: (store, options) =>
      sessionIndexFile(store ?? config.current.session?.store, config.paths, options?.agentId?.trim().toLowerCase() || "main"),
    readSessionUpdatedAt({ sessionKey }) {
      const key = keyOf(sessionKey);
      const known = updatedAt.get(key);
      if (known === undefined) look(key).catch(() => {}); // Nothing known is an answer, too.
      return known;
    },
    async recordInboundSession({ sessionKey, ctx, createIfMissing, updateLastRoute, onRecordError }) {
      try {
        const own = updateLastRoute && keyOf(updateLastRoute.sessionKey) === keyOf(sessionKey);
        await change(sessionKey, { ...metaOf(ctx), ...(own ? routeOf(updateLastRoute) : {}) }, createIfMissing !== false);
        if (updateLastRoute && !own) await change(updateLastRoute.sessionKey, routeOf(updateLastRoute), true);
      } catch (error) {
        onRecordError(error);
      }
    },
    recordSessionMetaFromInbound: ({ sessionKey, ctx, createIfMissing }) => change(sessionKey, metaOf(ctx), createIfMissing !== false),
    updateLastRoute: async (params) => (await change(params.sessionKey, routeOf(params), true))!,
  };
}
