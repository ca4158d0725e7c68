/** Parts of a channel's outbound side that are put together when it loads. */
import { isRecord } from "../../../base/records.ts";
import { join, resolve } from "node:path";
import { buildPendingHistoryContextFromMap, clearHistoryEntriesIfEnabled, recordPendingHistoryEntryIfEnabled, type HistoryEntry } from "./history.ts";
import { envValue, sdkHost } from "../host-binding.ts";
import { unbuilt } from "../unbuilt.ts";

type Call = (...args: unknown[]) => unknown;

/** Senders whose code is loaded with the first message. */
export function createRuntimeOutboundDelegates<R>(
  params: { getRuntime(): Promise<R> } & Readonly<Record<string, unknown>>,
): Record<string, (...args: unknown[]) => Promise<unknown>> {
  const { getRuntime, ...parts } = params;
  const delegates = Object.entries(parts).map(([name, part]) => {
    const { resolve, unavailableMessage = `${name} is not available` } = part as { resolve(runtime: R): Call | undefined; unavailableMessage?: string };
    return [
      name,
      async (...args: unknown[]) => {
        const call = resolve(await getRuntime());
        if (!call) throw new Error(unavailableMessage);
        return call(...args);
      },
    ] as const;
  });
  return Object.fromEntries(delegates);
}

/** A sender that the caller brings along, for tests and other transports. */
export const resolveOutboundSendDep = <T>(deps: Readonly<Record<string, T | undefined>> | null | undefined, channel: string): T | undefined => deps?.[channel];

type Streaming = { readonly streaming?: unknown; readonly blockStreaming?: unknown } | null | undefined;

const streamingOf = (config: Streaming): Readonly<Record<string, unknown>> => (isRecord(config?.streaming) ? config.streaming : {});

/** How a reply is shown while it is written. */
export function resolveChannelPreviewStreamMode(config: Streaming, fallback: string): string {
  const mode = streamingOf(config)["mode"] ?? config?.streaming;
  return typeof mode === "string" ? mode : mode === false ? "off" : fallback;
}

export function resolveChannelStreamingBlockEnabled(config: Streaming): boolean | undefined {
  const { block } = streamingOf(config);
  const value = (isRecord(block) ? block["enabled"] : undefined) ?? config?.blockStreaming;
  return typeof value === "boolean" ? value : undefined;
}

/** What a platform can show, as declared. */
export const FormatCapabilityProfile = Object.freeze({ define: <P extends object>(profile: P): Readonly<P> => Object.freeze({ ...profile }) });
export const markdownToIR = unbuilt("markdownToIR", "channels (formatting)", false);
export const markdownToIRWithMeta = unbuilt("markdownToIRWithMeta", "channels (formatting)", false);
export const renderMarkdownWithMarkers = unbuilt("renderMarkdownWithMarkers", "channels (formatting)", false);

export const adaptMessagePresentationForChannel = unbuilt("adaptMessagePresentationForChannel", "channels (presentation)", false);
export const normalizeMessagePresentation = unbuilt("normalizeMessagePresentation", "channels (presentation)", false);
export const resolveMessagePresentationButtonAction = unbuilt("resolveMessagePresentationButtonAction", "channels (presentation)", false);
export const resolveScopeToolsPolicy = unbuilt("resolveScopeToolsPolicy", "tools (policies)", false);

/** Messages that wait to be shown with the next turn, over the plugin's own map. */
export function createChannelHistoryWindow<T extends HistoryEntry>({
  historyMap,
}: {
  readonly historyMap: Map<string, T[]>;
}): Record<string, (params: never) => unknown> {
  type P<F extends (params: never) => unknown> = Omit<Parameters<F>[0], "historyMap">;
  return {
    record: (params: P<typeof recordPendingHistoryEntryIfEnabled<T>>) => recordPendingHistoryEntryIfEnabled({ ...params, historyMap }),
    buildPendingContext: (params: P<typeof buildPendingHistoryContextFromMap>) => buildPendingHistoryContextFromMap({ ...params, historyMap }),
    buildInboundHistory: ({ historyKey, limit }: { historyKey: string; limit: number }) =>
      limit > 0 ? (historyMap.get(historyKey) ?? []).slice(-limit).map(({ sender, body, timestamp }) => ({ sender, body, timestamp })) : undefined,
    clear: (params: P<typeof clearHistoryEntriesIfEnabled>) => clearHistoryEntriesIfEnabled({ ...params, historyMap }),
  };
}

/** Puts something into the host's table of what running accounts offer, if it has one, until the account stops. */
export function registerChannelRuntimeContext(params: {
  readonly channelRuntime?: { readonly runtimeContexts?: { register?(entry: object): unknown } | undefined } | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  readonly [key: string]: unknown;
}): unknown {
  const { channelRuntime, ...entry } = params;
  return channelRuntime?.runtimeContexts?.register?.(entry) ?? null;
}

/** Where an agent's `sessions.json` is; `store` is `session.store` of the configuration. The file follows the gateway's store: it is there to be read. */
export function resolveStorePath(store?: string, options?: { readonly agentId?: string | undefined }): string {
  const home = envValue("OPENCLAW_HOME") ?? envValue("HOME") ?? "";
  const own = store?.trim().replace(/^~(?=$|[\\/])/, () => home);
  const path = own ? resolve(home, own) : join(sdkHost()?.stateDir ?? "", "agents", "{agentId}", "sessions", "sessions.json");
  return path.replaceAll("{agentId}", options?.agentId?.trim().toLowerCase() || "main");
}

const HIDDEN = /<(think|thinking|thought|antthinking|reasoning|final_thought)\b[^>]*>[\s\S]*?(?:<\/\1>|$)/gi;
const CALLS = /<(tool_call|tool_calls|function_calls?|invoke|tool_result)\b[^>]*>[\s\S]*?(?:<\/\1>|$)/gi;
const TAGS = /<\/?(?:final|think|thinking|thought|antthinking|reasoning|relevant[-_]memories)\b[^>]*>/gi;

/** Applies `change` to everything but code. */
function outsideCode(text: string, change: (part: string) => string): string {
  return text
    .split(/(^ {0,3}(?:`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^ {0,3}(?:`{3,}|~{3,})[^\S\n]*$|(?![\s\S]))|`[^`\n]+`)/m)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join("");
}

export const stripReasoningTagsFromText = (text: string): string => outsideCode(text, (part) => part.replaceAll(HIDDEN, "").replaceAll(TAGS, ""));
export const stripToolCallXmlTags = (text: string): string => outsideCode(text, (part) => part.replaceAll(CALLS, ""));

/** Without reasoning and calls of tools that a model wrote into its text; code is left alone. */
export const sanitizeAssistantVisibleText = (text: string): string => stripToolCallXmlTags(stripReasoningTagsFromText(text)).trim();
