/** Linking a device: by the code in the QR picture, or by eight characters that are typed on the phone. */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, pbkdf2Sync, randomBytes } from "node:crypto";
import { Curve, getBinaryNodeChild, proto, type BinaryNode } from "baileys";
import type { Connection } from "./connection.ts";
import type { FakeDevice } from "./device.ts";
import type { LinkedDevice, Person, World } from "./world.ts";

/** A client that waits to be linked. */
export interface Applicant {
  readonly connection: Connection;
  readonly noiseKey: Buffer;
  readonly data: proto.ClientPayload.IDevicePairingRegistrationData;
  readonly refs: readonly string[];
  /** What it said for a code that is typed. */
  hello?: BinaryNode;
  /** What is done once it has answered with its keys. */
  finish?: (bundle: Buffer) => void;
  /** Its device, once `pair-success` is sent. */
  device?: LinkedDevice;
}

const REFS = 6;
const ACCOUNT_PREFIX = Buffer.from([6, 0]);

export function greetApplicant(connection: Connection, noiseKey: Buffer, payload: proto.ClientPayload): Applicant {
  const refs = Array.from({ length: REFS }, () => `2@${randomBytes(24).toString("base64url")}`);
  const content = refs.map((ref): BinaryNode => ({ tag: "ref", attrs: {}, content: Buffer.from(ref) }));
  connection.send({
    tag: "iq",
    attrs: { from: "s.whatsapp.net", type: "set", id: "pair-1", xmlns: "md" },
    content: [{ tag: "pair-device", attrs: {}, content }],
  });
  return { connection, noiseKey, data: payload.devicePairingData!, refs };
}

const int = (data: Uint8Array): number => Buffer.from(data).readUIntBE(0, data.length);

/** The server and the phone agree: the device is notified, and is known from its answer on. */
export function accept(world: World, owner: Person, applicant: Applicant, advSecret: Buffer, signer: FakeDevice = owner.phone): void {
  const { eIdent, eRegid, eSkeyId, eSkeyVal, eSkeySig } = applicant.data;
  const number = 10 + world.devices.length;
  applicant.device = {
    owner,
    number,
    noiseKey: applicant.noiseKey,
    identity: eIdent!,
    registrationId: int(eRegid!),
    signed: { id: int(eSkeyId!), value: eSkeyVal!, signature: eSkeySig! },
    preKeys: [],
    pending: [],
  };
  const { creds } = owner.phone;
  const signing = signer.creds.signedIdentityKey.private;
  const details = proto.ADVDeviceIdentity.encode({ rawId: 7, timestamp: 1_700_000_000, keyIndex: number }).finish();
  const accountSignature = Curve.sign(signing, Buffer.concat([ACCOUNT_PREFIX, details, eIdent!]));
  const signed = proto.ADVSignedDeviceIdentity.encode({ details, accountSignatureKey: creds.signedIdentityKey.public, accountSignature }).finish();
  const hmac = createHmac("sha256", advSecret).update(signed).digest();
  const identity = proto.ADVSignedDeviceIdentityHMAC.encode({ details: signed, hmac }).finish();
  applicant.connection.send({
    tag: "iq",
    attrs: { from: "s.whatsapp.net", type: "set", id: "pair-2", xmlns: "md" },
    content: [
      {
        tag: "pair-success",
        attrs: {},
        content: [
          { tag: "device-identity", attrs: {}, content: identity },
          { tag: "device", attrs: { jid: `${owner.number}:${number}@s.whatsapp.net`, lid: owner.lid.replace("@", `:${number}@`) } },
          { tag: "platform", attrs: { name: "android" } },
        ],
      },
    ],
  });
}

/** The phone scans the picture: its text names the keys of the applicant and the secret that they share. */
export function scan(world: World, owner: Person, applicants: readonly Applicant[], text: string, signer?: FakeDevice): void {
  const [ref, noiseKey, identity, secret] = text.slice(text.indexOf("#") + 1).split(",");
  const applicant = applicants.find(({ refs }) => refs.includes(ref ?? ""));
  if (!applicant) throw new Error("this code is not valid any more");
  if (!Buffer.from(noiseKey!, "base64").equals(applicant.noiseKey)) throw new Error("the code names another key than the connection has");
  if (!Buffer.from(identity!, "base64").equals(Buffer.from(applicant.data.eIdent!))) throw new Error("the code names another identity");
  accept(world, owner, applicant, Buffer.from(secret!, "base64"), signer);
}

const CODE_ROUNDS = 2 << 16;
const codeKey = (code: string, salt: Buffer): Buffer => pbkdf2Sync(code, salt, CODE_ROUNDS, 32, "sha256");
const hkdf = (secret: Uint8Array, salt: Uint8Array, info: string): Buffer => Buffer.from(hkdfSync("sha256", secret, salt, info, 32));

/** The eight characters are typed on the phone. A wrong code shows when the keys do not fit. */
export function enterCode(world: World, owner: Person, applicants: readonly Applicant[], code: string): void {
  const applicant = applicants.find(({ hello }) => hello !== undefined);
  const reg = applicant?.hello && getBinaryNodeChild(applicant.hello, "link_code_companion_reg");
  if (!applicant || !reg) throw new Error("no device asked for a code");
  if (reg.attrs["jid"] !== owner.pn) throw new Error(`the code is for ${reg.attrs["jid"]}`);
  const wrapped = getBinaryNodeChild(reg, "link_code_pairing_wrapped_companion_ephemeral_pub")!.content as Buffer;
  const [salt, iv, sealed] = [wrapped.subarray(0, 32), wrapped.subarray(32, 48), wrapped.subarray(48)];
  const companion = createDecipheriv("aes-256-ctr", codeKey(code, salt), iv).update(sealed);
  const ephemeral = Curve.generateKeyPair();
  const [mySalt, myIv] = [randomBytes(32), randomBytes(16)];
  const mine = createCipheriv("aes-256-ctr", codeKey(code, mySalt), myIv).update(ephemeral.public);
  const { signedIdentityKey } = owner.phone.creds;
  const shared = Curve.sharedKey(ephemeral.private, companion);
  applicant.finish = (bundle) => {
    const opened = createDecipheriv(
      "aes-256-gcm",
      hkdf(shared, bundle.subarray(0, 32), "link_code_pairing_key_bundle_encryption_key"),
      bundle.subarray(32, 44),
    );
    opened.setAuthTag(bundle.subarray(-16));
    const plain = Buffer.concat([opened.update(bundle.subarray(44, -16)), opened.final()]);
    const identity = plain.subarray(0, 32);
    const identityShared = Curve.sharedKey(signedIdentityKey.private, identity);
    accept(world, owner, applicant, hkdf(Buffer.concat([shared, identityShared, plain.subarray(64)]), Buffer.alloc(0), "adv_secret"));
  };
  const child = (tag: string, content: Uint8Array): BinaryNode => ({ tag, attrs: {}, content });
  applicant.connection.send({
    tag: "notification",
    attrs: { from: "s.whatsapp.net", type: "link_code_companion_reg", id: "code-1", t: String(Math.floor(Date.now() / 1000)) },
    content: [
      {
        tag: "link_code_companion_reg",
        attrs: { stage: "primary_hello" },
        content: [
          child("link_code_pairing_wrapped_primary_ephemeral_pub", Buffer.concat([mySalt, myIv, mine])),
          child("primary_identity_pub", signedIdentityKey.public),
          child("link_code_pairing_ref", Buffer.from(applicant.refs[0]!)),
        ],
      },
    ],
  });
}
