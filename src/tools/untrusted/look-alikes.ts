/** Letters of other scripts that look like those of a marker's name. */
const LETTERS: Readonly<Record<string, string>> = {
  А: "A",
  В: "B",
  С: "C",
  Е: "E",
  І: "I",
  К: "K",
  М: "M",
  О: "O",
  Р: "P",
  Ѕ: "S",
  Т: "T",
  Х: "X",
  У: "Y",
  а: "a",
  с: "c",
  ԁ: "d",
  е: "e",
  о: "o",
  ѕ: "s",
  т: "t",
  х: "x",
  Α: "A",
  Ε: "E",
  Ν: "N",
  Ο: "O",
  Ρ: "P",
  Τ: "T",
  Χ: "X",
  Ʀ: "R",
  ᴀ: "a",
  ᴄ: "c",
  ᴅ: "d",
  ᴇ: "e",
  ʟ: "l",
  ɴ: "n",
  ᴏ: "o",
  ʀ: "r",
  ᴛ: "t",
  ᴜ: "u",
};
const OPENING = "‹〈⟨❬❮❰≺˂ᐸ⧼⦑𝈷";
const CLOSING = "›〉⟩❭❯❱≻˃ᐳ⧽⦒";
const DOUBLE_OPENING = "«《⟪≪";
const DOUBLE_CLOSING = "»》⟫≫";
/** Characters without a width, and marks that sit on others. */
const INVISIBLE = /^[\p{Cf}\p{Mn}\p{Me}\u115F\u1160\u3164\uFFA0]$/u;

function plain(char: string): string {
  if (char < "\u0080") return char;
  if (INVISIBLE.test(char)) return "";
  const known = LETTERS[char];
  if (known !== undefined) return known;
  if (OPENING.includes(char)) return "<";
  if (CLOSING.includes(char)) return ">";
  if (DOUBLE_OPENING.includes(char)) return "<<";
  if (DOUBLE_CLOSING.includes(char)) return ">>";
  const folded = char.normalize("NFKC");
  return folded === char ? char : Array.from(folded, (part) => (part === char ? part : plain(part))).join("");
}

/** A text as an eye reads it, and for each of its characters where in the original it stands. */
export interface Folded {
  readonly text: string;
  /** Where the character at an index begins; one more than there are characters, the last being the end. */
  readonly starts: readonly number[];
}

/** Takes look-alikes for what they look like and leaves out what cannot be seen. */
export function foldLookAlikes(text: string): Folded {
  const parts: string[] = [];
  const starts: number[] = [];
  let at = 0;
  for (const char of text) {
    const folded = plain(char);
    for (let index = 0; index < folded.length; index += 1) starts.push(at);
    parts.push(folded);
    at += char.length;
  }
  starts.push(at);
  return { text: parts.join(""), starts };
}
