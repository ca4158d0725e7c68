import { systemClock } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import type { Logger } from "../../../base/log/logger.ts";
import { gatewayPort } from "../../../config/index.ts";
import { loadWebhooks } from "../../../automation/index.ts";
import { defineCommand, type OptionSpecs, type Values } from "../../command.ts";
import { openForReading, secretAt } from "../../gateway-target.ts";
import type { Io } from "../../io.ts";
import { whenAborted } from "../../../base/when-aborted.ts";

/** Where mail is watched and passed on: what `setup` writes and `run` may replace. */
export const GMAIL_OPTIONS = {
  account: { type: "string", value: "address", help: "Mailbox address" },
  topic: { type: "string", value: "name", help: "Pub/Sub topic (default gog-gmail-watch)" },
  subscription: { type: "string", value: "name", help: "Pub/Sub subscription (default gog-gmail-watch-push)" },
  label: { type: "string", value: "name", help: "Label to watch (default INBOX)" },
  "hook-url": { type: "string", value: "url", help: "Hook URL (default: the gateway on this machine)" },
  "hook-token": { type: "string", value: "token", help: "Hook token" },
  "push-token": { type: "string", value: "token", help: "Push token that Google sends" },
  bind: { type: "string", value: "address", help: "Address to listen on (default 127.0.0.1)" },
  port: { type: "string", value: "port", help: "Port (default 8788)" },
  path: { type: "string", value: "path", help: "Path (default /gmail-pubsub)" },
  "include-body": { type: "string", value: "true|false", help: "Include the mail body (default true)" },
  "max-bytes": { type: "string", value: "n", help: "Maximum body size in bytes (default 20000)" },
  "renew-minutes": { type: "string", value: "n", help: "Renewal interval in minutes (default 720)" },
  tailscale: { type: "string", value: "mode", help: "Tailscale mode: funnel, serve or off" },
  "tailscale-path": { type: "string", value: "path", help: "Public path (default /gmail-pubsub)" },
  "tailscale-target": { type: "string", value: "url", help: "Full target URL, if the path must be kept" },
} as const satisfies OptionSpecs;

export type GmailValues = Values<typeof GMAIL_OPTIONS>;

function numberOf(flag: "port" | "max-bytes" | "renew-minutes", values: GmailValues, most = Number.MAX_SAFE_INTEGER): number | undefined {
  const text = values[flag];
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isInteger(value) && value > 0 && value <= most) return value;
  throw new AppError("INVALID_INPUT", `--${flag} takes a whole number above 0${most === Number.MAX_SAFE_INTEGER ? "" : ` and at most ${most}`}, not "${text}"`);
}

const MODES = ["off", "serve", "funnel"] as const;

function modeOf({ tailscale }: GmailValues): (typeof MODES)[number] | undefined {
  const mode = MODES.find((one) => one === tailscale);
  if (tailscale !== undefined && mode === undefined) throw new AppError("INVALID_INPUT", `--tailscale takes ${MODES.join(", ")}, not "${tailscale}"`);
  return mode;
}

function bodyOf({ "include-body": text }: GmailValues): boolean | undefined {
  if (text === undefined || text === "true" || text === "false") return text === undefined ? undefined : text === "true";
  throw new AppError("INVALID_INPUT", `--include-body takes true or false, not "${text}"`);
}

const given = <T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: Exclude<T[K], undefined> };

/** The settings that the flags name, in the form of the configuration. */
export function gmailFlags(values: GmailValues) {
  const { account, topic, subscription, label, bind, path } = values;
  return {
    ...given({ account, topic, subscription, label, hookUrl: values["hook-url"], includeBody: bodyOf(values) }),
    ...given({ maxBytes: numberOf("max-bytes", values), renewEveryMinutes: numberOf("renew-minutes", values) }),
    serve: given({ bind, port: numberOf("port", values, 65_535), path }),
    tailscale: given({ mode: modeOf(values), path: values["tailscale-path"], target: values["tailscale-target"] }),
  };
}

/** Lines of the watch, as they come. */
function lines(io: Io): Logger {
  const say =
    (mark: string) =>
    (text: string): void =>
      io.err(`${mark}${text}\n`);
  const log: Logger = {
    fatal: say("error: "),
    error: say("error: "),
    warn: say("warning: "),
    info: say(""),
    debug: () => {},
    trace: () => {},
    subsystem: () => log,
  };
  return log;
}

export const run = defineCommand({
  options: GMAIL_OPTIONS,
  examples: [{ line: "openclaw webhooks gmail run --help", does: "List the flags" }],
  async run({ io, values }) {
    const { gmailSettings, watchGmail } = await loadWebhooks();
    using config = await openForReading(io);
    const { hooks, gateway } = config.current;
    const { serve, tailscale, ...flags } = gmailFlags(values);
    const { pushToken, ...written } = hooks?.gmail ?? {};
    const input = {
      ...written,
      ...flags,
      serve: { ...written.serve, ...serve },
      tailscale: { ...written.tailscale, ...tailscale },
      pushToken: values["push-token"] ?? (await secretAt(config, pushToken, "hooks.gmail.pushToken")),
      hookToken: values["hook-token"] ?? (await secretAt(config, hooks?.token, "hooks.token")),
    };
    const settings = gmailSettings(input, hooks?.path, gatewayPort(io.env, { config: gateway?.port }));
    if (typeof settings === "string") throw new AppError("INVALID_INPUT", `${settings}; set it up with: openclaw webhooks gmail setup --account <address>`);
    const watch = watchGmail(settings, { clock: systemClock, log: lines(io), env: config.env, cwd: io.cwd });
    const stopped = whenAborted(io.signal()).then(() => true);
    const isStopped = await Promise.race([stopped, watch.ended.then(() => false)]);
    await watch.stop();
    return isStopped ? 0 : 1;
  },
});
