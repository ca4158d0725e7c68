import { fileURLToPath } from "node:url";
import type { ChannelCapabilities, ChannelPlugin } from "../../../src/protocol/index.ts";
import { createTestHost } from "../../../src/plugin-testing/index.ts";
import { startPerson, type Heard, type Person } from "../../fakes/irc/person.ts";
import { startRelay, type Relay } from "../../fakes/irc/relay.ts";
import { startNgircd, type Ngircd } from "../../fakes/ngircd.ts";
import { startLabGateway, type LabGateway } from "./lab-gateway.ts";
import type { ChannelLab, Deed, FaultName, LabFaults, Lacks, LabSettings, MakeLab, Received, Spot } from "./lab.ts";
import { until } from "./suite/heard.ts";

const PLUGIN = fileURLToPath(new URL("../../../plugins/irc", import.meta.url));
const PASSWORD = "right-password-of-a-test";
const WRONG = "wrong-password-of-a-test";
const BOT = "claw";
const GROUP = "#workshop";
/** Bytes of text in a line. */
const LIMIT = 350;

export const IRC_LACKS: Lacks = {
  redelivery: "servers bring a message once, and keep none",
  edit: "what was said on IRC stays as it is",
  reaction: "there are no reactions",
  button: "there are no buttons",
  member: "who comes and goes is not handed on",
  reply: "a message answers no other one",
  thread: "there are no threads",
  mediaIn: "IRC carries text only",
  mediaStored: "IRC carries text only",
  mediaOut: "IRC carries text only; files go as links",
  lostReceipt: "there are no receipts: the connection breaks as a whole, and what is said until it is made again is lost",
  rateLimit: "a server that is written to too fast reads slower or hangs up, it asks for nothing",
  missed: "servers keep nothing for who is away",
};

/** The people of the lab, and what the server has between itself and the bot. */
interface Ground extends AsyncDisposable {
  readonly server: Ngircd;
  readonly relay: Relay;
  readonly owner: Person;
  readonly stranger: Person;
}

async function prepare(): Promise<Ground> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startNgircd({ password: PASSWORD }));
  const relay = stack.use(await startRelay(server.port));
  const come = async (nick: string): Promise<Person> => stack.use(await startPerson({ port: server.port, nick, password: PASSWORD }));
  const [owner, stranger] = [await come("olga"), await come("mallory")];
  for (const person of [owner, stranger]) await person.join(GROUP);
  const kept = stack.move();
  return { server, relay, owner, stranger, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

function sectionOf({ relay }: Ground, password: string, { access = "allowlist", channel = {} }: LabSettings): Readonly<Record<string, unknown>> {
  return {
    enabled: true,
    host: "127.0.0.1",
    port: relay.port,
    tls: false,
    nick: BOT,
    password,
    channels: [GROUP],
    dmPolicy: access,
    allowFrom: ["olga@127.0.0.1"],
    groupPolicy: "allowlist",
    groupAllowFrom: ["olga@127.0.0.1"],
    groups: { [GROUP]: { requireMention: true } },
    flood: { burst: 1000, intervalMs: 1 },
    ...channel,
  };
}

const isByBot = ({ from }: Heard): boolean => from.startsWith(`${BOT}!`);

/** Whether the bot is in the group, as a person there sees it. */
function isThere({ heard }: Person): boolean {
  const last = heard.findLast((line) => isByBot(line) && ["JOIN", "QUIT", "PART"].includes(line.command));
  return last?.command === "JOIN";
}

/**
 * Every line is a message of its own, also those of the text with a code in it: as one of it counts what stands from its first line to the next time
 * that line comes, or to an answer of the model.
 */
function inOnes(lines: readonly string[]): string[] {
  const texts: string[] = [];
  for (const line of lines) {
    if (texts.length === 0 || line === lines[0] || line.startsWith("Heard ")) texts.push(line);
    else texts.push(`${texts.pop()}\n${line}`);
  }
  return texts;
}

/** What a person of the lab does and sees. */
function createPeople({ owner, stranger }: Ground): Pick<ChannelLab, "say" | "received"> {
  const whoIs = ({ by = "owner" }: Spot): Person => (by === "owner" ? owner : stranger);
  let count = 0;
  return {
    async say(text, options = {}) {
      const { where = "direct", mention } = options;
      const person = whoIs(options);
      person.say(where === "direct" ? BOT : GROUP, mention ? `${BOT}: ${text}` : text);
      await person.settled();
      count += 1;
      return { id: String(count), ...options };
    },
    received(spot = {}) {
      const isDirect = (spot.where ?? "direct") === "direct";
      const lines = whoIs(spot).texts(BOT, isDirect ? undefined : GROUP);
      const texts = isDirect && spot.by === "stranger" ? inOnes(lines) : lines;
      return texts.map((text, n): Received => ({ id: String(n), text }));
    },
  };
}

function createDeeds({ owner, stranger }: Ground): Readonly<Record<string, Deed>> {
  const write = async ({ by }: Required<Spot>, ...lines: readonly string[]): Promise<void> => {
    const person = by === "owner" ? owner : stranger;
    for (const line of lines) person.write(line);
    await person.settled();
  };
  const targetOf = ({ where }: Required<Spot>): string => (where === "direct" ? BOT : GROUP);
  return {
    "a notice": { owner: "nothing", act: (spot) => write(spot, `NOTICE ${targetOf(spot)} :w-deed`) },
    "a question of a client": { owner: "nothing", act: (spot) => write(spot, `PRIVMSG ${targetOf(spot)} :\u0001VERSION w-deed\u0001`) },
    "an invitation": { owner: "nothing", where: "group", act: (spot) => write(spot, `JOIN #w-deed-${spot.by}`, `INVITE ${BOT} #w-deed-${spot.by}`) },
    "a member who leaves and comes": { owner: "nothing", where: "group", act: (spot) => write(spot, `PART ${GROUP} :w-deed`, `JOIN ${GROUP}`) },
    "a topic": { owner: "nothing", where: "group", act: (spot) => write(spot, `TOPIC ${GROUP} :w-deed`) },
  };
}

/**
 * What a server and the line to it can suffer. A connection that went silent is noticed after two minutes (plugins/irc/ngircd.test.ts), and what was written
 * meanwhile, or while the process was away, is lost: IRC has no acknowledgements.
 */
export const IRC_FAULTS: readonly FaultName[] = ["lostAnswer", "slow", "garbageEvents", "revoke"];

function createFaults({ relay }: Ground): LabFaults {
  return {
    lostAnswer: () => relay.cutBehind("PRIVMSG olga "),
    slow: (ms) => relay.delay((ms ?? 0) / 2),
    garbageEvents() {
      const lines = ["", ":", "@", "PRIVMSG", ":x PRIVMSG", ":olga!olga@127.0.0.1 PRIVMSG claw", "BATCH +", "353", "KICK", ":x 001 x :Welcome", "\u0000\u0001"];
      relay.inject(Buffer.concat([Buffer.from(lines.map((line) => `${line}\r\n`).join("")), Buffer.from([0xff, 0xfe, 0x0d, 0x0a])]));
      return Promise.resolve();
    },
    revoke() {
      relay.refuse([`:irc.lab.invalid 464 ${BOT} :Bad server password`, "ERROR :Access denied: Bad server password"]);
      relay.cut();
      return Promise.resolve();
    },
  };
}

function createLab(ground: Ground, gateway: LabGateway, settings: LabSettings, capabilities: ChannelCapabilities): ChannelLab {
  const { relay, owner } = ground;
  return {
    ...createPeople(ground),
    channel: "irc",
    capabilities,
    limits: { text: LIMIT, measure: (text) => Buffer.byteLength(text) },
    gateway,
    strangerMarks: ["mallory"],
    secrets: [PASSWORD, WRONG],
    isUp: () => Promise.resolve(relay.open() === 1 && isThere(owner)),
    // Coming in is one request, of several lines.
    traffic: () => relay.count() + relay.lines.filter((line) => /^(?:PRIVMSG|NOTICE|JOIN) /.test(line)).length,
    connections: () => relay.open(),
    conflicts: () => relay.doubles(),
    async dropConnection() {
      // What the bot does not know to have arrived it would send again.
      await until(
        () => relay.isQuiet(),
        () => "the bot waits for the server",
      );
      relay.cut();
      await until(
        () => !isThere(owner),
        () => "the server did not see that the bot is gone",
      );
    },
    faults: createFaults(ground),
    deeds: createDeeds(ground),
    mendCredentials() {
      relay.refuse(undefined);
      gateway.configure({ channels: { irc: { ...sectionOf(ground, PASSWORD, settings), realname: "mended" } } });
      return Promise.resolve();
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await ground[Symbol.asyncDispose]();
    },
  };
}

async function claimsOf(): Promise<ChannelCapabilities> {
  await using host = await createTestHost({ plugins: [PLUGIN] });
  return (host.channel("irc") as ChannelPlugin).capabilities;
}

/** IRC on a real server. */
export function ircLabs(): MakeLab {
  let claims: Promise<ChannelCapabilities> | undefined;
  return async (settings) => {
    const capabilities = await (claims ??= claimsOf());
    const ground = await prepare();
    const isWrong = settings.credentials === "wrong";
    const gateway = await startLabGateway({ sections: { channels: { irc: sectionOf(ground, isWrong ? WRONG : PASSWORD, settings) } } });
    const lab = createLab(ground, gateway, settings, capabilities);
    if (isWrong) return lab;
    const why = (): string => `the bot is not there; it wrote ${ground.relay.lines.join(" | ") || "nothing"}\n${gateway.output()}`;
    await until(() => lab.isUp(), why).catch(async (error: unknown) => {
      await lab[Symbol.asyncDispose]();
      throw error;
    });
    return lab;
  };
}
