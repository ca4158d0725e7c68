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
  raw: { type: "string", value: "line", help: "Shell command line instead of a program and its arguments" },
  agent: { type: "string", value: "id", help: "Agent whose rules apply" },
  cwd: { type: "string", value: "path", help: "Working folder on the node" },
  env: { type: "string", value: "K=V", multiple: true, help: "Environment variable for the command; repeatable" },
  "command-timeout": { type: "string", value: "ms", help: "Stop the command after this many ms" },
  "needs-screen-recording": { type: "boolean", help: "The command needs screen recording permission" },
  "invoke-timeout": { type: "string", value: "ms", help: "Time limit for the node, in ms (default 30000)" },
  follow: { type: "boolean", help: "Stream the output" },
  ask: { type: "string", value: "level", help: "When to ask for approval: off, on-miss or always" },
  security: { type: "string", value: "level", help: "Security mode: deny, allowlist or full" },
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

export const wantsApproval = (error: unknown): boolean => error instanceof AppError && /(?:SYSTEM_RUN|FILE)_DENIED: approval required/.test(error.message);

const IN_TIME = "run it again and decide it in time";

/** The list has paths of programs; where a name leads on the node is not known here. */
export function adviceFor(program: string, nodeId: string): string {
  const pattern = /^[/~][\w./~+-]*$/.test(program) ? program : "PATH_OF_THE_PROGRAM";
  return `${IN_TIME}, or let the node run the program without asking: openclaw approvals allowlist add ${pattern} --node ${nodeId.slice(0, 12)}`;
}

interface Question {
  readonly nodeId: string;
  readonly command: string;
  readonly cwd?: string | null;
  readonly environment?: string | null;
  readonly agentId: string | null;
}

/** Asks the operators and waits. `advice`: what to do when nobody decides in time. */
export async function approvalFor(
  io: Io,
  client: GatewayClient,
  question: Question,
  advice = IN_TIME,
): Promise<{ readonly runId: string; readonly approvalDecision: string }> {
  io.err("Waiting for approval (openclaw approvals pending)\n");
  const request = { ...question, host: "node", timeoutMs: ASK_MS };
  const answer = await client.request("exec.approval.request", request, { timeoutMs: ASK_MS + 10_000 });
  const decision = "decision" in answer ? answer.decision : null;
  if (decision === "allow-once" || decision === "allow-always") return { runId: answer.id, approvalDecision: decision };
  throw new AppError("PERMISSION_DENIED", decision === "deny" ? "the command was denied" : `the approval request expired: ${advice}`);
}

/** Characters that a command wrote; of long output the answer has the end, and a line before it says how much is missing. */
function writtenChars(text: unknown): number {
  if (typeof text !== "string") return 0;
  const [line = "", missing] = /^… \((\d+) characters before this\)\n/.exec(text) ?? [];
  return text.length - line.length + Number(missing ?? 0);
}

/** What was printed while it ran is not printed again, unless pieces of it did not arrive. */
function print(io: Io, payload: unknown, printedChars: number): number {
  const { error, exitCode, ...output } = isRecord(payload) ? payload : {};
  const isWhole = printedChars > 0 && printedChars >= writtenChars(output["stdout"]) + writtenChars(output["stderr"]);
  if (printedChars > 0 && !isWhole) io.err("\nParts of the output were not streamed. All of it, or its end:\n");
  const { stdout, stderr } = isWhole ? {} : output;
  if (typeof stdout === "string" && stdout !== "") io.out(stdout.endsWith("\n") ? stdout : `${stdout}\n`);
  if (typeof stderr === "string" && stderr !== "") io.err(stderr.endsWith("\n") ? stderr : `${stderr}\n`);
  if (typeof error === "string" && error !== "") io.err(`${error}\n`);
  return exitCode === 0 ? 0 : 1;
}

export const run = defineCommand({
  positionals: "[command…]",
  options: OPTIONS,
  examples: [{ line: "openclaw nodes run --node kitchen -- uname -a", does: "Run a program on a node" }],
  async run({ io, values, positionals }) {
    const wanted = wantedBy(values, positionals);
    if (values.security === "deny") throw new AppError("PERMISSION_DENIED", "not run, because of --security deny");
    const timeoutMs = millisecondsOf(values["invoke-timeout"], "invoke-timeout", 30_000);
    const commandMs = values["command-timeout"] === undefined ? undefined : millisecondsOf(values["command-timeout"], "command-timeout", 0);
    let printedChars = 0;
    const done = await withPatientGateway(io, values, timeoutMs, async (client) => {
      const progress = values.follow === true && values.json !== true;
      // Until the answer is there: every return below waits for it.
      using _following = client.on("node.invoke.progress", ({ chunk }) => {
        printedChars += chunk.length;
        io.out(chunk);
      });
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
        client.request("node.invoke", {
          nodeId,
          command: "system.run",
          params: { ...params, ...approval },
          timeoutMs,
          progress,
          idempotencyKey: crypto.randomUUID(),
        });
      const question = { nodeId, command: wanted.text, cwd: values.cwd ?? null, environment: environmentText(wanted.env), agentId: values.agent ?? null };
      const approved = async () => send({ approved: true, ...(await approvalFor(io, client, question, adviceFor(wanted.argv[0], nodeId))) });
      if (values.ask === "always") return await approved();
      try {
        return await send({});
      } catch (error) {
        if (values.ask === "off" || !wantsApproval(error)) throw error;
        return await approved();
      }
    });
    if (!values.json) return print(io, done.payload, printedChars);
    printJson(io, done);
    return isRecord(done.payload) && done.payload["exitCode"] === 0 ? 0 : 1;
  },
});
