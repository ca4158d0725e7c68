/**
 * Runs commands through the exec tool of a sandboxed session, and the same commands on the machine itself, as the user who starts it. Reads what to do
 * as JSON from its argument and prints what came of it as JSON.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import { readTool } from "../../src/tools/builtin/files/read.ts";
import { writeTool } from "../../src/tools/builtin/files/write.ts";
import { execTool } from "../../src/tools/exec/exec.ts";
import { execSettings } from "../../src/tools/exec/settings.ts";
import { createProcesses } from "../../src/tools/process/processes.ts";
import { createSandboxes } from "../../src/tools/sandbox/sandboxes.ts";
import type { ToolContext } from "../../src/tools/tool.ts";

export interface DriverInput {
  /** Holds `workspace` and `state`; made when they are missing. */
  readonly base: string;
  readonly sandbox: Record<string, unknown>;
  readonly steps: readonly Step[];
}

export type Step =
  /** Only inside, unless it is said that the machine itself is to be tried as well. */
  | { readonly do: "exec"; readonly command: string; readonly outside?: boolean; readonly params?: Record<string, unknown> }
  | { readonly do: "read"; readonly path: string }
  | { readonly do: "write"; readonly path: string; readonly content: string }
  /** What would be started for a command. */
  | { readonly do: "show"; readonly command: string };

export interface StepResult {
  readonly inside: string;
  readonly outside?: string;
}

const { base, sandbox, steps } = JSON.parse(process.argv[2]!) as DriverInput;
const [workspaceDir, stateDir] = [join(base, "workspace"), join(base, "state")];
for (const folder of [workspaceDir, stateDir]) mkdirSync(folder, { recursive: true });
const config = { agents: { defaults: { sandbox: { mode: "all" as const, backend: "bwrap" as const, ...sandbox } } } };
const ids = createIds(systemRandom);
const env = { PATH: process.env["PATH"], GATEWAY_SECRET: process.env["GATEWAY_SECRET"] };
const sandboxes = createSandboxes({
  config: () => config,
  stateDir,
  env,
  home: base,
  uid: process.getuid?.(),
  clock: systemClock,
  ids,
  log: silentLogger,
});
const never = new Proxy({}, { get: () => () => Promise.reject(new Error("not asked for here")) }) as never;
await using processes = createProcesses({ clock: systemClock, random: systemRandom });
const exec = execTool.create({
  clock: systemClock,
  log: silentLogger,
  processes,
  approvals: never,
  rules: never,
  remembered: never,
  settings: ({ agentId }) => execSettings(config, agentId),
  env,
  home: base,
  ignoreCase: false,
  sandboxed: sandboxes.isSandboxed,
  sandbox: sandboxes.for,
  canBackground: () => false,
  elevation: () => ({ permitted: false, reason: "no" }),
  announce: () => undefined,
});
const context: ToolContext = { agentId: "main", sessionKey: "agent:main:main", sessionId: "s", runId: "r", workspaceDir, owner: true };
const files = { ids, workspaceOnly: () => false, home: base, place: (who: ToolContext) => sandboxes.for(who)?.files };

async function take(step: Step): Promise<StepResult> {
  if (step.do === "show") {
    const there = sandboxes.for(context)!;
    await there.ready();
    const { file, args, env: given } = there.command({ argv: ["/bin/sh", "-c", step.command], cwd: "/workspace", env: {}, path: there.path });
    return { inside: JSON.stringify({ file, args, env: given }) };
  }
  const [tool, params] =
    step.do === "exec"
      ? [exec, { command: step.command, ...step.params }]
      : step.do === "read"
        ? [readTool.create(files), { path: step.path }]
        : [writeTool.create(files), { path: step.path, content: step.content }];
  const call = { id: "c", params, context, signal: new AbortController().signal, update: () => undefined };
  const inside = await tool.run(call).then(
    ({ content }) => content.map((part) => (part.type === "text" ? part.text : part.type)).join(""),
    (error: unknown) => String(error),
  );
  if (step.do !== "exec" || !step.outside) return { inside };
  const { stdout, stderr } = spawnSync("/bin/sh", ["-c", step.command], { cwd: workspaceDir, env: process.env, encoding: "utf8", timeout: 20_000 });
  return { inside, outside: `${stdout}${stderr}` };
}

const results: StepResult[] = [];
for (const step of steps) results.push(await take(step));
process.stdout.write(JSON.stringify(results));
