import type { IncomingMessage } from "node:http";
import { inRange, isLoopback, parseAddress, parseRange, type Address, type AddressRange } from "./address.ts";
import { hostNameOf, isLocalName } from "./host.ts";

/** Who is at the other end of a request, as far as the network tells. */
export interface Peer {
  /** The client's address in its one spelling: IPv4 dotted, IPv6 compressed; `unknown` when there is none. Behind a trusted proxy the one it names. */
  readonly ip: string;
  /** The other end of the socket: the client itself, or the proxy in front of it. */
  readonly socketIp: string;
  /** The other end of the socket is one of `gateway.trustedProxies`. */
  readonly trustedProxy: boolean;
  /** The request has headers that only a proxy sets, trusted or not. */
  readonly forwarded: boolean;
  /** Name in the Host header, without port and brackets, lower case; empty when there is none. */
  readonly hostName: string;
  /** From this machine and to this machine by a name of its own, with nothing in between that is not trusted: the only kind that a lockout may leave out. */
  readonly local: boolean;
  /** What failures are counted under: the address, for IPv6 its /64. */
  readonly budgetKey: string;
}

/** Headers that a proxy adds. From anyone but a trusted proxy they say nothing about the client, only that it is not local. */
const FORWARDING = ["x-forwarded-for", "x-real-ip", "x-forwarded-host", "x-forwarded-proto", "forwarded", "cf-connecting-ip"] as const;

/** A header as one text; repeated ones are joined as a list. */
export function headerOf(request: Pick<IncomingMessage, "headers">, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

export type PeerRequest = Pick<IncomingMessage, "headers"> & { readonly socket: { readonly remoteAddress?: string | undefined } };

/** Reads `gateway.trustedProxies`: addresses and CIDR ranges of both families. Other entries are reported and ignored. */
export function parseTrustedProxies(entries: readonly string[], onBad: (entry: string) => void = () => {}): readonly AddressRange[] {
  return entries.flatMap((entry) => {
    const range = parseRange(entry);
    if (!range) onBad(entry);
    return range ? [range] : [];
  });
}

/**
 * The client behind trusted proxies: the last address in the list that is not itself one of them, since everything before it is the
 * client's own claim. Undefined when the proxy names nobody or something that is no address.
 */
function forwardedClient(request: PeerRequest, isProxy: (address: Address) => boolean): Address | undefined {
  const list = headerOf(request, "x-forwarded-for");
  if (list === undefined) return parseAddress(headerOf(request, "x-real-ip") ?? "");
  let found: Address | undefined;
  for (const part of list.split(",").reverse()) {
    found = parseAddress(part);
    if (!found || !isProxy(found)) return found;
  }
  return found;
}

/** Establishes who is there. Forwarded headers count only when the socket's other end is a trusted proxy. */
export function peerOf(request: PeerRequest, trustedProxies: readonly AddressRange[]): Peer {
  const isProxy = (address: Address): boolean => trustedProxies.some((range) => inRange(address, range));
  const socket = parseAddress(request.socket.remoteAddress ?? "");
  const forwarded = FORWARDING.some((name) => request.headers[name] !== undefined);
  const trustedProxy = socket !== undefined && isProxy(socket);
  const named = request.headers["x-forwarded-for"] !== undefined || request.headers["x-real-ip"] !== undefined;
  const claimed = trustedProxy && named ? forwardedClient(request, isProxy) : socket;
  // A trusted proxy that names nobody we can read: the failures are the proxy's, but nobody is local through it.
  const client = claimed ?? socket;
  const hostName = hostNameOf(headerOf(request, "host"));
  const loopback = claimed !== undefined && isLoopback(claimed);
  return {
    ip: client?.text ?? "unknown",
    socketIp: socket?.text ?? "unknown",
    trustedProxy,
    forwarded,
    hostName,
    local: loopback && isLocalName(hostName) && (!forwarded || trustedProxy),
    budgetKey: client?.network ?? "unknown",
  };
}
