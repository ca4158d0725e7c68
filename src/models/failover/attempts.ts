import type { FailureClass, Trouble } from "./classify.ts";

/** One attempt of one model with one credential. */
export interface Attempt {
  readonly provider: string;
  readonly model: string;
  /** Id of the credential's profile; never the credential. */
  readonly profileId?: string;
  readonly startedAt: number;
  readonly durationMs: number;
  /** Milliseconds to the first event of the answer. */
  readonly firstMs?: number;
  readonly outcome: "ok" | FailureClass;
  readonly status?: number;
  /** The provider's message, redacted and bounded. */
  readonly error?: string;
  readonly requestIdHash?: string;
  /** False when no provider was called: no usable credential, or a budget forbids it. */
  readonly asked?: false;
  /** What it was, where the name of its class would be misleading. */
  readonly trouble?: Trouble;
  /** The provider does not serve this machine's region. */
  readonly region?: true;
}

const ADVICE: Readonly<Partial<Record<FailureClass, string>>> = {
  auth: "check the key or log in again: openclaw models status",
  billing: "the account has no credit left: add some, or another key with openclaw models auth add",
  rate_limit: "wait a little, or add another key or a fallback model",
  overloaded: "the provider is overloaded: try again, or add a fallback model",
  timeout: "the provider is failing, and the key is not the cause: try again in a moment, or add a fallback model",
  network: "the provider cannot be reached: check the network and the base URL",
  context_overflow: "the conversation is too long for this model: /compact, /new, or a model with a larger window",
  role_order: "the provider rejected the order of the messages: try again, or /new",
  image_size: "the provider rejected an image or file: it is too large, damaged or of an unsupported type; send a smaller one or another format",
  tool_schema: "the provider does not support these tools: choose another model, or fewer tools",
  refused: "the provider's content filter blocked it: rephrase it, or choose another model",
  model_unknown: "the provider does not know this model: openclaw models list --all",
};

/** The provider's answer: its status, when that says more than the text. */
function errorOf({ status, error, trouble, outcome }: Attempt): string {
  const text = error ?? trouble ?? outcome;
  return status === undefined || text.includes(String(status)) ? text : `HTTP ${status}: ${text}`;
}

/** The message when nothing worked: one failure by its own error, several as a list. */
export function failedText(attempts: readonly Attempt[]): string {
  const failed = attempts.filter((attempt) => attempt.outcome !== "ok");
  const last = failed.at(-1);
  if (!last) return "no model could be tried";
  /** The last attempt of each, in the order in which they were first tried. */
  const models = new Map(failed.map((attempt) => [`${attempt.provider}/${attempt.model}`, attempt]));
  if (models.size === 1) return `${last.provider}/${last.model}: ${errorOf(last)}${tailOf(last, failed)}`;
  const list = [...models].map(([ref, attempt]) => `${ref}: ${errorOf(attempt)} (${attempt.trouble ?? attempt.outcome})`);
  return `All models failed (${models.size}): ${list.join(" | ")}`;
}

const REGION_ADVICE =
  "the provider does not serve the region of this request; the key is not the cause: use another provider, or route the gateway through a supported region";

/** How often it was tried, and what to do. If no provider was called, the error already says so. */
function tailOf(last: Attempt, failed: readonly Attempt[]): string {
  if (last.asked === false) return "";
  const alike = failed.filter(({ outcome }) => outcome === last.outcome).length;
  const advice = last.region === true ? REGION_ADVICE : last.outcome === "ok" ? undefined : ADVICE[last.outcome];
  const parts = [...(alike > 1 ? [`tried ${alike} times`] : []), ...(advice === undefined ? [] : [advice])];
  return parts.length === 0 ? "" : ` (${parts.join("; ")})`;
}
