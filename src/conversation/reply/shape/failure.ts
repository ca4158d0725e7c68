/** What a sender is told when there is no answer. */
import { isUnusableModel, type TurnEnd } from "../../../agent/index.ts";
import type { ReplyPayload } from "../../../protocol/index.ts";

/** First match decides. The provider's own words are for the owner's log, not for a chat. */
const KINDS: readonly { readonly any: RegExp; readonly say: string }[] = [
  {
    any: /context (?:length|window|overflow)|too long|too many tokens|context_overflow/,
    say: "this conversation has become too long for the model. /compact or /new helps.",
  },
  {
    any: /refuses a picture or file|image_size/,
    say: "the model does not take a picture or file of this conversation. Send it smaller, or as PNG or JPEG.",
  },
  { any: /billing|credit|payment|quota|budget/, say: "the model's account has no credit left. Its owner has to look at that." },
  { any: /rate[ _-]?limit|too many requests|overloaded|busy|capacity|\b429\b|\b529\b/, say: "the model is overloaded right now. Try again in a minute." },
  { any: /no api key found/, say: "there is no key for the model yet. Its owner has to add one: openclaw models auth add." },
  { any: /model_unknown|unknown model|does not know this model/, say: "the provider does not know the chosen model. /model shows others." },
  {
    any: /api key|unauthori[sz]ed|authentication|credential|forbidden|\b40[13]\b|\bauth\b/,
    say: "the model refused our login. Its owner has to look at that.",
  },
  { any: /network|econn|enotfound|fetch failed|socket|connect(?:ion|ed)?\b/, say: "the model could not be reached. Try again in a minute." },
  { any: /refus|content_filter|safety/, say: "the model would not answer this." },
  { any: /tim(?:ed?|e)[ -]?out|deadline/, say: "the model took too long. Try again." },
  { any: /without coming to an end/, say: "it took too many steps. Try to ask for less at once." },
];
const MAX_ERROR_CHARS = 4000;
const MAX_SHOWN_CHARS = 300;

/** For a turn that could not begin: what is wrong with the chosen model, since trying again would not help. Undefined for other errors. */
export function brokenText(error: unknown, redact: (text: string) => string = (text) => text): string | undefined {
  if (!isUnusableModel(error)) return undefined;
  return `⚠️ No answer, the model cannot be used: ${redact(error.message).split("\n", 1)[0]!.slice(0, MAX_SHOWN_CHARS)}`;
}

const OUT_OF_TIME = "it took longer than it may (agents.defaults.timeoutSeconds). Try again, or ask for less at once.";

/** One short message for a turn that failed or ran out of time. */
export function failurePayload({ error = "", abortedBy }: Pick<TurnEnd, "error" | "abortedBy">): ReplyPayload {
  if (abortedBy === "timeout") return { text: `⚠️ No answer: ${OUT_OF_TIME}`, isError: true };
  const text = error.slice(0, MAX_ERROR_CHARS).toLowerCase();
  const known = KINDS.find(({ any }) => any.test(text))?.say;
  return { text: `⚠️ No answer: ${known ?? "something went wrong on the way. Try again; the log says more."}`, isError: true };
}
