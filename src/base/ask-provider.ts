/** Asks a provider over HTTP. */
import { AppError } from "./errors.ts";
import { guardedFetch } from "./guarded-fetch.ts";
import { isRecord } from "./records.ts";
import { createRedactor } from "./redaction.ts";
import { clip } from "./text.ts";

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
