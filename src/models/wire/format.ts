import type { AssistantMessage, ModelMessage, ThinkingLevel, ToolSchema } from "../../protocol/index.ts";
import type { ModelEntry } from "../entry.ts";

/** What a wire format encoded of a conversation so far. A session holds it from call to call; only the format looks inside. */
export interface EncodedConversation {
  value?: unknown;
  /** What was encoded of objects that sessions have in common, by the object. */
  readonly shared?: WeakMap<object, unknown>;
}

/** One call, independent of the wire format. */
export interface WireRequest {
  readonly model: ModelEntry;
  /** Key or token; absent where a server needs none. */
  readonly apiKey?: string;
  /** Added to the headers of the format and the model. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly systemPrompt?: string;
  readonly messages: readonly ModelMessage[];
  readonly tools?: readonly ToolSchema[];
  readonly thinking: ThinkingLevel;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly cacheRetention?: "none" | "short" | "long";
  readonly sessionId?: string;
  /** Calls that begin alike have the same one. */
  readonly cacheKey?: string;
  /** Of the session that makes this call. */
  readonly encoded?: EncodedConversation;
  /** `agents.defaults.models["p/m"].params`: parameters of a single format. */
  readonly params?: Readonly<Record<string, unknown>>;
}

/** URL of a request, with the credential in its headers. */
export interface Address {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Bytes, in one piece or in several. */
export type Body = Uint8Array<ArrayBuffer> | readonly Uint8Array[];

/** A request ready to be sent, any number of times. */
export interface EncodedRequest extends Address {
  readonly body: Body;
}

/** Events of an answer, in order. `index` counts the parts of the message from 0. */
export type ModelEvent =
  | { readonly type: "text"; readonly index: number; readonly delta: string }
  | { readonly type: "thinking"; readonly index: number; readonly delta: string }
  /** All text so far was a thought: only its end was marked. */
  | { readonly type: "retract"; readonly index: number }
  | { readonly type: "toolCall"; readonly index: number; readonly id: string; readonly name: string }
  | { readonly type: "toolCallArguments"; readonly index: number; readonly delta: string }
  /** Always last. Its message is complete. */
  | { readonly type: "end"; readonly message: AssistantMessage };

/** One event of a provider's stream. */
export interface StreamEvent {
  /** `event:` of SSE; empty when there was none. */
  readonly event: string;
  readonly data: string;
}

/** Translates a provider's stream. One reader per call. */
export interface WireReader {
  /**
   * The resulting events; none for keep-alives and facts that are needed at the end. Throws `MODEL_FAILED` for an error or invalid data in the
   * stream.
   */
  read(event: StreamEvent): readonly ModelEvent[];
  /** Called when the stream has ended. Throws `MODEL_FAILED` when it ended too early. */
  end(): readonly ModelEvent[];
  /** The answer is complete, whatever the connection does afterwards. */
  readonly done: boolean;
}

/** One wire format. Pure: it neither opens connections nor reads clocks. */
export interface WireFormat {
  readonly api: string;
  readonly framing: "sse" | "ndjson";
  address(request: WireRequest): Address;
  /** Without the credential, so that the same bytes serve every attempt. Parts that are the same from call to call come first. Values may be `JsonBytes`. */
  body(request: WireRequest): Readonly<Record<string, unknown>>;
  reader(request: WireRequest, facts: { readonly now: number }): WireReader;
}

/** JSON that is encoded already: a value of a body. */
export class JsonBytes {
  readonly pieces: readonly Uint8Array[];

  constructor(pieces: readonly Uint8Array[]) {
    this.pieces = pieces;
  }
}

/** A body as JSON, in pieces. Send them as they are: joined, they would be a long buffer for every call. */
export function encodePieces(format: WireFormat, request: WireRequest): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let plain = "";
  let separator = "{";
  for (const [name, value] of Object.entries(format.body(request))) {
    const json = value instanceof JsonBytes ? "" : JSON.stringify(value);
    // Values without a JSON form are left out.
    if (json === undefined) continue;
    plain += `${separator}${JSON.stringify(name)}:${json}`;
    separator = ",";
    if (!(value instanceof JsonBytes)) continue;
    pieces.push(Buffer.from(plain), ...value.pieces);
    plain = "";
  }
  return [...pieces, Buffer.from(`${plain}}`)];
}

export function encodeBody(format: WireFormat, request: WireRequest): Uint8Array<ArrayBuffer> {
  return Buffer.concat(encodePieces(format, request));
}

export function encodeRequest(format: WireFormat, request: WireRequest): EncodedRequest & { readonly body: Uint8Array<ArrayBuffer> } {
  return { ...format.address(request), body: encodeBody(format, request) };
}
