import { readableKey } from "openclaw/client";
import { plural } from "../../base/figures.ts";
import { failureText } from "../../link/failure.ts";
import type { PageContext } from "../../shell/context.ts";
import { keepDeletions, restored, type Deletion } from "./deletions.ts";
import { listSessions } from "./sidebar-paging.ts";
import { t } from "../../words/words.ts";

/** What can be done to conversations in the list. */
export type ListAction =
  | { readonly do: "pin" | "unpin" | "archive" | "unarchive" | "delete"; readonly keys: readonly string[] }
  /** Puts them into a folder; null takes them out of theirs. `from`: where each is now. */
  | { readonly do: "move"; readonly keys: readonly string[]; readonly folder: string | null; readonly from: ReadonlyMap<string, string | undefined> }
  /** Renames a folder; null removes it, and its conversations stay. */
  | { readonly do: "folder"; readonly folder: string; readonly name: string | null };

/** What the list asks the page to do. `done` is called when that is over, with why it was refused: who asked shows it. */
export interface ActDetail {
  readonly action: ListAction;
  readonly done?: (refused: string | undefined) => void;
}

type Context = Pick<PageContext, "link" | "toasts">;
/** Called whenever conversations are listed elsewhere, with their keys. */
type Changed = (keys: readonly string[]) => void;

/** Requests on their way at once. */
const TOGETHER = 4;

/** Works through keys; gives what succeeded, and why the first that did not failed. */
async function eachOf<K, T>(
  keys: readonly K[],
  work: (key: K) => Promise<T>,
  together = TOGETHER,
): Promise<{ readonly done: readonly T[]; readonly failed: readonly unknown[] }> {
  const done: T[] = [];
  const failed: unknown[] = [];
  for (let at = 0; at < keys.length; at += together) {
    for (const result of await Promise.allSettled(keys.slice(at, at + together).map(work))) {
      if (result.status === "fulfilled") done.push(result.value);
      else failed.push(result.reason);
    }
  }
  return { done, failed };
}

function report({ toasts }: Context, failed: readonly unknown[]): void {
  if (failed.length > 0) toasts.warn(t`${plural(failed.length, t("conversation"), t("conversations"))} could not be changed: ${failureText(failed[0])}`);
}

/** Brings back what was deleted, and says what came of it. */
export async function restore(gone: readonly Deletion[], { link, toasts }: Context, changed: () => void): Promise<void> {
  const { done } = await eachOf(gone, (one) => restored(one, link));
  changed();
  const failures = done.filter((failure) => failure !== undefined);
  for (const failure of new Set(failures)) toasts.warn(failure);
  const back = gone.length - failures.length;
  if (back > 0) toasts.say(t`${plural(back, t("conversation"), t("conversations"))} restored`);
}

type NameOf = (key: string) => string;

async function remove(keys: readonly string[], context: Context, changed: Changed, nameOf: NameOf): Promise<void> {
  const { link, toasts } = context;
  const names = new Map(keys.map((key) => [key, nameOf(key)]));
  const { done, failed } = await eachOf(keys, async (key) => {
    const { undo } = await link.request("sessions.delete", { key });
    return { key, title: names.get(key) ?? key, undo };
  });
  const gone = done.flatMap(({ key, title, undo }) => (undo === undefined ? [] : [{ key, title, undo }]));
  keepDeletions(gone);
  changed(done.map(({ key }) => key));
  report(context, failed);
  const [first] = gone;
  if (!first) return;
  const text = gone.length === 1 ? t`“${first.title}” deleted` : t`${plural(gone.length, t("conversation"), t("conversations"))} deleted`;
  toasts.say(text, { label: t("Undo"), run: () => void restore(gone, context, () => changed([])) });
}

type Patch = { readonly pinned: boolean } | { readonly archived: boolean } | { readonly folder: string | null };

interface Patching {
  readonly keys: readonly string[];
  readonly to: (key: string) => Patch;
  /** As it was before. */
  readonly back: (key: string) => Patch;
  /** What is said when it is done, of so many. */
  readonly text: (count: number) => string;
}

/** Changes how conversations are listed, and offers to take that back. */
async function patch({ keys, to, back, text }: Patching, context: Context, changed: Changed): Promise<void> {
  const set = (keysNow: readonly string[], change: (key: string) => Patch) =>
    eachOf(
      keysNow,
      (key) => context.link.request("sessions.patch", { key, ...change(key) }).then(() => key),
      // Without a connection each is stored until it is back: none may wait for another.
      context.link.state.value.kind === "open" ? TOGETHER : keysNow.length,
    );
  const { done, failed } = await set(keys, to);
  changed(done);
  report(context, failed);
  if (done.length === 0) return;
  const undo = async (): Promise<void> => {
    report(context, (await set(done, back)).failed);
    changed(done);
  };
  context.toasts.say(text(done.length), { label: t("Undo"), run: () => void undo() });
}

const SAID: Readonly<Record<"pin" | "unpin" | "archive" | "unarchive", (what: string) => string>> = {
  pin: (what) => t`${what} pinned`,
  unpin: (what) => t`${what} unpinned`,
  archive: (what) => t`${what} archived`,
  unarchive: (what) => t`${what} unarchived`,
};

const PAGE = 500;

/** Keys of all conversations in a folder. */
async function keysIn(folder: string, { link }: Context): Promise<readonly string[]> {
  const list = listSessions(link);
  const keys: string[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await list(PAGE, { folder, ...(cursor === undefined ? {} : { cursor }) });
    keys.push(...page.sessions.map(({ key }) => key));
    if (page.next === undefined) return keys;
    cursor = page.next;
  }
}

/** Does it, says what came of it, and offers to undo it. `nameOf` is how people know a conversation. */
export async function actOnList(action: ListAction, context: Context, changed: Changed, nameOf: NameOf = readableKey): Promise<void> {
  if (action.do === "delete") return remove(action.keys, context, changed, nameOf);
  if (action.do === "folder") {
    const { folder, name } = action;
    if (context.link.state.value.kind !== "open") throw new Error(t("Folders can be renamed and removed only with a connection to the gateway."));
    const keys = await keysIn(folder, context);
    const text = (): string => (name === null ? t`Folder “${folder}” removed` : t`Folder “${folder}” renamed to “${name}”`);
    return patch({ keys, to: () => ({ folder: name }), back: () => ({ folder }), text }, context, changed);
  }
  const { keys } = action;
  const what = (count: number): string => (count === 1 ? t`“${nameOf(keys[0]!)}”` : plural(count, t("conversation"), t("conversations")));
  if (action.do === "move") {
    const { folder, from } = action;
    const text = (count: number): string => (folder === null ? t`${what(count)} taken out of its folder` : t`${what(count)} moved to “${folder}”`);
    return patch({ keys, to: () => ({ folder }), back: (key) => ({ folder: from.get(key) ?? null }), text }, context, changed);
  }
  const wish = action.do;
  const isPin = wish === "pin" || wish === "unpin";
  const set = (on: boolean): Patch => (isPin ? { pinned: on } : { archived: on });
  const on = wish === "pin" || wish === "archive";
  return patch({ keys, to: () => set(on), back: () => set(!on), text: (count) => SAID[wish](what(count)) }, context, changed);
}
