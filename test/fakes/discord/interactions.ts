/** Slash commands, buttons and menus: interactions that have to be answered within three seconds, and what follows. */
import type { Answer, Asked } from "../../../src/plugin-testing/index.ts";
import { bodyOf, EPHEMERAL, formError, LOADING, type Posting, Refused } from "./posting.ts";
import type { Channel, Message, User, World } from "./world.ts";

export interface Interaction {
  readonly id: string;
  readonly token: string;
  readonly type: number;
  readonly channel: Channel;
  readonly by: User;
  readonly at: number;
  /** The type of the first answer, once there is one. */
  answered: number | undefined;
  /** What autocomplete offered. */
  choices: readonly { name: string; value: string }[] | undefined;
  /** The message of the first answer, and all that followed. */
  original: Message | undefined;
  /** Messages that only the person sees. */
  readonly privately: Message[];
}

export interface Interactions {
  readonly all: readonly Interaction[];
  begin(type: number, channel: Channel, by: User): Interaction;
  /** Requests that carry an interaction's token need no other. */
  handle(asked: Asked, path: string): Answer | undefined;
}

const FIRST_MS = 3000;
const TOKEN_MS = 15 * 60_000;

export function createInteractions(world: World, posting: Posting, applicationId: string, posted: (message: Message, channel: Channel) => void): Interactions {
  const all: Interaction[] = [];

  function message(interaction: Interaction, asked: Asked, data: Readonly<Record<string, unknown>>, loading = false): Message {
    const flags = (typeof data["flags"] === "number" ? data["flags"] : 0) | (loading ? LOADING : 0);
    const made = posting.create(interaction.channel, world.bot, { ...asked, fields: { ...data, flags } }, { webhook_id: applicationId });
    if ((flags & EPHEMERAL) === 0) posted(made, interaction.channel);
    else {
      interaction.privately.push(made);
      const kept = world.messages.get(interaction.channel.id)!.filter((one) => one !== made);
      world.messages.set(interaction.channel.id, kept);
    }
    return made;
  }

  function callback(interaction: Interaction, asked: Asked): Answer {
    if (world.now() - interaction.at > FIRST_MS) throw new Refused(404, 10_062, "Unknown interaction");
    if (interaction.answered !== undefined) throw new Refused(400, 40_060, "Interaction has already been acknowledged.");
    const { type, data } = asked.fields as { type?: number; data?: Record<string, unknown> };
    const fits = interaction.type === 4 ? [8] : interaction.type === 2 ? [4, 5, 9] : [4, 5, 6, 7, 9];
    if (type === undefined || !fits.includes(type)) throw formError("type", "BASE_TYPE_CHOICES", `Value must be one of {${fits.join(", ")}}.`);
    if (type === 8) {
      const choices = (data?.["choices"] ?? []) as { name: string; value: string }[];
      if (choices.length > 25) throw formError("choices", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.");
      interaction.choices = choices;
    }
    if (type === 4) interaction.original = message(interaction, asked, data ?? {});
    if (type === 5) interaction.original = message(interaction, asked, data ?? {}, true);
    interaction.answered = type;
    return { status: 204 };
  }

  function followUp(interaction: Interaction, asked: Asked, messageId: string | undefined): Answer {
    if (world.now() - interaction.at > TOKEN_MS) throw new Refused(401, 50_027, "Invalid Webhook Token");
    if (interaction.answered === undefined) throw new Refused(404, 10_015, "Unknown Webhook");
    const target = messageId === "@original" ? interaction.original : world.find(interaction.channel.id, messageId ?? "");
    if (asked.method === "POST") return { body: message(interaction, asked, bodyOf(asked)) };
    if (!target) throw new Refused(404, 10_008, "Unknown Message");
    if (asked.method === "PATCH") {
      posting.edit(target, asked);
      return { body: target };
    }
    if (asked.method === "GET") return { body: target };
    world.messages.set(
      target.channel_id,
      world.messages.get(target.channel_id)!.filter((one) => one !== target),
    );
    if (interaction.original === target) interaction.original = undefined;
    return { status: 204 };
  }

  return {
    all,
    begin(type, channel, by) {
      const id = world.id();
      const interaction: Interaction = {
        id,
        token: `itoken-${id}-aW50ZXJhY3Rpb24`,
        type,
        channel,
        by,
        at: world.now(),
        answered: undefined,
        choices: undefined,
        original: undefined,
        privately: [],
      };
      all.push(interaction);
      return interaction;
    },
    handle(asked, path) {
      const [, id, token] = /^\/interactions\/(\d+)\/([^/]+)\/callback$/.exec(path) ?? [];
      if (id !== undefined && asked.method === "POST") {
        const found = all.find((one) => one.id === id && one.token === token);
        if (!found) throw new Refused(404, 10_062, "Unknown interaction");
        return callback(found, asked);
      }
      const [, app, hook, messageId] = /^\/webhooks\/(\d+)\/([^/]+)(?:\/messages\/([^/]+))?$/.exec(path) ?? [];
      if (app === undefined) return undefined;
      const found = all.find((one) => one.token === hook);
      if (!found || app !== applicationId) throw new Refused(404, 10_015, "Unknown Webhook");
      return followUp(found, asked, messageId);
    },
  };
}
