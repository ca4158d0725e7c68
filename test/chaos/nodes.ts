/** Kills a gateway and its nodes in the middle of commands, and checks after each kill that nothing ran twice and every command has one outcome. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { connect as connectTcp, createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Random } from "../../src/base/random.ts";
import { createDevice } from "../harness/auth.ts";
import { enter, type DeviceClient } from "../harness/device-client.ts";
import type { Frame } from "../harness/gateway-client.ts";
import { makePlace, type GatewayProcess, type Place } from "../harness/gateway-process.ts";
import { startHost, type HostProcess } from "../nodes/host-process.ts";

const TOKEN = "chaos";
/** Points where exactly one process is killed; the node's own begin with `node.host`. */
const PLACES = [
  "node.invoke.begun",
  "node.host.begun",
  "node.invoke.answered",
  "node.host.ran",
  "node.invoke.ended",
  "node.host.answered",
  "store.group.begun",
  "store.group.committed",
] as const;
const HOSTS = 2;
const COMMANDS = 8;
/** The longest time until a node is connected again after a kill. */
const BACK_MS = 60_000;
/** When a failpoint is not reached, the process is killed by then. */
const LATEST_MS = 2500;

type Fault =
  | { readonly kind: "failpoint"; readonly victim: "gateway" | "node"; readonly at: string }
  /** At a random moment. */
  | { readonly kind: "kill"; readonly victims: readonly ("gateway" | "node" | "caller")[]; readonly afterMs: number };

export interface NodeCampaignOptions {
  readonly kills: number;
  readonly random: Random;
  /** Ends early, between two kills, when this says so. */
  readonly stop?: () => boolean;
  readonly onRound?: (round: number, facts: { readonly fault: string; readonly asked: number; readonly unknown: number }) => void;
}

export interface NodeCampaignReport {
  readonly kills: number;
  readonly asked: number;
  /** Commands whose callers got the answer that the outcome is not known. */
  readonly unknown: number;
  readonly broken: readonly string[];
  /** Kept when something is broken. */
  readonly home: string;
}

/** One command: what its callers got, in the order in which they asked. */
interface Command {
  readonly word: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly answers: Frame[];
}

/** An address that stays when the gateway comes back on another port. */
async function startRelay(): Promise<{ readonly url: string; to: number } & Disposable> {
  const relay = { url: "", to: 0, [Symbol.dispose]: () => void server.close() };
  const server = createServer((inner) => {
    const outer = connectTcp(relay.to, "127.0.0.1");
    for (const [from, into] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      from.on("error", () => into.destroy());
      from.on("close", () => into.destroy());
      from.pipe(into);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  relay.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return relay;
}

const codeOf = ({ error }: Frame): unknown => (error?.details as { code?: unknown } | undefined)?.code;
/** Refused before it was sent: such an ask leaves no trace. */
const isRefused = (frame: Frame): boolean => codeOf(frame) === "NOT_CONNECTED" || frame.error?.code === "INVALID_REQUEST";

/** Every failpoint in turn, and between them processes that are killed at any moment. */
function faultOf(round: number, random: Random): Fault {
  const at = PLACES[Math.floor(round / 2) % PLACES.length]!;
  if (round % 2 === 0)
    return {
      kind: "failpoint",
      victim: at.startsWith("node.host") ? "node" : "gateway",
      at: `${at}:${1 + Math.floor(random.float() * (at.startsWith("store") ? 8 : COMMANDS / HOSTS))}`,
    };
  const victims = [["node"], ["gateway"], ["caller"], ["gateway", "node"]] as const;
  return { kind: "kill", victims: victims[Math.floor(round / 2) % victims.length]!, afterMs: random.float() * 250 };
}

/** A gateway and its nodes, started again as they are killed. */
class Site {
  readonly place: Place = makePlace();
  readonly ledger = join(this.place.home, "ledger");
  readonly #device = createDevice();
  readonly #relay: Awaited<ReturnType<typeof startRelay>>;
  readonly homes = Array.from({ length: HOSTS }, makePlace);
  readonly #hosts: (HostProcess | undefined)[] = Array.from({ length: HOSTS }, () => undefined);
  #gateway: GatewayProcess | undefined;

  constructor(relay: Awaited<ReturnType<typeof startRelay>>) {
    this.#relay = relay;
    this.place.configure(JSON.stringify({ gateway: { mode: "local", auth: { token: TOKEN, rateLimit: { maxAttempts: 1000 } } } }));
    for (const home of this.homes) home.configure('{ tools: { exec: { security: "full", ask: "off" } } }');
  }

  /** Starts what is not running. What a failpoint is for runs with it. */
  async start(victim?: "gateway" | "node", failpoint?: string): Promise<void> {
    const env: Record<string, string> = failpoint === undefined ? {} : { OPENCLAW_FAILPOINT: failpoint };
    if (victim !== undefined) await this.kill(victim);
    if (!this.#gateway || this.#gateway.child.exitCode !== null || this.#gateway.child.signalCode !== null) {
      this.#gateway = await this.place.gateway({ build: "dist-test", ...(victim === "gateway" ? { env } : {}) });
      if (this.#gateway.url === undefined) throw new Error(`the gateway did not start: ${this.#gateway.output()}`);
      this.#relay.to = Number(new URL(this.#gateway.url).port);
    }
    for (const [n, place] of this.homes.entries()) {
      const host = this.#hosts[n];
      if (host && host.child.exitCode === null && host.child.signalCode === null) continue;
      const options = { place, name: `node ${n}`, token: TOKEN, rules: { defaults: { security: "full", ask: "off" } }, build: "dist-test" as const };
      this.#hosts[n] = startHost(this.#relay.url, { ...options, ...(victim === "node" && n === 0 ? { env } : {}) });
    }
  }

  caller(): Promise<DeviceClient> {
    return enter(this.#gateway!.url!, { device: this.#device, token: TOKEN, scopes: ["operator.admin"] });
  }

  /** The ids of the nodes by their numbers, once all are connected. */
  async nodes(caller: DeviceClient): Promise<readonly string[]> {
    const end = performance.now() + BACK_MS;
    for (;;) {
      const { payload } = await caller.request("node.list", {});
      const nodes = payload?.["nodes"] as readonly { nodeId: string; displayName?: string; connected: boolean }[];
      const ids = this.homes.map((_, n) => nodes.find(({ displayName, connected }) => connected && displayName === `node ${n}`)?.nodeId);
      if (ids.every((id) => id !== undefined)) return ids;
      if (performance.now() > end) throw new Error(`a node did not come back: ${this.#hosts.map((host) => host?.output()).join("\n")}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Resolves when the process has ended; with `withinMs` it may do so by itself before. */
  async kill(victim: "gateway" | "node", withinMs = 0): Promise<void> {
    const one = victim === "gateway" ? this.#gateway : this.#hosts[0];
    if (!one) return;
    const timer = setTimeout(() => one.child.kill("SIGKILL"), withinMs);
    await one.exited;
    clearTimeout(timer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#gateway?.[Symbol.asyncDispose](), ...this.#hosts.map((host) => host?.kill())]);
  }
}

const ask = (caller: DeviceClient, { word, params, answers }: Command): Promise<unknown> =>
  caller.request("node.invoke", { ...params, idempotencyKey: word }).then(
    (frame) => answers.push(frame),
    () => undefined,
  );

/** Asks for commands on every node, two of them twice, and lets the fault happen. */
async function strike(site: Site, fault: Fault, round: number): Promise<readonly Command[]> {
  await (fault.kind === "failpoint" ? site.start(fault.victim, fault.at) : site.start());
  const caller = await site.caller();
  const nodes = await site.nodes(caller);
  const commands = Array.from({ length: COMMANDS }, (_, n): Command => {
    const word = `w${round}-${n}`;
    const script = `echo ${word} >> ${site.ledger}; ${n % 3 === 0 ? "sleep 0.1; " : ""}echo ${word}`;
    const params = { nodeId: nodes[n % HOSTS]!, command: "system.run", params: { command: ["/bin/sh", "-lc", script] }, timeoutMs: 30_000 };
    return { word, params, answers: [] };
  });
  const asks = [...commands, ...commands.slice(0, 2)].map((command) => ask(caller, command));
  if (fault.kind === "failpoint") await site.kill(fault.victim, LATEST_MS);
  else {
    await new Promise((resolve) => setTimeout(resolve, fault.afterMs));
    for (const victim of fault.victims) await (victim === "caller" ? caller[Symbol.asyncDispose]() : site.kill(victim));
  }
  await Promise.all(asks);
  await caller[Symbol.asyncDispose]();
  return commands;
}

/** Asks for every command again: it has the outcome that was reported, and it did not run a second time. */
async function findBroken(site: Site, commands: readonly Command[]): Promise<{ readonly broken: readonly string[]; readonly unknown: number }> {
  const times = (word: string): number =>
    existsSync(site.ledger)
      ? readFileSync(site.ledger, "utf8")
          .split("\n")
          .filter((line) => line === word).length
      : 0;
  await site.start();
  await using caller = await site.caller();
  await site.nodes(caller);
  const broken: string[] = [];
  let unknown = 0;
  for (const command of commands) {
    const { word, answers } = command;
    const first = answers.filter((frame) => !isRefused(frame));
    if (first.length === 0 && answers.length > 0 && times(word) > 0) broken.push(`${word} was refused and ran all the same`);
    await ask(caller, command);
    await ask(caller, command);
    const outcomes = answers.filter((frame) => !isRefused(frame)).map(({ ok, payload, error }) => ({ ok, payload, error }));
    const [one, ...others] = outcomes;
    if (one === undefined || outcomes.length < 2) broken.push(`${word} has no outcome: ${JSON.stringify(answers)}`);
    if (others.some((other) => !isDeepStrictEqual(other, one))) broken.push(`${word} has several outcomes: ${JSON.stringify(outcomes)}`);
    if (times(word) > 1) broken.push(`${word} ran ${times(word)} times`);
    if (one?.ok === true && times(word) !== 1) broken.push(`${word} is called done and ran ${times(word)} times`);
    if (one?.ok === false) unknown += 1;
  }
  return { broken, unknown };
}

/** Kills gateways, nodes and callers again and again over one state, and checks every promise after each kill. */
export async function nodeCampaign(options: NodeCampaignOptions): Promise<NodeCampaignReport> {
  using relay = await startRelay();
  await using site = new Site(relay);
  const broken: string[] = [];
  const words: string[] = [];
  let [kills, unknown] = [0, 0];
  while (kills < options.kills && broken.length === 0 && !options.stop?.()) {
    const fault = faultOf(kills, options.random);
    const commands = await strike(site, fault, kills);
    const found = await findBroken(site, commands);
    broken.push(...found.broken.map((text) => `round ${kills} (${JSON.stringify(fault)}): ${text}`));
    words.push(...commands.map(({ word }) => word));
    unknown += found.unknown;
    kills += 1;
    options.onRound?.(kills, { fault: JSON.stringify(fault), asked: words.length, unknown });
  }
  // Also what ran after its round.
  const ran = existsSync(site.ledger) ? readFileSync(site.ledger, "utf8").trim().split("\n") : [];
  for (const word of new Set(ran)) {
    const times = ran.filter((line) => line === word).length;
    if (times > 1) broken.push(`${word} ran ${times} times`);
  }
  if (broken.length === 0) for (const { home } of site.homes) rmSync(home, { recursive: true, force: true });
  return { kills, asked: words.length, unknown, broken, home: site.place.home };
}
