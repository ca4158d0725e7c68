/** A turn while it runs, as far as people see it. */
import { AppError } from "../../base/errors.ts";
import { agentIdentity, messageSetting, type MessageScope } from "../../channels/index.ts";
import type { HostConfig, HumanDelayConfig, ReplyPayload, ResponsePrefixContext } from "../../protocol/index.ts";
import { createSpeaker, type LiveAnswer, type Speaker, type Thoughts } from "./answer.ts";
import { blockMode, blockSettings, type BlockSettings } from "./blocks.ts";
import { createSpokenCursor } from "./ending.ts";
import { fillPrefix, withPrefix } from "./prefix.ts";
import { openPreviewWindow, type PreviewWindow } from "./preview.ts";
import type { ReplyStreamDeps } from "./reply-stream.ts";
import { typingIntervalMs, typingMode, createTyping, type Typing } from "./typing.ts";
import type { Random } from "../../base/random.ts";

/** The prefix as configured, by account, channel and `messages`; an empty one stops the search. `auto` is the agent's name. */
function responsePrefix(cfg: HostConfig, agentId: string, scope: MessageScope): string | undefined {
  const setting = messageSetting(cfg, "responsePrefix", scope);
  if (setting?.trim() !== "auto") return setting?.trim() ? setting : undefined;
  const name = agentIdentity(cfg, agentId).name?.trim();
  return name ? `[${name}]` : undefined;
}

/** `claude-opus-4-5-20251101` → `claude-opus-4-5`. */
const shortModel = (model: string): string => (model.split("/").at(-1) ?? model).replace(/-\d{8}$/, "").replace(/-latest$/, "");

/** Values for a prefix, once the model is known. */
function prefixContext(
  facts: ResponsePrefixContext,
  chosen: { readonly provider?: string | undefined; readonly model?: string | undefined } = {},
): ResponsePrefixContext {
  const { provider = facts.provider, model } = chosen;
  if (model === undefined) return facts;
  return { ...facts, provider, model: shortModel(model), modelFull: provider === undefined ? model : `${provider}/${model}` };
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
  /** How the answer is cut into blocks. */
  readonly blockSettings: () => BlockSettings;
  /** Opened when there is something to show. */
  readonly surface: () => Surface;
  /** The same, if it was opened. */
  readonly opened: () => Surface | undefined;
  /** What follows is shown in a message of its own. */
  readonly closeSurface: () => void;
  /** How much of a text a previous process sent. Undefined: nothing. */
  readonly spokenOf: ((text: string) => number) | undefined;
  /** The payload with its prefix. */
  readonly dress: (payload: ReplyPayload, chosen?: { readonly provider?: string | undefined; readonly model?: string | undefined }) => ReplyPayload;
  readonly answers: LiveAnswer[];
  current: LiveAnswer | undefined;
  /** An answer began again and it is not known what became of the one before, or the text before it is not on disk yet: nothing goes out ahead. */
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
interface Surface {
  readonly preview?: PreviewWindow | undefined;
  readonly blocks: boolean;
}

export function createLiveTurn(deps: ReplyStreamDeps): LiveTurn {
  const { plugin, address, cfg, agentId, clock, log, random, isHeartbeat } = deps;
  const target = { plugin, channel: address.channel, accountId: address.accountId, agentId };
  const { enabled, explicit } = blockMode(cfg, target);
  const prefix = responsePrefix(cfg, agentId, address);
  const prefixNow = prefix === undefined ? undefined : fillPrefix(prefix, prefixContext(deps.prefixFacts));
  let surface: Surface | undefined;
  let settings: BlockSettings | undefined;
  async function keepPreview(id: string | undefined): Promise<void> {
    if (id === undefined && (turn.isWaiting || turn.speaker.isBusy())) throw new AppError("UNAVAILABLE", "earlier messages are not on disk yet");
    await deps.keepPreview?.(id);
  }

  const turn: LiveTurn = {
    blockSettings: () => (settings ??= blockSettings(cfg, target)),
    thoughts: { now: "", finished: [] },
    answers: [],
    current: undefined,
    isHeld: false,
    isWaiting: false,
    isContinued: deps.spoken.length > 0,
    previewBefore: deps.preview,
    between: { sent: [], waiting: [], before: [...(deps.unsent ?? [])] },
    seen: new Set(),
    spokenOf: deps.spoken.length === 0 ? undefined : createSpokenCursor(deps.spoken, prefixNow),
    typing: createTyping({
      adapter: plugin?.typing,
      address,
      cfg,
      mode: typingMode(cfg, { ...deps, chatType: address.chatType }),
      intervalMs: typingIntervalMs(cfg, plugin?.typing?.refreshMs),
      clock,
      log,
    }),
    speaker: createSpeaker({ say: deps.say, pauseMs: () => humanDelayMs(turn.blockSettings().humanDelay, random), clock, log }),
    opened: () => surface,
    closeSurface: () => (surface = undefined),
    dress(payload, chosen) {
      if (prefix === undefined || payload.text === undefined) return payload;
      return { ...payload, text: withPrefix(payload.text, fillPrefix(prefix, prefixContext(deps.prefixFacts, chosen))) };
    },
    surface() {
      if (!plugin || isHeartbeat) return (surface ??= { blocks: false });
      const preview = surface || explicit || deps.held ? undefined : openPreviewWindow({ ...deps, preview: turn.previewBefore, keepPreview });
      // After a restart no blocks: only at the end it is known what of the answer was said before.
      return (surface ??= { preview, blocks: !preview && (deps.blocks ?? enabled) && deps.spoken.length === 0 });
    },
  };
  return turn;
}
