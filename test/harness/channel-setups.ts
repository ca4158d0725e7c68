/** What it takes to set a channel up against its fake: what a person writes on the command line, and into the page. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startDiscord } from "../fakes/discord/index.ts";
import { startGoogleChat } from "../fakes/googlechat/index.ts";
import { startMessages } from "../fakes/imessage/index.ts";
import { startMattermost } from "../fakes/mattermost/index.ts";
import { startNgircd } from "../fakes/ngircd.ts";
import { startSignal } from "../fakes/signal/index.ts";
import { startSlack } from "../fakes/slack/index.ts";
import { startTelegram } from "../fakes/telegram/index.ts";
import { startWhatsApp } from "../fakes/whatsapp/index.ts";

export interface ChannelSetup extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>;
  /** Of `channels add`. */
  readonly flags: readonly string[];
  /** By their names in the configuration. */
  readonly fields: Readonly<Record<string, string>>;
  /** Undefined: only the gateway knows. */
  isUp?(): boolean;
  /** The phone scans the code that this text is; only where a channel is linked by one. */
  scan?(code: string): void;
}

const setups = {
  async telegram() {
    const telegram = await startTelegram();
    return {
      env: { OPENCLAW_TEST_TELEGRAM_API_ROOT: telegram.apiRoot },
      flags: ["--token", telegram.token],
      fields: { botToken: telegram.token },
      isUp: () => telegram.polling,
      [Symbol.asyncDispose]: () => telegram[Symbol.asyncDispose](),
    };
  },
  async discord() {
    const discord = await startDiscord();
    return {
      env: { OPENCLAW_TEST_DISCORD_API_ROOT: discord.apiRoot },
      flags: ["--token", discord.token],
      fields: { token: discord.token },
      isUp: () => discord.gateway.live > 0,
      [Symbol.asyncDispose]: () => discord[Symbol.asyncDispose](),
    };
  },
  async slack() {
    const slack = await startSlack();
    return {
      env: { OPENCLAW_TEST_SLACK_API_ROOT: slack.apiRoot },
      flags: ["--bot-token", slack.botToken, "--app-token", slack.appToken],
      fields: { botToken: slack.botToken, appToken: slack.appToken },
      isUp: () => slack.delivery.open > 0,
      [Symbol.asyncDispose]: () => slack[Symbol.asyncDispose](),
    };
  },
  async mattermost() {
    const chat = await startMattermost();
    return {
      env: {},
      flags: ["--bot-token", chat.token, "--http-url", chat.url],
      fields: { botToken: chat.token, baseUrl: chat.url },
      isUp: () => chat.server.sockets.length > 0,
      [Symbol.asyncDispose]: () => chat[Symbol.asyncDispose](),
    };
  },
  async signal() {
    const signal = await startSignal();
    const number = signal.world.me.number ?? "";
    return {
      env: {},
      flags: ["--signal-number", number, "--http-url", signal.url],
      fields: { account: number, httpUrl: signal.url },
      isUp: () => signal.listeners() > 0,
      [Symbol.asyncDispose]: () => signal[Symbol.asyncDispose](),
    };
  },
  async imessage() {
    const mac = await startMessages();
    const folder = mkdtempSync(join(tmpdir(), "imsg-here-"));
    // The page asks for no database: a script names it, as one for another Mac would.
    const cliPath = join(folder, "imsg");
    writeFileSync(cliPath, `#!/bin/sh\nexec "${mac.cliPath}" "$@" --db "${mac.dbPath}"\n`, { mode: 0o755 });
    return {
      env: {},
      flags: ["--cli-path", cliPath],
      fields: { cliPath },
      isUp: () => mac.asked.some(({ method }) => method === "watch.subscribe"),
      async [Symbol.asyncDispose]() {
        await mac[Symbol.asyncDispose]();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
  async googlechat() {
    const chat = await startGoogleChat();
    const folder = mkdtempSync(join(tmpdir(), "google-key-"));
    const file = join(folder, "key.json");
    writeFileSync(file, chat.google.serviceAccount, { mode: 0o600 });
    return {
      env: { OPENCLAW_TEST_GOOGLECHAT_API_ROOT: chat.url },
      flags: ["--token-file", file, "--audience-type", "project-number", "--audience", "123456789012"],
      fields: { serviceAccountFile: file, audienceType: "project-number", audience: "123456789012" },
      async [Symbol.asyncDispose]() {
        await chat[Symbol.asyncDispose]();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
  async whatsapp() {
    const whatsapp = await startWhatsApp();
    return {
      env: whatsapp.env,
      flags: [],
      fields: { allowFrom: "+491701234567" },
      scan: (code: string) => whatsapp.scan(code),
      [Symbol.asyncDispose]: () => whatsapp[Symbol.asyncDispose](),
    };
  },
  async irc() {
    const server = await startNgircd({});
    return {
      env: {},
      flags: ["--url", `irc://${server.host}:${server.port}`, "--user-id", "claw"],
      fields: { host: server.host, port: String(server.port), tls: "false", nick: "claw" },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
} satisfies Record<string, () => Promise<ChannelSetup>>;

/** Of every channel. */
export const CHANNEL_SETUPS: Readonly<Record<string, () => Promise<ChannelSetup>>> = setups;
