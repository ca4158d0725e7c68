/** What agents may do with the tool `cron` in a real gateway: whom their jobs write to, and which agents and sessions they reach. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { startTelegram, type FakeTelegram } from "../fakes/telegram/index.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };
const DAILY = { kind: "every", everyMs: 86_400_000 };

let telegram: FakeTelegram;
let gateway: LabGateway;
let bob: ReturnType<FakeTelegram["person"]>;

beforeAll(async () => {
  telegram = await startTelegram();
  bob = telegram.person({ first_name: "Bob" });
  for (const one of [telegram.me, bob]) telegram.direct(one);
  const allowFrom = [String(telegram.me.id), String(bob.id)];
  const own = { enabled: true, botToken: telegram.token, ackReaction: "", streamMode: "off", dmPolicy: "allowlist", allowFrom };
  gateway = await startLabGateway({
    build: "dist-test",
    sections: { channels: { telegram: own }, commands: { ownerAllowFrom: [`telegram:${telegram.me.id}`] } },
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot },
  });
  const { agents } = gateway.sections as { agents: object };
  gateway.configure({
    agents: { ...agents, list: [{ id: "main", default: true, subagents: { allowAgents: ["helper"] } }, { id: "research" }, { id: "helper" }] },
  });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await telegram?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  gateway.model.answers(undefined);
  await expect.poll(async () => JSON.stringify(await call("config.get", {})), PATIENCE).toContain("allowAgents");
});

interface Job {
  readonly id: string;
  readonly name: string;
  readonly delivery?: object;
}

async function call<T>(method: string, params: object): Promise<T> {
  const { ok, payload, error } = await gateway.operator.request(method, params);
  expect({ ok, error }).toMatchObject({ ok: true });
  return payload as T;
}
const texts = (to: { readonly id: number }): readonly string[] => telegram.messages(to.id).map(({ text }) => text);
const jobs = async (): Promise<readonly Job[]> => (await call<{ jobs: readonly Job[] }>("cron.list", { includeDisabled: true })).jobs;
afterEach(async () => {
  for (const { id } of await jobs()) await call("cron.remove", { id });
});

/** The owner writes, the model calls the tool once, and the answer is what came back. */
async function ask(word: string, args: object): Promise<string> {
  gateway.model.answers(({ user, body }) => {
    if (!user.includes(word)) return undefined;
    if (body.slice(body.lastIndexOf(word)).includes('"role":"tool"')) return `${word} was asked for`;
    return { text: "", calls: [{ name: "cron", args }] };
  });
  telegram.say(word);
  await expect.poll(() => texts(telegram.me), PATIENCE).toContain(`${word} was asked for`);
  gateway.model.answers(undefined);
  const { messages } = JSON.parse(gateway.model.requests.findLast(({ user }) => user.includes(word))?.body ?? "{}") as {
    readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  };
  const result = messages.findLast(({ role }) => role === "tool")?.content;
  return typeof result === "string" ? result : JSON.stringify(result);
}

test.each([
  ["work", { kind: "agentTurn", message: "say w-work" }, "Heard w-work."],
  ["a reminder", { kind: "systemEvent", text: "say w-tea" }, "w-tea"],
])("%s that the owner asks for in a shared session reaches the owner, also when another person wrote last", async (name, payload, answer) => {
  await ask(`asked-${name}`, { action: "add", job: { name, schedule: DAILY, payload } });
  const job = (await jobs()).find((one) => one.name === name);
  expect(job?.delivery).toMatchObject({ channel: "telegram", to: expect.stringContaining(String(telegram.me.id)), accountId: "default" });
  telegram.say(`w-${name.length} from bob`, { from: bob });
  await expect.poll(() => texts(bob).some((text) => text.startsWith("Heard") && text.includes(`w-${name.length}`)), PATIENCE).toBe(true);
  const [mine, his] = [texts(telegram.me).length, texts(bob).length];
  await call("cron.run", { id: job?.id });
  await expect.poll(() => texts(telegram.me).slice(mine).join("\n"), PATIENCE).toContain(answer);
  expect(texts(bob)).toHaveLength(his);
  await call("cron.remove", { id: job?.id });
});

test.each([
  ["work", { kind: "agentTurn", message: "say w-web" }, "Heard w-web."],
  ["a reminder", { kind: "systemEvent", text: "say w-cup" }, "w-cup"],
])("%s that is asked for in WebChat answers in the session that asked, and no chat gets it", async (kind, payload, answer) => {
  // The session was used last by a chat.
  const word = `w-last${payload.kind.toLowerCase()}`;
  // Lines that other tests left may be in the answer too.
  const heard = (said: string): boolean => texts(telegram.me).some((text) => text.startsWith("Heard") && text.endsWith(` ${said}.`));
  telegram.say(word);
  await expect.poll(() => heard(word), PATIENCE).toBe(true);
  const name = `${kind} for WebChat`;
  gateway.model.answers(({ user, body }) => {
    if (!user.includes("schedule it")) return undefined;
    if (body.slice(body.lastIndexOf("schedule it")).includes('"role":"tool"')) return "It is scheduled.";
    return { text: "", calls: [{ name: "cron", args: { action: "add", job: { name, schedule: DAILY, payload } } }] };
  });
  const sessionKey = "agent:main:main";
  const shown = async (): Promise<readonly string[]> => {
    const { messages } = await call<{ messages: readonly { role: string; content: readonly { text?: string }[] }[] }>("chat.history", { sessionKey });
    return messages.filter(({ role }) => role === "assistant").map(({ content }) => content.map(({ text = "" }) => text).join(""));
  };
  const { runId } = await call<{ runId: string }>("chat.send", { sessionKey, message: "schedule it", idempotencyKey: name });
  await call("agent.wait", { runId, timeoutMs: PATIENCE.timeout });
  gateway.model.answers(undefined);
  const job = (await jobs()).find((one) => one.name === name);
  expect(job).toMatchObject({ sessionKey, delivery: { channel: "webchat" } });
  // A chat writes in between.
  telegram.say(`${word}2`);
  await expect.poll(() => heard(`${word}2`), PATIENCE).toBe(true);
  const sent = texts(telegram.me).length;
  const before = (await shown()).length;
  await call("cron.run", { id: job?.id });
  expect((await call<{ entries: readonly object[] }>("cron.runs", { id: job?.id })).entries).toMatchObject([{ status: "ok" }]);
  expect((await shown()).slice(before)).toEqual([expect.stringContaining(answer)]);
  await gateway.aside();
  expect(texts(telegram.me)).toHaveLength(sent);
  await call("cron.remove", { id: job?.id });
});

test("a reminder quotes the last messages when the agent asks for that", async () => {
  telegram.say("say w-quoted");
  await expect.poll(() => texts(telegram.me).some((text) => text.startsWith("Heard") && text.includes("w-quoted")), PATIENCE).toBe(true);
  const job = { name: "quoting", schedule: DAILY, payload: { kind: "systemEvent", text: "call back" } };
  await ask("asked-quoting", { action: "add", contextMessages: 3, job });
  await ask("asked-plain", { action: "add", job: { ...job, name: "plain" } });
  const textOf = async (name: string) => (await jobs()).find((one) => one.name === name) as Job & { readonly payload: { readonly text: string } };
  const { id, payload } = await textOf("quoting");
  expect(payload.text).toMatch(/^call back\n\nRecent context:\n(?:- .*\n?){1,3}$/);
  expect(payload.text).toContain("w-quoted");
  const plain = await textOf("plain");
  expect(plain.payload.text).toBe("call back");
  for (const one of [id, plain.id]) await call("cron.remove", { id: one });
});

test("a job reaches neither an agent nor a session that the other tools may not reach", async () => {
  const payload = { kind: "agentTurn", message: "say w-foreign" };
  const refused = async (word: string, job: object): Promise<string> => ask(word, { action: "add", job: { name: word, schedule: DAILY, payload, ...job } });
  expect(JSON.parse(await refused("for-research", { agentId: "research" }))).toEqual({
    status: "forbidden",
    error: "agentId is not allowed for cron (allowed: helper)",
  });
  const line = { sessionKey: "agent:research:main", payload: { kind: "systemEvent", text: "say w-foreign" } };
  expect(JSON.parse(await refused("into-research", line))).toEqual({ status: "forbidden", error: expect.stringContaining("tools.sessions.visibility") });
  expect(await jobs()).toEqual([]);
  // What the operator made for another agent is not the caller's to change, run or read.
  const { id } = await call<Job>("cron.add", { name: "theirs", agentId: "research", schedule: DAILY, payload, delivery: { mode: "none" } });
  for (const args of [{ action: "update", patch: { message: "say w-changed" } }, { action: "run" }, { action: "runs" }, { action: "remove" }])
    expect(JSON.parse(await ask(`${args.action}-theirs`, { ...args, jobId: id })), args.action).toMatchObject({ status: "forbidden" });
  expect(JSON.parse(await ask("list-theirs", { action: "list" }))).toEqual({ jobs: [], ofOtherAgents: 1 });
  const own = JSON.parse(await ask("add-own", { action: "add", job: { name: "own", schedule: DAILY, payload, delivery: { mode: "none" } } })) as Job;
  for (const patch of [{ agentId: "research" }, { sessionKey: "agent:research:main" }])
    expect(JSON.parse(await ask(`moves-${Object.keys(patch).join("")}`, { action: "update", jobId: own.id, patch }))).toMatchObject({ status: "forbidden" });
  expect(JSON.parse(await ask("renames-own", { action: "update", jobId: own.id, patch: { name: "renamed" } }))).toMatchObject({ name: "renamed" });
  for (const job of await jobs()) await call("cron.remove", { id: job.id });
  expect(gateway.model.requests.some(({ user }) => user.includes("[cron:") && user.includes("w-foreign"))).toBe(false);
});

test("an agent that allowAgents names may be given jobs", async () => {
  const payload = { kind: "agentTurn", message: "say w-helped" };
  const added = JSON.parse(await ask("for-helper", { action: "add", job: { name: "help", agentId: "helper", schedule: DAILY, payload } })) as Job;
  expect(added).toMatchObject({ agentId: "helper" });
  await call("cron.run", { id: added.id });
  await expect.poll(() => texts(telegram.me), PATIENCE).toContain("Heard w-helped.");
  await call("cron.remove", { id: added.id });
});

test("an interval of a millisecond runs once a second, and the model is warned about it", async () => {
  const job = { name: "hasty", schedule: { kind: "every", everyMs: 1 }, payload: { kind: "agentTurn", message: "say w-hasty" }, delivery: { mode: "none" } };
  const added = JSON.parse(await ask("add-hasty", { action: "add", job })) as Job & { readonly warning: string };
  expect(added.warning).toContain("everyMs is in milliseconds");
  interface Run {
    readonly status: string;
    readonly runAtMs: number;
    readonly error?: string;
  }
  const runs = async (): Promise<readonly Run[]> => (await call<{ entries: readonly Run[] }>("cron.runs", { id: added.id })).entries;
  await expect.poll(async () => (await runs()).filter(({ status }) => status === "ok").length, PATIENCE).toBeGreaterThan(2);
  await call("cron.remove", { id: added.id });
  const all = await runs();
  const [first] = all;
  const times = all.map(({ runAtMs }) => runAtMs);
  expect(times.every((at) => (at - (first?.runAtMs ?? 0)) % 1000 === 0)).toBe(true);
  expect(all.filter(({ error = "" }) => error.includes("gateway was not running"))).toEqual([]);
});

test("a job that cannot be is refused with what came and what fits", async () => {
  const refused = await ask("add-vague", { action: "add", schedule: "every weekday at 9", text: "tea" });
  expect(refused).toContain('schedule is "every weekday at 9"');
  expect(refused).toContain('{kind:"cron", expr:"0 9 * * 1-5", tz:"Europe/Berlin"}');
  const { error } = await gateway.operator.request("cron.add", { name: "x", schedule: 5, payload: "tea" });
  expect(error?.message).toMatch(/schedule is 5: expected .*; payload is "tea": expected /);
  const { error: nothing } = await gateway.operator.request("cron.add", {});
  expect(nothing?.message).toMatch(/schedule is missing: expected .*payload is missing: expected /);
});

test("the session of a job is called after the job", async () => {
  const job = { name: "Morning news", schedule: DAILY, sessionTarget: "isolated", wakeMode: "now", delivery: { mode: "none" } };
  const { id } = await call<Job>("cron.add", { ...job, payload: { kind: "agentTurn", message: "say w-news" } });
  const name = async (): Promise<unknown> => {
    await call("cron.run", { id });
    const { sessions } = await call<{ sessions: readonly { key: string; name?: string; label?: string }[] }>("sessions.list", {
      limit: 200,
      includeDerivedTitles: true,
    });
    return sessions.find(({ key }) => key === `agent:main:cron:${id}`);
  };
  expect(await name()).toMatchObject({ label: "Cron: Morning news", name: "Cron: Morning news" });
  await call("cron.update", { id, patch: { name: "Evening news" } });
  expect(await name()).toMatchObject({ label: "Cron: Evening news" });
  await call("sessions.patch", { key: `agent:main:cron:${id}`, label: "My news" });
  expect(await name()).toMatchObject({ label: "My news" });
  await call("cron.remove", { id });
});
