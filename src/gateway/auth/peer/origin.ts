import { canBeRebound, hostNameOf, isLoopbackName } from "./host.ts";
import { headerOf, type Peer, type PeerRequest } from "./peer.ts";
import { parseAddress, isLoopback } from "./address.ts";

export const ORIGIN_REFUSED = "origin not allowed (open the Control UI from the gateway host or allow it in gateway.controlUi.allowedOrigins)";

interface ClientKind {
  readonly id: string;
  readonly mode: string;
}

export const isControlUi = (client: ClientKind): boolean => client.id === "openclaw-control-ui";
export const isWebchat = (client: ClientKind): boolean => client.id === "webchat-ui" || client.mode === "webchat";

function parseOrigin(text: string): URL | undefined {
  const url = URL.parse(text.trim());
  return url && url.host !== "" ? url : undefined;
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { "http:": ":80", "https:": ":443", "ws:": ":80", "wss:": ":443" };

/** True when pages of this origin may connect: it is listed, it is the host that was asked, or both are this machine. */
export function originAllowed(origin: string | undefined, host: string | undefined, allowed: readonly string[]): boolean {
  const url = parseOrigin(origin ?? "");
  if (!url) return false;
  const same = (entry: string): boolean => {
    const listed = parseOrigin(entry);
    return listed?.protocol === url.protocol && listed.host === url.host;
  };
  if (allowed.some(same)) return true;
  const asked = (host ?? "").trim().toLowerCase();
  const port = DEFAULT_PORTS[url.protocol];
  if (asked !== "" && (asked === url.host || (port !== undefined && asked === `${url.host}${port}`))) return true;
  return isLoopbackName(hostNameOf(url.host)) && isLoopbackName(hostNameOf(asked));
}

/**
 * The Origin rule of the handshake. Browser clients must have an allowed one. Other programs send none; when one does, it is a page that
 * says it is such a program, and the same rule holds.
 */
export function originRefused(request: PeerRequest, client: ClientKind, allowed: readonly string[]): boolean {
  const origin = headerOf(request, "origin");
  if (origin === undefined && !isControlUi(client) && !isWebchat(client)) return false;
  return !originAllowed(origin, headerOf(request, "host"), allowed);
}

export interface HostRules {
  readonly allowedOrigins: readonly string[];
  /** Requests need a secret: a page that was pointed here has none. */
  readonly guarded: boolean;
}

/**
 * True when the Host is a name whose owner can have pointed it at this machine to speak to it from a browser (DNS rebinding): the socket
 * comes from here, but the name is not one of ours, nor did a proxy stand in between.
 */
export function hostRefused(peer: Peer, { allowedOrigins, guarded }: HostRules): boolean {
  const socket = parseAddress(peer.socketIp);
  if (!socket || !isLoopback(socket) || peer.trustedProxy || !canBeRebound(peer.hostName)) return false;
  if (peer.forwarded && guarded) return false;
  return !allowedOrigins.some((entry) => hostNameOf(parseOrigin(entry)?.host) === peer.hostName);
}
