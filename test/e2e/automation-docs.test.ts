/** The examples of docs/automation/{cron,heartbeat,subagents}.md, as a user would try them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { readPage } from "../harness/docs-page.ts";
import { makePlace } from "../harness/gateway-process.ts";
import { isTask, labChat, PATIENCE } from "../harness/lab-chat.ts";

const [cron, heartbeat, subagents] = ["cron", "heartbeat", "subagents"].map((name) => readPage(`docs/automation/${name}.md`));

let gateway: LabGateway;
const { call, answered, asked } = labChat(() => gateway);

beforeAll(async () => {
  gateway = await startLabGateway();
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

/** The words of a command line, without the program. */
const words = (line: string): readonly string[] => [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!).slice(1);

test("every configuration of the pages is valid", () => {
  const place = makePlace();
  const configs = [cron, heartbeat, subagents].flatMap((page) => page!.blocks.filter(({ language }) => language === "json5"));
  expect(configs.length).toBeGreaterThan(1);
  for (const { text } of configs) {
    place.configure(text);
    const { code, stdout, stderr } = place.cli("config", "validate");
    expect([code, stdout + stderr]).toEqual([0, expect.not.stringMatching(/warning|not available/)]);
  }
});

test("the commands about jobs add two jobs, list them and preview their times", async () => {
  const ids: string[] = [];
  const outputs: string[] = [];
  expect(cron!.examples.length).toBe(5);
  for (const { line } of cron!.examples) {
    const { code, output } = await gateway.cli(...words(line.replace("JOB_ID", ids[0] ?? "")));
    expect([line, code]).toEqual([line, 0]);
    outputs.push(output);
    const { jobs } = await call<{ jobs: readonly { id: string; name: string }[] }>("cron.list", {});
    ids.splice(0, ids.length, ...jobs.toSorted((a, b) => a.name.localeCompare(b.name)).map(({ id }) => id));
  }
  expect(outputs[2]).toMatch(/Stand-up[^\n]*\n?[^]*Tea|Tea[^\n]*\n?[^]*Stand-up/);
  for (const output of outputs.slice(3)) expect(output).toMatch(/^Times in Europe\/Berlin:\n.* 09:00:00 /);
  for (const id of ids) await call("cron.remove", { id });
});

test("the kinds of schedules of the table are kinds that a job can have", async () => {
  const rows = cron!.rowsOf("| schedule | flag | meaning |");
  expect(rows.map(([kind]) => /kind: "(\w+)"/.exec(kind!)?.[1])).toEqual(["at", "every", "cron"]);
  for (const [kind, value] of [
    ["at", { at: new Date(Date.now() + 3_600_000).toISOString() }],
    ["every", { everyMs: 3_600_000 }],
    ["cron", { expr: "0 9 * * 1-5", tz: "Europe/Berlin" }],
  ] as const)
    expect((await call<{ times: readonly number[] }>("cron.next", { schedule: { kind, ...value } })).times.length).toBeGreaterThan(0);
});

test("the commands about heartbeats work", async () => {
  expect(heartbeat!.examples.length).toBe(6);
  for (const { line } of heartbeat!.examples) {
    const { code, output } = await gateway.cli(...words(line));
    expect([line, code, output]).toEqual([line, 0, expect.not.stringMatching(/error/i)]);
  }
  await expect.poll(() => asked("The door bell rang").length, PATIENCE).toBeGreaterThan(0);
});

test("the HEARTBEAT.md of the page asks again only when a watched file has changed", async () => {
  const [example] = heartbeat!.blocks.filter(({ language }) => language === "markdown");
  writeFileSync(join(gateway.workspace, "HEARTBEAT.md"), example!.text);
  mkdirSync(join(gateway.workspace, "inbox"));
  gateway.model.answers(({ user }) => (user.includes("HEARTBEAT.md") ? "HEARTBEAT_OK" : undefined));
  const { defaults } = gateway.sections["agents"] as { defaults: object };
  gateway.configure({ agents: { defaults: { ...defaults, heartbeat: { every: "1s" } } } });
  const last = () => call<{ status: string; reason?: string } | null>("last-heartbeat", {});
  await expect.poll(last, PATIENCE).toMatchObject({ status: "skipped", reason: "unchanged" });
  const beats = (): number => asked("HEARTBEAT.md").length;
  expect(beats()).toBe(1);
  writeFileSync(join(gateway.workspace, "inbox", "letter.md"), "please call back");
  await expect.poll(beats, PATIENCE).toBe(2);
  await expect.poll(last, PATIENCE).toMatchObject({ status: "skipped", reason: "unchanged" });
  expect(beats()).toBe(2);
  gateway.configure({ agents: { defaults: { ...defaults, heartbeat: { every: "0m" } } } });
  gateway.model.answers(undefined);
});

test("the commands about sub-agents start one, list it and stop it", async () => {
  const [block] = subagents!.blocks.filter(({ language }) => language === "text");
  const lines = block!.text.trim().split("\n");
  expect(lines.map((line) => line.split(" ")[0])).toEqual(["/subagents", "/subagents", "/kill"]);
  gateway.model.holds(isTask);
  const session = "agent:main:laptops";
  await answered(session, "say w-hello");
  const [spawned, listed, killed] = [await answered(session, lines[0]!), await answered(session, lines[1]!), await answered(session, lines[2]!)];
  expect(spawned).toMatch(/started|spawned/i);
  await expect.poll(() => asked("Compare these five laptops").filter(isTask).length, PATIENCE).toBe(1);
  expect(listed).toContain("Active sub-agents");
  expect(killed).toMatch(/stopped|killed/i);
  gateway.model.holds(undefined);
});
