/** Scheduled jobs in a real gateway: over the command line, in a chat, and across kills. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { startTelegram, type FakeTelegram } from "../fakes/telegram/index.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };

let telegram: FakeTelegram;
let gateway: LabGateway;

beforeAll(async () => {
  telegram = await startTelegram();
  telegram.direct(telegram.me);
  const own = { enabled: true, botToken: telegram.token, ackReaction: "", streamMode: "off", dmPolicy: "allowlist", allowFrom: [String(telegram.me.id)] };
  gateway = await startLabGateway({
    build: "dist-test",
    sections: { channels: { telegram: own }, commands: { ownerAllowFrom: [`telegram:${telegram.me.id}`] } },
    env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot },
  });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await telegram?.[Symbol.asyncDispose]();
});
beforeEach(() => gateway.model.answers(undefined));

interface Job {
  readonly id: string;
  readonly name: string;
  readonly schedule: Readonly<Record<string, unknown>>;
  readonly state: Readonly<Record<string, unknown>>;
}

async function call<T>(method: string, params: object): Promise<T> {
  const { ok, payload, error } = await gateway.operator.request(method, params);
  expect({ ok, error }).toMatchObject({ ok: true });
  return payload as T;
}
const runsOf = async (id: string): Promise<readonly Readonly<Record<string, unknown>>[]> =>
  (await call<{ entries: readonly Readonly<Record<string, unknown>>[] }>("cron.runs", { id })).entries;
const texts = (): readonly string[] => telegram.messages(telegram.me.id).map(({ text }) => text);
const asked = (word: string): number => gateway.model.requests.filter(({ user }) => user.includes(word)).length;
const soon = (ms: number): string => new Date(Date.now() + ms).toISOString();

test("a job that the command line adds runs when it is due, and its answer reaches the chat it names", async () => {
  const to = String(telegram.me.id);
  const added = await gateway.cli("cron", "add", "--name", "Report", "--at", "1s", "--message", "say w-report", "--channel", "telegram", "--to", to, "--json");
  expect(added.code).toBe(0);
  const { id } = JSON.parse(added.output) as Job;
  await expect.poll(() => texts(), PATIENCE).toContain("Heard w-report.");
  await expect.poll(async () => (await runsOf(id)).map(({ status }) => status), PATIENCE).toEqual(["ok"]);
  expect((await runsOf(id))[0]).toMatchObject({ summary: "Heard w-report.", model: "large", provider: "acme" });
  expect(asked("w-report")).toBe(1);
  const shown = await gateway.cli("cron", "runs", "--id", id);
  expect(shown.output).toContain("Heard w-report.");
});

test("jobs are listed, changed, run by hand and removed on the command line", async () => {
  const added = await gateway.cli(
    "cron",
    "add",
    "--name",
    "Nightly",
    "--cron",
    "0 3 * * *",
    "--tz",
    "UTC",
    "--message",
    "say w-nightly",
    "--no-deliver",
    "--json",
  );
  const { id } = JSON.parse(added.output) as Job;
  expect((await gateway.cli("cron", "list")).output).toMatch(/Nightly.*0 3 \* \* \* \(UTC\)/);
  expect((await gateway.cli("cron", "next", "--id", id, "--count", "1")).output).toMatch(/^Times in UTC:\n\S+ \S+ 03:00:00 UTC {2}\(in .+\)\n$/);
  expect((await gateway.cli("cron", "next", "0 * * * *", "--tz", "Asia/Tokyo")).output).toMatch(/^Times in Asia\/Tokyo:\n[^]*\nA job may start up to 5m later/);
  expect((await gateway.cli("cron", "run", id)).output).toBe("Done.\n");
  expect(asked("w-nightly")).toBe(1);
  expect((await gateway.cli("cron", "disable", id)).output).toContain("disabled");
  expect((await gateway.cli("cron", "edit", id, "--every", "2h", "--enable")).output).toContain("every 2h");
  const edited = await gateway.cli("cron", "edit", id, "--webhook", "https://example.org/x", "--missed-max-age", "2h", "--alert-after", "5", "--json");
  expect(JSON.parse(edited.output)).toMatchObject({ delivery: { mode: "webhook", to: "https://example.org/x" }, missedMaxAgeMs: 7_200_000, alertAfter: 5 });
  const changed = await call<Job>("cron.update", { id, patch: { description: null, payload: { thinking: "low" } } });
  expect(changed).toMatchObject({ payload: { kind: "agentTurn", message: "say w-nightly", thinking: "low" } });
  expect(JSON.parse((await gateway.cli("cron", "status", "--json")).output)).toMatchObject({ enabled: true, nextWakeAtMs: expect.any(Number) });
  const file = join(gateway.place.stateDir, "cron", "jobs.json");
  await expect.poll(() => existsSync(file) && JSON.parse(readFileSync(file, "utf8")), PATIENCE).toMatchObject({ version: 1, jobs: [{ id, name: "Nightly" }] });
  expect((await gateway.cli("cron", "rm", id)).code).toBe(0);
  expect((await gateway.cli("cron", "rm", id)).code).toBe(1);
  const { error } = await gateway.operator.request("cron.run", { id });
  expect(error).toMatchObject({ code: "UNAVAILABLE", retryable: false, details: { code: "CRON_JOB_NOT_FOUND", jobId: id } });
  expect((await gateway.cli("cron", "add", "--name", "x", "--cron", "61 * * * *", "--message", "x")).output).toContain('"61 * * * *" cannot be used');
  expect((await gateway.cli("cron", "add", "--name", "x", "--every", "1h")).output).toContain("--message (a prompt for the agent)");
  expect((await gateway.cli("cron", "add", "--name", "x", "--at", "1h", "--tz", "UTC", "--message", "x")).output).toContain("belong to --cron");
});

test("a job that failed at its only time is named in the main session, and the command line says how to run it", async () => {
  const turn = ["--message", "say w-once", "--model", "nobody/none", "--no-deliver", "--keep-after-run"];
  const { id } = JSON.parse((await gateway.cli("cron", "add", "--name", "Once", "--at", "1s", ...turn, "--json")).output) as Job;
  await expect.poll(async () => (await runsOf(id)).map(({ status }) => status), PATIENCE).toEqual(["error"]);
  await call("chat.send", { sessionKey: "main", message: "say w-after", idempotencyKey: "after-once" });
  await expect.poll(() => asked("w-after"), PATIENCE).toBe(1);
  expect(gateway.model.requests.find(({ user }) => user.includes("w-after"))?.user).toMatch(
    new RegExp(`The scheduled job "Once" \\(${id}\\) failed and is not retried \\(to run it: \`.*openclaw cron run ${id}\`\\)`),
  );
  expect((await gateway.cli("cron", "edit", id, "--model", "acme/large")).output).toContain("disabled");
  const enabled = await gateway.cli("cron", "enable", id);
  expect(enabled.output).toMatch(new RegExp(`already ran\\.\nRun it now: .*openclaw cron run ${id}\n.*openclaw cron edit ${id} --at 20m\n$`));
  expect(await gateway.cli("cron", "run", id, "--due")).toEqual({ code: 1, output: "The job did not run: not-due\n" });
  expect(await gateway.cli("cron", "run", id)).toEqual({ code: 0, output: "Done.\n" });
  expect(asked("w-once")).toBe(1);
  await call("cron.remove", { id });
});

test("what turns jobs off is shown, and they still run by hand", async () => {
  await gateway.stop();
  await gateway.start({ OPENCLAW_SKIP_CRON: "1" });
  expect((await gateway.cli("cron", "status")).output).toContain("off (OPENCLAW_SKIP_CRON)");
  expect(await call("cron.status", {})).toMatchObject({ enabled: false, disabledBy: "OPENCLAW_SKIP_CRON", nextWakeAtMs: null });
  expect(await runNow({ payload: { kind: "agentTurn", message: "say w-hand" } })).toMatchObject({ status: "ok" });
  await gateway.stop();
  await gateway.start();
});

test("the owner asks for a reminder in a chat, and the job is there with its schedule", async () => {
  const schedule = { kind: "cron", expr: "0 9 * * 1-5", tz: "Europe/Berlin" };
  gateway.model.answers(({ user, body }) => {
    if (!user.includes("remind me")) return undefined;
    const { messages } = JSON.parse(body) as { messages: readonly { role: string }[] };
    if (messages.at(-1)?.role === "tool") return "It is scheduled.";
    return { text: "", calls: [{ name: "cron", args: { action: "add", job: { name: "Stand-up", schedule, text: "stand-up" } } }] };
  });
  telegram.say("remind me every weekday at 9");
  await expect.poll(() => texts(), PATIENCE).toContain("It is scheduled.");
  expect(gateway.model.requests.findLast(({ user }) => user.includes("remind me"))?.body).toMatch(/nextRun[^}]* at 9:00:00[^}]*\(Europe\/Berlin\)/);
  const { jobs } = await call<{ jobs: readonly Job[] }>("cron.list", {});
  expect(jobs).toMatchObject([
    { name: "Stand-up", schedule, sessionTarget: "main", payload: { kind: "systemEvent", text: "stand-up" }, state: { nextRunAtMs: expect.any(Number) } },
  ]);
  await call("cron.remove", { id: jobs[0]?.id });
});

test("a reminder in a chat may write elsewhere only where it names the recipient: its answer is sent to the chat anyway", async () => {
  const results: string[] = [];
  gateway.model.answers(({ user, body }) => {
    if (!user.includes("w-twice")) return undefined;
    const { messages } = JSON.parse(body) as { messages: readonly { role: string; content: string }[] };
    const last = messages.at(-1);
    if (last?.role !== "tool") return { text: "", calls: [{ name: "message", args: { action: "send", message: "w-sent-by-tool" } }] };
    results.push(last.content);
    return "w-relayed";
  });
  const job = { name: "twice", schedule: { kind: "every", everyMs: 86_400_000 }, sessionTarget: "main", wakeMode: "now" };
  const delivery = { mode: "none", channel: "telegram", to: String(telegram.me.id) };
  const { id } = await call<Job>("cron.add", { ...job, delivery, payload: { kind: "systemEvent", text: "say w-twice" } });
  await call("cron.run", { id });
  await expect.poll(() => texts(), PATIENCE).toContain("w-relayed");
  expect(results[0]).toMatch(/requires a target|set target/);
  expect(texts()).not.toContain("w-sent-by-tool");
  await call("cron.remove", { id });
});

test.each([
  ["cron.finished", { state: "failed", error: expect.stringContaining("hooks.invalid") }],
  ["cron.webhook.sending", { state: "unknown", error: "the gateway stopped while it was being sent" }],
])("killed at %s, the webhook of a run is not forgotten: its record says what became of it", async (failpoint, expected) => {
  await gateway.stop();
  await gateway.start({ OPENCLAW_FAILPOINT: failpoint });
  const delivery = { mode: "webhook", to: "http://hooks.invalid/" };
  const about = { name: failpoint, schedule: { kind: "at", at: soon(300) }, sessionTarget: "isolated", wakeMode: "now", deleteAfterRun: true };
  const { id } = await call<Job>("cron.add", { ...about, payload: { kind: "agentTurn", message: "say w-hooked" }, delivery });
  expect(await gateway.ended()).toMatchObject({ signal: "SIGKILL" });
  await gateway.start();
  await expect.poll(async () => (await runsOf(id))[0]?.["webhook"], PATIENCE).toEqual(expected);
  expect((await gateway.cli("cron", "runs", id)).output).toContain(`webhook ${expected.state}`);
});

const runNow = async (job: object): Promise<Readonly<Record<string, unknown>> | undefined> => {
  const about = { name: "by hand", schedule: { kind: "every", everyMs: 86_400_000 }, sessionTarget: "isolated", wakeMode: "now", delivery: { mode: "none" } };
  const { id } = await call<Job>("cron.add", { ...about, ...job });
  await call("cron.run", { id });
  const [run] = await runsOf(id);
  await call("cron.remove", { id });
  return run;
};

test("a job whose model may not be used fails and says so, instead of asking another model", async () => {
  const asking = (model: string) => runNow({ payload: { kind: "agentTurn", message: "say w-model", model } });
  expect(await asking("nobody/none")).toMatchObject({ status: "error", error: expect.stringContaining("nobody") });
  expect(asked("w-model")).toBe(0);
  expect(await asking("acme/large")).toMatchObject({ status: "ok", summary: "Heard w-model." });
});

test("a run whose answer is announced has no message tool, and others have it", async () => {
  const offers = (word: string): boolean | undefined => gateway.model.requests.findLast(({ user }) => user.includes(word))?.body.includes('"name":"message"');
  const to = String(telegram.me.id);
  const delivery = { mode: "announce", channel: "telegram", to };
  expect(await runNow({ payload: { kind: "agentTurn", message: "say w-announced" }, delivery })).toMatchObject({ status: "ok", delivered: true });
  await expect.poll(() => texts(), PATIENCE).toContain("Heard w-announced.");
  expect(await runNow({ payload: { kind: "agentTurn", message: "say w-quiet" } })).toMatchObject({ status: "ok" });
  expect([offers("w-announced"), offers("w-quiet")]).toEqual([false, true]);
});

test("what a run cost is recorded, and shown on the command line", async () => {
  const { models } = gateway.sections as { models: { providers: { acme: { models: readonly object[] } } } };
  const { acme } = models.providers;
  const priced = acme.models.map((model) => ({ ...model, cost: { input: 100_000, output: 100_000, cacheRead: 0, cacheWrite: 0 } }));
  gateway.configure({ models: { providers: { acme: { ...acme, models: priced } } } });
  const job = { name: "dear", schedule: { kind: "every", everyMs: 86_400_000 }, sessionTarget: "isolated", wakeMode: "now", delivery: { mode: "none" } };
  const { id } = await call<Job>("cron.add", { ...job, payload: { kind: "agentTurn", message: "say w-dear" } });
  // Runs before the gateway has read the prices cost nothing.
  const cost = async (): Promise<unknown> => (await call("cron.run", { id }), (await runsOf(id)).at(-1)?.["costUsd"]);
  await expect.poll(cost, PATIENCE).toBeGreaterThan(0);
  expect((await gateway.cli("cron", "runs", id)).output).toMatch(/\$\d+\.\d\d/);
  await call("cron.remove", { id });
});

test.each(["cron.claimed", "cron.started", "cron.accepted", "cron.ended", "cron.finished", "inbox.committed", "turn.started"])(
  "killed at %s, a slot runs once, is recorded once, and its session reads once what came of it",
  async (failpoint) => {
    const word = `w-${failpoint.replaceAll(".", "")}`;
    await gateway.stop();
    await gateway.start({ OPENCLAW_FAILPOINT: failpoint });
    const job = {
      name: failpoint,
      schedule: { kind: "at", at: soon(300) },
      sessionTarget: "isolated",
      wakeMode: "now",
      payload: { kind: "agentTurn", message: `say ${word}` },
    };
    const { id } = await call<Job>("cron.add", { ...job, deleteAfterRun: false, delivery: { mode: "none" } });
    expect(await gateway.ended()).toMatchObject({ signal: "SIGKILL" });
    await gateway.start();
    await expect.poll(async () => (await runsOf(id)).map(({ status, summary }) => [status, summary]), PATIENCE).toEqual([["ok", `Heard ${word}.`]]);
    expect(asked(word)).toBe(1);
    const { jobs } = await call<{ jobs: readonly Job[] }>("cron.list", { includeDisabled: true });
    expect(jobs.find((one) => one.id === id)).toMatchObject({ enabled: false, state: { lastStatus: "ok" } });
    // The line for the main session is in the commit that ends the slot.
    for (const word of ["first", "second"]) {
      const { runId } = await call<{ runId: string }>("chat.send", { sessionKey: "agent:main:main", message: `${word} look`, idempotencyKey: `${id}-${word}` });
      await call("agent.wait", { runId, timeoutMs: PATIENCE.timeout });
    }
    expect(asked(`Cron: Heard ${word}.`)).toBe(1);
    await call("cron.remove", { id });
  },
);
