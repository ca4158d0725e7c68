import { expect, test } from "vitest";
import { clientFrame, closePayload, OPCODE, type FrameOptions } from "./frame.ts";
import { echo, echoText, inFragments, octetsOf, ping, testCases, wireGateway } from "./conversation.ts";

const gateway = wireGateway();

const FAILED = { code: 1002, reason: "" };
const PART: FrameOptions = { fin: false };
const whole = echoText("in fragments");
const [head, middle, tail] = [whole.slice(0, 10), whole.slice(10, 20), whole.slice(20)];
const first = clientFrame(OPCODE.text, head, PART);
const second = clientFrame(OPCODE.continuation, middle, PART);
const last = clientFrame(OPCODE.continuation, tail);
const answers = ["in fragments"];

testCases(gateway, [
  {
    name: "5.1 a ping in two fragments fails the connection",
    later: [clientFrame(OPCODE.ping, "a", PART), clientFrame(OPCODE.continuation, "b")],
    close: FAILED,
  },
  {
    name: "5.2 a pong in two fragments fails the connection",
    later: [clientFrame(OPCODE.pong, "a", PART), clientFrame(OPCODE.continuation, "b")],
    close: FAILED,
  },
  { name: "5.2 a close in two fragments fails the connection", later: [clientFrame(OPCODE.close, closePayload(1000), PART)], close: FAILED },
  { name: "5.3 a text in three fragments arrives whole", send: [first, second, last], answers },
  { name: "5.3 a text in as many fragments as it has octets arrives whole", send: inFragments(octetsOf(whole)), answers },
  { name: "5.4 empty fragments change nothing", send: inFragments(["", head, "", middle, "", tail, ""]), answers },
  { name: "5.5 a message of empty fragments is ignored like an empty one", send: inFragments(["", "", ""]) },
  { name: "5.6 a ping between two fragments is answered at once", send: [first, second, ping("between"), last], answers, pongs: ["between"] },
  {
    name: "5.7 pings and pongs between all fragments change nothing",
    send: [first, ping("1"), clientFrame(OPCODE.pong, "x"), second, ping("2"), last, ping("3")],
    answers,
    pongs: ["1", "2", "3"],
  },
  { name: "5.9 a continuation without a start fails the connection", later: [clientFrame(OPCODE.continuation, whole), echo("after")], close: FAILED },
  { name: "5.10 a continuation that is not final without a start fails the connection", later: [clientFrame(OPCODE.continuation, whole, PART)], close: FAILED },
  {
    name: "5.11 a continuation after a whole message fails the connection",
    send: [echo("1")],
    answers: ["1"],
    later: [clientFrame(OPCODE.continuation, "x")],
    close: FAILED,
  },
  { name: "5.15 a continuation after a fragmented message fails the connection", send: [first, second, last], answers, later: [last], close: FAILED },
  { name: "5.18 a second text while the first is open fails the connection", later: [first, echo("second")], close: FAILED },
  { name: "5.18 a second unfinished text while the first is open fails the connection", later: [first, first], close: FAILED },
  { name: "5.18 a binary frame while a text is open fails the connection", later: [first, clientFrame(OPCODE.binary, "x")], close: FAILED },
  {
    name: "5.19 two fragmented messages after each other arrive, pings in between",
    send: [first, ping("1"), second, last, ping("2"), ...inFragments(octetsOf(echoText("two")))],
    answers: [...answers, "two"],
    pongs: ["1", "2"],
  },
  { name: "5.20 a binary message in fragments is ignored whole", send: inFragments([head, middle, tail], OPCODE.binary) },
  { name: "5.21 an unmasked continuation fails the connection", later: [first, clientFrame(OPCODE.continuation, tail, { mask: false })], close: FAILED },
]);

test("5.8 a ping is answered while a message is not complete; the message is answered when it is", async () => {
  using raw = await gateway().client();
  await raw.write(Buffer.concat([first, ping("waiting")]));
  expect(await raw.pongs(1)).toEqual([Buffer.from("waiting")]);
  await raw.write(Buffer.concat([second, last]));
  expect((await raw.response("in fragments")).ok).toBe(false);
});
