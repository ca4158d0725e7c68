import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { proto, type BinaryNode } from "baileys";
import { createTestHost } from "../../../src/plugin-testing/index.ts";
import type { ChannelCapabilities, ChannelPlugin } from "../../../src/protocol/index.ts";
import { type FakeWhatsApp, type Group, type Person, type Seen, startWhatsApp } from "../../fakes/whatsapp/index.ts";
import { textOf } from "../../fakes/whatsapp/mail.ts";
import { startLabGateway, type LabGateway } from "./lab-gateway.ts";
import type { ChannelLab, Deed, FaultName, LabFaults, Lacks, LabFile, LabSettings, MakeLab, Received, SayOptions, Spot } from "./lab.ts";
import { until } from "./suite/heard.ts";

const PLUGIN = fileURLToPath(new URL("../../../plugins/whatsapp", import.meta.url));

export const WHATSAPP_LACKS: Lacks = {
  button: "WhatsApp has buttons for businesses with its own service only; a linked device cannot send them",
  thread: "chats on WhatsApp have no threads",
  rateLimit: "WhatsApp names no pause: it restricts or bans accounts that write too much",
  textLimit: "a text may have 65,536 characters, more than the answer of this test; the channel cuts at 4,000 for people's sake",
};

interface Ground {
  readonly whatsapp: FakeWhatsApp;
  readonly owner: Person;
  readonly stranger: Person;
  readonly group: Group;
  /** Folders of credentials. */
  readonly right: string;
  readonly wrong: string;
}

function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 });
}

async function prepare(folder: string): Promise<Ground> {
  const whatsapp = await startWhatsApp();
  const { world, me } = whatsapp;
  const owner = world.person({ number: "491701234567", name: "Olive" });
  const stranger = world.person({ number: "33612345678", name: "Mallory Outside" });
  const group = world.group("Workshop", [me, owner]);
  const [right, wrong] = [join(folder, "right"), join(folder, "wrong")];
  writeFiles(wrong, whatsapp.linkedFiles());
  // The phone removed that one.
  world.devices.pop();
  writeFiles(right, whatsapp.linkedFiles());
  return { whatsapp, owner, stranger, group, right, wrong };
}

function sectionOf({ owner, group }: Ground, authDir: string, { access = "allowlist", channel = {} }: LabSettings): Readonly<Record<string, unknown>> {
  return {
    enabled: true,
    authDir,
    dmPolicy: access,
    allowFrom: [`+${owner.number}`],
    groupPolicy: "allowlist",
    groupAllowFrom: [`+${owner.number}`],
    groups: { [group.id]: { requireMention: true } },
    ...channel,
  };
}

async function claimsOf(): Promise<ChannelCapabilities> {
  await using host = await createTestHost({ plugins: [PLUGIN] });
  return (host.channel("whatsapp") as ChannelPlugin).capabilities;
}

/** What a person writes, as their phone puts it together. */
function messageOf({ whatsapp }: Ground, text: string, { mention, replyTo, file }: SayOptions, quoted: Seen | undefined): proto.IMessage {
  const { me, media } = whatsapp;
  const contextInfo: proto.IContextInfo = {
    ...(mention ? { mentionedJid: [me.lid] } : {}),
    ...(replyTo ? { stanzaId: replyTo.id, participant: me.lid, quotedMessage: quoted?.message ?? null } : {}),
  };
  const words = mention ? `@${me.lid.split("@")[0]} ${text}` : text;
  if (file) return fileMessage(media, file, words, contextInfo);
  return Object.keys(contextInfo).length > 0 ? { extendedTextMessage: { text: words, contextInfo } } : { conversation: words };
}

function fileMessage(media: FakeWhatsApp["media"], { name, mime, data }: LabFile, caption: string, contextInfo: proto.IContextInfo): proto.IMessage {
  const isImage = mime.startsWith("image/");
  const facts = { ...media.put(isImage ? "Image" : "Document", data), mimetype: mime, caption, contextInfo };
  return isImage ? { imageMessage: facts } : { documentWithCaptionMessage: { message: { documentMessage: { ...facts, fileName: name } } } };
}

function createPerson(ground: Ground): Pick<ChannelLab, "say" | "received" | "edit" | "react" | "join" | "redeliver"> {
  const { whatsapp, owner, stranger, group } = ground;
  const said = new Map<string, { readonly from: Person; readonly message: proto.IMessage; readonly group?: Group }>();
  const whoIs = ({ by = "owner" }: Spot): Person => (by === "owner" ? owner : stranger);
  const groupOf = (spot: Spot): { group?: Group } => (spot.where === "group" ? { group } : {});
  const chatOf = (spot: Spot): string => (spot.where === "group" ? group.id : whoIs(spot).pn);
  const seenIn = (spot: Spot): readonly Seen[] => whatsapp.world.seen.filter(({ chat, message }) => chat === chatOf(spot) && !message.reactionMessage);
  return {
    async say(text, options = {}) {
      const quoted = whatsapp.world.seen.find(({ id }) => id === options.replyTo?.id);
      const letter = { from: whoIs(options), message: messageOf(ground, text, options, quoted), ...groupOf(options) };
      const id = await whatsapp.deliver(letter);
      said.set(id, letter);
      return { id, ...options };
    },
    received: (spot = {}) =>
      seenIn(spot).map(({ id, message }): Received => {
        const { extendedTextMessage, imageMessage, documentMessage } = message;
        const image = imageMessage ? { name: "image", data: whatsapp.media.get("Image", imageMessage) } : undefined;
        const file = documentMessage ? { name: documentMessage.fileName ?? "", data: whatsapp.media.get("Document", documentMessage) } : image;
        return { id, text: textOf(message), replyTo: extendedTextMessage?.contextInfo?.stanzaId ?? undefined, file };
      }),
    async redeliver({ id }) {
      await whatsapp.deliver({ ...said.get(id)!, id });
    },
    async edit(one, text) {
      const { from, group: where } = said.get(one.id)!;
      const key = { id: one.id, fromMe: true, remoteJid: whatsapp.me.pn };
      await whatsapp.deliver({
        from,
        ...(where ? { group: where } : {}),
        message: { protocolMessage: { type: proto.Message.ProtocolMessage.Type.MESSAGE_EDIT, key, editedMessage: { conversation: text } } },
      });
    },
    async react(emoji, spot = {}) {
      const last = seenIn(spot).at(-1)?.id ?? "3EB0000000000000000000";
      const key = { id: last, fromMe: false, remoteJid: chatOf(spot) };
      await whatsapp.deliver({ from: whoIs(spot), ...groupOf(spot), message: { reactionMessage: { key, text: emoji, senderTimestampMs: Date.now() } } });
    },
    join(spot) {
      const who = whoIs(spot);
      group.members.push(who);
      whatsapp.push({
        tag: "notification",
        attrs: {
          from: group.id,
          type: "w:gp2",
          id: `join-${group.members.length}`,
          participant: who.lid,
          participant_pn: who.pn,
          t: String(Math.floor(Date.now() / 1000)),
          notify: who.name,
        },
        content: [{ tag: "add", attrs: {}, content: [{ tag: "participant", attrs: { jid: who.lid, phone_number: who.pn } }] }],
      });
      return Promise.resolve();
    },
  };
}

function createDeeds({ whatsapp, owner, stranger, group }: Ground): Readonly<Record<string, Deed>> {
  const { Type } = proto.Message.ProtocolMessage;
  const send = (spot: Required<Spot>, message: proto.IMessage): Promise<string> =>
    whatsapp.deliver({ from: spot.by === "owner" ? owner : stranger, message, ...(spot.where === "group" ? { group } : {}) });
  const key = { id: "3EB0000000000000000000", fromMe: true, remoteJid: whatsapp.me.pn };
  const voice = Buffer.from("OggS w-deed");
  return {
    "a voice message": {
      owner: "turn",
      where: "direct",
      act: (spot) => send(spot, { audioMessage: { ...whatsapp.media.put("Audio", voice), mimetype: "audio/ogg; codecs=opus", ptt: true, seconds: 1 } }),
    },
    "a place": {
      owner: "turn",
      where: "direct",
      act: (spot) => send(spot, { locationMessage: { degreesLatitude: 48.1, degreesLongitude: 11.5, name: "w-deed" } }),
    },
    "a deletion": { owner: "nothing", act: (spot) => send(spot, { protocolMessage: { type: Type.REVOKE, key } }) },
    "a pin": {
      owner: "nothing",
      act: (spot) => send(spot, { pinInChatMessage: { key, type: proto.Message.PinInChatMessage.Type.PIN_FOR_ALL, senderTimestampMs: Date.now() } }),
    },
    "a reaction that is withdrawn": { owner: "nothing", act: (spot) => send(spot, { reactionMessage: { key, text: "", senderTimestampMs: Date.now() } }) },
  };
}

/**
 * What the connection can suffer. An answer is a stanza that names its message or is none, WhatsApp asks for no pauses, and baileys notices a dead connection
 * by the time of day.
 */
export const WHATSAPP_FAULTS: readonly FaultName[] = ["lostAnswer", "noAnswer", "slow", "garbageEvents", "reorder", "revoke", "killed"];

function createFaults({ whatsapp, owner }: Ground): LabFaults {
  return {
    lostAnswer: () => whatsapp.loseReceipt(),
    noAnswer: () => whatsapp.ignoreNext(),
    slow: (ms) => whatsapp.slow(ms ?? 0),
    garbageEvents() {
      const attrs = { from: owner.pn, id: "3A00000000000000000001", t: "1", type: "text", notify: "w-bad" };
      const stanzas: readonly BinaryNode[] = [
        { tag: "w-bad", attrs: {} },
        { tag: "message", attrs: {} },
        { tag: "message", attrs },
        { tag: "message", attrs: { ...attrs, t: "x" }, content: Buffer.from("w-bad") },
        { tag: "message", attrs, content: [{ tag: "enc", attrs: { v: "2", type: "msg" }, content: Buffer.from("w-bad") }] },
        { tag: "message", attrs: { ...attrs, from: "w-bad" }, content: [{ tag: "enc", attrs: { v: "9", type: "x" }, content: Buffer.from("w-bad") }] },
        { tag: "notification", attrs: { from: owner.pn, type: "w:gp2", id: "w-bad" } },
        { tag: "receipt", attrs: {} },
        { tag: "ack", attrs: { class: "message" } },
      ];
      for (const stanza of stanzas) whatsapp.push(stanza);
      return Promise.resolve();
    },
    reorder: (texts) => whatsapp.deliverLastFirst(texts.map((text) => ({ from: owner, message: { conversation: text } }))),
    revoke() {
      whatsapp.unlink();
      return Promise.resolve();
    },
  };
}

function createLab(ground: Ground, gateway: LabGateway, settings: LabSettings, capabilities: ChannelCapabilities): ChannelLab {
  const { whatsapp, stranger, right } = ground;
  return {
    ...createPerson(ground),
    channel: "whatsapp",
    capabilities,
    limits: { text: 4096, measure: (text) => text.length },
    showsOnce: true,
    gateway,
    strangerMarks: [stranger.number, stranger.lid, "Mallory"],
    secrets: [whatsapp.rootKey.slice(0, 8), "privKey", "noiseKey"],
    isUp: async () => (await gateway.account("whatsapp"))?.connected === true,
    traffic: () => whatsapp.stanzas.length,
    connections: () => whatsapp.connections,
    conflicts: () => whatsapp.conflicts,
    dropConnection() {
      whatsapp.drop();
      return Promise.resolve();
    },
    async away(during) {
      await whatsapp.down();
      await during();
      await whatsapp.up();
    },
    mendCredentials() {
      const authDir = whatsapp.world.devices.length > 0 ? right : `${right}-again`;
      if (authDir !== right) writeFiles(authDir, whatsapp.linkedFiles());
      gateway.configure({ channels: { whatsapp: sectionOf(ground, authDir, settings) } });
      return Promise.resolve();
    },
    faults: createFaults(ground),
    deeds: createDeeds(ground),
    loseReceipt: () => whatsapp.loseReceipt(),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await whatsapp[Symbol.asyncDispose]();
    },
  };
}

export function whatsappLabs(startGateway: typeof startLabGateway = startLabGateway): MakeLab {
  let claims: Promise<ChannelCapabilities> | undefined;
  return async (settings) => openLab(settings, await (claims ??= claimsOf()), startGateway);
}

async function openLab(settings: LabSettings, capabilities: ChannelCapabilities, startGateway: typeof startLabGateway): Promise<ChannelLab> {
  const { mkdtempSync } = await import("node:fs");
  const { tmpdir } = await import("node:os");
  const ground = await prepare(mkdtempSync(join(tmpdir(), "openclaw-wa-")));
  const isWrong = settings.credentials === "wrong";
  const gateway = await startGateway({
    sections: {
      channels: { whatsapp: sectionOf(ground, isWrong ? ground.wrong : ground.right, settings) },
      // Labs do not wait as long as people's servers do.
      web: { reconnect: { initialMs: 100, maxMs: 500 } },
    },
    env: ground.whatsapp.env,
  });
  const lab = createLab(ground, gateway, settings, capabilities);
  if (isWrong) return lab;
  await until(
    () => lab.isUp(),
    () => `the account does not connect\n${gateway.output()}`,
  ).catch(async (error: unknown) => {
    await lab[Symbol.asyncDispose]();
    throw error;
  });
  return lab;
}
