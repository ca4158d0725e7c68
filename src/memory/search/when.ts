/**
 * Times in a question, as spans: "last spring", "in March", "drei Wochen her", "hace dos días". Libraries for dates in text give points in time and look
 * ahead; a memory needs spans and looks back.
 */
import { folded } from "../text/analyser.ts";

/** From and to, in seconds since the epoch. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

const DAY = 86_400;

const MONTHS: readonly (readonly string[])[] = [
  "january jan januar janner enero janvier gennaio janeiro januari",
  "february feb februar febrero fevrier febbraio fevereiro februari",
  "march mar marz maerz marzo mars marco maart",
  "april apr abril avril aprile",
  "may mai mayo maggio maio mei",
  "june jun juni junio juin giugno junho",
  "july jul juli julio juillet luglio julho",
  "august aug agosto aout augustus",
  "september sept sep septiembre septembre settembre setembro",
  "october oct oktober okt octubre octobre ottobre outubro",
  "november nov noviembre novembre novembro",
  "december dec dezember dez diciembre decembre dicembre dezembro",
].map((text) => text.split(" "));

const WEEKDAYS: readonly (readonly string[])[] = [
  "sunday sonntag domingo dimanche domenica zondag",
  "monday montag lunes lundi lunedi segunda maandag",
  "tuesday dienstag martes mardi martedi terca dinsdag",
  "wednesday mittwoch miercoles mercredi mercoledi quarta woensdag",
  "thursday donnerstag jueves jeudi giovedi quinta donderdag",
  "friday freitag viernes vendredi venerdi sexta vrijdag",
  "saturday samstag sonnabend sabado samedi sabato zaterdag",
].map((text) => text.split(" "));

/** First month of each season on the northern half of the earth. */
const SEASONS: readonly (readonly [string, number])[] = [
  ["spring fruhling fruhjahr primavera printemps lente voorjaar", 2],
  ["summer sommer verano ete estate verao zomer", 5],
  ["autumn fall herbst otono automne autunno outono herfst", 8],
  ["winter invierno hiver inverno", 11],
];

const UNITS: readonly (readonly [string, number])[] = [
  ["day days tag tage tagen dia dias jour jours giorno giorni dag dagen 天 日", 1],
  ["week weeks woche wochen semana semanas semaine semaines settimana settimane weken 周 星期 週間", 7],
  ["month months monat monate monaten mes meses mois mese mesi maand maanden 个月 ヶ月", 30.4],
  ["year years jahr jahre jahren ano anos an ans annee annees anno anni jaar 年", 365.25],
];

const NUMBERS = new Map<string, number>(
  [
    "one a an ein eine einem einer un una une um uma een 一",
    "two couple zwei dos deux due dois duas twee 两 二",
    "three few drei tres trois tre drie 三 paar ein-paar",
    "four vier cuatro quatre quattro quatro 四",
    "five funf cinco cinq cinque vijf 五",
    "six sechs seis sei zes 六",
    "seven sieben siete sept sette sete zeven",
    "eight acht ocho huit otto oito",
    "nine neun nueve neuf nove negen",
    "ten zehn diez dix dieci dez tien 十",
  ].flatMap((text, index) => text.split(" ").map((word) => [word, index + 1] as const)),
);

const AGO = /\b(?:ago|back|her|zuvor|fa|geleden|atras)\b|前/;
const BEFORE_NUMBER = /\b(?:vor|hace|il y a|ha)\s+$/;
const LAST =
  /\b(?:last|past|previous|letzte[nrsm]?|vorige[nrsm]?|vergangene[nrsm]?|pasad[oa]|ultim[oa]s?|dernier(?:e|s|es)?|passe|scors[oa]|passad[oa]|vorige|afgelopen)\b|上/;
const THIS = /\b(?:this|diese[nrsm]?|est[ea]|cette|cet|ce|quest[oa]|deze|dit)\b|这|今/;

const dayStart = (at: number, zoneSeconds: number): number => Math.floor((at + zoneSeconds) / DAY) * DAY - zoneSeconds;

function monthSpan(year: number, month: number, months: number, zoneSeconds: number): Span {
  return { from: Date.UTC(year, month, 1) / 1000 - zoneSeconds, to: Date.UTC(year, month + months, 1) / 1000 - zoneSeconds };
}

const pattern = (words: readonly string[]): RegExp => new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join("|")})(?![\\p{L}\\p{N}])`, "u");

const MONTH_PATTERNS = MONTHS.map(pattern);
const WEEKDAY_PATTERNS = WEEKDAYS.map(pattern);
const SEASON_PATTERNS = SEASONS.map(([words, month]) => [pattern(words.split(" ")), month] as const);
const UNIT_PATTERN = UNITS.map(([words, days]) => [words.split(" "), days] as const);
/** `may` and `mar` are words of their own: they count as months only after these. */
const DOUBTFUL_MONTH =
  /\b(?:in|since|until|early|late|mid|last|im|en|in|de|em)\s+(?:may|mar)\b|\b(?:may|mar)\s+\d{1,4}\b|\b\d{1,2}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:may|mar)\b/;

interface Now {
  readonly at: number;
  readonly zoneSeconds: number;
  readonly year: number;
  readonly month: number;
}

function explicitDay(text: string, now: Now): Span | undefined {
  const iso = /\b(\d{4})-(\d{1,2})-(\d{1,2})\b/.exec(text);
  const european = /\b(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{2,4})?/.exec(text);
  const [year, month, day] = iso ? iso.slice(1).map(Number) : european ? [Number(european[3] ?? now.year), Number(european[2]), Number(european[1])] : [];
  if (year === undefined || month === undefined || day === undefined || month < 1 || month > 12 || day < 1 || day > 31) return undefined;
  const from = Date.UTC(year < 100 ? year + 2000 : year, month - 1, day) / 1000 - now.zoneSeconds;
  return { from, to: from + DAY };
}

function namedMonth(text: string, now: Now): Span | undefined {
  const month = MONTH_PATTERNS.findIndex((words) => words.test(text));
  if (month < 0) return undefined;
  if (/\b(?:may|mar)\b/.test(text) && (month === 4 || month === 2) && !DOUBTFUL_MONTH.test(text) && !/\b(?:mai|mayo|march|marz|marzo|mars|maio)\b/.test(text))
    return undefined;
  const written = /\b(19\d\d|20\d\d)\b/.exec(text)?.[1];
  const year = written === undefined ? (month > now.month ? now.year - 1 : now.year) : Number(written);
  const words = MONTHS[month]?.join("|");
  const day = new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th|\\.)?\\s+(?:of\\s+|de\\s+)?(?:${words})\\b|\\b(?:${words})\\s+(\\d{1,2})(?:st|nd|rd|th)?\\b(?!\\d)`).exec(
    text,
  );
  const number = Number(day?.[1] ?? day?.[2] ?? 0);
  if (number < 1 || number > 31) return monthSpan(year, month, 1, now.zoneSeconds);
  const from = Date.UTC(year, month, number) / 1000 - now.zoneSeconds;
  return { from, to: from + DAY };
}

function season(text: string, now: Now): Span | undefined {
  for (const [words, first] of SEASON_PATTERNS) {
    if (!words.test(text)) continue;
    const written = /\b(19\d\d|20\d\d)\b/.exec(text)?.[1];
    if (written !== undefined) return monthSpan(Number(written), first, 3, now.zoneSeconds);
    if (!LAST.test(text) && !THIS.test(text) && !/\b(?:in|im|over|during|en|au|in der|nel|no)\b/.test(text)) return undefined;
    // The one that ended last, or that is now.
    const span = monthSpan(now.year, first, 3, now.zoneSeconds);
    return span.from > now.at || (LAST.test(text) && span.to > now.at) ? monthSpan(now.year - 1, first, 3, now.zoneSeconds) : span;
  }
  return undefined;
}

function ago(text: string, now: Now): Span | undefined {
  for (const [words, days] of UNIT_PATTERN) {
    for (const found of text.matchAll(new RegExp(`([\\p{L}\\p{N}]+)\\s*(?:of\\s+)?(?<![\\p{L}])(?:${words.join("|")})(?![\\p{L}])`, "gu"))) {
      const written = found[1] ?? "";
      const count = /^\d{1,3}$/.test(written) ? Number(written) : NUMBERS.get(written);
      const isAgo = AGO.test(text.slice(found.index + found[0].length).slice(0, 12)) || BEFORE_NUMBER.test(text.slice(0, found.index));
      if (count === undefined || !isAgo) continue;
      const middle = now.at - count * days * DAY;
      const slack = Math.max(days * 0.6, count * days * 0.2, 1) * DAY;
      return { from: middle - slack, to: middle + slack };
    }
  }
  return undefined;
}

function relative(text: string, now: Now): Span | undefined {
  const today = dayStart(now.at, now.zoneSeconds);
  if (/\b(?:day before yesterday|vorgestern|anteayer|avant-hier|l'altro ieri|anteontem|eergisteren)\b|前天/.test(text))
    return { from: today - 2 * DAY, to: today - DAY };
  if (/\b(?:yesterday|last night|gestern|ayer|anoche|hier|ieri|ontem|gisteren)\b|昨天|昨日/.test(text)) return { from: today - DAY, to: today };
  if (/\b(?:today|this morning|tonight|heute|hoy|aujourd'hui|oggi|hoje|vandaag)\b|今天|今日/.test(text)) return { from: today, to: today + DAY };
  const weekday = new Date((now.at + now.zoneSeconds) * 1000).getUTCDay();
  if (LAST.test(text) && /\b(?:weekend|wochenende|fin de semana|week-end)\b/.test(text)) {
    const saturday = today - ((weekday + 1) % 7 || 7) * DAY;
    return { from: saturday, to: saturday + 2 * DAY };
  }
  for (const [index, words] of WEEKDAY_PATTERNS.entries()) {
    if (!words.test(text)) continue;
    const back = (weekday - index + 7) % 7 || 7;
    return { from: today - back * DAY, to: today - (back - 1) * DAY };
  }
  return undefined;
}

function lastUnit(text: string, now: Now): Span | undefined {
  const [isLast, isThis] = [LAST.test(text), THIS.test(text)];
  if (!isLast && !isThis) return undefined;
  const near = (words: string): boolean => {
    const found = pattern(words.split(" ")).exec(text);
    if (!found) return false;
    const around = text.slice(Math.max(0, found.index - 14), found.index + found[0].length + 12);
    return LAST.test(around) || THIS.test(around);
  };
  if (near("week woche semana semaine settimana 周 星期")) {
    const weekday = new Date((now.at + now.zoneSeconds) * 1000).getUTCDay();
    const monday = dayStart(now.at, now.zoneSeconds) - ((weekday + 6) % 7) * DAY;
    return isLast ? { from: monday - 7 * DAY, to: monday } : { from: monday, to: monday + 7 * DAY };
  }
  if (near("month monat mes mois mese maand 个月")) return monthSpan(now.year, now.month - (isLast ? 1 : 0), 1, now.zoneSeconds);
  if (near("year jahr ano annee anno jaar 年")) return monthSpan(now.year - (isLast ? 1 : 0), 0, 12, now.zoneSeconds);
  return undefined;
}

/** The span of time that a question asks about; undefined when it names none. `now` in seconds; the zone as seconds east of UTC. */
export function spanIn(question: string, at: number, zoneSeconds = 0): Span | undefined {
  const text = folded(question);
  const date = new Date((at + zoneSeconds) * 1000);
  const now: Now = { at, zoneSeconds, year: date.getUTCFullYear(), month: date.getUTCMonth() };
  const year = /\b(?:in|im|en|back in|de|nel|em)\s+(20\d\d)\b/.exec(text)?.[1];
  return (
    explicitDay(text, now) ??
    namedMonth(text, now) ??
    season(text, now) ??
    ago(text, now) ??
    relative(text, now) ??
    lastUnit(text, now) ??
    (year === undefined ? undefined : monthSpan(Number(year), 0, 12, zoneSeconds))
  );
}

/** "the week before my birthday": what happened then is found first, and its time gives the span. */
export interface Anchor {
  readonly event: string;
  readonly before: boolean;
  readonly days: number;
}

const ANCHOR =
  /(?:(day|days|week|weeks|month|months|tag|woche|wochen|monat|dia|semana|mes|jour|semaine|mois)\s+)?\b(before|after|vor|nach|antes de|despues de|avant|apres)\b\s+(.{3,60}?)[?.!,]*$/;

export function anchorIn(question: string): Anchor | undefined {
  const found = ANCHOR.exec(folded(question));
  if (!found?.[2] || !found[3] || /^\d|^(?:ein|zwei|drei|vier)\b/.test(found[3])) return undefined;
  const unit = found[1] ?? "week";
  const days = /^(?:month|monat|mes|mois)/.test(unit) ? 31 : /^(?:day|tag|dia|jour)/.test(unit) ? 2 : 8;
  return { event: found[3], before: /before|vor|antes|avant/.test(found[2]), days };
}

const DATE_IN_TEXT = new RegExp(
  `\\b\\d{1,2}[:.h]\\d{2}\\b|\\b\\d{1,2}(?:st|nd|rd|th)\\b|\\b\\d{4}-\\d{2}|\\b\\d{1,2}[./]\\d{1,2}\\b|\\b(?:${[...MONTHS.flat(), ...WEEKDAYS.flat()]
    .filter((word) => word.length > 3)
    .join("|")})\\b|\\b(?:19|20)\\d\\d\\b|tomorrow|yesterday|tonight|morgen|manana|demain|\\b\\d{1,2}\\s?(?:am|pm|uhr)\\b|[月日点時]`,
);

/** Whether a text (in lower case, without diacritics) names a day or a time. */
export const namesTime = (text: string): boolean => DATE_IN_TEXT.test(text);
