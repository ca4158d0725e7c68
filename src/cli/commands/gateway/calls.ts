import { AppError } from "../../../base/errors.ts";
import { parseValueText } from "../../../config/index.ts";
import { defineCommand } from "../../command.ts";
import { GATEWAY_OPTIONS, timeoutOf, withGateway, callGateway, tryGateway, type Answered } from "../../gateway-call.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatState } from "../health.ts";
import type { MethodResult, GatewayClient } from "../../../protocol/index.ts";
import { formatTable } from "../../output/table.ts";
import { findTarget, localTarget, openForReading, remoteTarget, type Target } from "../../gateway-target.ts";

export const call = defineCommand({
  positionals: "<method>",
  options: {
    params: { type: "string", value: "json5", help: "Parameters as JSON5 (default {})" },
    "expect-final": { type: "boolean", help: "Wait for the final result of an accepted request" },
    ...GATEWAY_OPTIONS,
  },
  examples: [
    { line: "openclaw gateway call health", does: "Call a method" },
    { line: `openclaw gateway call sessions.list --params '{ limit: 5 }' --json`, does: "With parameters, as JSON" },
  ],
  async run({ io, values, positionals }) {
    const [method, extra] = positionals;
    if (method === undefined || extra !== undefined) throw new AppError("INVALID_INPUT", `expected one method, got ${positionals.length} words`);
    const params = parseValueText(values.params ?? "{}", { strict: true });
    const expectFinal = values["expect-final"] ?? false;
    const result = await withGateway(io, values, (client) => client.call(method, params, { timeoutMs: timeoutOf(values), expectFinal }));
    if (!values.json) io.err(`${createStyle(io.color).dim(`gateway call: ${method}`)}\n`);
    printJson(io, result ?? null);
  },
});

export const health = defineCommand({
  options: GATEWAY_OPTIONS,
  examples: [
    { line: "openclaw gateway health", does: "Health in one line" },
    { line: "openclaw gateway health --json", does: "Full health report as JSON" },
  ],
  async run({ io, values }) {
    const started = performance.now();
    const report = await callGateway(io, "health", {}, values);
    if (values.json) return printJson(io, report);
    const channels = report.channelOrder.map((id) => report.channelLabels[id] ?? id);
    const style = createStyle(io.color);
    const state = report.status === undefined || report.status === "ok" ? style.green("OK") : formatState(report, style);
    for (const problem of report.problems ?? []) io.err(`${style.yellow("!")} ${problem}\n`);
    io.out(`${state} (${Math.round(performance.now() - started)} ms), ${channels.length > 0 ? channels.join(", ") : "no channels"}\n`);
  },
});

type Totals = MethodResult<"usage.cost">["totals"];

const DAYS = 30;

function daysOf(text: string | undefined): number {
  if (text === undefined) return DAYS;
  if (!/^\d+$/.test(text) || Number(text) < 1) throw new AppError("INVALID_INPUT", `--days takes a whole number above 0, not "${text}"`);
  return Number(text);
}

const row = (name: string, { totalCost, input, output, cacheRead, cacheWrite, totalTokens }: Totals): string[] => [
  name,
  `$${totalCost.toFixed(2)}`,
  ...[totalTokens, input, output, cacheRead, cacheWrite].map(String),
];

export const usageCost = defineCommand({
  options: { days: { type: "string", value: "n", help: `Number of days, including today (default ${DAYS})` }, ...GATEWAY_OPTIONS },
  examples: [
    { line: "openclaw gateway usage-cost", does: `The last ${DAYS} days` },
    { line: "openclaw gateway usage-cost --days 7 --json", does: "Last week, as JSON" },
  ],
  async run({ io, values }) {
    const usage = await callGateway(io, "usage.cost", { days: daysOf(values.days) }, values);
    if (values.json) return printJson(io, usage);
    if (usage.daily.length === 0) return io.out(`No usage in the last ${usage.days} days\n`);
    const rows = [...usage.daily.map((day) => row(day.date, day)), row("All", usage.totals)];
    io.out(
      formatTable(["Day (UTC)", "Cost", "Tokens", "Input", "Output", "Cache read", "Cache write"], rows, {
        style: createStyle(io.color),
        columns: io.columns,
      }),
    );
  },
});

interface Seen {
  readonly self: GatewayClient["hello"]["server"];
  readonly health: MethodResult<"health">;
  readonly summary: MethodResult<"status">;
  readonly presence: MethodResult<"system-presence">;
}

async function look(client: GatewayClient): Promise<Seen> {
  const [health, summary, presence] = await Promise.all([client.request("health", {}), client.request("status", {}), client.request("system-presence", {})]);
  return { self: client.hello.server, health, summary, presence };
}

async function targetsOf(io: Io, flags: Parameters<typeof findTarget>[1]): Promise<readonly Target[]> {
  if (flags.url !== undefined) return [await findTarget(io, flags)];
  using config = await openForReading(io);
  const remote = await remoteTarget(config, flags);
  return [...(remote ? [remote] : []), await localTarget(io, config, flags)];
}

const ids = { given: "explicit", remote: "configRemote", local: "localLoopback" } as const;

function report({ kind, url }: Target, { ok, latencyMs, error, value }: Answered<Seen>, active: boolean): Record<string, unknown> {
  return {
    id: ids[kind],
    kind: ids[kind],
    url,
    active,
    tunnel: null,
    connect: { ok, latencyMs: latencyMs ?? null, error: error ?? null, close: null },
    self: value?.self ?? null,
    config: null,
    health: value?.health ?? null,
    summary: value?.summary ?? null,
    presence: value?.presence ?? null,
  };
}

/** The documented ways through a tunnel. They are named so that asking for one is answered, not taken for a typing error. */
const SSH_OPTIONS = {
  ssh: { type: "string", value: "user@host[:port]", help: "Connect through an SSH tunnel (not available in this version)" },
  "ssh-identity": { type: "string", value: "path", help: "Key for --ssh (not available in this version)" },
  "ssh-auto": { type: "boolean", help: "Find the host for --ssh (not available in this version)" },
} as const;

export const probe = defineCommand({
  options: { ...SSH_OPTIONS, ...GATEWAY_OPTIONS, timeout: { ...GATEWAY_OPTIONS.timeout, help: "Time to wait for each gateway, in ms (default 3000)" } },
  examples: [{ line: "openclaw gateway probe", does: "Check the configured remote gateway and the local one" }],
  async run({ io, values }) {
    if (values.ssh !== undefined || values["ssh-identity"] !== undefined || values["ssh-auto"])
      throw new AppError(
        "UNAVAILABLE",
        "SSH tunnels are not available in this version; open one yourself (ssh -N -L 18790:127.0.0.1:18789 user@host), then use --url ws://127.0.0.1:18790",
      );
    const timeoutMs = timeoutOf(values, 3000);
    const started = performance.now();
    const targets = await targetsOf(io, values);
    const answers = await Promise.all(targets.map(async (target) => ({ target, answer: await tryGateway(io, target, timeoutMs, look) })));
    const first = answers.find(({ answer }) => answer.ok);
    const ok = first !== undefined;
    if (values.json) {
      printJson(io, {
        ok,
        ts: io.now(),
        durationMs: Math.round(performance.now() - started),
        timeoutMs,
        primaryTargetId: first ? ids[first.target.kind] : null,
        warnings: [],
        network: null,
        discovery: { count: 0, beacons: [] },
        targets: answers.map((one) => report(one.target, one.answer, one === first)),
      });
      return ok ? 0 : 1;
    }
    const style = createStyle(io.color);
    for (const { target, answer } of answers) {
      const { url, source } = target;
      const { ok: answered, latencyMs, error, value } = answer;
      const outcome = answered ? `${style.green("answers")} in ${latencyMs} ms, version ${value?.self.version}` : style.red("does not answer");
      io.out(`${url} ${style.dim(`(${source})`)}: ${outcome}\n`);
      if (error !== undefined) io.err(`${style.dim(error)}\n`);
    }
    return ok ? 0 : 1;
  },
});
