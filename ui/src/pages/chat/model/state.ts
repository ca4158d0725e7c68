import type { MethodResult } from "openclaw/client";
import type { AskedCommands } from "./commands.ts";

type PageAnswer = MethodResult<"chat.page">;

/** One entry of a transcript. Its `seq` never changes. */
export type ChatEntry = PageAnswer["entries"][number];

/** A file that goes with a message, as `chat.send` takes it. */
export interface Attachment {
  readonly type: "image" | "file";
  readonly mimeType: string;
  readonly fileName: string;
  /** Base64. */
  readonly content: string;
}

/** What is said in a session. */
export interface Draft {
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly thinking?: string | undefined;
  /** The id of the message that it replaces, on a branch of its own. */
  readonly edits?: string | undefined;
}

/** A message that is not in the transcript yet. */
export interface PendingMessage {
  /** Its idempotency key. */
  readonly runId: string;
  readonly ts: number;
  readonly text: string;
  readonly images: number;
  readonly from?: string | undefined;
  readonly channel?: string | undefined;
  /**
   * `unsent`: kept in this browser until there is a connection. `sending`: on its way. `accepted`: the gateway has it and will answer it.
   * `failed`: the gateway refused it; `error` says why.
   */
  readonly state: "unsent" | "sending" | "accepted" | "failed";
  readonly error?: string | undefined;
}

/** A call of a tool under way, or just done. */
export interface ToolView {
  readonly toolCallId: string;
  readonly name: string;
  readonly args: unknown;
  /** What it has given so far, or in the end. */
  readonly result: unknown;
  readonly state: "running" | "done" | "failed";
  /** Undefined when it began before this page looked. */
  readonly startedAt: number | undefined;
  readonly endedAt?: number | undefined;
}

/** A part of a run in the order in which it came. */
export type RunPart = { readonly kind: "said"; readonly text: string; readonly thinking: string } | { readonly kind: "tool"; readonly tool: ToolView };

/** A run that is under way, or whose end is not in the transcript. */
export interface RunView {
  readonly runId: string;
  readonly startedAt: number;
  /** What it says now, since its last entry. */
  readonly text: string;
  readonly thinking: string;
  readonly tools: readonly ToolView[];
  /** All that is not in the transcript, in order. */
  readonly parts: readonly RunPart[];
  readonly compacting: boolean;
  /** Undefined while it runs. */
  readonly ended?: { readonly how: "final" | "aborted" | "error"; readonly error?: string | undefined } | undefined;
  /** Position of the newest entry when it ended: it is shown after that. */
  readonly after?: number | undefined;
}

/** A command that the user entered here: the gateway answered it and stores no line of it. */
export interface Aside {
  readonly runId: string;
  readonly ts: number;
  readonly text: string;
  /** Position of the newest entry when it was given: it is shown after that. */
  readonly after: number;
}

/** A conversation as this page knows it. */
export interface ConversationState {
  /** As in events; as it was asked for until the gateway has answered. */
  readonly sessionKey: string;
  readonly sessionId: string | undefined;
  /** A stretch of the transcript without holes, by `seq`. */
  readonly entries: readonly ChatEntry[];
  readonly pending: readonly PendingMessage[];
  readonly runs: readonly RunView[];
  readonly asides?: readonly Aside[];
  /** Commands that needed approval, by the ids of their approvals. */
  readonly commands?: AskedCommands;
  /** What follows the last entry on other branches. */
  readonly others?: readonly string[] | undefined;
  readonly moreBefore: boolean;
  /** Newer entries were dropped because the reader is far from them. */
  readonly moreAfter: boolean;
  /** Nothing is known yet. */
  readonly loading: boolean;
  readonly loadingOlder: boolean;
  readonly error?: string | undefined;
}
