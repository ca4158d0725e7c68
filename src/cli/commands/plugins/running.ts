import { lockHolder } from "../../../base/instance-lock.ts";
import { stateLockPath } from "../../../config/index.ts";
import type { PluginEntry } from "../../../plugins/index.ts";
import type { MethodResult } from "../../../protocol/index.ts";
import { tryGateway, callGateway, GATEWAY_OPTIONS } from "../../gateway-call.ts";
import { findTarget } from "../../gateway-target.ts";
import { type Io, printJson } from "../../io.ts";
import { defineCommand } from "../../command.ts";
import { createStyle } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";
import { AppError } from "../../../base/errors.ts";

export type RunningPlugin = MethodResult<"plugins.list">["plugins"][number];

const PATIENCE_MS = 2000;

/** Plugins as the gateway of this state folder has them; undefined when none runs. */
export async function runningPlugins(io: Io, stateDir: string): Promise<readonly RunningPlugin[] | undefined> {
  if (lockHolder(stateLockPath(stateDir)) === undefined) return undefined;
  const target = await findTarget(io, {});
  if (target.kind !== "local") return undefined;
  const { value } = await tryGateway(io, target, PATIENCE_MS, (client) => client.request("plugins.list", {}));
  return value?.plugins;
}

/** The same plugin in the gateway's list. One of that name from another source is a different one. */
export const sameIn = (plugins: readonly RunningPlugin[] | undefined, { id, source }: Pick<PluginEntry, "id" | "source">): RunningPlugin | undefined =>
  plugins?.find((plugin) => plugin.id === id && plugin.source === source);

/** Names that only code knows, from the running plugin. */
const REGISTERED = [
  "toolNames",
  "hookNames",
  "channelIds",
  "providerIds",
  "mediaProviders",
  "gatewayMethods",
  "cliCommands",
  "services",
  "commands",
  "httpHandlers",
  "hookCount",
  "generation",
] as const;

export function registeredBy(running: RunningPlugin | undefined): Readonly<Record<string, unknown>> {
  return running ? Object.fromEntries(REGISTERED.map((key) => [key, running[key]])) : {};
}

type Stats = MethodResult<"plugins.stats">;

const shownMs = (ms: number): string => (ms >= 100 ? String(Math.round(ms)) : ms.toFixed(1));

function print(io: Io, { hooks, breakers, plugins }: Stats): void {
  const style = createStyle(io.color);
  const options = { style, columns: io.columns };
  if (plugins.length === 0) return io.out("No plugins are running in this gateway\n");
  const loaded = plugins.map(({ id, running, timers, servers, loadMs, registerMs }) => [
    id,
    String(running),
    String(timers),
    String(servers),
    shownMs(loadMs ?? 0),
    shownMs(registerMs ?? 0),
  ]);
  io.out(formatTable(["plugin", "running", "timers", "servers", "load ms", "register ms"], loaded, options));
  if (hooks.length === 0) return;
  const broken = new Map(breakers.map((breaker) => [`${breaker.pluginId} ${breaker.hook}`, breaker.state]));
  const rows = hooks.map(({ pluginId, hook, calls, failures, timeouts, skipped, totalMs, maxMs, lastError }) => {
    const state = broken.get(`${pluginId} ${hook}`);
    const wrong = [...(state === undefined ? [] : [`breaker ${state}`]), ...(lastError === undefined ? [] : [lastError])].join(": ");
    const bad = (count: number): string => (count > 0 ? style.red(String(count)) : "0");
    return [pluginId, hook, String(calls), bad(failures), bad(timeouts), String(skipped), shownMs(calls > 0 ? totalMs / calls : 0), shownMs(maxMs), wrong];
  });
  io.out(`\n${formatTable(["plugin", "hook", "calls", "failed", "late", "skipped", "mean ms", "max ms", ""], rows, options)}`);
}

export const stats = defineCommand({
  positionals: "[id]",
  options: GATEWAY_OPTIONS,
  examples: [
    { line: "openclaw plugins stats", does: "Calls and timings of hooks" },
    { line: "openclaw plugins stats --json", does: "Same, as JSON" },
  ],
  async run({ io, values, positionals: [id] }) {
    const found = await callGateway(io, "plugins.stats", id === undefined ? {} : { id }, values);
    if (values.json) printJson(io, found);
    else print(io, found);
  },
});

export const reload = defineCommand({
  positionals: "<id>",
  options: GATEWAY_OPTIONS,
  examples: [{ line: "openclaw plugins reload hello", does: "Reload after a code change" }],
  async run({ io, values, positionals: [id] }) {
    if (id === undefined) throw new AppError("INVALID_INPUT", "expected a plugin id; list them with: openclaw plugins list");
    // A plugin has ten seconds to load and ten to register.
    const answer = await callGateway(io, "plugins.reload", { id }, { ...values, timeout: values.timeout ?? "40000" });
    if (values.json) return printJson(io, answer);
    const style = createStyle(io.color);
    const { plugin, diagnostics } = answer;
    const state = plugin.status === "loaded" ? style.green(`loaded, generation ${plugin.generation}`) : style.dim(plugin.reason ?? plugin.status);
    io.out(`${plugin.id}: ${state}\n`);
    for (const { level, message } of diagnostics) io.out(`  ${level === "error" ? style.red(level) : style.yellow(level)} ${message}\n`);
  },
});
