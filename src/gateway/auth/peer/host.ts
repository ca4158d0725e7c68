import { isLoopback, parseAddress } from "./address.ts";

/** The name of a Host header: no port, no brackets, lower case, no trailing dot. */
export function hostNameOf(host: string | undefined): string {
  const text = (host ?? "").trim().toLowerCase();
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(text)?.[1];
  return (bracketed ?? text.replace(/:\d*$/, "")).replace(/\.$/, "");
}

/** True for the names under which a machine speaks to itself. */
export function isLoopbackName(name: string): boolean {
  if (name === "localhost") return true;
  const address = parseAddress(name);
  return address !== undefined && isLoopback(address);
}

/** True for the Host names that count as local: exactly these, and Tailscale's names for this machine. */
export function isLocalName(name: string): boolean {
  return name === "localhost" || name === "127.0.0.1" || name === "::1" || name.endsWith(".ts.net");
}

/**
 * True when a page of a name that its owner points at 127.0.0.1 could be behind this Host. Addresses and names without a dot cannot be
 * taken over that way.
 */
export function canBeRebound(name: string): boolean {
  if (name === "" || !name.includes(".")) return false;
  return !isLocalName(name) && !name.endsWith(".localhost") && parseAddress(name) === undefined;
}
