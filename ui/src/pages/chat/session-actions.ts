import type { MethodParams } from "openclaw/client";
import { tokens } from "../../base/figures.ts";
import type { PageContext } from "../../shell/context.ts";

/** What can be done to a session from its header. */
export type SessionAction =
  | { readonly do: "rename"; readonly label: string }
  | { readonly do: "set"; readonly change: Omit<MethodParams<"sessions.patch">, "key"> }
  | { readonly do: "compact" | "reset" | "delete" | "copy-key" }
  | { readonly do: "export"; readonly format: "jsonl" | "markdown" };

export interface SessionPlace {
  readonly context: Pick<PageContext, "link" | "toasts" | "dialogs" | "router">;
  readonly key: string;
  readonly title: string;
}

/** Gives the browser a file to keep. */
function download(name: string, mimeType: string, parts: readonly string[]): void {
  const url = URL.createObjectURL(new Blob([...parts], { type: mimeType }));
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

async function exportSession({ context: { link, toasts }, key }: SessionPlace, format: "jsonl" | "markdown"): Promise<void> {
  const parts: string[] = [];
  let after: number | undefined;
  for (;;) {
    const part = await link.request("sessions.export", { key, format, ...(after === undefined ? {} : { after }) });
    parts.push(part.text);
    if (part.next === undefined) {
      download(part.name, part.mimeType, parts);
      return toasts.say(`${part.name} was saved.`);
    }
    after = part.next;
  }
}

async function compact({ context: { link, toasts }, key }: SessionPlace): Promise<void> {
  const { compacted, reason, tokensBefore, tokensAfter } = await link.request("sessions.compact", { key }, { timeoutMs: 300_000 });
  const sizes = tokensBefore !== undefined && tokensAfter !== undefined ? `: ${tokens(tokensBefore)} tokens are ${tokens(tokensAfter)} now` : "";
  toasts.say(compacted ? `Older messages were summed up${sizes}.` : `Nothing was summed up${reason === undefined ? "" : `: ${reason}`}.`);
}

async function reset({ context: { link, toasts, dialogs }, key, title }: SessionPlace): Promise<void> {
  const sure = await dialogs.confirm({
    title: `Reset “${title}”?`,
    body: "Its run ends and its messages are put away. Its settings stay. The agent will not remember this conversation.",
    yes: "Reset",
    danger: true,
  });
  if (!sure) return;
  await link.request("sessions.reset", { key, reason: "reset" });
  toasts.say("The conversation was reset.");
}

async function remove({ context: { link, toasts, dialogs, router }, key, title }: SessionPlace): Promise<void> {
  const sure = await dialogs.confirm({ title: `Delete “${title}”?`, body: "The conversation and its settings are removed.", yes: "Delete", danger: true });
  if (!sure) return;
  await link.request("sessions.delete", { key });
  toasts.say("The conversation was deleted.");
  router.go("chat");
}

/** Does it. Rejects when the gateway refuses. */
export async function act(action: SessionAction, place: SessionPlace): Promise<void> {
  const { link, toasts } = place.context;
  const { key } = place;
  switch (action.do) {
    case "rename":
      return void (await link.request("sessions.patch", { key, label: action.label === "" ? null : action.label }));
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
      await navigator.clipboard.writeText(key);
      return toasts.say("The session key was copied.");
  }
}
