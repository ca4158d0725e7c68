/** A client of a channel's own library that answers what it hears, and nothing else: `bare-chat.ts irc|whatsapp`. Says `ready`, and ends with its standard input. */
import { once } from "node:events";
import { createRequire } from "node:module";

/** The part of irc-framework that is used. */
interface IrcClient {
  connect(options: { host: string; port: number; nick: string; password: string; auto_reconnect: false }): void;
  on(event: "registered", listener: () => void): void;
  on(event: "privmsg", listener: (heard: { readonly nick: string; readonly message: string }) => void): void;
  say(target: string, text: string): void;
}

const settings = (name: string): string => process.env[name] ?? "";
const ready = (): void => console.log("ready");

function answerOnIrc(): void {
  const { Client } = createRequire(import.meta.url)("irc-framework") as { readonly Client: new () => IrcClient };
  const client = new Client();
  client.on("registered", ready);
  client.on("privmsg", ({ nick, message }) => client.say(nick, `Heard ${message}`));
  client.connect({
    host: "127.0.0.1",
    port: Number(settings("BENCH_IRC_PORT")),
    nick: settings("BENCH_IRC_NICK"),
    password: settings("BENCH_IRC_PASSWORD"),
    auto_reconnect: false,
  });
}

async function answerOnWhatsApp(): Promise<void> {
  const { makeWASocket, useMultiFileAuthState } = await import("baileys");
  const nothing = (): void => {};
  const logger = { level: "silent", child: () => logger, trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };
  const { state, saveCreds } = await useMultiFileAuthState(settings("BENCH_WHATSAPP_FOLDER"));
  const socket = makeWASocket({
    auth: state,
    waWebSocketUrl: settings("OPENCLAW_TEST_WHATSAPP_URL"),
    logger,
    markOnlineOnConnect: false,
    syncFullHistory: false,
  });
  socket.ev.on("creds.update", () => void saveCreds());
  socket.ev.on("connection.update", ({ connection }) => connection === "open" && ready());
  socket.ev.on("messages.upsert", ({ messages }) => {
    for (const { key, message } of messages) {
      const text = message?.conversation;
      if (text && !key.fromMe && key.remoteJid) void socket.sendMessage(key.remoteJidAlt ?? key.remoteJid, { text: `Heard ${text}`, linkPreview: null });
    }
  });
}

if (import.meta.main) {
  if (process.argv[2] === "irc") answerOnIrc();
  else await answerOnWhatsApp();
  await once(process.stdin.resume(), "end");
  process.exit(0);
}
