import { AppError } from "../base/errors.ts";

export type BindMode = "auto" | "lan" | "loopback" | "custom" | "tailnet";

/** Where to listen, in order of preference; `fallback` is tried when the first address cannot be had. */
export interface Binding {
  readonly addresses: readonly string[];
  readonly fallback?: string;
}

export interface Interfaces {
  readonly [name: string]: readonly { readonly address: string; readonly family: string; readonly internal: boolean }[] | undefined;
}

const LOOPBACK = ["127.0.0.1", "::1"] as const;
const EVERYWHERE = "0.0.0.0";

export function isLoopback(address: string): boolean {
  return address === "::1" || address === "localhost" || /^(?:::ffff:)?127(?:\.\d{1,3}){3}$/.test(address);
}

/** Addresses of the carrier-grade range that Tailscale gives out: 100.64.0.0/10. */
function isTailnet(address: string): boolean {
  const [a, b] = address.split(".").map(Number);
  return a === 100 && b !== undefined && b >= 64 && b < 128;
}

function ipv4Of(interfaces: Interfaces): string[] {
  return Object.values(interfaces)
    .flatMap((entries) => entries ?? [])
    .filter((entry) => entry.family === "IPv4" && !entry.internal)
    .map((entry) => entry.address);
}

/** The address by which others on the network know this machine. */
export function networkAddress(interfaces: Interfaces): string | undefined {
  return ipv4Of(interfaces).find((address) => !isTailnet(address));
}

/** Turns `gateway.bind` into addresses. Whatever is not loopback also answers on loopback, for the programs of this machine. */
export function resolveBinding(bind: BindMode, host: string | undefined, interfaces: () => Interfaces): Binding {
  if (bind === "lan") return { addresses: [EVERYWHERE] };
  if (bind === "auto") return { addresses: LOOPBACK, fallback: EVERYWHERE };
  if (bind === "tailnet") {
    const address = ipv4Of(interfaces()).find(isTailnet);
    return { addresses: address === undefined ? LOOPBACK : [address, LOOPBACK[0]] };
  }
  if (bind === "custom") {
    if (host === undefined) throw new AppError("CONFIG_INVALID", 'gateway.bind "custom" needs an address to listen on; start with --host, or use "lan"');
    return { addresses: isLoopback(host) || host === EVERYWHERE || host === "::" ? [host] : [host, LOOPBACK[0]] };
  }
  return { addresses: LOOPBACK };
}
