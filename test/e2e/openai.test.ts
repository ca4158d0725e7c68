import OpenAI, { APIError } from "openai";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import type { FetchFile } from "../../src/gateway/ports.ts";
import { lazyDocuments } from "../../src/media/index.ts";
import { pdfOf } from "../harness/documents.ts";
import { ALL_ON, HEALTHY, startSurface, TOKEN, type TestSurface } from "../harness/http-surface.ts";

let gateway: TestSurface;
let client: OpenAI;
beforeEach(async () => {
  gateway = await startSurface({ config: { ...ALL_ON, agents: { list: [{ id: "main" }, { id: "work" }] } } });
  client = new OpenAI({ apiKey: TOKEN, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});
afterEach(() => gateway[Symbol.asyncDispose]());

const said = (text: string): OpenAI.ChatCompletionMessageParam[] => [{ role: "user", content: text }];

describe("the official client: models", () => {
  test("every agent is a model", async () => {
    const ids = [];
    for await (const model of client.models.list()) ids.push(model.id);
    expect(ids).toEqual(["openclaw", "openclaw:main", "openclaw:work"]);
  });

  test("a model can be asked for by its name", async () => {
    expect((await client.models.retrieve("openclaw:work")).id).toBe("openclaw:work");
    await expect(client.models.retrieve("openclaw:ghost")).rejects.toMatchObject({ status: 404, code: "model_not_found" });
  });
});

describe("the official client: chat completions", () => {
  test("a whole answer, without invented usage", async () => {
    const completion = await client.chat.completions.create({ model: "openclaw", messages: said("hello there") });
    expect(completion).toMatchObject({
      id: expect.stringMatching(/^chatcmpl_[0-9a-f-]{36}$/),
      object: "chat.completion",
      model: "openclaw",
      choices: [{ index: 0, message: { role: "assistant", content: "Echo: hello there" }, finish_reason: "stop" }],
    });
    expect(completion.usage ?? null).toBeNull();
  });

  test("a streamed answer: role, text in pieces, stop", async () => {
    const stream = await client.chat.completions.create({ model: "openclaw:work", messages: said("@chunks=5 @gap=1 one two three four"), stream: true });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk.choices[0]!);
    expect(chunks[0]).toMatchObject({ delta: { role: "assistant" }, finish_reason: null });
    expect(chunks.map((choice) => choice.delta.content ?? "").join("")).toBe("Echo: one two three four");
    expect(chunks.filter((choice) => choice.delta.content !== undefined).length).toBeGreaterThanOrEqual(5);
    expect(chunks.map((choice) => choice.finish_reason)).toEqual([...Array.from({ length: chunks.length - 1 }, () => null), "stop"]);
    expect(gateway.responder.requests[0]?.sessionKey).toMatch(/^agent:work:openai:/);
  });

  test("the client's own stream helper puts the answer together", async () => {
    const stream = client.chat.completions.stream({ model: "openclaw", messages: said("@chunks=3 abc def") });
    expect(await stream.finalContent()).toBe("Echo: abc def");
  });

  test("unicode survives being cut anywhere", async () => {
    const text = "zażółć 🦞🦞🦞 漢字 end";
    const stream = client.chat.completions.stream({ model: "openclaw", messages: said(`@chunks=30 ${text}`) });
    expect(await stream.finalContent()).toBe(`Echo: ${text}`);
  });

  test("a failed run is an error, streamed or not", async () => {
    await expect(client.chat.completions.create({ model: "openclaw", messages: said("@fail x") })).rejects.toMatchObject({
      status: 500,
      message: "500 internal error",
    });
    const stream = await client.chat.completions.create({ model: "openclaw", messages: said("@fail x"), stream: true });
    const read = async (): Promise<void> => {
      for await (const _chunk of stream);
    };
    await expect(read()).rejects.toThrow(APIError);
  });

  test("an empty answer is said to be one", async () => {
    const completion = await client.chat.completions.create({ model: "openclaw", messages: said("@empty") });
    expect(completion.choices[0]?.message.content).toBe("No response from OpenClaw.");
    expect(await client.chat.completions.stream({ model: "openclaw", messages: said("@empty") }).finalContent()).toBe("No response from OpenClaw.");
  });

  test("leaving in the middle ends the run", async () => {
    const stream = await client.chat.completions.create({ model: "openclaw", messages: said("@hold hello"), stream: true });
    const aborted = gateway.responder.nextAborted();
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content !== undefined) break;
    expect(await aborted).toBe(gateway.responder.requests[0]?.runId);
  });

  test("leaving before a whole answer came ends the run too", async () => {
    const leave = new AbortController();
    const [accepted, aborted] = [gateway.responder.nextAccepted(), gateway.responder.nextAborted()];
    const asked = client.chat.completions.create({ model: "openclaw", messages: said("@hold hello") }, { signal: leave.signal });
    const { runId } = await accepted;
    leave.abort();
    await expect(asked).rejects.toThrow("aborted");
    expect(await aborted).toBe(runId);
  });

  test("a request with an idempotency key is run once, and its answer can be fetched again after a lost connection", async () => {
    const options = { headers: { "Idempotency-Key": "order-1" } };
    const leave = new AbortController();
    const accepted = gateway.responder.nextAccepted();
    const lost = client.chat.completions.create({ model: "openclaw", messages: said("@chunks=3 @gap=20 hello") }, { ...options, signal: leave.signal });
    await accepted;
    leave.abort();
    await expect(lost).rejects.toThrow("aborted");
    const again = await client.chat.completions.create({ model: "openclaw", messages: said("@chunks=3 @gap=20 hello") }, options);
    expect(again.choices[0]?.message.content).toBe("Echo: hello");
    expect([gateway.responder.requests.length, gateway.responder.aborted.length]).toEqual([1, 0]);
    await expect(client.chat.completions.create({ model: "openclaw", messages: said("another") }, options)).rejects.toMatchObject({ status: 409 });
  });

  test("what cannot be honoured is refused by name", async () => {
    const tools: OpenAI.ChatCompletionTool[] = [{ type: "custom", custom: { name: "f" } }];
    await expect(client.chat.completions.create({ model: "openclaw", messages: said("x"), tools })).rejects.toMatchObject({
      status: 501,
      code: "UNAVAILABLE",
      param: "tools[0]",
    });
    const spoken: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: [{ type: "input_audio", input_audio: { data: "AA==", format: "wav" } }] }];
    await expect(client.chat.completions.create({ model: "openclaw", messages: spoken })).rejects.toMatchObject({
      status: 501,
      param: "messages[0].content[0]",
    });
    await expect(client.chat.completions.create({ model: "openclaw", messages: said("x"), n: 2 })).rejects.toMatchObject({ status: 501 });
    expect(gateway.responder.requests).toEqual([]);
  });

  test("no user message, an unknown agent, a full queue, a wrong key", async () => {
    const create = (body: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming>, as = client): Promise<unknown> =>
      as.chat.completions.create({ model: "openclaw", messages: said("x"), ...body });
    await expect(create({ messages: [{ role: "system", content: "be brief" }] })).rejects.toMatchObject({
      status: 400,
      type: "invalid_request_error",
      message: "400 Missing user message in `messages`.",
    });
    await expect(create({ model: "openclaw:ghost" })).rejects.toMatchObject({ status: 400, message: '400 unknown agent id "ghost"' });
    await expect(create({ messages: said("@refuse") })).rejects.toMatchObject({ status: 429, type: "rate_limited" });
    const stranger = new OpenAI({ apiKey: "wrong", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    await expect(create({}, stranger)).rejects.toMatchObject({ status: 401, type: "unauthorized", message: "401 Unauthorized" });
  });
});

describe("the official client: responses", () => {
  test("a whole response", async () => {
    const response = await client.responses.create({ model: "openclaw", input: "hello", instructions: "be kind" });
    expect(response).toMatchObject({ id: expect.stringMatching(/^resp_/), object: "response", status: "completed", output_text: "Echo: hello", error: null });
    expect(response.usage).toBeNull();
    expect(gateway.responder.requests[0]).toMatchObject({ systemPrompt: "be kind", sessionKey: expect.stringMatching(/^agent:main:openresponses:/) });
  });

  test("a streamed response, its events in the documented order and numbered", async () => {
    const stream = await client.responses.create({ model: "openclaw", input: "@chunks=3 abc def ghi", stream: true });
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of stream) events.push(event);
    const types = events.map((event) => event.type);
    expect(types.filter((type, index) => type !== types[index - 1])).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.flatMap((event) => (event.type === "response.output_text.delta" ? [event.delta] : [])).join("")).toBe("Echo: abc def ghi");
  });

  test("the client's own response stream helper puts the answer together", async () => {
    const stream = client.responses.stream({ model: "openclaw", input: "@chunks=2 abc def" });
    expect((await stream.finalResponse()).output_text).toBe("Echo: abc def");
  });

  test("items become one message with its history", async () => {
    const input: OpenAI.Responses.ResponseInput = [
      { role: "developer", content: "rules" },
      { role: "user", content: [{ type: "input_text", text: "first" }] },
      { role: "assistant", content: "reply" },
      { type: "function_call", call_id: "c", name: "look", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: "found" },
    ];
    await client.responses.create({ model: "openclaw", input });
    expect(gateway.responder.requests[0]).toMatchObject({
      systemPrompt: "rules",
      message: expect.stringMatching(/User: first\nAssistant: reply\nAssistant: \[called look with \{\}\]\n[\s\S]*Tool result: found$/),
    });
  });

  test("a failed response, streamed and not", async () => {
    await expect(client.responses.create({ model: "openclaw", input: "@fail" })).rejects.toMatchObject({ status: 500, message: "500 internal error" });
    const stream = await client.responses.create({ model: "openclaw", input: "@fail", stream: true });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types.at(-1)).toBe("response.failed");
  });

  test("unknown keys, files by id and tools that are no functions are refused", async () => {
    const create = (body: object): Promise<unknown> => client.responses.create({ model: "openclaw", input: "x", ...body });
    await expect(create({ surprise: 1 })).rejects.toMatchObject({ status: 400, message: "400 at root: unexpected property 'surprise'" });
    await expect(create({ input: [{ role: "user", content: [{ type: "input_file", file_id: "f" }] }] })).rejects.toMatchObject({ status: 501 });
    await expect(create({ tools: [{ type: "web_search" }] })).rejects.toMatchObject({ status: 501, param: "tools[0]" });
    expect(gateway.responder.requests).toEqual([]);
  });

  test("leaving in the middle ends the run", async () => {
    const stream = await client.responses.create({ model: "openclaw", input: "@hold hello", stream: true });
    const aborted = gateway.responder.nextAborted();
    for await (const event of stream) if (event.type === "response.output_text.delta") break;
    expect(await aborted).toBe(gateway.responder.requests[0]?.runId);
  });
});

describe("the official client: files of responses", () => {
  const asked = (...parts: readonly object[]) =>
    ({ model: "openclaw", input: [{ role: "user", content: [{ type: "input_text", text: "sum it up" }, ...parts] }] }) as never;
  const encoded = (data: Buffer, type = "application/pdf"): string => `data:${type};base64,${data.toString("base64")}`;
  const surface = (files: object = {}, fetchFile?: FetchFile) =>
    startSurface({
      config: { gateway: { http: { endpoints: { responses: { enabled: true, files } } } } },
      documents: lazyDocuments(systemClock),
      ...(fetchFile ? { fetchFile } : {}),
    });
  const clientOf = ({ url }: TestSurface): OpenAI => new OpenAI({ apiKey: TOKEN, baseURL: `${url}/v1`, maxRetries: 0 });

  test("a file is read, and its text stands in the message as text of others", async () => {
    await using open = await surface();
    await clientOf(open).responses.create(asked({ type: "input_file", filename: "a.pdf", file_data: encoded(pdfOf(["Total 12", "more"])) }));
    const source = { type: "base64", media_type: "text/csv", filename: "b.csv", data: Buffer.from("x,y").toString("base64") };
    await clientOf(open).responses.create(asked({ type: "input_file", source }));
    const [pdf, csv] = open.responder.requests.map(({ message }) => message);
    expect(pdf).toMatch(/^sum it up\n\n<file name="a\.pdf" mime="application\/pdf">\nSECURITY NOTICE[^]*\nTotal 12\n\nmore\n<<<END_EXTERNAL[^]*<\/file>$/);
    expect(csv).toContain('<file name="b.csv" mime="text/csv">');
  });

  test("a file without text is shown as pictures, up to the pages that are allowed", async () => {
    await using open = await surface({ pdf: { maxPages: 1 } });
    await clientOf(open).responses.create(asked({ type: "input_file", file_data: encoded(pdfOf(["", ""], { picture: { width: 300, height: 200 } })) }));
    expect(open.responder.requests).toMatchObject([
      { images: [{ type: "image", mimeType: "image/jpeg" }], message: expect.stringContaining("[the first 1 of 2 pages are shown]") as string },
    ]);
  });

  test("a file is fetched where that is allowed", async () => {
    const fetchFile: FetchFile = async () => ({ data: Buffer.from("from afar"), mimeType: "text/plain" });
    const file = { type: "input_file", file_url: "https://files.example/notes.txt" };
    await using open = await surface({ urlAllowlist: ["*.example"] }, fetchFile);
    await clientOf(open).responses.create(asked(file));
    expect(open.responder.requests[0]?.message).toContain('<file name="notes.txt" mime="text/plain">');
    await using closed = await surface({ allowUrl: false }, fetchFile);
    await expect(clientOf(closed).responses.create(asked(file))).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/fetching files is turned off/) as string,
    });
    await using elsewhere = await surface({ urlAllowlist: ["other.example"] }, fetchFile);
    await expect(clientOf(elsewhere).responses.create(asked(file))).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/may not be fetched from this host/) as string,
    });
  });

  test.each<[string, object, object, RegExp]>([
    ["with a password", {}, { file_data: encoded(pdfOf(["x"], { isEncrypted: true })) }, /protected with a password/],
    ["that is too large", { maxBytes: 10 }, { file_data: encoded(Buffer.alloc(100, "x"), "text/plain") }, /the limit is 10 B/],
    [
      "of another type",
      {},
      { filename: "a.png", file_data: encoded(Buffer.from("89504e470d0a1a0a", "hex"), "image/png") },
      /files of type image\/png are not supported/,
    ],
    ["of a type that is not allowed", { allowedMimes: ["text/plain"] }, { file_data: encoded(pdfOf(["x"])) }, /expected text\/plain/],
    ["that is no base64", {}, { file_data: "%%%" }, /not valid base64/],
    ["without content", {}, {}, /file_data, file_url or a source/],
    ["at a strange address", {}, { file_url: "file:///etc/passwd" }, /must begin with http/],
  ])("a file %s is refused with the reason", async (_, files, part, reason) => {
    await using open = await surface(files);
    await expect(clientOf(open).responses.create(asked({ type: "input_file", ...part }))).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(reason) as string,
    });
    expect(open.responder.requests).toEqual([]);
  });
});

test("endpoints are off until they are switched on; a gateway that failed says so, one that starts takes what is asked", async () => {
  await using closed = await startSurface({ config: {} });
  const off = new OpenAI({ apiKey: TOKEN, baseURL: `${closed.url}/v1`, maxRetries: 0 });
  await expect(off.chat.completions.create({ model: "openclaw", messages: said("x") })).rejects.toMatchObject({ status: 404 });
  await expect(off.responses.create({ model: "openclaw", input: "x" })).rejects.toMatchObject({ status: 404 });
  await using failed = await startSurface({ health: () => ({ ...HEALTHY, ok: false, status: "failed" }) });
  const late = new OpenAI({ apiKey: TOKEN, baseURL: `${failed.url}/v1`, maxRetries: 0 });
  await expect(late.chat.completions.create({ model: "openclaw", messages: said("x") })).rejects.toMatchObject({ status: 503, code: "UNAVAILABLE" });
  expect(failed.responder.requests).toEqual([]);
  await using starting = await startSurface({ health: () => ({ ...HEALTHY, status: "starting" }) });
  const early = new OpenAI({ apiKey: TOKEN, baseURL: `${starting.url}/v1`, maxRetries: 0 });
  expect((await early.chat.completions.create({ model: "openclaw", messages: said("x") })).choices[0]?.message.content).toBe("Echo: x");
});
