import { seededRandom } from "../../src/base/random.ts";
import { createCheck, type SchemaCheck } from "../../src/protocol/check.ts";
import { PROTOCOL_ERROR_CODES, type MethodName } from "../../src/protocol/index.ts";
import { DECLARED_METHODS } from "../../src/protocol/methods/index.ts";
import { OPCODE } from "../wire/frame.ts";
import type { RawSocket } from "../wire/raw-socket.ts";
import { startWireGateway, type WireGateway } from "../wire/start.ts";
import { createFrames, type FuzzFrame } from "./frames.ts";
import { createTraffic, type Response, type Traffic } from "./traffic.ts";

export interface CampaignOptions {
  readonly frames: number;
  readonly seed: number;
  readonly connections?: number;
  readonly onProgress?: (sent: number, growth: number) => void;
}

export interface CampaignReport {
  readonly sent: number;
  readonly answered: number;
  readonly accepted: number;
  /** Answers with `ok: true`: frames that reached the end of a handler. */
  readonly ok: number;
  readonly slowestHealthMs: number;
  readonly lastHealthMs: number;
  /** Bytes of resident memory more than before. */
  readonly growth: number;
  readonly seconds: number;
  /** What was not kept, one text each. */
  readonly broken: readonly string[];
}

const MAX_BROKEN = 20;
const HEALTH_EVERY_MS = 250;
const GIVE_UP_MS = 10_000;
const BAD_LOG = /defect|unhandled|uncaught|TypeError|RangeError|ReferenceError|SyntaxError|Maximum call stack/i;
/** Words of a failure inside, not of a refusal. */
const LEAK = /Cannot read|Cannot set|Cannot convert|is not (?:a function|iterable|defined|an object)|\[object |Maximum call stack|Invalid (?:array|string) length|SQLITE|constraint failed|ENAMETOOLONG|could not be written as JSON|internal error/i;

const shown = ({ number, kind, payload }: FuzzFrame): string => `frame ${number} (${kind}): ${payload.length > 600 ? `${payload.slice(0, 600)}… (${payload.length} characters)` : payload}`;

/** Compares answers with what the protocol promises. */
function createJudge(report: (text: string) => void) {
  const checks = new Map<MethodName, SchemaCheck>();
  const told = new Set<string>();
  const codes: readonly unknown[] = PROTOCOL_ERROR_CODES;
  const once = (key: string, text: string): void => {
    if (told.has(key)) return;
    told.add(key);
    report(text);
  };
  return (frame: FuzzFrame, { ok, payload, error }: Response): void => {
    if (!ok) {
      const message = String(error?.message);
      if (!codes.includes(error?.code) || message === "") once(`code ${String(error?.code)}`, `an error without a documented code: ${JSON.stringify(error)} to ${shown(frame)}`);
      if (LEAK.test(message)) once(`leak ${frame.method} ${message.slice(0, 30)}`, `a failure inside: ${message} to ${shown(frame)}`);
    } else if (frame.method !== undefined) {
      let check = checks.get(frame.method);
      if (!check) checks.set(frame.method, (check = createCheck(DECLARED_METHODS[frame.method].result as never)));
      const issues = check(payload);
      if (issues) once(`result ${frame.method}`, `a result that does not fit its declaration: ${issues.join("; ")} in ${JSON.stringify(payload).slice(0, 300)} to ${shown(frame)}`);
    }
  };
}

/** Asks for health on a connection of its own and keeps nothing of what comes. */
function createPulse(raw: RawSocket): () => Promise<number> {
  let count = 0;
  let come: (() => void) | undefined;
  raw.tap = ({ payload }) => {
    if (payload.subarray(0, 40).includes(`"id":"pulse-${count}"`)) come?.();
  };
  return async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    come = resolve;
    count += 1;
    const started = performance.now();
    await raw.frame(OPCODE.text, JSON.stringify({ type: "req", id: `pulse-${count}`, method: "health", params: {} }));
    const timer = setTimeout(resolve, GIVE_UP_MS);
    await promise;
    clearTimeout(timer);
    return performance.now() - started;
  };
}

async function watchHealth(pulse: () => Promise<number>, until: Promise<unknown>): Promise<number> {
  let slowest = 0;
  let over = false;
  const end = until.finally(() => (over = true));
  while (!over) {
    slowest = Math.max(slowest, await pulse());
    await Promise.race([end, new Promise((resolve) => setTimeout(resolve, HEALTH_EVERY_MS))]);
  }
  return slowest;
}

async function handledBy(gateway: WireGateway): Promise<MethodName[]> {
  using raw = await gateway.client();
  const hello = await raw.response("connect");
  const { methods } = hello.payload!["features"] as { readonly methods: MethodName[] };
  return [...methods, "chat.inject", "sessions.resolve", "sessions.usage"];
}

/** Broken bytes of all kinds on connections of their own: each ends, or is ignored. */
async function throwBytes(gateway: WireGateway, seed: number, rounds: number): Promise<void> {
  const random = seededRandom(seed ^ 0x5eed);
  for (let round = 0; round < rounds; round += 1) {
    const raw = await (round % 2 === 0 ? gateway.client() : gateway.stranger());
    if (round % 3 === 0) await raw.frame(OPCODE.text, Buffer.concat([Buffer.from('{"type":"req","id":"'), random.bytes(40), Buffer.from('"}')]));
    else await raw.write(random.bytes(10 + Math.floor(random.float() * 400)));
    raw.socket.end();
    await raw.ended;
  }
}

/** Sends generated frames over several connections to a gateway of its own, and checks what must hold whatever comes. */
export async function frameCampaign({ frames, seed, connections = 16, onProgress }: CampaignOptions): Promise<CampaignReport> {
  await using gateway = await startWireGateway();
  const broken: string[] = [];
  const report = (text: string): void => void (broken.length < MAX_BROKEN && broken.push(text));
  const known = { sessionKey: ["main", "agent:main:main", "agent:main:fuzz"], key: ["main", "agent:main:fuzz"], keys: ["main"], agentId: ["main"], deviceId: [gateway.device.id.slice(1)], raw: ["{}", '{"logging":{"level":"info"}}'], role: ["operator", "node"], idempotencyKey: ["k1", "k2", "k3"], runId: ["k1", "k2"] };
  const next = createFrames(seededRandom(seed), await handledBy(gateway), known);
  const judge = createJudge(report);
  using watcher = await gateway.client();
  const pulse = createPulse(watcher);
  await pulse();
  const before = gateway.memory();
  const started = performance.now();

  let left = frames;
  const take = (): FuzzFrame | undefined => {
    if (left <= 0) return undefined;
    left -= 1;
    if (onProgress && (frames - left) % 50_000 === 0) onProgress(frames - left, gateway.memory() - before);
    return next();
  };
  const lines: Traffic[] = [];
  for (let index = 0; index < connections; index += 1) lines.push(createTraffic(await gateway.client(), { take, judge, report, shown }));
  const work = Promise.all([...lines.map((line) => line.done), throwBytes(gateway, seed, Math.min(60, Math.ceil(frames / 2000)))]);
  const slowestHealthMs = await watchHealth(pulse, work);
  await work;
  const seconds = (performance.now() - started) / 1000;
  const lastHealthMs = await pulse();
  const growth = gateway.memory() - before;
  const output = gateway.process.output();
  const line = output.split("\n").find((text) => BAD_LOG.test(text));
  if (line !== undefined) report(`the log says: ${line.slice(0, 500)}`);
  if (gateway.process.child.exitCode !== null) report(`the process ended with ${gateway.process.child.exitCode}: ${output.slice(-1000)}`);
  for (const one of lines) one[Symbol.dispose]();
  const sum = (count: (one: Traffic) => number): number => lines.reduce((all, one) => all + count(one), 0);
  return { sent: frames - left, answered: sum((one) => one.answered), accepted: sum((one) => one.accepted), ok: sum((one) => one.ok), slowestHealthMs, lastHealthMs, growth, seconds, broken };
}

