/** Commands that sub-agents leave running in the background. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { isReport, isTask, labChat, lastResult, PATIENCE, spawning, using } from "../harness/lab-chat.ts";

let gateway: LabGateway;
const { say, asked, reports, answered, lastAnswer } = labChat(() => gateway);

beforeAll(async () => {
  gateway = await startLabGateway({ build: "dist-test", sections: { tools: { exec: { host: "gateway", security: "full", ask: "off" } } } });
});
afterAll(() => gateway?.[Symbol.asyncDispose]());
beforeEach(() => gateway.model.answers(undefined));

const inPlace = (name: string): string => join(gateway.workspace, name);

/** A child that starts a command and says that it has. */
function leaving(label: string, command: string): void {
  gateway.model.answers((request) => {
    if (isReport(request)) return "passed on";
    const result = lastResult(request);
    if (isTask(request)) return result ? `${label} has started it` : using("exec", { command, background: true });
    if (!request.user.endsWith(`go ${label}`)) return undefined;
    return result ? "started" : spawning(`run it for ${label}`, { label });
  });
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("a sub-agent ends with its answer, the report names what still runs, and how that ends is read by who got the report", async () => {
  const session = "agent:main:waiting";
  leaving("Builder", `until [ -e ${inPlace("w-go")} ]; do sleep 0.05; done; echo w-$((40 + 2))`);
  await say(session, "go Builder");
  await expect.poll(() => lastAnswer(session), PATIENCE).toBe("passed on");
  expect(reports("Builder")).toEqual([expect.stringMatching(/Result:\nBuilder has started it\n\nStill running in the background:\n- \S+: until .*\n/)]);
  writeFileSync(inPlace("w-go"), "");
  await expect.poll(() => asked("w-42").length, PATIENCE).toBe(1);
  const [end] = asked("w-42");
  expect(end?.user).toContain('Sub-agent "Builder": ');
  // It is the session that was asked, not the sub-agent's.
  expect(end?.body).toContain("passed on");
  expect(reports("Builder")).toHaveLength(1);
});

test.each(["/kill all", "/stop", "/kill Server"])("%s ends what a sub-agent that has ended left running", async (command) => {
  const session = `agent:main:server-${command.replaceAll(/[^a-z]/gi, "")}`;
  const file = inPlace(`pid-${session.split("-").at(-1)}`);
  leaving("Server", `echo $$ > ${file}; exec sleep 600`);
  await say(session, "go Server");
  await expect.poll(() => lastAnswer(session), PATIENCE).toBe("passed on");
  await expect.poll(() => existsSync(file) && readFileSync(file, "utf8").trim(), PATIENCE).toMatch(/^\d+$/);
  const pid = Number(readFileSync(file, "utf8"));
  expect(isAlive(pid)).toBe(true);
  if (command === "/stop") await say(session, command);
  else await answered(session, command);
  await expect.poll(() => isAlive(pid), PATIENCE).toBe(false);
  await gateway.aside();
  // No turn reports what the user asked for.
  expect(asked('Sub-agent "Server": ')).toEqual([]);
});

test("commands of several sessions that end at the same time are each reported in their own", async () => {
  const sessions = Array.from({ length: 6 }, (_, index) => `agent:main:together-${index}`);
  gateway.model.answers((request) => {
    if (!request.user.endsWith("go together")) return undefined;
    const command = `until [ -e ${inPlace("w-all")} ]; do sleep 0.01; done; echo w-done`;
    return lastResult(request) ? "it runs" : using("exec", { command, background: true });
  });
  for (const session of sessions) await say(session, "go together");
  for (const session of sessions) await expect.poll(() => lastAnswer(session), PATIENCE).toBe("it runs");
  gateway.model.answers(undefined);
  writeFileSync(inPlace("w-all"), "");
  for (const session of sessions) await expect.poll(() => lastAnswer(session), PATIENCE).toContain("w-done");
  expect(gateway.output()).not.toContain("could not be run");
});
