import { isIP, isIPv4 } from "node:net";
import { networkInterfaces } from "node:os";
import { AppError } from "./errors.ts";

/** Which hosts an untrusted URL may reach. Without a policy: every public host. */
export interface HostPolicy {
  /** Private addresses may be reached. */
  readonly allowPrivateNetwork?: boolean | undefined;
  /** Hosts named by an operator: allowed whatever address they resolve to. */
  readonly allowedHostnames?: readonly string[] | undefined;
  /** If set, only these hosts: names, or `*.domain` for its subdomains. */
  readonly hostnameAllowlist?: readonly string[] | undefined;
}

/** Why a host was refused; `details.reason` of a `HOST_BLOCKED` error. */
export type BlockedReason = "url" | "host" | "address" | "list";

/** Networks outside the public internet, and 168.63.129.16, Azure's metadata service. */
const IPV4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];
/** First 16 bits and prefix length: unique local, link-local, site-local, multicast. */
const IPV6: readonly (readonly [number, number])[] = [
  [0xfc_00, 7],
  [0xfe_80, 10],
  [0xfe_c0, 10],
  [0xff_00, 8],
];

export function blocked(reason: BlockedReason, message: string): AppError {
  return new AppError("HOST_BLOCKED", message, { details: { reason } });
}

function numberOf(ipv4: string): number {
  return ipv4.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}

function isPrivateIpv4(address: string): boolean {
  const value = numberOf(address);
  return IPV4.some(([network, bits]) => {
    const size = 2 ** (32 - bits);
    const first = numberOf(network);
    return value >= first && value < first + size;
  });
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const plain = dotted
    ? `${dotted[1]}${((Number(dotted[2]) << 8) | Number(dotted[3])).toString(16)}:${((Number(dotted[4]) << 8) | Number(dotted[5])).toString(16)}`
    : address;
  const [head = "", tail] = plain.split("::");
  const read = (part: string): number[] => (part ? part.split(":").map((group) => Number.parseInt(group, 16)) : []);
  const front = read(head);
  if (tail === undefined) return front;
  const back = read(tail);
  return [...front, ...Array.from({ length: 8 - front.length - back.length }, () => 0), ...back];
}

/** IPv4 addresses embedded in an IPv6 address: mapped, compatible, NAT64 (both lengths of its local prefix), 6to4, Teredo, ISATAP. */
function embeddedIpv4(groups: readonly number[]): string[] {
  const text = (high: number, low: number): string => `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups;
  const zeros = (count: number): boolean => groups.slice(0, count).every((group) => group === 0);
  if (zeros(6) || (zeros(5) && f === 0xff_ff) || (zeros(4) && e === 0xff_ff && f === 0)) return [text(g, h)];
  if (a === 0x64 && b === 0xff_9b) return c === 1 ? [text(g, h), text(d, ((e & 255) << 8) | (f >> 8))] : [text(g, h)];
  if (a === 0x20_02) return [text(b, c)];
  if (a === 0x20_01 && b === 0) return [text(g ^ 0xff_ff, h ^ 0xff_ff), text(c, d)];
  return (e & 0xfd_ff) === 0 && f === 0x5e_fe ? [text(g, h)] : [];
}

/** A host name or address in lower case, without brackets, IPv6 zone and trailing dots. */
export function bareHost(host: string): string {
  const plain = host
    .trim()
    .toLowerCase()
    .replaceAll(/^\[|\]$/g, "");
  // A percent sign in a name does not start a zone: cutting there would hide the rest of the name from the checks.
  return (plain.includes(":") ? plain.replace(/%.*$/, "") : plain).replace(/\.{1,2}$/, "");
}

/** Characters that are invalid in a host but that some parsers stop at or skip: control characters, spaces, delimiters and percent signs. */
const NOT_IN_HOSTS = /[\p{Cc}\p{Cf}\p{Z}%/\\@?#<>^|"'`{}]/u;

/** Loopback, private, link-local and reserved addresses, and anything that only looks like an address (`127.1`, `0x7f000001`). */
export function isPrivateAddress(address: string): boolean {
  const host = bareHost(address);
  if (!host) return false;
  const version = isIP(host);
  if (version === 4) return isPrivateIpv4(host);
  if (version === 0) return host.includes(":") || (URL.canParse(`http://${host}/`) && isIPv4(new URL(`http://${host}/`).hostname));
  const groups = groupsOf(host);
  const [first = 0] = groups;
  return IPV6.some(([network, bits]) => first >> (16 - bits) === network >> (16 - bits)) || embeddedIpv4(groups).some((inner) => isPrivateIpv4(inner));
}

const plainAddress = (address: string): string => (isIP(address) === 6 ? groupsOf(address).join(":") : address);

/** Whether this is an address of one of this machine's interfaces; it may be public. */
export function isOwnAddress(address: string, interfaces = networkInterfaces()): boolean {
  const host = bareHost(address);
  const forms = isIP(host) === 6 ? [plainAddress(host), ...embeddedIpv4(groupsOf(host))] : [host];
  return Object.values(interfaces).some((list) => list?.some((own) => forms.includes(plainAddress(bareHost(own.address)))));
}

/** Names of this machine, its network and cloud metadata services. */
export function isInternalName(hostname: string): boolean {
  return /^(?:.*\.)?(?:localhost|local|internal)$|^localhost\.localdomain$/.test(bareHost(hostname));
}

function matches(pattern: string, host: string): boolean {
  const wanted = bareHost(pattern);
  return wanted.startsWith("*.") ? host.endsWith(wanted.slice(1)) : host === wanted;
}

/** Whether the allowlist includes this host. True without an allowlist. */
export function isListedHost(hostname: string, { allowedHostnames, hostnameAllowlist }: HostPolicy): boolean {
  const host = bareHost(hostname);
  if (!hostnameAllowlist?.length || allowedHostnames?.some((name) => bareHost(name) === host)) return true;
  return hostnameAllowlist.some((pattern) => matches(pattern, host));
}

/** Throws `HOST_BLOCKED` when `hostname`, or one of its addresses, may not be reached. */
export function assertHostAllowed(hostname: string, addresses: readonly string[], policy: HostPolicy = {}): void {
  const host = bareHost(hostname);
  if (NOT_IN_HOSTS.test(host)) throw blocked("host", `${JSON.stringify(hostname.slice(0, 200))} is not a host name`);
  const named = policy.allowedHostnames?.some((name) => bareHost(name) === host) === true;
  if (!isListedHost(host, policy)) {
    throw blocked("list", `${host} is not on the list of allowed hosts`);
  }
  if (named || policy.allowPrivateNetwork) return;
  if (isInternalName(host) || isPrivateAddress(host)) throw blocked("host", `${host} is a private or internal host: access is not allowed`);
  const inside = addresses.find((address) => isIP(address) === 0 || isPrivateAddress(address));
  if (inside !== undefined) throw blocked("address", `${host} resolves to the private address ${inside}: access is not allowed`);
  const own = addresses.find((address) => isOwnAddress(address));
  if (own !== undefined) throw blocked("address", `${host} resolves to ${own}, an address of this machine: access is not allowed`);
}
