import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test, type TestContext } from "vitest";
import { METHODS } from "../../src/protocol/index.ts";
import { CHECKED_SCHEMAS } from "../../src/protocol/schemas.ts";
import { enter, METHOD_NAMES, type DeviceClient } from "../harness/device-client.ts";
import type { Frame } from "../harness/gateway-client.ts";
import { fingerprint } from "../harness/fingerprint.ts";
import { makePlace, type Place } from "../harness/gateway-process.ts";
import { canTrace, needStrace } from "../harness/privileges.ts";
import { ask, bearer, configText, TOKEN } from "./start.ts";

type Schema = (typeof CHECKED_SCHEMAS)["request"];

/** The least that fits a schema. */
function minimal(schema: Schema): unknown {
  if (schema.anyOf) return minimal(schema.anyOf[0]!);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  switch (schema.type) {
    case "string":
      return schema.pattern === undefined ? "x" : "2026-01-01";
    case "integer":
    case "number":
      return schema.minimum ?? 1;
    case "boolean":
      return true;
    case "array":
      return Array.from({ length: schema.minItems ?? 0 }, () => minimal(schema.items!));
    case "object":
      return Object.fromEntries((schema.required ?? []).map((key) => [key, minimal(schema.properties![key]!)]));
    default:
      return {};
  }
}

/** Gives a copy of `value` with the text at the path replaced. */
function withText(value: unknown, [head, ...rest]: readonly (string | number)[], text: string): unknown {
  if (head === undefined) return text;
  if (typeof head === "number") return [withText((value as unknown[] | undefined)?.[0], rest, text)];
  const before = (value ?? {}) as Record<string, unknown>;
  return { ...before, [head]: withText(before[head], rest, text) };
}

/** Where a method takes free text. */
function textPaths(schema: Schema, at: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (at.length > 4) return [];
  if (schema.anyOf) return schema.anyOf.flatMap((kind) => textPaths(kind, at));
  if (schema.type === "string" && !schema.enum && schema.const === undefined && schema.pattern === undefined) return [at];
  if (schema.type === "array" && schema.items) return textPaths(schema.items, [...at, 0]);
  return Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => textPaths(inner, [...at, key]));
}

const CANARY = "canary-content-5d0c2f7e";
const NAME = `canary-name-${randomUUID()}`;

/** A folder beside the state folder that nobody has any business in. */
function layBait(place: Place): string {
  const outside = join(place.home, "outside");
  mkdirSync(join(outside, "sessions"), { recursive: true });
  for (const name of [NAME, `${NAME}.jsonl`, `${NAME}.json`, `${NAME}.md`, "AGENTS.md", `sessions/${NAME}.jsonl`, "sessions/x.jsonl"])
    writeFileSync(join(outside, name), `${CANARY}\n`);
  return outside;
}

/** Texts that name the bait, for every depth that an id could stand at. */
function corpus(place: Place): readonly string[] {
  const up = (count: number, separator = "/"): string => Array.from({ length: count }, () => `..${separator}`).join("");
  const outside = join(place.home, "outside");
  return [
    ...[1, 2, 3, 4].map((count) => `${up(count)}outside/${NAME}`),
    `${up(4, "\\")}outside\\${NAME}`,
    `${up(30)}${outside.slice(1)}/${NAME}`,
    `${outside}/${NAME}`,
    `file://${outside}/${NAME}`,
    `%2e%2e%2f%2e%2e%2f%2e%2e%2foutside%2f${NAME}`,
    `x/${up(4)}outside/${NAME}\u0000.jsonl`,
    `~/outside/${NAME}`,
    `agent:${up(2)}outside:${NAME}`,
    `agent:${outside}:${NAME}`,
    `agent:main:${up(3)}outside/${NAME}`,
    ".",
    "..",
  ];
}

/** Asks again when the connection is rate limited. */
async function patiently(caller: DeviceClient, method: string, params: unknown): Promise<Frame> {
  for (;;) {
    const answer = await caller.request(method, params);
    if (!answer.error?.message.startsWith("too many requests")) return answer;
    await setTimeout(answer.error.retryAfterMs);
  }
}

/** Here an administrator says where something is on this machine, and that is meant: a plugin's or a skill's folder, an agent's workspace. */
const PLACES: Readonly<Partial<Record<string, string>>> = {
  "plugins.install": "spec",
  "agents.create": "workspace",
  "agents.update": "workspace",
  "wizard.start": "workspace",
  "skills.review": "source",
  "skills.add": "source",
  "tools.explain": "path",
  "exec.approvals.explain": "command",
};

/** Calls every method with every text in every place. Gives how many requests that were. */
async function callAll(client: DeviceClient, node: DeviceClient, texts: readonly string[]): Promise<number> {
  let count = 0;
  // A restart has no texts in its parameters, and would end the connection.
  for (const method of METHOD_NAMES.filter((name) => name !== "update.restart")) {
    const schema = CHECKED_SCHEMAS.params[method];
    const base = { ...(minimal(schema) as object), ...(schema.properties?.["timeoutMs"] ? { timeoutMs: 1 } : {}) };
    const caller = METHODS[method].access === "node" ? node : client;
    // Without its one place there is nothing to ask for: what it would install comes from the network.
    if (method === "plugins.install") continue;
    for (const path of textPaths(schema)) {
      if (path[0] === PLACES[method]) continue;
      const answers = texts.map((text) => {
        const sent = withText(base, path, text) as Record<string, unknown>;
        const key = "idempotencyKey" in (schema.properties ?? {}) && path[0] !== "idempotencyKey" ? { idempotencyKey: `k${(count += 1)}` } : {};
        return patiently(caller, method, { ...sent, ...key });
      });
      count += answers.length;
      for (const answer of await Promise.all(answers)) expect(JSON.stringify(answer)).not.toContain(CANARY);
    }
  }
  return count;
}

/** What the gateway makes for itself: its state, its configuration, the folder of its locks, and the workspace `x` that an agent is made with. */
const OWN = /^\.openclaw-state|^openclaw\.json|^openclaw-\d+|^x(?:\/|$)/;

const NODE = { id: "node-host", mode: "node", version: "1", platform: "linux" } as const;

/** Starts, calls everything over both protocols, and stops. */
async function attack(place: Place, wrap: readonly string[] = []): Promise<number> {
  const agents = { defaults: { workspace: join(place.stateDir, "workspace") } };
  // Every method is called, and none of them is to end the gateway.
  place.configure(
    configText({
      commands: { restart: false },
      gateway: { http: { endpoints: { chatCompletions: { enabled: true }, responses: { enabled: true } } } },
      agents,
    }),
  );
  await using gateway = await place.gateway({ wrap });
  const url = gateway.url!;
  const texts = corpus(place);
  let requests: number;
  {
    await using client = await enter(url, { token: TOKEN, scopes: ["operator.admin"] });
    await using node = await enter(url, { token: TOKEN, role: "node", scopes: [], params: { client: NODE } });
    requests = await callAll(client, node, texts);
    expect((await patiently(client, "health", {})).ok).toBe(true);
    expect(JSON.stringify(client.frames)).not.toContain(CANARY);
  }
  for (const text of texts) {
    if (text.includes("\u0000")) continue;
    for (const headers of [{ "x-openclaw-agent-id": text }, { "x-openclaw-session-key": text }, {}]) {
      const model = Object.keys(headers).length === 0 ? `openclaw:${text}` : "openclaw";
      const body = JSON.stringify({ model, user: text, messages: [{ role: "user", content: "hello" }] });
      const reply = await ask(url, "/v1/chat/completions", { method: "POST", headers: { ...bearer(TOKEN), ...headers }, body });
      expect(reply.body).not.toContain(CANARY);
      requests += 1;
    }
  }
  for (const path of ["/avatar/", "/__openclaw__/canvas/", "/v1/models/", "/hooks/"])
    for (const text of texts) expect((await ask(url, encodeURI(`${path}${text}`), { headers: bearer(TOKEN) })).body).not.toContain(CANARY);
  gateway.child.kill("SIGTERM");
  await gateway.exited;
  return requests;
}

/** Names below a folder that carry the bait's name, up to three levels deep. */
function strays(folder: string, depth = 3): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.name.includes(NAME)) return [path];
    return entry.isDirectory() && depth > 0 && !entry.name.startsWith("systemd-") && existsSync(path) ? tryList(path, depth - 1) : [];
  });
}

function tryList(path: string, depth: number): string[] {
  try {
    return strays(path, depth);
  } catch {
    return [];
  }
}

interface Attacked {
  readonly place: Place;
  readonly outside: string;
  readonly before: ReturnType<typeof fingerprint>;
  readonly requests: number;
  /** What the operating system was asked for, where that can be seen. */
  readonly calls: string;
}

let attacked: Promise<Attacked> | undefined;

/** One attack for the tests that look at what it left. */
function once(): Promise<Attacked> {
  return (attacked ??= (async () => {
    const place = makePlace();
    const outside = layBait(place);
    const before = fingerprint(place.home, OWN);
    const calls = join(mkdtempSync(join(tmpdir(), "calls-")), "calls");
    const traced = ["strace", "-D", "-f", "-q", "-s", "4096", "-o", calls, "-e", "trace=%file", "-e", "signal=none"];
    return { place, outside, before, calls, requests: await attack(place, canTrace() ? traced : []) };
  })());
}

/** An agent that was made with such a name has a plain one; its folder and its index are where all agents have theirs. */
const OF_AGENT = new RegExp(String.raw`/\.openclaw-state/(?:agents/[a-z0-9-]*${NAME}[a-z0-9-]*["/]|memory/[a-z0-9-]*${NAME}[a-z0-9-]*\.sqlite)`);

test("19: a text that names a file, in any parameter of any method, reads and writes nothing outside the state folder", { timeout: 240_000 }, async () => {
  const { place, before, requests } = await once();
  expect(requests).toBeGreaterThan(2000);
  expect(fingerprint(place.home, OWN)).toEqual(before);
  expect(strays(tmpdir()).filter((path) => !/openclaw-e2e-[^/]+\/outside\//.test(path) && !OF_AGENT.test(path))).toEqual([]);
  for (const folder of readdirSync(join(place.stateDir, "agents"), { recursive: true, encoding: "utf8" })) expect(folder).not.toMatch(/\.\.|\\/);
});

test("19: the same, as the operating system sees it: no call names the bait", { timeout: 240_000 }, async (context: TestContext) => {
  needStrace(context);
  const { calls, outside } = await once();
  const lines = readFileSync(calls, "utf8").split("\n");
  expect(lines.length).toBeGreaterThan(100);
  const isOwn = (line: string): boolean => OF_AGENT.test(line) && !line.includes("../");
  expect(lines.filter((line) => !isOwn(line) && (line.includes(outside) || line.includes(NAME) || line.includes("../")))).toEqual([]);
});

test("19: a session key whose agent could be no folder is refused before anything is accepted under it", async () => {
  const place = makePlace();
  place.configure(configText());
  await using gateway = await place.gateway();
  await using client = await enter(gateway.url!, { token: TOKEN, scopes: ["operator.admin"] });
  for (const key of ["agent:../../outside:x", "agent:..:x", "agent:a/b:x", "agent:a\\b:x", "agent:\u0000:x", "agent:.hidden:x", `agent:${"a".repeat(200)}:x`]) {
    for (const [method, params] of [
      ["chat.send", { sessionKey: key, message: "hello", idempotencyKey: key }],
      ["sessions.patch", { key, label: "x" }],
      ["sessions.reset", { key }],
    ] as const) {
      const { error } = await client.ask(method, params);
      expect([method, key, error?.code, error?.message]).toEqual([
        method,
        key,
        "INVALID_REQUEST",
        `malformed session key "${key.replaceAll("\u0000", "\\u0000")}"`,
      ]);
    }
  }
  expect((await client.ask("sessions.list")).payload).toMatchObject({ count: 0 });
});
