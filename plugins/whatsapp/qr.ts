/** The picture that a phone scans. */
import { crc32, deflateSync } from "node:zlib";

const SCALE = 6;
const BORDER = 4;

async function matrixOf(text: string): Promise<boolean[][]> {
  const { encode } = await import("uqr");
  return encode(text, { ecc: "L", border: BORDER }).data;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  size.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([size, body, sum]);
}

/** A PNG of one bit for each pixel, as an address that pages can show. */
export async function qrDataUrl(text: string): Promise<string> {
  const matrix = await matrixOf(text);
  const size = matrix.length * SCALE;
  const rows = matrix.flatMap((modules) => {
    const row = Buffer.alloc(1 + Math.ceil(size / 8));
    for (let x = 0; x < size; x += 1) if (!modules[Math.floor(x / SCALE)]) row[1 + (x >> 3)]! |= 0x80 >> (x & 7);
    return Array.from({ length: SCALE }, () => row);
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  // One bit, shades of grey.
  header[8] = 1;
  const png = Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(Buffer.concat(rows))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
  return `data:image/png;base64,${png.toString("base64")}`;
}

/** Two rows in a line of half blocks, for terminals with light text on a dark ground. */
export async function qrText(text: string): Promise<string> {
  const matrix = await matrixOf(text);
  const lines: string[] = [];
  for (let y = 0; y < matrix.length; y += 2) {
    const cells = matrix[y]!.map((upper, x) => {
      const lower = matrix[y + 1]?.[x] ?? false;
      return upper ? (lower ? " " : "▄") : lower ? "▀" : "█";
    });
    lines.push(cells.join(""));
  }
  return lines.join("\n");
}
