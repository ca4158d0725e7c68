import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDirectiveScanner } from "./directives.ts";
import { readReply, shapePayload, shapeText, withoutRepeats } from "./payload.ts";

const facts = { localRoots: ["/srv/agent", "/media/out"], currentId: "m9" };

describe("reply tags", () => {
  it.each([
    ["[[reply_to_current]] Hi", "Hi", { replyToTag: true, replyToCurrent: true, replyToId: "m9" }],
    ["Hi [[ reply_to_current ]] there", "Hi there", { replyToTag: true, replyToCurrent: true, replyToId: "m9" }],
    ["Hi [[REPLY_TO: 123 ]]", "Hi", { replyToTag: true, replyToId: "123" }],
    ["[[reply_to:1]]a[[reply_to:2]]b", "ab", { replyToTag: true, replyToId: "2" }],
    ["[[reply_to:1]] x [[reply_to_current]]", "x", { replyToTag: true, replyToId: "1" }],
    ["[[reply_to_current]]\n\nHi", "Hi", { replyToTag: true, replyToCurrent: true, replyToId: "m9" }],
    ["one\n[[reply_to_current]]\ntwo", "one\ntwo", { replyToTag: true, replyToCurrent: true, replyToId: "m9" }],
    ["[[reply_to:]] a [[unknown]] [[", "[[reply_to:]] a [[unknown]] [[", {}],
    ["```\n[[reply_to_current]]\n```", "```\n[[reply_to_current]]\n```", {}],
    ["write `[[reply_to:1]]` to quote", "write `[[reply_to:1]]` to quote", {}],
    ["``a ` [[tts]]`` and [[reply_to:2]]b", "``a ` [[tts]]`` and b", { replyToTag: true, replyToId: "2" }],
    ["it`s [[reply_to:3]] me", "it`s me", { replyToTag: true, replyToId: "3" }],
    ["a `\n[[reply_to:4]] b`", "a `\nb`", { replyToTag: true, replyToId: "4" }],
    ["[[[[reply_to_current]]]]", "[[]]", { replyToTag: true, replyToCurrent: true, replyToId: "m9" }],
  ])("%j", (text, words, fields) => {
    expect(shapeText(text, facts)).toEqual({ text: words, ...fields });
  });

  it("that name voice and speech are taken out", () => {
    expect(shapeText("[[audio_as_voice]]\nMEDIA:https://x.test/a.ogg", facts)).toEqual({
      mediaUrl: "https://x.test/a.ogg",
      mediaUrls: ["https://x.test/a.ogg"],
      audioAsVoice: true,
    });
    expect(shapeText("Hello [[tts]] you [[tts:voice=alloy speed=1]]", facts)).toEqual({ text: "Hello you" });
    expect(shapeText("Look. [[tts:text]]Look\nhere[[/tts:text]] Done.", facts)).toEqual({ text: "Look. Done.", spokenText: "Look\nhere" });
    expect(shapeText("say `[[tts:text]]hi[[/tts:text]]` to be heard", facts)).toEqual({ text: "say `[[tts:text]]hi[[/tts:text]]` to be heard" });
    expect(shapeText("a [[tts:text]]never closed", facts)).toEqual({ text: "a never closed" });
  });
});

describe("MEDIA lines", () => {
  it.each([
    ["MEDIA:https://x.test/a.png", undefined, ["https://x.test/a.png"]],
    ["Here:\nMEDIA: https://x.test/a.png\nbye", "Here:\nbye", ["https://x.test/a.png"]],
    ["MEDIA:`/srv/agent/a.png`", undefined, ["/srv/agent/a.png"]],
    ['MEDIA:"/media/out/my file.png"', undefined, ["/media/out/my file.png"]],
    ["MEDIA:/media/out/my file.png", undefined, ["/media/out/my file.png"]],
    ["MEDIA:./chart.png", undefined, ["/srv/agent/chart.png"]],
    ["MEDIA:file:///srv/agent/b.png", undefined, ["/srv/agent/b.png"]],
    ["MEDIA:https://x.test/a.png https://x.test/b.png", undefined, ["https://x.test/a.png", "https://x.test/b.png"]],
    ["MEDIA:https://x.test/a.png as you wished", "as you wished", ["https://x.test/a.png"]],
    ["x\nMEDIA:/etc/passwd", "x\n[not sent: passwd is not in a folder that files may be sent from]", []],
    ["x\nMEDIA:../../etc/passwd", "x\n[not sent: passwd is not in a folder that files may be sent from]", []],
    ["x\nMEDIA:/srv/agent/../../etc/passwd", "x\n[not sent: passwd is not in a folder that files may be sent from]", []],
    ["x\nMEDIA:/srv/agentx/a", "x\n[not sent: a is not in a folder that files may be sent from]", []],
    ["x\nMEDIA:~/secret", "x\n[not sent: secret is not in a folder that files may be sent from]", []],
    ["x\nMEDIA:file:///etc/passwd", "x\n[not sent: passwd is not in a folder that files may be sent from]", []],
    ["MEDIA:./a.png /etc/passwd", "[not sent: passwd is not in a folder that files may be sent from]", ["/srv/agent/a.png"]],
    ["MEDIA: is a word", "MEDIA: is a word", []],
    ["see MEDIA:https://x.test/a.png", "see MEDIA:https://x.test/a.png", []],
    ["```\nMEDIA:https://x.test/a.png\n```", "```\nMEDIA:https://x.test/a.png\n```", []],
    ["~~~js\nMEDIA:https://x.test/a.png\n```\n~~~\nMEDIA:https://x.test/b.png", "~~~js\nMEDIA:https://x.test/a.png\n```\n~~~", ["https://x.test/b.png"]],
  ])("%j", (text, words, media) => {
    const payload = shapeText(text, facts);
    expect([payload?.text, payload?.mediaUrls ?? []]).toEqual([words, media]);
  });

  it("take no file where no folder is allowed", () => {
    expect(shapeText("MEDIA:/srv/agent/a.png")).toBeUndefined();
  });
});

describe("silence", () => {
  it.each([
    ["NO_REPLY", undefined],
    ["  NO_REPLY\n", undefined],
    ["NO_REPLY: nothing to add", undefined],
    ["All done.\n\nNO_REPLY", undefined],
    ["All done. **NO_REPLY**", undefined],
    ["NO_REPLYING is a word", "NO_REPLYING is a word"],
    ["The word NO_REPLY means silence", "The word NO_REPLY means silence"],
    ["HEARTBEAT_OK", undefined],
    ["**HEARTBEAT_OK**", undefined],
    ["<b>HEARTBEAT_OK</b>", undefined],
    ["HEARTBEAT_OK All is well", "All is well"],
    ["All is well.\n\nHEARTBEAT_OK", "All is well."],
    ["All is well. _HEARTBEAT_OK_", "All is well."],
    ["HEARTBEAT_OKAY then", "HEARTBEAT_OKAY then"],
    ["say HEARTBEAT_OK when done, please", "say HEARTBEAT_OK when done, please"],
    ["   ", undefined],
    ["[[reply_to_current]]", undefined],
  ])("%j → %j", (text, words) => {
    expect(shapeText(text, facts)?.text).toBe(words);
  });

  it("with media sends the media", () => {
    expect(shapeText("MEDIA:https://x.test/a.png\nNO_REPLY", facts)).toEqual({ mediaUrl: "https://x.test/a.png", mediaUrls: ["https://x.test/a.png"] });
  });

  it("of a heartbeat takes a short remark along", () => {
    expect(shapeText("HEARTBEAT_OK nothing new", { ackMaxChars: 300 })).toBeUndefined();
    expect(shapeText(`HEARTBEAT_OK ${"x".repeat(301)}`, { ackMaxChars: 300 })?.text).toHaveLength(301);
    expect(shapeText("Your train is late", { ackMaxChars: 300 })?.text).toBe("Your train is late");
  });
});

describe("payloads of others", () => {
  it("keep their own fields", () => {
    expect(shapePayload({ text: "[[reply_to:5]] a", mediaUrl: "https://x.test/1", isError: true }, facts)).toEqual({
      text: "a",
      mediaUrl: "https://x.test/1",
      mediaUrls: ["https://x.test/1"],
      replyToId: "5",
      replyToTag: true,
      isError: true,
    });
    expect(shapePayload({ text: "NO_REPLY" }, facts)).toBeUndefined();
    expect(shapePayload({ text: "", channelData: { telegram: {} } }, facts)).toEqual({ channelData: { telegram: {} } });
  });

  it("are not repeated", () => {
    expect(withoutRepeats([{ text: "a" }, { text: "b" }, { text: " a " }, { text: "a", mediaUrl: "u" }])).toEqual([
      { text: "a" },
      { text: "b" },
      { text: "a", mediaUrl: "u" },
    ]);
  });
});

const piece = fc.constantFrom(
  "[[",
  "]]",
  "[",
  "reply_to_current",
  "reply_to:7",
  "tts:text",
  "/tts:text",
  "MEDIA:",
  "https://x.test/a",
  " ",
  "\n",
  "```",
  "`",
  "~~~",
  "word",
  "\r\n",
);

describe("an answer that comes in pieces", () => {
  it("is read as if it had come at once", () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.array(fc.nat(8), { minLength: 1, maxLength: 20 }), (pieces, sizes) => {
        const text = pieces.join("");
        const scanner = createDirectiveScanner(["/work"]);
        let words = "";
        for (let at = 0, turn = 0; at < text.length; turn += 1) {
          const size = 1 + sizes[turn % sizes.length]!;
          words += scanner.push(text.slice(at, at + size));
          at += size;
        }
        words += scanner.end();
        const whole = readReply(text, ["/work"]);
        expect([words.trimEnd(), scanner.found()]).toEqual([whole.text, whole.directives]);
      }),
      { numRuns: 1000 },
    );
  });

  it("shows nothing that may become a directive", () => {
    const scanner = createDirectiveScanner();
    expect([scanner.push("Hi [[reply_"), scanner.push("to_current]] you"), scanner.push("\nMED"), scanner.push("IA:https://x.test/a"), scanner.end()]).toEqual([
      "Hi ",
      "you",
      "\n",
      "",
      "",
    ]);
  });
});

describe("hostile text of 4 MB", () => {
  const long = (part: string): string => part.repeat(Math.ceil(4_000_000 / part.length));
  it.each(["[", "[[a", "[[reply_to:1]]", "[[tts:text]]", "MEDIA:/a ", "MEDIA:/a\n", "HEARTBEAT_OK ", "NO_REPLY ", "```\n", "`", " ", "\n", "\u200f"])(
    "%j is read in linear time",
    (part) => {
      expect(() => shapeText(`x${long(part)}`, facts)).not.toThrow();
    },
  );
});
