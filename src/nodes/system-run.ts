import type { Clock } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import { isRecord } from "../base/records.ts";
import type { MethodParams } from "../protocol/index.ts";
import type { ApprovalRow, Store } from "../store/index.ts";
import { commandText, environmentText } from "../tools/index.ts";
import { fileCommandText } from "./file-command.ts";

export interface ApprovalCheckDeps {
  readonly store: Store;
  readonly clock: Clock;
}

/** Parameters of a command that reach the node; all others are dropped. */
const FORWARDED = ["command", "rawCommand", "cwd", "env", "timeoutMs", "needsScreenRecording", "agentId", "sessionKey", "runId"] as const;
const MOST_ARGUMENTS = 1000;

type Fields = Readonly<Record<string, unknown>>;

const refused = (code: string, message: string): AppError => new AppError("INVALID_INPUT", message, { details: { code } });
const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/** The argument vector; throws for anything else. */
function argvOf(command: unknown): readonly [string, ...string[]] {
  const words = Array.isArray(command) ? command.filter((word): word is string => typeof word === "string") : [];
  const [first, ...rest] = words;
  if (first === undefined || first.trim() === "" || !Array.isArray(command) || words.length !== command.length || words.length > MOST_ARGUMENTS) {
    throw refused("INVALID_COMMAND", "system.run takes params.command as a list of strings: the program and its arguments");
  }
  return [first, ...rest];
}

function envOf(env: unknown): Readonly<Record<string, string>> {
  if (env === undefined || env === null) return {};
  if (isRecord(env) && Object.values(env).every((value) => typeof value === "string")) return env as Readonly<Record<string, string>>;
  throw refused("INVALID_ENV", "system.run takes params.env as an object of strings");
}

/** The parameters that are forwarded. A claim of approval is checked against the stored one, and used up. */
export async function checkSystemRun(
  { nodeId, params }: Pick<MethodParams<"node.invoke">, "nodeId" | "command" | "params">,
  { deviceId }: { readonly deviceId?: string | undefined },
  deps: ApprovalCheckDeps,
): Promise<Fields> {
  if (!isRecord(params)) throw refused("INVALID_COMMAND", "system.run takes an object as params");
  const argv = argvOf(params["command"]);
  const env = envOf(params["env"]);
  const raw = textOf(params["rawCommand"]);
  const text = commandText(argv);
  // What is shown is what runs.
  if (raw !== null && raw !== text)
    throw refused("RAW_COMMAND_MISMATCH", "params.rawCommand does not match params.command; leave it out or send the same command");
  return withApproval(params, FORWARDED, { nodeId, text, cwd: textOf(params["cwd"]), env: environmentText(env), deviceId: deviceId ?? null }, deps);
}

const FILE_FIELDS = ["path", "base64", "overwrite", "agentId", "sessionKey", "runId"] as const;

/** The same for moving a file to or from a node. */
export function checkFileCommand(
  { nodeId, command, params }: Pick<MethodParams<"node.invoke">, "nodeId" | "command" | "params">,
  { deviceId }: { readonly deviceId?: string | undefined },
  deps: ApprovalCheckDeps,
): Promise<Fields> {
  const path = isRecord(params) ? textOf(params["path"]) : null;
  if (!isRecord(params) || path === null) throw refused("INVALID_FILE", `${command} takes params.path: the file on the node`);
  const written = { base64: textOf(params["base64"]) ?? "", overwrite: params["overwrite"] === true };
  const text = fileCommandText(command, path, command === "file.write" ? written : undefined);
  return withApproval(params, FILE_FIELDS, { nodeId, text, cwd: null, env: null, deviceId: deviceId ?? null }, deps);
}

/** The fields that are forwarded, with the approval that they claim. */
async function withApproval(
  params: Fields,
  fields: readonly string[],
  about: Pick<Asked, "nodeId" | "text" | "cwd" | "env" | "deviceId">,
  deps: ApprovalCheckDeps,
): Promise<Fields> {
  const forwarded = Object.fromEntries(fields.flatMap((field) => (params[field] === undefined ? [] : [[field, params[field]]])));
  if (params["approved"] !== true && textOf(params["approvalDecision"]) === null) return forwarded;
  const runId = textOf(params["runId"]);
  if (runId === null) throw refused("MISSING_RUN_ID", "a command with an approval must name it: params.runId is missing");
  const approval = await deps.store.read("approvals.get", { id: runId });
  if (!approval || approval.kind !== "exec") throw refused("UNKNOWN_APPROVAL_ID", "params.runId is not an approval; request one with exec.approval.request");
  checkApproval(approval, { ...about, agentId: textOf(params["agentId"]), sessionKey: textOf(params["sessionKey"]) }, deps.clock.now());
  await useUp(approval, deps);
  return { ...forwarded, approved: true, approvalDecision: approval.decision };
}

interface Asked {
  readonly nodeId: string;
  readonly text: string;
  readonly cwd: string | null;
  readonly env: string | null;
  readonly agentId: string | null;
  readonly sessionKey: string | null;
  readonly deviceId: string | null;
}

/** How long after the decision an approved command may still be sent. */
const GOOD_FOR_MS = 120_000;

function checkApproval(approval: ApprovalRow, asked: Asked, now: number): void {
  const request = isRecord(approval.request) ? approval.request : {};
  const late = approval.state === "expired" || (approval.state === "pending" && approval.expiresAt <= now);
  if (late || (approval.decidedAt !== null && approval.decidedAt + GOOD_FOR_MS <= now))
    throw refused("APPROVAL_EXPIRED", "the approval is no longer valid; request it again");
  if (approval.decision !== "allow-once" && approval.decision !== "allow-always") throw refused("APPROVAL_REQUIRED", "the command was not approved");
  const expected: readonly (readonly [what: string, approved: string | null, now: string | null])[] = [
    ["HOST", textOf(request["host"]), "node"],
    ["COMMAND", textOf(request["command"]), asked.text],
    ["CWD", textOf(request["cwd"]), asked.cwd],
    ["ENV", textOf(request["environment"]), asked.env],
    ["AGENT", textOf(request["agentId"]), asked.agentId],
    ["SESSION", textOf(request["sessionKey"]), asked.sessionKey],
    ["DEVICE", textOf(request["askedBy"]), asked.deviceId],
  ];
  // Clients that know no nodeId in a question mean the node that they invoke.
  const node = textOf(request["nodeId"]);
  if (node !== null && node !== asked.nodeId) throw refused("APPROVAL_NODE_MISMATCH", "the approval is for another node");
  for (const [what, approved, wanted] of expected) {
    if (approved !== wanted) throw refused(`APPROVAL_${what}_MISMATCH`, `the approval is for another ${what.toLowerCase()}; request approval for this one`);
  }
}

/** An approval is good for one command. */
async function useUp({ id, sessionKey }: ApprovalRow, { store, clock }: ApprovalCheckDeps): Promise<void> {
  const begun = await store.write("idempotency.begin", { scope: "node.approval", key: id, payloadHash: "used" });
  if (begun.status !== "new") throw refused("APPROVAL_REQUIRED", "the approval was already used; request it again");
  await store.write("idempotency.complete", { scope: "node.approval", key: id, result: true });
  if (sessionKey !== null) await store.write("approvals.outcome", { id, sessionKey, outcome: { state: "running", startedAt: clock.now(), reported: true } });
}
