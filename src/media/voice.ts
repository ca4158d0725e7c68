/** Voice notes: Opus in an Ogg file, which every messenger plays. */

/** Whether an Ogg file holds Opus. */
export function isOggOpus(data: Uint8Array): boolean {
  const head = Buffer.from(data.buffer, data.byteOffset, Math.min(data.length, 128));
  return head.toString("latin1", 0, 4) === "OggS" && head.includes("OpusHead");
}

const OPUS_RATE = 48_000;
const PAGE_HEADER = 27;

/** How long an Ogg Opus file is, in seconds: the position that its last page states. Undefined for other files. */
export function opusSeconds(data: Uint8Array): number | undefined {
  if (!isOggOpus(data)) return undefined;
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
  const page = bytes.lastIndexOf(Buffer.from("OggS"));
  const head = bytes.indexOf("OpusHead", 0, "latin1");
  if (page < 0 || page + PAGE_HEADER > bytes.length || head + 12 > bytes.length) return undefined;
  const samples = Number(bytes.readBigInt64LE(page + 6)) - bytes.readUInt16LE(head + 10);
  return samples > 0 ? samples / OPUS_RATE : undefined;
}

const BARS = 64;

/** Loudness over time as 64 bytes, from samples of 16 bits. */
export function waveformOf(samples: Uint8Array): Uint8Array {
  const view = Buffer.from(samples.buffer, samples.byteOffset, samples.length);
  const count = Math.floor(view.length / 2);
  const bars = new Uint8Array(BARS);
  for (let index = 0; index < count; index += 1) {
    const bar = Math.min(BARS - 1, Math.floor((index * BARS) / count));
    const loudness = Math.min(255, Math.abs(view.readInt16LE(index * 2)) >> 7);
    if (loudness > bars[bar]!) bars[bar] = loudness;
  }
  return bars;
}
