import { parseJsonObject } from "../body.ts";
import { sendError, sendJson, type ApiError } from "../reply.ts";
import type { Exchange } from "../route.ts";
import { openEventStream, restOf, type EventStream } from "./event-stream.ts";
import { argumentsText, callsOf, responseUsage } from "./outcome.ts";
import { apiErrorOf, invalid, RequestRefused } from "./refusal.ts";
import { parseResponsesInput, type ResponsesInput } from "./responses-input.ts";
import { NO_RESPONSE, runMessage, type Answer, type ApiDeps } from "./run.ts";
import { chooseTarget, type RunTarget } from "./target.ts";

/** `POST /v1/responses`. */
export async function answerResponse(deps: ApiDeps, exchange: Exchange): Promise<void> {
  try {
    const parsed = parseJsonObject(exchange.body);
    if (!parsed.ok) throw invalid(parsed.message);
    const input = parseResponsesInput(parsed.value);
    const { headers } = exchange.request;
    const chosen = chooseTarget(deps.config.current, deps.ids, { headers, model: input.model, user: input.user, space: "openresponses", idPrefix: "resp_" });
    if (!chosen.ok) throw invalid(chosen.message);
    await (input.stream ? streamed : whole)(deps, exchange, input, chosen.target);
  } catch (error) {
    if (!(error instanceof RequestRefused)) deps.log.warn("a response was not accepted", { error });
    if (!exchange.response.headersSent && !exchange.response.destroyed) sendError(exchange.response, apiErrorOf(error));
  }
}

type Status = "in_progress" | "completed" | "incomplete" | "failed";

const part = (text: string): object => ({ type: "output_text", text, annotations: [] });

const message = (id: string, status: Exclude<Status, "failed">, content: readonly object[]): object => ({
  type: "message",
  id,
  role: "assistant",
  content,
  status,
});

type Show = (status: Status, output: readonly object[], ended?: { readonly answer?: Answer; readonly error?: ApiError }) => object;

/** `usage` is null while nobody has counted: zeros would be a lie. */
function resource(deps: ApiDeps, { model, instructions }: ResponsesInput, target: RunTarget): Show {
  const created = Math.floor(deps.clock.now() / 1000);
  return (status, output, { answer, error } = {}) => ({
    id: target.runId,
    object: "response",
    created_at: created,
    status,
    model,
    output,
    usage: answer ? responseUsage(answer) : null,
    error: error ? { code: error.code ?? error.type, message: error.message } : null,
    incomplete_details: answer?.stopReason === "length" ? { reason: "max_output_tokens" } : null,
    instructions: instructions ?? null,
  });
}

/** A call of the caller's own tool is theirs to continue: until then the response is not complete. */
const endOf = (answer: Answer): "completed" | "incomplete" =>
  answer.status === "ok" && callsOf(answer).length === 0 && answer.stopReason !== "length" ? "completed" : "incomplete";

/** Calls as items of the output. */
const callItems = (deps: ApiDeps, answer: Answer): readonly { readonly id: string; readonly arguments: string }[] =>
  callsOf(answer).map((call) => ({
    type: "function_call",
    id: `call_${deps.ids.uuid()}`,
    call_id: call.id,
    name: call.name,
    arguments: argumentsText(call),
    status: "completed",
  }));

/** Of the message itself, which is whole when tools are to be called after it. */
const spokenStatus = (answer: Answer): "completed" | "incomplete" => (answer.status === "ok" && answer.stopReason !== "length" ? "completed" : "incomplete");

async function whole(deps: ApiDeps, { response, signal }: Exchange, input: ResponsesInput, target: RunTarget): Promise<void> {
  const show = resource(deps, input, target);
  const answer = await runMessage(deps, target, input, { signal });
  if (!answer) return;
  const status = endOf(answer);
  const calls = callItems(deps, answer);
  const said = answer.text === "" && calls.length > 0 ? [] : [message(`msg_${deps.ids.uuid()}`, spokenStatus(answer), [part(answer.text || NO_RESPONSE)])];
  sendJson(response, 200, show(status, [...said, ...calls], { answer }));
}

async function streamed(deps: ApiDeps, { response, signal }: Exchange, input: ResponsesInput, target: RunTarget): Promise<void> {
  const show = resource(deps, input, target);
  const item = `msg_${deps.ids.uuid()}`;
  const place = { item_id: item, output_index: 0, content_index: 0 };
  const out: { stream?: EventStream } = {};
  let sequence = 0;
  const frame = (type: string, fields: object): { data: object; event: string } => ({ event: type, data: { type, sequence_number: sequence++, ...fields } });
  const send = (type: string, fields: object): void => {
    // What waits of the text goes first, so that the numbers rise in the order of the frames.
    out.stream?.flush();
    const { data, event } = frame(type, fields);
    out.stream?.send(data, event);
  };
  function begin(): void {
    out.stream = openEventStream(response, { clock: deps.clock, encode: (delta) => frame("response.output_text.delta", { ...place, delta, logprobs: [] }) });
    send("response.created", { response: show("in_progress", []) });
    send("response.in_progress", { response: show("in_progress", []) });
    send("response.output_item.added", { output_index: 0, item: message(item, "in_progress", []) });
    send("response.content_part.added", { ...place, part: part("") });
  }
  function finish(stream: EventStream, answer: Answer): void {
    stream.delta(restOf(answer.text, stream.text));
    const calls = callItems(deps, answer);
    if (stream.text === "" && calls.length === 0) stream.delta(NO_RESPONSE);
    const { text } = stream;
    const status = endOf(answer);
    const whole = message(item, spokenStatus(answer), [part(text)]);
    send("response.output_text.done", { ...place, text, logprobs: [] });
    send("response.content_part.done", { ...place, part: part(text) });
    send("response.output_item.done", { output_index: 0, item: whole });
    for (const [index, call] of calls.entries()) {
      const at = { item_id: call.id, output_index: index + 1 };
      send("response.output_item.added", { output_index: index + 1, item: { ...call, arguments: "", status: "in_progress" } });
      send("response.function_call_arguments.delta", { ...at, delta: call.arguments });
      send("response.function_call_arguments.done", { ...at, arguments: call.arguments });
      send("response.output_item.done", { output_index: index + 1, item: call });
    }
    // Clients read the whole response off the event for the end of a stream, and know no other for calls.
    send(calls.length > 0 ? "response.completed" : `response.${status}`, { response: show(status, [whole, ...calls], { answer }) });
    stream.done();
  }
  try {
    const answer = await runMessage(deps, target, input, { signal, watcher: { accepted: begin, delta: (text) => out.stream?.delta(text) } });
    if (answer && out.stream) finish(out.stream, answer);
  } catch (error) {
    if (!out.stream) throw error;
    send("response.failed", { response: show("failed", [], { error: apiErrorOf(error) }) });
    out.stream.done();
  } finally {
    out.stream?.[Symbol.dispose]();
  }
}
