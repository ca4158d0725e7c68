import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { enter, type DeviceClient } from "../harness/device-client.ts";
import { ask, bearer, start, TOKEN, type Started } from "./start.ts";

/** Without Linux's /proc nothing can be measured from outside. */
const NO_PROC = process.platform !== "linux";

let gateway: Started;
let client: DeviceClient;
beforeAll(async () => {
  const http = { endpoints: { chatCompletions: { enabled: true }, responses: { enabled: true } } };
  // Wrong tokens are among the texts: with the usual limit each later request would be held back for a second.
  const auth = { token: TOKEN, rateLimit: { maxAttempts: 100_000 } };
  gateway = await start(
    { gateway: { auth, http }, logging: { level: "debug" }, hooks: { enabled: true, token: "hook-token-0123456789" } },
    { args: ["--verbose"] },
  );
  client = await enter(gateway.url, { token: TOKEN, scopes: ["operator.admin"] });
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});

/**
 * Time in ms that the thread of the event loop has computed. Unlike a latency it does not count what other programs of the machine do:
 * what it grows by during one request bounds how long that request can have kept the loop.
 */
function loopTime(): number {
  const { pid } = gateway.process.child;
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}

/** The least of three: collecting garbage is not what is looked for. */
async function costOf(work: () => Promise<unknown>): Promise<number> {
  const costs: number[] = [];
  for (let n = 0; n < 3; n += 1) {
    const before = loopTime();
    await work();
    costs.push(loopTime() - before);
  }
  return Math.min(...costs);
}

const long = (text: string, length = 100_000): string => text.repeat(Math.ceil(length / text.length));

/** Texts on which patterns that try again and again need forever. */
const HOSTILE: Readonly<Record<string, string>> = {
  letters: `${long("a")}!`,
  spaces: `x${long(" ")}x`,
  tabs: `${long("\t ")}x`,
  newlines: `x${long("\n")}x`,
  slashes: `${long("/")}x`,
  dots: `${long("../")}x`,
  colons: `agent:${long("a:")}`,
  quotes: long('"\\"'),
  brackets: long("[[{{(("),
  settings: long("@chunks=9 @gap=9x "),
  almost: long("@chunks=1234567890"),
  presence: `Node: ${long("x (y) · ")}`,
  presence2: `Node: a (b) · app ${long(" · app x")} last input ${long("9")}s`,
  envelope: `[${long("Sun 2026-11-15 ")}`,
  envelope2: `${long("[a] ")}x`,
  secrets: long("token=aaaa password: bbbb "),
  keys: `sk-${long("a-")}`,
  bearer: `Bearer ${long("a.")}`,
  urls: long("https://a:b@"),
  mail: `${long("a@a.")}@`,
  base64: `data:${long("image/png;")};base64,${long("A")}`,
  pem: long("-----BEGIN PRIVATE KEY-----\n"),
  surrogates: long("\ud83e\udd9e"),
  combining: `e${long("\u0301")}`,
  unsorted: `e${long("\u0301\u0323")}`,
  json: long('{"a":'),
  numbers: `1${long("0")}e${long("9", 1000)}`,
  hex: long("0x"),
  stop: `${long(" ")}stop${long(" ")}`,
};

const cases = Object.entries(HOSTILE).map(([name, text]) => ({ name, text }));
let runs = 0;
const LIMIT_MS = 50;

test.skipIf(NO_PROC).each(cases)("25: $name in any text a client sends keeps the event loop for less than 50 ms", async ({ text }) => {
  const short = text.slice(0, 60_000);
  const asks: Record<string, () => Promise<unknown>> = {
    "chat.send": () =>
      client.request("chat.send", {
        sessionKey: "main",
        message: short.replaceAll(/@(?:chunks|gap)=(?=\d+ )/g, "@x="),
        idempotencyKey: `hostile-${(runs += 1)}`,
      }),
    "chat.history": () => client.request("chat.history", { sessionKey: "main", limit: 5 }),
    "session key": () => client.request("chat.history", { sessionKey: short }),
    "run id": () => client.request("agent.wait", { runId: short, timeoutMs: 0 }),
    search: () => client.request("sessions.list", { search: short, label: short.slice(0, 60) }),
    label: () => client.request("sessions.patch", { key: "agent:main:hostile", label: short }),
    preview: () => client.request("sessions.preview", { keys: [short] }),
    presence: () => client.request("system-event", { text: short }),
    config: () => client.request("config.set", { raw: short, baseHash: "x" }),
    attachment: () => client.request("chat.send", { sessionKey: "main", message: "", attachments: [{ content: short, fileName: short }], idempotencyKey: "a" }),
    day: () => client.request("usage.cost", { startDate: short }),
    method: () => client.request(short, {}),
    "bad frame": () => client.request("health", { [short]: short }),
    id: () => client.request("health", {}, short),
  };
  for (const [what, work] of Object.entries(asks)) expect([what, await costOf(work)]).toEqual([what, expect.toSatisfy((ms: number) => ms < LIMIT_MS)]);
});

test.skipIf(NO_PROC).each(cases)("25: $name in an address, a header or a body keeps the event loop for less than 50 ms", async ({ text }) => {
  // oxlint-disable-next-line no-control-regex
  const header = text.slice(0, 12_000).replaceAll(/[^\u0020-\u007e]/g, "~");
  const path = `/${encodeURI(text.slice(0, 3000).toWellFormed())}`;
  const post = (target: string, body: unknown, token = TOKEN) =>
    ask(gateway.url, target, { method: "POST", headers: bearer(token), body: typeof body === "string" ? body : JSON.stringify(body) });
  const asks: Record<string, () => Promise<unknown>> = {
    path: () => ask(gateway.url, path),
    query: () => ask(gateway.url, `/health?${path.slice(1)}=${path}`),
    authorization: () => ask(gateway.url, "/v1/models", { headers: { authorization: `Bearer ${header}` } }),
    origin: () => ask(gateway.url, "/v1/models", { headers: { ...bearer(TOKEN), origin: header } }),
    forwarded: () => ask(gateway.url, "/v1/models", { headers: { ...bearer(TOKEN), "x-forwarded-for": header } }),
    host: () => ask(gateway.url, "/health", { headers: { host: header } }),
    "agent id": () => ask(gateway.url, "/v1/models", { headers: { ...bearer(TOKEN), "x-openclaw-agent-id": header } }),
    model: () => post("/v1/chat/completions", { model: text.slice(0, 60_000), messages: [] }),
    json: () => post("/tools/invoke", text),
    tool: () => post("/tools/invoke", { tool: text }),
    hook: () => post("/hooks/wake", { text }, "hook-token-0123456789"),
  };
  for (const [what, work] of Object.entries(asks)) expect([what, await costOf(work)]).toEqual([what, expect.toSatisfy((ms: number) => ms < LIMIT_MS)]);
});

test("25: the gateway answers as before", async () => {
  expect((await client.ask("health")).ok).toBe(true);
  expect((await ask(gateway.url, "/health")).status).toBe(200);
});
