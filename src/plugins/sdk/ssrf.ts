/** Which hosts a plugin may be sent to by text that came from outside. */
import type { lookup } from "node:dns/promises";
import { BlockList, isIP, isIPv4 } from "node:net";

/** `dns.promises.lookup` or something like it. */
export type LookupFn = typeof lookup;

export interface SsrFPolicy {
  /** Private addresses may be reached. */
  allowPrivateNetwork?: boolean | undefined;
  /** Hosts that may be reached wherever they lead. */
  allowedHostnames?: string[] | undefined;
  /** If there are any, only these: names, or `*.domain`. */
  hostnameAllowlist?: string[] | undefined;
}

/** The request would have gone where it may not. */
export class SsrFBlockedError extends Error {
  override readonly name = "SsrFBlockedError";
}

const IPV4 = ["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15"];
const IPV4_RESERVED = ["224.0.0.0/4", "240.0.0.0/4"];
const IPV6 = ["::/128", "::1/128", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8"];

function privateNetworks(): BlockList {
  const list = new BlockList();
  for (const network of [...IPV4, ...IPV4_RESERVED, ...IPV6]) {
    const [address, prefix] = network.split("/") as [string, string];
    list.addSubnet(address, Number(prefix), address.includes(":") ? "ipv6" : "ipv4");
  }
  return list;
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const plain = dotted
    ? `${dotted[1]}${((Number(dotted[2]) << 8) | Number(dotted[3])).toString(16)}:${((Number(dotted[4]) << 8) | Number(dotted[5])).toString(16)}`
    : address;
  const [head = "", tail] = plain.split("::");
  const read = (part: string) => (part ? part.split(":").map((group) => Number.parseInt(group, 16)) : []);
  const front = read(head);
  if (tail === undefined) return front;
  const back = read(tail);
  return [...front, ...Array.from({ length: 8 - front.length - back.length }, () => 0), ...back];
}

/** The IPv4 address inside an IPv6 one: mapped, compatible, NAT64, 6to4 and Teredo. */
function embeddedIpv4(groups: readonly number[]): string | undefined {
  const text = (high: number, low: number) => `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
  const [a = 0, b = 0, c = 0, , , f = 0, g = 0, h = 0] = groups;
  const zeros = (count: number) => groups.slice(0, count).every((group) => group === 0);
  if (zeros(6) || (zeros(5) && f === 0xff_ff)) return text(g, h);
  if (a === 0x64 && b === 0xff_9b) return text(g, h);
  if (a === 0x20_02) return text(b, c);
  if (a === 0x20_01 && b === 0) return text(g ^ 0xff_ff, h ^ 0xff_ff);
  return undefined;
}

function bare(host: string): string {
  return host
    .trim()
    .toLowerCase()
    .replaceAll(/^\[|\]$/g, "")
    .replace(/%.*$/, "")
    .replace(/\.$/, "");
}

/** Loopback, private, link-local and reserved addresses, and everything that only looks like an address (`127.1`, `0x7f000001`). */
export function isPrivateIpAddress(address: string): boolean {
  const host = bare(address);
  if (!host) return false;
  const version = isIP(host);
  if (version === 0) {
    if (host.includes(":")) return true;
    const canonical = URL.canParse(`http://${host}/`) ? new URL(`http://${host}/`).hostname : "";
    return isIPv4(canonical);
  }
  const networks = privateNetworks();
  if (version === 4) return networks.check(host, "ipv4");
  if (networks.check(host, "ipv6")) return true;
  const inner = embeddedIpv4(groupsOf(host));
  return inner !== undefined && networks.check(inner, "ipv4");
}

/** Names of this machine, its network and the metadata services of clouds. */
export function isBlockedHostname(hostname: string): boolean {
  return /^(?:.*\.)?(?:localhost|local|internal)$|^localhost\.localdomain$/.test(bare(hostname));
}

export function isBlockedHostnameOrIp(hostname: string): boolean {
  return isBlockedHostname(hostname) || isPrivateIpAddress(hostname);
}

function matches(pattern: string, host: string): boolean {
  const wanted = bare(pattern);
  return wanted.startsWith("*.") ? host.endsWith(wanted.slice(1)) : host === wanted;
}

/** Throws {@link SsrFBlockedError} when `hostname`, or one of the addresses it stands for, may not be reached. */
export function assertReachable(hostname: string, addresses: readonly string[], policy: SsrFPolicy = {}): void {
  const host = bare(hostname);
  const allowed = policy.allowedHostnames?.some((name) => bare(name) === host) === true;
  if (policy.hostnameAllowlist?.length && !allowed && !policy.hostnameAllowlist.some((pattern) => matches(pattern, host))) {
    throw new SsrFBlockedError(`${host} is not on the list of hosts that may be reached`);
  }
  if (allowed || policy.allowPrivateNetwork) return;
  if (isBlockedHostnameOrIp(host)) throw new SsrFBlockedError(`${host} is a private or internal host, which may not be reached from here`);
  const inside = addresses.find((address) => isPrivateIpAddress(address));
  if (inside !== undefined) throw new SsrFBlockedError(`${host} leads to the private address ${inside}, which may not be reached from here`);
}
