import { AppError } from "../../../base/errors.ts";
import { isRecord } from "../../../base/records.ts";
import type { GatewayClient } from "../../../protocol/index.ts";
import { commandText, environmentText } from "../../../tools/index.ts";
import { defineCommand, type Values } from "../../command.ts";
import { GATEWAY_OPTIONS } from "../../gateway-call.ts";
import { printJson, type Io } from "../../io.ts";
import { millisecondsOf, withPatientGateway } from "./invoke.ts";
import { NODE_OPTION, nodeFor } from "./list.ts";

const OPTIONS = {
  node: NODE_OPTION,
  raw: { type: "string", value: "line", help: "a shell command line, instead of a program and its arguments" },
  agent: { type: "string", value: "id", help: "the agent whose rules apply" },
  cwd: { type: "string", value: "path", help: "the folder on the node" },
  env: { type: "string", value: "K=V", multiple: true, help: "a variable for the command" },
  "command-timeout": { type: "string", value: "ms", help: "end the command after this time" },
  "needs-screen-recording": { type: "boolean", help: "the command needs the right to record the screen" },
  "invoke-timeout": { type: "string", value: "ms", help: "how long the node may take (default 30000)" },
  ask: { type: "string", value: "level", help: "off, on-miss or always: whether an operator is asked first" },
  security: { type: "string", value: "level", help: "deny, allowlist or full" },
  ...GATEWAY_OPTIONS,
} as const;

const ASK_MS = 120_000;

interface Wanted {
  readonly argv: readonly [string, ...string[]];
  readonly text: string;
  readonly env: Readonly<Record<string, string>>;
}

function wantedBy({ raw, env }: Values<typeof OPTIONS>, positionals: readonly string[]): Wanted {
  const [first, ...rest] = positionals;
  if ((raw === undefined) === (first === undefined)) throw new AppError("INVALID_INPUT", "expected a command, or --raw <command line>");
  const argv: Wanted["argv"] = raw === undefined && first !== undefined ? [first, ...rest] : ["/bin/sh", "-lc", raw ?? ""];
  const pairs = (env ?? []).map((pair) => {
    const at = pair.indexOf("=");
    if (at < 1) throw new AppError("INVALID_INPUT", `--env takes NAME=value, not "${pair}"`);
    return [pair.slice(0, at), pair.slice(at + 1)] as const;
  });
  return { argv, text: commandText(argv), env: Object.fromEntries(pairs) };
}

const wantsApproval = (error: unknown): boolean => error instanceof AppError && error.message.includes("SYSTEM_RUN_DENIED: approval required");

/** Asks the operators and waits. */
async function approvalFor(
  io: Io,
  client: GatewayClient,
  nodeId: string,
  { text, env }: Wanted,
  values: Values<typeof OPTIONS>,
): Promise<{ readonly runId: string; readonly approvalDecision: string }> {
  io.err("Waiting for approval (openclaw approvals pending)\n");
  const request = {
    command: text,
    cwd: values.cwd ?? null,
    environment: environmentText(env),
    host: "node",
    nodeId,
    agentId: values.agent ?? null,
    timeoutMs: ASK_MS,
  };
  const answer = await client.request("exec.approval.request", request, { timeoutMs: ASK_MS + 10_000 });
  const decision = "decision" in answer ? answer.decision : null;
  if (decision === "allow-once" || decision === "allow-always") return { runId: answer.id, approvalDecision: decision };
  throw new AppError("PERMISSION_DENIED", decision === "deny" ? "the command was denied" : "nobody approved the command in time");
}

function print(io: Io, payload: unknown): number {
  const { stdout, stderr, error, exitCode } = isRecord(payload) ? payload : {};
  if (typeof stdout === "string" && stdout !== "") io.out(stdout.endsWith("\n") ? stdout : `${stdout}\n`);
  if (typeof stderr === "string" && stderr !== "") io.err(stderr.endsWith("\n") ? stderr : `${stderr}\n`);
  if (typeof error === "string" && error !== "") io.err(`${error}\n`);
  return exitCode === 0 ? 0 : 1;
}

export const run = defineCommand({
  positionals: "[command…]",
  options: OPTIONS,
  examples: [{ line: "openclaw nodes run --node kitchen -- uname -a", does: "run a program there" }],
  async run({ io, values, positionals }) {
    const wanted = wantedBy(values, positionals);
    if (values.security === "deny") throw new AppError("PERMISSION_DENIED", "nothing was run: --security deny");
    const timeoutMs = millisecondsOf(values["invoke-timeout"], "invoke-timeout", 30_000);
    const commandMs = values["command-timeout"] === undefined ? undefined : millisecondsOf(values["command-timeout"], "command-timeout", 0);
    const done = await withPatientGateway(io, values, timeoutMs, async (client) => {
      const { nodeId } = await nodeFor(client, values.node);
      const params = {
        command: wanted.argv,
        rawCommand: wanted.text,
        cwd: values.cwd,
        env: wanted.env,
        timeoutMs: commandMs,
        agentId: values.agent,
        needsScreenRecording: values["needs-screen-recording"],
      };
      const send = (approval: object) =>
        client.request("node.invoke", { nodeId, command: "system.run", params: { ...params, ...approval }, timeoutMs, idempotencyKey: crypto.randomUUID() });
      const approved = async () => send({ approved: true, ...(await approvalFor(io, client, nodeId, wanted, values)) });
      if (values.ask === "always") return approved();
      try {
        return await send({});
      } catch (error) {
        if (values.ask === "off" || !wantsApproval(error)) throw error;
        return approved();
      }
    });
    if (!values.json) return print(io, done.payload);
    printJson(io, done);
    return isRecord(done.payload) && done.payload["exitCode"] === 0 ? 0 : 1;
  },
});
