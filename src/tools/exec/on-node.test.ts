import { expect, test } from "vitest";
import type { OpenClawConfig } from "../../config/index.ts";
import { AppError } from "../../base/errors.ts";
import type { ToolOutcome } from "../tool.ts";
import { fixture, sessionOf, SOON, text, withStore } from "./exec.fixture.ts";
import { commandText, environmentText } from "./node-command.ts";
import type { NodeCommand, NodeRun, NodeRunner } from "./on-node.ts";

withStore();

const ENDED: NodeRun = { kind: "ended", exitCode: 0, timedOut: false, stdout: "done\n", stderr: "", error: null };
const NODES: Readonly<Record<string, string>> = { shed: "node-1", attic: "node-2", "node-1": "node-1", "node-2": "node-2" };

/** Nodes with scripted answers; every command is recorded. */
function nodesAnswering(answer: (command: NodeCommand) => NodeRun | Error = () => ENDED): NodeRunner & { readonly ran: NodeCommand[] } {
  const ran: NodeCommand[] = [];
  return {
    ran,
    async find(wanted = "shed") {
      const nodeId = NODES[wanted];
      if (nodeId === undefined) throw new AppError("NOT_FOUND", `unknown node "${wanted}"`);
      return { nodeId, name: wanted };
    },
    async run(command) {
      ran.push(command);
      const given = answer(command);
      if (given instanceof Error) throw given;
      return given;
    },
  };
}

const onNode = (exec: object = {}): OpenClawConfig => ({ tools: { exec: { host: "node", ...exec } } });

test("a command goes to the node with its folder, variables and time, and its output comes back", async () => {
  const nodes = nodesAnswering();
  await using place = fixture(onNode({ security: "full", ask: "off" }), { nodes });
  const outcome = await place.exec({ command: "make all", workdir: "/srv", env: { CI: "1" }, timeout: 5 });
  expect(text(outcome)).toBe("done");
  expect(outcome.details).toMatchObject({ status: "completed", exitCode: 0, aggregated: "done", cwd: "/srv", nodeId: "node-1" });
  expect(nodes.ran).toMatchObject([
    { nodeId: "node-1", command: "make all", cwd: "/srv", env: { CI: "1" }, timeoutMs: 5000, agentId: "main", security: "full", ask: "off" },
  ]);
});

test("failures of the command and refusals of the node differ", async () => {
  const answers: (NodeRun | Error)[] = [
    { ...ENDED, exitCode: 2, stdout: "", stderr: "no rule\n" },
    { ...ENDED, exitCode: null, timedOut: true, stdout: "half\n" },
    { kind: "refused", text: "SYSTEM_RUN_DISABLED: security=deny" },
    new AppError("UNAVAILABLE", "Error: node disconnected (system.run)"),
  ];
  const nodes = nodesAnswering(() => answers.shift()!);
  await using place = fixture(onNode(), { nodes });
  const run = async () => {
    const outcome = await place.exec({ command: "make" });
    return [text(outcome), outcome.isError];
  };
  expect(await run()).toEqual(["no rule\n\n(Command exited with code 2)", false]);
  expect(await run()).toEqual(["half\n\nCommand timed out", true]);
  expect(await run()).toEqual(["exec denied: SYSTEM_RUN_DISABLED: security=deny", true]);
  expect(await run()).toEqual(["Error: node disconnected (system.run)", true]);
});

test("the configured node cannot be left, and unknown ones are errors", async () => {
  const nodes = nodesAnswering();
  await using place = fixture(onNode({ node: "shed" }), { nodes });
  expect(text(await place.exec({ command: "ls", node: "attic" }))).toBe("exec node not allowed (bound to shed)");
  expect(text(await place.exec({ command: "ls", node: "nowhere" }))).toBe("exec node not allowed (bound to shed)");
  expect(text(await place.exec({ command: "ls", node: "node-1" }))).toBe("done");
  expect(nodes.ran.map(({ nodeId }) => nodeId)).toEqual(["node-1"]);
  await using open = fixture(onNode(), { nodes });
  expect(text(await open.exec({ command: "ls", node: "nowhere" }))).toBe('unknown node "nowhere"');
});

test("nothing is sent where the rules or the variables forbid it", async () => {
  const nodes = nodesAnswering();
  await using denied = fixture(onNode({ security: "deny" }), { nodes });
  expect(text(await denied.exec({ command: "ls" }))).toBe("exec denied: host=node security=deny");
  await using place = fixture(onNode(), { nodes });
  expect(text(await place.exec({ command: "ls", env: { PATH: "/evil" } }))).toContain("Security Violation");
  expect(text(await place.exec({ command: "ls", env: { LD_PRELOAD: "/evil" } }))).toContain("Security Violation");
  expect(text(await place.exec({ command: " " }))).toContain("command is empty");
  await using elsewhere = fixture({ tools: { exec: { host: "gateway" } } }, { nodes });
  expect(text(await elsewhere.exec({ command: "ls", host: "node" }))).toContain("exec host not allowed");
  await using none = fixture(onNode());
  expect(text(await none.exec({ command: "ls" }))).toContain("there is none");
  expect(nodes.ran).toEqual([]);
});

test("what the node asks about runs once, after the operator allowed it, under the approval's id", async () => {
  const nodes = nodesAnswering(({ approvalId }) => (approvalId === undefined ? { kind: "asks" } : ENDED));
  const secrets = async () => ({ API_KEY: "hidden" });
  await using place = fixture(onNode(), { nodes, pluginEnvironment: secrets });
  const asked = await place.exec({ command: "deploy", env: { CI: "1" } });
  expect(asked.details).toMatchObject({ status: "approval-pending", host: "node", nodeId: "node-1", command: "deploy" });
  const [question] = await place.approvals.list("exec");
  expect(question!.request).toMatchObject({ command: "deploy", host: "node", nodeId: "node-1", environment: "CI='1' API_KEY (set by plugins)" });
  expect(JSON.stringify(question)).not.toContain("hidden");
  await expect(place.approvals.resolve(question!.id, "allow-always")).rejects.toThrow("expected allow-once, deny");
  await place.approvals.resolve(question!.id, "allow-once");
  await expect.poll(() => place.announced, SOON).toEqual([`Exec finished (node=shed id=${question!.id}, code 0)\ndone`]);
  expect(nodes.ran.map(({ approvalId, env }) => [approvalId, env])).toEqual([
    [undefined, { API_KEY: "hidden", CI: "1" }],
    [question!.id, { API_KEY: "hidden", CI: "1" }],
  ]);
  expect(new Set(nodes.ran.map(({ key }) => key)).size).toBe(2);
});

test("ask=always asks before anything is sent, and no answer or a denial sends nothing", async () => {
  const nodes = nodesAnswering();
  await using place = fixture(onNode({ ask: "always", security: "full" }), { nodes });
  await place.exec({ command: "one" });
  await place.exec({ command: "two" });
  const [first] = await place.approvals.list("exec");
  await place.approvals.resolve(first!.id, "deny");
  await expect.poll(() => place.announced.length, SOON).toBe(1);
  place.clock.advance(120_000);
  await expect.poll(() => place.announced.length, SOON).toBe(2);
  expect(place.announced.join("\n")).toMatch(/user-denied[^]*approval-timeout/);
  expect(nodes.ran).toEqual([]);
});

test("left in the background, a command is one process with one end; a refusal or a question within a second is the answer of the call", async () => {
  const waiting: { readonly signal: AbortSignal; readonly write: (text: string) => void; readonly end: (ran: NodeRun | Error) => void }[] = [];
  const nodes: NodeRunner = {
    find: async () => ({ nodeId: "node-1", name: "shed" }),
    async run(_command, signal, onOutput) {
      const { promise, resolve, reject } = Promise.withResolvers<NodeRun>();
      waiting.push({ signal, write: onOutput!, end: (ran) => (ran instanceof Error ? reject(ran) : resolve(ran)) });
      signal.addEventListener("abort", () => reject(new AppError("CANCELLED", "the command was cancelled")));
      return promise;
    },
  };
  await using place = fixture(onNode({ security: "full", ask: "off" }), { nodes });
  const start = async (verdict?: NodeRun): Promise<ToolOutcome> => {
    const count = waiting.length;
    const outcome = place.exec({ command: "make", background: true });
    await expect.poll(() => waiting.length, SOON).toBe(count + 1);
    if (verdict) waiting.at(-1)!.end(verdict);
    else place.clock.advance(1000);
    return outcome;
  };
  const poll = async (outcome: ToolOutcome) => text(await place.process({ action: "poll", sessionId: sessionOf(outcome) }));

  expect(text(await start({ kind: "refused", text: "SYSTEM_RUN_DENIED: allowlist miss" }))).toBe("exec denied: SYSTEM_RUN_DENIED: allowlist miss");
  expect((await start({ kind: "asks" })).details).toMatchObject({ status: "approval-pending", host: "node" });
  expect(text(await place.process({ action: "list" }))).toBe("No running or recent sessions.");

  const done = await start();
  expect(done.details).toMatchObject({ status: "running", host: "node", nodeId: "node-1" });
  waiting.at(-1)!.write("half ");
  expect(await poll(done)).toContain("half\n\nProcess still running.");
  waiting.at(-1)!.end({ ...ENDED, stdout: "half done\n" });
  await expect.poll(() => poll(done), SOON).toContain("parts of the output were lost on the way; this is all of it]\nhalf done");

  const lost = await start();
  waiting.at(-1)!.end(new AppError("UNAVAILABLE", "Error: node disconnected (system.run)"));
  await expect.poll(() => poll(lost), SOON).toContain("[Error: node disconnected (system.run)]\n\nProcess exited with code unknown.");

  const late = await start();
  waiting.at(-1)!.end({ kind: "asks" });
  await expect.poll(() => poll(late), SOON).toContain("Approval required (id ");

  const killed = await start();
  await place.process({ action: "kill", sessionId: sessionOf(killed) });
  expect(waiting.at(-1)!.signal.aborted).toBe(true);
  await expect.poll(() => poll(killed), SOON).toContain("Process exited with signal SIGTERM.");
  expect(place.announced.filter((line) => line.startsWith("Exec "))).toHaveLength(4);
});

test("where the process tool is not allowed a command on a node stays in the foreground", async () => {
  await using place = fixture(onNode({ security: "full", ask: "off" }), { nodes: nodesAnswering(), canBackground: () => false });
  expect(text(await place.exec({ command: "ls", background: true }))).toBe("Warning: the process tool is not allowed here; running in the foreground.\n\ndone");
});

test("two argument vectors have the same text only when they do the same", () => {
  expect(commandText(["ls", "-l", "a b", "$HOME", ""])).toBe("ls -l 'a b' '$HOME' ''");
  expect(commandText(["/bin/sh", "-lc", "ls -l | wc"])).toBe("ls -l | wc");
  expect(commandText(["/tmp/sh", "-lc", "ls"])).toBe("/tmp/sh -lc ls");
  expect(commandText(["A=1", "ls"])).toBe("'A=1' ls");
  expect(environmentText({ B: "2 C=3", A: "it's" })).toBe("A='it'\\''s' B='2 C=3'");
  expect(environmentText({})).toBeNull();
});
