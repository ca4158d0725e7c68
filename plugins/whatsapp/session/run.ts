/** An account from its start to its end. */
import type { ChannelGatewayContext, ChannelInbound, PluginRuntime } from "openclaw/plugin-sdk";
import { type AccountRun, type ChannelError, createBackoff, hopeless, keepConnected, messageOf, type Waiting } from "openclaw/plugin-sdk/channel-kit";
import { type HostConfig, type WebSettings, webSettings, type WhatsAppAccount } from "../account.ts";
import { clearCredentials, type CredentialFiles, openCredentials } from "../credentials/files.ts";
import type { CredentialLocks } from "../credentials/lock.ts";
import { selfOf } from "../inbound/events.ts";
import { createAuthors, createGroupCache, type Live } from "../live.ts";
import { createSentMessages, type SentMessages } from "../sent.ts";
import { CODES, failureOf } from "./endings.ts";
import type { Library } from "./library.ts";
import { createReceiver, type Receiver } from "./receiver.ts";
import { type Connection, openSocket } from "./socket.ts";
import { createLane } from "./storing.ts";
import type { Versions } from "./version.ts";

export interface RunDeps {
  readonly waiting: Waiting;
  readonly locks: CredentialLocks;
  readonly versions: Versions;
  /** Another server, for tests only. */
  readonly url?: string | undefined;
  readonly state?: Pick<PluginRuntime["state"], "openKeyedStore"> | undefined;
  load(): Promise<Library>;
  config(): HostConfig;
  /** The account as the configuration has it now. */
  account(): WhatsAppAccount;
  /** The connection that can be sent over, or none. */
  live(live: Live | undefined): void;
}

/** Without a message for so long a connection is made again. */
const QUIET_MS = 30 * 60_000;
/** Shown in the phone's list of linked devices. */
export const BROWSER: [string, string, string] = ["openclaw", "cli", "1.0"];

interface Opened {
  readonly library: Library;
  readonly files: CredentialFiles;
  readonly sent: SentMessages;
  readonly web: WebSettings;
  readonly refused: Set<string>;
}

interface Ended {
  readonly code: number;
  readonly text: string;
  readonly wasOpen: boolean;
}

/** One connection: takes what comes in, and is live as long as it is open. */
async function connectOnce(run: AccountRun, deps: RunDeps, { library, files, sent, web, refused }: Opened): Promise<Ended> {
  const { log, signal, waiting } = run;
  const lane = createLane();
  const version = await deps.versions.current(library, signal);
  const connection: Connection = openSocket({
    library,
    auth: files.state,
    saveCreds: files.saveCreds,
    lane,
    url: deps.url,
    version,
    browser: BROWSER,
    heard: () => run.alive(),
    getMessage: (id) => sent.get(id),
    failed: (what, error) => log.warn(`${what}: ${messageOf(error)}`),
    store: (message, isBacklog) => receiver.take(message, isBacklog),
    arrived(messages, isBacklog) {
      for (const message of messages)
        receiver.arrived(message, isBacklog).catch((error: unknown) => log.warn(`a message could not be accepted: ${messageOf(error)}`));
    },
  });
  const { socket } = connection;
  const groups = createGroupCache(socket, () => waiting.now());
  const authors = createAuthors();
  const receiver: Receiver = createReceiver({ run, library, socket, groups, authors, sent, refused, account: () => deps.account() });
  const close = (): void => {
    receiver.close();
    void connection.close();
  };
  if (signal.aborted) close();
  else signal.addEventListener("abort", close, { once: true });
  const timer = setInterval(() => waiting.now() - receiver.lastMessageAt > QUIET_MS && close(), web.heartbeatMs);
  let wasOpen = false;
  connection.opened.then(
    () => {
      wasOpen = true;
      const self = selfOf(files.state.creds.me);
      deps.live({ socket, library, self, sent, groups, authors, lane: connection.sending });
      log.info(`connected to WhatsApp as ${self.number ?? "an unknown number"}`);
      run.up({ linked: true, profile: { e164: self.number ?? null, jid: files.state.creds.me?.id ?? null, lid: self.hidden ?? null } });
    },
    () => {},
  );
  const ending = await connection.ended;
  receiver.close();
  clearInterval(timer);
  signal.removeEventListener("abort", close);
  deps.live(undefined);
  // A message that is on its way is finished first.
  await lane(async () => {});
  await files.close();
  return { ...ending, wasOpen };
}

function watchRefusals(inbound: ChannelInbound, refused: Set<string>): ChannelInbound {
  return {
    async accept(event) {
      const result = await inbound.accept(event);
      if (result.outcome === "refused") refused.add(event.id);
      return result;
    },
  };
}

/** What one end means for the next attempt. Undefined: connect again at once. */
async function afterwards(ended: Ended, deps: RunDeps, run: AccountRun, restarts: { count: number }): Promise<ChannelError | undefined> {
  if (ended.wasOpen) restarts.count = 0;
  // WhatsApp asks for a new connection after a device was linked, and now and then later.
  if (ended.code === CODES.restart && (restarts.count += 1) === 1) return undefined;
  if (ended.code === CODES.tooOld) deps.versions.forget();
  if (ended.code === CODES.loggedOut) {
    await clearCredentials(deps.account().authDir);
    run.setStatus({ linked: false });
  }
  return failureOf(ended);
}

export async function runAccount(ctx: ChannelGatewayContext<WhatsAppAccount>, deps: RunDeps): Promise<void> {
  const { account, accountId, inbound } = ctx;
  if (!inbound) throw hopeless("this version of OpenClaw does not accept messages from channels; update it");
  const web = webSettings(deps.config());
  const refused = new Set<string>();
  const restarts = { count: 0 };
  const lock = await deps.locks.take(account.authDir);
  try {
    const library = await deps.load();
    await keepConnected(
      { ...ctx, inbound: watchRefusals(inbound, refused) },
      {
        waiting: deps.waiting,
        backoff: createBackoff({ firstMs: web.firstMs, lastMs: web.lastMs, factor: web.factor, jitter: web.jitter }),
        status: { mode: "web" },
        async connect(run, attempt) {
          if (web.maxAttempts > 0 && attempt > web.maxAttempts) throw unreachable(web.maxAttempts);
          const files = await openCredentials(account.authDir, library, run.log);
          if (!files) throw notLinked(accountId);
          const sent = createSentMessages(accountId, library, deps.state);
          return afterwards(await connectOnce(run, deps, { library, files, sent, web, refused }), deps, run, restarts);
        },
      },
    );
  } finally {
    await lock.release();
  }
}

const unreachable = (attempts: number): ChannelError =>
  hopeless(
    `WhatsApp could not be reached in ${attempts} attempts (web.reconnect.maxAttempts); check the network, then run: openclaw channels start --channel whatsapp`,
    "UNAVAILABLE",
  );

export const notLinked = (accountId: string): ChannelError =>
  hopeless(`WhatsApp account "${accountId}" is not linked; run: openclaw channels login --channel whatsapp --account ${accountId}`, "NOT_LINKED");
