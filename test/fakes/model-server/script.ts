/** One answer of a scripted model, in no provider's words. */
export interface ScriptedAnswer {
  readonly thinking?: readonly string[];
  readonly text?: readonly string[];
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: readonly string[] }[];
  readonly stop?: "stop" | "length";
  readonly usage?: { readonly input: number; readonly output: number; readonly cacheRead: number };
}

/** A piece of a stream: a frame, in the order it is sent. */
export type Frames = readonly string[];

const sse = (value: unknown, event?: string): string => `${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(value)}\n\n`;
const usageOf = (answer: ScriptedAnswer): NonNullable<ScriptedAnswer["usage"]> => answer.usage ?? { input: 10, output: 5, cacheRead: 0 };

function completions(answer: ScriptedAnswer): Frames {
  const chunk = (delta: unknown, finish: string | null = null): string =>
    sse({ id: "c1", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] });
  const { input, output, cacheRead } = usageOf(answer);
  const calls = answer.toolCalls ?? [];
  return [
    chunk({ role: "assistant", content: "" }),
    ...(answer.thinking ?? []).map((text) => chunk({ reasoning_content: text })),
    ...(answer.text ?? []).map((text) => chunk({ content: text })),
    ...calls.flatMap((call, index) => [
      chunk({ tool_calls: [{ index, id: call.id, type: "function", function: { name: call.name, arguments: "" } }] }),
      ...call.arguments.map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
    chunk({}, answer.stop === "length" ? "length" : calls.length > 0 ? "tool_calls" : "stop"),
    sse({ choices: [], usage: { prompt_tokens: input + cacheRead, completion_tokens: output, prompt_tokens_details: { cached_tokens: cacheRead } } }),
    "data: [DONE]\n\n",
  ];
}

function responses(answer: ScriptedAnswer): Frames {
  const event = (type: string, rest: object): string => sse({ type, ...rest }, type);
  const { input, output, cacheRead } = usageOf(answer);
  let at = 0;
  const frames: string[] = [event("response.created", { response: { id: "r1" } })];
  if (answer.thinking) {
    const output_index = at++;
    frames.push(
      event("response.output_item.added", { output_index, item: { type: "reasoning", id: "rs_1" } }),
      ...answer.thinking.map((delta) => event("response.reasoning_summary_text.delta", { output_index, delta })),
      event("response.output_item.done", { output_index, item: { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "opaque" } }),
    );
  }
  if (answer.text) {
    const output_index = at++;
    frames.push(
      event("response.output_item.added", { output_index, item: { type: "message", id: "msg_1" } }),
      ...answer.text.map((delta) => event("response.output_text.delta", { output_index, delta })),
      event("response.output_item.done", {
        output_index,
        item: { type: "message", id: "msg_1", content: [{ type: "output_text", text: answer.text.join("") }] },
      }),
    );
  }
  for (const call of answer.toolCalls ?? []) {
    const output_index = at++;
    const item = { type: "function_call", id: `fc_${call.id}`, call_id: call.id, name: call.name };
    frames.push(
      event("response.output_item.added", { output_index, item: { ...item, arguments: "" } }),
      ...call.arguments.map((delta) => event("response.function_call_arguments.delta", { output_index, delta })),
      event("response.output_item.done", { output_index, item: { ...item, arguments: call.arguments.join("") } }),
    );
  }
  const response = { usage: { input_tokens: input + cacheRead, output_tokens: output, input_tokens_details: { cached_tokens: cacheRead } } };
  frames.push(
    answer.stop === "length"
      ? event("response.incomplete", { response: { ...response, incomplete_details: { reason: "max_output_tokens" } } })
      : event("response.completed", { response }),
  );
  return frames;
}

function anthropic(answer: ScriptedAnswer): Frames {
  const event = (type: string, rest: object): string => sse({ type, ...rest }, type);
  const { input, output, cacheRead } = usageOf(answer);
  let at = 0;
  const block = (start: object, deltas: readonly object[]): readonly string[] => {
    const index = at++;
    return [
      event("content_block_start", { index, content_block: start }),
      ...deltas.map((delta) => event("content_block_delta", { index, delta })),
      event("content_block_stop", { index }),
    ];
  };
  const calls = answer.toolCalls ?? [];
  return [
    event("message_start", { message: { id: "m1", usage: { input_tokens: input, cache_read_input_tokens: cacheRead, output_tokens: 1 } } }),
    ...(answer.thinking
      ? block({ type: "thinking", thinking: "" }, [
          ...answer.thinking.map((thinking) => ({ type: "thinking_delta", thinking })),
          { type: "signature_delta", signature: "sig" },
        ])
      : []),
    event("ping", {}),
    ...(answer.text
      ? block(
          { type: "text", text: "" },
          answer.text.map((text) => ({ type: "text_delta", text })),
        )
      : []),
    ...calls.flatMap((call) =>
      block(
        { type: "tool_use", id: call.id, name: call.name, input: {} },
        call.arguments.map((partial_json) => ({ type: "input_json_delta", partial_json })),
      ),
    ),
    event("message_delta", {
      delta: { stop_reason: answer.stop === "length" ? "max_tokens" : calls.length > 0 ? "tool_use" : "end_turn" },
      usage: { output_tokens: output },
    }),
    event("message_stop", {}),
  ];
}

function google(answer: ScriptedAnswer): Frames {
  const { input, output, cacheRead } = usageOf(answer);
  const chunk = (parts: readonly object[], rest: object = {}): string => sse({ candidates: [{ content: { role: "model", parts }, ...rest }] });
  return [
    ...(answer.thinking ?? []).map((text) => chunk([{ text, thought: true }])),
    ...(answer.text ?? []).map((text) => chunk([{ text }])),
    ...(answer.toolCalls ?? []).map((call) => chunk([{ functionCall: { id: call.id, name: call.name, args: JSON.parse(call.arguments.join("")) as object } }])),
    sse({
      candidates: [{ finishReason: answer.stop === "length" ? "MAX_TOKENS" : "STOP" }],
      usageMetadata: { promptTokenCount: input + cacheRead, candidatesTokenCount: output, cachedContentTokenCount: cacheRead },
    }),
  ];
}

function ollama(answer: ScriptedAnswer): Frames {
  const { input, output } = usageOf(answer);
  const line = (value: object): string => `${JSON.stringify(value)}\n`;
  return [
    ...(answer.thinking ?? []).map((thinking) => line({ message: { role: "assistant", content: "", thinking }, done: false })),
    ...(answer.text ?? []).map((content) => line({ message: { role: "assistant", content }, done: false })),
    ...(answer.toolCalls ?? []).map((call) =>
      line({
        message: { role: "assistant", content: "", tool_calls: [{ function: { name: call.name, arguments: JSON.parse(call.arguments.join("")) as object } }] },
        done: false,
      }),
    ),
    line({ message: { role: "assistant", content: "" }, done: true, done_reason: answer.stop ?? "stop", prompt_eval_count: input, eval_count: output }),
  ];
}

/** An answer as each provider would stream it. */
export const STREAMS: Readonly<Record<string, (answer: ScriptedAnswer) => Frames>> = {
  "openai-completions": completions,
  "openai-responses": responses,
  "anthropic-messages": anthropic,
  "google-generative-ai": google,
  ollama,
};
