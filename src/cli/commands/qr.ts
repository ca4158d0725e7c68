import { networkInterfaces } from "node:os";
import { AppError } from "../../base/errors.ts";
import { gatewayPort, type Config } from "../../config/index.ts";
import { networkAddress, resolveBinding } from "../../gateway/index.ts";
import { defineCommand, JSON_OPTION, type Group, type Values } from "../command.ts";
import { openForReading, secretAt } from "../gateway-target.ts";
import { printJson, type Io } from "../io.ts";
import { createStyle } from "../output/style.ts";

const OPTIONS = {
  url: { type: "string", value: "ws-url", help: "URL the phone connects to" },
  "public-url": { type: "string", value: "url", help: "Public URL: https://…" },
  remote: { type: "boolean", help: "Use the gateway from gateway.remote" },
  token: { type: "string", value: "text", help: "Token, instead of the configured one" },
  password: { type: "string", value: "text", help: "Password, instead of the configured one" },
  "setup-code-only": { type: "boolean", help: "Print only the setup code" },
  "no-ascii": { type: "boolean", help: "Don't print the QR code" },
  json: JSON_OPTION,
} as const;

interface Address {
  readonly url: string;
  /** Where it comes from, for people. */
  readonly source: string;
}

/** An address that a phone can be given, as a WebSocket one. */
function checkedUrl(text: string, source: string): Address {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^(?:wss?|https?):$/.test(url.protocol)) throw new AppError("INVALID_INPUT", `${source} must be a ws, wss, http or https URL, not "${text}"`);
  return { url: url.href.replace(/^http/, "ws").replace(/\/$/, ""), source };
}

/** Where a phone in the same network reaches the gateway of this machine. */
function ownAddress(io: Io, config: Config): Address {
  const { gateway } = config.current;
  const bind = gateway?.bind ?? "loopback";
  const scheme = gateway?.tls?.enabled === true ? "wss" : "ws";
  const [first] = resolveBinding(bind, gateway?.customBindHost, networkInterfaces).addresses;
  const host = first === "0.0.0.0" || first === "::" ? networkAddress(networkInterfaces()) : first;
  if (host === undefined || host === "::1" || host.startsWith("127.")) {
    throw new AppError(
      "CONFLICT",
      `the gateway listens on this machine only (gateway.bind ${bind}), so a phone cannot reach it. Set gateway.bind to lan or tailnet and restart it, or set the URL of a proxy with --public-url`,
    );
  }
  const port = gatewayPort(io.env, { config: gateway?.port });
  return { url: `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`, source: `gateway.bind ${bind}` };
}

function addressOf(io: Io, config: Config, values: Values<typeof OPTIONS>): Address {
  if (values.url !== undefined) return checkedUrl(values.url, "--url");
  if (values["public-url"] !== undefined) return checkedUrl(values["public-url"], "--public-url");
  const remote = config.current.gateway?.remote?.url?.trim();
  if (!values.remote) return ownAddress(io, config);
  if (!remote) throw new AppError("CONFIG_INVALID", "gateway.remote.url is not set; set it, or use --url");
  return checkedUrl(remote, "gateway.remote.url");
}

type Secret = { readonly token: string } | { readonly password: string };

async function secretOf(io: Io, config: Config, values: Values<typeof OPTIONS>): Promise<Secret> {
  if (values.token !== undefined) return { token: values.token };
  if (values.password !== undefined) return { password: values.password };
  const { gateway } = config.current;
  const [part, path] = values.remote ? ([gateway?.remote, "gateway.remote"] as const) : ([gateway?.auth, "gateway.auth"] as const);
  const token = (values.remote ? undefined : io.env["OPENCLAW_GATEWAY_TOKEN"]) || (await secretAt(config, part?.token, `${path}.token`));
  const password = (values.remote ? undefined : io.env["OPENCLAW_GATEWAY_PASSWORD"]) || (await secretAt(config, part?.password, `${path}.password`));
  if (gateway?.auth?.mode === "password" && password !== undefined && password !== "") return { password };
  if (token !== undefined && token !== "") return { token };
  if (password !== undefined && password !== "") return { password };
  throw new AppError("CONFIG_INVALID", `${path} has neither a token nor a password; set one, or use --token or --password`);
}

export const qr = defineCommand({
  options: OPTIONS,
  examples: [{ line: "openclaw qr --public-url https://claw.example.org --token secret", does: "Show a QR code to connect a phone" }],
  async run({ io, values }) {
    using config = await openForReading(io);
    const { url, source } = addressOf(io, config, values);
    const secret = await secretOf(io, config, values);
    const setupCode = Buffer.from(JSON.stringify({ url, ...secret })).toString("base64url");
    const auth = "token" in secret ? "token" : "password";
    if (values.json) return printJson(io, { setupCode, gatewayUrl: url, auth, urlSource: source });
    if (values["setup-code-only"]) return io.out(`${setupCode}\n`);
    if (!values["no-ascii"]) {
      const { renderUnicodeCompact } = await import("uqr");
      io.out(`${renderUnicodeCompact(setupCode, { border: 2 })}\n\n`);
    }
    const style = createStyle(io.color);
    io.out(`${style.bold("Setup code")}  ${setupCode}\n${style.bold("Gateway")}     ${url} (${source})\n`);
    io.err(
      style.dim(
        `Scan it with the app, or paste the setup code there. Then approve the phone: openclaw devices list\nThe code contains the gateway's ${auth}. Don't share it.\n`,
      ),
    );
  },
});

/** What an older program of another name had. */
export const clawbot: Group = {
  entries: [{ name: "qr", summary: "Show a QR code to connect a phone", load: () => Promise.resolve(qr) }],
  examples: [],
};
