import type { EventPayload, HelloOk } from "../../../../protocol/index.ts";
import { plainText } from "../text/line.ts";
import { asWritten, type ReadMarkdown } from "../view/markdown.ts";
import { createView } from "../view/view.ts";
import { entriesOfHistory } from "./entry.ts";
import type { TuiEvent } from "./event.ts";
import { initialState, type Effect, type Preferences, type State } from "./state.ts";
import { update } from "./update.ts";

export const KEY = "agent:main:main";
export const NOW = 1_700_000_000_000;

/** The interface without a terminal and a gateway: events go in, effects and screens come out. */
export interface Player {
  state: State;
  now: number;
  /** What was to be done since the last look. */
  effects(): readonly Effect[];
  play(...events: readonly TuiEvent[]): void;
  keys(...names: readonly string[]): void;
  type(text: string): void;
  screen(size?: { readonly columns: number; readonly rows: number }): string[];
}

export const hello = (methods: readonly string[] = []): HelloOk =>
  ({
    features: { methods, events: [] },
    snapshot: { sessionDefaults: { defaultAgentId: "main", mainKey: "main", mainSessionKey: KEY, scope: "per-sender" } },
  }) as unknown as HelloOk;

export function createPlayer(
  options: { readonly preferences?: Partial<Preferences>; readonly read?: ReadMarkdown; readonly connected?: boolean } = {},
): Player {
  const view = createView();
  let done: Effect[] = [];
  let ids = 0;
  let layout = { lines: 0, height: 1 };
  const player: Player = {
    state: initialState({ url: "ws://127.0.0.1:1", sessionKey: "main", preferences: { deliver: false, historyLimit: 200, ...options.preferences } }),
    now: NOW,
    effects() {
      const taken = done;
      done = [];
      return taken;
    },
    play(...events) {
      for (const event of events) {
        const next = update(player.state, event, { now: player.now, newId: () => `run-${(ids += 1)}`, layout });
        player.state = next.state;
        done.push(...next.effects);
      }
    },
    keys: (...names) => player.play(...names.map((key) => ({ type: "key" as const, key }))),
    type: (text) => player.play({ type: "text", text }),
    screen(size = { columns: 80, rows: 24 }) {
      const drawn = view(player.state, { size, now: player.now, read: options.read ?? asWritten });
      ({ layout } = drawn);
      return drawn.frame.lines.map((line) => plainText(line).trimEnd());
    },
  };
  if (options.connected ?? true) {
    player.play({ type: "connected", hello: hello(), url: "ws://127.0.0.1:1" });
    player.effects();
  }
  return player;
}

export const text = (words: string) => [{ type: "text", text: words }];

export function chat(runId: string, state: "delta" | "final" | "aborted" | "error", words?: string, rest: Partial<EventPayload<"chat">> = {}): TuiEvent {
  const message = words === undefined ? {} : { message: { role: "assistant" as const, content: text(words), timestamp: NOW } };
  return { type: "chat", payload: { runId, sessionKey: KEY, seq: 1, state, ...message, ...rest } };
}

export function agent(runId: string, stream: string, data: object): TuiEvent {
  return { type: "agent", payload: { runId, stream, data, sessionKey: KEY, seq: 1, ts: NOW } as unknown as EventPayload<"agent"> };
}

/** The log, whole, as it is drawn. */
export const log = (player: Player): string => player.screen({ columns: 80, rows: 60 }).slice(1, -3).join("\n");

/** What was to be done since the last look, by kind. */
export const kinds = (player: Player): string[] => player.effects().map(({ kind }) => kind);

/** The conversation as it was read: what the player asked for, unless `read` says otherwise. */
export function history(player: Player, messages: readonly unknown[], read = player.state.reads): TuiEvent {
  return { type: "history", sessionKey: player.state.sessionKey, read, entries: entriesOfHistory(messages), runs: [] };
}

export const user = (words: string, timestamp = NOW + 10) => ({ role: "user", content: text(words), timestamp });
export const answer = (words: string, timestamp = NOW + 20) => ({ role: "assistant", content: text(words), stopReason: "stop", timestamp });

/** Types and sends; gives the run's id. */
export function say(player: Player, words: string): string {
  player.type(words);
  player.keys("enter");
  return player.state.sent.at(-1)!.runId;
}
