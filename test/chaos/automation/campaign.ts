/** Kills, suspends and misleads a gateway while work starts by itself, and checks after each fault that nothing ran twice and everything is recorded. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Random } from "../../../src/base/random.ts";
import { createDevice, type TestDevice } from "../../harness/auth.ts";
import type { RawClient } from "../../harness/gateway-client.ts";
import { makePlace, type GatewayProcess, type Place } from "../../harness/gateway-process.ts";
import { configure, connect, startModel } from "../turns.ts";
import { STARTERS, type Pending } from "./starters.ts";

const STEP_CLOCK = pathToFileURL(fileURLToPath(new URL("step-clock.mjs", import.meta.url))).href;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Long enough for everything that was asked for to be due. */
const ROUND_MS = 1200;

type Fault =
  | { readonly kind: "failpoint"; readonly at: string }
  | { readonly kind: "kill"; readonly afterMs: number }
  | { readonly kind: "clock"; readonly byMs: number }
  | { readonly kind: "suspend"; readonly forMs: number };

export interface AutomationOptions {
  readonly kills: number;
  readonly random: Random;
  /** The longest suspension. */
  readonly suspendMs: number;
  /** Ends early, between two rounds, when this says so. */
  readonly stop?: () => boolean;
  readonly onRound?: (round: number, facts: { readonly fault: string; readonly started: number }) => void;
}

export interface AutomationReport {
  readonly rounds: number;
  /** Pieces of work that were asked for and are recorded. */
  readonly started: number;
  readonly broken: readonly string[];
  /** Kept when something is broken. */
  readonly home: string;
}

/** A gateway whose clock can be set. */
function createClock(place: Place) {
  const file = join(place.home, "clock");
  let aheadMs = 0;
  return {
    env: { OPENCLAW_TEST_CLOCK: file, NODE_OPTIONS: `--import=${STEP_CLOCK}` },
    now: () => Date.now() + aheadMs,
    set(ms: number): void {
      aheadMs = ms;
      writeFileSync(file, String(ms));
    },
  };
}

const PLACES = STARTERS.flatMap(({ places }) => places);
const STEPS = [HOUR_MS, -HOUR_MS, DAY_MS, -DAY_MS];
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Every failpoint in turn, and between them the other faults. */
function faultOf(round: number, random: Random, suspendMs: number): Fault {
  const at = Math.floor(round / 2);
  if (round % 2 === 0) return { kind: "failpoint", at: `${PLACES[at % PLACES.length]}:${1 + Math.floor(random.float() * 4)}` };
  if (at % 3 === 0) return { kind: "clock", byMs: STEPS[Math.floor(at / 3) % STEPS.length] ?? HOUR_MS };
  if (at % 3 === 1) return { kind: "suspend", forMs: 500 + random.float() * suspendMs };
  return { kind: "kill", afterMs: random.float() * ROUND_MS };
}

export async function automationCampaign(options: AutomationOptions): Promise<AutomationReport> {
  const place = makePlace();
  const ledger = join(place.home, "ledger");
  const { server, url } = await startModel(ledger);
  configure(place, url);
  const clock = createClock(place);
  const device = createDevice();
  const broken: string[] = [];
  let rounds = 0;
  let started = 0;
  while (rounds < options.kills && broken.length === 0 && !options.stop?.()) {
    const fault = faultOf(rounds, options.random, options.suspendMs);
    const failpoint: Record<string, string> = fault.kind === "failpoint" ? { OPENCLAW_FAILPOINT: fault.at } : {};
    const dying = await place.gateway({ build: "dist-test", env: { ...clock.env, ...failpoint } });
    const pending = await begin(dying, device, { round: rounds, now: clock.now, isClockSet: fault.kind === "clock" });
    await inflict(fault, dying, clock.set);
    // What is due only by the old time gets its turn.
    if (fault.kind === "clock" && fault.byMs < 0) clock.set(0);
    await using next = await place.gateway({ build: "dist-test", env: clock.env });
    const lines = (): readonly string[] => (existsSync(ledger) ? readFileSync(ledger, "utf8").trim().split("\n") : []);
    const written = (word: string): number => lines().filter((line) => line === word).length;
    const about = `round ${rounds} (${JSON.stringify(fault)})`;
    if (next.url === undefined) broken.push(`${about}: the gateway did not start: ${next.output()}`);
    else {
      await using client = await connect(next, device, clock.now);
      const found = await judge(client, pending, written);
      broken.push(...found.map((text) => `${about}: ${text}`));
      clock.set(0);
    }
    rounds += 1;
    started += pending.reduce((sum, { words }) => sum + words.length, 0);
    options.onRound?.(rounds, { fault: JSON.stringify(fault), started });
  }
  server.close();
  server.closeAllConnections();
  return { rounds, started, broken, home: place.home };
}

/** Asks for work of every kind. What a gateway dies before is not asked for. */
async function begin(
  gateway: GatewayProcess,
  device: TestDevice,
  about: { readonly round: number; readonly now: () => number; readonly isClockSet: boolean },
): Promise<readonly Pending[]> {
  if (gateway.url === undefined) return [];
  const client = await connect(gateway, device, about.now).catch(() => undefined);
  if (!client) return [];
  const pending: Pending[] = [];
  for (const starter of STARTERS) {
    const asked = await starter.begin({ client, ...about }).catch(() => undefined);
    if (asked) pending.push(asked);
  }
  await client[Symbol.asyncDispose]();
  return pending;
}

/** Lets the fault happen, and ends the process. */
async function inflict(fault: Fault, { child, exited }: GatewayProcess, setClock: (ms: number) => void): Promise<void> {
  if (fault.kind === "clock") {
    await pause(300);
    setClock(fault.byMs);
  }
  if (fault.kind === "suspend") {
    await pause(200);
    child.kill("SIGSTOP");
    await pause(fault.forMs);
    child.kill("SIGCONT");
  }
  const timer = setTimeout(() => child.kill("SIGKILL"), fault.kind === "kill" ? fault.afterMs : ROUND_MS);
  await exited;
  clearTimeout(timer);
}

async function judge(client: RawClient, pending: readonly Pending[], written: (word: string) => number): Promise<readonly string[]> {
  const broken: string[] = [];
  for (const { words, judge: found } of pending) {
    broken.push(...(await found(client, written).catch((error: unknown) => [String(error)])));
    for (const word of words) if (written(word) > 1) broken.push(`${word} ran ${written(word)} times`);
  }
  return broken;
}
