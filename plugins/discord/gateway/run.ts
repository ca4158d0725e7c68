/** An account from its start to its end: one session after the other, each event handed over until the host has it, and nothing confirmed before. */
import type { ChannelGatewayContext } from "openclaw/plugin-sdk";
import {
  type AccountRun,
  createBackoff,
  type Fields,
  fieldsOf,
  hopeless,
  keepConnected,
  listOf,
  messageOf,
  notSent,
  numberOf,
  openCursor,
  textOf,
} from "openclaw/plugin-sdk/channel-kit";
import { type DiscordAccount, readsGuild } from "../account.ts";
import { createMapper } from "../inbound/mapper.ts";
import { createPlaces } from "../inbound/places.ts";
import { guildKeyOf, usesNames } from "../servers.ts";
import { idAt, laterOf, mayHaveNews, messagesAfter } from "./history.ts";
import { openLine } from "./line.ts";
import { handOver, type Position, readEvent, type Reading, type RunDeps, type State, watchResults } from "./reading.ts";

export function positionOf(raw: unknown): Position | undefined {
  const fields = fieldsOf(raw);
  const [sessionId, url, seq, lastId] = [textOf(fields?.["sessionId"]), textOf(fields?.["url"]), numberOf(fields?.["seq"]), textOf(fields?.["lastId"])];
  return sessionId === undefined || url === undefined || seq === undefined || lastId === undefined ? undefined : { sessionId, url, seq, lastId };
}

/** Events that may wait before reading pauses. */
const MOST_OPEN = 500;
const GUILDS_MS = 15_000;
/** A connection that Discord ends sooner than this counts as a failed attempt. */
const SHORT_MS = 5000;

const laneOf = (type: string, data: Fields): string => textOf(data["channel_id"]) ?? textOf(data["guild_id"]) ?? type;

/** Runs behind everything else of its lane, and pauses reading when too much waits. */
async function inLane(reading: Reading, lane: string, task: () => Promise<boolean>): Promise<boolean> {
  const { state, run } = reading;
  const change = (by: number): void => {
    state.open += by;
    if (by > 0 && state.open === MOST_OPEN) state.line?.flow(false);
    if (by < 0 && state.open === MOST_OPEN / 2) state.line?.flow(true);
  };
  change(1);
  try {
    return await run.intake.behind(lane, task);
  } finally {
    change(-1);
  }
}

async function readHistory(reading: Reading, channelId: string, guildId: string | undefined, afterId: string): Promise<void> {
  const { deps, run, mapper } = reading;
  await inLane(reading, channelId, async () => {
    for await (const message of messagesAfter(deps.rest, channelId, afterId, run.log)) {
      if (run.signal.aborted) return false;
      await handOver(reading, "message", () => mapper.message(guildId === undefined ? message : { ...message, guild_id: guildId }, true));
    }
    return true;
  });
}

/** Reads what was written since the last stored message, in direct chats and in the servers that are listened to. */
async function catchUp(reading: Reading, guildIds: readonly string[], afterId: string): Promise<void> {
  const { deps, run, places, account, state } = reading;
  const failed = (error: unknown): void => run.log.warn(`the history could not be read: ${messageOf(error)}`);
  for (const channelId of deps.directs.list()) await readHistory(reading, channelId, undefined, afterId).catch(failed);
  if (usesNames(account.guilds)) await deps.servers.load(deps.rest).catch(failed);
  const wanted = guildIds.filter((id) => readsGuild(account, id, deps.servers.slugOf(id)));
  const deadline = run.waiting.now() + GUILDS_MS;
  // Servers come one by one after a session began.
  while (wanted.some((id) => places.guild(id) === undefined) && run.waiting.now() < deadline && !run.signal.aborted) await run.waiting.sleep(50, run.signal);
  for (const guildId of wanted) {
    const channels = places.inGuild(guildId).filter((place) => mayHaveNews(place, afterId));
    for (const { id } of channels) await readHistory(reading, id, guildId, afterId).catch(failed);
  }
  if (!run.signal.aborted) state.floor = undefined;
}

function ready(reading: Reading, data: Fields, seq: number): void {
  const { run, deps, cursor, state } = reading;
  const user = fieldsOf(data["user"]);
  const [id, sessionId, url] = [textOf(user?.["id"]), textOf(data["session_id"]), textOf(data["resume_gateway_url"])];
  if (id === undefined || sessionId === undefined || url === undefined) return run.log.warn("Discord started a session without an id");
  const before = cursor.position?.lastId;
  const lastId = before ?? idAt(run.waiting.now());
  state.botId = id;
  state.session = { id: sessionId, url, seq };
  state.newest = laterOf(state.newest, lastId);
  cursor.reset({ sessionId, url, seq, lastId });
  deps.known({ id, username: textOf(user?.["username"]), applicationId: textOf(fieldsOf(data["application"])?.["id"]) });
  up(reading);
  if (before === undefined) return;
  state.floor = before;
  const guildIds = listOf(data["guilds"]).flatMap((guild) => textOf(fieldsOf(guild)?.["id"]) ?? []);
  void catchUp(reading, guildIds, before);
}

function up(reading: Reading): void {
  reading.run.up({ mode: "gateway", bot: { id: reading.state.botId } });
  void checkServers(reading);
}

/** Names the entries of `guilds` that match nothing, once. */
async function checkServers({ run, deps, account: { guilds }, state }: Reading): Promise<void> {
  if (state.isChecked || Object.keys(guilds).every((key) => key === "*")) return;
  state.isChecked = true;
  try {
    await deps.servers.load(deps.rest);
  } catch (error) {
    return run.log.debug?.(`the bot's servers could not be listed: ${messageOf(error)}`);
  }
  for (const text of deps.servers.unmatched(guilds)) run.log.warn(`channels.discord.${text}`);
}

/** The bot was removed from a server. It stays connected for the others; nothing in that server is asked for any more. */
function removed({ run, deps, account }: Reading, data: Fields): void {
  const id = textOf(data["id"]) ?? "";
  const name = deps.servers.nameOf(id);
  const entry = guildKeyOf(account.guilds, id, deps.servers.slugOf(id));
  const advice = entry === undefined ? "" : `; invite it again, or remove channels.discord.guilds[${JSON.stringify(entry)}]`;
  run.log.warn(`the bot was removed from the server ${name === undefined ? id : `${name} (${id})`}${advice}`);
}

function onEvent(reading: Reading, type: string, data: Fields, seq: number): void {
  const { cursor, places, state, run, deps } = reading;
  if (type === "READY") return ready(reading, data, seq);
  if (!state.session) return;
  state.session.seq = seq;
  if (type === "RESUMED") up(reading);
  if (type === "GUILD_DELETE" && data["unavailable"] !== true) removed(reading, data);
  places.apply(type, data);
  deps.servers.apply(type, data);
  if (type === "MESSAGE_CREATE") state.newest = laterOf(state.newest, textOf(data["id"]));
  const { id: sessionId, url } = state.session;
  const stored = cursor.began({ sessionId, url, seq, lastId: state.floor ?? state.newest ?? idAt(run.waiting.now()) });
  const key = `${sessionId.slice(-8)}-${seq}`;
  void inLane(reading, laneOf(type, data), () => readEvent(reading, type, data, key)).then(
    (isTaken) => void (isTaken && stored()),
    (error: unknown) => run.log.warn(`a Discord event (${type}) failed: ${messageOf(error)}`),
  );
}

/** Where to connect, and whether another session may begin. */
async function addressOf({ rest }: RunDeps, signal: AbortSignal): Promise<string> {
  const answer = await rest.fields("GET", "/gateway/bot", { signal });
  const limit = fieldsOf(answer["session_start_limit"]);
  if (numberOf(limit?.["remaining"]) === 0) {
    const ms = numberOf(limit?.["reset_after"]) ?? 60_000;
    throw notSent("connect", `the bot started too many sessions today; Discord accepts the next one in ${Math.ceil(ms / 60_000)} min`, ms);
  }
  const url = textOf(answer["url"]);
  if (url === undefined) throw notSent("connect", "Discord returned no gateway URL");
  return url;
}

/** A session that goes on does not say again who we are. */
async function introduce({ deps, state, run }: Reading): Promise<void> {
  const me = await deps.rest.fields("GET", "/users/@me", { signal: run.signal });
  state.botId = textOf(me["id"]) ?? "";
  deps.known({ id: state.botId, username: textOf(me["username"]), applicationId: undefined });
}

async function connect(reading: Reading): Promise<unknown> {
  const { run, deps, account, state } = reading;
  const { session } = state;
  if (session && state.botId === "") await introduce(reading);
  const url = session?.url ?? (await addressOf(deps, run.signal));
  const startedAt = run.waiting.now();
  const line = openLine({
    url,
    token: account.token,
    intents: account.intents,
    presence: account.presence,
    proxy: account.proxy,
    session,
    signal: run.signal,
    waiting: run.waiting,
    onEvent: (type, data, seq) => onEvent(reading, type, data, seq),
    onAlive: () => run.alive(),
    onGarbage: (what) => run.log.warn(`Discord sent ${what}; it was ignored`),
  });
  state.line = line;
  deps.live(line);
  const end = await line.ended;
  state.line = undefined;
  deps.live(undefined);
  if (end.next === "none") {
    state.session = undefined;
    throw end.error;
  }
  if (end.next === "identify") {
    state.session = undefined;
    await run.waiting.sleep(end.waitMs, run.signal);
    if (session && !end.error) return undefined;
  }
  const isShort = run.waiting.now() - startedAt < SHORT_MS;
  return end.error ?? (isShort && end.next === "identify" ? notSent("connect", "Discord refused the session") : undefined);
}

export async function runAccount(ctx: ChannelGatewayContext<DiscordAccount>, deps: RunDeps): Promise<void> {
  const { account } = ctx;
  if (account.problems.length > 0) throw hopeless(account.problems.join("; "));
  if (!ctx.inbound) throw hopeless("this version of OpenClaw does not accept messages from channels; update it");
  const { rest, waiting } = deps;
  const results = watchResults(ctx.inbound);
  const failed = (error: unknown): void => ctx.log?.warn(`the position could not be stored: ${messageOf(error)}`);
  const cursor = await openCursor<Position>({ store: deps.store, now: waiting.now, failed });
  const at = cursor.position;
  const state: State = {
    session: at && { id: at.sessionId, url: at.url, seq: at.seq },
    botId: "",
    line: undefined,
    open: 0,
    floor: undefined,
    newest: at?.lastId,
    isChecked: false,
  };
  const places = createPlaces(rest, () => state.botId);
  await deps.answers.load();
  let reading: Reading | undefined;
  try {
    await keepConnected(
      { ...ctx, inbound: results.inbound },
      {
        waiting,
        backoff: createBackoff({ firstMs: 1000, lastMs: 60_000 }),
        status: { mode: "gateway" },
        connect: (run) => connect((reading ??= readingOf(run))),
      },
    );
  } finally {
    deps.live(undefined);
    await cursor.flush();
  }

  function readingOf(run: AccountRun): Reading {
    const botId = (): string => state.botId;
    const mapper = createMapper({
      account,
      rest,
      places,
      servers: deps.servers,
      log: run.log,
      pluralkit: deps.pluralkit,
      botId,
      isOurs: (messageId) => deps.isOurs(messageId),
    });
    return { run, deps, account, cursor, places, mapper, state, results };
  }
}
