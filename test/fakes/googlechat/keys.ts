/** Keys and certificates of a fake Google, made without programs of the machine. */
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/** A value of ASN.1 in DER. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const bytes: number[] = [];
  for (let left = body.length; left > 0; left = Math.floor(left / 256)) bytes.unshift(left % 256);
  const length = body.length < 128 ? [body.length] : [0x80 + bytes.length, ...bytes];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const SHA256_RSA = sequence(Buffer.from("06092a864886f70d01010b0500", "hex"));
const COMMON_NAME = Buffer.from("0603550403", "hex");
const nameOf = (text: string): Buffer => sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(text)))));
const timeOf = (ms: number): Buffer => der(0x18, Buffer.from(`${new Date(ms).toISOString().replaceAll(/[-:T]/g, "").slice(0, 14)}Z`));

export interface Validity {
  readonly from: number;
  readonly until: number;
}

/** A certificate that the key signs for itself. */
export function certificateOf(key: KeyObject, name: string, { from, until }: Validity): string {
  const spki = createPublicKey(key).export({ type: "spki", format: "der" });
  const version = der(0xa0, der(0x02, Buffer.from([2])));
  const facts = sequence(version, der(0x02, Buffer.from([1])), SHA256_RSA, nameOf(name), sequence(timeOf(from), timeOf(until)), nameOf(name), spki);
  const whole = sequence(facts, SHA256_RSA, der(0x03, Buffer.from([0]), sign("RSA-SHA256", facts, key)));
  const lines = whole.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

export interface SigningKey {
  readonly id: string;
  readonly key: KeyObject;
  readonly publicPem: string;
}

/** Making a key takes a while, and what is tested does not depend on which: tests share a few. */
const made: KeyObject[] = [];

export function signingKey(id: string, index: number): SigningKey {
  const key = (made[index] ??= generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey);
  return { id, key, publicPem: createPublicKey(key).export({ type: "spki", format: "pem" }) };
}

export const webKeyOf = ({ id, key }: SigningKey): object => ({ ...createPublicKey(key).export({ format: "jwk" }), kid: id, use: "sig", alg: "RS256" });

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");

/** A token; `header` may say anything. */
export function jwtOf(claims: object, { id, key }: SigningKey, header: object = {}): string {
  const input = `${encoded({ alg: "RS256", typ: "JWT", kid: id, ...header })}.${encoded(claims)}`;
  return `${input}.${sign("RSA-SHA256", Buffer.from(input), key).toString("base64url")}`;
}
