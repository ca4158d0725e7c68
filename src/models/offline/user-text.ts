/** The user's text, without what channels and the gateway add around it. */
export interface UserText {
  /** The whole text, as received. */
  readonly raw: string;
  /** The user's own text. */
  readonly text: string;
  /** The same without politeness: `please run ls for me` is `run ls`. Empty for texts that are too long for rules. */
  readonly plain: string;
  /** System events that the gateway reports before the message. */
  readonly events: readonly string[];
}

/** Longer texts are not simple requests, and some rules take quadratic time. */
const MAX_RULED_CHARS = 4000;

const UNTRUSTED_BLOCK = /^[A-Z][\w /-]{0,60} \(untrusted[^)\n]{0,60}\):\n```json\n[\s\S]*?\n```\n*/gm;
const EVENT = /^System: (?:\[[^\]\n]{0,80}\] )?(.*)$/gm;
const ENVELOPE = /^\[[^\]\n]{0,160}\d{2}:\d{2}[^\]\n]{0,40}\]\s+/;
const MARKERS = ["[Current message - respond to this]", "[Subagent Task]:"];
/** A scheduled job's own message, in what the gateway writes around it. */
const JOB = /^\[cron:[^\n]{1,300}?\] ([\s\S]*?)(?:\nCurrent time: [^\n]*(?:\n\n[^\n]*NO_REPLY[^\n]*)?)?$/;
const SUBAGENT_SESSION = /\n\n\[Subagent Session\]: [^\n]*$/;

export function readUserText(raw: string): UserText {
  const events = raw.length > 200_000 ? [] : [...raw.matchAll(EVENT)].map(([, text = ""]) => text.trim()).filter((text) => text !== "");
  let text = raw;
  for (const marker of MARKERS) {
    const at = text.lastIndexOf(marker);
    if (at !== -1) text = text.slice(at + marker.length);
  }
  if (text.length <= 200_000) text = text.replaceAll(UNTRUSTED_BLOCK, "").replaceAll(EVENT, "");
  text = text
    .trim()
    .replace(ENVELOPE, "")
    .replace(JOB, "$1")
    .replace(SUBAGENT_SESSION, "")
    .replace(/\n?\[message_id: [^\]\n]*\]$/, "")
    .trim();
  return { raw, text, plain: plainText(text), events };
}

const BEFORE =
  /^(?:please|kindly|hey|hi|hello|ok|okay|now|then|so|and|can you|could you|would you|will you|i want you to|i would like you to|i'd like you to|go ahead and|just)(?:[,:!]\s*|\s+)/i;
const AFTER = /[,\s]+(?:please|for me|thanks|thank you)[.!?\s]*$/i;

export function plainText(text: string): string {
  if (text.length > MAX_RULED_CHARS) return "";
  let plain = text.trim();
  for (let before = ""; before !== plain;) {
    before = plain;
    plain = plain.replace(BEFORE, "").replace(AFTER, "").trim();
  }
  return plain === "" ? text.trim() : plain;
}

/** The text inside quotes, backquotes or a fence that enclose all of it; else the text itself. */
export function unquoted(text: string): string {
  const trimmed = text.trim();
  const fenced = /^```[^\n`]*\n([\s\S]*?)\n?```$/.exec(trimmed)?.[1];
  if (fenced !== undefined) return fenced;
  const mark = trimmed.slice(0, 1);
  const closes = mark === "“" ? "”" : mark;
  const quoted = trimmed.length >= 2 && (mark === '"' || mark === "'" || mark === "`" || mark === "“") && trimmed.endsWith(closes);
  return quoted && !trimmed.slice(1, -1).includes(closes) ? trimmed.slice(1, -1) : trimmed;
}

/** A file name written in a sentence; undefined when it does not look like one. */
export function pathIn(written: string): string | undefined {
  const quoted = unquoted(written);
  if (quoted !== written.trim()) return quoted.trim() === "" ? undefined : quoted;
  const bare = quoted.replace(/[?!,;:]+$|(?<=\w)\.$/, "");
  const looks = /[/\\]/.test(bare) || /[\w)\]]\.\w{1,10}$/.test(bare) || /^\.\w/.test(bare) || /^(?:README|LICENSE|[A-Z]\w*file)$/.test(bare);
  return looks && !/\s/.test(bare) && !/^https?:/i.test(bare) ? bare : undefined;
}
