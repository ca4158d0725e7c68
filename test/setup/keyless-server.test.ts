import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { expect, onTestFinished, test, vi } from "vitest";
import { STREAMS } from "../fakes/model-server/index.ts";
import { at, setupHome } from "./place.ts";

vi.setConfig({ testTimeout: 60_000 });

const PATHS = { "/v1/chat/completions": "openai-completions", "/v1/messages": "anthropic-messages" } as const;

/** A server that answers everybody without a key, and refuses anyone who sends one. */
async function startKeylessServer(): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const api = PATHS[request.url as keyof typeof PATHS];
    const hasKey = request.headers.authorization !== undefined || request.headers["x-api-key"] !== undefined;
    asked.push(`${request.url} ${hasKey ? "with a key" : "without a key"}`);
    request.resume();
    if (hasKey || api === undefined) {
      response.writeHead(hasKey ? 401 : 404, { "content-type": "application/json" }).end(JSON.stringify({ error: { message: "not here" } }));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(STREAMS[api]!({ text: ["Hello from your own server"] }).join(""));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => server.closeAllConnections());
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked };
}

test.each(["openai", "anthropic"])("a server of one's own without a key (%s) answers after it was set up", async (compatibility) => {
  const server = await startKeylessServer();
  const home = setupHome();
  const about = ["--custom-base-url", server.url, "--custom-model-id", "m1", "--custom-provider-id", "acme", "--custom-compatibility", compatibility];
  expect(await home.onboard(...about)).toMatchObject({ code: 0 });
  expect([home.profiles(), at(home.config(), "models.providers.acme.apiKey")]).toEqual([{}, undefined]);

  const turn = await home.run(["agent", "--local", "--agent", "main", "--message", "hello"]);
  expect([turn.code, turn.stdout, turn.stderr]).toEqual([0, expect.stringContaining("Hello from your own server"), expect.not.stringContaining("API key")]);
  expect(server.asked.length).toBeGreaterThan(0);
  expect(server.asked.filter((line) => line.includes("with a key"))).toEqual([]);

  const { stdout } = await home.run(["models", "status", "--json"]);
  expect(at(JSON.parse(stdout), "auth.missingProvidersInUse")).toEqual([]);
  const checked = await home.run(["doctor", "--non-interactive"]);
  expect(`${checked.stdout}${checked.stderr}`).not.toMatch(/no key for acme/);
});
