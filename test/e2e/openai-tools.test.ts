import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../src/base/errors.ts";
import type { FetchFile } from "../../src/gateway/ports.ts";
import { ALL_ON, startSurface, TOKEN, type TestSurface } from "../harness/http-surface.ts";

/** What a run is asked for, and what becomes of its outcome: over HTTP with the official client, the run itself in memory. */
let gateway: TestSurface;
let client: OpenAI;
const fetched: { url: string; maxBytes: number }[] = [];
const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const fetchFile: FetchFile = async (url, { maxBytes, isAllowed }) => {
  fetched.push({ url, maxBytes });
  if (!isAllowed(new URL(url))) throw new Error("not to be asked");
  if (url.includes("secret")) throw new AppError("PERMISSION_DENIED", "that address is not for strangers");
  return url.endsWith("page") ? { data: Buffer.from("<html>"), mimeType: "text/html" } : { data: PNG, mimeType: "application/octet-stream" };
};
const RESPONSES = { enabled: true, maxUrlParts: 2, images: { urlAllowlist: ["*.example.com", "images.test"], maxBytes: 1000 } };

beforeEach(async () => {
  fetched.length = 0;
  gateway = await startSurface({ config: { gateway: { http: { endpoints: { chatCompletions: { enabled: true }, responses: RESPONSES } } } }, fetchFile });
  client = new OpenAI({ apiKey: TOKEN, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});
afterEach(() => gateway[Symbol.asyncDispose]());

const weather = { name: "weather", description: "The weather of a city", parameters: { type: "object", properties: { city: { type: "string" } } } };
const time = { name: "time", parameters: { type: "object", properties: {} } };
const TOOLS: OpenAI.ChatCompletionTool[] = [weather, time].map((spec) => ({ type: "function", function: spec }));
const FLAT: OpenAI.Responses.Tool[] = [weather, time].map((spec) => ({ type: "function", strict: null, ...spec }));
const chat = (content: OpenAI.ChatCompletionUserMessageParam["content"], more: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> = {}) =>
  client.chat.completions.create({ model: "openclaw", messages: [{ role: "user", content }], ...more });
const asked = () => gateway.responder.requests.at(-1)!;
const picture = (url: string): OpenAI.ChatCompletionContentPart => ({ type: "image_url", image_url: { url } });
const INLINE = `data:image/png;base64,${PNG.toString("base64")}`;

describe("the caller's own tools", () => {
  test("a chat completion passes them on, and a call of one is the caller's to carry out", async () => {
    const completion = await chat("@call @empty weather?", { tools: TOOLS });
    expect(asked().clientTools).toEqual([
      { name: "weather", description: "The weather of a city", parameters: weather.parameters },
      { name: "time", description: "", parameters: time.parameters },
    ]);
    expect(completion.choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "call-0", type: "function", function: { name: "weather", arguments: '{"city":"Bern","n":0}' } },
          { id: "call-1", type: "function", function: { name: "time", arguments: '{"city":"Bern","n":1}' } },
        ],
      },
    });
  });

  test("the client's own stream helper puts streamed calls together", async () => {
    const stream = client.chat.completions.stream({ model: "openclaw", messages: [{ role: "user", content: "@call @chunks=3 let me look" }], tools: TOOLS });
    const { choices } = await stream.finalChatCompletion();
    expect(choices[0]).toMatchObject({ finish_reason: "tool_calls", message: { content: "Echo: let me look" } });
    expect(choices[0]!.message.tool_calls?.map((call) => call.type === "function" && [call.id, call.function.name, call.function.arguments])).toEqual([
      ["call-0", "weather", '{"city":"Bern","n":0}'],
      ["call-1", "time", '{"city":"Bern","n":1}'],
    ]);
  });

  test("what the tool said comes back as the message to answer, with what was called before it", async () => {
    await client.chat.completions.create({
      model: "openclaw",
      tools: TOOLS,
      messages: [
        { role: "user", content: "weather?" },
        { role: "assistant", content: null, tool_calls: [{ id: "call-0", type: "function", function: { name: "weather", arguments: '{"city":"Bern"}' } }] },
        { role: "tool", tool_call_id: "call-0", content: "snow" },
      ],
    });
    expect(asked().message).toMatch(/User: weather\?\nAssistant: \[called weather with \{"city":"Bern"\}\]\n[\s\S]*Tool result: snow$/);
  });

  test.each([
    ["none", undefined, undefined],
    ["auto", ["weather", "time"], undefined],
    ["required", ["weather", "time"], /Call one of these tools before you answer: weather, time\./],
    [{ type: "function", function: { name: "time" } }, ["time"], /Call the tool time before you answer\./],
  ] as const)("the choice %j", async (choice, names, prompt) => {
    await chat("x", { tools: TOOLS, tool_choice: choice });
    expect([asked().clientTools?.map(({ name }) => name), asked().systemPrompt]).toEqual([names, prompt && expect.stringMatching(prompt)]);
  });

  test.each([
    [{ tool_choice: "required" }, "tool_choice"],
    [{ tools: TOOLS, tool_choice: { type: "function", function: { name: "ghost" } } }, "tool_choice"],
    [{ tools: TOOLS, tool_choice: "sometimes" }, "tool_choice"],
    [{ tools: [...TOOLS, TOOLS[0]] }, "tools"],
    [{ tools: [{ type: "function", function: { name: "a b" } }] }, "tools[0]"],
    [{ tools: [{ type: "function", function: { name: "a", parameters: [] } }] }, "tools[0]"],
    [{ tools: Array.from({ length: 129 }, (_, n) => ({ type: "function", function: { name: `f${n}` } })) }, "tools"],
  ])("%j is refused", async (more, param) => {
    await expect(chat("x", more as object)).rejects.toMatchObject({ status: 400, param });
    await expect(client.responses.create({ model: "openclaw", input: "x", ...(more as object) })).rejects.toMatchObject({ status: 400, param });
    expect(gateway.responder.requests).toEqual([]);
  });

  test("a response that needs a call is incomplete and names it", async () => {
    const response = await client.responses.create({
      model: "openclaw",
      input: "@call @empty x",
      tools: FLAT,
      tool_choice: { type: "function", name: "time" },
    });
    expect(asked().clientTools?.map(({ name }) => name)).toEqual(["time"]);
    expect(response).toMatchObject({
      status: "incomplete",
      output: [
        { type: "function_call", id: expect.stringMatching(/^call_[0-9a-f-]{36}$/), call_id: "call-0", name: "time", arguments: '{"city":"Bern","n":0}' },
      ],
    });
  });

  test("a streamed response tells the call after the text, and the client's helper reads it", async () => {
    const stream = client.responses.stream({ model: "openclaw", input: "@call @usage look", tools: FLAT });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types.slice(types.indexOf("response.output_item.done"))).toEqual([
      "response.output_item.done",
      ...[0, 1].flatMap(() => [
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
      ]),
      "response.completed",
    ]);
    const response = await stream.finalResponse();
    expect([response.status, response.output_text, response.usage?.total_tokens]).toEqual(["incomplete", "Echo: look", 155]);
    expect(response.output.flatMap((item) => (item.type === "function_call" ? [[item.call_id, item.name]] : []))).toEqual([
      ["call-0", "weather"],
      ["call-1", "time"],
    ]);
  });
});

describe("tokens and limits", () => {
  test("tokens are those that were counted, cached ones among them", async () => {
    expect((await chat("@usage x")).usage).toEqual({
      prompt_tokens: 135,
      completion_tokens: 20,
      total_tokens: 155,
      prompt_tokens_details: { cached_tokens: 30 },
    });
    expect((await client.responses.create({ model: "openclaw", input: "@usage x" })).usage).toEqual({
      input_tokens: 135,
      input_tokens_details: { cached_tokens: 30 },
      output_tokens: 20,
      total_tokens: 155,
    });
    expect((await chat("x")).usage).toBeUndefined();
  });

  test("a stream tells them in a chunk of its own, when asked", async () => {
    const chunks = async (options: object) => {
      const stream = await client.chat.completions.create({ model: "openclaw", messages: [{ role: "user", content: "@usage x" }], stream: true, ...options });
      return Array.fromAsync(stream);
    };
    const counted = await chunks({ stream_options: { include_usage: true } });
    expect(counted.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 155 } });
    expect(counted.slice(0, -1).every((chunk) => chunk.usage === null && chunk.choices.length === 1)).toBe(true);
    expect((await chunks({})).some((chunk) => chunk.usage !== undefined || chunk.choices.length === 0)).toBe(false);
  });

  test("limits and temperature reach the run; an answer that was cut says so", async () => {
    expect((await chat("@length x", { max_tokens: 7, temperature: 0.5 })).choices[0]?.finish_reason).toBe("length");
    expect(asked()).toMatchObject({ maxTokens: 7, temperature: 0.5, owner: true });
    await chat("x", { max_completion_tokens: 9, max_tokens: 7 });
    expect(asked()).toMatchObject({ maxTokens: 9 });
    const response = await client.responses.create({ model: "openclaw", input: "@length x", max_output_tokens: 3, temperature: 1 });
    expect(response).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
    expect(asked()).toMatchObject({ maxTokens: 3, temperature: 1 });
  });
});

describe("images", () => {
  test("an image in the request reaches the run with the type that it has", async () => {
    const claimed = INLINE.replace("image/png", "image/gif");
    await chat([{ type: "text", text: "what is it?" }, picture(claimed)]);
    expect(asked()).toMatchObject({ message: "what is it?", images: [{ type: "image", mimeType: "image/png", data: PNG.toString("base64") }] });
    await client.responses.create({ model: "openclaw", input: [{ role: "user", content: [{ type: "input_image", image_url: INLINE, detail: "auto" }] }] });
    expect(asked()).toMatchObject({ message: "", images: [{ mimeType: "image/png" }] });
    const source = { type: "base64", media_type: "image/png", data: PNG.toString("base64") };
    const documented = [{ role: "user", content: [{ type: "input_image", source }] }] as unknown as OpenAI.Responses.ResponseInput;
    await client.responses.create({ model: "openclaw", input: documented });
    expect(asked()).toMatchObject({ images: [{ mimeType: "image/png" }] });
    expect(fetched).toEqual([]);
  });

  test("one at an address is fetched, within the limits", async () => {
    await chat([picture("https://cdn.example.com/a.png")]);
    expect(asked().images).toEqual([{ type: "image", mimeType: "image/png", data: PNG.toString("base64") }]);
    expect(fetched).toEqual([{ url: "https://cdn.example.com/a.png", maxBytes: 1000 }]);
  });

  test("images of earlier messages are marked as such", async () => {
    await client.chat.completions.create({
      model: "openclaw",
      messages: [
        { role: "user", content: [{ type: "text", text: "look" }, picture(INLINE)] },
        { role: "assistant", content: "I see" },
        { role: "user", content: "and now?" },
      ],
    });
    expect(asked().images).toBeUndefined();
    expect(asked().message).toContain("User: look [image]\nAssistant: I see");
  });

  test.each([
    ["of another kind", "data:image/png;base64,JVBERi0xLjQK", /application\/pdf/],
    ["of no kind", "data:text/plain;base64,aGVsbG8=", /text\/plain/],
    ["that is not base64", "data:image/png;base64,%%%", /not valid base64/],
    ["with nothing in it", "data:image/png;base64,", /not valid base64/],
    ["that is too large", `data:image/png;base64,${Buffer.concat([PNG, Buffer.alloc(1000)]).toString("base64")}`, /the limit is 1000/],
    ["of another host", "https://example.com.evil.test/a.png", /may not be fetched from this host/],
    ["on this machine", "http://127.0.0.1/a.png", /may not be fetched from this host/],
    ["in a file", "file:///etc/passwd", /base64 data: URL or an http/],
    ["that is guarded", "https://secret.example.com/a.png", /could not be fetched: that address is not for strangers/],
    ["that is a page", "https://images.test/page", /text\/html/],
  ])("one %s is refused, and nothing is run", async (_name, url, message) => {
    await expect(chat([picture(url)])).rejects.toMatchObject({ status: 400, param: "messages[0].content[0]", message: expect.stringMatching(message) });
    expect(gateway.responder.requests).toEqual([]);
  });

  test("too many addresses are refused before any is asked", async () => {
    await expect(chat([1, 2, 3].map((n) => picture(`https://images.test/${n}`)))).rejects.toMatchObject({ status: 400 });
    expect(fetched).toEqual([]);
  });

  test("without a fetcher, only images in requests are taken", async () => {
    await using alone = await startSurface({ config: ALL_ON });
    const other = new OpenAI({ apiKey: TOKEN, baseURL: `${alone.url}/v1`, maxRetries: 0 });
    const create = (url: string) => other.chat.completions.create({ model: "openclaw", messages: [{ role: "user", content: [picture(url)] }] });
    await expect(create("https://images.test/a.png")).rejects.toMatchObject({ status: 501 });
    await create(INLINE);
    expect(alone.responder.requests[0]?.images).toHaveLength(1);
  });
});
