/** Several agents, made on the command line, in a real gateway with a channel. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { startTelegram, type FakeTelegram } from "../fakes/telegram/index.ts";
import { makePlace } from "../harness/gateway-process.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };

let telegram: FakeTelegram;
let gateway: LabGateway;
const chats = new Map<string, number>();

beforeAll(async () => {
  telegram = await startTelegram();
  telegram.direct(telegram.me);
  for (const name of ["personal", "coder", "family", "readonly", "late"]) chats.set(name, telegram.group({ title: name }).id);
  const groups = { "*": { requireMention: false }, [String(chats.get("family"))]: { requireMention: true } };
  const own = { enabled: true, botToken: telegram.token, ackReaction: "", streamMode: "off", dmPolicy: "allowlist", allowFrom: [String(telegram.me.id)] };
  gateway = await startLabGateway({
    build: "dist-test",
    sections: { channels: { telegram: { ...own, groupPolicy: "open", groups } } },
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot },
  });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await telegram?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  gateway.model.answers(undefined);
  gateway.model.holds(undefined);
});

async function call<T>(method: string, params: object): Promise<T> {
  const { ok, payload, error } = await gateway.operator.request(method, params);
  expect({ ok, error }).toMatchObject({ ok: true });
  return payload as T;
}
const agentIds = async (): Promise<readonly string[]> => (await call<{ agents: readonly { id: string }[] }>("agents.list", {})).agents.map(({ id }) => id);
const textsIn = (chatId: number): readonly string[] => telegram.messages(chatId).map(({ text }) => text);
const askedWith = (word: string) => gateway.model.requests.filter(({ user }) => user.includes(word));
const sessionKeys = async (agentId: string): Promise<readonly string[]> =>
  (await call<{ sessions: readonly { key: string }[] }>("sessions.list", { agentId })).sessions.map(({ key }) => key);

/** Adds an agent and binds it to its group; resolves when the gateway routes there. */
async function addBound(name: string, template: string): Promise<number> {
  const chatId = chats.get(name)!;
  const added = await gateway.cli("agents", "add", name, "--template", template, "--json");
  expect([added.code, added.output]).toEqual([0, expect.stringContaining(name)]);
  const bound = await gateway.cli("agents", "bind", name, "--channel", "telegram", "--peer", `group:${chatId}`, "--json");
  expect([bound.code, bound.output]).toEqual([0, expect.stringContaining(name)]);
  await expect
    .poll(async () => (await call<{ agentId: string }>("route.explain", { channel: "telegram", peerKind: "group", peerId: String(chatId) })).agentId, PATIENCE)
    .toBe(name);
  return chatId;
}

const MARKS: Readonly<Record<string, string>> = {
  personal: "You start every session without memories",
  coder: "You write, read and repair code",
  family: "You are in a group of people who know each other",
  readonly: "You answer questions about the files in this folder",
};

test.each(Object.entries(MARKS))("an agent from the template %s answers in its group, in its own session, with its own files", async (template, mark) => {
  const chatId = await addBound(template, template);
  const word = `w-${template}`;
  if (template === "family") {
    telegram.say("hello everybody w-unasked", { chat: chatId });
    telegram.say(`@family, say ${word}`, { chat: chatId });
  } else telegram.say(`say ${word}`, { chat: chatId });
  await expect.poll(() => textsIn(chatId).join("\n"), PATIENCE).toContain(`${word}.`);
  const [request] = askedWith(word);
  expect(request?.body).toContain(mark);
  expect(await sessionKeys(template)).toEqual([`agent:${template}:telegram:group:${chatId}`]);
  if (template === "family") expect(askedWith("say w-family")).toHaveLength(1);
  const tools = (JSON.parse(request!.body) as { tools?: readonly { function: { name: string } }[] }).tools?.map((tool) => tool.function.name) ?? [];
  if (template === "readonly" || template === "family") expect(tools).not.toEqual(expect.arrayContaining(["exec"]));
  expect(["exec", "write", "edit"].filter((name) => tools.includes(name))).toEqual(
    template === "readonly" || template === "family" ? [] : ["exec", "write", "edit"],
  );
});

test("who is not mentioned in another chat is answered by the default agent", async () => {
  telegram.say("say w-direct", { chat: telegram.me.id });
  await expect.poll(() => textsIn(telegram.me.id), PATIENCE).toContain("Heard w-direct.");
  expect(await sessionKeys("main")).toContain("agent:main:main");
});

test("an agent that is deleted while its turn runs stops, its files are in the trash, and its chat goes to the default agent", async () => {
  const chatId = await addBound("late", "coder");
  gateway.model.holds(({ user }) => user.includes("w-held"));
  telegram.say("say w-held", { chat: chatId });
  await expect.poll(() => askedWith("w-held").length, PATIENCE).toBe(1);
  const deleted = await gateway.cli("agents", "delete", "late", "--force", "--json");
  expect(deleted).toMatchObject({ code: 0 });
  const answer = JSON.parse(deleted.output) as {
    readonly removedBindings: number;
    readonly workspace: string;
    readonly files: readonly { state: string; to?: string }[];
  };
  expect(answer.removedBindings).toBe(1);
  const moved = answer.files.find(({ state }) => state === "moved");
  expect(existsSync(join(moved!.to!, "AGENTS.md"))).toBe(true);
  expect(await agentIds()).not.toContain("late");
  gateway.model.holds(undefined);
  telegram.say("say w-after", { chat: chatId });
  await expect.poll(() => textsIn(chatId), PATIENCE).toContain("Heard w-after.");
  expect(textsIn(chatId).join("\n")).not.toContain("Heard w-held");
  expect(await sessionKeys("main")).toContain(`agent:main:telegram:group:${chatId}`);
  // Nothing of the stopped turn makes its folder again.
  expect(existsSync(answer.workspace)).toBe(false);
  expect(gateway.isRunning()).toBe(true);
});

test("bad input changes nothing, in the file and in the running gateway", async () => {
  const before = [readFileSync(gateway.place.configPath, "utf8"), await agentIds()];
  for (const args of [
    ["add", "main"],
    ["add", "../x"],
    ["add", "x", "--template", "none"],
    ["add", "x", "--bind", "nothing"],
    ["delete", "main", "--force"],
  ]) {
    expect((await gateway.cli("agents", ...args)).code, args.join(" ")).toBe(1);
  }
  expect([readFileSync(gateway.place.configPath, "utf8"), await agentIds()]).toEqual(before);
});

describe("without a gateway", () => {
  test("ten agents that are added at the same time are all there, and comments stay", async () => {
    const place = makePlace();
    place.configure("{\n  // mine\n  agents: { list: [{ id: 'main' }] }, // stays\n}\n");
    const names = Array.from({ length: 10 }, (_, index) => `agent-${index}`);
    const made = await Promise.all(names.map((name, index) => place.start("agents", "add", name, "--template", index % 2 ? "coder" : "readonly", "--json")));
    expect(made.map(({ code, stderr }) => [code, stderr])).toEqual(names.map(() => [0, ""]));
    const listed = JSON.parse(place.cli("agents", "list", "--json").stdout) as readonly { id: string; workspace: string }[];
    expect(listed.map(({ id }) => id).sort()).toEqual([...names, "main"].sort());
    for (const { id, workspace } of listed) if (id !== "main") expect(existsSync(join(workspace, "AGENTS.md")), id).toBe(true);
    const text = readFileSync(place.configPath, "utf8");
    expect([text.includes("// mine"), text.includes("// stays")]).toEqual([true, true]);
  });

  test("an agent that is added before the first start answers with the built-in model", async () => {
    const place = makePlace();
    expect(place.cli("agents", "add", "coder", "--template", "coder").code).toBe(0);
    await using running = await place.gateway();
    expect(running.url).toBeDefined();
    const { code, stdout } = place.cli("agent", "--agent", "coder", "--message", "hello", "--json");
    expect([code, (JSON.parse(stdout) as { status: string }).status]).toEqual([0, "ok"]);
    const sessions = JSON.parse(place.cli("sessions", "--agent", "coder", "--json").stdout) as { sessions: readonly { key: string }[] };
    expect(sessions.sessions.map(({ key }) => key)).toEqual(["agent:coder:main"]);
    expect(place.cli("agents", "list").stdout).toMatch(/coder +🛠️ coder .*1/);
  });
});
