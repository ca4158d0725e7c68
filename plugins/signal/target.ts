/** Addresses on Signal: phone numbers, uuids, groups and usernames. */
import { unfit } from "openclaw/plugin-sdk/channel-kit";

export interface Target {
  /** `person`: by number or uuid. */
  readonly kind: "person" | "group" | "username";
  readonly id: string;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const NUMBER = /^\+\d{5,15}$/;
const GROUP = /^[A-Za-z0-9+/_-]{16,}={0,2}$/;
const USERNAME = /^[\p{L}\p{N}_]{2,64}\.\d{2,10}$/u;

const withoutPrefix = (text: string): string => text.trim().replace(/^(?:signal:\s*)+/i, "");

/** `+49170…` of a number with blanks and signs in it. */
export function numberIn(text: string): string | undefined {
  const compact = text.replaceAll(/[\s().-]/g, "");
  const number = compact.startsWith("+") ? compact : `+${compact}`;
  return NUMBER.test(number) ? number : undefined;
}

export function uuidIn(text: string): string | undefined {
  const bare = text
    .trim()
    .toLowerCase()
    .replace(/^uuid:/, "");
  return UUID.test(bare) ? bare : undefined;
}

/** How a person is written: `+49170…` or `uuid:<id>`. Undefined: it names none. */
export function personIn(text: string): string | undefined {
  const bare = withoutPrefix(text);
  const uuid = uuidIn(bare);
  return uuid === undefined ? numberIn(bare) : `uuid:${uuid}`;
}

/** The id of a group, in the case that it has. */
export const groupIn = (text: string): string =>
  withoutPrefix(text)
    .replace(/^group:/i, "")
    .trim();

/** An entry of an allow list. What names nobody stays as it is, so that it can be shown. */
export const allowEntry = (entry: string): string => (entry.trim() === "*" ? "*" : (personIn(entry) ?? withoutPrefix(entry).toLowerCase()));

export const isName = (entry: string): boolean => personIn(entry) === undefined;

export function parseTarget(to: string): Target {
  const bare = withoutPrefix(to);
  const [, prefix = "", behind = ""] = /^(group|username|u):(.+)$/is.exec(bare) ?? [];
  if (prefix.toLowerCase() === "group" && GROUP.test(behind.trim())) return { kind: "group", id: behind.trim() };
  if (/^u/i.test(prefix) && USERNAME.test(behind.trim())) return { kind: "username", id: behind.trim().toLowerCase() };
  const uuid = prefix === "" ? uuidIn(bare) : undefined;
  if (uuid !== undefined) return { kind: "person", id: uuid };
  const number = prefix === "" && /^[+\d]/.test(bare) ? numberIn(bare) : undefined;
  if (number !== undefined) return { kind: "person", id: number };
  throw unfit("send", `"${to}" is not a Signal chat; use a number such as +491701234567, uuid:<id>, group:<id> or username:<name.01>`);
}

/** The normal form of a target. */
export function targetText({ kind, id }: Target): string {
  if (kind !== "person") return `${kind}:${id}`;
  return id.startsWith("+") ? id : `uuid:${id}`;
}

/** As signal-cli takes a person: the number or the bare uuid. */
export const bareId = (person: string): string => person.replace(/^uuid:/, "");
