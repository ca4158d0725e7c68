/** The part of DNS messages that browsing for services needs (RFC 1035, 6762, 6763). Everything that comes in is a stranger's. */

/** A name as its labels: those of services may hold dots and spaces. */
export type DnsName = readonly string[];

export const TYPE = { A: 1, PTR: 12, TXT: 16, AAAA: 28, SRV: 33, ANY: 255 } as const;

export type DnsRecord =
  | { readonly type: "PTR"; readonly name: DnsName; readonly target: DnsName }
  | { readonly type: "SRV"; readonly name: DnsName; readonly port: number; readonly target: DnsName }
  | { readonly type: "TXT"; readonly name: DnsName; readonly entries: readonly string[] }
  | { readonly type: "A" | "AAAA"; readonly name: DnsName; readonly address: string };

const HEADER_BYTES = 12;
const CLASS_IN = 1;
/** Pointers that one name may follow, and labels it may have. */
const MAX_STEPS = 128;
const MAX_RECORDS = 500;

/** A query for names of a type, as one packet. */
export function encodeQuery(questions: readonly { readonly name: DnsName; readonly type: number }[]): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(questions.length, 4);
  return Buffer.concat([header, ...questions.flatMap(({ name, type }) => [encodeName(name), uint16(type), uint16(CLASS_IN)])]);
}

const uint16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff]);

/** A label is at most 63 bytes long. */
export function encodeName(name: DnsName): Buffer {
  const labels = name.map((label) => Buffer.from(label, "utf8").subarray(0, 63));
  return Buffer.concat([...labels.flatMap((label) => [Buffer.from([label.length]), label]), Buffer.from([0])]);
}

/** The name at an offset, and the offset after it. Throws a `RangeError` where the packet ends too soon or points forward. */
function readName(packet: Buffer, start: number): { readonly name: DnsName; readonly end: number } {
  const name: string[] = [];
  let at = start;
  let end: number | undefined;
  for (let steps = 0; steps < MAX_STEPS; steps += 1) {
    const length = packet.readUInt8(at);
    if (length === 0) return { name, end: end ?? at + 1 };
    if (length >= 0xc0) {
      const target = packet.readUInt16BE(at) & 0x3fff;
      end ??= at + 2;
      if (target >= at) throw new RangeError("a pointer leads forward");
      at = target;
    } else {
      if (length > 63 || at + 1 + length > packet.length) throw new RangeError("a label is too long");
      name.push(packet.toString("utf8", at + 1, at + 1 + length));
      at += 1 + length;
    }
  }
  throw new RangeError("a name is too long");
}

function readTexts(data: Buffer): readonly string[] {
  const texts: string[] = [];
  for (let at = 0; at < data.length;) {
    const end = at + 1 + data.readUInt8(at);
    texts.push(data.toString("utf8", at + 1, Math.min(data.length, end)));
    at = end;
  }
  return texts;
}

function ipv6(data: Buffer): string {
  return Array.from({ length: 8 }, (_, index) => data.readUInt16BE(index * 2).toString(16)).join(":");
}

function readRecord(packet: Buffer, name: DnsName, type: number, at: number, length: number): DnsRecord | undefined {
  const data = packet.subarray(at, at + length);
  if (type === TYPE.PTR) return { type: "PTR", name, target: readName(packet, at).name };
  if (type === TYPE.SRV) return { type: "SRV", name, port: packet.readUInt16BE(at + 4), target: readName(packet, at + 6).name };
  if (type === TYPE.TXT) return { type: "TXT", name, entries: readTexts(data) };
  if (type === TYPE.A && length === 4) return { type: "A", name, address: data.join(".") };
  if (type === TYPE.AAAA && length === 16) return { type: "AAAA", name, address: ipv6(data) };
  return undefined;
}

/** The records of an answer, from all its sections. Of a packet that breaks off, or is no answer, what could be read. */
export function parseAnswer(packet: Buffer): readonly DnsRecord[] {
  const records: DnsRecord[] = [];
  try {
    if ((packet.readUInt16BE(2) & 0x8000) === 0) return [];
    let at = HEADER_BYTES;
    for (let left = packet.readUInt16BE(4); left > 0; left -= 1) at = readName(packet, at).end + 4;
    const count = packet.readUInt16BE(6) + packet.readUInt16BE(8) + packet.readUInt16BE(10);
    for (let left = Math.min(count, MAX_RECORDS); left > 0; left -= 1) {
      const { name, end } = readName(packet, at);
      const length = packet.readUInt16BE(end + 8);
      if (end + 10 + length > packet.length) break;
      const record = readRecord(packet, name, packet.readUInt16BE(end), end + 10, length);
      if (record) records.push(record);
      at = end + 10 + length;
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return records;
}
