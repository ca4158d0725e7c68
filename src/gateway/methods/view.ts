import type { Commands } from "../../conversation/index.ts";
import type { Store } from "../../store/index.ts";
import type { Responder } from "../ports.ts";
import type { RunRelay } from "../runs/relay.ts";
import type { MethodDeps, SendTo } from "./deps.ts";
import { unavailable, type CallContext, type Handlers, type HandlersOf } from "./handler.ts";
import { canonicalKey, knownAgent } from "./sessions/keys.ts";
import type { RunningPort } from "./view/asked-commands.ts";
import { createChanges, type Changes } from "./view/changes.ts";
import { chatImage, chatPage } from "./view/page.ts";
import type { SentFilePort } from "./view/whole-entry.ts";
import type { Watchers } from "./view/watchers.ts";
import type { MethodResult } from "../../protocol/index.ts";

type Listed = Awaited<ReturnType<Commands["list"]>>[number];
type Shown = MethodResult<"commands.list">["commands"][number];

/** `<id>` has to be given, `[text]` may be. */
const ARGUMENT = /([<[])([^<>[\]]+)[>\]]/g;

/** What a command takes, from how it is written. Choices of a command without such words are those of its first argument. */
function argsOf({ acceptsArgs, usage, choices }: Listed): Shown["args"] {
  if (!acceptsArgs) return [];
  const named = Array.from((usage ?? "[text]").matchAll(ARGUMENT), ([, sign, words = ""]) => ({ words, required: sign === "<" }));
  return named.map(({ words, required }, at) => {
    const written = /^[^\s|]+(?:\|[^\s|]+)+$/.test(words) ? words.split("|").filter((word) => word !== "…") : undefined;
    const offered = at === 0 && choices ? [...choices] : written;
    return { name: words, ...(offered ? { choices: offered } : {}), ...(required ? { required } : {}) };
  });
}

export function shownCommand(command: Listed): Shown {
  const { name, aliases, description, group, source } = command;
  return { name, aliases: [...aliases], description, category: group, source, args: argsOf(command) };
}

export { createWatchers } from "./view/watchers.ts";

/** Commands that a message may begin with. */
export type CommandsPort = Pick<Commands, "list">;

export interface ViewDeps extends MethodDeps {
  readonly relay: RunRelay;
  readonly responder: Responder;
  readonly watchers: Watchers;
  /** Without it `chat.watch` is not answered. */
  readonly commits?: Pick<Store, "onCommit"> | undefined;
  /** Without it `commands.list` is not answered. */
  readonly commands?: CommandsPort | undefined;
  /** Without it the output of commands is sent when they have ended. */
  readonly running?: RunningPort | undefined;
  /** Without it `chat.file` and `chat.queued` are not answered. */
  readonly sentFile?: SentFilePort | undefined;
  readonly send: SendTo;
  readonly isThere: (connId: string) => boolean;
  /** Fires when the gateway stops. */
  readonly stopping: AbortSignal;
}

function watchHandlers({ config, watchers, isThere }: ViewDeps, changes: Changes): HandlersOf<"chat.watch"> {
  return {
    async "chat.watch"({ sessionKey: written, on = true }, { caller: { connId }, signal }: CallContext) {
      const sessionKey = canonicalKey(written, config.current);
      if (!on) watchers.remove(connId, sessionKey);
      else if (isThere(connId)) {
        watchers.add(connId, sessionKey, signal);
        await changes.follow(sessionKey);
      }
      return { ok: true, sessionKey, watching: [...watchers.keys(connId)] };
    },
  };
}

/** A conversation as a page shows it: read by position, kept in step, exported. */
export function viewHandlers(deps: ViewDeps) {
  const { config, commits, commands, sentFile, stopping } = deps;
  const changes = commits && createChanges({ ...deps, commits });
  if (changes) stopping.addEventListener("abort", () => changes[Symbol.dispose](), { once: true });
  return {
    "chat.page": (params) => chatPage(params, deps),
    "chat.entry": async (params) => (await import("./view/whole-entry.ts")).chatEntry(params, deps),
    "chat.image": (params) => chatImage(params, deps),
    ...(sentFile
      ? {
          "chat.file": async (params) => (await import("./view/whole-entry.ts")).chatFile(params, { ...deps, sentFile }),
          "chat.queued": async (params) => (await import("./view/whole-entry.ts")).chatQueued(params, { ...deps, sentFile }),
        }
      : unavailable("chat.file", "chat.queued")),
    "sessions.context": async (params) => (await import("./view/context.ts")).sessionContext(params, deps),
    "sessions.export": async (params) => (await import("./view/export.ts")).exportSession(params, deps),
    ...(changes ? watchHandlers(deps, changes) : unavailable("chat.watch")),
    "commands.list": commands && (async ({ agentId }) => ({ commands: (await commands.list(knownAgent(agentId, config.current))).map(shownCommand) })),
  } satisfies Handlers;
}
