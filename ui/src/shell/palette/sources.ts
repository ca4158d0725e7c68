/** Where the palette's entries come from: pages, commands, and what the gateway has. */
import { sessionName, type MethodResult } from "openclaw/client";
import { ago, plural } from "../../base/figures.ts";
import { failureText } from "../../link/failure.ts";
import { act, type SessionAction } from "../../pages/chat/session-actions.ts";
import { actOnList } from "../../pages/chat/sidebar-actions.ts";
import { search, type Match } from "../../pages/config/model/sections.ts";
import { t } from "../../words/words.ts";
import type { PageContext } from "../context.ts";
import { PAGES } from "../pages.ts";
import { place } from "../router.ts";
import type { Entry, Group } from "./entries.ts";

export type Job = MethodResult<"cron.list">["jobs"][number];
export type Agent = MethodResult<"agents.list">["agents"][number];
export type SessionRow = MethodResult<"sessions.list">["sessions"][number];
export type Hints = MethodResult<"config.schema">["uiHints"];

const SETTINGS_SHOWN = 8;

/** Does something that may fail and says so. */
export async function attempt({ toasts }: Pick<PageContext, "toasts">, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    toasts.warn(failureText(error));
  }
}

export type SavedPrompt = MethodResult<"prompts.list">["prompts"][number];

/** Saved prompts, and each one by its name: they go into the box of the chat that is open, or of the main one. */
export function promptEntries({ router, link }: PageContext, prompts: readonly SavedPrompt[]): readonly Entry[] {
  if (!link.has("prompts.list")) return [];
  const { page, rest } = router.route.value;
  const entry = (id: string, label: string, hint: string): Entry => ({
    id: `prompt/${id}`,
    group: "commands",
    icon: "prompts",
    label,
    hint,
    run: () => router.go(place("chat", page === "chat" ? rest : [], { prompts: id })),
  });
  return [
    entry("", t("Prompts"), t("Insert, write and change saved prompts")),
    ...prompts.map(({ id, name }) => entry(id, t`Insert prompt ${name}`, t("Prompt"))),
  ];
}

export const nameOf = (row: SessionRow): string => row.name ?? sessionName(row);
export const agentName = ({ id, name, identity }: Agent): string => identity?.name ?? name ?? id;

export const pageEntries = ({ router }: PageContext): readonly Entry[] =>
  PAGES.map(({ path, title, icon, group }) => ({
    id: `page/${path}`,
    group: "pages",
    icon,
    label: title,
    hint: group,
    run: () => router.go(place(path)),
  }));

/** A chat that actions are for. What is not known of it is taken as not pinned and not archived. */
export interface ChatRef {
  readonly key: string;
  readonly title: string;
  /** The name that a person gave it. */
  readonly label?: string | undefined;
  readonly pinned?: boolean | undefined;
  readonly archived?: boolean | undefined;
}

/** What can be done with a chat, besides opening it. */
export function chatActions(context: PageContext, chat: ChatRef, group: Group = "object"): readonly Entry[] {
  const { router, link } = context;
  const { key, title, label, pinned = false, archived = false } = chat;
  // The list of chats follows the gateway's events.
  const run = (action: SessionAction) => () =>
    attempt(context, async () => {
      await act(action, { context, key, title, label, changed: () => link.refresh() });
      if (action.do !== "export" && action.do !== "copy-key") link.refresh();
    });
  const entry = (id: string, icon: Entry["icon"], label: string, work: () => unknown, more: Partial<Entry> = {}): Entry => ({
    id: `chat/${key}/${id}`,
    group,
    icon,
    label,
    run: work,
    ...more,
  });
  const mark = (what: "pin" | "unpin" | "archive" | "unarchive") => (): unknown =>
    attempt(context, () =>
      actOnList(
        { do: what, keys: [key] },
        context,
        () => link.refresh(),
        () => title,
      ),
    );
  const change: readonly Entry[] = link.may("operator.admin")
    ? [
        entry("rename", "edit", t("Rename…"), () => undefined, {
          ask: {
            hint: t("New name"),
            value: title,
            entry: (name) => entry("rename-to", "edit", t`Rename to “${name}”`, run({ do: "rename", label: name })),
          },
        }),
        entry("pin", "start", pinned ? t("Unpin") : t("Pin"), mark(pinned ? "unpin" : "pin")),
        entry("archive", "archive", archived ? t("Unarchive") : t("Archive"), mark(archived ? "unarchive" : "archive")),
      ]
    : [];
  return [
    entry("trace", "trace", t("Open trace"), () => router.go(place("trace", [], { session: key }))),
    entry("settings", "sessions", t("Session settings"), () => router.go(place("sessions", [key]))),
    ...(link.has("chat.abort")
      ? [entry("stop", "stop", t("Stop the current run"), () => attempt(context, () => link.request("chat.abort", { sessionKey: key })), { keys: "esc" })]
      : []),
    ...change,
    entry("compact", "retry", t("Compact history"), run({ do: "compact" })),
    entry("export", "download", t("Export as Markdown"), run({ do: "export", format: "markdown" })),
    entry("export-html", "download", t("Export as HTML"), run({ do: "export", format: "html" })),
    entry("export-lines", "download", t("Export as JSON Lines"), run({ do: "export", format: "jsonl" })),
    entry("copy", "copy", t("Copy session key"), run({ do: "copy-key" })),
    entry("reset", "retry", t("Reset…"), run({ do: "reset" })),
    entry("delete", "trash", t("Delete…"), run({ do: "delete" })),
  ];
}

const refOf = (row: SessionRow): ChatRef => ({
  key: row.key,
  title: nameOf(row),
  label: row.label,
  pinned: row.pinnedAt !== undefined,
  archived: row.archivedAt !== undefined,
});

/** The actions of a chat whose row may not be known. */
export const actionsOfRow = (context: PageContext, key: string, row: SessionRow | undefined): readonly Entry[] =>
  chatActions(context, row ? refOf(row) : { key, title: key });

export const chatEntry = (context: PageContext, row: SessionRow, group: "chats" | "recent"): Entry => ({
  id: `chat/${row.key}`,
  group,
  icon: "chat",
  label: nameOf(row),
  hint: row.updatedAt ? t`${row.key}, ${ago(row.updatedAt)}` : row.key,
  run: () => context.router.go(place("chat", [row.key])),
  more: () => chatActions(context, refOf(row)),
});

/** What can be done with a job. Turning it on or off can be undone. */
export function jobActions(context: PageContext, { id, name, enabled }: Job, group: Group = "object"): readonly Entry[] {
  const { router, link, toasts } = context;
  const entry = (what: string, icon: Entry["icon"], label: string, run: () => unknown): Entry => ({
    id: `job/${id}/${what}`,
    group,
    icon,
    label,
    run,
  });
  const turn = async (on: boolean): Promise<void> => {
    await link.request("cron.update", { id, patch: { enabled: on } });
    const undo = { label: t("Undo"), run: () => void attempt(context, () => turn(!on)) };
    toasts.say(on ? t`${name} is enabled.` : t`${name} is disabled.`, undo);
  };
  const now = async (): Promise<void> => {
    toasts.say(t`${name} is running.`);
    await link.request("cron.run", { id }, { timeoutMs: 600_000 });
  };
  if (!link.may("operator.admin")) return [];
  return [
    entry("run", "play", t("Run now"), () => attempt(context, now)),
    entry("turn", "automation", enabled ? t("Disable") : t("Enable"), () => attempt(context, () => turn(!enabled))),
    entry("edit", "edit", t("Edit"), () => router.go(place("jobs", [id, "edit"]))),
  ];
}

export const jobEntry = (context: PageContext, job: Job): Entry => ({
  id: `job/${job.id}`,
  group: "things",
  icon: "automation",
  label: job.name,
  hint: job.enabled ? t("Job") : t("Job, disabled"),
  run: () => context.router.go(place("jobs", [job.id])),
  more: () => jobActions(context, job),
});

export function agentActions({ router }: PageContext, agent: Agent, mainKey: string, group: Group = "object"): readonly Entry[] {
  const go = (id: string, icon: Entry["icon"], label: string, to: string): Entry => ({
    id: `agent/${agent.id}/${id}`,
    group,
    icon,
    label,
    run: () => router.go(to),
  });
  return [
    go("chat", "chat", t("Open chat"), place("chat", [`agent:${agent.id}:${mainKey}`])),
    go("tools", "tool", t("Tools"), place("agents", [agent.id, "tools"])),
    go("skills", "start", t("Skills"), place("agents", [agent.id, "skills"])),
    go("files", "file", t("Files"), place("agents", [agent.id, "files"])),
    go("memory", "memory", t("Memory"), place("memory", [], { agent: agent.id })),
  ];
}

export const agentEntry = (context: PageContext, agent: Agent, mainKey: string): Entry => ({
  id: `agent/${agent.id}`,
  group: "things",
  icon: "agents",
  label: agentName(agent),
  hint: t("Agent"),
  run: () => context.router.go(place("agents", [agent.id])),
  more: () => agentActions(context, agent, mainKey),
});

/** The part of a key's pattern that the configuration page can open. */
const openable = ({ pattern }: Match): string => pattern.replace(/(?:\.\*|\[\]).*$/, "");

export const settingEntries = ({ router }: PageContext, hints: Hints | undefined, words: string, most = SETTINGS_SHOWN): readonly Entry[] =>
  (hints === undefined ? [] : search(hints, words, most)).map((match) => ({
    id: `setting/${match.pattern}`,
    group: "things",
    icon: "config",
    label: match.label === "" ? match.pattern : match.label,
    hint: match.pattern,
    run: () => router.go(place("config", [], { path: openable(match) })),
  }));

export const memoryEntry = ({ router }: PageContext, words: string): readonly Entry[] =>
  words === ""
    ? []
    : [{ id: "memory", group: "memory", icon: "memory", label: t`Search memory for “${words}”`, run: () => router.go(place("memory", [], { q: words })) }];

/** What waits for someone. The palette opens it and decides nothing. */
export function attentionEntries({ router, approvals }: PageContext, requests: { readonly senders: number; readonly devices: number }): readonly Entry[] {
  const entry = (id: string, label: string, hint: string, to: string): Entry => ({
    id,
    group: "attention",
    icon: "shield",
    label,
    hint,
    needsPerson: true,
    run: () => router.go(to),
  });
  return [
    ...approvals.state.value.waiting.map(({ id, request }) =>
      entry(`approval/${id}`, t("Review approval"), request.command, place("chat", request.sessionKey ? [request.sessionKey] : [])),
    ),
    ...(requests.senders > 0 ? [entry("senders", t("Review pairing requests"), plural(requests.senders, t("sender"), t("senders")), place("channels"))] : []),
    ...(requests.devices > 0
      ? [entry("devices", t("Review devices"), plural(requests.devices, t("device asks for access"), t("devices ask for access")), place("devices"))]
      : []),
  ];
}
