/** An IP address in its one spelling, so that no address has two. */
export interface Address {
  readonly family: 4 | 6;
  /** 4 or 16 bytes. An IPv4 address written as IPv6 (`::ffff:a.b.c.d`) is IPv4. */
  readonly bytes: readonly number[];
  readonly text: string;
  /** What one subscriber owns: the IPv4 address, or the /64 of an IPv6 one. */
  readonly network: string;
}

/** Addresses that share their first `bits`. */
export interface AddressRange {
  readonly address: Address;
  readonly bits: number;
}

const OCTET = /^(?:0|[1-9]\d{0,2})$/;
const GROUP = /^[0-9a-f]{1,4}$/i;

function parseV4(text: string): number[] | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => OCTET.test(part) && Number(part) <= 255)) return undefined;
  return parts.map(Number);
}

/** Bytes of colon-separated groups; a dotted IPv4 part may end them. */
function groupBytes(text: string, mayEndDotted: boolean): number[] | undefined {
  if (text === "") return [];
  const bytes: number[] = [];
  const groups = text.split(":");
  for (const [index, group] of groups.entries()) {
    const dotted = mayEndDotted && index === groups.length - 1 && group.includes(".") ? parseV4(group) : undefined;
    if (dotted) bytes.push(...dotted);
    else if (GROUP.test(group)) bytes.push(Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff);
    else return undefined;
  }
  return bytes;
}

function parseV6(text: string): number[] | undefined {
  const gap = text.indexOf("::");
  if (gap < 0) {
    const bytes = groupBytes(text, true);
    return bytes?.length === 16 ? bytes : undefined;
  }
  const head = groupBytes(text.slice(0, gap), false);
  const tail = groupBytes(text.slice(gap + 2), true);
  if (!head || !tail || head.length + tail.length > 14) return undefined;
  return [...head, ...Array.from({ length: 16 - head.length - tail.length }, () => 0), ...tail];
}

const isMapped = (bytes: readonly number[]): boolean => bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;

function formatV6(bytes: readonly number[]): string {
  const groups = Array.from({ length: 8 }, (_, index) => (((bytes[index * 2] ?? 0) << 8) | (bytes[index * 2 + 1] ?? 0)).toString(16));
  const text = groups.join(":");
  const zeros = [...text.matchAll(/(?<=^|:)0(?::0)+(?=:|$)/g)].map((found) => found[0]).sort((a, b) => b.length - a.length)[0];
  if (zeros === undefined) return text;
  const at = text.search(new RegExp(`(?<=^|:)${zeros}(?=:|$)`));
  return `${text.slice(0, at).replace(/:$/, "")}::${text.slice(at + zeros.length).replace(/^:/, "")}`;
}

function addressOf(bytes: readonly number[]): Address {
  if (bytes.length === 4) return { family: 4, bytes, text: bytes.join("."), network: bytes.join(".") };
  if (isMapped(bytes)) return addressOf(bytes.slice(12));
  const prefix = [...bytes.slice(0, 8), 0, 0, 0, 0, 0, 0, 0, 0];
  return { family: 6, bytes, text: formatV6(bytes), network: `${formatV6(prefix)}/64` };
}

/** Reads an address as sockets and proxies write it: brackets, a port after them or after IPv4, and a zone are dropped. */
export function parseAddress(input: string): Address | undefined {
  const trimmed = input.trim();
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(trimmed)?.[1];
  const text = (bracketed ?? trimmed).replace(/%[^%]*$/, "");
  if (bracketed !== undefined || text.includes("::") || text.split(":").length > 2) {
    const bytes = parseV6(text);
    return bytes && addressOf(bytes);
  }
  const bytes = parseV4(text.replace(/:\d{1,5}$/, ""));
  return bytes && addressOf(bytes);
}

/** Reads an address or a CIDR range of either family. */
export function parseRange(input: string): AddressRange | undefined {
  const [text = "", length, ...rest] = input.trim().split("/");
  const address = parseAddress(text);
  if (!address || rest.length > 0) return undefined;
  const width = address.bytes.length * 8;
  if (length === undefined) return { address, bits: width };
  if (!/^\d{1,3}$/.test(length)) return undefined;
  // `::ffff:10.0.0.0/104` is `10.0.0.0/8` in the other spelling.
  const bits = address.family === 4 && text.includes(":") ? Number(length) - 96 : Number(length);
  return bits >= 0 && bits <= width ? { address, bits } : undefined;
}

export function inRange(address: Address, { address: base, bits }: AddressRange): boolean {
  if (address.family !== base.family) return false;
  return base.bytes.every((byte, index) => {
    const covered = Math.min(Math.max(bits - index * 8, 0), 8);
    const mask = (0xff << (8 - covered)) & 0xff;
    return (byte & mask) === ((address.bytes[index] ?? 0) & mask);
  });
}

/** An address that only this machine can have used: 127.0.0.0/8 or ::1. */
export function isLoopback({ family, bytes }: Address): boolean {
  return family === 4 ? bytes[0] === 127 : bytes.every((byte, index) => byte === (index === 15 ? 1 : 0));
}
