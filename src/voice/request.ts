/** Asks a provider for audio over HTTP. */
import { AppError } from "../base/errors.ts";
import { guardedFetch } from "../base/guarded-fetch.ts";
import { isRecord } from "../base/records.ts";
import { createRedactor } from "../base/redaction.ts";
import { clip } from "../base/text.ts";
import type { SpeakRequest } from "./types.ts";

export interface AudioRequest extends Pick<SpeakRequest, "timeoutMs" | "signal"> {
  /** Who is asked, for errors. */
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body: unknown;
  /** Never shown. */
  readonly key: string;
}

/** Half an hour of speech; more is a mistake. */
const MAX_BYTES = 50 * 1024 * 1024;
const SHOWN = 200;

function messageIn(text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  const error = isRecord(value) ? (value["error"] ?? value["detail"] ?? value["message"]) : undefined;
  const found = isRecord(error) ? error["message"] : error;
  return typeof found === "string" ? found : text;
}

export async function fetchAudio({ name, url, headers, body, key, timeoutMs, signal }: AudioRequest): Promise<Buffer> {
  const { host, hostname } = new URL(url);
  // The operator named this host, so it may be on a private network. Nothing is followed from it: the key goes nowhere else.
  using answer = await guardedFetch({
    url,
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    maxRedirects: 0,
    timeoutMs,
    signal,
    policy: { allowedHostnames: [hostname] },
    isAllowed: (target) => target.host === host,
  });
  const { bytes, truncated } = await answer.read(MAX_BYTES);
  if (answer.status < 200 || answer.status >= 300) {
    const redactor = createRedactor();
    redactor.register(key);
    throw new AppError("UNAVAILABLE", `${name} answered with status ${answer.status}: ${clip(redactor.text(messageIn(bytes.toString("utf8"))), SHOWN)}`);
  }
  if (truncated) throw new AppError("OVERLOADED", `${name} answered with more than ${MAX_BYTES / 1024 / 1024} MB of audio`);
  if (bytes.length === 0) throw new AppError("UNAVAILABLE", `${name} answered without any audio`);
  return bytes;
}
