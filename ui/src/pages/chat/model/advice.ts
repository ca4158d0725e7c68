import { place } from "../../../shell/router.ts";

/** What to do about an error. */
export interface Advice {
  readonly text: string;
  readonly link?: { readonly words: string; readonly place: string };
}

const KNOWN: readonly (readonly [pattern: RegExp, advice: Advice])[] = [
  [
    /api.?key|unauthori[sz]ed|authentication|\b40[13]\b|forbidden|credential/i,
    { text: "The provider did not accept the key.", link: { words: "Set the key", place: place("start", [], { step: "key" }) } },
  ],
  [
    /rate.?limit|too many requests|\b429\b|overloaded|\b529\b|quota/i,
    { text: "The provider is busy or a limit is reached. Wait a moment, then send it again, or choose another model." },
  ],
  [/context|too long|maximum.*tokens|token limit/i, { text: "The conversation does not fit the model. Compact it from the menu, or begin a new one." }],
  [/timed? ?out|\btimeout\b/i, { text: "It took too long. Send it again; if it happens often, choose a faster model or a longer limit." }],
  [
    /ECONNREFUSED|ENOTFOUND|network|fetch failed|socket|unreachable|could not be reached/i,
    { text: "The provider could not be reached. Look at the network of the gateway's machine, or that a local model runs." },
  ],
  [/model.*(?:not found|unknown|does not exist)|no model/i, { text: "There is no such model. Choose another one above." }],
];

/** What to do about an error of a run. */
export function adviceFor(error: string): Advice {
  return KNOWN.find(([pattern]) => pattern.test(error))?.[1] ?? { text: "Send it again, or look at the trace to see where it failed." };
}
