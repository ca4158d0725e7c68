/** What the gateway adds to answers: reasoning, lines about tools, the usage footer, failures. */
import { type TurnEnd, isUnusableModel } from "../../agent/index.ts";
import { isRecord } from "../../base/records.ts";
import { clip } from "../../base/text.ts";
import type { ReplyPayload, Usage } from "../../protocol/index.ts";
import { toolFacts, toolLabel } from "../../tools/index.ts";

/** The model's thoughts as a message of their own. */
export function reasoningPayload(thoughts: string): ReplyPayload | undefined {
  const text = thoughts.trim();
  return text === "" ? undefined : { text: `Reasoning:\n${text}`, isReasoning: true };
}

export const compactionNotice = (done: boolean): ReplyPayload => ({
  text: done ? "🧹 Conversation compacted: its older part is now a summary." : "🧹 The conversation is long, but its older part could not be summarized.",
  isCompactionNotice: true,
});

export const newSessionNotice = (sessionId: string): ReplyPayload => ({ text: `🧭 New session: ${sessionId}`, isStatusNotice: true });

const OTHER = "🧩";

/** The argument that says most. First match decides. */
const TELLING = [
  "command",
  "cmd",
  "path",
  "file_path",
  "filePath",
  "url",
  "query",
  "pattern",
  "to",
  "target",
  "sessionKey",
  "agentId",
  "task",
  "prompt",
  "message",
  "name",
  "id",
];
const MAX_ARG = 120;
const MAX_OUTPUT = 2000;

const titleOf = (name: string): string => toolLabel(clip(name, 60)) || "Tool";
const iconOf = (name: string): string => toolFacts(name)?.icon ?? OTHER;

const oneLine = (text: string, most: number): string =>
  clip(
    text
      .slice(0, most * 4)
      .replaceAll(/[\s`]+/g, " ")
      .trim(),
    most,
  );

function tellingArg(args: unknown): string {
  if (typeof args === "string") return args;
  if (!isRecord(args)) return "";
  const value = TELLING.map((key) => args[key]).find(
    (one): one is string | number => (typeof one === "string" && one.trim() !== "") || typeof one === "number",
  );
  const { action } = args;
  return [typeof action === "string" ? action : "", value === undefined ? "" : String(value)].filter((part) => part !== "").join(" ");
}

/** `<emoji> <Label>: <arg>`. */
export function toolLine(name: string, args: unknown, redact: (text: string) => string): string {
  const arg = oneLine(redact(tellingArg(args)), MAX_ARG);
  const head = `${iconOf(name)} ${titleOf(name)}`;
  return arg === "" ? head : `${head}: ${arg}`;
}

function textOf(result: unknown): string {
  const content = isRecord(result) ? result["content"] : undefined;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((part: unknown) => {
      const { type, text } = isRecord(part) ? part : {};
      return type === "text" && typeof text === "string" ? [text.slice(0, MAX_OUTPUT * 2)] : type === "image" ? ["(image)"] : [];
    })
    .join("\n");
}

/** What a tool answered, cut and fenced. Undefined when it said nothing. */
export function toolOutput(name: string, result: unknown, isError: boolean, redact: (text: string) => string): string | undefined {
  const text = redact(textOf(result)).trim();
  if (text === "") return undefined;
  const shown = text.length > MAX_OUTPUT ? `${clip(text, MAX_OUTPUT)}\n(cut)` : text;
  const longest = Math.max(2, ...(shown.match(/`{3,}/g) ?? []).map((ticks) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${isError ? "❌" : iconOf(name)} ${titleOf(name)}\n${fence}\n${shown}\n${fence}`;
}

export type UsageLevel = "off" | "tokens" | "full";

interface FooterFacts {
  readonly level: UsageLevel;
  readonly sessionKey?: string | undefined;
  /** The call was paid with a key: its cost means money. */
  readonly billed?: boolean | undefined;
}

const count = (tokens: number): string => {
  if (tokens < 1000) return `${tokens}`;
  return tokens < 1_000_000 ? `${(tokens / 1000).toFixed(tokens < 10_000 ? 1 : 0)}k` : `${(tokens / 1_000_000).toFixed(1)}m`;
};

const money = (dollars: number): string => `$${dollars.toFixed(dollars < 0.01 ? 4 : 2)}`;

const sum = (usage: readonly Usage[], of: (one: Usage) => number): number => usage.reduce((total, one) => total + of(one), 0);

/** Undefined where nothing is wanted or nothing was reported. */
function usageFooter({ usage }: Pick<TurnEnd, "usage">, { level, sessionKey, billed }: FooterFacts): string | undefined {
  const read = sum(usage, (one) => one.input + one.cacheRead + one.cacheWrite);
  const written = sum(usage, (one) => one.output);
  if (level === "off" || read + written === 0) return undefined;
  const cost = billed === true ? sum(usage, (one) => one.cost.total) : 0;
  const parts = [`${count(read)} in / ${count(written)} out`];
  if (cost > 0) parts.push(`est. ${money(cost)}`);
  if (level === "full" && sessionKey) parts.push(`session ${sessionKey}`);
  return `Usage: ${parts.join(" · ")}`;
}

const CUT_OFF = "⚠️ Cut off: the answer reached the model's length limit. Ask it to continue for the rest.";

/** What stands below an answer: that it is not whole, and what it took. */
export function answerFooter(end: Pick<TurnEnd, "usage" | "stopReason">, facts: FooterFacts): string | undefined {
  const usage = facts.level === "off" ? undefined : usageFooter(end, facts);
  if (end.stopReason !== "length") return usage;
  return usage === undefined ? CUT_OFF : `${CUT_OFF}\n\n${usage}`;
}

/** The payloads with the line below the last text. Where no text is left to be sent it is a message of its own. */
export function withFooter(payloads: readonly ReplyPayload[], footer: string | undefined): readonly ReplyPayload[] {
  if (footer === undefined) return payloads;
  const last = payloads.findLastIndex(({ text, isReasoning, isError }) => text && !isReasoning && !isError);
  if (last < 0) return payloads.some(({ isError }) => isError) ? payloads : [...payloads, { text: footer, isStatusNotice: true }];
  return payloads.map((payload, index) => (index === last ? { ...payload, text: `${payload.text}\n\n${footer}` } : payload));
}

/** First match decides. The provider's own words are for the owner's log, not for a chat. */
const KINDS: readonly { readonly any: RegExp; readonly say: string }[] = [
  {
    any: /context (?:length|window|overflow)|too long|too many tokens|context_overflow/,
    say: "this conversation has become too long for the model. /compact or /new helps.",
  },
  {
    any: /rejected an image or file|image_size/,
    say: "the model does not accept a picture or file in this conversation. Send it smaller, or as PNG or JPEG.",
  },
  { any: /billing|credit|payment|quota|budget/, say: "the model's account has no credit left. Contact the owner." },
  { any: /rate[ _-]?limit|too many requests|overloaded|busy|capacity|\b429\b|\b529\b/, say: "the model is overloaded right now. Try again in a minute." },
  { any: /no api key found/, say: "no API key for the model. The owner can add one: openclaw models auth add" },
  { any: /model_unknown|unknown model|does not know this model/, say: "the provider does not have the selected model. /model shows others." },
  {
    any: /api key|unauthori[sz]ed|authentication|credential|forbidden|\b40[13]\b|\bauth\b/,
    say: "the model provider rejected the credentials. The owner can check them: openclaw models status",
  },
  { any: /network|econn|enotfound|fetch failed|socket|connect(?:ion|ed)?\b/, say: "the model could not be reached. Try again in a minute." },
  { any: /refus|content_filter|safety/, say: "the model declined to answer this." },
  { any: /tim(?:ed?|e)[ -]?out|deadline/, say: "the model took too long. Try again." },
  { any: /without (?:finishing|coming to an end)/, say: "it took too many steps. Try a smaller request." },
];
const MAX_ERROR_CHARS = 4000;
const MAX_SHOWN_CHARS = 300;

/** For a turn that could not begin: what is wrong with the chosen model, since trying again would not help. Undefined for other errors. */
export function brokenText(error: unknown, redact: (text: string) => string = (text) => text): string | undefined {
  if (!isUnusableModel(error)) return undefined;
  return `⚠️ No answer, the model cannot be used: ${redact(error.message)
    .replace(/\n[^]*/, "")
    .slice(0, MAX_SHOWN_CHARS)}`;
}

const OUT_OF_TIME = "it hit the time limit (agents.defaults.timeoutSeconds). Try again, or try a smaller request.";

/** One short message for a turn that failed or ran out of time. */
export function failurePayload({ error = "", abortedBy }: Pick<TurnEnd, "error" | "abortedBy">): ReplyPayload {
  if (abortedBy === "timeout") return { text: `⚠️ No answer: ${OUT_OF_TIME}`, isError: true };
  const text = error.slice(0, MAX_ERROR_CHARS).toLowerCase();
  const known = KINDS.find(({ any }) => any.test(text))?.say;
  return { text: `⚠️ No answer: ${known ?? "something went wrong. Try again; see the log for details."}`, isError: true };
}
