/** Skills with a real gateway and the real command line: installing what they need, searching many, an install that is interrupted. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { makePlace, ROOT } from "../harness/gateway-process.ts";
import { programArguments } from "../harness/program.ts";
import { fakePrograms, type FakePrograms } from "../setup/fake-programs.ts";

const text = (name: string, more = "", body = "Do it.\n"): string => `---\nname: ${name}\ndescription: Something about ${name}.\n${more}---\n\n${body}`;
const needs = (bin: string, ...packages: string[]): string =>
  `metadata: {openclaw: {requires: {bins: ["${bin}"]}, install: [${packages.map((name) => `{id: "${name}", kind: "node", package: "${name}", bins: ["${bin}"]}`).join(", ")}]}}\n`;

let gateway: LabGateway;
let machine: FakePrograms;

function put(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

beforeAll(async () => {
  machine = fakePrograms(mkdtempSync(join(tmpdir(), "skill-programs-")), {
    npm: 'case "$*" in *bad*) echo no such package >&2; exit 7;; esac; echo one; echo two; for last; do :; done; printf "#!/bin/sh\\n" > "$(dirname "$0")/$last"; chmod +x "$(dirname "$0")/$last"',
  });
  gateway = await startLabGateway({ env: { PATH: machine.path, OPENCLAW_BUNDLED_SKILLS_DIR: join(ROOT, "skills") } });
  put(join(gateway.workspace, "skills/first/SKILL.md"), text("first", needs("tool-one-of-nobody", "tool-one-of-nobody", "bad")));
  put(join(gateway.workspace, "skills/second/SKILL.md"), text("second", needs("tool-two-of-nobody", "tool-two-of-nobody")));
}, 60_000);

afterAll(() => gateway?.[Symbol.asyncDispose]());

const rows = async (): Promise<readonly Record<string, unknown>[]> =>
  ((await gateway.operator.ask("skills.status")).payload as { skills: readonly Record<string, unknown>[] }).skills;

test("skills.install runs the way that is named, reports each step to who asked, and the skill can be used then", async () => {
  expect(await rows()).toContainEqual(
    expect.objectContaining({ name: "first", eligible: false, install: [expect.objectContaining({ id: "tool-one-of-nobody" })] }),
  );
  const answer = await gateway.operator.ask("skills.install", { name: "first", installId: "tool-one-of-nobody" });
  expect(answer).toMatchObject({ ok: true, payload: { ok: true, message: "Installed", stdout: "one\ntwo\n", stderr: "", code: 0 } });
  const command = "npm install --global --ignore-scripts tool-one-of-nobody";
  const reported = gateway.operator.frames.filter(({ event }) => event === "skills.install.progress").map(({ payload }) => payload);
  const progress = reported.filter((payload) => payload?.["installId"] === "tool-one-of-nobody");
  expect(progress[0]).toEqual({ name: "first", installId: "tool-one-of-nobody", step: 1, steps: 1, command });
  expect(progress.at(-1)).toMatchObject({ text: "two" });
  expect(machine.calls()).toContain(command);
  expect(await rows()).toContainEqual(expect.objectContaining({ name: "first", eligible: true }));
  expect(gateway.operator.faults()).toEqual([]);
});

test("a failed install carries its output; what is not there is refused, and so is who may not", async () => {
  const failed = await gateway.operator.ask("skills.install", { name: "first", installId: "bad" });
  expect(failed).toMatchObject({ ok: false, error: { code: "UNAVAILABLE" }, payload: { ok: false, code: 7, stderr: "no such package\n" } });
  expect(await gateway.operator.ask("skills.install", { name: "nothing", installId: "x" })).toMatchObject({ ok: false, error: { code: "INVALID_REQUEST" } });
  expect(await gateway.operator.ask("skills.install", { name: "first", installId: "brew" })).toMatchObject({ ok: false, error: { code: "INVALID_REQUEST" } });
  expect(await gateway.operator.ask("skills.install", { name: "first", installId: "bad", timeoutMs: 10 })).toMatchObject({ ok: false });
});

test("an agent with a list of skills has no others: not in its prompt, not as commands", async () => {
  const agents = gateway.sections["agents"] as object;
  gateway.configure({
    agents: {
      ...agents,
      list: [
        { id: "main", default: true },
        { id: "narrow", workspace: gateway.workspace, skills: ["summarize"] },
      ],
    },
  });
  let serial = 0;
  const said = async (message: string): Promise<string> => {
    const { payload, error } = await gateway.operator.request("agent", {
      agentId: "narrow",
      sessionKey: "agent:narrow:x",
      message,
      idempotencyKey: `n${(serial += 1)}`,
    });
    const { payloads = [] } = (payload?.["result"] ?? {}) as { payloads?: readonly { text: string }[] };
    return payloads.map(({ text: one }) => one).join("\n") || String(error?.message);
  };
  await expect.poll(() => said("/skill healthcheck")).toBe('There is no skill "healthcheck". Skills: summarize');
  await said("say w-narrow");
  const { body } = gateway.model.requests.findLast(({ user }) => user.includes("w-narrow"))!;
  expect([body.includes("<name>summarize</name>"), body.includes("<name>healthcheck</name>")]).toEqual([true, false]);
  gateway.configure({ agents });
});

test("the command line asks the gateway: what it sees, and to install there", async () => {
  const listed = JSON.parse((await gateway.cli("skills", "list", "--json")).output) as { skills: { name: string; bundled: boolean }[] };
  expect(listed.skills.find(({ name }) => name === "weather")).toMatchObject({ bundled: true });
  const { code, output } = await gateway.cli("skills", "install", "second", "--yes");
  expect([code, output]).toEqual([0, expect.stringMatching(/This runs:\n {2}npm install[^\n]*tool-two-of-nobody[\s\S]*second: Installed/)]);
  expect(await rows()).toContainEqual(expect.objectContaining({ name: "second", eligible: true }));
  const update = await gateway.operator.ask("skills.update", { skillKey: "second", enabled: false, env: { REGION: "eu" } });
  expect(update).toMatchObject({ ok: true, payload: { ok: true, skillKey: "second" } });
  await expect.poll(async () => JSON.parse((await gateway.cli("skills", "check", "--json")).output) as object).toMatchObject({ disabled: ["second"] });
});

test("up to forty skills are in the prompt; above that it has none of them, and the model finds one with a tool", async () => {
  await gateway.operator.request("agent", { sessionKey: "agent:main:few", message: "say w-few", idempotencyKey: "few" });
  const { body } = gateway.model.requests.findLast(({ user }) => user.includes("w-few"))!;
  expect(body).toContain("<name>summarize</name>");
  expect(body).toContain(join(ROOT, "skills/summarize/SKILL.md"));
  expect(body).not.toContain("skills_search");
  for (let index = 0; index < 45; index += 1) put(join(gateway.workspace, `skills/pack-${index}/SKILL.md`), text(`pack-${index}`));
  put(join(gateway.workspace, "skills/gardening/SKILL.md"), text("gardening"));
  gateway.model.answers(({ body }) =>
    body.includes('"total": 6') || body.includes("found") ? "w-done" : { text: "", calls: [{ name: "skills_search", args: { query: "gardening tips" } }] },
  );
  await gateway.operator.request("agent", { sessionKey: "agent:main:many", message: "say w-many", idempotencyKey: "many" });
  gateway.model.answers(undefined);
  const asked = gateway.model.requests.filter(({ user }) => user.includes("w-many"));
  expect(asked[0]!.body).toMatch(/There are \d+ skills/);
  expect(asked[0]!.body).not.toContain("<available_skills>");
  expect(asked.at(-1)!.body).toContain(join(gateway.workspace, "skills/gardening/SKILL.md"));
});

test.each(["skills.change.aside", "skills.change.swapped"])("an install that is killed at %s leaves the old skill or the new one, whole", async (failpoint) => {
  const place = makePlace();
  const run = async (env: Record<string, string>, ...args: string[]): Promise<number | null> => {
    const child = spawn(process.execPath, [...programArguments("dist-test"), ...args], { env: { ...place.env, ...env }, cwd: place.home, stdio: "ignore" });
    return ((await once(child, "close")) as [number | null])[0];
  };
  put(join(place.home, "v1/notes/SKILL.md"), text("notes", "", "One.\n"));
  put(join(place.home, "v2/notes/SKILL.md"), text("notes", "", "Two.\n"));
  expect(await run({}, "skills", "install", "./v1/notes", "--yes")).toBe(0);
  expect(await run({ OPENCLAW_FAILPOINT: failpoint }, "skills", "install", "./v2/notes", "--yes", "--force")).not.toBe(0);
  expect(await run({}, "skills", "check")).toBe(0);
  const skills = join(place.stateDir, "skills");
  expect(readdirSync(skills)).toEqual(["notes"]);
  expect(readFileSync(join(skills, "notes/SKILL.md"), "utf8")).toContain(failpoint === "skills.change.aside" ? "One." : "Two.");
});
