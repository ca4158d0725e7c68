/** A turn while it runs, as far as people see it. */
import type { HumanDelayConfig, ReplyPayload } from "../../protocol/index.ts";
import type { LiveAnswer, SaidParts } from "./answer.ts";
import { blockSettings, type BlockSettings } from "./blocks/settings.ts";
import { openPreviewWindow, type PreviewWindow } from "./preview/window.ts";
import { fillPrefix, prefixContext, responsePrefix, withPrefix } from "./shape/prefix.ts";
import { createSpeaker, type Speaker } from "./speaker.ts";
import type { ReplyStreamDeps } from "./stream-deps.ts";
import { typingIntervalMs, typingMode } from "./typing/mode.ts";
import { createTyping, type Typing } from "./typing/typing.ts";
import type { Random } from "../../base/random.ts";

/** What the model thinks, collected from the events of a turn. */
interface Thoughts {
  push(text: string, delta: string): void;
  /** The model has spoken or called a tool: what it thought until then counts. */
  done(): void;
  /** What it thinks right now, from its beginning. */
  current(): string;
  /** Everything that was not taken yet. */
  take(): string;
}

const MAX_CHARS = 32_000;

function createThoughts(): Thoughts {
  let finished: string[] = [];
  let now = "";

  function done(): void {
    if (now.trim() !== "") finished.push(now.trim());
    now = "";
  }

  return {
    push(text, delta) {
      // It begins anew without having led to anything: that call was given up.
      if (text.length === delta.length) now = "";
      if (now.length < MAX_CHARS) now += delta;
    },
    done,
    current: () => now,
    take() {
      done();
      const all = finished.join("\n\n");
      finished = [];
      return all;
    },
  };
}

const NATURAL = { minMs: 800, maxMs: 2500 };

/** The pause before the next block, in milliseconds. */
export function humanDelayMs(config: HumanDelayConfig | undefined, random: Random): number {
  const mode = config?.mode ?? "off";
  if (mode === "off") return 0;
  const { minMs, maxMs } = mode === "natural" ? NATURAL : { minMs: config?.minMs ?? NATURAL.minMs, maxMs: config?.maxMs ?? NATURAL.maxMs };
  const least = Math.max(0, minMs);
  return Math.round(least + random.float() * Math.max(0, maxMs - least));
}

/** What a running turn has brought so far. */
export interface LiveTurn {
  readonly typing: Typing;
  readonly speaker: Speaker;
  readonly thoughts: Thoughts;
  readonly settings: BlockSettings;
  /** Opened when there is something to show. */
  readonly surface: () => Surface;
  /** The same, if it was opened. */
  readonly opened: () => Surface | undefined;
  /** As it stands before replies. */
  readonly prefix: () => string | undefined;
  /** The payload with its prefix. */
  readonly dress: (payload: ReplyPayload, chosen?: { readonly provider?: string | undefined; readonly model?: string | undefined }) => ReplyPayload;
  readonly answers: LiveAnswer[];
  current: LiveAnswer | undefined;
}

/** Where an answer is shown while it is written: in a preview, in blocks, or not at all. */
export interface Surface {
  readonly preview?: PreviewWindow | undefined;
  readonly blocks: boolean;
}

export const saidOf = (turn: LiveTurn): SaidParts[] => turn.answers.map((answer) => answer.said()).filter(({ raw, media }) => raw.length > 0 || media > 0);

export function createLiveTurn(deps: ReplyStreamDeps): LiveTurn {
  const { plugin, address, cfg, agentId, clock, log, random, isHeartbeat } = deps;
  const configured = blockSettings(cfg, { plugin, channel: address.channel, accountId: address.accountId, agentId });
  const settings = deps.blocks === undefined ? configured : { ...configured, enabled: deps.blocks };
  const prefix = responsePrefix(cfg, agentId, address);
  let surface: Surface | undefined;
  return {
    settings,
    thoughts: createThoughts(),
    answers: [],
    current: undefined,
    typing: createTyping({
      adapter: plugin?.typing,
      address,
      cfg,
      mode: typingMode(cfg, { ...deps, chatType: address.chatType }),
      intervalMs: typingIntervalMs(cfg, plugin?.typing?.refreshMs),
      clock,
      log,
    }),
    speaker: createSpeaker({ say: deps.say, pauseMs: () => humanDelayMs(settings.humanDelay, random), clock, log }),
    prefix: () => (prefix === undefined ? undefined : fillPrefix(prefix, prefixContext(deps.prefixFacts))),
    opened: () => surface,
    dress(payload, chosen) {
      if (prefix === undefined || payload.text === undefined) return payload;
      return { ...payload, text: withPrefix(payload.text, fillPrefix(prefix, prefixContext(deps.prefixFacts, chosen))) };
    },
    surface() {
      if (!plugin || isHeartbeat) return (surface ??= { blocks: false });
      const preview = surface || settings.explicit || deps.held ? undefined : openPreviewWindow(deps);
      // After a restart no blocks: only at the end it is known what of the answer was said before.
      return (surface ??= { preview, blocks: !preview && settings.enabled && deps.spoken.length === 0 });
    },
  };
}
