import type { AssistantMessage, Usage } from "../../protocol/index.ts";
import { customEntry, messageEntry, type EntryPlace, type MessageExtras, type NewEntry } from "./entries.ts";

/** `customType`s that programs read. */
export const CUSTOM = {
  modelSnapshot: "model-snapshot",
  cacheTouch: "openclaw.cache-ttl",
  googleBootstrap: "google-turn-ordering-bootstrap",
  promptError: "openclaw:prompt-error",
  resultsCut: "openclaw:results-cut",
  imagesLeftOut: "openclaw:images-left-out",
} as const;

/** The model of a run; written at the first one and whenever it differs from the last snapshot. */
export function modelSnapshotEntry(place: EntryPlace, model: { readonly provider: string; readonly api: string; readonly id: string }): NewEntry {
  return customEntry(place, CUSTOM.modelSnapshot, { timestamp: place.at, provider: model.provider, modelApi: model.api, modelId: model.id });
}

/** The provider's prompt cache was used now: pruning counts its time from here. */
export function cacheTouchEntry(place: EntryPlace, model: { readonly provider: string; readonly id: string }): NewEntry {
  return customEntry(place, CUSTOM.cacheTouch, { timestamp: place.at, provider: model.provider, modelId: model.id });
}

/** From here on a model sees at most so many characters of each tool result above. The results themselves stay as they are. */
export function resultsCutEntry(place: EntryPlace, maxChars: number): NewEntry {
  return customEntry(place, CUSTOM.resultsCut, { timestamp: place.at, maxChars });
}

/** From here on a model sees no image of the messages above: the provider refused them. The messages themselves stay as they are. */
export function imagesLeftOutEntry(place: EntryPlace): NewEntry {
  return customEntry(place, CUSTOM.imagesLeftOut, { timestamp: place.at });
}

export interface PromptError {
  readonly runId: string;
  readonly sessionId: string;
  readonly provider: string;
  readonly model: string;
  readonly api: string;
  readonly error: string;
}

/** A prompt failed or was aborted. */
export function promptErrorEntry(place: EntryPlace, { runId, sessionId, provider, model, api, error }: PromptError): NewEntry {
  return customEntry(place, CUSTOM.promptError, { timestamp: place.at, runId, sessionId, provider, model, api, error });
}

export const ZERO_USAGE: Usage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

/** What the gateway says in the model's place: a command's reply, an injected note, the partial text of an aborted run, or what was sent to the chat by other means. */
export function gatewayMessage(
  model: "gateway-injected" | "delivery-mirror",
  text: string,
  at: number,
  extras: { readonly label?: string | undefined; readonly abort?: { readonly runId: string; readonly origin: string } | undefined } = {},
): AssistantMessage & MessageExtras {
  const { label, abort } = extras;
  return {
    role: "assistant",
    content: text === "" ? [] : [{ type: "text", text: label === undefined ? text : `[${label}]\n\n${text}` }],
    api: "openai-responses",
    provider: "openclaw",
    model,
    usage: ZERO_USAGE,
    stopReason: abort ? "aborted" : "stop",
    timestamp: at,
    ...(abort ? { idempotencyKey: `${abort.runId}:assistant`, openclawAbort: { aborted: true, ...abort } } : {}),
  };
}

export function gatewayMessageEntry(
  place: EntryPlace,
  ...[model, text, extras]: [Parameters<typeof gatewayMessage>[0], string, Parameters<typeof gatewayMessage>[3]?]
): NewEntry {
  return messageEntry(place, gatewayMessage(model, text, place.at, extras));
}
