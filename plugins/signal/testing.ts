/** The channel against a fake signal-cli, without a gateway. */
import { runChannelAccount, type RunningAccount, type RunningAccountOptions } from "openclaw/plugin-sdk/testing";
import { type FakeSignal, type Group, type Person, type SignalOptions, startSignal } from "../../test/fakes/signal/index.ts";
import { instantWaiting, openMapStore } from "../../test/harness/channel-parts.ts";
import { createSignalPlugin, type SignalChannel } from "./channel.ts";

export interface Bench extends AsyncDisposable {
  readonly signal: FakeSignal;
  readonly anna: Person;
  /** Hides the number. */
  readonly zoe: Person;
  readonly group: Group;
  readonly channel: SignalChannel;
  readonly delays: number[];
  /** What the plugin stores. */
  readonly stored: Map<string, unknown>;
  cfg(more?: Record<string, unknown>): RunningAccountOptions["cfg"];
  /** Starts the account and waits until it is connected. */
  run(more?: Record<string, unknown>, accept?: RunningAccountOptions["accept"]): Promise<RunningAccount>;
}

export async function openBench(options: SignalOptions = {}): Promise<Bench> {
  const signal = await startSignal(options);
  const anna = signal.world.person({ number: "+491701234567", name: "Anna" });
  const zoe = signal.world.person({ number: null, name: "Zoe" });
  const stored = new Map<string, unknown>();
  const delays: number[] = [];
  const channel = createSignalPlugin({
    openStore: openMapStore(stored),
    waiting: instantWaiting(delays),
  });
  const cfg: Bench["cfg"] = (more = {}) => ({ channels: { signal: { httpUrl: signal.url, account: signal.world.me.number, ...more } } });
  return {
    signal,
    anna,
    zoe,
    group: signal.world.group("Team", [anna, zoe]),
    channel,
    delays,
    stored,
    cfg,
    async run(more, accept) {
      const account = runChannelAccount(channel, { cfg: cfg(more), ...(accept ? { accept } : {}) });
      await account.shows(({ connected }) => connected === true);
      return account;
    },
    async [Symbol.asyncDispose]() {
      channel[Symbol.dispose]();
      await signal[Symbol.asyncDispose]();
    },
  };
}
