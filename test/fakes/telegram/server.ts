import { systemClock, type Clock } from "../../../src/base/clock.ts";
import { type FakeServer, startFakeServer } from "../../../src/plugin-testing/fake-server/server.ts";
import { createFaults, createFloodGate, type Fault, type Rate } from "./faults.ts";
import type { Chat, Message, Update, User } from "./objects.ts";
import { createPeople, type People } from "./people.ts";
import { createPlaces, type Places } from "./places.ts";
import { createRequests, type RecordedCall } from "./requests.ts";
import { look, type Seen } from "./screen.ts";
import { createUpdates } from "./updates.ts";
import { createWebhook, type Webhook } from "./webhook.ts";
import { createWorld, type World } from "./world.ts";

export interface TelegramOptions {
  /** `<bot id>:<secret>`. */
  readonly token?: string;
  readonly clock?: Clock;
  /** Between two attempts at a webhook. Default 50. */
  readonly webhookRetryMs?: number;
  /** The bot sees only what is meant for it in groups. */
  readonly privacy?: boolean;
}

/** A Bot API server over a real socket, with the chats and people behind it. */
export interface FakeTelegram extends AsyncDisposable, People, Pick<Places, "person" | "group" | "topic" | "migrate"> {
  /** In place of `https://api.telegram.org`. */
  readonly apiRoot: string;
  readonly server: Pick<FakeServer, "url" | "asked">;
  readonly token: string;
  readonly bot: World["bot"];
  /** Who speaks when nobody else is named. */
  readonly me: User;
  /** The chat with a person, as it is once they have pressed Start. */
  direct(user: User): Chat;
  /** Any update, as it is. */
  raw(update: Omit<Update, "update_id"> & { readonly update_id?: number }): number;
  /** The same update comes once more, whatever was confirmed. */
  redeliver(updateId: number): void;
  /** Calls so far, oldest first; of one method, if named. Downloads are `file`. */
  calls(method?: string): readonly RecordedCall[];
  /** Resolves with the first call, past or future, that fits. */
  called(method: string, fits?: (call: RecordedCall) => boolean): Promise<RecordedCall>;
  /** What stands in a chat now. */
  messages(chatId: number): readonly Seen[];
  message(chatId: number, messageId: number): Message | undefined;
  /** What is shown as being written right now. */
  draft(chatId: number): string | undefined;
  callback(callbackId: string): Readonly<Record<string, unknown>> | undefined;
  menu(scope?: object): readonly { readonly command: string; readonly description: string }[];
  fault(method: string, fault: Fault): void;
  clearFaults(): void;
  /** Messages above this are answered with 429. */
  limitRate(rate: Rate | undefined): void;
  /** Nobody may write: `bot was blocked by the user`, `bot was kicked from the supergroup chat`. */
  shut(chatId: number, why: string | undefined): void;
  refuseVoice(chatId: number): void;
  /** From now on this is the token; the old one is `Unauthorized`. */
  changeToken(token: string): void;
  readonly webhook: Webhook;
  readonly pending: number;
  readonly polling: boolean;
  readonly connections: number;
  /** Resets every connection. */
  dropConnections(): void;
  /** Takes no connections until `up()`. */
  down(): Promise<void>;
  up(): Promise<void>;
  /** Down and up again. What was not confirmed is still there. */
  restart(): Promise<void>;
}

const TOKEN = "7012345678:AAF-fake-token-of-a-test-bot-000000";

export async function startTelegram(options: TelegramOptions = {}): Promise<FakeTelegram> {
  const clock = options.clock ?? systemClock;
  let token = options.token ?? TOKEN;
  const world = createWorld(clock, Number(token.split(":")[0]));
  world.bot.can_read_all_group_messages = !options.privacy;
  const updates = createUpdates(clock, 880_000_001);
  const webhook = createWebhook(clock, updates, options.webhookRetryMs ?? 50);
  const faults = createFaults();
  const flood = createFloodGate(clock);
  const requests = createRequests({ world, updates, webhook, flood, clock, faults, token: () => token });
  const waiting = new Set<() => void>();
  const listener = await startFakeServer({
    handle(asked) {
      const answered = requests.handle(asked).finally(() => waiting.forEach((look) => look()));
      setImmediate(() => waiting.forEach((one) => one()));
      return answered;
    },
  });
  const places = createPlaces(world, updates);
  const me = places.person({ first_name: "Grace", username: "grace_tester" });
  const people = createPeople(world, updates, places, me);
  const calls = (method?: string): readonly RecordedCall[] => requests.calls.filter((call) => method === undefined || call.method === method);
  const draftOf = (chatId: number): string | undefined => {
    const draft = world.drafts.get(chatId);
    return draft && draft.until > clock.now() ? draft.text : undefined;
  };
  return {
    ...people,
    person: places.person,
    group: places.group,
    topic: places.topic,
    migrate: places.migrate,
    direct: (user) => places.direct(user).chat,
    apiRoot: listener.url,
    server: listener,
    get token() {
      return token;
    },
    bot: world.bot,
    me,
    raw: (update) => updates.putRaw(update),
    redeliver: (updateId) => updates.again(updateId),
    calls,
    called(method, fits = () => true) {
      const { promise, resolve } = Promise.withResolvers<RecordedCall>();
      const look = (): void => {
        const found = calls(method).find((call) => call.status !== 0 && fits(call));
        if (!found) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
      return promise;
    },
    messages: (chatId) => look(world, chatId),
    message: (chatId, messageId) => world.chats.get(chatId)?.messages.get(messageId),
    draft: draftOf,
    callback: (callbackId) => world.callbacks.get(callbackId)?.answered,
    menu: (scope = { type: "default" }) => world.commands.get(`${JSON.stringify(scope)} `) ?? [],
    fault: (method, fault) => faults.add(method, fault),
    clearFaults: () => faults.clear(),
    limitRate: (rate) => flood.limit(rate),
    shut(chatId, why) {
      world.chats.get(chatId)!.shut = why;
    },
    refuseVoice(chatId) {
      world.chats.get(chatId)!.refusesVoice = true;
    },
    changeToken(next) {
      token = next;
    },
    webhook,
    get pending() {
      return updates.count;
    },
    get polling() {
      return updates.polling;
    },
    get connections() {
      return listener.connections;
    },
    dropConnections: () => listener.drop(),
    down: () => listener.close(),
    up: () => listener.open(),
    async restart() {
      await listener.close();
      await listener.open();
    },
    async [Symbol.asyncDispose]() {
      webhook.stop();
      await listener.close();
    },
  };
}
