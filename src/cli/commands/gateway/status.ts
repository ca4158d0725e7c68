import { readFileSync } from "node:fs";
import { gatewayPort } from "../../../config/index.ts";
import type { MethodResult } from "../../../protocol/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { GATEWAY_OPTIONS, timeoutOf, tryGateway, type Answered } from "../../gateway-call.ts";
import { findTarget, openForReading, type Target } from "../../gateway-target.ts";
import { printJson, type Io } from "../../io.ts";
import { currentLogFile } from "../../log-location.ts";
import { createStyle } from "../../output/style.ts";
import { formatFacts } from "../../output/table.ts";
import { findService, isInstalled, serviceState, type ServiceState } from "./service/service.ts";
import type { ServiceDefinition } from "./service/definition.ts";

const OPTIONS = {
  "no-probe": { type: "boolean", help: "Don't connect to the gateway" },
  deep: { type: "boolean", help: "Also check its health" },
  ...GATEWAY_OPTIONS,
  json: JSON_OPTION,
} as const;

interface Found {
  readonly service: ServiceDefinition | undefined;
  readonly installed: boolean;
  readonly state: ServiceState;
  /** Why the installed file is not what would be installed now. */
  readonly issues: readonly { readonly code: string; readonly message: string; readonly level: "recommended" }[];
  readonly target: Target;
  readonly answer: Answered<MethodResult<"health"> | undefined> | undefined;
  readonly port: number;
  readonly portSource: string;
}

function auditOf(service: ServiceDefinition): Found["issues"] {
  const message = `${service.file} was written by another version; update it with: openclaw gateway install --force`;
  return readFileSync(service.file, "utf8") === service.content ? [] : [{ code: "gateway-entrypoint-mismatch", message, level: "recommended" }];
}

function portSourceOf(io: Io, configured: number | undefined): string {
  if (io.env["OPENCLAW_GATEWAY_PORT"]?.trim()) return "env";
  return configured === undefined ? "default" : "config";
}

async function gather(
  io: Io,
  flags: Parameters<typeof findTarget>[1] & { readonly probe: boolean; readonly deep: boolean; readonly timeoutMs: number },
): Promise<Found> {
  const service = findService(io);
  const installed = service !== undefined && isInstalled(service);
  const state = installed ? await serviceState(io, service) : { loaded: false, running: false, detail: "not installed" };
  using config = await openForReading(io);
  const configured = config.current.gateway?.port;
  const target = await findTarget(io, flags);
  const answer = flags.probe
    ? await tryGateway(io, target, flags.timeoutMs, async (client) => (flags.deep ? client.request("health", { probe: true }) : undefined))
    : undefined;
  return {
    service,
    installed,
    state,
    issues: installed ? auditOf(service) : [],
    target,
    answer,
    port: gatewayPort(io.env, { config: configured }),
    portSource: portSourceOf(io, configured),
  };
}

function toJson({ service, installed, state, issues, target, answer, port, portSource }: Found): unknown {
  const { holder, url, configPath, stateDir, bind } = target;
  return {
    service: {
      label: service?.label ?? null,
      loaded: state.loaded,
      loadedText: "loaded",
      notLoadedText: installed ? "not loaded" : "not installed",
      command: installed ? service?.file : null,
      runtime: { status: state.running ? "running" : "stopped", detail: state.detail, ...(state.pid === undefined ? {} : { pid: state.pid }) },
      configAudit: { ok: issues.length === 0, issues },
    },
    config: { cli: { path: configPath, stateDir }, daemon: holder ? { path: holder.configPath, stateDir: holder.stateDir } : null },
    gateway: {
      bindMode: bind,
      bindHost: "127.0.0.1",
      port: holder?.port ?? port,
      portSource: holder?.port === undefined ? portSource : "lock",
      probeUrl: url,
      probeNote: target.source,
    },
    port: { port: holder?.port ?? port, status: holder ? "busy" : "free", listeners: holder ? [{ pid: holder.pid }] : [], hints: [] },
    rpc: answer ? { ok: answer.ok, url, ...(answer.error === undefined ? { latencyMs: answer.latencyMs } : { error: answer.error }) } : null,
    extraServices: [],
    ...(answer?.value === undefined ? {} : { health: answer.value }),
  };
}

async function print(io: Io, found: Found): Promise<void> {
  const style = createStyle(io.color);
  const { service, state, installed, issues, target, answer } = found;
  const { holder } = target;
  const dashboard = target.url.replace(/^ws/, "http");
  const probed = !answer
    ? "not asked"
    : answer.ok
      ? `${style.green("ok")} in ${answer.latencyMs} ms`
      : `${style.red("failed")}: ${answer.error?.split("\n")[0]}`;
  io.out(
    formatFacts(
      [
        ["Service", service ? `${service.label}: ${installed ? state.detail : "not installed"}` : `none on ${process.platform}`],
        ["Process", holder ? `${holder.pid}, since ${holder.createdAt}` : io.runnable("not running (start it with: openclaw gateway)")],
        ["Target", `${target.url} (from ${target.source}), bind ${target.bind}`],
        ["Probe", probed],
        ...(answer?.value ? ([["Health", `${answer.value.agents.length} agents, ${answer.value.sessions.count} sessions`]] as const) : []),
        ["Dashboard", dashboard],
        ["Config", target.configPath],
        ...(holder && holder.configPath !== target.configPath ? ([["Its config", holder.configPath]] as const) : []),
        ["Log", await currentLogFile(io)],
      ],
      style,
    ),
  );
  for (const { message } of issues) io.out(io.runnable(`${style.yellow("!")} ${message}\n`));
}

export const status = defineCommand({
  options: OPTIONS,
  examples: [
    { line: "openclaw gateway status", does: "Service, process and connection" },
    { line: "openclaw gateway status --no-probe --json", does: "Without connecting, as JSON" },
  ],
  async run({ io, values }) {
    const found = await gather(io, { ...values, probe: !values["no-probe"], deep: values.deep ?? false, timeoutMs: timeoutOf(values) });
    if (values.json) printJson(io, toJson(found));
    else await print(io, found);
  },
});
