import type { WireRequest } from "./format.ts";

/** Headers of the format, then those of the model and the call; names are case-insensitive, the last one wins. */
export function requestHeaders(request: WireRequest, own: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const headers: Record<string, string> = { "content-type": "application/json", accept: "text/event-stream" };
  for (const [name, value] of [own, request.model.headers ?? {}, request.headers ?? {}].flatMap((set) => Object.entries(set))) {
    if (value !== undefined) headers[name.toLowerCase()] = value;
  }
  return headers;
}
