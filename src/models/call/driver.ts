import { streamCall, type StreamOptions } from "../transport/index.ts";
import { WIRE_APIS, encodePieces, loadWire, withoutThinkingTags, type ModelEvent, type WireFormat, type WireRequest } from "../wire/index.ts";

/** Headers that GitHub Copilot requires: who initiated the request, and whether it contains images. No other program's name is sent. */
function copilotHeaders({ messages }: WireRequest): Readonly<Record<string, string>> {
  const last = messages.at(-1);
  const pictures = messages.some(({ content }) => typeof content !== "string" && content.some(({ type }) => type === "image"));
  return {
    "x-initiator": last === undefined || last.role === "user" ? "user" : "agent",
    "openai-intent": "conversation-edits",
    ...(pictures ? { "copilot-vision-request": "true" } : {}),
  };
}

/** The encoded prompts of one call: encoded once per model and sent as often as needed. */
export type EncodedPrompts = Map<string, readonly Uint8Array[]>;

/** Answers a request without one of our wire formats: the offline model, the long tail of providers. */
export interface OtherDriver {
  readonly api: string;
  stream(request: WireRequest, options: StreamOptions): AsyncIterable<ModelEvent>;
}

/** The call that a provider's event belongs to. */
export interface RawCall {
  readonly runId?: string;
  readonly provider: string;
  readonly model: string;
  readonly api: string;
}

export type RawLog = (call: RawCall) => StreamOptions["onRaw"];

export interface DriveOptions extends StreamOptions {
  readonly runId?: string;
}

export interface Drivers {
  /** `prompts` starts empty with every call and is passed again with each of its attempts. */
  stream(request: WireRequest, prompts: EncodedPrompts, options: DriveOptions): AsyncIterable<ModelEvent>;
}

export interface DriversDeps {
  /** Loads a driver for another format; throws `UNAVAILABLE` when there is none. */
  readonly other: (api: string) => Promise<OtherDriver>;
  readonly fetch?: StreamOptions["fetch"];
  /** Version of this program, for the `user-agent` header. One that the user configured takes precedence. */
  readonly version?: string | undefined;
  /** Receives what providers send, before it is parsed. */
  readonly rawLog?: RawLog;
}

export function createDrivers({ other, fetch, rawLog, version }: DriversDeps): Drivers {
  /** Every repeated import costs as much as a small request. */
  const formats = new Map<string, WireFormat>();
  const startInThought = new Set<string>();

  async function open(request: WireRequest, prompts: EncodedPrompts, { runId, ...options }: DriveOptions): Promise<AsyncIterable<ModelEvent>> {
    const { api, provider, id } = request.model;
    if (!WIRE_APIS.includes(api)) return (await other(api)).stream(request, options);
    const format = formats.get(api) ?? (await loadWire(api));
    formats.set(api, format);
    const name = `${provider}/${id}/${request.thinking}/${request.maxTokens ?? ""}`;
    const body = prompts.get(name) ?? encodePieces(format, request);
    prompts.set(name, body);
    const onRaw = rawLog?.({ ...(runId === undefined ? {} : { runId }), provider, model: id, api });
    const address = format.address(request);
    const headers = {
      ...(version === undefined ? {} : { "user-agent": `openclaw/${version}` }),
      ...(provider === "github-copilot" ? copilotHeaders(request) : {}),
      ...address.headers,
    };
    return streamCall(format, request, { url: address.url, headers, body }, { ...options, ...(fetch ? { fetch } : {}), ...(onRaw ? { onRaw } : {}) });
  }

  return {
    async *stream(request, prompts, options) {
      yield* withoutThinkingTags(await open(request, prompts, options), `${request.model.provider}/${request.model.id}`, startInThought);
    },
  };
}
