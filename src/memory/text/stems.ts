/**
 * Light stemmers: they take off the endings of plurals, cases and common verb forms, so that a question finds a message that uses another form.
 * English is Porter's algorithm (`stemmer`); for the others the published small packages are either unkept or bring a compiler's output of several
 * hundred kilobytes each.
 */
import { stemmer } from "stemmer";
import type { Language } from "./languages.ts";

interface Rules {
  /** Longest first. */
  readonly endings: readonly string[];
  /** Letters that stay at least. */
  readonly keeps: number;
}

const byLength = (text: string): readonly string[] =>
  text
    .trim()
    .split(/\s+/)
    .toSorted((a, b) => b.length - a.length);

const RULES: Readonly<Partial<Record<Language, Rules>>> = {
  de: { endings: byLength("ern em en er es e n s st t te ten tet test et est ungen ung keit heit lich isch innen in chen lein"), keeps: 4 },
  es: {
    endings: byLength(`as es os a e o s an en ar er ir ado ada ados adas ido ida idos idas ando iendo aba aban abas ia ian ias aste iste amos emos imos
      aron ieron ara era iera are ere ire mente cion ciones idad idades ito ita itos itas illo illa`),
    keeps: 3,
  },
  fr: {
    endings: byLength(`s e es x aux eux er ez e ee ees ent ons ait ais aient ai as a ions iez erai eras era erons erez eront ant ants ante antes ir is it
      issent issait ement ements ation ations ite ites ique iques euse euses if ive ives`),
    keeps: 3,
  },
  it: {
    endings: byLength(`i e o a are ere ire ato ata ati ate ito ita iti ite uto uta uti ute ando endo avo avi ava avamo avate avano evo eva evano iva ivano
      ai asti amo ato arono ero era erano mente zione zioni ita`),
    keeps: 3,
  },
  pt: {
    endings: byLength(`s as os es a e o am em ar er ir ado ada ados adas ido ida idos idas ando endo indo ava avam ia iam ei ou aste este iste amos emos
      imos aram eram iram mente cao coes dade dades inho inha`),
    keeps: 3,
  },
  nl: { endings: byLength("en e s t n de te den ten er ing ingen heid heden lijk je jes tje tjes"), keeps: 3 },
};

function strip(word: string, { endings, keeps }: Rules): string {
  for (const ending of endings) {
    if (word.length - ending.length >= keeps && word.endsWith(ending)) return word.slice(0, -ending.length);
  }
  return word;
}

/** Doubled consonants at the end differ between forms: `kommen`, `kam`; `running` is Porter's own work. */
const single = (word: string): string => (/([b-df-hj-np-tv-z])\1$/.test(word) ? word.slice(0, -1) : word);

/** The stem of a word in lower case without diacritics. Words with digits, and other scripts, stay as they are. */
export function stemOf(word: string, language: Language): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  if (language === "en") return stemmer(word);
  const rules = RULES[language];
  return rules ? single(strip(word, rules)) : word;
}
