/** Events of the gateway, handed over one by one: true once the host has it. */
import type { ChannelGatewayContext } from "openclaw/plugin-sdk";
import {
  type AccountRun,
  asChannelError,
  type Cursor,
  type CursorStore,
  type Fields,
  fieldsOf,
  listOf,
  messageOf,
  textOf,
  textsOf,
  type Waiting,
} from "openclaw/plugin-sdk/channel-kit";
import type { DiscordAccount } from "../account.ts";
import { type Interaction, INTERACTION, interactionOf, textOfInteraction } from "../inbound/interaction.ts";
import type { Mapper } from "../inbound/mapper.ts";
import type { Places } from "../inbound/places.ts";
import type { PluralKit } from "../inbound/pluralkit.ts";
import type { Answers } from "../interactions.ts";
import type { Rest } from "../rest.ts";
import type { Servers } from "../servers.ts";
import type { ChannelInboundEvent, ChannelInboundResult } from "../types.ts";
import type { Line, Session } from "./line.ts";

/** Where reading goes on after a restart. */
export interface Position {
  readonly sessionId: string;
  readonly url: string;
  readonly seq: number;
  /** Of the newest message that is stored: after a lost session the history is read from here. */
  readonly lastId: string;
}

export interface RunDeps {
  readonly rest: Rest;
  readonly waiting: Waiting;
  readonly store: CursorStore<Position>;
  readonly answers: Answers;
  readonly pluralkit: PluralKit | undefined;
  /** Direct chats that wrote before: the only ones whose history can be asked for. */
  readonly directs: { list(): readonly string[]; seen(channelId: string, userId: string): void };
  readonly servers: Servers;
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

/** What the host says about events that someone waits for. */
export function watchResults(inbound: NonNullable<ChannelGatewayContext["inbound"]>) {
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

export interface State {
  session: Session | undefined;
  botId: string;
  line: Line | undefined;
  open: number;
  /** While the history is read, positions stay at what is stored: a crash then reads it again. */
  floor: string | undefined;
  newest: string | undefined;
  /** The entries of `guilds` were compared with the servers. */
  isChecked: boolean;
}

export interface Reading {
  readonly run: AccountRun;
  readonly deps: RunDeps;
  readonly account: DiscordAccount;
  readonly cursor: Cursor<Position>;
  readonly places: Places;
  readonly mapper: Mapper;
  readonly state: State;
  readonly results: ReturnType<typeof watchResults>;
}

/** Maps and offers. False: the account stopped before the host had it. An event that cannot be read is skipped: it would be the same the next time. */
export async function handOver(reading: Reading, what: string, map: () => Promise<ChannelInboundEvent | undefined>): Promise<boolean> {
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

async function readDeleted(reading: Reading, data: Fields): Promise<boolean> {
  for (const id of [...textsOf(data["ids"]), textOf(data["id"])]) {
    if (id !== undefined && !(await handOver(reading, "deletion", () => reading.mapper.deleted(id, data)))) return false;
  }
  return true;
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
export async function readEvent(reading: Reading, type: string, data: Fields, key: string): Promise<boolean> {
  const { mapper } = reading;
  switch (type) {
    case "MESSAGE_CREATE":
      return readMessage(reading, data);
    case "MESSAGE_UPDATE":
      return handOver(reading, "edit", () => mapper.edit(data));
    case "MESSAGE_DELETE":
    case "MESSAGE_DELETE_BULK":
      return readDeleted(reading, data);
    case "MESSAGE_POLL_VOTE_ADD":
    case "MESSAGE_POLL_VOTE_REMOVE":
      return handOver(reading, "vote", () => mapper.vote(type === "MESSAGE_POLL_VOTE_ADD", data, key));
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
