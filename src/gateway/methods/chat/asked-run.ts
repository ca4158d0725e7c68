import { AppError } from "../../../base/errors.ts";
import type { OpenClawConfig } from "../../../config/index.ts";
import { covers, type SessionEntry, type ThinkingLevel } from "../../../protocol/index.ts";
import { reasoningLevel, verboseLevel } from "../../../sessions/index.ts";
import type { RunRequest } from "../../ports.ts";
import type { Caller } from "../handler.ts";
import { attachedTo, imagesOf, type AttachedFile } from "./attachments.ts";
import type { ExpectedRun } from "./run-relay.ts";

const THINKING = ["off", "minimal", "low", "medium", "high", "xhigh"] as const satisfies readonly ThinkingLevel[];

/** The level that a caller wants for one run; undefined when it says nothing. */
function thinkingOf(written: string | undefined): ThinkingLevel | undefined {
  const word = written?.trim().toLowerCase();
  if (!word) return undefined;
  const level = THINKING.find((known) => known === word);
  if (!level) throw new AppError("INVALID_INPUT", `invalid thinking (use ${THINKING.map((known) => `"${known}"`).join("|")})`);
  return level;
}

export interface Asked {
  readonly attachments?: readonly unknown[] | undefined;
  readonly thinking?: string | undefined;
}

/** What a run gets from its caller besides the message. Throws for attachments and levels that cannot be taken. */
export function extrasOf({ attachments = [], thinking }: Asked, caller: Pick<Caller, "scopes">): Pick<RunRequest, "images" | "thinking" | "owner"> {
  const images = imagesOf(attachments);
  const level = thinkingOf(thinking);
  return {
    ...(images.length === 0 ? {} : { images }),
    ...(level === undefined ? {} : { thinking: level }),
    owner: covers(caller.scopes, "operator.admin"),
  };
}

const MB = 1024 * 1024;
const DEFAULT_FILE_MB = 5;

/** The same for a message that may have files of any kind, which are to be kept. They may be as large as those that come over channels. */
export function extrasWithFiles(
  { attachments = [], thinking }: Asked,
  caller: Pick<Caller, "scopes">,
  config: OpenClawConfig,
): { readonly extras: ReturnType<typeof extrasOf>; readonly files: readonly AttachedFile[] } {
  const { images, files } = attachedTo(attachments, (config.agents?.defaults?.mediaMaxMb ?? DEFAULT_FILE_MB) * MB);
  return { extras: { ...extrasOf({ thinking }, caller), ...(images.length === 0 ? {} : { images }) }, files };
}

/** Who is told of a run's tools, and how much of it: what the session is set to. */
export function audienceOf(config: OpenClawConfig, entry: SessionEntry | undefined, caller: Caller): Pick<ExpectedRun, "follower" | "verbose" | "reasoning"> {
  return {
    ...(caller.caps.has("tool-events") ? { follower: caller.connId } : {}),
    verbose: verboseLevel(config, entry).value,
    reasoning: reasoningLevel(entry).value,
  };
}
