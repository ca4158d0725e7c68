/** Who and what there is on the fake WhatsApp: people, groups, the account with its linked devices, and what was written. */
import type { BinaryNode, proto } from "baileys";
import { createDevice, type FakeDevice, type KeyBundle } from "./device.ts";

export interface Person {
  readonly number: string;
  readonly name: string;
  /** `<number>@s.whatsapp.net`. */
  readonly pn: string;
  /** `<hidden id>@lid`. */
  readonly lid: string;
  readonly phone: FakeDevice;
}

export interface Group {
  readonly id: string;
  subject: string;
  readonly members: Person[];
}

/** A device that was linked to the account: the one that is tested. */
export interface LinkedDevice {
  readonly owner: Person;
  readonly number: number;
  readonly noiseKey: Buffer;
  readonly identity: Uint8Array;
  registrationId: number;
  signed: KeyBundle["signed"];
  preKeys: NonNullable<KeyBundle["once"]>[];
  /** Not acknowledged yet, oldest first. */
  pending: BinaryNode[];
}

/** A message of the linked device as those see it who can read it. */
export interface Seen {
  readonly id: string;
  readonly chat: string;
  readonly message: proto.Message;
  /** How often the server was given this id. */
  copies: number;
}

export const jidOf = (device: LinkedDevice): string => `${device.owner.number}:${device.number}@s.whatsapp.net`;
export const lidOf = (device: LinkedDevice): string => device.owner.lid.replace("@", `:${device.number}@`);
export const userOf = (jid: string): string => jid.split("@")[0]!.split(":")[0]!;

export interface World {
  readonly people: Person[];
  readonly groups: Group[];
  readonly devices: LinkedDevice[];
  readonly seen: Seen[];
  person(facts: { readonly number: string; readonly name: string }): Person;
  group(subject: string, members: readonly Person[]): Group;
  /** By number or hidden id, with or without a device. */
  find(jid: string): Person | undefined;
  device(number: string, device: number): LinkedDevice | undefined;
}

export function createWorld(): World {
  const people: Person[] = [];
  const groups: Group[] = [];
  const devices: LinkedDevice[] = [];
  return {
    people,
    groups,
    devices,
    seen: [],
    person({ number, name }) {
      // A hidden id says nothing of the number; here it only has to be another one.
      const person: Person = { number, name, pn: `${number}@s.whatsapp.net`, lid: `9${Number(number) * 7}1@lid`, phone: createDevice() };
      people.push(person);
      return person;
    },
    group(subject, members) {
      const group: Group = { id: `12036300000000000${groups.length}@g.us`, subject, members: [...members] };
      groups.push(group);
      return group;
    },
    find: (jid) => people.find(({ pn, lid }) => userOf(jid) === userOf(jid.endsWith("@lid") ? lid : pn)),
    device: (number, device) => devices.find((one) => one.owner.number === number && one.number === device),
  };
}
