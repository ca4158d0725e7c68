/** Asks a provider over HTTP. */
import { AppError } from "../base/errors.ts";
import { guardedFetch } from "../base/guarded-fetch.ts";
import { isRecord } from "../base/records.ts";
import { createRedactor } from "../base/redaction.ts";
import { clip } from "../base/text.ts";
import { sniffMediaType } from "../media/index.ts";
import type { SpeakRequest } from "./types.ts";

export interface ProviderRequest {
  /** Who is asked, for errors. */
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** Never shown. */
  readonly key: string | undefined;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface AudioRequest extends Pick<SpeakRequest, "timeoutMs" | "signal">, Pick<ProviderRequest, "name" | "url" | "headers"> {
  /** Sent as JSON. */
  readonly body: unknown;
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
  const error = isRecord(value) ? (value["error"] ?? value["err_msg"] ?? value["detail"] ?? value["message"]) : undefined;
  const found = isRecord(error) ? error["message"] : error;
  return typeof found === "string" ? found : text;
}

/** The answer's bytes. The operator named this host, so it may be on a private network. Nothing is followed from it: the key goes nowhere else. */
export async function askProvider({ name, url, headers, body, key, maxBytes, timeoutMs, signal }: ProviderRequest): Promise<Buffer> {
  const { host, hostname } = new URL(url);
  using answer = await guardedFetch({
    url,
    method: "POST",
    headers,
    body,
    maxRedirects: 0,
    timeoutMs,
    signal,
    policy: { allowedHostnames: [hostname] },
    isAllowed: (target) => target.host === host,
  });
  const { bytes, truncated } = await answer.read(maxBytes);
  if (answer.status < 200 || answer.status >= 300) {
    const redactor = createRedactor();
    if (key !== undefined) redactor.register(key);
    const message = `${name} answered with status ${answer.status}: ${clip(redactor.text(messageIn(bytes.toString("utf8"))), SHOWN)}`;
    throw new AppError("UNAVAILABLE", message, { details: { status: answer.status } });
  }
  if (truncated) throw new AppError("OVERLOADED", `${name} answered with more than ${maxBytes / 1024 / 1024} MB`);
  return bytes;
}

export async function fetchAudio({ headers, body, ...request }: AudioRequest): Promise<Buffer> {
  const bytes = await askProvider({
    ...request,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    maxBytes: MAX_BYTES,
  });
  if (bytes.length === 0) throw new AppError("UNAVAILABLE", `${request.name} answered without any audio`);
  const head = bytes.toString("latin1", 0, 64);
  if (sniffMediaType(bytes) === undefined && /^[\t\n\r\x20-\x7e]*$/.test(head)) {
    throw new AppError("UNAVAILABLE", `${request.name} answered with text instead of audio: ${clip(head.trim(), 60)}`);
  }
  return bytes;
}
