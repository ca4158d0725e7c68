import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { modelsAt } from "../../src/setup/steps/model/models-at.ts";

const host = { clock: systemClock, signal: new AbortController().signal };

/** A server that answers these paths with JSON, and everything else with 404. */
async function serve(paths: Readonly<Record<string, unknown>>) {
  const keys: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers.authorization);
    const body = paths[request.url ?? ""];
    response.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" }).end(JSON.stringify(body ?? {}));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, keys };
}

test("models of an OpenAI-compatible server are listed with the key, at its URL or below /v1", async () => {
  const list = { object: "list", data: [{ id: "large" }, { id: "small" }] };
  const direct = await serve({ "/v1/models": list });
  expect(await modelsAt(host, `${direct.url}/v1/`, "sk-1")).toEqual({ baseUrl: `${direct.url}/v1`, models: ["large", "small"] });
  expect(direct.keys).toEqual(["Bearer sk-1"]);
  expect(await modelsAt(host, direct.url, "")).toEqual({ baseUrl: `${direct.url}/v1`, models: ["large", "small"] });
});

test("models of Ollama are listed, and requests go below /v1", async () => {
  const { url } = await serve({ "/api/tags": { models: [{ name: "llama3:8b", model: "llama3:8b" }] } });
  expect(await modelsAt(host, url, "")).toEqual({ baseUrl: `${url}/v1`, models: ["llama3:8b"] });
});

test("a server that lists nothing gives no list", async () => {
  const { url } = await serve({});
  expect(await modelsAt(host, url, "")).toBeUndefined();
});
