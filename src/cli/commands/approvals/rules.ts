import { join, resolve } from "node:path";
import { systemClock } from "../../../base/clock.ts";
import { AppError, fileError } from "../../../base/errors.ts";
import { createIds } from "../../../base/ids.ts";
import { systemRandom } from "../../../base/random.ts";
import type { GatewayClient, MethodParams, MethodResult } from "../../../protocol/index.ts";
import { type Values, defineCommand } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { GATEWAY_OPTIONS, withGateway } from "../../gateway-call.ts";
import { type Io, printJson } from "../../io.ts";
import { formatDuration } from "../../../base/text.ts";
import { createStyle } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";
import { readFile } from "node:fs/promises";
import { parseValueText } from "../../../config/index.ts";
import { readInput } from "../../ask.ts";

type RulesSnapshot = MethodResult<"exec.approvals.get">;
type RulesFile = MethodParams<"exec.approvals.set">["file"];

const RULES_OPTIONS = {
  gateway: { type: "boolean", help: "Use the rules of the running gateway instead of the local file" },
  node: { type: "string", value: "node", help: "Use the rules of a paired node: its id, name or address" },
  ...GATEWAY_OPTIONS,
} as const;

type RulesFlags = Values<typeof RULES_OPTIONS>;

/** Rules for commands, wherever they are. */
interface RulesSource {
  get(): Promise<RulesSnapshot>;
  set(file: RulesFile, baseHash: string | undefined): Promise<RulesSnapshot>;
}

function overGateway(client: GatewayClient, nodeId: string | undefined): RulesSource {
  const based = (baseHash: string | undefined) => (baseHash === undefined ? {} : { baseHash });
  if (nodeId === undefined) {
    return {
      get: () => client.request("exec.approvals.get", {}),
      set: (file, baseHash) => client.request("exec.approvals.set", { file, ...based(baseHash) }),
    };
  }
  return {
    get: async () => (await client.request("exec.approvals.node.get", { nodeId })) as RulesSnapshot,
    set: async (file, baseHash) => (await client.request("exec.approvals.node.set", { nodeId, file, ...based(baseHash) })) as RulesSnapshot,
  };
}

/** The file of the state folder: a running gateway reads it again for each command. */
async function onDisk(io: Io): Promise<RulesSource> {
  const { createExecRules } = await import("../../../tools/index.ts");
  const path = join(loadFor(io).paths.state, "exec-approvals.json");
  const rules = createExecRules({ path, clock: systemClock, ids: createIds(systemRandom), random: systemRandom });
  return { get: () => Promise.resolve(rules.snapshot()), set: (file, baseHash) => rules.replace(file, baseHash) };
}

async function withRules<T>(io: Io, flags: RulesFlags, use: (source: RulesSource) => Promise<T>): Promise<T> {
  const { gateway, node, url, token, password } = flags;
  if (gateway && node !== undefined) throw new AppError("INVALID_INPUT", "expected --gateway or --node, not both");
  const asked = [node, url, token, password].some((flag) => flag !== undefined);
  if (!gateway && !asked) return use(await onDisk(io));
  return withGateway(io, flags, async (client) => {
    const nodeId = node === undefined ? undefined : (await (await import("../nodes/list.ts")).nodeFor(client, node)).nodeId;
    return use(overGateway(client, nodeId));
  });
}

/** Reads the rules, changes them and writes them back, unless they were changed in between. */
async function changeRules(source: RulesSource, change: (file: RulesFile) => RulesFile): Promise<RulesSnapshot> {
  const { file, exists, hash } = await source.get();
  return await source.set(change(file), exists ? hash : undefined);
}

type Rules = NonNullable<RulesSnapshot["file"]["defaults"]>;

function ruleText({ security, ask, askFallback, autoAllowSkills }: Rules): string {
  const facts = { security, ask, askFallback, autoAllowSkills };
  const parts = Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${String(value)}`]));
  return parts.join(", ") || "no rules";
}

/** Rules for people. */
function printRules(io: Io, { path, exists, file }: RulesSnapshot): void {
  const style = createStyle(io.color);
  io.out(`${path}${exists ? "" : " (does not exist yet; the configuration applies)"}\n`);
  if (file.defaults) io.out(`${style.bold("defaults")}: ${ruleText(file.defaults)}\n`);
  for (const [agent, rules] of Object.entries(file.agents ?? {})) {
    io.out(`${style.bold(agent === "*" ? "all agents (*)" : `agent ${agent}`)}: ${ruleText(rules)}\n`);
    const rows = (rules.allowlist ?? []).map(({ pattern, lastUsedAt, lastUsedCommand }) => [
      pattern,
      lastUsedAt === undefined ? "never" : `${formatDuration(Math.max(0, io.now() - lastUsedAt))} ago`,
      lastUsedCommand ?? "-",
    ]);
    if (rows.length > 0) io.out(formatTable(["Allowed", "Used", "Last used for"], rows, { style, columns: io.columns }));
  }
}

export const get = defineCommand({
  options: RULES_OPTIONS,
  examples: [{ line: "openclaw approvals get --json", does: "Print as JSON, with the file's hash" }],
  async run({ io, values }) {
    const snapshot = await withRules(io, values, (source) => source.get());
    if (values.json) printJson(io, snapshot);
    else printRules(io, snapshot);
  },
});

async function readRules(io: Io, { file, stdin }: { readonly file?: string | undefined; readonly stdin?: boolean | undefined }): Promise<RulesFile> {
  if ((file === undefined) === (stdin !== true)) throw new AppError("INVALID_INPUT", "expected either --file <path> or --stdin");
  const path = file === undefined ? undefined : resolve(io.cwd, file);
  const text =
    path === undefined
      ? await readInput()
      : await readFile(path, "utf8").catch((error: unknown) => {
          throw fileError(path, "could not read the rules", error);
        });
  // The receiver validates the rest; without this check, `null` would be reported as text.
  const rules = parseValueText(text, { strict: true });
  if (typeof rules !== "object" || rules === null || Array.isArray(rules))
    throw new AppError("INVALID_INPUT", 'expected an object, such as { version: 1, defaults: { ask: "always" } }');
  return rules as RulesFile;
}

export const set = defineCommand({
  options: {
    file: { type: "string", value: "path", help: "Rules as JSON5" },
    stdin: { type: "boolean", help: "Read the rules from standard input" },
    ...RULES_OPTIONS,
  },
  examples: [{ line: `echo '{ version: 1, defaults: { ask: "always" } }' | openclaw approvals set --stdin`, does: "Ask before every command" }],
  async run({ io, values }) {
    const rules = await readRules(io, values);
    const snapshot = await withRules(io, values, (source) => changeRules(source, () => rules));
    if (values.json) printJson(io, snapshot);
    else printRules(io, snapshot);
  },
});

const OPTIONS = { agent: { type: "string", value: "id", help: "Only for this agent (default *: all agents)" }, ...RULES_OPTIONS } as const;

function patternOf([pattern, extra]: readonly string[]): string {
  const written = pattern?.trim() ?? "";
  if (written === "" || extra !== undefined) throw new AppError("INVALID_INPUT", "expected one pattern, such as /usr/bin/git; quote patterns with *");
  return written;
}

const agentOf = (agent: string | undefined): string => agent?.trim().toLowerCase() || "*";

type Allowed = NonNullable<NonNullable<RulesFile["agents"]>[string]["allowlist"]>;

function withList(file: RulesFile, agent: string, edit: (list: Allowed) => Allowed): RulesFile {
  const own = file.agents?.[agent] ?? {};
  return { ...file, agents: { ...file.agents, [agent]: { ...own, allowlist: edit(own.allowlist ?? []) } } };
}

const toWhom = (agent: string): string => (agent === "*" ? "all agents" : `agent ${agent}`);

export const add = defineCommand({
  positionals: "<pattern>",
  options: OPTIONS,
  examples: [
    { line: "openclaw approvals allowlist add /usr/bin/uptime", does: "Allow it for all agents" },
    { line: "openclaw approvals allowlist add '/opt/tools/**' --agent main", does: "Allow every program in a folder, for one agent" },
  ],
  async run({ io, values, positionals }) {
    const pattern = patternOf(positionals);
    const agent = agentOf(values.agent);
    if (!/[/\\~]/.test(pattern)) {
      throw new AppError(
        "INVALID_INPUT",
        `${JSON.stringify(pattern)} is a program name, not a path; use the full path, which this prints: command -v ${pattern}`,
      );
    }
    const edit = (list: Allowed): Allowed => (list.some((entry) => entry.pattern === pattern) ? list : [...list, { pattern }]);
    const snapshot = await withRules(io, values, (source) => changeRules(source, (file) => withList(file, agent, edit)));
    if (values.json) printJson(io, snapshot);
    else io.out(`${pattern} now runs without approval for ${toWhom(agent)}\n`);
  },
});

export const remove = defineCommand({
  positionals: "<pattern>",
  options: OPTIONS,
  examples: [
    {
      line: "openclaw approvals allowlist add /usr/bin/uptime && openclaw approvals allowlist remove /usr/bin/uptime",
      does: "Allow a program, then remove it again",
    },
  ],
  async run({ io, values, positionals }) {
    const pattern = patternOf(positionals);
    const agent = agentOf(values.agent);
    const edit = (list: Allowed): Allowed => {
      const rest = list.filter((entry) => entry.pattern !== pattern);
      if (rest.length === list.length) throw new AppError("NOT_FOUND", `${pattern} is not on the allowlist of ${toWhom(agent)}; see: openclaw approvals get`);
      return rest;
    };
    const snapshot = await withRules(io, values, (source) => changeRules(source, (file) => withList(file, agent, edit)));
    if (values.json) printJson(io, snapshot);
    else io.out(`${pattern} needs approval again for ${toWhom(agent)}\n`);
  },
});
