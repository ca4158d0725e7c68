import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Random } from "../../../src/base/random.ts";
import { startTelegram, type FakeTelegram } from "../../fakes/telegram/index.ts";
import { makePlace, type GatewayProcess, type Place } from "../../harness/gateway-process.ts";
import type { Build } from "../../harness/program.ts";
import { findBroken, NO_TALLY, readRows, unsettled, type Tally } from "./judge.ts";
import { startHearingModel } from "./model.ts";
import { createCrowd, orderFaults, type Crowd } from "./people.ts";

/** Places between an update and its receipt where the process is killed exactly. */
const PLACES = [
  "inbox.committed",
  "ack.sent",
  "turn.started",
  "model.result.committed",
  "tool.intent.committed",
  "tool.done",
  "outbox.committed",
  "send.attempted",
  "send.receipt",
  "time",
] as const;

/** Longest time after a restart in which everything must have come to its end. */
const SETTLE_MS = 30_000;
/** A place that is not passed by then is not waited for. */
const ALIVE_MS = 5000;
const BEFORE = 2;
const WHILE = 6;
const AFTER = 1;

export interface ChannelCampaignOptions {
  readonly kills: number;
  readonly random: Random;
  readonly build?: Build;
  /** Ends early, between two kills, when this says so. */
  readonly stop?: () => boolean;
  readonly onRound?: (round: number, facts: { readonly place: string; readonly said: number } & Tally) => void;
}

export interface ChannelCampaignReport extends Tally {
  readonly kills: number;
  /** Kills at a named place, not at a time. */
  readonly atPlaces: number;
  readonly said: number;
  readonly broken: readonly string[];
  /** Kept when something is broken. */
  readonly home: string;
}

function configure(place: Place, telegram: FakeTelegram, modelUrl: string): void {
  const models = [{ id: "m1", name: "m1", contextWindow: 200_000, maxTokens: 8192 }];
  place.configure(
    JSON.stringify({
      gateway: { mode: "local", auth: { token: "chaos" } },
      agents: { defaults: { model: { primary: "mock/m1" }, skipBootstrap: true, workspace: join(place.home, "workspace") } },
      models: { providers: { mock: { baseUrl: modelUrl, apiKey: "k", api: "openai-completions", models } } },
      tools: { exec: { host: "gateway", security: "full", ask: "off" } },
      session: { dmScope: "per-channel-peer" },
      messages: { queue: { mode: "collect", debounceMs: 10 } },
      channels: {
        telegram: { botToken: telegram.token, dmPolicy: "open", allowFrom: ["*"], groupPolicy: "open", groups: { "*": { requireMention: true } } },
      },
    }),
  );
}

/** People write until the process is gone or they have nothing more to say. */
async function writeUntilDead(gateway: GatewayProcess, crowd: Crowd, round: number, random: Random): Promise<void> {
  const gone = gateway.exited.then(() => true);
  for (let n = 0; n < WHILE; n += 1) {
    if (await Promise.race([gone, wait(random.float() * 250).then(() => false)])) return;
    crowd.write(round);
  }
  await gone;
}

/** Resolves with what is not at its end when the time is over; with nothing as soon as all is. */
async function settle(stateDir: string, telegram: FakeTelegram, crowd: Crowd, gateway: GatewayProcess): Promise<readonly string[]> {
  const end = performance.now() + SETTLE_MS;
  for (;;) {
    const open = unsettled(readRows(stateDir), telegram, crowd.said);
    if (open.length === 0 || performance.now() > end || gateway.child.exitCode !== null) return open;
    await wait(50);
  }
}

/** Kills a gateway with a Telegram account on the way from updates to receipts, again and again over one state, and checks every promise after each kill. */
export async function channelCampaign(options: ChannelCampaignOptions): Promise<ChannelCampaignReport> {
  const { random, build = "dist-test" } = options;
  const place = makePlace();
  const ledger = join(place.home, "ledger");
  await using telegram = await startTelegram();
  await using model = await startHearingModel(ledger);
  configure(place, telegram, `${model.url}/v1`);
  const crowd = createCrowd(telegram, random);
  const env = { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot };
  const broken: string[] = [];
  let tally = NO_TALLY;
  let kills = 0;
  let atPlaces = 0;
  while (kills < options.kills && broken.length === 0 && !options.stop?.()) {
    const name = PLACES[kills % PLACES.length]!;
    const failpoint = name === "time" ? undefined : `${name}:${1 + Math.floor(random.float() * (name.startsWith("tool") ? 2 : 5))}`;
    const faults = orderFaults(telegram, random);
    for (let n = 0; n < BEFORE; n += 1) crowd.write(kills);
    const dying = await place.gateway({ build, env: { ...env, ...(failpoint ? { OPENCLAW_FAILPOINT: failpoint } : {}) } });
    let late = false;
    const timer = setTimeout(() => (late = dying.child.kill("SIGKILL")), failpoint ? ALIVE_MS : random.float() * 2500);
    await writeUntilDead(dying, crowd, kills, random);
    await dying.exited;
    clearTimeout(timer);
    kills += 1;
    if (!late) atPlaces += 1;
    telegram.clearFaults();
    await using next = await place.gateway({ build, env });
    const where = `after kill ${kills} at ${late || !failpoint ? "a random time" : failpoint}${faults.length > 0 ? ` with ${faults.join(", ")}` : ""}`;
    if (next.url === undefined) broken.push(`${where}: the gateway did not start: ${next.output()}`);
    else {
      for (let n = 0; n < AFTER; n += 1) crowd.write(kills);
      const open = await settle(place.stateDir, telegram, crowd, next);
      const found = findBroken(readRows(place.stateDir), telegram, crowd.said, ledger);
      tally = found.tally;
      broken.push(...[...open, ...found.broken].map((text) => `${where}: ${text}`));
      if (broken.length > 0) broken.push(next.output().slice(-3000));
    }
    options.onRound?.(kills, { place: failpoint ?? "time", said: crowd.said.length, ...tally });
  }
  return { kills, atPlaces, said: crowd.said.length, ...tally, broken, home: place.home };
}
