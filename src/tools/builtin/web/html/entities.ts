/** The names that pages use; the others stay as they are written. */
const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00A0",
  ensp: " ",
  emsp: " ",
  thinsp: " ",
  shy: "",
  zwnj: "\u200C",
  zwj: "\u200D",
  ...pairs("iexcl ¡ cent ¢ pound £ curren ¤ yen ¥ brvbar ¦ sect § uml ¨ copy © ordf ª laquo « not ¬ reg ® macr ¯ deg ° plusmn ± sup2 ² sup3 ³ acute ´ micro µ"),
  ...pairs("para ¶ middot · cedil ¸ sup1 ¹ ordm º raquo » frac14 ¼ frac12 ½ frac34 ¾ iquest ¿ times × divide ÷ szlig ß fnof ƒ circ ˆ tilde ˜"),
  ...pairs("Agrave À Aacute Á Acirc Â Atilde Ã Auml Ä Aring Å AElig Æ Ccedil Ç Egrave È Eacute É Ecirc Ê Euml Ë Igrave Ì Iacute Í Icirc Î Iuml Ï"),
  ...pairs("ETH Ð Ntilde Ñ Ograve Ò Oacute Ó Ocirc Ô Otilde Õ Ouml Ö Oslash Ø Ugrave Ù Uacute Ú Ucirc Û Uuml Ü Yacute Ý THORN Þ OElig Œ Scaron Š"),
  ...pairs("agrave à aacute á acirc â atilde ã auml ä aring å aelig æ ccedil ç egrave è eacute é ecirc ê euml ë igrave ì iacute í icirc î iuml ï"),
  ...pairs("eth ð ntilde ñ ograve ò oacute ó ocirc ô otilde õ ouml ö oslash ø ugrave ù uacute ú ucirc û uuml ü yacute ý thorn þ yuml ÿ oelig œ scaron š"),
  ...pairs("ndash – mdash — lsquo ‘ rsquo ’ sbquo ‚ ldquo “ rdquo ” bdquo „ dagger † Dagger ‡ bull • hellip … permil ‰ prime ′ Prime ″ lsaquo ‹ rsaquo ›"),
  ...pairs("euro € trade ™ larr ← uarr ↑ rarr → darr ↓ harr ↔ rArr ⇒ hArr ⇔ forall ∀ part ∂ exist ∃ empty ∅ isin ∈ prod ∏ sum ∑ minus − radic √ infin ∞"),
  ...pairs("cap ∩ cup ∪ int ∫ asymp ≈ ne ≠ equiv ≡ le ≤ ge ≥ sub ⊂ sup ⊃ alpha α beta β gamma γ delta δ epsilon ε lambda λ mu μ pi π sigma σ tau τ phi φ"),
  ...pairs("omega ω theta θ Delta Δ Sigma Σ Omega Ω check ✓ star ☆ starf ★ hearts ♥ lbrack [ rbrack ] lbrace { rbrace } lpar ( rpar ) colon : comma ,"),
};

function pairs(text: string): Record<string, string> {
  const words = text.split(" ");
  return Object.fromEntries(words.flatMap((word, index) => (index % 2 === 0 ? [[word, words[index + 1] ?? ""]] : [])));
}

/** What the numbers 128 to 159 mean on the web. */
const WINDOWS_1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008DŽ\u008F\u0090‘’“”•–—˜™š›œ\u009DžŸ";

function numbered(value: number): string {
  if (value >= 0x80 && value <= 0x9f) return WINDOWS_1252[value - 0x80]!;
  const valid = value > 0 && value <= 0x10_ff_ff && !(value >= 0xd8_00 && value <= 0xdf_ff);
  return valid ? String.fromCodePoint(value) : "\uFFFD";
}

/** Characters that nobody sees and that can hide text or turn it around. Joiners stay: emoji and scripts need them. */
const UNSEEN = /(?![\t\n\r\f\u200C\u200D])[\p{Cc}\p{Cf}]/gu;

/** The characters that a text of a page stands for, without those that cannot be seen. */
export function decodeText(raw: string): string {
  const text = raw.includes("&")
    ? raw.replaceAll(/&(?:#[xX]([0-9a-fA-F]{1,8})|#(\d{1,8})|([a-zA-Z][a-zA-Z0-9]{1,8}));?/g, (whole, hex?: string, decimal?: string, name?: string) => {
        if (hex !== undefined) return numbered(Number.parseInt(hex, 16));
        if (decimal !== undefined) return numbered(Number(decimal));
        return Object.hasOwn(NAMED, name!) ? NAMED[name!]! : whole;
      })
    : raw;
  return text.replaceAll(UNSEEN, "");
}
