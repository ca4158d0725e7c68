/** Kills, suspends and misleads a gateway while work starts by itself, and checks after each fault that nothing ran twice and everything is recorded. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Random } from "../../../src/base/random.ts";
import { startTelegram, type FakeTelegram } from "../../fakes/telegram/index.ts";
import { createDevice, type TestDevice } from "../../harness/auth.ts";
import { makePlace, type GatewayProcess, type Place } from "../../harness/gateway-process.ts";
import { connect } from "../turns.ts";
import { chats } from "./chats.ts";
import { nextChanges } from "./clock-changes.ts";
import { clockChanges, cron, removeJobs } from "./cron.ts";
import { startCampaignModel } from "./model.ts";
import { beats, HOOK_SECRET, HOOK_TOKEN, subagents, webhooks } from "./requests.ts";
import type { Aftermath, ClockChange, Pending, Scene, Starter } from "./starters.ts";

const STEP_CLOCK = pathToFileURL(fileURLToPath(new URL("step-clock.mjs", import.meta.url))).href;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Long enough for reminders to be due. */
const ROUND_MS = 1200;
/** As long as a machine sleeps, on a clock that is set while the process stands still. */
const SLEEP_MS = 90_000;
/** The clock is set across a change of a zone's clocks by this. */
const ACROSS_MS = 160 * MINUTE_MS;

const STARTERS: readonly Starter[] = [cron, clockChanges, webhooks, subagents, beats, chats];

type Fault =
  | { readonly kind: "failpoint"; readonly at: string; readonly withinMs: number }
  | { readonly kind: "kill"; readonly afterMs: number }
  /** While it runs, or while it is down. */
  | { readonly kind: "clock"; readonly byMs: number; readonly isDown: boolean }
  | { readonly kind: "change"; readonly change: ClockChange }
  | { readonly kind: "sleep" }
  | { readonly kind: "suspend"; readonly forMs: number };

export interface AutomationOptions {
  readonly kills: number;
  readonly random: Random;
  /** The shortest and the longest suspension. */
  readonly suspendMs: readonly [number, number];
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
      writeFileSync(file, `${ms}\n`);
    },
    by(ms: number): void {
      this.set(aheadMs + ms);
    },
  };
}

type StepClock = ReturnType<typeof createClock>;

/** Agents beat every second while a gateway is being killed, and only when they are woken while it is judged. */
function configure(place: Place, { model, telegram }: Pick<Aftermath, "model" | "telegram">, every: "1s" | "0m"): void {
  const models = [{ id: "m1", name: "m1", contextWindow: 200_000, maxTokens: 8192 }];
  const workspace = join(place.home, "workspace");
  mkdirSync(workspace, { recursive: true });
  writeFileSync(join(workspace, "HEARTBEAT.md"), "- look whether all is well\n");
  place.configure(
    JSON.stringify({
      gateway: { mode: "local", auth: { token: "chaos" } },
      agents: { defaults: { model: { primary: "mock/m1" }, skipBootstrap: true, workspace, heartbeat: { every } } },
      channels: {
        telegram: { enabled: true, botToken: telegram.token, ackReaction: "", streamMode: "off", dmPolicy: "allowlist", allowFrom: [String(telegram.me.id)] },
      },
      session: { dmScope: "per-channel-peer" },
      models: { providers: { mock: { baseUrl: model.url, apiKey: "k", api: "openai-completions", models } } },
      tools: { exec: { host: "gateway", security: "full", ask: "off" } },
      hooks: { enabled: true, token: HOOK_TOKEN, mappings: [{ preset: "github", secret: HOOK_SECRET, name: "{{name}}", deliver: false }] },
    }),
  );
}

/** By starter, so that each is killed early on. */
const PLACES = Array.from({ length: Math.max(...STARTERS.map(({ places }) => places.length)) }, (_, n) =>
  STARTERS.flatMap(({ places, takesMs }) => (places[n] === undefined ? [] : [{ at: places[n], withinMs: takesMs }])),
).flat();
const STEPS = [HOUR_MS, -HOUR_MS, DAY_MS, -DAY_MS].flatMap((byMs) => [false, true].map((isDown) => ({ byMs, isDown })));
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Every failpoint in turn, and between them the other faults. */
function faultOf(round: number, { random, suspendMs: [least, most] }: AutomationOptions, changes: readonly ClockChange[]): Fault {
  const at = Math.floor(round / 2);
  if (round % 2 === 0) {
    const place = PLACES[at % PLACES.length] ?? { at: "cron.claimed", withinMs: ROUND_MS };
    return { kind: "failpoint", at: `${place.at}:${1 + Math.floor(random.float() * 3)}`, withinMs: place.withinMs };
  }
  const turn = Math.floor(at / 5);
  const change = changes[turn % changes.length];
  if (at % 5 === 0) return { kind: "clock", ...(STEPS[turn % STEPS.length] ?? { byMs: HOUR_MS, isDown: false }) };
  if (at % 5 === 1) return { kind: "suspend", forMs: least + random.float() * (most - least) };
  if (at % 5 === 2 && change) return { kind: "change", change };
  if (at % 5 === 3) return { kind: "sleep" };
  return { kind: "kill", afterMs: random.float() * 2 * ROUND_MS };
}

export async function automationCampaign(options: AutomationOptions): Promise<AutomationReport> {
  const place = makePlace();
  const ledger = join(place.home, "ledger");
  using model = await startCampaignModel(ledger);
  await using telegram = await startTelegram();
  telegram.direct(telegram.me);
  const others = { model, telegram };
  place.env["OPENCLAW_TEST_TELEGRAM_API_ROOT"] = telegram.apiRoot;
  const clock = createClock(place);
  const device = createDevice();
  const changes = nextChanges(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"], Date.now());
  const written = (word: string): number =>
    existsSync(ledger)
      ? readFileSync(ledger, "utf8")
          .split("\n")
          .filter((line) => line === word).length
      : 0;
  const words: string[] = [];
  const broken: string[] = [];
  let rounds = 0;
  while (rounds < options.kills && broken.length === 0 && !options.stop?.()) {
    const fault = faultOf(rounds, options, changes);
    const about = `round ${rounds} (${JSON.stringify(fault)})`;
    configure(place, others, "1s");
    const pending = await killOne(place, clock, { fault, round: rounds, device, telegram });
    configure(place, others, "0m");
    await using next = await place.gateway({ build: "dist-test", env: clock.env });
    if (next.url === undefined) broken.push(`${about}: the gateway did not start: ${next.output()}`);
    else {
      await using client = await connect(next, device, clock.now);
      const isClockSet = fault.kind === "clock" || fault.kind === "change" || fault.kind === "sleep";
      const found = await judge({ client, url: next.url, stateDir: place.stateDir, ...others, written, isClockSet }, pending);
      broken.push(...found.map((text) => `${about}: ${text}`));
    }
    clock.set(0);
    rounds += 1;
    words.push(...pending.flatMap((one) => one.words));
    options.onRound?.(rounds, { fault: JSON.stringify(fault), started: words.length });
  }
  // Also what came after its round.
  for (const word of words) if (written(word) > 1) broken.push(`${word} ran ${written(word)} times`);
  for (const [note, times] of model.notes) if (times > 1) broken.push(`a session was notified of "${note}" ${times} times`);
  return { rounds, started: words.length, broken, home: place.home };
}

/** Starts a gateway, asks for work of every kind, and ends it by the fault. Gives what was asked for. */
async function killOne(
  place: Place,
  clock: StepClock,
  { fault, round, device, telegram }: { readonly fault: Fault; readonly round: number; readonly device: TestDevice; readonly telegram: FakeTelegram },
): Promise<readonly Pending[]> {
  const change = fault.kind === "change" ? fault.change : undefined;
  // A second and a half before a quarter of an hour.
  if (change) clock.set(change.at - 75 * MINUTE_MS - 1500 - Date.now());
  const failpoint: Record<string, string> = fault.kind === "failpoint" ? { OPENCLAW_FAILPOINT: fault.at } : {};
  const dying = await place.gateway({ build: "dist-test", env: { ...clock.env, ...failpoint } });
  const pending = await begin(dying, device, { round, telegram, now: clock.now, isClockSet: fault.kind === "clock" || change !== undefined, change });
  await inflict(fault, dying, clock);
  if (fault.kind === "clock" && fault.isDown) {
    clock.by(fault.byMs);
    await using misled = await place.gateway({ build: "dist-test", env: clock.env });
    await Promise.race([misled.exited, pause(ROUND_MS)]);
  }
  // What is due only by the old time gets its turn.
  if (fault.kind === "clock" && fault.byMs < 0) clock.set(0);
  return pending;
}

/** Asks for work of every kind. What a gateway dies before is not asked for. */
async function begin(gateway: GatewayProcess, device: TestDevice, about: Omit<Scene, "client" | "url">): Promise<readonly Pending[]> {
  const { url } = gateway;
  if (url === undefined) return [];
  const client = await connect(gateway, device, about.now).catch(() => undefined);
  if (!client) return [];
  const pending: Pending[] = [];
  for (const starter of STARTERS) {
    const asked = await starter.begin({ client, url, ...about }).catch(() => undefined);
    if (asked) pending.push(asked);
  }
  await client[Symbol.asyncDispose]();
  return pending;
}

/** Lets the fault happen, and ends the process. */
async function inflict(fault: Fault, { child, exited }: GatewayProcess, clock: StepClock): Promise<void> {
  if ((fault.kind === "clock" && !fault.isDown) || fault.kind === "change") {
    await pause(300);
    clock.by(fault.kind === "change" ? ACROSS_MS : fault.byMs);
  }
  if (fault.kind === "suspend" || fault.kind === "sleep") {
    await pause(200);
    child.kill("SIGSTOP");
    await pause(fault.kind === "suspend" ? fault.forMs : 300);
    if (fault.kind === "sleep") clock.by(SLEEP_MS);
    child.kill("SIGCONT");
  }
  const within = fault.kind === "kill" ? fault.afterMs : fault.kind === "failpoint" ? fault.withinMs : fault.kind === "change" ? 2 * ROUND_MS : ROUND_MS;
  const timer = setTimeout(() => child.kill("SIGKILL"), within);
  await exited;
  clearTimeout(timer);
}

async function judge(aftermath: Aftermath, pending: readonly Pending[]): Promise<readonly string[]> {
  const found = pending.map(async ({ words, judge: look }) => {
    const broken = await look(aftermath).catch((error: unknown) => [String(error)]);
    return [...broken, ...words.flatMap((word) => (aftermath.written(word) > 1 ? [`${word} ran ${aftermath.written(word)} times`] : []))];
  });
  const broken = (await Promise.all(found)).flat();
  await removeJobs(aftermath.client);
  return broken;
}
