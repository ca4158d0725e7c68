/** The channel in this process, against the fake server. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rootCertificates, setDefaultCACertificates } from "node:tls";
import { WA_CERT_DETAILS } from "baileys";
import type { ChannelAccountSnapshot, ChannelInboundEvent, ChannelInboundResult } from "openclaw/plugin-sdk";
import { type FakeWhatsApp, type Person, startWhatsApp } from "../../test/fakes/whatsapp/index.ts";
import type { HostConfig } from "./account.ts";
import { createWhatsAppPlugin, type WhatsAppChannel } from "./channel.ts";

export interface Lab extends AsyncDisposable {
  readonly whatsapp: FakeWhatsApp;
  readonly channel: WhatsAppChannel;
  readonly folder: string;
  readonly authDir: string;
  readonly bob: Person;
  readonly events: ChannelInboundEvent[];
  readonly status: ChannelAccountSnapshot;
  readonly log: string[];
  cfg: HostConfig;
  /** What the host answers to the next events. */
  answer(how: (event: ChannelInboundEvent) => Promise<ChannelInboundResult>): void;
  /** Starts the account; `ended` settles when it has stopped. */
  start(): { readonly ended: Promise<unknown>; stop(): Promise<void> };
  send(to: string, text: string, more?: { nonce?: string; replyToId?: string }): Promise<string>;
}

export interface LabOptions {
  readonly linked?: boolean;
  readonly channel?: Readonly<Record<string, unknown>>;
  readonly web?: Readonly<Record<string, unknown>>;
}

/** Makes this process trust the fake: its Noise root, and the certificate of its host for files. */
function trust(whatsapp: FakeWhatsApp): void {
  Object.assign(WA_CERT_DETAILS, { PUBLIC_KEY: Buffer.from(whatsapp.rootKey, "hex") });
  setDefaultCACertificates([...rootCertificates, readFileSync(whatsapp.media.certPath, "utf8")]);
}

const silent = { info: () => {}, warn: () => {}, error: () => {} };

export async function openLab({ linked = true, channel: keys = {}, web = {} }: LabOptions = {}): Promise<Lab> {
  const whatsapp = await startWhatsApp();
  trust(whatsapp);
  const folder = mkdtempSync(join(tmpdir(), "openclaw-wa-"));
  const authDir = join(folder, "whatsapp", "default");
  if (linked) {
    mkdirSync(authDir, { recursive: true, mode: 0o700 });
    for (const [name, text] of Object.entries(whatsapp.linkedFiles())) writeFileSync(join(authDir, name), text, { mode: 0o600 });
  }
  const bob = whatsapp.world.person({ number: "491701234567", name: "Bob" });
  const channel = createWhatsAppPlugin({ credentialsDir: folder, url: whatsapp.url, log: silent });
  const events: ChannelInboundEvent[] = [];
  const log: string[] = [];
  let how: (event: ChannelInboundEvent) => Promise<ChannelInboundResult> = async () => ({ outcome: "accepted", duplicate: false });
  const status: ChannelAccountSnapshot = { accountId: "default" };
  const stops = new Set<() => Promise<void>>();
  const lab: Lab = {
    whatsapp,
    channel,
    folder,
    authDir,
    bob,
    events,
    status,
    log,
    cfg: { channels: { whatsapp: { allowFrom: [`+${bob.number}`], ...keys } }, web: { reconnect: { initialMs: 20, maxMs: 50 }, ...web } },
    answer(next) {
      how = next;
    },
    start() {
      const stopping = new AbortController();
      const ended = channel.gateway!.startAccount!({
        cfg: lab.cfg,
        accountId: "default",
        account: channel.accounts.read(lab.cfg, "default"),
        runtime: { log: () => {}, error: () => {}, exit: () => {} },
        abortSignal: stopping.signal,
        log: {
          info: (text: string) => void log.push(text),
          warn: (text: string) => void log.push(text),
          error: (text: string) => void log.push(text),
        },
        getStatus: () => status,
        setStatus: (next) => void Object.assign(status, next),
        inbound: {
          async accept(event) {
            const result = await how(event);
            events.push(event);
            return result;
          },
        },
      }).then(
        () => undefined,
        (error: unknown) => error,
      );
      const stop = async (): Promise<void> => {
        stopping.abort();
        await ended;
      };
      stops.add(stop);
      return { ended, stop };
    },
    async send(to, text, more = {}) {
      const { messageId } = await channel.outbound!.sendText!({ cfg: lab.cfg, accountId: "default", to, text, ...more });
      return messageId;
    },
    async [Symbol.asyncDispose]() {
      for (const stop of stops) await stop();
      await whatsapp[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return lab;
}
