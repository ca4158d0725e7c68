/** A turn while it runs, as far as people see it. */
import { AppError } from "../../base/errors.ts";
import type { HumanDelayConfig, ReplyPayload } from "../../protocol/index.ts";
import type { LiveAnswer, SaidParts } from "./answer.ts";
import { blockSettings, type BlockSettings } from "./blocks/settings.ts";
import { createSpokenCursor } from "./finals.ts";
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
  /** What follows is shown in a message of its own. */
  readonly closeSurface: () => void;
  /** How much of a text a process before this one sent. */
  readonly spokenOf: (text: string) => number;
  /** The payload with its prefix. */
  readonly dress: (payload: ReplyPayload, chosen?: { readonly provider?: string | undefined; readonly model?: string | undefined }) => ReplyPayload;
  readonly answers: LiveAnswer[];
  current: LiveAnswer | undefined;
  /** An answer began again and nobody said what became of the one before, or the text before it is not on disk yet: nothing goes out ahead. */
  isHeld: boolean;
  /** Rows of a text before a call are not on disk yet: a preview would overtake them. */
  isWaiting: boolean;
  /** A process before this one sent something of this turn, and nothing marks the continuation yet. */
  isContinued: boolean;
  /** What showed the answer before the restart, until an answer takes its place. */
  previewBefore: ReplyStreamDeps["preview"];
  /** Texts before calls: those that went out at once, those that wait for the end of the turn, and those that did so in the process before this one. */
  readonly between: { readonly sent: string[]; readonly waiting: string[]; readonly before: string[] };
  /** Texts that are out or about to be, so that a repeated one is sent once. */
  readonly seen: Set<string>;
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
  const prefixNow = prefix === undefined ? undefined : fillPrefix(prefix, prefixContext(deps.prefixFacts));
  async function keepPreview(id: string | undefined): Promise<void> {
    if (id === undefined && (turn.isWaiting || turn.speaker.isBusy())) throw new AppError("UNAVAILABLE", "what comes before it is not on disk yet");
    await deps.keepPreview?.(id);
  }

  const turn: LiveTurn = {
    settings,
    thoughts: createThoughts(),
    answers: [],
    current: undefined,
    isHeld: false,
    isWaiting: false,
    isContinued: deps.spoken.length > 0,
    previewBefore: deps.preview,
    between: { sent: [], waiting: [], before: [...(deps.unsent ?? [])] },
    seen: new Set(),
    spokenOf: createSpokenCursor(deps.spoken, prefixNow),
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
    opened: () => surface,
    closeSurface: () => (surface = undefined),
    dress(payload, chosen) {
      if (prefix === undefined || payload.text === undefined) return payload;
      return { ...payload, text: withPrefix(payload.text, fillPrefix(prefix, prefixContext(deps.prefixFacts, chosen))) };
    },
    surface() {
      if (!plugin || isHeartbeat) return (surface ??= { blocks: false });
      const preview = surface || settings.explicit || deps.held ? undefined : openPreviewWindow({ ...deps, preview: turn.previewBefore, keepPreview });
      // After a restart no blocks: only at the end it is known what of the answer was said before.
      return (surface ??= { preview, blocks: !preview && settings.enabled && deps.spoken.length === 0 });
    },
  };
  return turn;
}
