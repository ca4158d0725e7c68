/** Finished runs that are posted to webhooks: what is sent, what is refused, and what a crash leaves. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Cron } from "../../src/automation/index.ts";
import { isolated, openCronLab, T0, type CronLab } from "./cron-lab.ts";

interface Received {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: Readonly<Record<string, unknown>>;
}

let lab: CronLab;
let cron: Cron;
let server: Server;
let url: string;
let received: Received[];
/** The status of the next answers; undefined: none comes. */
let status: number | undefined;

beforeEach(async () => {
  received = [];
  status = 204;
  server = createServer((request, response) => {
    let text = "";
    request.on("data", (part) => (text += String(part)));
    request.on("end", () => {
      const { method, url: path, headers } = request;
      received.push({ method, path, headers, body: JSON.parse(text) as Received["body"] });
      if (status !== undefined) response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/runs`;
  lab = await openCronLab();
  lab.reach = { policy: { allowPrivateNetwork: true } };
  cron = await lab.open();
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await cron[Symbol.asyncDispose]();
  await lab[Symbol.asyncDispose]();
});

const soon = { kind: "at", at: new Date(T0 + 1000).toISOString() } as const;
const posting = (message = "hello") => isolated(message, { schedule: soon, deleteAfterRun: false, delivery: { mode: "webhook", to: url } });
const webhookOf = async (id: string): Promise<unknown> => (await cron.runs(id, 5))[0]?.webhook;

async function ran(message?: string): Promise<string> {
  const { id } = await cron.add(posting(message));
  await lab.pass(1000);
  await lab.ended(1);
  return id;
}

test("a finished run is posted with the token, and its record says that it was sent", async () => {
  lab.config.current = { cron: { webhookToken: "token-of-the-hook" } };
  const id = await ran();
  await expect.poll(() => webhookOf(id)).toEqual({ state: "sent" });
  expect(received).toMatchObject([
    {
      method: "POST",
      path: "/runs",
      headers: { authorization: "Bearer token-of-the-hook", "content-type": "application/json" },
      body: { jobId: id, action: "finished", status: "ok", summary: expect.stringContaining("Echo: "), runAtMs: T0 + 1000, ts: expect.any(Number) },
    },
  ]);
  // It goes to the webhook instead of the main session.
  expect(await lab.notes()).toEqual([]);
});

test("without a token none is sent, and a run without an answer is not posted", async () => {
  const silent = await ran("@empty");
  const { id } = await cron.add({ ...posting(), schedule: { kind: "at", at: new Date(T0 + 2000).toISOString() } });
  await lab.pass(1000);
  await lab.ended(2);
  await expect.poll(() => webhookOf(id)).toEqual({ state: "sent" });
  expect(received).toHaveLength(1);
  expect(received[0]?.headers).not.toHaveProperty("authorization");
  expect(await webhookOf(silent)).toBeUndefined();
});

async function reopen(reach: CronLab["reach"]): Promise<void> {
  await cron[Symbol.asyncDispose]();
  lab.reach = reach;
  cron = await lab.open();
}

const ADDRESSES: Readonly<Record<string, string>> = { "nas.example.org": "192.168.1.9", "hooks.example.org": "93.184.216.34" };

/** A name service that knows two hosts. */
const lookup = async (name: string) => {
  const address = ADDRESSES[name];
  if (address === undefined) throw new Error(`${name} is not known`);
  return [{ address, family: 4 }];
};

test("a webhook that no run could be posted to is refused when its job is added or changed, with the reason", async () => {
  await reopen({ lookup });
  const to = (address: string) => isolated("hello", { delivery: { mode: "webhook", to: address } });
  const nowhere = ["http://127.0.0.1:9/", "http://[::1]/", "http://localhost/x", "https://10.1.2.3/x", "http://nas.example.org/x"];
  for (const address of nowhere)
    await expect(cron.add(to(address))).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringMatching(/^delivery\.to .* public addresses only/),
    });
  await expect(cron.add(to("https://me:secret@hooks.example.org/"))).rejects.toThrow(/user name or password/);
  const job = await cron.add(to("https://hooks.example.org/x"));
  await expect(cron.update(job.id, { delivery: { to: nowhere[0]! } })).rejects.toThrow("127.0.0.1 is a private or internal host");
  // A name that is not known now may be known when the job runs.
  await cron.update(job.id, { delivery: { to: "https://later.example.org/x" } });
  expect((await cron.list({})).map(({ delivery }) => delivery?.to)).toEqual(["https://later.example.org/x"]);
});

test("a job that came with a private address can be changed, its posts are refused, and the record says so", async () => {
  const { id } = await cron.add(posting());
  await reopen(undefined);
  await cron.update(id, { name: "report" });
  await lab.pass(1000);
  await lab.ended(1);
  await expect.poll(() => webhookOf(id)).toMatchObject({ state: "failed", error: expect.stringContaining("127.0.0.1") });
  expect(received).toEqual([]);
  expect(lab.warnings).toEqual([expect.stringMatching(/^the webhook of the cron job "report" failed: .*127\.0\.0\.1/)]);
});

test("a server that refuses the run is recorded as a failure, and the run itself stays ok", async () => {
  status = 500;
  const id = await ran();
  await expect.poll(() => webhookOf(id)).toEqual({ state: "failed", error: "it responded with status 500" });
  expect(await cron.runs(id, 5)).toMatchObject([{ status: "ok" }]);
  expect(await lab.store.read("idempotency.running", { scope: "cron-webhook" })).toEqual([]);
});

test("an older job that asks to be notified about is posted to the configured address", async () => {
  lab.config.current = { cron: { webhook: url } };
  const job = await cron.add(isolated("hello", { schedule: soon, deleteAfterRun: false }));
  const row = (await lab.store.read("cron.job.get", { id: job.id }))!;
  const stored = { ...job, extra: { notify: true } };
  await lab.store.write("cron.job.put", { id: job.id, job: stored, enabled: true, nextRunAt: row.nextRunAt, version: row.version });
  await lab.pass(1000);
  await lab.ended(1);
  await expect.poll(() => received.map(({ body }) => body["jobId"])).toEqual([job.id]);
});

test("the last run of a job that is removed with it is posted too", async () => {
  const { id } = await cron.add({ ...posting(), deleteAfterRun: true });
  await lab.pass(1000);
  await lab.ended(1);
  await expect.poll(() => received.map(({ body }) => body["jobId"])).toEqual([id]);
  await expect.poll(() => webhookOf(id)).toEqual({ state: "sent" });
});

test.each([
  ["before the post began is made after the restart", "pending", { state: "sent" }, 1],
  ["while the post was under way is unknown, and is not repeated", "sending", { state: "unknown", error: "the gateway stopped while it was being sent" }, 0],
])("what a crash left %s", async (_, state, expected, posts) => {
  const { id } = await cron.add(posting());
  await cron[Symbol.asyncDispose]();
  const entry = { ts: T0, jobId: id, action: "finished", status: "ok", summary: "done", runAtMs: T0 + 1000 };
  // As the commit that ends a run leaves it.
  await lab.store.write("cron.slot.claim", { jobId: id, scheduledAt: T0 + 1000 });
  const about = { to: url, name: "report", entry };
  await lab.store.commit([
    ["cron.slot.finish", { jobId: id, scheduledAt: T0 + 1000, status: "ok", detail: { status: "ok", summary: "done", webhook: { state } } }],
    ["idempotency.begin", { scope: "cron-webhook", key: `${id}:${T0 + 1000}`, payloadHash: "x", about }],
  ]);
  cron = await lab.open();
  await expect.poll(() => webhookOf(id)).toEqual(expected);
  expect(received.map(({ body }) => body)).toEqual(posts === 1 ? [entry] : []);
  expect(await lab.store.read("idempotency.running", { scope: "cron-webhook" })).toEqual([]);
});

test("a gateway that stops while a server does not respond records that it is unknown", async () => {
  status = undefined;
  const id = await ran();
  await expect.poll(() => received.length).toBe(1);
  let isClosed = false;
  void cron[Symbol.asyncDispose]().then(() => (isClosed = true));
  await expect.poll(async () => (await lab.pass(200), isClosed)).toBe(true);
  cron = await lab.open();
  expect(await webhookOf(id)).toEqual({ state: "unknown", error: "the gateway stopped before the server had responded" });
});
