import { type FakeSignal, type Group, type Person, type SayMore, startSignal } from "../../fakes/signal/index.ts";
import { labsOf, type LabGround } from "./http-lab.ts";
import type { ChannelLab, Deed, FaultName, LabFaults, Lacks, LabSettings, MakeLab, Received, SayOptions, Spot } from "./lab.ts";
import type { LabGateway, startLabGateway } from "./lab-gateway.ts";
import { until } from "./suite/heard.ts";

const WRONG = "+15559990000";

export const SIGNAL_LACKS: Lacks = {
  button: "messages on Signal have no buttons",
  thread: "chats on Signal have no threads",
  member: "signal-cli reports that a group changed, not who came or left",
  textLimit: "signal-cli sends what is too long for a message as a file with it; the channel cuts at 4,000 for people's sake",
};

export const SIGNAL_CONTAINER_LACKS: Lacks = {
  ...SIGNAL_LACKS,
  missed: "the container keeps nothing for clients that do not listen",
  rateLimit: "the container reports that a limit was reached, not for how long; a minute is waited then",
};

/** There is no setting for how long a message may take. */
export const SIGNAL_FAULTS: readonly FaultName[] = [
  "lostAnswer",
  "serverError",
  "tooMany",
  "garbageAnswer",
  "slow",
  "garbageEvents",
  "reorder",
  "revoke",
  "halfOpen",
  "killed",
];

/** What was not stored when the process was killed, and what came over a dead connection, is lost there. */
const CONTAINER_WITHOUT = new Set<FaultName>(["killed", "halfOpen", "tooMany"]);
export const SIGNAL_CONTAINER_FAULTS: readonly FaultName[] = SIGNAL_FAULTS.filter((fault) => !CONTAINER_WITHOUT.has(fault));

type Form = "native" | "container";

/** The chats of the lab. */
interface Ground extends LabGround {
  readonly signal: FakeSignal;
  readonly owner: Person;
  readonly stranger: Person;
  readonly group: Group;
}

async function prepare(form: Form): Promise<Ground> {
  const signal = await startSignal({ form });
  const owner = signal.world.person({ number: "+491701234567", name: "Anna" });
  const stranger = signal.world.person({ number: "+33612345678", name: "Mallory Outside" });
  const group = signal.world.group("Workshop", [owner, stranger]);
  return { signal, server: signal.server, owner, stranger, group };
}

function sectionOf({ signal, owner, group }: Ground, { access = "allowlist", channel = {}, credentials }: LabSettings): Readonly<Record<string, unknown>> {
  return {
    enabled: true,
    httpUrl: signal.url,
    account: credentials === "wrong" ? WRONG : signal.world.me.number,
    dmPolicy: access,
    allowFrom: [owner.number],
    groupPolicy: "allowlist",
    // The same person by the other id.
    groupAllowFrom: [`uuid:${owner.uuid}`],
    groups: { [group.id]: { requireMention: true } },
    // A reaction of ours to every message would be traffic that no test asks about.
    ackReaction: "",
    ...channel,
  };
}

/** What a person of the lab does and sees. */
function createPerson({ signal, owner, stranger, group }: Ground): Pick<ChannelLab, "say" | "received" | "edit" | "react" | "redeliver"> {
  const { world } = signal;
  const written = new Map<string, ReturnType<typeof world.say>>();
  const whoIs = ({ by = "owner" }: Spot): Person => (by === "owner" ? owner : stranger);
  const groupOf = ({ where }: Spot): Group | undefined => (where === "group" ? group : undefined);
  const chatOf = (spot: Spot): string => groupOf(spot)?.id ?? whoIs(spot).uuid;
  const place = (spot: Spot): Pick<SayMore, "group"> => (groupOf(spot) ? { group } : {});

  function moreOf(options: SayOptions): SayMore {
    const { mention, replyTo, file } = options;
    const above = replyTo && world.sent(chatOf(options)).find(({ timestamp }) => String(timestamp) === replyTo.id);
    return {
      ...place(options),
      ...(mention ? { mentions: [{ start: 0, length: 1, who: world.me }] } : {}),
      ...(above ? { quote: { timestamp: above.timestamp, author: world.me.number!, message: above.text } } : {}),
      ...(file ? { files: [file] } : {}),
    };
  }

  return {
    say(text, options = {}) {
      const said = world.say(whoIs(options), options.mention ? `\uFFFC ${text}` : text, moreOf(options));
      const id = options.where === "group" ? `${said.timestamp}:${whoIs(options).number!}` : String(said.timestamp);
      written.set(id, said);
      return Promise.resolve({ id, ...options });
    },
    received: (spot = {}) =>
      world.sent(chatOf(spot)).map(({ timestamp, text, quote, files: [file] }): Received => ({
        id: String(timestamp),
        text,
        replyTo: quote === undefined ? undefined : String(quote.timestamp),
        file,
      })),
    redeliver({ id }) {
      signal.redeliver(written.get(id)!.envelope);
      return Promise.resolve();
    },
    edit(said, text) {
      world.edit(whoIs(said), written.get(said.id)!.timestamp, text, place(said));
      return Promise.resolve();
    },
    react(emoji, spot = {}) {
      const last = world.sent(chatOf(spot)).at(-1);
      const target = last
        ? { author: world.me, timestamp: last.timestamp }
        : { author: whoIs(spot), timestamp: world.say(whoIs(spot), "hello", place(spot)).timestamp };
      world.react(whoIs(spot), emoji, target, groupOf(spot));
      return Promise.resolve();
    },
  };
}

function createDeeds({ signal, owner, stranger, group }: Ground): Readonly<Record<string, Deed>> {
  const { world } = signal;
  const whoIs = ({ by }: Required<Spot>): Person => (by === "owner" ? owner : stranger);
  const place = ({ where }: Required<Spot>): { readonly group?: Group } => (where === "group" ? { group } : {});
  const voice = { name: "voice.aac", mime: "audio/aac", data: Buffer.from("w-deed") };
  return {
    "a voice message": { owner: "turn", where: "direct", act: (spot) => world.say(whoIs(spot), "", { ...place(spot), files: [voice] }) },
    "a deletion": { owner: "nothing", act: (spot) => world.unsend(whoIs(spot), world.now(), place(spot).group) },
    "a reaction that is withdrawn": {
      owner: "nothing",
      act: (spot) => world.react(whoIs(spot), "👎", { author: world.me, timestamp: world.now() }, place(spot).group, true),
    },
    "a change of the group": { owner: "nothing", where: "group", act: (spot) => world.groupChanged(whoIs(spot), group) },
    "that someone types": {
      owner: "nothing",
      act: (spot) => world.emit(world.envelope(whoIs(spot), world.now(), { typingMessage: { action: "STARTED", timestamp: world.now() } })),
    },
    "a call": {
      owner: "nothing",
      act: (spot) => world.emit(world.envelope(whoIs(spot), world.now(), { callMessage: { offerMessage: { id: 1, type: "w-deed" } } })),
    },
    "a story": {
      owner: "nothing",
      act: (spot) => world.emit(world.envelope(whoIs(spot), world.now(), { storyMessage: { allowsReplies: true, textAttachment: { text: "w-deed" } } })),
    },
  };
}

/** Of either form; `sendTyping` has the same beginning. */
const SEND = /^POST (?:\/api\/v1\/rpc|\/v2\/)\s?send$/;

function createFaults({ signal, owner }: Ground): LabFaults {
  const { faults, world, outcomes } = signal;
  return {
    lostAnswer: () => faults.add({ on: SEND, reset: true, applied: true }),
    serverError: (hadEffect) => faults.add({ on: SEND, status: 502, applied: hadEffect }),
    tooMany: (waitMs, times) => outcomes.next({ type: "RATE_LIMIT_FAILURE", retryAfterSeconds: waitMs / 1000 }, times),
    garbageAnswer: () => faults.add({ on: SEND, garbage: true, applied: true }),
    slow: (ms) => (ms === undefined ? faults.clear() : faults.add({ delayMs: ms, times: Number.POSITIVE_INFINITY })),
    garbageEvents() {
      const data = { timestamp: "x", message: "w-bad" };
      const envelopes = [
        5,
        {},
        { source: "w-bad", timestamp: 1, dataMessage: { message: "w-bad" } },
        { sourceNumber: owner.number, dataMessage: data },
        { sourceNumber: owner.number, timestamp: 1, dataMessage: 5 },
      ];
      for (const text of ["{broken", "5", "null", "{}", ...envelopes.map((envelope) => JSON.stringify({ envelope }))]) signal.raw(text);
      signal.bytes(": comment\n\nevent:receive\n\ndata\n\nnonsense: 5\n\n");
      return Promise.resolve();
    },
    reorder(texts) {
      for (const { envelope } of texts.map((text) => world.compose(owner, text)).toReversed()) world.emit(envelope);
      return Promise.resolve();
    },
    revoke() {
      signal.unlink();
      signal.server.drop();
      return Promise.resolve();
    },
    halfOpen() {
      signal.freeze();
      return Promise.resolve();
    },
  };
}

/** After the account was removed and linked again only a change of the configuration starts it. */
function mend(ground: Ground, gateway: LabGateway): void {
  ground.signal.link();
  gateway.configure({ channels: { signal: { ...sectionOf(ground, {}), startupTimeoutMs: 31_000 } } });
}

/** Cuts the connection and waits for the next one: what is said in between is lost where nothing is kept. */
async function reconnect({ signal, server }: Ground): Promise<void> {
  const listening = (): number => server.asked.filter(({ path }) => /\/v1\/(?:events|receive)/.test(path)).length;
  const before = listening();
  server.drop();
  await until(
    () => listening() > before && signal.listeners() === 1,
    () => "the account did not connect again",
  );
}

/** signal-cli's daemon or its container, with gateways of the caller's where some are given. */
function labsWith(form: Form, startGateway: typeof startLabGateway | undefined): MakeLab {
  return labsOf<Ground>({
    channel: "signal",
    ...(startGateway ? { startGateway } : {}),
    prepare: () => prepare(form),
    sectionOf,
    isUp: ({ signal }) => signal.listeners() > 0,
    lab: (ground, gateway) => ({
      ...createPerson(ground),
      limits: { text: 4000, measure: (text) => text.length },
      strangerMarks: [ground.stranger.number!, ground.stranger.uuid, "Mallory"],
      secrets: [],
      connections: () => ground.signal.listeners(),
      conflicts: () => ground.signal.conflicts(),
      dropConnection: () => reconnect(ground),
      mendCredentials() {
        mend(ground, gateway);
        return Promise.resolve();
      },
      loseReceipt: () => ground.signal.faults.add({ on: SEND, reset: true, applied: true }),
      floodLimit: (pauseMs) => ground.signal.outcomes.limit(pauseMs === undefined ? undefined : { messages: 1, perMs: pauseMs }),
      faults: createFaults(ground),
      deeds: createDeeds(ground),
    }),
  });
}

export const signalLabs = (startGateway?: typeof startLabGateway): MakeLab => labsWith("native", startGateway);

export function signalContainerLabs(startGateway?: typeof startLabGateway): MakeLab {
  const make = labsWith("container", startGateway);
  return async (settings) => {
    const lab = await make(settings);
    // What the container does not have.
    delete lab.away;
    delete lab.floodLimit;
    const { tooMany: _limit, halfOpen: _dead, ...faults } = lab.faults!;
    return Object.assign(lab, { faults });
  };
}
