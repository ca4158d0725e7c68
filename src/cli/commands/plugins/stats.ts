import type { MethodResult } from "../../../protocol/index.ts";
import { defineCommand } from "../../command.ts";
import { callGateway, GATEWAY_OPTIONS } from "../../gateway-call.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";

type Stats = MethodResult<"plugins.stats">;

const shownMs = (ms: number): string => (ms >= 100 ? String(Math.round(ms)) : ms.toFixed(1));

function print(io: Io, { hooks, breakers, plugins }: Stats): void {
  const style = createStyle(io.color);
  const options = { style, columns: io.columns };
  if (plugins.length === 0) return io.out("no plugin runs in this gateway\n");
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
    { line: "openclaw plugins stats", does: "how often hooks were called, how long they took" },
    { line: "openclaw plugins stats --json", does: "the same, for machines" },
  ],
  async run({ io, values, positionals: [id] }) {
    const found = await callGateway(io, "plugins.stats", id === undefined ? {} : { id }, values);
    if (values.json) printJson(io, found);
    else print(io, found);
  },
});
