import { AppError } from "../../base/errors.ts";

const SCHEMES: Readonly<Record<string, string>> = { "http:": "ws:", "https:": "wss:", "ws:": "ws:", "wss:": "wss:" };

function isLoopbackName(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || name === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(name);
}

/** The WebSocket address of a gateway. Throws for what is none, and for one whose secrets would cross a network in the clear. */
export function socketAddress(given: string, allowInsecure: boolean): string {
  let url: URL;
  try {
    url = new URL(given);
  } catch (error) {
    throw new AppError("INVALID_INPUT", `"${given}" is not an address; expected one like ws://127.0.0.1:18789 or wss://host.example`, { cause: error });
  }
  const scheme = SCHEMES[url.protocol];
  if (scheme === undefined) throw new AppError("INVALID_INPUT", `expected ws:// or wss://, not ${url.protocol}// in "${given}"`);
  if (url.username || url.password)
    throw new AppError("INVALID_INPUT", "a gateway's address has no user and password in it; give a token or password by itself");
  if (scheme === "ws:" && !allowInsecure && !isLoopbackName(url.hostname)) {
    throw new AppError(
      "INVALID_INPUT",
      `ws:// to ${url.host} would send secrets unencrypted; use wss://, or a tunnel to this machine (ssh -L 18789:127.0.0.1:18789 user@${url.hostname})`,
    );
  }
  url.protocol = scheme;
  url.hash = "";
  return url.href;
}
