import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadAnswerChecks, type AnswerChecks, type MethodName } from "../../src/protocol/index.ts";
import { openAgentSurface, type AgentSurface } from "../harness/agent-surface.ts";
import type { RawClient } from "../harness/gateway-client.ts";

let gateway: AgentSurface;
let admin: RawClient;
let checks: AnswerChecks;
beforeEach(async () => {
  [gateway, checks] = await Promise.all([openAgentSurface({ config: { agents: { list: [{ id: "main" }, { id: "ops" }] } } }), loadAnswerChecks()]);
  admin = await gateway.client();
});
afterEach(() => gateway[Symbol.asyncDispose]());

interface Prompt {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

interface Payload {
  readonly prompts: readonly Prompt[];
  readonly prompt: Prompt;
  readonly files: readonly { readonly path: string; readonly kind: string }[];
  readonly incomplete: boolean;
}

/** The answer's payload, which fits what is declared; the text of its error when there is one. */
async function ask(method: MethodName, params: object = {}, client = admin): Promise<Payload> {
  const { ok, payload, error } = await client.request(method, params);
  if (!ok) return error!.message as unknown as Payload;
  expect([method, payload, checks.result(method, payload)]).toEqual([method, payload, undefined]);
  return payload as unknown as Payload;
}

const names = async (): Promise<readonly string[]> => (await ask("prompts.list")).prompts.map(({ name }) => name);

test("prompts are saved, changed, removed and put back, for every client", async () => {
  const writer = await gateway.client({ scopes: ["operator.read", "operator.write"] });
  const { prompt } = await ask("prompts.put", { name: " Weekly report ", text: "Report on {project}.\n" }, writer);
  expect(prompt).toMatchObject({ name: "Weekly report", text: "Report on {project}." });
  await ask("prompts.put", { name: "ask", text: "Why?" });
  expect(await names()).toEqual(["ask", "Weekly report"]);
  expect(await ask("prompts.put", { name: "WEEKLY REPORT", text: "x" })).toMatch(/exists; choose another name/);
  await ask("prompts.put", { id: prompt.id, name: "Report", text: "Report." });
  expect(await names()).toEqual(["ask", "Report"]);
  const removed = await ask("prompts.remove", { id: prompt.id });
  expect(removed.prompt).toMatchObject({ id: prompt.id, name: "Report", text: "Report." });
  expect(await names()).toEqual(["ask"]);
  const { id, name, text } = removed.prompt;
  await ask("prompts.put", { id, name, text });
  expect(await names()).toEqual(["ask", "Report"]);
  expect(await ask("prompts.remove", { id: "none" })).toMatch(/^there is no prompt with the id "none"/);
});

test("who may only read sees prompts and changes none", async () => {
  const reader = await gateway.client({ scopes: ["operator.read"] });
  await ask("prompts.put", { name: "Seen", text: "x" });
  expect((await ask("prompts.list", {}, reader)).prompts).toMatchObject([{ name: "Seen", text: "x" }]);
  expect(await reader.request("prompts.put", { name: "x", text: "y" })).toMatchObject({ ok: false });
  expect(await reader.request("prompts.remove", { id: "x" })).toMatchObject({ ok: false });
});

test("a prompt has a name in one line and a text, and there is an end to how much is kept", async () => {
  expect(await ask("prompts.put", { name: "a\nb", text: "x" })).toMatch(/^invalid name/);
  expect(await ask("prompts.put", { name: "  ", text: "x" })).toMatch(/^invalid name/);
  expect(await ask("prompts.put", { name: "a", text: " \n" })).toMatch(/^invalid text/);
  expect(await ask("prompts.put", { id: "../x", name: "a", text: "b" })).toMatch(/^invalid id/);
  expect(await ask("prompts.put", { name: "a", text: "x".repeat(20_001) })).toMatch(/text/);
  for (let at = 0; at < 25; at += 1) await ask("prompts.put", { name: `long ${at}`, text: "x".repeat(20_000) });
  expect(await ask("prompts.put", { name: "one too many", text: "x".repeat(20_000) })).toMatch(/together may have 500000 characters/);
});

test("prompts that are saved at the same moment are all kept", async () => {
  await Promise.all(Array.from({ length: 8 }, (_, at) => ask("prompts.put", { name: `at once ${at}`, text: "x" })));
  expect(await names()).toHaveLength(8);
});

test("files of a workspace are found by parts of their paths, at any depth, the best first", async () => {
  const at = (path: string): string => join(gateway.workspace, path);
  mkdirSync(at("notes/2026/march"), { recursive: true });
  mkdirSync(at(".git"), { recursive: true });
  mkdirSync(at("node_modules/report"), { recursive: true });
  for (const path of ["report.md", "notes/2026/march/report-final.md", "notes/old report.txt", ".git/report", "node_modules/report/index.js", ".env"])
    writeFileSync(at(path), "x");
  const outside = join(gateway.folder, "outside-folder");
  mkdirSync(outside);
  writeFileSync(join(outside, "report-secret.md"), "x");
  symlinkSync(outside, at("linked"));
  const found = await ask("agents.files.find", { agentId: "main", query: "Report" });
  expect(found.files.map(({ path }) => path)).toEqual(["report.md", "notes/2026/march/report-final.md", "notes/old report.txt"]);
  expect(found.incomplete).toBe(false);
  const paths = async (query: string): Promise<readonly string[]> => (await ask("agents.files.find", { agentId: "main", query })).files.map(({ path }) => path);
  expect(await paths("march/rep")).toEqual(["notes/2026/march/report-final.md"]);
  expect(await paths("rptfin")).toEqual(["notes/2026/march/report-final.md"]);
  expect(await paths("../outside")).toEqual([]);
  expect((await ask("agents.files.find", { agentId: "main", query: "2026" })).files[0]).toEqual({ path: "notes/2026", kind: "folder" });
  expect((await ask("agents.files.find", { agentId: "main", limit: 2 })).files).toHaveLength(2);
  expect(await ask("agents.files.find", { agentId: "ghost" })).toBe('unknown agent id "ghost"');
});

test("an agent that never ran has no files to find", async () => {
  expect(await ask("agents.files.find", { agentId: "ops" })).toMatchObject({ files: [], incomplete: false });
});
