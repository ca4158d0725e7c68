/** The exchange of a channel without a gateway, where its platform is not reached over HTTP: a bare client of the same library answers. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startPerson } from "../../test/fakes/irc/person.ts";
import { startRelay } from "../../test/fakes/irc/relay.ts";
import { startNgircd } from "../../test/fakes/ngircd.ts";
import { startWhatsApp } from "../../test/fakes/whatsapp/index.ts";
import { textOf } from "../../test/fakes/whatsapp/mail.ts";
import type { BenchContext } from "../row.ts";

interface BareChannel extends AsyncDisposable {
  say(text: string): Promise<void>;
  received(): readonly string[];
}

const NICK = "bare";
const PASSWORD = "password-of-a-bench";

/** Resolves when the client is connected. */
async function startClient(context: BenchContext, channel: string, env: Readonly<Record<string, string>>): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(context.root, "bench/drivers/bare-chat.ts"), channel], {
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "ignore"],
  });
  await Promise.race([
    once(child.stdout, "data"),
    once(child, "exit").then(() => Promise.reject(new Error(`the bare client of ${channel} ended before it was connected`))),
  ]);
  return child;
}

/** Ends it, and waits for that. */
function ending(child: ChildProcess): () => Promise<void> {
  return async () => {
    child.stdin!.end();
    await once(child, "exit");
  };
}

async function bareIrc(context: BenchContext): Promise<BareChannel> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startNgircd({ password: PASSWORD }));
  const relay = stack.use(await startRelay(server.port));
  const person = stack.use(await startPerson({ port: server.port, nick: "olga", password: PASSWORD }));
  const env = { BENCH_IRC_PORT: String(relay.port), BENCH_IRC_NICK: NICK, BENCH_IRC_PASSWORD: PASSWORD };
  stack.defer(ending(await startClient(context, "irc", env)));
  const kept = stack.move();
  return {
    async say(text) {
      person.say(NICK, text);
      await person.settled();
    },
    received: () => person.texts(NICK),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function bareWhatsApp(context: BenchContext): Promise<BareChannel> {
  await using stack = new AsyncDisposableStack();
  const whatsapp = stack.use(await startWhatsApp());
  const { world } = whatsapp;
  const from = world.person({ number: "491701234567", name: "Olive" });
  const folder = join(context.folder, `bare-whatsapp-${process.hrtime.bigint()}`);
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(whatsapp.linkedFiles())) writeFileSync(join(folder, name), text);
  stack.defer(ending(await startClient(context, "whatsapp", { ...whatsapp.env, BENCH_WHATSAPP_FOLDER: folder })));
  const kept = stack.move();
  return {
    say: async (text) => void (await whatsapp.deliver({ from, message: { conversation: text } })),
    received: () => world.seen.filter(({ chat }) => chat === from.pn).map(({ message }) => textOf(message)),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** By channel; those that are not here are reached over HTTP, or share nothing with a library. */
export const BARE_CHANNELS: Readonly<Record<string, (context: BenchContext) => Promise<BareChannel>>> = { irc: bareIrc, whatsapp: bareWhatsApp };
