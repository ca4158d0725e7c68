import type { MethodParams } from "openclaw/client";
import { copyText } from "../../base/copy-text.ts";
import { tokens } from "../../base/figures.ts";
import { saveFile } from "../../base/save-file.ts";
import { failureText } from "../../link/failure.ts";
import type { PageContext } from "../../shell/context.ts";
import { t } from "../../words/words.ts";
import { actOnList } from "./sidebar-actions.ts";

type ExportFormat = NonNullable<MethodParams<"sessions.export">["format"]>;

/** What can be done to a session from its header. */
export type SessionAction =
  | { readonly do: "rename"; readonly label: string }
  | { readonly do: "set"; readonly change: Omit<MethodParams<"sessions.patch">, "key"> }
  | { readonly do: "compact" | "reset" | "delete" | "copy-key" }
  | { readonly do: "export"; readonly format: ExportFormat };

export interface SessionPlace {
  readonly context: Pick<PageContext, "link" | "toasts" | "dialogs" | "router">;
  readonly key: string;
  readonly title: string;
  /** The name that a person gave it. */
  readonly label?: string | undefined;
  /** Called when something was taken back. */
  readonly changed?: () => void;
}

async function exportSession({ context: { link, toasts }, key }: SessionPlace, format: ExportFormat): Promise<void> {
  const parts: string[] = [];
  let after: number | undefined;
  for (;;) {
    const part = await link.request("sessions.export", { key, format, ...(after === undefined ? {} : { after }) });
    parts.push(part.text);
    if (part.next === undefined) {
      saveFile(part.name, part.mimeType, parts);
      return toasts.say(t`${part.name} was saved.`);
    }
    after = part.next;
  }
}

/** An empty name leaves the naming to the conversation. */
async function rename(label: string, { context: { link, toasts }, key, title, label: before, changed }: SessionPlace): Promise<void> {
  const put = (name: string | undefined): Promise<unknown> => link.request("sessions.patch", { key, label: name || null });
  await put(label);
  const undo = (): void =>
    void put(before).then(
      () => changed?.(),
      (error: unknown) => toasts.warn(failureText(error)),
    );
  toasts.say(label === "" ? t`The name of “${title}” was removed` : t`“${title}” renamed to “${label}”`, { label: t("Undo"), run: undo });
}

async function compact({ context: { link, toasts }, key }: SessionPlace): Promise<void> {
  const { compacted, reason, tokensBefore, tokensAfter } = await link.request("sessions.compact", { key }, { timeoutMs: 300_000 });
  const sizes = tokensBefore !== undefined && tokensAfter !== undefined ? t`: ${tokens(tokensBefore)} → ${tokens(tokensAfter)} tokens` : "";
  toasts.say(compacted ? t`History compacted${sizes}.` : t`History was not compacted${reason === undefined ? "" : `: ${reason}`}.`);
}

async function reset({ context: { link, toasts, dialogs }, key, title }: SessionPlace): Promise<void> {
  const sure = await dialogs.confirm({
    title: t`Reset “${title}”?`,
    body: t("The current run stops and the messages are archived. Settings are kept. The agent will not remember this conversation."),
    yes: t("Reset"),
    danger: true,
  });
  if (!sure) return;
  await link.request("sessions.reset", { key, reason: "reset" });
  toasts.say(t("Conversation reset"));
}

async function remove({ context, key, title }: SessionPlace): Promise<void> {
  const { router } = context;
  await actOnList(
    { do: "delete", keys: [key] },
    context,
    () => {},
    () => title,
  );
  const { page, rest } = router.route.value;
  if (page === "chat" && rest[0] === key) router.go("chat");
}

/** Does it. Rejects when the gateway refuses. */
export async function act(action: SessionAction, place: SessionPlace): Promise<void> {
  const { link, toasts } = place.context;
  const { key } = place;
  switch (action.do) {
    case "rename":
      return rename(action.label, place);
    case "set":
      return void (await link.request("sessions.patch", { key, ...action.change }));
    case "export":
      return exportSession(place, action.format);
    case "compact":
      return compact(place);
    case "reset":
      return reset(place);
    case "delete":
      return remove(place);
    case "copy-key":
      await copyText(key);
      return toasts.say(t("Session key copied"));
  }
}
