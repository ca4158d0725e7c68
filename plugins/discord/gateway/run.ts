/** An account from its start to its end: one session after the other, each event handed over until the host has it, and nothing confirmed before. */
import type { ChannelGatewayContext } from "openclaw/plugin-sdk";
import {
  type AccountRun,
  asChannelError,
  createBackoff,
  type Cursor,
  type CursorStore,
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
  type Waiting,
} from "openclaw/plugin-sdk/channel-kit";
import { type DiscordAccount, readsGuild } from "../account.ts";
import { type Interaction, INTERACTION, interactionOf, textOfInteraction } from "../inbound/interaction.ts";
import { createMapper, type Mapper } from "../inbound/mapper.ts";
import { createPlaces, type Places } from "../inbound/places.ts";
import type { PluralKit } from "../inbound/pluralkit.ts";
import type { Answers } from "../interactions.ts";
import type { Rest } from "../rest.ts";
import type { ChannelInboundEvent, ChannelInboundResult } from "../types.ts";
import { idAt, laterOf, mayHaveNews, messagesAfter } from "./history.ts";
import { type Line, openLine, type Session } from "./line.ts";

/** Where reading goes on after a restart. */
export interface Position {
  readonly sessionId: string;
  readonly url: string;
  readonly seq: number;
  /** Of the newest message that is stored: after a lost session the history is read from here. */
  readonly lastId: string;
}

export function positionOf(raw: unknown): Position | undefined {
  const fields = fieldsOf(raw);
  const [sessionId, url, seq, lastId] = [textOf(fields?.["sessionId"]), textOf(fields?.["url"]), numberOf(fields?.["seq"]), textOf(fields?.["lastId"])];
  return sessionId === undefined || url === undefined || seq === undefined || lastId === undefined ? undefined : { sessionId, url, seq, lastId };
}

export interface RunDeps {
  readonly rest: Rest;
  readonly waiting: Waiting;
  readonly store: CursorStore<Position>;
  readonly answers: Answers;
  readonly pluralkit: PluralKit | undefined;
  /** Direct chats that wrote before: the only ones whose history can be asked for. */
  readonly directs: { list(): readonly string[]; seen(channelId: string, userId: string): void };
  /** Which account this is, once Discord has said it. */
  known(self: { readonly id: string; readonly username: string | undefined; readonly applicationId: string | undefined }): void;
  /** The connection, for what is sent over it. */
  live(line: Line | undefined): void;
  isOurs(messageId: string): boolean;
  /** Choices of a command's argument that begin like this. */
  complete(command: string, typed: string): readonly string[];
  /** A message that may begin a thread. */
  noticed(messageId: string, text: string): void;
}

/** Events that may wait before reading pauses. */
const MOST_OPEN = 500;
const GUILDS_MS = 15_000;
/** A connection that Discord ends sooner than this counts as a failed attempt. */
const SHORT_MS = 5000;

/** What the host says about events that someone waits for. */
function watchResults(inbound: NonNullable<ChannelGatewayContext["inbound"]>) {
  const watchers = new Map<string, (result: ChannelInboundResult | undefined) => void>();
  return {
    inbound: {
      async accept(event: ChannelInboundEvent): Promise<ChannelInboundResult> {
        const result = await inbound.accept(event);
        watchers.get(event.id)?.(result);
        return result;
      },
    },
    /** Undefined where the event was never offered. */
    of(eventId: string): { readonly result: Promise<ChannelInboundResult | undefined>; end(): void } {
      const { promise, resolve } = Promise.withResolvers<ChannelInboundResult | undefined>();
      watchers.set(eventId, resolve);
      const end = (): void => {
        watchers.delete(eventId);
        resolve(undefined);
      };
      return { result: promise, end };
    },
  };
}

interface State {
  session: Session | undefined;
  botId: string;
  line: Line | undefined;
  open: number;
  /** While the history is read, positions stay at what is stored: a crash then reads it again. */
  floor: string | undefined;
  newest: string | undefined;
}

interface Reading {
  readonly run: AccountRun;
  readonly deps: RunDeps;
  readonly account: DiscordAccount;
  readonly cursor: Cursor<Position>;
  readonly places: Places;
  readonly mapper: Mapper;
  readonly state: State;
  readonly results: ReturnType<typeof watchResults>;
}

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

/** Maps and offers. False: the account stopped before the host had it. An event that cannot be read is skipped: it would be the same the next time. */
async function handOver(reading: Reading, what: string, map: () => Promise<ChannelInboundEvent | undefined>): Promise<boolean> {
  const { run } = reading;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const event = await map();
      return event === undefined || (await run.intake.offer(event));
    } catch (error) {
      const state = asChannelError(error)?.delivery.state;
      if (run.signal.aborted) return false;
      if (state === undefined || state === "failed" || attempt >= 5) {
        run.log.warn(`a Discord event (${what}) was skipped: ${messageOf(error)}`);
        return true;
      }
      await run.waiting.sleep(Math.min(1000 * 2 ** attempt, asChannelError(error)?.delivery.retryAfterMs ?? 30_000), run.signal);
    }
  }
}

function noteDirect({ deps, places }: Reading, data: Fields): void {
  const [channelId, userId] = [textOf(data["channel_id"]), textOf(fieldsOf(data["author"])?.["id"])];
  if (channelId !== undefined && userId !== undefined && data["guild_id"] === undefined && places.known(channelId)?.type === 1)
    deps.directs.seen(channelId, userId);
}

async function readMessage(reading: Reading, data: Fields): Promise<boolean> {
  const { mapper, deps, state } = reading;
  if (textOf(fieldsOf(data["author"])?.["id"]) === state.botId) return true;
  deps.noticed(textOf(data["id"]) ?? "", textOf(data["content"]) ?? "");
  const taken = await handOver(reading, "message", () => mapper.message(data));
  noteDirect(reading, data);
  return taken;
}

/** May the person press it? Questions for approval are for those who are named. */
function forbids({ account: { approvers } }: Reading, interaction: Interaction): string | undefined {
  if (approvers === undefined || !/^\/approve\b/.test(textOfInteraction(interaction)) || approvers.includes(interaction.userId)) return undefined;
  return "You are not one of the approvers (channels.discord.execApprovals.approvers).";
}

async function readInteraction(reading: Reading, data: Fields): Promise<boolean> {
  const { deps, mapper, results, run } = reading;
  let interaction: Interaction;
  try {
    interaction = interactionOf(data);
  } catch (error) {
    run.log.warn(`a Discord event (interaction) was skipped: ${messageOf(error)}`);
    return true;
  }
  if (interaction.type === INTERACTION.autocomplete) {
    const focused = listOf(interaction.data["options"])
      .map((option) => fieldsOf(option))
      .find((option) => option?.["focused"] === true);
    await deps.answers.suggest(interaction, deps.complete(textOf(interaction.data["name"]) ?? "", textOf(focused?.["value"]) ?? ""));
    return true;
  }
  const why = forbids(reading, interaction);
  if (why !== undefined) return deps.answers.refuse(interaction, why).then(() => true);
  const { result, end } = results.of(interaction.id);
  void deps.answers.open(interaction, result);
  try {
    return await handOver(reading, "interaction", () => mapper.interaction(data));
  } finally {
    end();
  }
}

/** Everything that reaches the host. True once it has it. */
async function readEvent(reading: Reading, type: string, data: Fields, key: string): Promise<boolean> {
  const { mapper } = reading;
  switch (type) {
    case "MESSAGE_CREATE":
      return readMessage(reading, data);
    case "MESSAGE_UPDATE":
      return handOver(reading, "edit", () => mapper.edit(data));
    case "MESSAGE_REACTION_ADD":
    case "MESSAGE_REACTION_REMOVE":
      return handOver(reading, "reaction", () => mapper.reaction(type === "MESSAGE_REACTION_ADD", data, key));
    case "GUILD_MEMBER_REMOVE":
      return handOver(reading, "member", () => mapper.memberLeft(data, key));
    case "INTERACTION_CREATE":
      return readInteraction(reading, data);
    default:
      return true;
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
  const wanted = guildIds.filter((id) => readsGuild(account, id));
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
  if (id === undefined || sessionId === undefined || url === undefined) return run.log.warn("Discord began a session without saying which");
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

function up({ run, state }: Reading): void {
  run.up({ mode: "gateway", bot: { id: state.botId } });
}

function onEvent(reading: Reading, type: string, data: Fields, seq: number): void {
  const { cursor, places, state, run } = reading;
  if (type === "READY") return ready(reading, data, seq);
  if (!state.session) return;
  state.session.seq = seq;
  if (type === "RESUMED") up(reading);
  places.apply(type, data);
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
    throw notSent("connect", `the bot began too many sessions today; Discord takes the next one in ${Math.ceil(ms / 60_000)} min`, ms);
  }
  const url = textOf(answer["url"]);
  if (url === undefined) throw notSent("connect", "Discord names no address of its gateway");
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
  if (!ctx.inbound) throw hopeless("this version of the host takes no messages from channels; update it");
  const { rest, waiting } = deps;
  const results = watchResults(ctx.inbound);
  const failed = (error: unknown): void => ctx.log?.warn(`where reading goes on could not be written: ${messageOf(error)}`);
  const cursor = await openCursor<Position>({ store: deps.store, now: waiting.now, failed });
  const at = cursor.position;
  const state: State = {
    session: at && { id: at.sessionId, url: at.url, seq: at.seq },
    botId: "",
    line: undefined,
    open: 0,
    floor: undefined,
    newest: at?.lastId,
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
    const mapper = createMapper({ account, rest, places, log: run.log, pluralkit: deps.pluralkit, botId, isOurs: (messageId) => deps.isOurs(messageId) });
    return { run, deps, account, cursor, places, mapper, state, results };
  }
}
