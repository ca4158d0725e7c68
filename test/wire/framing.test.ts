import { clientFrame, OPCODE } from "./frame.ts";
import { echo, echoText, idOfSize, testCases, wireGateway, type Case } from "./conversation.ts";

const gateway = wireGateway();

const SIZES = [125, 126, 127, 128, 65_535, 65_536];

/** Octet by octet where that is quick, else as Autobahn does: 997 octets at a time. */
const cuts = (size: number): number[] => (size < 1000 ? [1 << 30, 1] : [1 << 30, 997]);

const text: Case[] = SIZES.map((size, index) => ({
  name: `1.1.${index + 2} a text message of ${size} bytes arrives whole`,
  send: [echo(idOfSize(size))],
  answers: [idOfSize(size)],
  pieces: cuts(size),
}));

const binary: Case[] = [0, ...SIZES].map((size, index) => ({
  name: `1.2.${index + 1} a binary message of ${size} bytes is not JSON text: it is ignored, even when it holds a request`,
  send: [clientFrame(OPCODE.binary, size === 0 ? "" : echoText(idOfSize(size)))],
  pieces: cuts(size),
}));

/** RFC 6455 5.2 asks for the shortest form of a length; readers that take the longer ones are common, and this one does. */
const longForms: Case[] = ([3, 9] as const).map((lengthBytes) => ({
  name: `1.3.${lengthBytes} a short length written in ${lengthBytes} octets is taken as that length`,
  send: [clientFrame(OPCODE.text, echoText("long form"), { lengthBytes })],
  answers: ["long form"],
}));

testCases(gateway, [
  { name: "1.1.1 an empty text message is not JSON: it is ignored", send: [clientFrame(OPCODE.text)] },
  ...text,
  ...binary,
  ...longForms,
  {
    name: "1.4.1 a length with its highest bit set is refused",
    later: [clientFrame(OPCODE.text, "", { length: 2n ** 63n })],
    close: { code: 1009, reason: "" },
  },
  {
    name: "10.1.1 a message of 65536 bytes in frames of 1300 arrives whole",
    send: Array.from({ length: Math.ceil(65_536 / 1300) }, (_, index) => {
      const bytes = Buffer.from(echoText(idOfSize(65_536)));
      const last = (index + 1) * 1300 >= bytes.length;
      return clientFrame(index === 0 ? OPCODE.text : OPCODE.continuation, bytes.subarray(index * 1300, (index + 1) * 1300), { fin: last });
    }),
    answers: [idOfSize(65_536)],
    pieces: [1 << 30, 997],
  },
]);
