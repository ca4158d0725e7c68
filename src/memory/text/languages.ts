/** Languages whose words are reduced to stems. Any other is indexed word by word. */
export const LANGUAGES = ["en", "de", "es", "fr", "it", "pt", "nl", "xx"] as const;
export type Language = (typeof LANGUAGES)[number];

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/**
 * Words that say nothing about a topic, without diacritics. They tell the language of a text, and a question is searched without them.
 * `xx` is for languages without a list.
 */
export const STOP_WORDS: Readonly<Record<Language, ReadonlySet<string>>> = {
  en: words(`a an the and or but if so than then that this these those there here of to in on at by for from with without about into over under after before
    between during up down out off again is am are was were be been being do does did doing done have has had having will would can could should may might
    must shall i me my mine myself we us our ours you your yours he him his she her hers it its they them their theirs who whom whose what which when where
    why how not no nor only own same too very just also any some all both each more most other such as because while until s t d ll m re ve don doesn didn
    isn aren wasn weren won wouldn couldn shouldn hasn haven hadn im ive id ill youre its thats whats lets please tell know remember ever again yet still
    get got gets say said says told tell mention mentioned think did much many one thing things`),
  de: words(`der die das den dem des ein eine einen einem einer eines und oder aber wenn dann als dass ob in im an am auf aus bei mit nach von vom zu zum zur
    uber unter vor hinter zwischen fur gegen ohne um ist bin bist sind war waren wird wurde werden worden sein hat habe hast haben hatte hatten kann konnen
    konnte muss soll sollte will wollte mochte darf ich mich mir mein meine meinen meiner meinem du dich dir dein deine er ihn ihm sie ihr ihre ihren es wir uns
    unser unsere euch euer man sich wer wen wem was welche welcher welches wann wo wohin woher warum wieso weshalb wie nicht kein keine keinen nur auch noch
    schon mal doch ja nein sehr so da dort hier dieser diese dieses jetzt denn also etwas nichts alle viel viele mehr gesagt sagte erzahlt weisst bitte`),
  es: words(`el la los las un una unos unas y o u e pero si que de del a al en con sin por para sobre entre desde hasta es soy eres somos son era eran fue fueron
    ser estar esta estoy estas estan estaba ha he has han habia hay haber tiene tengo tienes tenia puede puedo yo me mi mis mio tu te ti tus usted el ella lo
    le les se nos nuestro nuestra ellos ellas su sus quien quienes cual cuales cuando donde como cuanto cuantos cuantas porque no ni solo tambien ya muy mas
    menos este esta esto estos estas ese esa eso esos esas aquel algo nada todo toda todos todas otro otra dije dijo dijiste dicho recuerdas sabes era`),
  fr: words(`le la les l un une des du de d au aux et ou mais si que qu qui quoi dont en dans sur sous avec sans pour par chez entre vers est suis es sommes etes
    sont etait etaient etais ete etre a ai as avons avez ont avait avais avoir peut peux je j me m moi mon ma mes tu te t toi ton ta tes il elle lui on nous
    notre nos vous votre vos ils elles leur leurs se s ce c cet cette ces quel quelle quels quelles quand ou comment pourquoi combien ne n pas plus moins
    aussi deja tres bien tout toute tous toutes autre y rien quelque dit disais dis rappelles sais fait etait`),
  it: words(`il lo la i gli le un uno una e o ma se che di del della dei delle degli a al alla ai alle da dal dalla in nel nella con su sul sulla per tra fra e
    sono sei siamo siete era erano essere stato stata ha ho hai abbiamo avete hanno aveva avere puo posso io mi me mio mia miei mie tu ti te tuo tua lui lei
    lo gli ci noi nostro voi vi loro suo sua si chi cosa quale quali quando dove come perche quanto quanti non piu anche gia molto questo questa questi
    queste quello quella tutto tutti altro detto ricordi sai`),
  pt: words(`o a os as um uma uns umas e ou mas se que de do da dos das a ao aos em no na nos nas com sem por pelo pela para sobre entre desde ate e sou es
    somos sao era eram foi foram ser estar esta estou estava tem tenho tinha ter ha pode posso eu me mim meu minha meus minhas tu te teu tua voce ele ela lhe
    nos nosso nossa eles elas seu sua seus suas quem qual quais quando onde como quanto quantos porque nao nem so tambem ja muito mais menos este esta isto
    esse essa isso aquele tudo todo todos outro disse falei falou lembra sabe`),
  nl: words(`de het een en of maar als dan dat die dit deze in op aan bij met naar van voor uit over onder na om tot te is ben bent zijn was waren wordt werd
    worden heeft heb hebt hebben had hadden kan kunnen kon moet moeten zal zou wil ik me mij mijn jij je jou jouw hij hem zij ze haar wij we ons onze jullie u
    uw hun zich wie wat welke wanneer waar waarom hoe hoeveel niet geen ook nog al wel er hier daar nu zo meer veel iets niets alle gezegd zei vertelde weet`),
  xx: new Set(),
};

/** Particles of Chinese and Japanese that join words; a piece of two signs that has one says little. */
export const PARTICLES: ReadonlySet<string> = new Set("的了吗呢吧着是在我你他她它们这那有和就也都不很哪什么怎はがをにでとものかへやねよです");

/** The languages that a common word belongs to. Most words of a text are none: one look instead of one for each language. */
const LANGUAGES_OF: ReadonlyMap<string, readonly Language[]> = (() => {
  const all = new Map<string, Language[]>();
  for (const language of LANGUAGES) for (const word of STOP_WORDS[language]) all.set(word, [...(all.get(word) ?? []), language]);
  return all;
})();

/** The language whose common words occur most often; `fallback` when there are none or when two are level. */
export function languageOf(words: Iterable<string>, fallback: Language): Language {
  let best: Language = fallback;
  let most = 0;
  let level = false;
  const counts = new Map<Language, number>();
  for (const word of words) {
    const found = LANGUAGES_OF.get(word);
    if (found) for (const language of found) counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  for (const [language, count] of counts) {
    if (count === most) level = true;
    if (count <= most) continue;
    most = count;
    best = language;
    level = false;
  }
  return level && (counts.get(fallback) ?? 0) === most ? fallback : best;
}
