import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createTestHost } from "../../../src/plugin-testing/index.ts";
import type { ChannelCapabilities, ChannelPlugin } from "../../../src/protocol/index.ts";
import { type Chat, type FakeMessages, internal, type Row, startMessages } from "../../fakes/imessage/index.ts";
import { startLabGateway, type LabGateway } from "./lab-gateway.ts";
import type { ChannelLab, Deed, FaultName, LabFaults, Lacks, LabSettings, MakeLab, Received, SayOptions, Spot } from "./lab.ts";
import { until } from "./suite/heard.ts";

const PLUGIN = fileURLToPath(new URL("../../../plugins/imessage", import.meta.url));
const OWNER = "+491701234567";
const STRANGER = "mallory@outside.example";
const MENTION = "@claw";

export const IMESSAGE_LACKS: Lacks = {
  edit: "an edit changes a row that was read already, and imsg does not bring it again",
  reaction: "imsg sends no tapbacks; those of people are tested in plugins/imessage",
  button: "there are no buttons",
  member: "imsg does not bring who comes and goes",
  thread: "replies belong to messages, and there are no threads beside the chat",
  rateLimit: "Messages asks for no pauses",
};

/** What the program and the Mac can suffer. */
export const IMESSAGE_FAULTS: readonly FaultName[] = [
  "lostAnswer",
  "serverError",
  "noAnswer",
  "garbageAnswer",
  "slow",
  "garbageEvents",
  "reorder",
  "revoke",
  "halfOpen",
  "killed",
];

interface Ground {
  readonly mac: FakeMessages;
  readonly direct: Record<"owner" | "stranger", Chat>;
  /** Wants to be named. */
  readonly group: Chat;
}

async function prepare(): Promise<Ground> {
  const mac = await startMessages();
  const direct = { owner: mac.direct(OWNER), stranger: mac.direct(STRANGER) };
  return { mac, direct, group: mac.group("Workshop", [OWNER, STRANGER]) };
}

function sectionOf({ mac, group }: Ground, { access = "allowlist", channel = {}, credentials }: LabSettings): Readonly<Record<string, unknown>> {
  return {
    enabled: true,
    cliPath: mac.cliPath,
    dbPath: credentials === "wrong" ? join(mac.folder, "denied.db") : mac.dbPath,
    includeAttachments: true,
    attachmentRoots: [mac.attachments],
    dmPolicy: access,
    allowFrom: [OWNER],
    groupPolicy: "allowlist",
    groupAllowFrom: [OWNER],
    groups: { [group.id]: { requireMention: true } },
    ...channel,
  };
}

/** What a person of the lab does and sees. */
function createPeople({ mac, direct, group }: Ground): Pick<ChannelLab, "say" | "received" | "redeliver"> {
  const handleOf = ({ by = "owner" }: Spot): string => (by === "owner" ? OWNER : STRANGER);
  const chatOf = ({ by = "owner", where = "direct" }: Spot): Chat => (where === "direct" ? direct[by] : group);
  return {
    say(text, options: SayOptions = {}) {
      const { mention, replyTo, file } = options;
      const words = mention ? `${MENTION} ${text}` : text;
      const { guid } = mac.say(handleOf(options), chatOf(options), words, { ...(file ? { file } : {}), ...(replyTo ? { replyTo: replyTo.id } : {}) });
      return Promise.resolve({ id: guid, ...options });
    },
    received(spot = {}) {
      const rows = mac.rows.filter(({ chat, isFromMe }) => isFromMe && chat === chatOf(spot));
      return rows.map(({ guid, text, replyTo, file }: Row): Received => ({ id: guid, text: text.replaceAll("\uFFFC", ""), replyTo, file }));
    },
    redeliver({ id }) {
      mac.redeliver(mac.rows.find(({ guid }) => guid === id)!);
      return Promise.resolve();
    },
  };
}

function createDeeds({ mac, direct, group }: Ground): Readonly<Record<string, Deed>> {
  const voice = { name: "Audio Message.caf", mime: "audio/x-caf", data: Buffer.from("caff w-deed") };
  const handleOf = ({ by }: Required<Spot>): string => (by === "owner" ? OWNER : STRANGER);
  const chatOf = ({ by, where }: Required<Spot>): Chat => (where === "direct" ? direct[by] : group);
  return {
    "a voice message": { owner: "turn", where: "direct", act: (spot) => mac.say(handleOf(spot), chatOf(spot), "", { file: voice }) },
    "a tapback": {
      owner: "nothing",
      act(spot) {
        const last = mac.rows.findLast(({ chat, isFromMe }) => isFromMe && chat === chatOf(spot));
        if (last) mac.react(handleOf(spot), last, "👎");
      },
    },
  };
}

const GARBAGE = [
  "",
  "{",
  "5",
  "[]",
  '{"jsonrpc":"2.0"}',
  '{"jsonrpc":"2.0","id":999,"result":{}}',
  '{"jsonrpc":"2.0","method":"message","params":{"message":{"text":"w-bad"}}}',
  `{"jsonrpc":"2.0","method":"message","params":{"message":{"id":"x","text":"w-bad","sender":"${OWNER}"}}}`,
  `{"jsonrpc":"2.0","method":"message","params":{"message":{"id":1,"text":5,"sender":"${OWNER}"}}}`,
  '{"jsonrpc":"2.0","method":"message","params":{"message":{"id":1,"text":"w-bad","sender":7}}}',
  '{"jsonrpc":"2.0","method":"message","params":[]}',
  '{"jsonrpc":"2.0","method":"nothing"}',
];

function createFaults({ mac, direct }: Ground): LabFaults {
  return {
    lostAnswer: () => void mac.faults.push({ on: "send", applied: true, outcome: "exit" }),
    serverError: (hadEffect) => void mac.faults.push({ on: "send", applied: hadEffect, outcome: internal("AppleEvent timed out (-1712)") }),
    noAnswer: () => void mac.faults.push({ on: "send", outcome: "silent" }),
    garbageAnswer: () => void mac.faults.push({ on: "send", applied: true, outcome: "garbage" }),
    slow: (ms) => mac.slow(ms ?? 0),
    garbageEvents() {
      mac.write(GARBAGE.map((line) => `${line}\n`).join(""));
      return Promise.resolve();
    },
    reorder(texts) {
      for (const text of texts.toReversed()) mac.say(OWNER, direct.owner, text);
      return Promise.resolve();
    },
    revoke() {
      mac.deny(true);
      return Promise.resolve();
    },
    halfOpen() {
      mac.freeze();
      return Promise.resolve();
    },
  };
}

function createLab(ground: Ground, gateway: LabGateway, settings: LabSettings, capabilities: ChannelCapabilities): ChannelLab {
  const { mac } = ground;
  return {
    ...createPeople(ground),
    channel: "imessage",
    capabilities,
    limits: { text: 4000, measure: (text) => text.length },
    gateway,
    strangerMarks: [STRANGER, "mallory"],
    // There are none: the Mac knows who is signed in.
    secrets: [],
    isUp: async () => mac.running() > 0 && (await gateway.account("imessage"))?.connected === true,
    traffic: () => mac.asked.length,
    connections: () => mac.running(),
    conflicts: () => 0,
    faults: createFaults(ground),
    deeds: createDeeds(ground),
    dropConnection() {
      mac.drop();
      return Promise.resolve();
    },
    async away(during) {
      await mac.down();
      await during();
      await mac.up();
    },
    loseReceipt: () => void mac.faults.push({ on: "send", applied: true, outcome: "exit" }),
    mendCredentials() {
      mac.deny(false);
      const { credentials: _wrong, ...right } = settings;
      gateway.configure({ channels: { imessage: { ...sectionOf(ground, right), name: "mended" } } });
      return Promise.resolve();
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await mac[Symbol.asyncDispose]();
    },
  };
}

async function claimsOf(): Promise<ChannelCapabilities> {
  await using host = await createTestHost({ plugins: [PLUGIN] });
  return (host.channel("imessage") as ChannelPlugin).capabilities;
}

/** iMessage, with gateways of the caller's where some are given. */
export function imessageLabs(startGateway: typeof startLabGateway = startLabGateway): MakeLab {
  let claims: Promise<ChannelCapabilities> | undefined;
  return async (settings) => {
    const capabilities = await (claims ??= claimsOf());
    const ground = await prepare();
    const gateway = await startGateway({
      sections: { channels: { imessage: sectionOf(ground, settings) }, messages: { groupChat: { mentionPatterns: [MENTION] } } },
    });
    const lab = createLab(ground, gateway, settings, capabilities);
    if (settings.credentials === "wrong") return lab;
    const asked = (): string => ground.mac.asked.map(({ method }) => method).join(", ") || "nothing";
    await until(
      () => lab.isUp(),
      () => `the account is not up; it asked for ${asked()}\n${gateway.output()}`,
    ).catch(async (error: unknown) => {
      await lab[Symbol.asyncDispose]();
      throw error;
    });
    return lab;
  };
}
