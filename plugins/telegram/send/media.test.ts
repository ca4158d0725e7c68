import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { failed, type Outgoing, type SendingLab, startSending } from "./lab.ts";
import { uploadKind, uploadName } from "./media.ts";

let lab: SendingLab;
let folder: string;
beforeEach(async () => {
  lab = await startSending();
  folder = mkdtempSync(join(tmpdir(), "telegram-media-"));
});
afterEach(async () => {
  await lab[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const sendFile = (over: Outgoing = {}) => lab.channel.outbound!.sendMedia!(lab.contextOf({ text: "", mediaLocalRoots: [folder], ...over }));

function file(name: string, bytes: Uint8Array | string): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==", "base64");
const GIF = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

describe("a file", () => {
  test.each([
    ["a picture", "a.png", PNG, "photo"],
    ["an animation", "a.gif", GIF, "animation"],
    ["a text", "notes.txt", "words", "document"],
  ])("%s with its caption", async (_, name, bytes, kind) => {
    await sendFile({ mediaUrl: file(name, bytes), text: "**look**" });
    expect(lab.seen()).toMatchObject([{ text: "look", entities: [{ type: "bold" }], media: { kind } }]);
    expect(lab.seen()[0]!.media!.data.equals(Buffer.from(bytes))).toBe(true);
  });

  test.each<[string, Parameters<typeof uploadKind>, string]>([
    ["a picture", [{ kind: "image", mimeType: "image/jpeg" }], "photo"],
    ["a picture that is no photo", [{ kind: "document", mimeType: "image/svg+xml" }], "document"],
    ["a video", [{ kind: "video", mimeType: "video/mp4" }], "video"],
    ["a video that plays like a GIF", [{ kind: "video", mimeType: "video/mp4" }, true], "animation"],
    ["a song", [{ kind: "audio", mimeType: "audio/mpeg" }], "audio"],
    ["a voice message", [{ kind: "voice", mimeType: "audio/ogg" }], "voice"],
    ["a recording", [{ kind: "document", mimeType: "audio/ogg" }], "document"],
  ])("%s", (_, facts, kind) => expect(uploadKind(...facts)).toBe(kind));

  test.each([
    ['a"; filename="x.exe', "a__ filename__x.exe"],
    ["a\r\nb.txt", "a__b.txt"],
    ["../../etc/passwd", ".._.._etc_passwd"],
    ["", "photo"],
    ["日本語.png", "日本語.png"],
  ])("named %j goes as %j", (name, clean) => expect(uploadName(name, "photo")).toBe(clean));

  test("with a text that is too long for a caption is two messages", async () => {
    const result = await sendFile({ mediaUrl: file("a.png", PNG), text: "x".repeat(1025), replyToId: String(lab.telegram.say("q").messageId) });
    expect(lab.seen().map(({ text, media }) => [media?.kind, text.length])).toEqual([
      ["photo", 0],
      [undefined, 1025],
    ]);
    expect(result.messageId).toBe(String(lab.seen()[1]!.id));
  });

  test("whose text then fails is not sent a second time without a word", async () => {
    lab.telegram.fault("sendMessage", { retryAfter: 5 });
    const error = await failed(sendFile({ mediaUrl: file("a.png", PNG), text: "x".repeat(1025) }));
    expect(error).toMatchObject({ delivery: { state: "unknown" }, message: expect.stringContaining("the file was sent") as unknown });
  });

  test("as voice to a user who takes none goes as a file", async () => {
    lab.telegram.refuseVoice(lab.chat);
    const ogg = Buffer.concat([Buffer.from("OggS\0\x02"), Buffer.alloc(22), Buffer.from("OpusHead")]);
    await sendFile({ mediaUrl: file("a.ogg", ogg), audioAsVoice: true });
    expect(
      lab.telegram
        .calls()
        .map(({ method }) => method)
        .filter((method) => method.startsWith("send")),
    ).toEqual(["sendVoice", "sendAudio"]);
  });

  test("that is too large is noted below the text, and the others are sent", async () => {
    const [small, large] = [file("a.png", PNG), file("b.bin", Buffer.alloc(2 * 1024 * 1024))];
    const cfg = { ...lab.contextOf({}).cfg, agents: { defaults: { mediaMaxMb: 1 } } };
    await sendFile({ cfg, text: "look", mediaUrl: small, mediaUrls: [small, large] });
    expect(lab.seen()).toMatchObject([{ text: "look\n\n[not sent: b.bin is 2 MB; agents.defaults.mediaMaxMb allows 1 MB]", media: { kind: "photo" } }]);
    expect(await failed(sendFile({ cfg, text: "look", mediaUrl: large }))).toMatchObject({
      delivery: { state: "failed", filesNotSent: ["b.bin is 2 MB; agents.defaults.mediaMaxMb allows 1 MB"] },
    });
  });

  test.each([
    ["pictures", ["a.png", "b.png"], ["photo", "photo"]],
    ["a picture and a text", ["a.png", "notes.txt"], ["document", "document"]],
  ])("among several: %s are one album with the text under the first", async (_, names, kinds) => {
    const paths = names.map((name) => file(name, name.endsWith(".png") ? PNG : "words"));
    const result = await sendFile({ text: "**all**", mediaUrl: paths[0], mediaUrls: paths });
    expect(lab.seen()).toMatchObject([{ text: "all", entities: [{ type: "bold" }], media: { kind: kinds[0] } }, { media: { kind: kinds[1] } }]);
    expect(lab.telegram.calls().filter(({ method }) => method.startsWith("send"))).toMatchObject([{ method: "sendMediaGroup" }]);
    expect(result.messageId).toBe(String(lab.seen()[0]!.id));
  });

  test("outside of the folders that may be read goes nowhere", async () => {
    expect(await failed(sendFile({ mediaUrl: "/etc/hostname" }))).toMatchObject({ delivery: { state: "failed" } });
  });
});
