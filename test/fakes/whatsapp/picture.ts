/** The camera of a phone: reads QR codes as they are shown. */
import { inflateSync } from "node:zlib";
import jsQR from "jsqr";

/** What a phone reads in the picture: one bit for each pixel, rows without a filter. */
export function scanned(dataUrl: string): string | undefined {
  const png = Buffer.from(dataUrl.slice(dataUrl.indexOf(",") + 1), "base64");
  const size = png.readUInt32BE(16);
  const at = png.indexOf("IDAT");
  const rows = inflateSync(png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4)));
  const stride = 1 + Math.ceil(size / 8);
  return readQr(size, (x, y) => (rows[y * stride + 1 + (x >> 3)]! & (0x80 >> (x & 7))) !== 0);
}

function readQr(size: number, isLight: (x: number, y: number) => boolean): string | undefined {
  const pixels = new Uint8ClampedArray(size * size * 4).fill(255);
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) pixels.fill(isLight(x, y) ? 255 : 0, (y * size + x) * 4, (y * size + x) * 4 + 3);
  }
  return jsQR(pixels, size, size)?.data;
}

/** The same in a terminal: each character is an upper and a lower module. */
export function scannedInTerminal(text: string): string | undefined {
  const lines = text.split("\n").filter((line) => /^[█▀▄ ]+$/.test(line));
  const scale = 4;
  const light = { upper: "█▀", lower: "█▄" };
  return readQr(lines[0]!.length * scale, (x, y) => {
    const row = Math.floor(y / scale);
    const sign = lines[row >> 1]?.[Math.floor(x / scale)] ?? "█";
    return (row % 2 === 0 ? light.upper : light.lower).includes(sign);
  });
}
