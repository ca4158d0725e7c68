/** What stands around a reply: its prefix, the typing sign, the acknowledging reaction, pairing texts, media fields. */
import { agentIdentity, messageSetting } from "../../../channels/index.ts";
import type { HostConfig, ModelSelectedContext, ResponsePrefixContext } from "../../../protocol/index.ts";

/** Sent to a user whose pairing was approved. */
export const PAIRING_APPROVED_MESSAGE = "✅ You have been approved. Send a message to begin.";

/** How an operator approves a pairing request. */
export function formatPairingApproveHint(channelId: string): string {
  return `To approve: openclaw pairing list ${channelId}, then openclaw pairing approve ${channelId} <code>`;
}

interface Place {
  channel?: string | undefined;
  accountId?: string | undefined;
}

export interface ReplyPrefixOptions {
  responsePrefix?: string | undefined;
  responsePrefixContextProvider(): ResponsePrefixContext;
  onModelSelected(ctx: ModelSelectedContext): void;
}

export interface ReplyPrefixContextBundle extends ReplyPrefixOptions {
  prefixContext: ResponsePrefixContext;
}

/** The prefix of replies and the values for its placeholders, which fill up as the model is chosen. */
export function createReplyPrefixContext(params: { cfg: HostConfig; agentId: string } & Place): ReplyPrefixContextBundle {
  const { cfg, agentId } = params;
  const identityName = agentIdentity(cfg, agentId).name?.trim() || undefined;
  const prefixContext: ResponsePrefixContext = { identityName };
  const setting = messageSetting(cfg, "responsePrefix", params);
  return {
    prefixContext,
    responsePrefix: setting === "auto" ? (identityName ? `[${identityName}]` : undefined) : setting,
    responsePrefixContextProvider: () => prefixContext,
    onModelSelected({ provider, model, thinkLevel }) {
      const short = (model.split("/").at(-1) ?? model).replace(/-\d{8}$/, "").replace(/-latest$/, "");
      Object.assign(prefixContext, { provider, model: short, modelFull: `${provider}/${model}`, thinkingLevel: thinkLevel ?? "off" });
    },
  };
}

/** The part of {@link createReplyPrefixContext} that is spread into dispatcher and reply options. */
export function createReplyPrefixOptions(params: { cfg: HostConfig; agentId: string } & Place): ReplyPrefixOptions {
  const { prefixContext: _context, ...options } = createReplyPrefixContext(params);
  return options;
}

export { resolveAckReaction } from "../../../channels/index.ts";

export interface TypingCallbacks {
  onReplyStart(): Promise<void>;
  onIdle?: (() => void) | undefined;
  onCleanup?: (() => void) | undefined;
}

/** Dispatcher callbacks that show and hide a typing sign. A failure is reported and changes nothing else. */
export function createTypingCallbacks(params: {
  start(): Promise<void>;
  stop?: (() => Promise<void>) | undefined;
  onStartError(error: unknown): void;
  onStopError?: ((error: unknown) => void) | undefined;
}): TypingCallbacks {
  const { start, stop, onStartError, onStopError = onStartError } = params;
  const hide = stop ? () => void (async () => stop())().catch(onStopError) : undefined;
  return { onReplyStart: async () => (async () => start())().catch(onStartError), onIdle: hide, onCleanup: hide };
}

export interface AgentMediaPayload {
  MediaPath?: string | undefined;
  MediaType?: string | undefined;
  MediaUrl?: string | undefined;
  MediaPaths?: string[] | undefined;
  MediaUrls?: string[] | undefined;
  MediaTypes?: string[] | undefined;
}

/** The media fields of a message with these files. */
export function buildAgentMediaPayload(mediaList: readonly { path: string; contentType?: string | null | undefined }[]): AgentMediaPayload {
  const [first] = mediaList;
  const paths = mediaList.map((media) => media.path);
  const types = mediaList.flatMap((media) => media.contentType || []);
  return {
    MediaPath: first?.path,
    MediaType: first?.contentType ?? undefined,
    MediaUrl: first?.path,
    MediaPaths: paths.length > 0 ? paths : undefined,
    MediaUrls: paths.length > 0 ? [...paths] : undefined,
    MediaTypes: types.length > 0 ? types : undefined,
  };
}
