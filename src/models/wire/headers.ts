import type { WireRequest } from "./format.ts";

/** What a format sends, then what the model and the call ask for; names are compared without case, the last one wins. */
export function requestHeaders(request: WireRequest, own: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const headers: Record<string, string> = { "content-type": "application/json", accept: "text/event-stream" };
  for (const [name, value] of [own, request.model.headers ?? {}, request.headers ?? {}].flatMap((set) => Object.entries(set))) {
    if (value !== undefined) headers[name.toLowerCase()] = value;
  }
  return headers;
}
