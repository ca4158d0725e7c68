/** Targets of Apple's messages: a service before a handle, or one of three ways to name a chat. */
import { AppError } from "../../../base/errors.ts";

export interface ServicePrefix<Service extends string> {
  prefix: string;
  service: Service;
}

export type ParsedChatTarget =
  | { kind: "chat_id"; chatId: number }
  | { kind: "chat_guid"; chatGuid: string }
  | { kind: "chat_identifier"; chatIdentifier: string };

export interface ChatTargetPrefixesParams {
  trimmed: string;
  lower: string;
  chatIdPrefixes: readonly string[];
  chatGuidPrefixes: readonly string[];
  chatIdentifierPrefixes: readonly string[];
}

interface Prefixed {
  trimmed: string;
  lower: string;
}

/** What follows the first of the prefixes that fits. */
function rest({ trimmed, lower }: Prefixed, prefixes: readonly string[]): string | undefined {
  const found = prefixes.find((prefix) => lower.startsWith(prefix));
  return found === undefined ? undefined : trimmed.slice(found.length).trim();
}

/** `sms:+1555…` and the like; a chat behind the service is parsed as a chat. `null`: no service is named. */
export function resolveServicePrefixedTarget<Service extends string, Target>(
  params: Prefixed & {
    servicePrefixes: readonly ServicePrefix<Service>[];
    isChatTarget(remainderLower: string): boolean;
    parseTarget(remainder: string): Target;
  },
): { kind: "handle"; to: string; service: Service } | Target | null {
  const entry = params.servicePrefixes.find(({ prefix }) => params.lower.startsWith(prefix));
  if (!entry) return null;
  const to = rest(params, [entry.prefix]);
  if (!to) throw new AppError("INVALID_INPUT", `${entry.prefix} names no target: add a handle or a chat after it`);
  return params.isChatTarget(to.toLowerCase()) ? params.parseTarget(to) : { kind: "handle", to, service: entry.service };
}

/** The same for an entry of an allow list; an empty one allows nobody. */
export function resolveServicePrefixedAllowTarget<Target>(
  params: Prefixed & { servicePrefixes: readonly { prefix: string }[]; parseAllowTarget(remainder: string): Target },
): Target | { kind: "handle"; handle: string } | null {
  const entry = params.servicePrefixes.find(({ prefix }) => params.lower.startsWith(prefix));
  if (!entry) return null;
  const remainder = rest(params, [entry.prefix]);
  return remainder ? params.parseAllowTarget(remainder) : { kind: "handle", handle: "" };
}

/** The chat that a text names; `undefined` where what follows the prefix is no chat, `null` where there is no prefix. */
function chatOf(params: ChatTargetPrefixesParams): { target?: ParsedChatTarget; kind: ParsedChatTarget["kind"]; given: string } | null {
  const id = rest(params, params.chatIdPrefixes);
  if (id !== undefined) {
    const chatId = Number.parseInt(id, 10);
    return { kind: "chat_id", given: id, ...(Number.isFinite(chatId) ? { target: { kind: "chat_id", chatId } } : {}) };
  }
  const chatGuid = rest(params, params.chatGuidPrefixes);
  if (chatGuid !== undefined) return { kind: "chat_guid", given: chatGuid, ...(chatGuid ? { target: { kind: "chat_guid", chatGuid } } : {}) };
  const chatIdentifier = rest(params, params.chatIdentifierPrefixes);
  if (chatIdentifier === undefined) return null;
  return { kind: "chat_identifier", given: chatIdentifier, ...(chatIdentifier ? { target: { kind: "chat_identifier", chatIdentifier } } : {}) };
}

/** The chat that a target names; a prefix with nothing usable behind it throws. */
export function parseChatTargetPrefixesOrThrow(params: ChatTargetPrefixesParams): ParsedChatTarget | null {
  const found = chatOf(params);
  if (found && !found.target) throw new AppError("INVALID_INPUT", `${found.kind} needs a value, and "${found.given}" is not one`);
  return found?.target ?? null;
}

/** The same for an entry of an allow list, where something unusable is no chat. */
export function parseChatAllowTargetPrefixes(params: ChatTargetPrefixesParams): ParsedChatTarget | null {
  return chatOf(params)?.target ?? null;
}
