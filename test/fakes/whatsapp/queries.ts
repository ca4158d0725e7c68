/** Answers to the questions (`iq`) of a client that is logged in. */
import { getBinaryNodeChild, getBinaryNodeChildren, getBinaryNodeChildUInt, type BinaryNode } from "baileys";
import type { KeyBundle } from "./device.ts";
import { type Group, type LinkedDevice, type Person, userOf, type World } from "./world.ts";

export interface QueryContext {
  readonly world: World;
  readonly device: LinkedDevice;
  readonly mediaHost: string;
  /** The client asked to be logged out. */
  removed(): void;
  /** The client is ready for what waited. */
  active(): void;
}

const node = (tag: string, attrs: Record<string, string> = {}, content?: BinaryNode["content"]): BinaryNode => ({
  tag,
  attrs,
  ...(content === undefined ? {} : { content }),
});
const bytes = (value: number, size: number): Buffer => {
  const buffer = Buffer.alloc(size);
  buffer.writeUIntBE(value, 0, size);
  return buffer;
};
const keyNode = (tag: string, { id, value, signature }: { id: number; value: Uint8Array; signature?: Uint8Array }): BinaryNode =>
  node(tag, {}, [node("id", {}, bytes(id, 3)), node("value", {}, value), ...(signature ? [node("signature", {}, signature)] : [])]);

/** Of one device, by the address that was asked for. */
async function bundleOf({ world }: QueryContext, jid: string): Promise<BinaryNode> {
  const person = world.find(jid);
  if (!person) return node("user", { jid }, [node("error", { code: "404", text: "item-not-found" })]);
  const number = Number(/:(\d+)@/.exec(jid)?.[1] ?? 0);
  const linked = number > 0 ? world.device(person.number, number) : undefined;
  if (number > 0 && !linked) return node("user", { jid }, [node("error", { code: "406", text: "not-acceptable" })]);
  const bundle: KeyBundle = linked ? { ...linked, once: linked.preKeys.shift() } : await person.phone.bundle();
  return node("user", { jid }, [
    node("registration", {}, bytes(bundle.registrationId, 4)),
    node("type", {}, Buffer.from([5])),
    node("identity", {}, bundle.identity),
    keyNode("skey", bundle.signed),
    ...(bundle.once ? [keyNode("key", bundle.once)] : []),
  ]);
}

function usync({ world }: QueryContext, asked: BinaryNode): BinaryNode {
  const query = getBinaryNodeChild(asked, "query")?.content;
  const protocols = new Set(Array.isArray(query) ? query.map(({ tag }) => tag) : []);
  const users = getBinaryNodeChildren(getBinaryNodeChild(asked, "list"), "user");
  const list = users.flatMap((user): BinaryNode[] => {
    const phone = Buffer.from((getBinaryNodeChild(user, "contact")?.content ?? "") as string).toString("utf8");
    const jid = user.attrs["jid"] ?? `${phone.replace(/^\+/, "")}@s.whatsapp.net`;
    const person = world.find(jid);
    if (!person) return protocols.has("contact") ? [node("user", { jid }, [node("contact", { type: "out" })])] : [];
    const numbers = [0, ...world.devices.filter(({ owner }) => owner === person).map(({ number }) => number)];
    const devices = numbers.map((number) => node("device", { id: String(number), ...(number > 0 ? { "key-index": String(number) } : {}) }));
    return [
      node("user", { jid }, [
        ...(protocols.has("devices") ? [node("devices", {}, [node("device-list", {}, devices)])] : []),
        ...(protocols.has("lid") && !jid.endsWith("@lid") ? [node("lid", { val: person.lid })] : []),
        ...(protocols.has("contact") ? [node("contact", { type: "in" })] : []),
      ]),
    ];
  });
  return node("usync", { ...asked.attrs }, [node("result"), node("list", {}, list)]);
}

const memberNode = ({ pn, lid }: Person): BinaryNode => node("participant", { jid: lid, phone_number: pn });

export function groupNode({ id, subject, members }: Group): BinaryNode {
  const attrs = { id: userOf(id), subject, creation: "1700000000", s_t: "1700000000", addressing_mode: "lid", size: String(members.length) };
  return node("group", attrs, members.map(memberNode));
}

function groups({ world }: QueryContext, iq: BinaryNode): BinaryNode[] | undefined {
  if (getBinaryNodeChild(iq, "participating")) return [node("groups", {}, world.groups.map(groupNode))];
  const group = world.groups.find(({ id }) => id === iq.attrs["to"]);
  return group && [groupNode(group)];
}

function storeKeys({ device }: QueryContext, iq: BinaryNode): void {
  const list = getBinaryNodeChildren(getBinaryNodeChild(iq, "list"), "key");
  if (list.length === 0) throw new Error("an upload without keys");
  const read = (key: BinaryNode) => ({
    id: getBinaryNodeChildUInt(key, "id", 3)!,
    value: getBinaryNodeChild(key, "value")!.content as Uint8Array,
  });
  const skey = getBinaryNodeChild(iq, "skey");
  if (!skey) throw new Error("an upload without a signed key");
  device.preKeys.push(...list.map(read));
  device.registrationId = getBinaryNodeChildUInt(iq, "registration", 4)!;
  device.signed = { ...read(skey), signature: getBinaryNodeChild(skey, "signature")!.content as Uint8Array };
}

async function encryption(context: QueryContext, iq: BinaryNode): Promise<BinaryNode[]> {
  if (getBinaryNodeChild(iq, "count")) return [node("count", { value: String(context.device.preKeys.length) })];
  if (getBinaryNodeChild(iq, "digest")) return [node("digest", {}, [node("registration", {}, bytes(context.device.registrationId, 4))])];
  const key = getBinaryNodeChild(iq, "key");
  if (key) {
    const users = getBinaryNodeChildren(key, "user");
    return [node("list", {}, await Promise.all(users.map(({ attrs }) => bundleOf(context, attrs["jid"]!))))];
  }
  if (iq.attrs["type"] === "set" && getBinaryNodeChild(iq, "list")) storeKeys(context, iq);
  return [];
}

/** Undefined: refused, as something that is not there. */
async function contentFor(context: QueryContext, iq: BinaryNode): Promise<BinaryNode[] | undefined> {
  switch (iq.attrs["xmlns"]) {
    case "encrypt":
      return encryption(context, iq);
    case "usync":
      return [usync(context, getBinaryNodeChild(iq, "usync")!)];
    case "w:g2":
      return groups(context, iq);
    case "w:m": {
      return [
        node("media_conn", { auth: "media-auth-of-a-test", ttl: "3600", auth_ttl: "3600", max_buckets: "12" }, [
          node("host", { hostname: context.mediaHost, maxContentLengthBytes: "2147483647" }),
        ]),
      ];
    }
    case "privacy":
      return iq.attrs["type"] === "get" ? [node("privacy", {}, [node("category", { name: "readreceipts", value: "all" })])] : [];
    case "blocklist":
      return [node("list")];
    case "abt":
      return [node("props")];
    case "passive":
      context.active();
      return [];
    case "md":
      if (getBinaryNodeChild(iq, "remove-companion-device")) context.removed();
      return [];
    default:
      return iq.attrs["type"] === "get" && !getBinaryNodeChild(iq, "ping") ? undefined : [];
  }
}

export async function answerQuery(context: QueryContext, iq: BinaryNode): Promise<BinaryNode> {
  const content = await contentFor(context, iq);
  const attrs = { id: iq.attrs["id"]!, from: iq.attrs["to"] ?? "s.whatsapp.net", type: content ? "result" : "error" };
  return node("iq", attrs, content ?? [node("error", { code: "404", text: "item-not-found" })]);
}
