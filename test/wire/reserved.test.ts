import { clientFrame, closePayload, OPCODE } from "./frame.ts";
import { echo, echoText, ping, testCases, wireGateway, type Case } from "./conversation.ts";

const gateway = wireGateway();

const FAILED = { code: 1002, reason: "" };
const KINDS: readonly (readonly [string, number, Buffer | string])[] = [
  ["text", OPCODE.text, echoText("never")],
  ["binary", OPCODE.binary, "x"],
  ["ping", OPCODE.ping, "x"],
  ["pong", OPCODE.pong, "x"],
  ["close", OPCODE.close, closePayload(1000)],
];

const bits: Case[] = [1, 2, 3, 4, 5, 6, 7].flatMap((rsv) =>
  KINDS.map(([kind, opcode, payload]) => ({
    name: `3.${rsv} reserved bits ${rsv} on a ${kind} frame fail the connection; what came before is answered, what comes after is not`,
    send: [echo("before"), ping("before")],
    answers: ["before"],
    pongs: ["before"],
    later: [clientFrame(opcode, payload, { rsv }), ping("after"), echo("after")],
    close: FAILED,
  })),
);

const opcodes: Case[] = [3, 4, 5, 6, 7, 11, 12, 13, 14, 15].flatMap((opcode) =>
  ["", echoText("never")].map((payload) => ({
    name: `4.${opcode < 8 ? 1 : 2} opcode ${opcode} ${payload === "" ? "without" : "with"} payload fails the connection`,
    send: [echo("before")],
    answers: ["before"],
    later: [clientFrame(opcode, payload), ping("after")],
    close: FAILED,
  })),
);

testCases(gateway, [
  ...bits,
  ...opcodes,
  ...KINDS.map(([kind, opcode, payload]) => ({
    name: `4.3 a ${kind} frame without mask fails the connection`,
    send: [echo("before")],
    answers: ["before"],
    later: [clientFrame(opcode, payload, { mask: false }), ping("after")],
    close: FAILED,
  })),
]);
