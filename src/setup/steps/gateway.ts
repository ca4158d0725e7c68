import { AppError } from "../../base/errors.ts";
import { gatewayPort } from "../../config/index.ts";
import type { Asker } from "../asker.ts";
import type { Setup } from "../context.ts";
import { BINDS, TAILSCALE_MODES, type Bind, type TailscaleMode } from "../answers.ts";

export interface GatewaySummary {
  readonly port: number;
  readonly bind: Bind;
  readonly authMode: string;
  readonly tailscaleMode: TailscaleMode;
}

/** 48 hexadecimal characters. */
const TOKEN_BYTES = 24;

const BIND_HINTS: Readonly<Record<Bind, string>> = {
  loopback: "this machine only",
  lan: "everyone on the network who has the token",
  tailnet: "your Tailscale network",
  auto: "this machine, or the network if that fails",
  custom: "gateway.customBindHost",
};

const wrongPort = (text: string): string | undefined =>
  /^\d{1,5}$/.test(text.trim()) && Number(text) > 0 && Number(text) < 65_536 ? undefined : "a number from 1 to 65535";

async function choosePort({ answers, draft, host }: Setup, ask: Asker | undefined): Promise<number> {
  const usual = gatewayPort(host.env, { config: draft.config.gateway?.port });
  if (answers.gateway?.port !== undefined) return answers.gateway.port;
  return ask ? Number(await ask.text({ message: "Port", initialValue: String(usual), validate: wrongPort })) : usual;
}

async function chooseBind({ answers, draft }: Setup, ask: Asker | undefined): Promise<Bind> {
  const usual = draft.config.gateway?.bind ?? "loopback";
  if (answers.gateway?.bind) return answers.gateway.bind;
  if (!ask) return usual;
  return ask.select<Bind>({
    message: "Who can reach the gateway?",
    options: BINDS.map((value) => ({ value, label: value, hint: BIND_HINTS[value] })),
    initialValue: usual,
  });
}

async function chooseTailscale({ answers, draft }: Setup, ask: Asker | undefined): Promise<TailscaleMode> {
  const usual = draft.config.gateway?.tailscale?.mode ?? "off";
  if (answers.gateway?.tailscale) return answers.gateway.tailscale;
  if (!ask) return usual;
  return ask.select<TailscaleMode>({
    message: "Expose it through Tailscale?",
    options: TAILSCALE_MODES.map((value) => ({ value, label: value })),
    initialValue: usual,
  });
}

/** How clients authenticate: by the answers, the configuration, else a new token. */
async function chooseAuth(
  setup: Setup,
  asker: Asker | undefined,
  tailscale: TailscaleMode,
): Promise<{ readonly mode: string; readonly patch: Record<string, unknown> }> {
  const { ask, answers, draft, host } = setup;
  const known = draft.config.gateway?.auth;
  const flags = answers.gateway ?? {};
  const usual = known?.mode ?? (known?.password === undefined ? "token" : "password");
  const fromFlags = flags.auth ?? (flags.password === undefined ? (flags.token === undefined ? undefined : "token") : "password");
  const mode =
    fromFlags ??
    (asker
      ? await asker.select<string>({
          message: "How do clients sign in?",
          options: [
            { value: "token", label: "Token", hint: "generated for you" },
            { value: "password", label: "Password", hint: "needed for Tailscale Funnel" },
          ],
          initialValue: usual === "password" ? "password" : "token",
        })
      : usual);
  if (tailscale === "funnel" && mode !== "password")
    throw new AppError(
      "INVALID_INPUT",
      "Tailscale Funnel exposes the gateway to the internet; set a password (--gateway-auth password --gateway-password <text>)",
    );
  if (mode === "password") {
    const password =
      flags.password ??
      (known?.password === undefined && ask
        ? (await ask.password({ message: "Password", validate: (text) => (text.trim() === "" ? "a password that is not empty" : undefined) })).trim()
        : undefined);
    if (password === undefined && known?.password === undefined) throw new AppError("INVALID_INPUT", "--gateway-auth password needs --gateway-password");
    if (password !== undefined) host.redactor.register(password);
    return { mode, patch: { mode, ...(password === undefined ? {} : { password }) } };
  }
  if (mode !== "token") return { mode, patch: {} };
  const token = flags.token?.trim() || (known?.token === undefined ? host.ids.hex(TOKEN_BYTES) : undefined);
  if (token !== undefined) host.redactor.register(token);
  return { mode, patch: { mode, ...(token === undefined ? {} : { token }) } };
}

/** Where the gateway listens, and who may connect. */
export async function setUpGateway(setup: Setup): Promise<GatewaySummary> {
  const { ask, answers, flow, keep, draft, host } = setup;
  const known = draft.config.gateway;
  const asker = flow === "advanced" && !(keep && known?.mode !== undefined) ? ask : undefined;
  const port = await choosePort(setup, asker);
  const tailscaleMode = await chooseTailscale(setup, asker);
  const bind = tailscaleMode === "off" ? await chooseBind(setup, asker) : "loopback";
  if (tailscaleMode !== "off" && (answers.gateway?.bind ?? "loopback") !== "loopback")
    throw new AppError("INVALID_INPUT", `--tailscale ${tailscaleMode} needs --gateway-bind loopback, because Tailscale handles remote access`);
  if (bind === "custom" && !known?.customBindHost?.trim()) {
    if (!ask) throw new AppError("INVALID_INPUT", "--gateway-bind custom needs an address: openclaw config set gateway.customBindHost <ip>");
    draft.merge({ gateway: { customBindHost: (await ask.text({ message: "IP address to listen on", placeholder: "192.168.1.10" })).trim() } });
  }
  const { mode: authMode, patch } = await chooseAuth(setup, asker, tailscaleMode);
  const resetOnExit = answers.gateway?.tailscaleResetOnExit ?? known?.tailscale?.resetOnExit ?? false;
  // A gateway that runs knows where it listens; writing that down again would restart it for nothing.
  const isSilent = host.insideGateway === true && !asker;
  draft.merge(
    isSilent ? { gateway: { mode: "local" } } : { gateway: { mode: "local", port, bind, auth: patch, tailscale: { mode: tailscaleMode, resetOnExit } } },
  );
  return { port, bind, authMode, tailscaleMode };
}
