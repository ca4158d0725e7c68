/** Who gets an answer: mentions, commands and acknowledging reactions. */
import type { HostConfig } from "../../../protocol/index.ts";

export interface MentionGateParams {
  requireMention: boolean;
  canDetectMention: boolean;
  wasMentioned: boolean;
  implicitMention?: boolean | undefined;
  shouldBypassMention?: boolean | undefined;
}

export interface MentionGateResult {
  effectiveWasMentioned: boolean;
  shouldSkip: boolean;
}

/** A message is skipped when a mention is required, could have been seen, and was not there. */
export function resolveMentionGating(params: MentionGateParams): MentionGateResult {
  const effectiveWasMentioned = params.wasMentioned || params.implicitMention === true || params.shouldBypassMention === true;
  return { effectiveWasMentioned, shouldSkip: params.requireMention && params.canDetectMention && !effectiveWasMentioned };
}

export interface MentionGateWithBypassParams extends Omit<MentionGateParams, "shouldBypassMention"> {
  isGroup: boolean;
  hasAnyMention?: boolean | undefined;
  allowTextCommands: boolean;
  hasControlCommand: boolean;
  commandAuthorized: boolean;
}

/** As {@link resolveMentionGating}; an authorised command in a group needs no mention, unless someone else is mentioned. */
export function resolveMentionGatingWithBypass(params: MentionGateWithBypassParams): MentionGateResult & { shouldBypassMention: boolean } {
  const needed = params.isGroup && params.requireMention && !params.wasMentioned && params.hasAnyMention !== true;
  const shouldBypassMention = needed && params.allowTextCommands && params.hasControlCommand && params.commandAuthorized;
  return { ...resolveMentionGating({ ...params, shouldBypassMention }), shouldBypassMention };
}

/** One list that may allow a sender to use commands. */
export interface CommandAuthorizer {
  configured: boolean;
  allowed: boolean;
}

export type CommandModeWithoutAccessGroups = "allow" | "deny" | "configured";

/** With access groups one configured list has to allow it; without them `modeWhenAccessGroupsOff` decides (default `allow`). */
export function resolveCommandAuthorizedFromAuthorizers(params: {
  useAccessGroups: boolean;
  authorizers: readonly CommandAuthorizer[];
  modeWhenAccessGroupsOff?: CommandModeWithoutAccessGroups | undefined;
}): boolean {
  const configured = params.authorizers.filter((authorizer) => authorizer.configured);
  const allowed = configured.some((authorizer) => authorizer.allowed);
  if (params.useAccessGroups) return allowed;
  const mode = params.modeWhenAccessGroupsOff ?? "allow";
  return mode === "allow" || (mode === "configured" && (configured.length === 0 || allowed));
}

/** Whether a control command may run, and whether the message has to be dropped because it may not. */
export function resolveControlCommandGate(params: {
  useAccessGroups: boolean;
  authorizers: readonly CommandAuthorizer[];
  allowTextCommands: boolean;
  hasControlCommand: boolean;
  modeWhenAccessGroupsOff?: CommandModeWithoutAccessGroups | undefined;
}): { commandAuthorized: boolean; shouldBlock: boolean } {
  const commandAuthorized = resolveCommandAuthorizedFromAuthorizers(params);
  return { commandAuthorized, shouldBlock: params.allowTextCommands && params.hasControlCommand && !commandAuthorized };
}

export interface SenderCommandAuthorization {
  shouldComputeAuth: boolean;
  effectiveAllowFrom: string[];
  senderAllowedForCommands: boolean;
  /** Not asked for: the text holds no command. */
  commandAuthorized: boolean | undefined;
}

/** Whether a sender may use commands, by the configured list and, in direct chats, the paired one. */
export async function resolveSenderCommandAuthorization(params: {
  cfg: HostConfig;
  rawBody: string;
  isGroup: boolean;
  dmPolicy: string;
  configuredAllowFrom: readonly string[];
  senderId: string;
  isSenderAllowed(senderId: string, allowFrom: string[]): boolean;
  readAllowFromStore(): Promise<string[]>;
  shouldComputeCommandAuthorized(rawBody: string, cfg: HostConfig): boolean;
  resolveCommandAuthorizedFromAuthorizers(params: { useAccessGroups: boolean; authorizers: CommandAuthorizer[] }): boolean;
}): Promise<SenderCommandAuthorization> {
  const shouldComputeAuth = params.shouldComputeCommandAuthorized(params.rawBody, params.cfg);
  const asksStore = !params.isGroup && (shouldComputeAuth || params.dmPolicy !== "open");
  // A store that cannot be read adds nobody.
  const paired = asksStore ? await params.readAllowFromStore().catch(() => []) : [];
  const effectiveAllowFrom = [...params.configuredAllowFrom, ...paired];
  const senderAllowedForCommands = params.isSenderAllowed(params.senderId, effectiveAllowFrom);
  const commandAuthorized = shouldComputeAuth
    ? params.resolveCommandAuthorizedFromAuthorizers({
        useAccessGroups: params.cfg.commands?.useAccessGroups !== false,
        authorizers: [{ configured: effectiveAllowFrom.length > 0, allowed: senderAllowedForCommands }],
      })
    : undefined;
  return { shouldComputeAuth, effectiveAllowFrom, senderAllowedForCommands, commandAuthorized };
}

export {
  shouldAckReaction,
  shouldAckReactionForWhatsApp,
  type AckReactionGateParams,
  type AckReactionScope,
  type WhatsAppAckReactionMode,
} from "../../../channels/index.ts";

/** Takes the acknowledging reaction away once it is there, if that is wanted. */
export function removeAckReactionAfterReply(params: {
  removeAfterReply: boolean;
  ackReactionPromise: Promise<boolean> | null;
  ackReactionValue: string | null;
  remove(): Promise<void>;
  onError?: ((error: unknown) => void) | undefined;
}): void {
  const { ackReactionPromise, remove, onError } = params;
  if (!params.removeAfterReply || !ackReactionPromise || !params.ackReactionValue) return;
  void (async () => {
    try {
      if (await ackReactionPromise) await remove();
    } catch (error) {
      onError?.(error);
    }
  })();
}
