/**
 * What people see of a message whose text was made for the model: without data about the chat, the envelope, and the content of files and links.
 * A file leaves its name behind, so that nothing disappears without a trace.
 */

const DATA_BLOCKS = /^(?:[^\n]{1,80} \(untrusted, for context only\):\n```json\n[\s\S]*?\n```\s*)+/;
const SEVERAL = /^\[\d{1,4} messages that came while you were busy\]\n\n/;
const TIMED = "\\[[^\\]\\n]{0,200}\\d{4}-\\d{2}-\\d{2}[T ]\\d{2}:\\d{2}[^\\]\\n]{0,80}\\] ?";
/** `[Sun 2026-01-05 16:26 UTC] ` or a channel's envelope with a time in it. */
const ENVELOPE = new RegExp(`^${TIMED}`);
const NEXT_ENVELOPE = new RegExp(`(?<=\\n\\n)${TIMED}`, "g");
const PLACEHOLDER = /^<media:\w{1,20}>\s*/;
const FOR_FILES = /\[media attached: |<file name="|<<<EXTERNAL_UNTRUSTED_CONTENT |\[Audio|^<media:/;
const FILE_TEXT = /(?:^|\n\n)<file name="([^"\n]{0,200})" mime="[^"\n]{0,200}">\nSECURITY NOTICE: /g;
const DESCRIBED =
  /\n\n\[(?:Image|Video|Link)[^\]\n]{0,40}\][^\n]{0,4096}\n(?:Description:\n|SECURITY NOTICE: (?:[^\n]{0,400}\n){1,8}?)<<<EXTERNAL_UNTRUSTED_CONTENT id="([0-9a-f]{1,40})">>>\n/g;
const STORED = /(?:\n\n|^)\[media attached: ([^\n]{1,4096}) \(([\w.+-]{1,80}\/[\w.+-]{1,80})\)\](?=\n\n|$)/g;
const STORED_NAME = /---[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?=\.[^.]*$|$)/i;
const AUDIO = /(?:^|\n\n)\[Audio(?: \d{1,3}\/\d{1,3})?\]\n(?:User text:\n)?(?:Transcript:\n)?/g;
/** Any of the patterns above, wherever it begins. */
const LOOKS_MADE = new RegExp(
  [
    `(?:^|\\n\\n)${TIMED}`,
    "(?:^|\\n)[^\\n]{1,80} \\(untrusted, for context only\\):\\n",
    "(?:^|\\n)\\[\\d{1,4} messages that came while you were busy\\]\\n",
    FOR_FILES.source,
  ].join("|"),
);
const BEFORE_TRANSCRIPT = /\nTranscript:\n/g;

/** What a stored file was called. */
export const storedName = (path: string): string => path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1).replace(STORED_NAME, "");

/** Replaces what begins like this, up to and with its end. What has no end stays. */
function replaceBlocks(text: string, opening: RegExp, endOf: (found: string) => string, replacement: (found: string) => string): string {
  const parts: string[] = [];
  let from = 0;
  for (const match of text.matchAll(opening)) {
    if (match.index < from) continue;
    const [whole, found = ""] = match;
    const closing = endOf(found);
    const end = text.indexOf(closing, match.index + whole.length);
    if (end < 0) continue;
    parts.push(text.slice(from, match.index), replacement(found));
    from = end + closing.length;
  }
  return parts.length === 0 ? text : parts.join("") + text.slice(from);
}

/** Without the content of files and links. A file that is not stored leaves its name behind. */
function withoutContent(text: string): string {
  const isStored = text.includes("[media attached: ");
  const closing = (id: string): string => `\n<<<END_EXTERNAL_UNTRUSTED_CONTENT id="${id}">>>`;
  const read = replaceBlocks(
    text,
    FILE_TEXT,
    () => "\n</file>",
    (name) => (isStored ? "" : `\n📎 ${name}`),
  );
  return replaceBlocks(read, DESCRIBED, closing, () => "");
}

function withoutFiles(text: string): string {
  const words = withoutContent(text).replaceAll(STORED, (_, path: string) => `\n📎 ${storedName(path)}`);
  const heard = words.replaceAll(AUDIO, "\n\n");
  return heard === words ? words : heard.replaceAll(BEFORE_TRANSCRIPT, "\n\n");
}

/** A user's text without what was put around it for the model. */
export function withoutEnvelope(text: string): string {
  const chat = text.replace(DATA_BLOCKS, "");
  const first = chat.replace(SEVERAL, "").replace(ENVELOPE, "");
  const words = SEVERAL.test(chat) ? first.replaceAll(NEXT_ENVELOPE, "") : first;
  return FOR_FILES.test(words) ? withoutFiles(words.replace(PLACEHOLDER, "")).trim() : words;
}

/** A file that came with a message and is stored. */
export interface StoredFile {
  readonly path: string;
  readonly name: string;
  readonly mimeType: string;
}

/** The stored files that a user's text names, in order. What the content of a file says about other files does not count. */
export function storedFiles(text: string): readonly StoredFile[] {
  if (!text.includes("[media attached: ")) return [];
  return Array.from(withoutContent(text).matchAll(STORED), ([, path = "", mimeType = ""]) => ({ path, name: storedName(path), mimeType }));
}

/**
 * Whether a person wrote something that looks as if it had been put around their text for the model. Such a message is shown whole: nobody can write
 * what the model reads and people do not see.
 */
export const looksMade = (own: string): boolean => LOOKS_MADE.test(own);
