/** Members of `api.runtime` that conversations, routing and pairing stand behind. */
import type { Clock } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import type { Ids } from "../../../base/ids.ts";
import type { Logger } from "../../../base/log/logger.ts";
import type { AllowLists, Pairing } from "../../../channels/index.ts";
import { systemRandom } from "../../../base/random.ts";
import { defaultAgentId, type Config, type OpenClawConfig } from "../../../config/index.ts";
import type { ChannelTable, Conversation, Messages } from "../../../conversation/index.ts";
import type { RuntimeChannelPairing, RuntimeChannelRouting, RuntimeChannelSession } from "../../sdk/types/index.ts";
import type { RuntimePorts } from "../ports.ts";
import { createRouting, DEFAULT_ACCOUNT, type PeerKind, type RouteLocation } from "../../../routing/index.ts";
import { createDispatching } from "./dispatching.ts";
import { buildInboundContext } from "./inbound-context.ts";
import { createInbound } from "./inbound.ts";
import { transportParts } from "./transports.ts";

/** What plugins reach of the conversations. */
export interface PluginTalk {
  readonly conversation: Pick<Conversation, "dispatch" | "accept" | "outcome" | "abort">;
  readonly channels: Pick<ChannelTable, "get" | "dock">;
  readonly allowLists: AllowLists;
  readonly pairing: Pairing;
  /** Sending on request. */
  readonly messages: () => Promise<Pick<Messages, "send" | "poll">>;
  /** Rejects when a file may not be handed to a channel. */
  readonly mediaReadable?: (agentId: string | undefined, path: string) => Promise<void>;
}

export interface PartsDeps {
  readonly config: Pick<Config, "current">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  /** Undefined as long as there are none. */
  readonly talk?: (() => PluginTalk | undefined) | undefined;
  readonly recordInboundSession: RuntimeChannelSession["recordInboundSession"];
}

type RouteParams = Parameters<RuntimeChannelRouting["resolveAgentRoute"]>[0];

/** Older plugins call a direct chat `dm`. */
const kindOf = (kind: string): PeerKind => (kind === "group" || kind === "channel" ? kind : "direct");
const peerOf = (peer: RouteParams["peer"]) => (peer ? { kind: kindOf(peer.kind), id: typeof peer.id === "string" ? peer.id : String(peer.id) } : undefined);

function routeLocation({ channel, accountId, peer, parentPeer, guildId, teamId, memberRoleIds }: Omit<RouteParams, "cfg">): RouteLocation {
  const [own, parent] = [peerOf(peer), peerOf(parentPeer)];
  return {
    channel,
    ...(accountId ? { accountId } : {}),
    ...(own ? { peer: own } : {}),
    ...(parent ? { parentPeer: parent } : {}),
    ...(guildId ? { guildId } : {}),
    ...(teamId ? { teamId } : {}),
    ...(memberRoleIds ? { roles: memberRoleIds } : {}),
  };
}

function routingParts({ config }: PartsDeps) {
  const routing = createRouting();
  return {
    "channel.routing.resolveAgentRoute"({ cfg, ...place }: RouteParams) {
      const { agentId, channel, accountId, sessionKey, mainSessionKey, matchedBy } = routing.resolveRoute({
        config: (cfg as OpenClawConfig | undefined) ?? config.current,
        ...routeLocation(place),
      });
      return { agentId, channel, accountId, sessionKey, mainSessionKey, matchedBy };
    },
    "channel.routing.buildAgentSessionKey"({
      agentId,
      dmScope,
      identityLinks,
      ...place
    }: Omit<RouteParams, "cfg"> & { agentId: string; dmScope?: string; identityLinks?: unknown }) {
      const { current } = config;
      const session = { ...current.session, ...(dmScope ? { dmScope } : {}), ...(identityLinks ? { identityLinks } : {}) };
      const own = dmScope || identityLinks ? ({ ...current, session } as OpenClawConfig) : current;
      return routing.sessionKeys(agentId, { config: own, ...routeLocation(place) }).sessionKey;
    },
  };
}

type PairingParams = Parameters<RuntimeChannelPairing["upsertPairingRequest"]>[0];

/** Lists and requests are those of one account: where none is named, of the default one. */
function pairingParts(talk: () => PluginTalk) {
  return {
    async "channel.pairing.readAllowFromStore"(asked: string | { channel: string; accountId?: string }, _env?: unknown, accountId?: string) {
      const place = typeof asked === "string" ? { channel: asked, accountId } : asked;
      return [...talk().allowLists.get(place.channel, place.accountId ?? DEFAULT_ACCOUNT)];
    },
    async "channel.pairing.upsertPairingRequest"({ channel, id, accountId, meta, pairingAdapter }: PairingParams) {
      const written = String(id).trim();
      const senderId = pairingAdapter?.normalizeAllowEntry?.(written) ?? written;
      return talk().pairing.request({ channel, accountId: accountId ?? DEFAULT_ACCOUNT, senderId, meta });
    },
  };
}

/** Undefined members stay those that say what is missing. */
export function conversationParts(deps: PartsDeps): NonNullable<RuntimePorts["parts"]> {
  const { talk } = deps;
  if (!talk) return routingParts(deps);
  const open = (): PluginTalk => {
    const found = talk();
    if (!found) throw new AppError("UNAVAILABLE", "the gateway is starting: try again in a moment");
    return found;
  };
  const dispatching = createDispatching({
    ...deps,
    talk: open,
    config: () => deps.config.current,
    defaultAgentId: () => defaultAgentId(deps.config.current),
    random: systemRandom,
    newId: () => deps.ids.uuid(),
  });
  const inbound = createInbound(dispatching, deps);
  return {
    ...routingParts(deps),
    ...pairingParts(open),
    ...transportParts({ talk: open, config: () => deps.config.current, log: deps.log }),
    "channel.reply.dispatchReplyWithBufferedBlockDispatcher": dispatching.withBufferedBlocks,
    "channel.reply.dispatchReplyFromConfig": dispatching.fromConfig,
    "channel.reply.createReplyDispatcherWithTyping": dispatching.createDispatcher,
    "channel.inbound.buildContext": buildInboundContext,
    "channel.inbound.run": inbound.run,
    "channel.inbound.dispatch": inbound.dispatch,
    "channel.inbound.dispatchReply": inbound.dispatch,
    "channel.inbound.runPreparedReply": inbound.dispatch,
    "channel.outbound.loadAdapter": async (id: string) => open().channels.get(id)?.outbound,
  };
}
