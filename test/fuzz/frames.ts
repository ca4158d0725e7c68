import type { Random } from "../../src/base/random.ts";
import type { JsonSchema } from "../../src/protocol/check.ts";
import { METHODS, type MethodName } from "../../src/protocol/index.ts";
import { CHECKED_SCHEMAS } from "../../src/protocol/schemas.ts";
import { OPCODE } from "../wire/frame.ts";
import type { Known } from "./known.ts";
import { anyNumber, anyText, anyValue, createDice, INHERITED, mutated, valueFor, type Dice } from "./values.ts";

/** What has to come back: an answer under the frame's id; one under its id or `invalid`; none. */
export type Expected = "id" | "id-or-invalid" | "nothing";

export interface FuzzFrame {
  readonly number: number;
  readonly kind: string;
  readonly opcode: number;
  readonly payload: string;
  readonly id: string;
  readonly method?: MethodName;
  readonly expected: Expected;
  /** Waits as long as its parameters say, which is longer than the run. */
  readonly waits?: true;
}

/** Answers of 300 KB, and work of a second: asked for, but not a thousand times. */
const RARE: ReadonlySet<string> = new Set(["config.schema", "security.audit", "backup.create", "update.status", "update.check"]);
/** They may restart the gateway, which ends every connection: that has its own tests. */
const RESTARTING: ReadonlySet<string> = new Set(["config.set", "config.patch", "config.apply", "update.restart"]);
/** Asks the network for a package, and restarts: that has its own tests, with a registry. */
const FETCHING: ReadonlySet<string> = new Set(["plugins.install"]);
const NAMES = (Object.keys(METHODS) as MethodName[]).filter((name) => !RESTARTING.has(name) && !FETCHING.has(name));
/** Answered after the time they name, or when another client acts. */
const PATIENT: ReadonlySet<string> = new Set(["agent.wait", "exec.approval.request", "exec.approval.waitDecision"]);
const LONGEST_WAIT_MS = 200;

type Made = Omit<FuzzFrame, "number" | "id" | "opcode"> & { readonly opcode?: number };
type Maker = (id: string, dice: Dice, known: Known) => Made;

function methodFor(dice: Dice, handled: readonly MethodName[]): MethodName {
  const name = dice.chance(0.8) ? dice.pick(handled) : dice.pick(NAMES);
  return RARE.has(name) && dice.chance(0.95) ? "health" : name;
}

/** Waiting is tested with short waits; a long one is allowed not to end. */
function withoutPatience(method: MethodName, params: unknown, dice: Dice): { readonly params: unknown; readonly waits?: true } {
  if (!PATIENT.has(method) || typeof params !== "object" || params === null || Array.isArray(params)) return { params };
  const { timeoutMs } = params as { timeoutMs?: unknown };
  const long = timeoutMs === undefined || (typeof timeoutMs === "number" && timeoutMs > LONGEST_WAIT_MS);
  if (!long) return { params };
  return dice.chance(0.005) ? { params, waits: true } : { params: { ...params, timeoutMs: dice.number(LONGEST_WAIT_MS) } };
}

function request(kind: string, id: string, method: MethodName, given: unknown, dice: Dice): Made {
  const { params, waits } = withoutPatience(method, given, dice);
  const payload = JSON.stringify({ type: "req", id, method, ...(params === undefined ? {} : { params }) });
  // A text that holds the forbidden key is refused as a whole.
  return { kind, payload, method, expected: payload.includes("__proto__") ? "id-or-invalid" : "id", ...(waits ? { waits } : {}) };
}

function makers(all: readonly MethodName[]): readonly (readonly [number, Maker])[] {
  const handled = all.filter((name) => !FETCHING.has(name));
  const schemaOf = (method: MethodName): JsonSchema => CHECKED_SCHEMAS.params[method];
  const wellFormed: Maker = (id, dice, known) => {
    const method = methodFor(dice, handled);
    return request("valid", id, method, valueFor(schemaOf(method), dice, known), dice);
  };
  const nearly: Maker = (id, dice, known) => {
    const method = methodFor(dice, handled);
    let params = mutated(valueFor(schemaOf(method), dice, known), dice);
    while (dice.chance(0.3)) params = mutated(params, dice);
    return request("mutated", id, method, params, dice);
  };
  const random: Maker = (id, dice) => request("random params", id, methodFor(dice, handled), anyValue(dice, 5), dice);
  const noMethod: Maker = (id, dice) => {
    const payload = JSON.stringify({
      type: "req",
      id,
      method: dice.pick([...INHERITED, "connect", "CHAT.SEND", "chat.send ", "x".repeat(3000), anyText(dice) || "m"]),
    });
    return { kind: "no such method", payload, expected: "id" };
  };
  const badFrame: Maker = (id, dice) => {
    const frame: Record<string, unknown> = { type: "req", id, method: "health" };
    const value = anyValue(dice, 2);
    const key = dice.pick(["type", "method", "extra", "toString", "constructor"]);
    if (dice.chance(0.3) && key !== "extra") delete frame[key];
    else frame[key] = value;
    return { kind: "bad frame", payload: JSON.stringify(frame), expected: "id" };
  };
  const badId: Maker = (_, dice) => {
    const value = dice.pick<unknown>([null, 1, true, [], {}, "", -0.5, { toString: 1 }, [["x"]]]);
    return { kind: "bad id", payload: JSON.stringify({ type: "req", id: value, method: "health" }), expected: "id-or-invalid" };
  };
  const noFrame: Maker = (_, dice) => ({
    kind: "not a frame",
    payload: JSON.stringify(
      dice.pick<unknown>([null, 0, "", "text", true, [], [[]], {}, [{ type: "req" }], { type: "event", event: "tick" }, { type: "res", id: "", ok: true }]),
    ),
    expected: "id-or-invalid",
  });
  const prototypes: Maker = (id, dice) => {
    const inner = dice.pick(['{"polluted":1}', "null", '{"toString":null}', "[]", "1"]);
    const key = dice.pick(['"__proto__"', '"\\u005f_proto__"', '"__pro\\u0074o__"']);
    const params = dice.pick([`{${key}:${inner}}`, `{"a":{"b":[{${key}:${inner}}]}}`, `{"constructor":{"prototype":${inner}},${key}:1}`]);
    return {
      kind: "prototype",
      payload: `{"type":"req","id":${JSON.stringify(id)},"method":"${dice.pick(handled)}","params":${params}}`,
      expected: "id-or-invalid",
    };
  };
  const deep: Maker = (id, dice) => {
    const depth = dice.pick([20, 100, 126, 127, 128, 129, 500, 5000]);
    const [open, close] = dice.pick([
      ["[", "]"],
      ['{"a":', "}"],
      ['[{"a":', "}]"],
    ] as const);
    const params = `${open.repeat(depth)}0${close.repeat(depth)}`;
    return {
      kind: "deep",
      payload: `{"type":"req","id":${JSON.stringify(id)},"method":"${dice.pick(handled)}","params":${params}}`,
      expected: "id-or-invalid",
    };
  };
  const large: Maker = (id, dice) => {
    const method = dice.pick(handled);
    const value = dice.pick<() => unknown>([
      () => "z".repeat(20_000 + dice.number(80_000)),
      () => Array.from({ length: 5000 }, (_, index) => index),
      () => Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`k${index}`, index])),
      () => "\ud83d\ude00".repeat(10_000),
    ])();
    return request(
      "large",
      id,
      method,
      dice.chance(0.5) ? value : { sessionKey: value, key: value, message: value, text: value, runId: value, idempotencyKey: id },
      dice,
    );
  };
  const numbers: Maker = (id, dice) => {
    const digits = dice.pick(["1e400", "-1e400", "9".repeat(400), "0.1e-400", "-0", `1${"0".repeat(60)}`, String(anyNumber(dice))]);
    const key = dice.pick(["limit", "cursor", "maxBytes", "timeoutMs", "days", "maxLines", "activeMinutes"]);
    const method = dice.pick(handled.filter((name) => name !== "agent.wait"));
    return { kind: "numbers", payload: `{"type":"req","id":${JSON.stringify(id)},"method":"${method}","params":{"${key}":${digits}}}`, method, expected: "id" };
  };
  const notJson: Maker = (id, dice) => {
    const text = JSON.stringify({ type: "req", id, method: "health", params: {} });
    return {
      kind: "not JSON",
      payload: dice.pick([
        text.slice(0, 1 + dice.number(text.length - 1)),
        `${text}x`,
        `${text}${text}`,
        "",
        " ",
        "{",
        "[".repeat(200),
        `\ufeff${text}`,
        text.replaceAll('"', "'"),
      ]),
      expected: "nothing",
    };
  };
  const binary: Maker = (id, dice) => ({
    kind: "binary",
    opcode: OPCODE.binary,
    payload: JSON.stringify({ type: "req", id, method: dice.pick(handled) }),
    expected: "nothing",
  });
  return [
    [0.36, wellFormed],
    [0.34, nearly],
    [0.07, random],
    [0.03, noMethod],
    [0.04, badFrame],
    [0.02, badId],
    [0.02, noFrame],
    [0.04, prototypes],
    [0.02, deep],
    [0.004, large],
    [0.03, numbers],
    [0.016, notJson],
    [0.01, binary],
  ];
}

/** An endless row of frames, the same for the same seed but for what was learned on the way. */
export function createFrames(random: Random, handled: readonly MethodName[], known: Known): () => FuzzFrame {
  const dice = createDice(random);
  const table = makers(handled.filter((name) => !RESTARTING.has(name)));
  const total = table.reduce((sum, [share]) => sum + share, 0);
  let number = 0;
  return () => {
    number += 1;
    let at = random.float() * total;
    const [, make] = table.find(([share]) => (at -= share) < 0) ?? table[0]!;
    const id = dice.chance(0.9) ? `f${number}` : `f${number}-${anyText(dice)}`;
    return { number, id, opcode: OPCODE.text, ...make(id, dice, known) };
  };
}
