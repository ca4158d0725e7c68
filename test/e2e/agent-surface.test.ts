import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startModelServer, STREAMS, type ModelServer } from "../fakes/model-server/index.ts";
import type { ScriptedAnswer } from "../fakes/model-server/script.ts";
import { docxOf, pdfOf } from "../harness/documents.ts";
import { enter } from "../harness/device-client.ts";
import type { Frame } from "../harness/gateway-client.ts";
import { makePlace, type GatewayProcess, type Place } from "../harness/gateway-process.ts";

/** The whole gateway as a process, with the agent's turn and a scripted model behind it. */
const API = "openai-completions";
const TOKEN = "token-of-this-test-0123456789";
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

let server: ModelServer;
let place: Place;
let gateway: GatewayProcess;
let client: OpenAI;
beforeAll(async () => {
  server = await startModelServer();
  place = makePlace();
  const model = { id: "large", name: "Large", contextWindow: 100_000, maxTokens: 1_000, input: ["text", "image"], reasoning: false };
  place.configure(
    JSON.stringify({
      gateway: {
        mode: "local",
        auth: { mode: "token", token: TOKEN },
        http: { endpoints: { chatCompletions: { enabled: true }, responses: { enabled: true } } },
      },
      agents: { defaults: { model: { primary: "acme/large" }, workspace: join(place.home, "workspace") } },
      models: {
        providers: {
          acme: { baseUrl: server.url, apiKey: "sk-example-0123456789abcdef", api: API, models: [model, { ...model, id: "blind", input: ["text"] }] },
        },
      },
    }),
  );
  gateway = await place.gateway();
  if (gateway.url === undefined) throw new Error(gateway.output());
  client = new OpenAI({ apiKey: TOKEN, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const says = (...answers: readonly ScriptedAnswer[]): void =>
  server.play(...answers.map((answer) => ({ kind: "stream" as const, frames: STREAMS[API]!(answer) })));
const sent = (): { readonly tools?: { function: { name: string } }[]; readonly messages: unknown[]; readonly max_tokens?: number } =>
  JSON.parse(server.requests.at(-1)!.body) as never;
const weather = { name: "weather_of", description: "The weather", parameters: { type: "object", properties: { city: { type: "string" } } } };
const CALL = { id: "call_1", name: "weather_of", arguments: ['{"city":', '"Bern"}'] };

test("a caller's tool is shown to the model, and its call goes back to the caller", async () => {
  says({ toolCalls: [CALL], usage: { input: 40, output: 7, cacheRead: 2 } });
  const completion = await client.chat.completions.create({
    model: "openclaw",
    messages: [{ role: "user", content: "weather?" }],
    tools: [{ type: "function", function: weather }],
  });
  expect(sent().tools?.map((tool) => tool.function.name)).toContain("weather_of");
  expect(completion.choices[0]).toMatchObject({ finish_reason: "tool_calls", message: { tool_calls: [{ function: { name: "weather_of" } }] } });
  const [call] = completion.choices[0]!.message.tool_calls!;
  expect(call!.type === "function" && JSON.parse(call!.function.arguments)).toEqual({ city: "Bern" });
  expect(completion.usage).toMatchObject({ prompt_tokens: 42, completion_tokens: 7, total_tokens: 49 });
});

test("a streamed response with a caller's tool is put together by the official client", async () => {
  says({ text: ["Let me ", "see."], toolCalls: [CALL] });
  const stream = client.responses.stream({ model: "openclaw", input: "weather?", tools: [{ type: "function", strict: null, ...weather }] });
  const response = await stream.finalResponse();
  expect(response.output.flatMap((item) => (item.type === "function_call" ? [[item.name, JSON.parse(item.arguments)]] : []))).toEqual([
    ["weather_of", { city: "Bern" }],
  ]);
  expect(response.usage?.output_tokens).toBe(5);
});

test("an image reaches the model, and a limit of tokens too", async () => {
  says({ text: ["A dot."] });
  const completion = await client.chat.completions.create({
    model: "openclaw",
    max_tokens: 50,
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "what is it?" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
        ],
      },
    ],
  });
  expect(completion.choices[0]?.message.content).toBe("A dot.");
  expect(JSON.stringify(sent().messages.at(-1))).toContain(PNG);
});

test("documents of a client stand in the prompt, marked as text of others; a picture is described for a model that is blind; /status shows it", async () => {
  says({ text: ["A red dot."] }, { text: ["Read."] });
  await using visitor = await enter(gateway.url!, { token: TOKEN, scopes: ["operator.admin"] });
  await visitor.ask("sessions.patch", { key: "files", model: "acme/blind" });
  const send = async (message: string, attachments: readonly object[] = []): Promise<string> => {
    const runId = crypto.randomUUID();
    await visitor.ask("chat.send", { sessionKey: "files", message, idempotencyKey: runId, attachments });
    const final = await visitor.next(({ event, payload }) => event === "chat" && payload?.["runId"] === runId && payload["state"] !== "delta");
    return JSON.stringify(final.payload);
  };
  const pdf = pdfOf(["Total 12"]).toString("base64");
  const docx = docxOf("Dear Ada").toString("base64");
  await send("look", [
    { type: "image", mimeType: "image/png", content: PNG },
    { mimeType: "application/pdf", fileName: "bill.pdf", content: pdf },
    { fileName: "letter.docx", content: docx },
  ]);
  const prompt = JSON.stringify(sent().messages.at(-1));
  expect(prompt).toMatch(/\[Image\]\\nDescription:\\n<<<EXTERNAL_UNTRUSTED_CONTENT [^]*A red dot\./);
  expect(prompt).toMatch(/<file name=\\"bill\.pdf\\" mime=\\"application\/pdf\\">[^]*Total 12[^]*<file name=\\"letter\.docx\\"[^]*Dear Ada/);
  expect(prompt).not.toContain(PNG);
  expect(await send("/status")).toContain("📎 Media: image ok (acme/large) · document ok");
});

test("the tokens of a streamed answer are reported when asked for", async () => {
  says({ text: ["a", "b"], usage: { input: 10, output: 5, cacheRead: 0 } });
  const stream = await client.chat.completions.create({
    model: "openclaw",
    messages: [{ role: "user", content: "x" }],
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks = await Array.fromAsync(stream);
  expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 5 });
  expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe("ab");
});

test("who takes part in a run sees its tools at work; the transcript and the answer follow", async () => {
  mkdirSync(join(place.home, "workspace"), { recursive: true });
  writeFileSync(join(place.home, "workspace", "note.txt"), "the note says hello");
  says({ toolCalls: [{ id: "call_2", name: "read", arguments: ['{"path":"note.txt"}'] }] }, { text: ["It says hello."] });
  await using visitor = await enter(gateway.url!, { token: TOKEN, scopes: ["operator.admin"], params: { caps: ["tool-events"] } });
  await visitor.ask("sessions.patch", { key: "main", verboseLevel: "full" });
  const runId = crypto.randomUUID();
  await visitor.ask("chat.send", { sessionKey: "main", message: "read the note", idempotencyKey: runId });
  const mine = (frame: Frame): boolean => frame.payload?.["runId"] === runId;
  const final = await visitor.next((frame) => mine(frame) && frame.event === "chat" && frame.payload?.["state"] !== "delta");
  expect(JSON.stringify(final.payload)).toContain("It says hello.");
  const tools = visitor.frames.filter((frame) => mine(frame) && frame.payload?.["stream"] === "tool");
  expect(tools.map(({ payload }) => (payload!["data"] as { phase: string }).phase).filter((phase) => phase !== "update")).toEqual(["start", "result"]);
  expect(JSON.stringify(tools.at(-1))).toContain("the note says hello");
  const numbers = visitor.frames.filter((frame) => mine(frame) && frame.event === "agent").map(({ payload }) => payload!["seq"]);
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  expect(visitor.faults()).toEqual([]);
});

test("a tool is called over HTTP under the session's policy", async () => {
  const invoke = async (body: object): Promise<{ readonly status: number; readonly body: unknown }> => {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const reply = await fetch(`${gateway.url}/tools/invoke`, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: reply.status, body: await reply.json() };
  };
  expect(await invoke({ tool: "agents_list" })).toMatchObject({ status: 200, body: { ok: true, result: { content: [{ type: "text" }] } } });
  expect(await invoke({ tool: "no_such_tool" })).toMatchObject({ status: 404, body: { ok: false, error: { type: "not_found" } } });
  expect(await invoke({ tool: "exec", args: { command: "id" } })).toMatchObject({ status: 404 });
});

test("policy is explained by the gateway that has the tools", async () => {
  await using visitor = await enter(gateway.url!, { token: TOKEN, scopes: ["operator.read"] });
  const { payload } = await visitor.ask("tools.explain", { tool: "read" });
  expect(payload).toMatchObject({ agentId: "main", sessionKey: "agent:main:main", tools: [{ name: "read", allowed: true }] });
  expect(JSON.stringify((await visitor.ask("tools.catalog", {})).payload)).toContain('"name":"exec"');
});
