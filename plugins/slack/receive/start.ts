/** An account from its start to its end. */
import type { ChannelGatewayContext } from "openclaw/plugin-sdk";
import { type AccountRun, asChannelError, type createWebhooks, hopeless, keepConnected, messageOf } from "openclaw/plugin-sdk/channel-kit";
import type { SlackAccount } from "../account.ts";
import type { ChannelInboundEvent } from "../types.ts";
import type { Workspace } from "../workspace.ts";
import { openPositions } from "./positions.ts";
import { createReceiver } from "./receiver.ts";
import { runSocket } from "./socket.ts";
import { runWebhook } from "./webhook.ts";

export interface StartDeps {
  readonly workspace: Workspace;
  readonly webhooks: ReturnType<typeof createWebhooks>;
  openStore?(namespace: string): { lookup(key: string): Promise<unknown>; register(key: string, value: unknown): Promise<void> } | undefined;
  moved(account: SlackAccount, from: string, to: string): Promise<void>;
}

/** `xapp-1-<app>-…`. */
const appIn = (token: string): string | undefined => /^xapp-\d+-(A[A-Z0-9]{6,})-/.exec(token)?.[1];

type Refused = Pick<WeakSet<ChannelInboundEvent>, "has">;

async function connect(run: AccountRun, account: SlackAccount, deps: StartDeps, refused: Refused): Promise<unknown> {
  const { workspace } = deps;
  // A new attempt asks again who we are: the token may be another app's by now.
  const self = await workspace.self(run.signal).catch((error: unknown) => {
    const failure = asChannelError(error);
    throw failure && !failure.permanent && failure.delivery.state === "failed" ? hopeless(failure.message) : error;
  });
  const ended = new AbortController();
  const ending = AbortSignal.any([run.signal, ended.signal]);
  let appId = appIn(account.appToken);
  let lost: Error | undefined;
  const lose = (error: Error): void => {
    lost ??= error;
    ended.abort();
  };
  workspace.lost = lose;
  const positions = await openPositions(deps.openStore?.("positions"), `${account.accountId}:${self.teamId}:${self.userId}`, run.waiting, (error) =>
    run.log.warn(`the position could not be stored: ${messageOf(error)}`),
  );
  const receiver = createReceiver({
    run,
    workspace,
    self,
    positions,
    wasRefused: (event) => refused.has(event),
    appId: () => appId,
    moved: async (from, to) => deps.moved(account, from, to),
    gone: (why) => lose(hopeless(`${why}: install it again and set its tokens in channels.slack`)),
  });
  const opened = (): void => {
    run.up({ mode: account.mode, bot: { id: self.userId, name: self.name, team: self.team } });
    void receiver.catchUp();
  };
  try {
    const end =
      account.mode === "http"
        ? await runWebhook({ webhooks: deps.webhooks, account, run, receiver, ending }, opened)
        : await runSocket({ run, workspace, receiver, known: (id) => (appId = id), ending }, opened);
    if (lost) throw lost;
    return end;
  } finally {
    workspace.lost = undefined;
    await run.intake.idle();
    await positions.flush();
  }
}

export async function startAccount(ctx: ChannelGatewayContext<SlackAccount>, deps: StartDeps): Promise<void> {
  const { account } = ctx;
  const status = { mode: account.mode, ...(account.mode === "http" ? { webhookPath: account.webhookPath } : {}) };
  const refused = new WeakSet<ChannelInboundEvent>();
  await keepConnected(ctx, {
    waiting: deps.workspace.waiting,
    status,
    refused: (event) => void refused.add(event),
    connect: (run) => connect(run, account, deps, refused),
  });
}
