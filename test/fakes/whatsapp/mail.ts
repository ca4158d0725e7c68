/** Messages in both directions, encrypted as between real devices. */
import { randomBytes } from "node:crypto";
import { getBinaryNodeChild, getBinaryNodeChildren, proto, type BinaryNode } from "baileys";
import type { Connection } from "./connection.ts";
import { type Group, jidOf, type LinkedDevice, lidOf, type Person, type World } from "./world.ts";

export interface Letter {
  readonly id: string;
  readonly from: Person;
  readonly message: proto.IMessage;
  /** None: to the account directly. */
  readonly group?: Group | undefined;
  /** The phone of the account wrote it to this person; the linked device gets a copy. */
  readonly to?: Person | undefined;
  /** Addressed by the hidden id (default) or by the number. */
  readonly byNumber?: boolean | undefined;
  readonly at?: number | undefined;
}

export const newId = (): string => `3A${randomBytes(9).toString("hex").toUpperCase()}`;

function typeOf(message: proto.IMessage): string {
  if (message.reactionMessage) return "reaction";
  if (message.pollCreationMessageV3 ?? message.pollUpdateMessage) return "poll";
  return (message.imageMessage ?? message.videoMessage ?? message.audioMessage ?? message.documentMessage ?? message.stickerMessage) ? "media" : "text";
}

const enc = (type: string, ciphertext: Uint8Array): BinaryNode => ({ tag: "enc", attrs: { v: "2", type }, content: ciphertext });

/** The stanza for one linked device. Every call encrypts again, as the sender's phone does when it repeats a message. */
export async function stanzaFor(device: LinkedDevice, { id, from, message, group, to, byNumber, at }: Letter): Promise<BinaryNode> {
  const base = { id, type: typeOf(message), t: String(Math.floor((at ?? Date.now()) / 1000)), notify: from.name };
  const bundle = () => ({ ...device, once: device.preKeys.shift() });
  const sealed = async (inner: proto.IMessage): Promise<BinaryNode> => {
    const { type, ciphertext } = await from.phone.encrypt(jidOf(device), inner, bundle);
    return enc(type, ciphertext);
  };
  if (group) {
    const { ciphertext, distribution } = await from.phone.encryptToGroup(group.id, from.lid, message);
    const key = await sealed({ senderKeyDistributionMessage: { groupId: group.id, axolotlSenderKeyDistributionMessage: distribution } });
    const attrs = byNumber
      ? { ...base, from: group.id, participant: from.pn, participant_lid: from.lid, addressing_mode: "pn" }
      : { ...base, from: group.id, participant: from.lid, participant_pn: from.pn, addressing_mode: "lid" };
    return { tag: "message", attrs, content: [key, enc("skmsg", ciphertext)] };
  }
  if (to) {
    const copy = await sealed({ deviceSentMessage: { destinationJid: to.pn, message } });
    return { tag: "message", attrs: { ...base, from: from.pn, recipient: to.pn, recipient_lid: to.lid, sender_lid: from.lid }, content: [copy] };
  }
  const attrs = byNumber ? { ...base, from: from.pn, sender_lid: from.lid } : { ...base, from: from.lid, sender_pn: from.pn, addressing_mode: "lid" };
  return { tag: "message", attrs, content: [await sealed(message)] };
}

/** What the linked device wrote, read by one who may. Undefined: it was not encrypted for them. */
async function readAs(person: Person, device: LinkedDevice, stanza: BinaryNode): Promise<proto.Message | undefined> {
  const copies = getBinaryNodeChildren(getBinaryNodeChild(stanza, "participants"), "to");
  const mine = copies.find(({ attrs }) => attrs["jid"] === person.pn || attrs["jid"] === person.lid);
  const own = mine && (await person.phone.decrypt(jidOf(device), getBinaryNodeChild(mine, "enc")!));
  const shared = getBinaryNodeChild(stanza, "enc");
  if (shared?.attrs["type"] !== "skmsg") return own?.deviceSentMessage?.message ? proto.Message.fromObject(own.deviceSentMessage.message) : own;
  const distribution = own?.senderKeyDistributionMessage;
  if (distribution) await person.phone.learnSenderKey(lidOf(device), distribution.groupId!, distribution.axolotlSenderKeyDistributionMessage!);
  return person.phone.decryptFromGroup(lidOf(device), stanza.attrs["to"]!, shared.content as Uint8Array);
}

export const textOf = (message: proto.IMessage): string =>
  message.conversation ??
  message.extendedTextMessage?.text ??
  message.imageMessage?.caption ??
  message.videoMessage?.caption ??
  message.documentMessage?.caption ??
  message.documentWithCaptionMessage?.message?.documentMessage?.caption ??
  "";

/** WhatsApp's own limit of a text. */
const MAX_TEXT = 65_536;

/** Takes a message of the linked device. The result is the error of its acknowledgement; undefined: it was taken. */
export async function takeMessage(world: World, { device }: Connection, stanza: BinaryNode): Promise<string | undefined> {
  const to = stanza.attrs["to"] ?? "";
  const id = stanza.attrs["id"];
  if (!device || !id) return "400";
  const group = world.groups.find((one) => one.id === to);
  const person = group ? undefined : world.find(to);
  if (!group && !person) return "404";
  if (group && !group.members.includes(device.owner)) return "403";
  const readers = group ? group.members.filter((one) => one !== device.owner) : [person!];
  const phones = group ? readers : [...new Set([person!, device.owner])];
  let message: proto.Message | undefined;
  for (const reader of phones) {
    const read = await readAs(reader, device, stanza);
    if (readers.includes(reader)) message ??= read;
  }
  if (!message) return "479";
  if (textOf(message).length > MAX_TEXT) return "479";
  const chat = group?.id ?? person!.pn;
  const known = world.seen.find((one) => one.id === id && one.chat === chat);
  if (known) known.copies += 1;
  else world.seen.push({ id, chat, message, copies: 1 });
  return undefined;
}
