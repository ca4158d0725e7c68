import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { MethodResult } from "../../src/protocol/index.ts";
import { startTelegram } from "../fakes/telegram/index.ts";
import { enter, type DeviceClient } from "../harness/device-client.ts";
import { makePlace, type GatewayOptions, type GatewayProcess, type Place } from "../harness/gateway-process.ts";
import { startMockModel, type MockModel } from "../harness/mock-model.ts";
import type { Build } from "../harness/program.ts";

const TOKEN = "a-token-for-approvals-0123456789";
/** With failpoints. */
const BUILD = (process.env["OPENCLAW_TEST_BUILD"] ?? "dist-test") as Build;
const SOON = { timeout: 20_000, interval: 25 };
const KEY = "agent:main:web:asked";

let model: MockModel;
beforeAll(async () => {
  model = await startMockModel();
});
afterAll(() => model[Symbol.dispose]());

interface House extends AsyncDisposable {
  readonly place: Place;
  readonly workspace: string;
  gateway: GatewayProcess;
  start(options?: GatewayOptions): Promise<void>;
  client(): Promise<DeviceClient>;
}

const houses: House[] = [];
afterEach(async () => {
  for (const house of houses.splice(0)) await house[Symbol.asyncDispose]();
});

async function open(config: Readonly<Record<string, unknown>> = {}, options: GatewayOptions = {}): Promise<House> {
  const place = makePlace();
  const workspace = join(place.home, "workspace");
  mkdirSync(workspace);
  const models = [{ id: "m1", name: "Mock One", contextWindow: 200_000, maxTokens: 8192 }];
  const base = {
    gateway: { auth: { mode: "token", token: TOKEN } },
    agents: { defaults: { workspace, model: { primary: "mock/m1" } } },
    models: { providers: { mock: { baseUrl: model.url, apiKey: "none", api: "openai-completions", models } } },
    tools: { exec: { host: "gateway", ask: "always" } },
  };
  place.configure(JSON.stringify({ ...base, ...config }));
  const house: House = {
    place,
    workspace,
    gateway: await place.gateway({ build: BUILD, ...options }),
    async start(more = {}) {
      house.gateway = await place.gateway({ build: BUILD, ...more });
    },
    client: () => enter(house.gateway.url!, { token: TOKEN, scopes: ["operator.admin", "operator.write", "operator.approvals", "operator.read"] }),
    async [Symbol.asyncDispose]() {
      await house.gateway[Symbol.asyncDispose]();
      rmSync(place.home, { recursive: true, force: true, maxRetries: 3 });
    },
  };
  houses.push(house);
  return house;
}

type Page = MethodResult<"chat.page">;

const page = async (client: DeviceClient, commands: readonly string[] = []): Promise<Page> =>
  (await client.ask("chat.page", { sessionKey: KEY, commands })).payload as unknown as Page;

const words = ({ content }: Page["entries"][number]): string => (content as readonly { text?: string }[]).map(({ text = "" }) => text).join("");
const answers = ({ entries }: Page): readonly string[] => entries.filter(({ kind }) => kind === "assistant").map(words);

/** Says something that makes the agent ask, and gives the id of its question. */
async function ask(client: DeviceClient, command: string): Promise<string> {
  await model.planCommand(command);
  await client.ask("chat.send", { sessionKey: KEY, message: "run it please", idempotencyKey: `ask-${command.length}` });
  await expect.poll(async () => answers(await page(client)), SOON).toContain("I asked.");
  const { approvals } = (await client.ask("exec.approval.list", {})).payload as unknown as MethodResult<"exec.approval.list">;
  return approvals[0]!.id;
}

const decide = (client: DeviceClient, id: string, decision: string) => client.ask("exec.approval.resolve", { id, decision });

/** Waits until the session has gone on and given this answer. */
async function goneOn(client: DeviceClient, answer: string): Promise<Page> {
  await expect.poll(async () => answers(await page(client)), SOON).toContain(answer);
  await expect.poll(async () => (await page(client)).runs.length, SOON).toBe(0);
  return page(client);
}

test("after an approval the command runs, and the session goes on by itself with what came of it", async () => {
  const house = await open();
  await using client = await house.client();
  const id = await ask(client, "echo '@say=The number is 42.'; exit 3");
  expect((await page(client)).commands).toMatchObject([{ id, state: "asked" }]);
  await decide(client, id, "allow-once");
  const shown = await goneOn(client, "The number is 42.");
  expect(shown.commands).toMatchObject([{ id, state: "ended", exitCode: 3, output: "@say=The number is 42." }]);
  const notes = shown.entries.filter(({ kind }) => kind === "note");
  expect(notes).toMatchObject([
    { content: [], told: [expect.stringMatching(`Exec finished \\(gateway id=${id}, session=[a-z-]+, code 3\\)\n@say`)], runId: `exec-${id}` },
  ]);
  expect(shown.entries.filter(({ kind }) => kind === "user").map(words)).toEqual(["run it please"]);
  expect(shown.pending).toEqual([]);
});

test("a denial is reported, and the agent can say so", async () => {
  const house = await open();
  await using client = await house.client();
  const id = await ask(client, "touch made # @say=You did not allow it.");
  await decide(client, id, "deny");
  const shown = await goneOn(client, "You did not allow it.");
  expect(shown.commands).toMatchObject([{ id, state: "denied", why: "user-denied" }]);
  expect(existsSync(join(house.workspace, "made"))).toBe(false);
});

test("its output is sent while it runs, to a page that names it", async () => {
  const house = await open();
  await using client = await house.client();
  const id = await ask(client, "echo first; while [ ! -e go ]; do sleep 0.02; done; echo '@say=Second.'");
  await client.ask("chat.watch", { sessionKey: KEY });
  await decide(client, id, "allow-once");
  await expect.poll(async () => (await page(client, [id])).commands, SOON).toMatchObject([{ id, state: "running", output: "first\n" }]);
  await client.next(({ event, payload }) => event === "chat.changed" && payload?.["sessionKey"] === KEY);
  writeFileSync(join(house.workspace, "go"), "");
  expect((await goneOn(client, "Second.")).commands).toMatchObject([{ state: "ended", exitCode: 0 }]);
});

test("a session that was reset in the meantime is not notified", async () => {
  const house = await open();
  await using client = await house.client();
  const id = await ask(client, "echo '@say=Too late.' > made");
  await client.ask("sessions.reset", { key: KEY });
  await decide(client, id, "allow-once");
  await expect.poll(() => existsSync(join(house.workspace, "made")), SOON).toBe(true);
  await client.ask("chat.send", { sessionKey: KEY, message: "hello @say=Hello.", idempotencyKey: "hello" });
  const { entries } = await goneOn(client, "Hello.");
  expect(entries.map(({ kind }) => kind)).toEqual(["user", "assistant"]);
});

test.each([
  ["approval.decided", "denied", /Exec denied \(gateway id=\S+, gateway-restarted\): /, 0],
  ["command.outcome.committed", "ended", /Exec finished \(gateway id=\S+, session=\S+, code 0\)/, 1],
])("killed at %s the session is notified once, and the command ran at most once", async (failpoint, state, line, runs) => {
  const house = await open({}, { env: { OPENCLAW_FAILPOINT: failpoint } });
  const ran = join(house.workspace, "ran");
  let id: string;
  {
    await using client = await house.client();
    id = await ask(client, `echo x >> ran; echo @say=It is done.`);
    client.ask("exec.approval.resolve", { id, decision: "allow-once" }).catch(() => undefined);
    expect((await house.gateway.exited).signal).toBe("SIGKILL");
  }
  for (let start = 0; start < 2; start += 1) {
    await house.start();
    await using client = await house.client();
    const shown = await goneOn(client, "It is done.");
    expect(shown.commands).toMatchObject([{ id, state }]);
    expect(shown.entries.flatMap(({ told = [] }) => told)).toEqual([expect.stringMatching(line)]);
    expect(existsSync(ran) ? readFileSync(ran, "utf8") : "").toBe("x\n".repeat(runs));
    house.gateway.child.kill("SIGKILL");
    await house.gateway.exited;
  }
});

test("killed while the command runs, it is not run again and its outcome is said to be unknown", async () => {
  const house = await open();
  const pid = house.gateway.child.pid!;
  let id: string;
  {
    await using client = await house.client();
    id = await ask(client, `echo x >> ran; kill -9 ${pid}; # "@say=Nobody knows."`);
    client.ask("exec.approval.resolve", { id, decision: "allow-once" }).catch(() => undefined);
    expect((await house.gateway.exited).signal).toBe("SIGKILL");
  }
  await house.start();
  await using client = await house.client();
  const shown = await goneOn(client, 'Nobody knows."');
  expect(shown.commands).toMatchObject([{ id, state: "lost" }]);
  expect(shown.entries.flatMap(({ told = [] }) => told)).toEqual([expect.stringMatching(/Exec interrupted \(gateway id=\S+, outcome-unknown/)]);
  expect(readFileSync(join(house.workspace, "ran"), "utf8")).toBe("x\n");
});

test("a question that a restart found open is reported as not allowed", async () => {
  const house = await open();
  {
    await using client = await house.client();
    await ask(client, "touch made # @say=It was not decided.");
  }
  house.gateway.child.kill("SIGKILL");
  await house.gateway.exited;
  await house.start();
  await using client = await house.client();
  expect((await goneOn(client, "It was not decided.")).commands).toMatchObject([{ state: "denied", why: "gateway-restarted" }]);
  expect(existsSync(join(house.workspace, "made"))).toBe(false);
});

test("in a chat of a channel `/approve` leads to the same, and the answer comes there", async () => {
  await using telegram = await startTelegram();
  telegram.direct(telegram.me);
  const account = { botToken: telegram.token, dmPolicy: "open", allowFrom: ["*"] };
  const channels = { telegram: { enabled: true, ackReaction: "", streamMode: "off", accounts: { main: account } } };
  const house = await open(
    { channels, commands: { ownerAllowFrom: [`telegram:${telegram.me.id}`] } },
    { env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot } },
  );
  await expect.poll(() => telegram.polling, SOON).toBe(true);
  const said = (): readonly string[] =>
    telegram
      .messages(telegram.me.id)
      .filter(({ byBot }) => byBot)
      .map(({ text }) => text);
  await model.planCommand("echo '@say=The chat has its answer.'");
  telegram.say("run it");
  await expect.poll(said, SOON).toContain("I asked.");
  await using client = await house.client();
  const { approvals } = (await client.ask("exec.approval.list", {})).payload as unknown as MethodResult<"exec.approval.list">;
  telegram.say(`/approve ${approvals[0]!.id.slice(0, 8)} allow-once`);
  await expect.poll(said, SOON).toContain("The chat has its answer.");
  await model.planCommand("echo '@say=NO_REPLY'");
  telegram.say("and again");
  await expect.poll(() => said().filter((text) => text === "I asked.").length, SOON).toBe(2);
  const again = (await client.ask("exec.approval.list", {})).payload as unknown as MethodResult<"exec.approval.list">;
  await decide(client, again.approvals[0]!.id, "allow-once");
  await expect.poll(() => model.last(), SOON).toContain("@say=NO_REPLY");
  telegram.say("hello @say=Hello.");
  await expect.poll(said, SOON).toContain("Hello.");
  expect(said().filter((text) => text === "The chat has its answer.")).toHaveLength(1);
  expect(said().join("\n")).not.toContain("NO_REPLY");
});
