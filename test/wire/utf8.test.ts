import { expect, test } from "vitest";
import { clientFrame, closePayload, OPCODE } from "./frame.ts";
import { echoText, expectClosed, inFragments, octetsOf, testCases, wireGateway, type Case } from "./conversation.ts";

const gateway = wireGateway();

const FAILED = { code: 1007, reason: "" };
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");
const MARK = "@";
const [before, after] = echoText(MARK).split(MARK) as [string, string];

/** A request whose id holds these octets. */
const holding = (octets: Buffer): Buffer => Buffer.concat([Buffer.from(before), octets, Buffer.from(after)]);

const VALID: readonly (readonly [string, string])[] = [
  ["6.2.1 letters", "Hello-µ@ßöäüàá-UTF-8!!"],
  ["6.5.1 Greek", "κόσμε"],
  ["6.6.2 the last of one octet", "\u007f"],
  ["6.6.5 the first of two octets", "\u0080"],
  ["6.7.1 the last of two octets", "\u07ff"],
  ["6.7.2 the first of three octets", "\u0800"],
  ["6.7.3 the last before the surrogates", "\ud7ff"],
  ["6.7.4 the first after the surrogates", "\ue000"],
  ["6.9.1 the replacement character", "\ufffd"],
  ["6.9.2 the last of three octets", "\uffff"],
  ["6.9.3 the first of four octets", "\u{10000}"],
  ["6.9.4 the last code point", "\u{10ffff}"],
  ["6.11.1 a byte order mark inside", "a\ufeffb"],
  ["6.22.1 noncharacters", "\ufffe\uffff\ufdd0\ufdef\u{1fffe}\u{1ffff}\u{2fffe}\u{10fffe}"],
  ["6.22.2 line and paragraph separators", "\u2028\u2029"],
  ["6.24.1 emoji with joiners", "👩‍👩‍👧‍👦 🏳️‍🌈"],
];

const INVALID: readonly (readonly [string, string])[] = [
  ["6.3.1 a surrogate in a Greek word", "ceba e1bdb9 cf83 cebc ceb5 eda080 656469746564"],
  ["6.8.1 the first of five octets", "f888808080"],
  ["6.8.2 the first of six octets", "fc8480808080"],
  ["6.10.1 above the last code point", "f4908080"],
  ["6.10.2 the last of five octets", "fbbfbfbfbf"],
  ["6.10.3 the last of six octets", "fdbfbfbfbfbf"],
  ["6.12.1 a continuation octet alone, 80", "80"],
  ["6.12.2 a continuation octet alone, bf", "bf"],
  ["6.12.8 sixty-four continuation octets", Array.from({ length: 64 }, (_, index) => (0x80 + index).toString(16)).join("")],
  ["6.13.1 starts of two octets with spaces", "c020c120c220df20"],
  ["6.13.2 starts of three octets with spaces", "e020e120ef20"],
  ["6.13.3 starts of four octets with spaces", "f020f120f720"],
  ["6.14.1 a start of two octets with its end missing", "c2"],
  ["6.14.2 a start of three octets with its end missing", "e080"],
  ["6.14.3 a start of three octets with two ends missing", "e1"],
  ["6.14.4 a start of four octets with its end missing", "f09080"],
  ["6.14.6 a start of four octets with three ends missing", "f4"],
  ["6.16.1 fe", "fe"],
  ["6.16.2 ff", "ff"],
  ["6.16.3 fefeffff", "fefeffff"],
  ["6.17.1 an overlong slash in two octets", "c0af"],
  ["6.17.2 an overlong slash in three octets", "e080af"],
  ["6.17.3 an overlong slash in four octets", "f08080af"],
  ["6.18.1 the highest overlong of two octets", "c1bf"],
  ["6.18.2 the highest overlong of three octets", "e09fbf"],
  ["6.18.3 the highest overlong of four octets", "f08fbfbf"],
  ["6.19.1 an overlong zero", "c080"],
  ["6.20.1 the first high surrogate", "eda080"],
  ["6.20.4 the last high surrogate", "edafbf"],
  ["6.20.5 the first low surrogate", "edb080"],
  ["6.20.7 the last low surrogate", "edbfbf"],
  ["6.21.1 a pair of surrogates", "eda080edb080"],
  ["6.21.8 the last pair of surrogates", "edafbfedbfbf"],
];

const valid: Case[] = VALID.flatMap(([name, text]) => {
  const bytes = holding(Buffer.from(text));
  return [
    { name: `${name} in one frame comes back`, send: [clientFrame(OPCODE.text, bytes)], answers: [text] },
    { name: `${name} in frames of one octet comes back`, send: inFragments(octetsOf(bytes)), answers: [text] },
  ];
});

const invalid: Case[] = INVALID.flatMap(([name, octets]) => {
  const bytes = holding(hex(octets));
  return [
    { name: `${name} fails the connection`, later: [clientFrame(OPCODE.text, bytes)], close: FAILED },
    { name: `${name} in frames of one octet fails the connection`, later: inFragments(octetsOf(bytes)), close: FAILED, pieces: [1 << 30] },
    {
      name: `${name} cut off by the end of the message fails the connection`,
      later: [clientFrame(OPCODE.text, hex(octets))],
      close: FAILED,
      pieces: [1 << 30],
    },
  ];
});

testCases(gateway, [
  ...valid,
  ...invalid,
  {
    name: "6.4.1 an octet that can never be right fails the connection by the end of its message at the latest",
    later: inFragments([hex("ceba e1bdb9 cf83 cebc ceb5"), hex("f4908080"), "edited"]),
    close: FAILED,
  },
  { name: "6.25.1 a pong with octets that are no UTF-8 is no text", send: [clientFrame(OPCODE.pong, hex("ff fe 80"))] },
  { name: "6.25.2 a binary message with octets that are no UTF-8 is no text", send: [clientFrame(OPCODE.binary, hex("ff fe 80"))] },
  {
    name: "6.25.3 half a surrogate escaped in JSON is text, and comes back escaped",
    send: [clientFrame(OPCODE.text, `${before}\\ud800${after}`)],
    answers: ["\ud800"],
  },
]);

test("6.26.1 text that is not UTF-8 ends the handshake", async () => {
  using raw = await gateway().stranger();
  await raw.frame(OPCODE.text, holding(hex("ff")));
  await expectClosed(raw, FAILED);
});

test("6.26.2 a close frame whose reason ends inside a character fails the connection", async () => {
  using raw = await gateway().client();
  await raw.frame(OPCODE.close, closePayload(1000, hex("e282")));
  await expectClosed(raw, FAILED);
  expect(raw.answers.some(({ id }) => id === MARK)).toBe(false);
});
