import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { installPackage } from "../harness/packages.ts";
import { createConverters, type Converters } from "../../src/media/converters.ts";
import { imageSize } from "../../src/media/image-size.ts";
import { loadSharp } from "../../src/media/images.ts";
import { mediaTypeOf } from "../../src/media/mime.ts";
import { fitOutgoing, type MediaRules } from "../../src/media/outgoing.ts";
import { opusSeconds } from "../../src/media/voice.ts";

const KB = 1024;
const RULES: MediaRules = {
  channel: "test",
  platform: "Testgram",
  image: { maxBytes: 40 * KB, types: ["image/jpeg", "image/png"] },
  video: { maxBytes: 400 * KB, types: ["video/mp4"] },
  audio: { maxBytes: 400 * KB, types: ["audio/mpeg"] },
  voice: { maxBytes: 400 * KB, waveform: true },
  document: { maxBytes: 60 * KB },
};

function tools(env: Readonly<Record<string, string | undefined>> = process.env, load = loadSharp): { converters: Converters; warnings: string[] } {
  const warnings: string[] = [];
  return { converters: createConverters({ env, load, warn: (text) => warnings.push(text) }), warnings };
}
const NO_PROGRAMS = { PATH: "/nonexistent" };

/** Pixels that compress badly, so that only a smaller image has fewer bytes. */
async function noise(side: number, options: { alpha?: boolean; format?: "png" | "tiff" } = {}): Promise<Buffer> {
  const sharp = await loadSharp();
  const channels = options.alpha ? 4 : 3;
  let seed = 1;
  const raw = Buffer.alloc(side * side * channels, 0).map(() => (seed = (seed * 16_807) % 2_147_483_647) & 0xff);
  return sharp(raw, { raw: { width: side, height: side, channels } })
    .toFormat(options.format ?? "png")
    .toBuffer();
}

test("a file that fits goes out as it is, by its content and with an ending", async () => {
  const { converters } = tools(NO_PROGRAMS);
  const small = await noise(20);
  expect(await fitOutgoing({ data: small, fileName: "chart", claim: "text/plain" }, RULES, converters)).toEqual({
    file: { kind: "image", data: small, fileName: "chart.png", mimeType: "image/png" },
  });
  const text = Buffer.from("words");
  expect(await fitOutgoing({ data: text, fileName: "fake.png" }, RULES, converters)).toMatchObject({
    file: { kind: "document", mimeType: "text/plain", fileName: "fake.txt" },
  });
  expect(await fitOutgoing({ data: text, fileName: "notes.md" }, RULES, converters)).toMatchObject({ file: { fileName: "notes.md" } });
  expect(await fitOutgoing({ data: Buffer.alloc(0), fileName: "nothing.txt" }, RULES, converters)).toEqual({ note: "nothing.txt is empty" });
});

test("an image over the limit is scaled; transparent parts stay", async () => {
  const { converters } = tools(NO_PROGRAMS);
  const large = await noise(400);
  expect(large.length).toBeGreaterThan(RULES.document.maxBytes);
  const { file } = await fitOutgoing({ data: large, fileName: "photo.png" }, { ...RULES, image: { maxBytes: 100 * KB } }, converters);
  expect(file).toMatchObject({ kind: "image", fileName: "photo.jpg", mimeType: "image/jpeg" });
  expect(file!.data.length).toBeLessThanOrEqual(100 * KB);
  const clear = await noise(150, { alpha: true });
  const { file: still } = await fitOutgoing({ data: clear, fileName: "logo.png" }, { ...RULES, image: { maxBytes: 50 * KB } }, converters);
  expect(still).toMatchObject({ mimeType: "image/png", fileName: "logo.png" });
});

test("without the library and without programs an image goes as a document, or is noted", async () => {
  const { converters } = tools(NO_PROGRAMS, () => Promise.reject(new Error("no binary for this machine")));
  const medium = await noise(130);
  expect(await fitOutgoing({ data: medium, fileName: "a.png" }, RULES, converters)).toMatchObject({ file: { kind: "document", data: medium } });
  const large = await noise(400);
  expect(await fitOutgoing({ data: large, fileName: "b.png" }, RULES, converters)).toEqual({
    note: expect.stringMatching(/^b\.png is 4\d\d KB; Testgram takes 60 KB$/) as string,
  });
});

test("a configured limit is named as the reason", async () => {
  const { converters } = tools(NO_PROGRAMS);
  const cap = { maxBytes: 5 * KB, setting: "channels.test.mediaMaxMb" };
  expect(await fitOutgoing({ data: Buffer.alloc(6 * KB), fileName: "a.bin" }, RULES, converters, { cap })).toEqual({
    note: "a.bin is 6 KB; channels.test.mediaMaxMb allows 5 KB",
  });
  const gif = Buffer.concat([Buffer.from("GIF89a"), Buffer.alloc(6 * KB)]);
  expect(await fitOutgoing({ data: gif, fileName: "a.gif" }, RULES, converters, { cap })).toHaveProperty("note");
});

test("an image of a type that the platform does not show becomes a JPEG", async () => {
  const { converters } = tools(NO_PROGRAMS);
  const { file } = await fitOutgoing({ data: await noise(40, { format: "tiff" }), fileName: "scan.tif" }, RULES, converters);
  expect(file).toMatchObject({ kind: "image", fileName: "scan.jpg", mimeType: "image/jpeg" });
  expect(imageSize(Buffer.from(file!.data))).toEqual({ width: 40, height: 40 });
});

describe("a photo of a phone", () => {
  // The library reads no HEVC, which is what such files hold.
  const heic = Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from("ftypheic"), Buffer.alloc(400, 7)]);

  test("becomes a JPEG where a program of this machine can read it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "heic-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const jpeg = await (
      await loadSharp()
    )(await noise(30))
      .jpeg()
      .toBuffer();
    writeFileSync(join(folder, "photo.jpg"), jpeg);
    writeFileSync(
      join(folder, "heif-convert"),
      `#!/bin/sh\n[ "$(/usr/bin/head -c 12 "$3" | /usr/bin/tail -c 8)" = ftypheic ] && exec /bin/cp ${folder}/photo.jpg "$4"\n`,
      { mode: 0o755 },
    );
    const { converters } = tools({ PATH: folder });
    expect(await fitOutgoing({ data: heic, fileName: "IMG_1.HEIC" }, RULES, converters)).toEqual({
      file: { kind: "image", data: jpeg, fileName: "IMG_1.jpg", mimeType: "image/jpeg" },
    });
  });

  test("goes as a document where none can", async () => {
    const { converters } = tools(NO_PROGRAMS);
    const { image: _image, ...other } = RULES;
    for (const rules of [RULES, { ...other, image: { maxBytes: 40 * KB } }])
      expect(await fitOutgoing({ data: heic, fileName: "IMG_1.HEIC" }, rules, converters)).toEqual({
        file: { kind: "document", data: heic, fileName: "IMG_1.HEIC", mimeType: "image/heic" },
      });
  });
});

test("without ffmpeg a recording goes as an audio file, and the log says what to install", async () => {
  const { converters, warnings } = tools(NO_PROGRAMS);
  const mp3 = Buffer.concat([Buffer.from("ID3"), Buffer.alloc(100)]);
  expect(await fitOutgoing({ data: mp3, fileName: "memo.mp3" }, RULES, converters, { asVoice: true })).toMatchObject({ file: { kind: "audio", data: mp3 } });
  expect(warnings).toEqual(["voice notes are sent as audio files: ffmpeg is not installed"]);
});

describe("with ImageMagick", () => {
  const isThere = (): boolean => String(spawnSync("/usr/bin/convert", ["-version"]).stdout).includes("ImageMagick");
  beforeAll(() => {
    if (!isThere() && !installPackage("imagemagick") && process.env["CI"]) throw new Error("this test needs ImageMagick");
  }, 180_000);

  test("an image is scaled without the library, and a file that only has the name of one is not read", async ({ skip }) => {
    if (!isThere()) skip();
    const { converters, warnings } = tools({ PATH: "/usr/bin:/bin" }, () => Promise.reject(new Error("no binary for this machine")));
    const sharp = await loadSharp();
    const gradient = await sharp({ create: { width: 2400, height: 1200, channels: 3, background: "#336699" } })
      .png({ compressionLevel: 0 })
      .toBuffer();
    const { file } = await fitOutgoing({ data: gradient, fileName: "wide.png" }, RULES, converters);
    expect(file).toMatchObject({ kind: "image", fileName: "wide.jpg", mimeType: "image/jpeg" });
    expect(imageSize(Buffer.from(file!.data))).toEqual({ width: 2048, height: 1024 });
    expect(warnings).toEqual([]);
    const script = Buffer.from("push graphic-context\nimage over 0,0 0,0 'https://127.0.0.1/x'\npop graphic-context");
    expect(await converters.toJpeg(script, "image/png")).toBeUndefined();
    expect(await converters.toJpeg(script, mediaTypeOf({ data: script, fileName: "a.png" }))).toBeUndefined();
  });
});

test.each(["mkfifo", "mkdir", "ln -s /etc/hostname"])(
  "a converter that leaves something else than a file (%s) has converted nothing, and blocks nobody",
  async (make) => {
    const bin = mkdtempSync(join(tmpdir(), "openclaw-converter-"));
    onTestFinished(() => rmSync(bin, { recursive: true, force: true }));
    writeFileSync(join(bin, "ffmpeg"), `#!/bin/sh\nfor last in "$@"; do :; done\n${make} "$last"\n`, { mode: 0o755 });
    const { converters } = tools({ PATH: `${bin}:/usr/bin:/bin` });
    const made = await Promise.all(Array.from({ length: 6 }, async () => converters.toVoice(Buffer.from("ID3 sound"), "audio/mpeg")));
    expect(made).toEqual(made.map(() => undefined));
  },
);

const hasFfmpeg = (): boolean => spawnSync("ffmpeg", ["-version"], { stdio: "ignore" }).status === 0;

describe("with ffmpeg", () => {
  beforeAll(() => {
    if (!hasFfmpeg() && !installPackage("ffmpeg") && process.env["CI"]) throw new Error("these tests need ffmpeg");
  }, 180_000);

  function generated(name: string, ...args: readonly string[]): Buffer {
    const folder = mkdtempSync(join(tmpdir(), "media-made-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const { status, stderr } = spawnSync("ffmpeg", ["-nostdin", "-v", "error", ...args, join(folder, name)]);
    if (status !== 0) throw new Error(String(stderr));
    return readFileSync(join(folder, name));
  }
  const leftFolders = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith("openclaw-media-"));

  test("a recording becomes a voice note with its length and loudness", async ({ skip }) => {
    if (!hasFfmpeg()) skip();
    const { converters, warnings } = tools();
    const wav = generated("memo.wav", "-f", "lavfi", "-i", "sine=frequency=440:duration=2");
    const { file } = await fitOutgoing({ data: wav, fileName: "memo.wav" }, RULES, converters, { asVoice: true });
    expect(file).toMatchObject({ kind: "voice", fileName: "memo.ogg", mimeType: "audio/ogg", waveform: expect.any(Uint8Array) as Uint8Array });
    expect(file!.durationSeconds).toBeCloseTo(2, 0);
    expect(opusSeconds(file!.data)).toBe(file!.durationSeconds);
    expect(file!.waveform!.some((bar) => bar > 0)).toBe(true);
    const again = await fitOutgoing({ data: file!.data, fileName: "memo.ogg" }, RULES, converters, { asVoice: true });
    expect(again.file!.data).toBe(file!.data);
    expect([warnings, leftFolders()]).toEqual([[], []]);
  });

  test("a WebM film becomes an MP4", async ({ skip }) => {
    if (!hasFfmpeg()) skip();
    const { converters } = tools();
    const webm = generated("clip.webm", "-f", "lavfi", "-i", "color=red:size=64x48:duration=0.4:rate=5", "-c:v", "libvpx");
    const { file } = await fitOutgoing({ data: webm, fileName: "clip.webm" }, RULES, converters);
    expect(file).toMatchObject({ kind: "video", fileName: "clip.mp4", mimeType: "video/mp4" });
    expect(mediaTypeOf({ data: file!.data })).toBe("video/mp4");
  });

  test("a playlist that pretends to be a recording opens no other file", async ({ skip }) => {
    if (!hasFfmpeg()) skip();
    const { converters } = tools();
    const playlist = Buffer.from("#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n#EXT-X-ENDLIST\n");
    expect(await converters.toVoice(playlist, mediaTypeOf({ data: playlist, fileName: "memo.mp3" }))).toBeUndefined();
    expect(await converters.toVoice(playlist, "audio/mpeg")).toBeUndefined();
  });
});
