import { AppError, messageOf } from "../../base/errors.ts";
import { run } from "../../base/spawn.ts";
import { clip } from "../../base/text.ts";
import { isObject, type Env } from "../../config/index.ts";
import type { BuiltinScan } from "./scan/finding.ts";

/** What the operator's policy is asked about. */
export interface PolicyRequest {
  readonly targetType: "plugin" | "skill";
  readonly targetName: string;
  readonly version?: string | undefined;
  readonly source: "npm" | "archive" | "path";
  /** What the user wrote. */
  readonly spec: string;
  readonly requestKind: "install" | "update";
  /** Where it lies, unpacked and not in use. */
  readonly sourcePath: string;
  readonly packageName?: string | undefined;
  readonly integrity?: string | undefined;
  readonly builtinScan: BuiltinScan;
}

/**
 * `security.installPolicy`. All that is given must let it pass:
 * `targets` says what it is about; `allow` and `deny` are names of plugins or packages, `*` stands for anything; `sources` are the places that are taken;
 * `block` is the least severity of a finding that blocks; `exec` is a program that gets the request as JSON and answers `{"decision": "allow" | "block", "reason"?}`.
 */
interface InstallPolicy {
  readonly targets?: readonly string[];
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly sources?: readonly string[];
  readonly block?: "info" | "warn" | "critical";
  readonly exec?: { readonly command: string; readonly args: readonly string[]; readonly timeoutMs: number };
}

const PATH = "security.installPolicy";
const SEVERITIES = ["info", "warn", "critical"] as const;
const EXEC_MS = 30_000;

const wrong = (key: string, expected: string): AppError =>
  new AppError("CONFIG_INVALID", `${PATH}${key === "" ? "" : `.${key}`}: expected ${expected}; nothing is installed while it is invalid`);

function parsePolicy(given: unknown): InstallPolicy | undefined {
  if (given === undefined || given === null) return undefined;
  if (!isObject(given)) throw wrong("", "an object");
  const { enabled, targets, allow, deny, sources, block, exec, ...others } = given;
  if (enabled !== undefined && typeof enabled !== "boolean") throw wrong("enabled", "true or false");
  if (enabled === false) return undefined;
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined) throw wrong(unknown, "one of enabled, targets, allow, deny, sources, block, exec");
  const severity = SEVERITIES.find((one) => one === block);
  if (block !== undefined && severity === undefined) throw wrong("block", "info, warn or critical");
  return {
    ...names("targets", targets),
    ...names("allow", allow),
    ...names("deny", deny),
    ...names("sources", sources),
    ...(severity === undefined ? {} : { block: severity }),
    ...(exec === undefined ? {} : { exec: parseExec(exec) }),
  };
}

const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every((item) => typeof item === "string");

function names(key: string, value: unknown): Readonly<Record<string, readonly string[]>> {
  if (value === undefined) return {};
  if (!isTexts(value)) throw wrong(key, "a list of strings");
  return { [key]: value };
}

function parseExec(given: unknown): NonNullable<InstallPolicy["exec"]> {
  if (!isObject(given)) throw wrong("exec", "an object with a command");
  const { command, args = [], timeoutMs = EXEC_MS } = given;
  if (typeof command !== "string" || !command.startsWith("/")) throw wrong("exec.command", "the whole path of a program");
  if (!isTexts(args)) throw wrong("exec.args", "a list of strings");
  if (typeof timeoutMs !== "number" || !Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > 600_000) throw wrong("exec.timeoutMs", "1 to 600000");
  return { command, args, timeoutMs };
}

const matches = (patterns: readonly string[], given: readonly (string | undefined)[]): boolean =>
  patterns.some((pattern) => given.some((name) => name !== undefined && fits(pattern, name)));

/** `*` stands for any text. Compared piece by piece, so that no pattern takes long. */
function fits(pattern: string, name: string): boolean {
  const pieces = pattern.split("*");
  if (pieces.length === 1) return pattern === name;
  const last = pieces.pop() ?? "";
  let at = 0;
  for (const [index, piece] of pieces.entries()) {
    const found = index === 0 ? (name.startsWith(piece) ? 0 : -1) : name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

/** Asks the operator's policy. Throws `PERMISSION_DENIED` when it says no, and also when it cannot be asked: what is not understood blocks. */
export async function askPolicy(given: unknown, request: PolicyRequest, env: Env, signal?: AbortSignal): Promise<void> {
  const policy = parsePolicy(given);
  if (!policy || (policy.targets && !policy.targets.includes(request.targetType))) return;
  const deny = (key: string, why: string): AppError =>
    new AppError("PERMISSION_DENIED", `${PATH}.${key} does not allow ${request.targetName}: ${why}`, { details: { policy: `${PATH}.${key}` } });
  const called = [request.targetName, request.packageName];
  if (policy.deny && matches(policy.deny, called)) throw deny("deny", "it is on the list");
  if (policy.allow && !matches(policy.allow, called)) throw deny("allow", "it is not on the list");
  if (policy.sources && !policy.sources.includes(request.source))
    throw deny("sources", `it comes from ${request.source}, allowed are ${policy.sources.join(", ") || "none"}`);
  if (policy.block !== undefined) {
    const least = SEVERITIES.indexOf(policy.block);
    const found = request.builtinScan.findings.find(({ severity }) => SEVERITIES.indexOf(severity) >= least);
    if (found) throw deny("block", `${found.file === undefined ? "" : `${found.file}: `}${found.message}`);
  }
  if (policy.exec) await askProgram(policy.exec, request, env, deny, signal);
}

async function askProgram(
  { command, args, timeoutMs }: NonNullable<InstallPolicy["exec"]>,
  request: PolicyRequest,
  env: Env,
  deny: (key: string, why: string) => AppError,
  signal?: AbortSignal,
): Promise<void> {
  const input = JSON.stringify({ protocolVersion: 1, ...request });
  // The operator's program decides; it does not get the gateway's secrets.
  const plain = Object.fromEntries(["PATH", "HOME", "LANG", "TMPDIR"].map((name) => [name, env[name]]));
  const result = await run(command, { args, env: plain, timeoutMs, maxOutputBytes: 1024 * 1024, input, ...(signal ? { signal } : {}) }).catch(
    (error: unknown) => {
      throw deny("exec", `it could not be run: ${messageOf(error)}`);
    },
  );
  if (result.code !== 0) throw deny("exec", `${command} exited with code ${result.code}: ${clip(result.stderr.trim(), 300)}`);
  let answer: unknown;
  try {
    answer = JSON.parse(result.stdout);
  } catch {
    throw deny("exec", `${command} returned no JSON`);
  }
  if (isObject(answer) && answer["decision"] === "allow") return;
  const reason =
    isObject(answer) && typeof answer["reason"] === "string"
      ? answer["reason"]
      : isObject(answer) && answer["decision"] === "block"
        ? "no reason was given"
        : "its response has no decision";
  throw deny("exec", clip(reason, 300));
}
