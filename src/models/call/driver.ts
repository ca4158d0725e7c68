import { streamCall, type StreamOptions } from "../transport/index.ts";
import { WIRE_APIS, createWires, encodePieces, withoutThinkingTags, type ModelEvent, type WireRequest } from "../wire/index.ts";

/** Headers that GitHub Copilot requires: who initiated the request, and whether it contains images. No other program's name is sent. */
function copilotHeaders({ model, messages }: WireRequest): Readonly<Record<string, string>> {
  if (model.provider !== "github-copilot") return {};
  const last = messages.at(-1);
  const pictures = messages.some(({ content }) => typeof content !== "string" && content.some(({ type }) => type === "image"));
  return {
    "x-initiator": last === undefined || last.role === "user" ? "user" : "agent",
    "openai-intent": "conversation-edits",
    ...(pictures ? { "copilot-vision-request": "true" } : {}),
  };
}

/** The encoded prompts of one call: encoded once per model and sent as often as needed. */
export type Prepared = Map<string, readonly Uint8Array[]>;

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
  prepare(): Prepared;
  stream(request: WireRequest, prepared: Prepared, options: DriveOptions): AsyncIterable<ModelEvent>;
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
  const loadWire = createWires();
  const begunThoughts = new Set<string>();

  async function* overWire(request: WireRequest, prepared: Prepared, { runId, ...options }: DriveOptions): AsyncGenerator<ModelEvent, void, void> {
    const { api, provider, id } = request.model;
    const format = await loadWire(api);
    const name = `${provider}/${id}/${request.thinking}/${request.maxTokens ?? ""}`;
    const body = prepared.get(name) ?? encodePieces(format, request);
    prepared.set(name, body);
    const onRaw = rawLog?.({ ...(runId === undefined ? {} : { runId }), provider, model: id, api });
    const address = format.address(request);
    const headers = { ...(version === undefined ? {} : { "user-agent": `openclaw/${version}` }), ...copilotHeaders(request), ...address.headers };
    yield* streamCall(format, request, { ...address, headers, body }, { ...options, ...(fetch ? { fetch } : {}), ...(onRaw ? { onRaw } : {}) });
  }

  return {
    prepare: () => new Map(),
    async *stream(request, prepared, options) {
      const events = WIRE_APIS.includes(request.model.api) ? overWire(request, prepared, options) : (await other(request.model.api)).stream(request, options);
      yield* withoutThinkingTags(events, `${request.model.provider}/${request.model.id}`, begunThoughts);
    },
  };
}
