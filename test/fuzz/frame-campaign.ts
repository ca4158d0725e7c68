import { seededRandom } from "../../src/base/random.ts";
import type { MethodName } from "../../src/protocol/index.ts";
import { busyMs } from "../harness/busy-time.ts";
import { OPCODE } from "../wire/frame.ts";
import type { RawSocket } from "../wire/raw-socket.ts";
import { startWireGateway, type WireGateway } from "../wire/start.ts";
import { createFrames, type FuzzFrame } from "./frames.ts";
import { createJudge, shown } from "./judge.ts";
import { createKnown } from "./known.ts";
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
  /** Time that the gateway worked, not that of the clock: the machine may be busy with something else. */
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
const CONFIGS = ["{}", '{"logging":{"level":"info"}}', '{"agents":{"list":[{"id":"main"},{"id":"second"}]}}', '{"session":{"mainKey":"home"}}'];
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  sessionKey: ["main", "agent:main:main", "agent:main:fuzz"],
  key: ["main", "agent:main:fuzz"],
  keys: ["main"],
  sessionId: ["none"],
  agentId: ["main", "second"],
  deviceId: ["none"],
  nodeId: ["node-1", "node-2"],
  requestId: ["none"],
  runId: ["none"],
  raw: CONFIGS,
  baseHash: ["none"],
  role: ["operator", "node"],
  idempotencyKey: ["k1", "k2", "k3"],
};
/** Its own device must stay paired. */
const UNLEARNED: ReadonlySet<string> = new Set(["device.pair.list"]);
const BAD_LOG = /defect|unhandled|uncaught|TypeError|RangeError|ReferenceError|SyntaxError|Maximum call stack/i;
/** Asks for health on a connection of its own and keeps nothing of what comes. Gives how long the gateway worked until the answer was there. */
function createPulse(raw: RawSocket, pid: number): () => Promise<number> {
  let count = 0;
  let come: (() => void) | undefined;
  raw.tap = ({ payload }) => {
    if (payload.subarray(0, 40).includes(`"id":"pulse-${count}"`)) come?.();
  };
  return async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    come = resolve;
    count += 1;
    const started = busyMs(pid);
    await raw.frame(OPCODE.text, JSON.stringify({ type: "req", id: `pulse-${count}`, method: "health", params: {} }));
    const timer = setTimeout(resolve, GIVE_UP_MS);
    await promise;
    clearTimeout(timer);
    return busyMs(pid) - started;
  };
}

async function watchHealth(pulse: () => Promise<number>, until: Promise<unknown>): Promise<number> {
  let slowest = 0;
  const over = until.then(() => true);
  const pause = (): Promise<boolean> => new Promise((resolve) => setTimeout(resolve, HEALTH_EVERY_MS, false));
  do slowest = Math.max(slowest, await pulse());
  while (!(await Promise.race([over, pause()])));
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
  const known = createKnown(KNOWN);
  const next = createFrames(seededRandom(seed), await handledBy(gateway), known);
  const check = createJudge(report);
  const judge = (frame: FuzzFrame, answer: Response): void => {
    check(frame, answer);
    if (answer.ok && frame.method !== undefined && !UNLEARNED.has(frame.method)) known.learn(answer.payload);
  };
  using watcher = await gateway.client();
  const pulse = createPulse(watcher, gateway.process.child.pid!);
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
  return {
    sent: frames - left,
    answered: sum((one) => one.answered),
    accepted: sum((one) => one.accepted),
    ok: sum((one) => one.ok),
    slowestHealthMs,
    lastHealthMs,
    growth,
    seconds,
    broken,
  };
}
