import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { manualClock } from "../../src/base/clock.ts";
import type { ModelEntry } from "../../src/models/entry.ts";
import { classify } from "../../src/models/failover/classify.ts";
import { failureOf } from "../../src/models/failure.ts";
import { PROVIDERS } from "../../src/models/providers/index.ts";
import { streamCall } from "../../src/models/transport/index.ts";
import { encodeRequest, loadWire, WIRE_APIS, type ModelEvent, type WireRequest } from "../../src/models/wire/index.ts";
import { ROOT } from "../harness/gateway-process.ts";

/** Streams in the shapes that providers document, each with what it means. They are written after the documentation: none was taken from a live account. */
const FOLDER = join(ROOT, "test/fixtures/models/cassettes");
/** Bytes at a time; what is longer than a cassette is all of it at once. */
const SIZES = [1, 2, 3, 7, 64, 1000, Number.POSITIVE_INFINITY];
const NOW = 1;

const cassettes = readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.(?:sse|ndjson)$/.test(name))
  .sort();

const model = (api: string): ModelEntry => ({
  provider: "test",
  id: "documented",
  name: "Documented",
  api,
  baseUrl: "http://provider.test",
  reasoning: true,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 100_000,
  maxTokens: 8_000,
  source: "config",
});

function pieces(bytes: Uint8Array<ArrayBuffer>, size: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + size));
      at += size;
    },
  });
}

/** What comes out, in the words of the `.expected.json`; and the deltas, put together. */
async function play(api: string, bytes: Uint8Array<ArrayBuffer>, size: number): Promise<{ readonly outcome: object; readonly streamed: readonly string[] }> {
  const format = await loadWire(api);
  const request: WireRequest = { model: model(api), messages: [{ role: "user", content: "hello", timestamp: NOW }], thinking: "low" };
  const type = format.framing === "sse" ? "text/event-stream" : "application/x-ndjson";
  const fetch = (): Promise<Response> => Promise.resolve(new Response(pieces(bytes, size), { headers: { "content-type": type } }));
  const streamed: string[] = [];
  const keep = (event: ModelEvent): void => {
    if ("delta" in event) streamed[event.index] = (streamed[event.index] ?? "") + event.delta;
  };
  try {
    for await (const event of streamCall(format, request, encodeRequest(format, request), {
      clock: manualClock(NOW),
      headersMs: 1_000,
      progressMs: 1_000,
      fetch,
    })) {
      if (event.type !== "end") keep(event);
      else {
        const { content, stopReason, usage } = event.message;
        const { input, output, cacheRead, cacheWrite } = usage;
        return { outcome: { content, stopReason, usage: { input, output, cacheRead, cacheWrite } }, streamed: streamed.filter((text) => text !== undefined) };
      }
    }
  } catch (error) {
    const failure = failureOf(error);
    if (!failure) throw error;
    const { text, code, status } = failure;
    return { outcome: { failure: classify(failure), text, ...(code === undefined ? {} : { code }), ...(status === undefined ? {} : { status }) }, streamed };
  }
  throw new Error("the stream had no end");
}

/** What the parts of a message must have been streamed as. */
function partsOf(expected: { readonly content?: readonly Record<string, unknown>[] }): readonly string[] {
  return (expected.content ?? []).flatMap((part) => {
    if (part["type"] === "toolCall") return [JSON.stringify(part["arguments"])];
    const text = String(part["text"] ?? part["thinking"]);
    return text === "" ? [] : [text];
  });
}
/** Spaces between tokens of JSON are the provider's choice; no arguments are none or empty ones. */
const normal = (text: string): string => (/^\{.*\}$/s.test(text) ? JSON.stringify(JSON.parse(text)) : text);
const shown = (texts: readonly string[]): readonly string[] => texts.map(normal).filter((text) => text !== "{}");

test("every wire format has cassettes, and each says what comes out", () => {
  expect([...new Set(cassettes.map((name) => dirname(name)))].sort()).toEqual([...WIRE_APIS].sort());
});

/** Whose stream a provider's is like, where it documents no shape of its own. */
const LIKE: Readonly<Record<string, string>> = {
  opencode: "openrouter",
  "vercel-ai-gateway": "vercel-gateway",
  "cloudflare-ai-gateway": "anthropic",
  "minimax-cn": "minimax",
  "minimax-portal": "minimax",
  "qwen-portal": "qwen",
  synthetic: "xiaomi",
  chutes: "vllm",
  "copilot-proxy": "github-copilot",
  llamacpp: "llama-cpp",
};

test("every provider that is called over a format of ours has a cassette, its own or that of one like it", () => {
  const names = cassettes.map((name) => basename(name));
  const without = PROVIDERS.filter(({ api, id }) => WIRE_APIS.includes(api) && !names.some((name) => name.startsWith(`${LIKE[id] ?? id}-`)));
  expect(without.map(({ id }) => id)).toEqual([]);
});

describe.each(cassettes)("%s", (name) => {
  const api = dirname(name);
  const bytes = new Uint8Array(readFileSync(join(FOLDER, name)));
  const expected = JSON.parse(readFileSync(join(FOLDER, api, `${basename(name).replace(/\.\w+$/, "")}.expected.json`), "utf8")) as Record<string, never>;

  test("means the same however its bytes are split", async () => {
    for (const size of SIZES) {
      const { outcome, streamed } = await play(api, bytes, size);
      expect(outcome, `${size} bytes at a time`).toEqual(expected);
      // Of a call that cannot be made, what was streamed of it is no object.
      const isWhole = !("failure" in expected) && !JSON.stringify(expected).includes("argumentsError");
      if (isWhole) expect(shown(streamed), `${size} bytes at a time`).toEqual(shown(partsOf(expected)));
    }
  });
});
