/** Addresses on WhatsApp: phone numbers, hidden ids (LID) and groups. */
import { unfit } from "openclaw/plugin-sdk/channel-kit";

const PERSON = /^(\d{5,20})(?::\d+)?@(?:s\.whatsapp\.net|c\.us|hosted)$/i;
const HIDDEN = /^(\d{5,20})(?::\d+)?@(?:lid|hosted\.lid)$/i;
const GROUP = /^\d+(?:-\d+)*@g\.us$/i;
const NUMBER = /^\+?\d{5,15}$/;

export const isGroup = (address: string): boolean => GROUP.test(address);

/** Where nothing is answered: status updates, broadcast lists, newsletters. */
export const isFeed = (jid: string): boolean => /@(?:broadcast|newsletter|bot)$/i.test(jid);

/** Without the device: `49170…@s.whatsapp.net` or `123…@lid`. */
export const withoutDevice = (jid: string): string => jid.replace(/:\d+(?=@)/, "").toLowerCase();

/** `+49170…` of a phone number's address; undefined for anything else. */
export function numberOf(jid: string | null | undefined): string | undefined {
  const digits = PERSON.exec(jid ?? "")?.[1];
  return digits === undefined ? undefined : `+${digits}`;
}

/** `123…@lid` of a hidden address. */
export function hiddenOf(jid: string | null | undefined): string | undefined {
  const digits = HIDDEN.exec(jid ?? "")?.[1];
  return digits === undefined ? undefined : `${digits}@lid`;
}

/** One spelling for everything that names a person or a group: `+49170…`, `123…@lid`, `120363…@g.us`. Undefined: it names none. */
export function normalAddress(written: string): string | undefined {
  const text = written.trim().replace(/^(?:whatsapp:\s*)+/i, "");
  if (isGroup(text)) return text.toLowerCase();
  const known = numberOf(text) ?? hiddenOf(text);
  if (known !== undefined) return known;
  const compact = text.replaceAll(/[\s().-]/g, "");
  return NUMBER.test(compact) ? `+${compact.replace("+", "")}` : undefined;
}

/** An entry of an allow list. What names nobody stays as it is, so that it can be shown. */
export const allowEntry = (entry: string): string => normalAddress(entry) ?? entry.trim().toLowerCase();

/** Only a name: it admits nobody. */
export const isName = (entry: string): boolean => normalAddress(entry) === undefined;

/** As WhatsApp takes it. */
export function jidOf(target: string): string {
  const address = normalAddress(target);
  if (address === undefined)
    throw unfit("send", `"${target}" is not a WhatsApp address: use a number with its country code such as +491701234567, or a group id that ends in @g.us`);
  return address.includes("@") ? address : `${address.slice(1)}@s.whatsapp.net`;
}
