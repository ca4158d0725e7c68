/** Words that stand for saying nothing. */
import { isSilentReply } from "../../../agent/index.ts";

const SILENCE = "NO_REPLY";
const ALIVE = "HEARTBEAT_OK";
/** Markup that may stand around the sign of life; longer runs of it are text. */
const BEFORE = /^(?:[\s*_~`"'#>]|<[^<>]{1,40}>|&nbsp;){0,80}$/;
const AFTER = /^(?:[\s*_~`"'.!]|<[^<>]{1,40}>|&nbsp;){0,80}$/;
const NEAR = 400;

/** Whether the text, of which this much is there, may turn out to mean silence: nothing of it is shown yet. */
export function mayBeSilent(text: string): boolean {
  const begun = text.slice(0, NEAR).trim();
  return [SILENCE, ALIVE].some((word) => word.startsWith(begun)) || isSilentReply(begun);
}

/** The text without a last word that may become the one for silence. */
export function withoutBegunSilence(text: string): string {
  const tail = text.slice(-SILENCE.length - 1);
  for (let length = Math.min(SILENCE.length, tail.length); length > 0; length -= 1) {
    const before = tail[tail.length - length - 1];
    if (tail.endsWith(SILENCE.slice(0, length)) && (before === undefined || /\W/.test(before))) return text.slice(0, text.length - length);
  }
  return text;
}

/** More of them than this at one edge are text. */
const MAX_ROUNDS = 8;

/** An answer without the sign of life at its edges, and the markup around it. In the middle it is a word like any other. */
export function stripAlive(text: string): { readonly text: string; readonly stripped: boolean } {
  let rest = text.trim();
  let stripped = false;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const shorter = withoutFirst(rest) ?? withoutLast(rest);
    if (shorter === undefined) break;
    rest = shorter.trim();
    stripped = true;
  }
  return { text: rest, stripped };
}

function withoutFirst(text: string): string | undefined {
  const first = text.slice(0, NEAR).indexOf(ALIVE);
  if (first < 0 || /[A-Za-z0-9]/.test(text[first + ALIVE.length] ?? "") || !BEFORE.test(text.slice(0, first))) return undefined;
  const rest = text.slice(first + ALIVE.length);
  // What closed the markup around it goes as well.
  return rest.replace(/^(?:[*_~`]{1,3}|<\/[^<>]{1,40}>)/, "").replace(/^[.!:,]{1,3}(?=\s|$)/, "");
}

function withoutLast(text: string): string | undefined {
  const near = text.slice(-NEAR);
  const last = near.lastIndexOf(ALIVE);
  if (last < 0 || /[A-Za-z0-9]/.test(near[last - 1] ?? "") || !AFTER.test(near.slice(last + ALIVE.length))) return undefined;
  const before = near.slice(0, last).trimEnd();
  return text.slice(0, text.length - near.length) + before.replace(/(?:(?<=\s|^)[*_~`]{1,3}|<[^<>/]{1,40}>)$/, "");
}
