import { sendError, sendJson } from "../reply.ts";
import { parseJsonObject } from "../body.ts";
import type { Exchange } from "../route.ts";
import { parseChatInput, type ChatInput } from "./chat-input.ts";
import { openEventStream, restOf, type EventStream } from "./event-stream.ts";
import { apiErrorOf, INTERNAL, invalid, RequestRefused } from "./refusal.ts";
import { NO_RESPONSE, runMessage, type ApiDeps } from "./run.ts";
import { chooseTarget, type RunTarget } from "./target.ts";

/** `POST /v1/chat/completions`. */
export async function answerChatCompletion(deps: ApiDeps, exchange: Exchange): Promise<void> {
  try {
    const parsed = parseJsonObject(exchange.body);
    if (!parsed.ok) throw invalid(parsed.message);
    const input = parseChatInput(parsed.value);
    const { headers } = exchange.request;
    const chosen = chooseTarget(deps.config.current, deps.ids, { headers, model: input.model, user: input.user, space: "openai", idPrefix: "chatcmpl_" });
    if (!chosen.ok) throw invalid(chosen.message);
    await (input.stream ? streamed : whole)(deps, exchange, input, chosen.target);
  } catch (error) {
    if (!(error instanceof RequestRefused)) deps.log.warn("a chat completion was not accepted", { error });
    if (!exchange.response.headersSent && !exchange.response.destroyed) sendError(exchange.response, apiErrorOf(error));
  }
}

const seconds = (deps: ApiDeps): number => Math.floor(deps.clock.now() / 1000);

async function whole(deps: ApiDeps, { response, signal }: Exchange, { model, conversation }: ChatInput, target: RunTarget): Promise<void> {
  const created = seconds(deps);
  const answer = await runMessage(deps, target, conversation, { signal });
  if (!answer) return;
  const message = { role: "assistant", content: answer.text || NO_RESPONSE };
  sendJson(response, 200, { id: target.runId, object: "chat.completion", created, model, choices: [{ index: 0, message, finish_reason: "stop" }] });
}

async function streamed(deps: ApiDeps, { response, signal }: Exchange, { model, conversation }: ChatInput, target: RunTarget): Promise<void> {
  const base = { id: target.runId, object: "chat.completion.chunk", created: seconds(deps), model };
  const chunk = (delta: object, finish: "stop" | null = null): object => ({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] });
  const out: { stream?: EventStream } = {};
  try {
    const answer = await runMessage(deps, target, conversation, {
      signal,
      watcher: {
        accepted() {
          out.stream = openEventStream(response, { clock: deps.clock, encode: (content) => ({ data: chunk({ content }) }) });
          out.stream.send(chunk({ role: "assistant" }));
        },
        delta: (text) => out.stream?.delta(text),
      },
    });
    const { stream } = out;
    if (!answer || !stream) return;
    stream.delta(restOf(answer.text, stream.text));
    if (stream.text === "") stream.delta(NO_RESPONSE);
    stream.send(chunk({}, "stop"));
    stream.done();
  } catch (error) {
    const { stream } = out;
    if (!stream) throw error;
    // The text is for readers that look at choices alone; clients that know errors raise this one.
    stream.send({ ...chunk({ content: "Error: internal error" }, "stop"), error: { message: INTERNAL.message, type: INTERNAL.type } });
    stream.done();
  } finally {
    out.stream?.[Symbol.dispose]();
  }
}
