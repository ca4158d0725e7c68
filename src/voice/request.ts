/** Asks a provider for speech. */
import { askProvider, type ProviderRequest } from "../base/ask-provider.ts";
import { AppError } from "../base/errors.ts";
import { audioType } from "./audio-check.ts";
import type { SpeakRequest } from "./types.ts";

export interface AudioRequest extends Pick<SpeakRequest, "timeoutMs" | "signal">, Pick<ProviderRequest, "name" | "url" | "headers"> {
  /** Sent as JSON. */
  readonly body: unknown;
  readonly key: string | undefined;
}

/** Half an hour of speech; more is a mistake. */
const MAX_BYTES = 50 * 1024 * 1024;

export async function fetchAudio({ headers, body, ...request }: AudioRequest): Promise<Buffer> {
  const bytes = await askProvider({
    ...request,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    maxBytes: MAX_BYTES,
  });
  if (bytes.length === 0) throw new AppError("UNAVAILABLE", `${request.name} returned no audio`);
  audioType(bytes, `${request.name} returned`);
  return bytes;
}
