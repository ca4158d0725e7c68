import { errorBody, sendError, sendJson } from "../reply.ts";
import { parseJsonObject } from "../body.ts";
import type { Exchange } from "../route.ts";
import { parseChatInput, type ChatInput } from "./chat-input.ts";
import { openEventStream, restOf, type EventStream } from "./event-stream.ts";
import { argumentsText, callsOf, chatUsage, finishOf } from "./outcome.ts";
import { apiErrorOf, invalid, RequestRefused } from "./refusal.ts";
import { NO_RESPONSE, runMessage, type Answer, type ApiDeps } from "./run.ts";
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

/** Calls as a whole answer has them. */
const toolCalls = (answer: Answer): readonly object[] =>
  callsOf(answer).map((call) => ({ id: call.id, type: "function", function: { name: call.name, arguments: argumentsText(call) } }));

async function whole(deps: ApiDeps, { response, signal }: Exchange, input: ChatInput, target: RunTarget): Promise<void> {
  const created = seconds(deps);
  const answer = await runMessage(deps, target, input, { signal });
  if (!answer) return;
  const calls = toolCalls(answer);
  const said = { role: "assistant", content: answer.text || (calls.length > 0 ? null : NO_RESPONSE) };
  const message = calls.length > 0 ? { ...said, tool_calls: calls } : said;
  const usage = chatUsage(answer);
  const choices = [{ index: 0, message, finish_reason: finishOf(answer) }];
  const { model } = input;
  sendJson(response, 200, { id: target.runId, object: "chat.completion", created, model, choices, ...(usage === undefined ? {} : { usage }) });
}

async function streamed(deps: ApiDeps, { response, signal }: Exchange, input: ChatInput, target: RunTarget): Promise<void> {
  const base = { id: target.runId, object: "chat.completion.chunk", created: seconds(deps), model: input.model };
  const noUsage = input.includeUsage ? { usage: null } : {};
  const chunk = (delta: object, finish: ReturnType<typeof finishOf> | null = null): object => ({
    ...base,
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...noUsage,
  });
  const out: { stream?: EventStream } = {};
  try {
    const answer = await runMessage(deps, target, input, {
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
    const calls = toolCalls(answer);
    if (stream.text === "" && calls.length === 0) stream.delta(NO_RESPONSE);
    for (const [index, call] of calls.entries()) stream.send(chunk({ tool_calls: [{ index, ...call }] }));
    stream.send(chunk({}, finishOf(answer)));
    const usage = chatUsage(answer);
    if (input.includeUsage && usage !== undefined) stream.send({ ...base, choices: [], usage });
    stream.done();
  } catch (error) {
    const { stream } = out;
    if (!stream) throw error;
    const failed = apiErrorOf(error);
    // The text is for readers that look at choices alone; clients that know errors raise this one.
    stream.send({ ...chunk({ content: `Error: ${failed.message}` }, "stop"), ...errorBody(failed) });
    stream.done();
  } finally {
    out.stream?.[Symbol.dispose]();
  }
}
