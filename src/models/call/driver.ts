import { streamCall, type StreamOptions } from "../transport/index.ts";
import { encodeBody, loadWire, WIRE_APIS, type ModelEvent, type WireRequest } from "../wire/index.ts";

/** The encoded prompts of one call: each model's is made once and sent as often as needed. */
export type Prepared = Map<string, Uint8Array<ArrayBuffer>>;

/** Something that answers a request without a wire format of ours: the offline model, the long tail of providers. */
export interface OtherDriver {
  readonly api: string;
  stream(request: WireRequest, options: StreamOptions): AsyncIterable<ModelEvent>;
}

export interface Drivers {
  prepare(): Prepared;
  stream(request: WireRequest, prepared: Prepared, options: StreamOptions): AsyncIterable<ModelEvent>;
}

export interface DriversDeps {
  /** Loads a driver for a format that is not ours; throws `UNAVAILABLE` when there is none. */
  readonly other: (api: string) => Promise<OtherDriver>;
  readonly fetch?: StreamOptions["fetch"];
  readonly rawLog?: (api: string) => StreamOptions["onRaw"];
}

export function createDrivers({ other, fetch, rawLog }: DriversDeps): Drivers {
  async function* overWire(request: WireRequest, prepared: Prepared, options: StreamOptions): AsyncGenerator<ModelEvent, void, void> {
    const { api, provider, id } = request.model;
    const format = await loadWire(api);
    const name = `${provider}/${id}/${request.thinking}`;
    const body = prepared.get(name) ?? encodeBody(format, request);
    prepared.set(name, body);
    const onRaw = rawLog?.(api);
    yield* streamCall(format, request, { ...format.address(request), body }, { ...options, ...(fetch ? { fetch } : {}), ...(onRaw ? { onRaw } : {}) });
  }

  return {
    prepare: () => new Map(),
    async *stream(request, prepared, options) {
      if (WIRE_APIS.includes(request.model.api)) yield* overWire(request, prepared, options);
      else yield* (await other(request.model.api)).stream(request, options);
    },
  };
}
