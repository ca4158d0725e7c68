/**
 * Who may do what loosens execution, and everything else that a chat or a client can ask for by name. Commands, buttons and settings ask this table when
 * they run. Methods and tools declare a scope or `ownerOnly`, which is enforced where they are called; tests hold the declarations and the table together.
 */

/** The one who asks: the sender of a message in a chat, or a client of the gateway, which is judged by its scopes alone. */
export interface Asker {
  /** An owner of this gateway, by `commands.ownerAllowFrom`. */
  readonly owner: boolean;
  /** Of a client; absent for a sender in a chat. */
  readonly scopes?: readonly string[] | undefined;
  /** The configuration names this sender, by id, for this very power. */
  readonly named?: boolean | undefined;
}

/**
 * - `anyone`: everyone who may talk in the session, even where commands are for others. Only for what takes away from what runs.
 * - `talk`: everyone who may give commands.
 * - `widen`: narrowing is free for everyone who may talk; widening needs the owner, whom the configuration names for it, or `operator.admin`.
 * - `change`: showing and using is for everyone who may give commands; changing what holds for everybody needs the owner or `operator.admin`.
 * - `owner`: the owner or `operator.admin`.
 * - `named`: the owner, whom the configuration names for it, or `operator.admin`.
 * - `approve`: like `named`; clients need `operator.approvals`.
 */
export type Need = "anyone" | "talk" | "widen" | "change" | "owner" | "named" | "approve";

/** By the canonical name of a command. */
const COMMANDS = {
  help: "talk",
  commands: "talk",
  status: "talk",
  whoami: "talk",
  context: "talk",
  "export-session": "talk",
  trace: "talk",
  stop: "anyone",
  new: "talk",
  reset: "talk",
  compact: "talk",
  usage: "talk",
  model: "talk",
  models: "talk",
  think: "talk",
  verbose: "talk",
  reasoning: "talk",
  queue: "talk",
  activation: "talk",
  subagents: "talk",
  kill: "talk",
  steer: "talk",
  skill: "talk",
  exec: "widen",
  elevated: "widen",
  tts: "change",
  send: "owner",
  config: "owner",
  debug: "owner",
  allowlist: "owner",
  restart: "owner",
  remember: "owner",
  forget: "owner",
  bash: "named",
  approve: "approve",
} as const satisfies Readonly<Record<string, Need>>;

const NEEDS: ReadonlyMap<string, Need> = new Map(Object.entries(COMMANDS));

/** Methods that change what may run. Their scope is declared in the protocol; a test holds the two together. */
const METHODS = {
  "sessions.patch": "owner",
  "config.set": "owner",
  "config.patch": "owner",
  "config.apply": "owner",
  "config.restore": "owner",
  "exec.approvals.set": "owner",
  "exec.approvals.node.set": "owner",
  "exec.approvals.forget": "owner",
  "exec.approvals.restore": "owner",
  "exec.approval.resolve": "approve",
  /** With `owner`: it writes `commands.ownerAllowFrom`. */
  "channels.pairing.approve": "owner",
  "channels.pairing.owner": "owner",
} as const satisfies Readonly<Record<string, Need>>;

/** Tools that change what may run. */
const TOOLS = { gateway: "owner" } as const satisfies Readonly<Record<string, Need>>;

export const AUTHORITY = { command: COMMANDS, method: METHODS, tool: TOOLS } as const;

/** What is missing; undefined when nothing is. */
export type Missing = "owner" | "operator.admin" | "operator.approvals";

/** Whether a need is met. For `widen` it answers about widening, for `change` about changing: the rest needs nobody. */
export function missingFor(need: Need, { owner, scopes, named = false }: Asker): Missing | undefined {
  if (need === "anyone" || need === "talk") return undefined;
  if (scopes !== undefined) {
    const wanted = need === "approve" ? "operator.approvals" : "operator.admin";
    return scopes.includes(wanted) || scopes.includes("operator.admin") ? undefined : wanted;
  }
  if (owner) return undefined;
  return named && need !== "owner" ? undefined : "owner";
}

/** Whether a command is for everybody who may talk, and not only for those who may give commands. */
export const isForAnyone = (name: string): boolean => NEEDS.get(name) === "anyone";

/** Whether what is needed depends on what the command is to do: it asks once it knows. */
export function asksItself(name: string): boolean {
  const need = NEEDS.get(name);
  return need === "widen" || need === "change";
}

/** What the asker of a command lacks. A command that is not in the table needs the owner. */
export function missingForCommand(name: string, asker: Asker): Missing | undefined {
  return missingFor(NEEDS.get(name) ?? "owner", asker);
}
