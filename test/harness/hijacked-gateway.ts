import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { enter, type DeviceClient } from "./device-client.ts";
import { makePlace, type GatewayProcess, type Place } from "./gateway-process.ts";
import { orders, startHijackedModel, textOf, type HijackedCall, type HijackedModel } from "./hijacked-model.ts";

/** What must not come out anywhere. */
export const CANARIES = { token: "canary-gateway-token", key: "canary-provider-key", secret: "canary-secret-outside" };

/** What each agent may do. */
export const AGENTS = [
  { id: "free", tools: { exec: { host: "gateway", security: "full", ask: "off" } } },
  { id: "fenced", tools: { fs: { workspaceOnly: true }, exec: { host: "gateway", security: "allowlist", ask: "off" } } },
  { id: "mute", tools: { exec: { host: "gateway", security: "deny", ask: "off" } } },
  { id: "asking", tools: { exec: { host: "gateway", security: "allowlist", ask: "on-miss" } } },
  { id: "reader", tools: { allow: ["read"], exec: { host: "gateway", security: "full", ask: "off" } } },
];

/** The result of a call, as the model got it. */
export interface CallResult {
  readonly text: string;
  readonly failed: boolean;
}

export interface Order {
  readonly session?: string;
  readonly by?: DeviceClient;
}

/** A line of a session file. */
export interface RecordedLine {
  readonly message?: Readonly<Record<string, unknown>>;
}

/** A real gateway whose model was talked into everything, with agents of different rights. */
export interface HijackedGateway extends AsyncDisposable {
  readonly place: Place;
  readonly model: HijackedModel;
  readonly gateway: GatewayProcess;
  /** May do everything. */
  readonly owner: DeviceClient;
  /** May talk to agents, and no more. */
  readonly guest: DeviceClient;
  /** A folder outside of every workspace, with one file in it. */
  readonly outside: string;
  readonly secretFile: string;
  /** `exec-approvals.json`. */
  readonly rulesFile: string;
  workspace(agent: string): string;
  inside(agent: string, name: string): string;
  /** Lines of an agent's session files, as they are on disk. */
  recorded(agent: string): readonly RecordedLine[];
  /** Has the model of an agent make the calls. Returns the result of each, which is also what the transcript keeps. */
  order(agent: string, calls: readonly HijackedCall[], options?: Order): Promise<readonly CallResult[]>;
  /** Every call is refused, with a reason, and tells nothing of what it was after. */
  refused(agent: string, calls: readonly HijackedCall[], why: RegExp, options?: Order): Promise<void>;
  /** The call is granted. */
  works(agent: string, call: HijackedCall, options?: Order): Promise<string>;
  /** Names of the tools that the model was shown last. */
  offered(): readonly string[];
  /** The operator decides about what the model asked for. */
  decide(about: string, decision: string): Promise<void>;
}

interface Ground {
  readonly place: Place;
  readonly outside: string;
  readonly secretFile: string;
  readonly rulesFile: string;
  workspace(agent: string): string;
}

function makeGround(): Ground {
  const place = makePlace();
  const outside = join(place.home, "outside");
  const secretFile = join(outside, "secret.txt");
  const rulesFile = join(place.stateDir, "exec-approvals.json");
  const workspace = (agent: string): string => join(place.home, `ws-${agent}`);
  for (const { id } of AGENTS) mkdirSync(workspace(id), { recursive: true });
  mkdirSync(outside);
  mkdirSync(place.stateDir, { mode: 0o700 });
  writeFileSync(secretFile, CANARIES.secret);
  const allowlist = ["echo", "ln", "cat", "ls"].flatMap((name) => [`/bin/${name}`, `/usr/bin/${name}`]).map((pattern) => ({ pattern }));
  writeFileSync(rulesFile, JSON.stringify({ version: 1, agents: { fenced: { allowlist }, asking: { allowlist } } }), { mode: 0o600 });
  const plugin = join(place.home, "plugins/vault");
  mkdirSync(plugin, { recursive: true });
  writeFileSync(join(plugin, "package.json"), JSON.stringify({ name: "vault", version: "1.0.0", openclaw: { extensions: ["./index.js"] } }));
  writeFileSync(join(plugin, "openclaw.plugin.json"), JSON.stringify({ id: "vault", configSchema: { type: "object", properties: {} } }));
  writeFileSync(
    join(plugin, "index.js"),
    `const tool = (name, ownerOnly) => ({ name, ownerOnly, description: name, parameters: { type: "object", properties: {} },
       execute: async () => ({ content: [{ type: "text", text: name + " is open" }], details: {} }) });
     module.exports = (api) => { api.registerTool(tool("vault", true)); api.registerTool(tool("hall", false)); };`,
  );
  return { place, outside, secretFile, rulesFile, workspace };
}

function configure({ place, workspace }: Ground, modelUrl: string, nodes: object): void {
  const models = [{ id: "m1", name: "m1", contextWindow: 200_000, maxTokens: 8192 }];
  place.configure(
    JSON.stringify({
      gateway: { mode: "local", auth: { mode: "token" }, nodes },
      agents: {
        defaults: { model: { primary: "mock/m1" }, skipBootstrap: true },
        list: AGENTS.map((agent, n) => ({ ...agent, workspace: workspace(agent.id), ...(n === 0 ? { default: true } : {}) })),
      },
      models: { providers: { mock: { baseUrl: modelUrl, apiKey: CANARIES.key, api: "openai-completions", models } } },
      plugins: { load: { paths: [join(place.home, "plugins/vault")] }, entries: { vault: { enabled: true } } },
    }),
  );
}

function recordedIn(stateDir: string, agent: string): readonly RecordedLine[] {
  const folder = join(stateDir, "agents", agent, "sessions");
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".jsonl")) : [];
  return files.flatMap((name) => {
    const text = readFileSync(join(folder, name), "utf8");
    // The last line may be about to be written.
    const lines = text.split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line) as RecordedLine);
  });
}

/** `nodes`: what nodes may be asked for. */
export async function startHijackedGateway({ nodes = {} }: { readonly nodes?: object } = {}): Promise<HijackedGateway> {
  const ground = makeGround();
  const { place, workspace } = ground;
  const model = await startHijackedModel();
  configure(ground, model.url, nodes);
  const gateway = await place.gateway({
    env: { OPENCLAW_GATEWAY_TOKEN: CANARIES.token, ANTHROPIC_API_KEY: CANARIES.key, OPENAI_API_KEY: CANARIES.key, HARMLESS: "canary-harmless" },
  });
  if (gateway.url === undefined) throw new Error(gateway.output());
  const { token } = CANARIES;
  const owner = await enter(gateway.url, { token, scopes: ["operator.admin", "operator.read", "operator.write", "operator.approvals"] });
  const guest = await enter(gateway.url, { token, scopes: ["operator.read", "operator.write"] });
  const decided = new Set<string>();
  let runs = 0;
  const recorded = (agent: string): readonly RecordedLine[] => recordedIn(place.stateDir, agent);

  /** The results of calls as the transcript keeps them. */
  function resultsOf(agent: string, ids: readonly string[]): readonly (RecordedLine["message"] | undefined)[] {
    const kept = recorded(agent).flatMap(({ message }) => (message?.["role"] === "toolResult" ? [[String(message["toolCallId"]), message] as const] : []));
    const byId = new Map(kept);
    return ids.map((id) => byId.get(id));
  }

  async function order(agent: string, calls: readonly HijackedCall[], { session = "main", by = owner }: Order = {}): Promise<readonly CallResult[]> {
    const idempotencyKey = `run-${(runs += 1)}`;
    const sent = await by.request("chat.send", { sessionKey: `agent:${agent}:${session}`, message: orders(calls), idempotencyKey });
    expect(sent.ok, JSON.stringify(sent)).toBe(true);
    const end = await by.request("agent.wait", { runId: idempotencyKey, timeoutMs: 20_000 });
    expect(end.payload?.["status"], JSON.stringify(end)).toBe("ok");
    // The last request of this turn: another one may have begun, for a command that ended meanwhile.
    const lastUser = ({ messages }: (typeof model.requests)[number]): number => messages.findLastIndex(({ role }) => role === "user");
    const written = JSON.stringify(orders(calls)).slice(1, -1);
    const request = model.requests.findLast((one) => JSON.stringify(one.messages[lastUser(one)]?.content).includes(written)) ?? model.requests.at(-1)!;
    const answers = request.messages.slice(lastUser(request)).filter(({ role }) => role === "tool");
    expect(answers, "each call has one answer").toHaveLength(calls.length);
    const ids = answers.map(({ tool_call_id }) => tool_call_id!);
    // The file follows what is committed within moments.
    await expect.poll(() => resultsOf(agent, ids)).not.toContain(undefined);
    const lines = resultsOf(agent, ids);
    return answers.map(({ content }, n) => {
      expect(textOf(lines[n]!["content"]), "the transcript keeps what the model was sent").toBe(textOf(content));
      return { text: textOf(content), failed: lines[n]!["isError"] === true };
    });
  }

  return {
    ...ground,
    model,
    gateway,
    owner,
    guest,
    inside: (agent, name) => join(workspace(agent), name),
    recorded,
    order,
    async refused(agent, calls, why, options) {
      const results = await order(agent, calls, options);
      for (const [n, { text, failed }] of results.entries()) {
        const what = `${JSON.stringify(calls[n]).slice(0, 300)} → ${text.slice(0, 300)}`;
        expect(failed, what).toBe(true);
        expect(text, what).toMatch(why);
        expect(text, what).not.toContain(CANARIES.secret);
      }
    },
    async works(agent, call, options) {
      const [result] = await order(agent, [call], options);
      expect(result!.failed, result!.text).toBe(false);
      return result!.text;
    },
    offered: () => model.requests.at(-1)!.tools.map(({ name }) => name),
    async decide(about, decision) {
      const asked = await owner.next(({ event, payload }) => {
        const { id, request } = (payload ?? {}) as { readonly id?: string; readonly request?: { readonly command: string } };
        return event === "exec.approval.requested" && !decided.has(id!) && request!.command.includes(about);
      });
      const id = String(asked.payload!["id"]);
      decided.add(id);
      const resolved = await owner.request("exec.approval.resolve", { id, decision });
      expect(resolved.ok, JSON.stringify(resolved)).toBe(true);
    },
    async [Symbol.asyncDispose]() {
      for (const one of [owner, guest, gateway, model]) await one[Symbol.asyncDispose]();
      rmSync(place.home, { recursive: true, force: true });
    },
  };
}

export const read = (path: string): HijackedCall => ({ name: "read", args: { path } });
export const write = (path: string, content = "owned"): HijackedCall => ({ name: "write", args: { path, content } });
export const edit = (path: string): HijackedCall => ({ name: "edit", args: { path, oldText: "canary", newText: "owned" } });
export const exec = (command: string, args: Readonly<Record<string, unknown>> = {}): HijackedCall => ({ name: "exec", args: { command, ...args } });
