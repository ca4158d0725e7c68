import { t } from "../../words/words.ts";

/** A piece of a command as it is shown. */
export interface CommandPiece {
  readonly text: string;
  readonly kind: "program" | "danger" | "plain";
}

/** Words that destroy, overwrite, or give away power, wherever they stand. */
const DANGER =
  /(?<=^|[\s;&|(])(?:--(?:force|hard|prune|delete|remove|purge|no-preserve-root|force-with-lease|recursive|yes|all|privileged|no-verify|overwrite)(?:=\S*)?|-[a-zA-Z]*[rR]f[a-zA-Z]*|-[a-zA-Z]*f[rR][a-zA-Z]*|-rf?|-f|-delete|sudo|doas|rm|rmdir|shred|mkfs(?:\.\w+)?|dd|truncate|chmod|chown|kill|killall|pkill|shutdown|reboot|eval|DROP|TRUNCATE)(?=$|[\s;&|)])|>{1,2}(?!&)|\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b/g;
const PROGRAM = /^\s*(?:[A-Za-z_]\w*=\S*\s+)*[^\s;&|]+/;

/** A command in pieces: what runs, what is dangerous about it, and the rest. */
export function commandPieces(command: string): readonly CommandPiece[] {
  const pieces: CommandPiece[] = [];
  const program = PROGRAM.exec(command)?.[0].length ?? 0;
  const add = (text: string, from: number): void => {
    if (text === "") return;
    const split = Math.max(0, Math.min(text.length, program - from));
    if (split > 0) pieces.push({ text: text.slice(0, split), kind: "program" });
    if (split < text.length) pieces.push({ text: text.slice(split), kind: "plain" });
  };
  let at = 0;
  for (const { index, 0: found } of command.matchAll(DANGER)) {
    add(command.slice(at, index), at);
    pieces.push({ text: found, kind: "danger" });
    at = index + found.length;
  }
  add(command.slice(at), at);
  return pieces;
}

const CONSEQUENCES: readonly (readonly [pattern: RegExp, text: string])[] = [
  [/(?:^|[\s;&|(])(?:rm|rmdir|shred|mkfs\S*)\s|\s-delete\b|--(?:delete|prune|purge)\b|\bDROP\s|\bTRUNCATE\s/, t("Deletes data.")],
  [/(?:^|[\s;&|(])(?:shutdown|reboot|halt|poweroff)\b/, t("Stops the machine.")],
  [/\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|(?:^|[\s;&|(])eval\s/, t("Runs code from somewhere else.")],
  [/(?:^|[\s;&|(])(?:sudo|doas|su)\s/, t("Runs with full privileges.")],
  [/git\s+(?:\S+\s+)*push\b|(?:^|[\s;&|(])(?:scp|rsync|curl|wget|ssh|nc)\s/, t("Uses the network.")],
  [/(?:^|[\s;&|(])(?:kill|killall|pkill)\s/, t("Ends programs.")],
  [/(?:^|[\s;&|(])(?:dd|truncate)\s|(?<![0-9>&])>(?![>&])/, t("Overwrites files.")],
  [/(?:^|[\s;&|(])(?:chmod|chown)\s/, t("Changes who may use files.")],
  [/(?:^|[\s;&|(])(?:apt|apt-get|dnf|npm|pip|pip3|brew|cargo)\s+(?:\S+\s+)*(?:install|add|remove|upgrade)\b/, t("Changes installed software.")],
];

/** What allowing a command may lead to, as far as its words tell. */
export function consequenceOf(command: string): string | undefined {
  return CONSEQUENCES.find(([pattern]) => pattern.test(command))?.[1];
}
