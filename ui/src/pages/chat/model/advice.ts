import { place } from "../../../shell/router.ts";
import { t } from "../../../words/words.ts";

/** What to do about an error. */
export interface Advice {
  readonly text: string;
  readonly link?: { readonly words: string; readonly place: string };
}

const SET_KEY = { words: t("Set key"), place: place("start", [], { step: "key" }) };

const KNOWN: readonly (readonly [pattern: RegExp, advice: Advice])[] = [
  [
    /no api.?key|api.?key (?:is )?(?:missing|not (?:set|found))|missing (?:api.?key|credential)|no (?:credential|key)/i,
    { text: t("There is no key for this provider yet."), link: SET_KEY },
  ],
  [/api.?key|unauthori[sz]ed|authentication|\b40[13]\b|forbidden|credential/i, { text: t("The provider rejected the key."), link: SET_KEY }],
  [
    /rate.?limit|too many requests|\b429\b|overloaded|\b529\b|quota/i,
    { text: t("The provider is busy or a limit was reached. Wait a moment and send it again, or choose another model.") },
  ],
  [/context|too long|maximum.*tokens|token limit/i, { text: t("The conversation is too long for this model. Compact it from the menu, or start a new one.") }],
  [/timed? ?out|\btimeout\b/i, { text: t("The request timed out. Send it again; if it happens often, choose a faster model or a longer timeout.") }],
  [
    /ECONNREFUSED|ENOTFOUND|network|fetch failed|socket|unreachable|could not be reached/i,
    { text: t("The provider could not be reached. Check the network of the gateway's machine, or that the local model is running.") },
  ],
  [/model.*(?:not found|unknown|does not exist)|no model|not know this model/i, { text: t("This model does not exist. Choose another one above.") }],
];

/** What to do about an error of a run. */
export function adviceFor(error: string): Advice {
  return KNOWN.find(([pattern]) => pattern.test(error))?.[1] ?? { text: t("Send it again, or check the trace to see where it failed.") };
}
