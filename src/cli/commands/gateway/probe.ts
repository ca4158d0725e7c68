import { AppError } from "../../../base/errors.ts";
import type { GatewayClient, MethodResult } from "../../../protocol/index.ts";
import { defineCommand } from "../../command.ts";
import { GATEWAY_OPTIONS, timeoutOf, tryGateway, type Answered } from "../../gateway-call.ts";
import { findTarget, localTarget, openForReading, remoteTarget, type Target } from "../../gateway-target.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";

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
  ssh: { type: "string", value: "user@host[:port]", help: "through a tunnel; not there yet" },
  "ssh-identity": { type: "string", value: "path", help: "key for --ssh; not there yet" },
  "ssh-auto": { type: "boolean", help: "find the host for --ssh; not there yet" },
} as const;

export const probe = defineCommand({
  options: { ...SSH_OPTIONS, ...GATEWAY_OPTIONS, timeout: { ...GATEWAY_OPTIONS.timeout, help: "how long to wait for each (default 3000)" } },
  examples: [{ line: "openclaw gateway probe", does: "the remote gateway of the configuration, and the one of this machine" }],
  async run({ io, values }) {
    if (values.ssh !== undefined || values["ssh-identity"] !== undefined || values["ssh-auto"])
      throw new AppError(
        "UNAVAILABLE",
        "tunnels over SSH are not there yet; open one yourself (ssh -N -L 18790:127.0.0.1:18789 user@host) and probe --url ws://127.0.0.1:18790",
      );
    const timeoutMs = timeoutOf(values, 3000);
    const started = performance.now();
    const targets = await targetsOf(io, values);
    const answers = await Promise.all(targets.map((target) => tryGateway(io, target, timeoutMs, look)));
    const first = answers.findIndex(({ ok }) => ok);
    const ok = first !== -1;
    if (values.json) {
      printJson(io, {
        ok,
        ts: io.now(),
        durationMs: Math.round(performance.now() - started),
        timeoutMs,
        primaryTargetId: ok ? ids[targets[first]!.kind] : null,
        warnings: [],
        network: null,
        discovery: { count: 0, beacons: [] },
        targets: targets.map((target, index) => report(target, answers[index]!, index === first)),
      });
      return ok ? 0 : 1;
    }
    const style = createStyle(io.color);
    for (const [index, { url, source }] of targets.entries()) {
      const { ok: answered, latencyMs, error, value } = answers[index]!;
      const said = answered ? `${style.green("answers")} in ${latencyMs} ms, version ${value?.self.version}` : style.red("does not answer");
      io.out(`${url} ${style.dim(`(${source})`)}: ${said}\n`);
      if (error !== undefined) io.err(`${style.dim(error)}\n`);
    }
    return ok ? 0 : 1;
  },
});
