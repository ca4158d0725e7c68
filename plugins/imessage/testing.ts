/** The channel against a fake Mac, without a gateway. */
import { execFile } from "node:child_process";
import { realWaiting } from "openclaw/plugin-sdk/channel-kit";
import { runChannelAccount, type RunningAccount, type RunningAccountOptions } from "openclaw/plugin-sdk/testing";
import { type Chat, type FakeMessages, startMessages } from "../../test/fakes/imessage/index.ts";
import { instantWaiting, openMapStore } from "../../test/harness/channel-parts.ts";
import type { RunCommand } from "./attachments.ts";
import { createIMessagePlugin, type IMessageChannel } from "./channel.ts";

const LATE_MS = 15;
export const ANNA = "+491701234567";

export interface Bench extends AsyncDisposable {
  readonly mac: FakeMessages;
  readonly direct: Chat;
  readonly group: Chat;
  readonly channel: IMessageChannel;
  readonly delays: number[];
  /** What the plugin stores. */
  readonly stored: Map<string, unknown>;
  cfg(more?: Record<string, unknown>): RunningAccountOptions["cfg"];
  /** Starts the account and waits until it is connected. */
  run(more?: Record<string, unknown>, accept?: RunningAccountOptions["accept"]): Promise<RunningAccount>;
}

export interface BenchOptions {
  readonly remote?: boolean;
  readonly sendTimeoutMs?: number;
  readonly timeoutMs?: number;
  readonly checkMs?: number;
}

const commands =
  (env: Record<string, string | undefined>): RunCommand =>
  ([command = "", ...args]) =>
    new Promise((resolve) => {
      execFile(command, args, { env }, (error, _stdout, stderr) => resolve({ code: typeof error?.code === "number" ? error.code : error ? 127 : 0, stderr }));
    });

export async function openBench({ remote = false, ...times }: BenchOptions = {}): Promise<Bench> {
  const mac = await startMessages({ remote });
  const stored = new Map<string, unknown>();
  const delays: number[] = [];
  const instant = instantWaiting(delays);
  const env = { ...process.env, PATH: `${mac.bin}:${process.env["PATH"] ?? ""}` };
  const channel = createIMessagePlugin({
    openStore: openMapStore(stored),
    env,
    run: commands(env),
    ...times,
    lateMs: LATE_MS,
    waiting: {
      ...instant,
      // Time between checks passes as it does; between attempts it takes none.
      sleep: (ms, signal) => (ms === (times.checkMs ?? 30_000) || ms === LATE_MS ? realWaiting : instant).sleep(ms, signal),
    },
  });
  const cfg: Bench["cfg"] = (more = {}) => ({
    channels: { imessage: { cliPath: mac.cliPath, dbPath: mac.dbPath, attachmentRoots: [mac.attachments], ...more } },
  });
  return {
    mac,
    direct: mac.direct(ANNA),
    group: mac.group("Workshop", [ANNA, "bob@example.org"]),
    channel,
    delays,
    stored,
    cfg,
    async run(more, accept) {
      const account = runChannelAccount(channel, { cfg: cfg(more), ...(accept ? { accept } : {}) });
      await account.shows(({ connected }) => connected === true);
      return account;
    },
    [Symbol.asyncDispose]: () => mac[Symbol.asyncDispose](),
  };
}
