import { AppError } from "../../base/errors.ts";
import { clip } from "../../base/text.ts";
import type { MethodResult } from "../../protocol/index.ts";
import { defineTool, failedOutcome, GATEWAY, jsonOutcome, type Tool, type ToolCall, type ToolOutcome, type ToolQuestion } from "../../tools/index.ts";
import type { RestartReport } from "../methods/deps.ts";
import { parseDocument } from "../../config/index.ts";

/** Parts of the configuration that change how an agent speaks and not what it may do. Everything else decides rights, or leads somewhere. */
const HARMLESS: readonly string[] = [
  "ui",
  // All but tts, which runs a program and sends texts and keys to addresses.
  ...["messagePrefix", "responsePrefix", "groupChat", "queue", "inbound", "ackReaction", "ackReactionScope", "removeAckAfterReply", "suppressToolErrors"].map(
    (key) => `messages.${key}`,
  ),
  ...[
    "model",
    "imageModel",
    "thinkingDefault",
    "verboseDefault",
    "userTimezone",
    "timeFormat",
    "envelopeTimezone",
    "envelopeTimestamp",
    "envelopeElapsed",
    "blockStreamingDefault",
    "blockStreamingBreak",
    "blockStreamingChunk",
    "blockStreamingCoalesce",
    "humanDelay",
    "typingMode",
    "typingIntervalSeconds",
    "contextPruning",
    "compaction",
    "bootstrapMaxChars",
    "bootstrapTotalMaxChars",
    "timeoutSeconds",
  ].map((key) => `agents.defaults.${key}`),
];

/** The places that a patch of the configuration would change and that the operator has to agree to. None when it is no patch: then it fails by itself. */
export function rightsTouched(raw: string): readonly string[] {
  const { root, value } = parseDocument(raw);
  return root ? leaves(value, "") : [];
}

function leaves(value: unknown, at: string): readonly string[] {
  if (HARMLESS.includes(at)) return [];
  const inner = typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
  if (inner.length === 0) return at === "" ? [] : [at];
  return inner.flatMap(([key, next]) => leaves(next, at === "" ? key : `${at}.${key}`));
}

const ACTIONS = ["restart", "config.get", "config.schema", "config.apply", "config.patch", "update.run"] as const;
type Action = (typeof ACTIONS)[number];

const RESTART_DELAY_MS = 2000;
const MAX_RESTART_DELAY_MS = 60_000;
const MAX_REASON = 200;
/** An update rebuilds the program. */
const UPDATE_TIMEOUT_MS = 20 * 60_000;

/** Whom to tell after the restart, and what. */
interface Note {
  readonly sessionKey: string;
  readonly note?: string;
}

export interface ConfigChange extends Note {
  /** JSON5. */
  readonly raw: string;
  readonly baseHash: string | undefined;
  readonly restartDelayMs?: number;
}

/** What the tool does; the same code as behind the methods of these names. */
export interface GatewayActions {
  /** Leaves a note for the gateway that comes after, and asks for a restart. */
  restart(request: Note & { readonly delayMs: number; readonly reason: string }): Promise<RestartReport>;
  configGet(): Promise<MethodResult<"config.get">>;
  configSchema(): Promise<MethodResult<"config.schema">>;
  configApply(change: ConfigChange): Promise<MethodResult<"config.apply">>;
  configPatch(change: ConfigChange): Promise<MethodResult<"config.patch">>;
  /** Absent where this program cannot update itself. */
  updateRun?(request: Note & { readonly restartDelayMs?: number; readonly timeoutMs: number }): Promise<MethodResult<"update.run">>;
}

export interface GatewayToolDeps {
  readonly actions: GatewayActions;
  /** `commands.restart`. */
  readonly mayRestart: () => boolean;
}

/** Looks after the gateway itself: its configuration, its version, its restart. Only the owner has it. */
export function gatewayTool(deps: GatewayToolDeps): Tool {
  const canUpdate = deps.actions.updateRun !== undefined;
  return defineTool<GatewayToolDeps>({
    ...GATEWAY,
    label: "Gateway",
    description: `Restart the gateway, read its configuration or the schema of it, ${canUpdate ? "change it, or update the program" : "or change it"}. Prefer config.patch, which changes only what it names; config.apply replaces the whole file. Both restart the gateway; note is sent to the user afterwards.`,
    parameters: {
      type: "object",
      properties: {
        action: { type: "string", enum: ACTIONS.filter((action) => canUpdate || action !== "update.run") },
        delayMs: { type: "number", description: `restart: milliseconds to wait (default ${RESTART_DELAY_MS}, at most ${MAX_RESTART_DELAY_MS})` },
        reason: { type: "string", description: `restart: why, at most ${MAX_REASON} characters` },
        raw: { type: "string", description: "config.apply: the whole configuration; config.patch: the part to merge; JSON" },
        baseHash: { type: "string", description: "Hash of the configuration that the change is based on, from config.get" },
        sessionKey: { type: "string", description: "Session to notify when it is done; this one by default" },
        note: { type: "string", description: "Message for it" },
        restartDelayMs: { type: "number" },
      },
      required: ["action"],
    },
    asks: question,
    timeoutMs: UPDATE_TIMEOUT_MS + 60_000,
    run: () => async (call) => {
      const action = ACTIONS.find((known) => known === textOf(call, "action"));
      if (action === undefined) return failedOutcome(`action required: one of ${ACTIONS.join(", ")}`);
      try {
        return await carryOut(deps, action, call);
      } catch (error) {
        if (error instanceof AppError && error.code !== "INTERNAL") return failedOutcome(error.message, { ok: false, code: error.code, error: error.message });
        throw error;
      }
    },
  }).create(deps);
}

/** Longest part of a change that is shown for approval. */
const SHOWN_CHARS = 2000;

/** A model must not give itself rights: anyone who talks it into changing them has to talk the operator into it, too. */
function question(params: ToolCall["params"]): ToolQuestion | undefined {
  const { action, raw } = params;
  if ((action !== "config.patch" && action !== "config.apply") || typeof raw !== "string") return undefined;
  const touched = action === "config.apply" ? ["everything"] : rightsTouched(raw);
  if (touched.length === 0) return undefined;
  return { title: `Change the configuration (${clip(touched.join(", "), 200)})`, description: clip(raw, SHOWN_CHARS), severity: "warning" };
}

const textOf = ({ params }: ToolCall, key: string): string => (typeof params[key] === "string" ? params[key].trim() : "");

function delayOf({ params }: ToolCall, key: string): number | undefined {
  const value = params[key];
  return typeof value === "number" && Number.isFinite(value) ? Math.min(MAX_RESTART_DELAY_MS, Math.max(0, Math.floor(value))) : undefined;
}

function noteOf(call: ToolCall): Note {
  const note = textOf(call, "note");
  return { sessionKey: textOf(call, "sessionKey") || call.context.sessionKey, ...(note === "" ? {} : { note }) };
}

async function carryOut({ actions, mayRestart }: GatewayToolDeps, action: Action, call: ToolCall): Promise<ToolOutcome> {
  const restartDelayMs = delayOf(call, "restartDelayMs");
  const later = { ...noteOf(call), ...(restartDelayMs === undefined ? {} : { restartDelayMs }) };
  switch (action) {
    case "restart": {
      if (!mayRestart()) return failedOutcome("Restarts are switched off: commands.restart is false.");
      const reason = textOf(call, "reason").slice(0, MAX_REASON) || "requested by the agent";
      const report = await actions.restart({ ...noteOf(call), delayMs: delayOf(call, "delayMs") ?? RESTART_DELAY_MS, reason });
      return { ...jsonOutcome(report), isError: !report.ok };
    }
    case "config.get":
      return done(await actions.configGet());
    case "config.schema":
      return done(await actions.configSchema());
    case "config.apply":
    case "config.patch": {
      const raw = textOf(call, "raw");
      if (raw === "") return failedOutcome("raw required");
      const change = { ...later, raw, baseHash: textOf(call, "baseHash") || (await actions.configGet()).hash };
      return done(action === "config.apply" ? await actions.configApply(change) : await actions.configPatch(change));
    }
    default:
      if (!actions.updateRun) return failedOutcome("This program cannot update itself: update it the way it was installed.");
      return done(await actions.updateRun({ ...later, timeoutMs: UPDATE_TIMEOUT_MS }));
  }
}

const done = (result: unknown): ToolOutcome => jsonOutcome({ ok: true, result });
