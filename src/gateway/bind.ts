import { isIP } from "node:net";
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

/**
 * What `gateway.bind` custom means. A name is not taken: what it stands for may change, and with it who can connect.
 * `0.0.0.0` answers on loopback by itself, `::` does not: each family is listened on apart.
 */
function customAddresses(host: string | undefined): readonly string[] {
  const given = host?.trim() ?? "";
  if (given === "") throw new AppError("CONFIG_INVALID", 'gateway.bind "custom" needs gateway.customBindHost: set the IP address to listen on, or use "lan"');
  if (given.toLowerCase() === "localhost") return LOOPBACK;
  if (isIP(given) === 0) {
    throw new AppError(
      "CONFIG_INVALID",
      `gateway.customBindHost "${given}" is not an IP address: use an address of this machine, such as 192.168.1.10 or fd00::10`,
    );
  }
  return given === EVERYWHERE || given === LOOPBACK[0] ? [given] : [given, LOOPBACK[0]];
}

/** Turns `gateway.bind` into addresses; `host` is that of custom. Whatever it is, the programs of this machine reach it on 127.0.0.1 too. */
export function resolveBinding(bind: BindMode, host: string | undefined, interfaces: () => Interfaces): Binding {
  if (bind === "lan") return { addresses: [EVERYWHERE] };
  if (bind === "auto") return { addresses: LOOPBACK, fallback: EVERYWHERE };
  if (bind === "tailnet") {
    const address = ipv4Of(interfaces()).find(isTailnet);
    return { addresses: address === undefined ? LOOPBACK : [address, LOOPBACK[0]] };
  }
  if (bind === "custom") return { addresses: customAddresses(host) };
  return { addresses: LOOPBACK };
}
