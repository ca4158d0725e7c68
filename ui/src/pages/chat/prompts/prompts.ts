import type { MethodResult } from "openclaw/client";
import { createSignal, type Signal } from "../../../base/signal.ts";
import type { Link } from "../../../link/link.ts";
import { place, type Router } from "../../../shell/router.ts";
import { t } from "../../../words/words.ts";
import type { Completion } from "../composer-commands.ts";
import { placeholdersIn } from "./placeholders.ts";

export type Prompt = MethodResult<"prompts.list">["prompts"][number];

/** The saved prompts of the gateway. */
export interface Prompts {
  readonly list: Signal<readonly Prompt[]>;
  load(): Promise<void>;
  /** Without an id it is a new one. */
  save(prompt: { readonly id?: string | undefined; readonly name: string; readonly text: string }): Promise<Prompt>;
  remove(id: string): Promise<Prompt>;
  /** One by its id; undefined when there is none any more, or the gateway does not answer. */
  find(id: string): Promise<Prompt | undefined>;
}

/** What the address asks for once: `?prompts` opens all, `?prompts=<id>` puts one into the box. */
export function wantedPrompts({ route, go }: Router): string | undefined {
  const { page, rest, query } = route.value;
  const wanted = query.get("prompts");
  if (wanted === null || page !== "chat") return undefined;
  go(place("chat", rest), { replace: true });
  return wanted;
}

export function createPrompts(link: Pick<Link, "request" | "has">): Prompts {
  const list = createSignal<readonly Prompt[]>([]);
  const load = async (): Promise<void> => {
    if (link.has("prompts.list")) list.set((await link.request("prompts.list", {})).prompts);
  };
  return {
    list,
    load,
    async save({ id, name, text }) {
      const { prompt } = await link.request("prompts.put", { ...(id === undefined ? {} : { id }), name, text });
      await load();
      return prompt;
    },
    async remove(id) {
      const { prompt } = await link.request("prompts.remove", { id });
      await load();
      return prompt;
    },
    async find(id) {
      await load().catch(() => undefined);
      return list.value.find((prompt) => prompt.id === id);
    },
  };
}

/** What is offered before anything is typed behind `/`: commands follow. */
const MOST_FIRST = 5;
const MOST = 20;

/** The beginning of a prompt, in one line. */
export const firstWords = (text: string): string => text.replaceAll(/\s+/g, " ").slice(0, 120);

/** A prompt as what the box has next: its first placeholder is selected. */
export function promptChoice({ name, text }: Prompt): Completion {
  const [first] = placeholdersIn(text);
  return {
    text,
    label: name,
    detail: firstWords(text),
    icon: "file",
    whole: false,
    prompt: true,
    ...(first ? { select: [first.from, first.to] as const } : {}),
  };
}

/** Prompts whose names have what is typed behind `/`; those that begin so come first. */
export function promptChoices(text: string, prompts: readonly Prompt[]): readonly Completion[] {
  const typed = /^\/([^\n/]{0,60})$/.exec(text)?.[1]?.trim().toLowerCase();
  if (typed === undefined) return [];
  if (typed === "") return prompts.slice(0, MOST_FIRST).map(promptChoice);
  const begins = ({ name }: Prompt): boolean =>
    name
      .toLowerCase()
      .split(/\s+/)
      .some((word) => word.startsWith(typed)) || name.toLowerCase().startsWith(typed);
  const has = prompts.filter(({ name }) => name.toLowerCase().includes(typed));
  return [...has.filter(begins), ...has.filter((prompt) => !begins(prompt))].slice(0, MOST).map(promptChoice);
}

/** Leads to all prompts, at the end of what `/` offers. */
export function manageChoice(text: string, run: () => void): readonly Completion[] {
  const typed = /^\/([^\s/]*)$/.exec(text)?.[1]?.toLowerCase();
  if (typed === undefined || !"prompts".startsWith(typed)) return [];
  return [{ text, label: t("Prompts…"), detail: t("Insert, write and change saved prompts"), icon: "edit", whole: false, run }];
}
