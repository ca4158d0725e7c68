import type { FailureClass } from "../../src/models/failover/classify.ts";
import { STREAMS, type Behaviour, type ScriptedAnswer } from "../fakes/model-server/index.ts";

/** What is said in a whole answer; no fault says it. */
export const WHOLE = "all is well 🦞";

/** One thing a provider does to a request, and what a caller must make of it. */
export interface Fault {
  readonly name: string;
  readonly outcome: "ok" | FailureClass;
  /** Undefined when this wire format cannot do it. `key` is the credential of the request: some providers repeat it in their errors. */
  readonly behaviour: (api: string, key: string) => Behaviour | undefined;
}

const HALF: ScriptedAnswer = { text: ["half ", "an ", "answer"] };
const CALL = { id: "same", name: "read", arguments: ['{"path":', '"a"}'] };
const frames = (api: string, answer: ScriptedAnswer): readonly string[] => STREAMS[api]!(answer);
const start = (api: string, count = 2): readonly string[] => frames(api, HALF).slice(0, count);
const line = (api: string, data: string): string => (api === "ollama" ? `${data}\n` : `data: ${data}\n\n`);

const answers = (name: string, answer: ScriptedAnswer, rest: Partial<Extract<Behaviour, { kind: "stream" }>> = {}): Fault => ({
  name,
  outcome: "ok",
  behaviour: (api) => ({ kind: "stream", frames: frames(api, answer), ...rest }),
});
const status = (code: number, outcome: FailureClass, message: string, headers: Record<string, string> = {}): Fault => ({
  name: `${code} ${message} ${JSON.stringify(headers)}`,
  outcome,
  behaviour: (_, key) => ({ kind: "status", status: code, body: { error: { message: `${message} (${key})` } }, headers }),
});

/** An error inside a stream that began well, in the provider's own words. */
function errorEvent(api: string): string {
  const message = "token expired";
  switch (api) {
    case "ollama":
      return line(api, JSON.stringify({ error: message }));
    case "anthropic-messages":
      return line(api, JSON.stringify({ type: "error", error: { type: "authentication_error", message } }));
    case "openai-responses":
      return line(api, JSON.stringify({ type: "error", code: "invalid_token", message }));
    default:
      return line(api, JSON.stringify({ error: { code: 401, message } }));
  }
}

export const FAULTS: readonly Fault[] = [
  answers("an answer", { text: [WHOLE] }),
  answers("an answer with reasoning and calls of one id", { thinking: ["hm"], text: [WHOLE], toolCalls: [CALL, CALL] }),
  answers("an answer split at every byte", { text: [WHOLE] }, { bytes: 1 }),
  answers("an answer split at every seventh byte", { thinking: ["hm"], text: [WHOLE] }, { bytes: 7 }),
  answers("a long answer", { text: [WHOLE, ...Array.from({ length: 20 }, () => "x".repeat(20_000))] }),
  answers("an answer at its length limit", { text: [WHOLE], stop: "length" }),
  {
    name: "an answer without usage",
    outcome: "ok",
    behaviour: (api) => ({
      kind: "stream",
      frames: frames(api, { text: [WHOLE] }).filter((frame) => api !== "openai-completions" || !frame.includes('"usage"')),
    }),
  },
  status(429, "rate_limit", "too many requests"),
  status(429, "rate_limit", "too many requests", { "retry-after": "2" }),
  status(429, "rate_limit", "too many requests", { "retry-after": "300" }),
  status(401, "auth", "invalid api key"),
  status(402, "billing", "no money"),
  status(400, "billing", "your credit balance is too low"),
  status(500, "timeout", "internal error"),
  status(503, "overloaded", "overloaded"),
  status(529, "overloaded", "overloaded", { "retry-after": "1" }),
  status(404, "model_unknown", "model not found"),
  status(400, "context_overflow", "prompt is too long"),
  status(400, "role_order", "roles must alternate"),
  { name: "a reset before the headers", outcome: "network", behaviour: () => ({ kind: "reset" }) },
  { name: "a reset in the middle", outcome: "network", behaviour: (api) => ({ kind: "reset", after: start(api) }) },
  { name: "a stream that is cut", outcome: "timeout", behaviour: (api) => ({ kind: "cut", after: start(api) }) },
  {
    name: "a stream that is cut inside an event",
    outcome: "timeout",
    behaviour: (api) => ({ kind: "cut", after: [...start(api, 1), start(api)[1]!.slice(0, 20)] }),
  },
  { name: "garbled JSON", outcome: "timeout", behaviour: (api) => ({ kind: "cut", after: [...start(api), line(api, "{garbled")] }) },
  { name: "a page", outcome: "timeout", behaviour: () => ({ kind: "stream", frames: ["<html>no</html>"], contentType: "text/html" }) },
  { name: "an empty answer", outcome: "format", behaviour: (api) => ({ kind: "stream", frames: frames(api, {}) }) },
  { name: "reasoning and nothing else", outcome: "format", behaviour: (api) => ({ kind: "stream", frames: frames(api, { thinking: ["hm"] }) }) },
  {
    name: "a call without a name",
    outcome: "format",
    behaviour: (api) =>
      api === "google-generative-ai" || api === "ollama"
        ? undefined
        : { kind: "stream", frames: frames(api, { text: ["half"], toolCalls: [{ id: "c", name: "", arguments: ["{}"] }] }) },
  },
  { name: "a token that expires at once", outcome: "auth", behaviour: (api) => ({ kind: "cut", after: [errorEvent(api)] }) },
  { name: "a token that expires in the middle", outcome: "auth", behaviour: (api) => ({ kind: "cut", after: [...start(api, 3), errorEvent(api)] }) },
  { name: "silence", outcome: "timeout", behaviour: () => ({ kind: "silent" }) },
  {
    name: "a stall with keep-alives",
    outcome: "timeout",
    behaviour: (api) => (api === "ollama" ? undefined : { kind: "stall", after: start(api, 3) }),
  },
  { name: "a half-open stream", outcome: "timeout", behaviour: (api) => ({ kind: "stall", after: start(api), keepAliveMs: 1_000_000 }) },
];
