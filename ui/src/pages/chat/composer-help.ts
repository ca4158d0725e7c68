import type { PageContext } from "../../shell/context.ts";
import type { Completion } from "./composer-commands.ts";
import { mentionAt, mentionChoices, type Agent, type FoundFile, type Mentioning } from "./composer-mentions.ts";
import { nextPlaceholder, placeholdersIn } from "./prompts/placeholders.ts";
import { createPrompts, manageChoice, promptChoices, wantedPrompts, type Prompts } from "./prompts/prompts.ts";

/** Someone types: the gateway is asked when they pause. */
const TYPING_MS = 90;
const MOST_FILES = 30;

/** What the box offers while one types. */
export interface Offered {
  readonly what: "commands" | "mentions";
  readonly choices: readonly Completion[];
}

/** A text for the box, and what is selected in it. */
export interface Filled {
  readonly text: string;
  readonly select: readonly [from: number, to: number];
  /** It has placeholders. */
  readonly open: boolean;
}

/** What the box does beyond commands: mentions and prompts. Loaded when it is first needed. */
export interface ComposerHelp {
  readonly prompts: Prompts;
  /** What is offered at once, with the commands that are known. What the gateway finds is handed to `more`, unless something else was typed by then. */
  offer(text: string, caret: number, commands: readonly Completion[], more: (offered: Offered) => void): Offered;
  /** Offers nothing for the mention that is typed, until another one begins. */
  dismiss(text: string, caret: number): void;
  /** Nothing that was asked for is wanted any more. */
  stop(): void;
  /** A prompt behind what stands in the box. */
  filled(before: string, prompt: string): Filled;
  /** The next placeholder from a position on, in a circle. */
  next(text: string, from: number): readonly [from: number, to: number] | undefined;
  /** What the address asks for: all prompts (`true`), or the text of one. */
  wanted(): Promise<true | string | undefined>;
}

export interface HelpOptions {
  readonly context: PageContext;
  /** Whose files are meant. */
  readonly agentId: () => string;
  readonly openPrompts: () => void;
}

/** Finds what can stand behind `@`. */
function createMentions({ context: { link }, agentId }: HelpOptions) {
  let agents: readonly Agent[] | undefined;
  let files: readonly FoundFile[] = [];
  let of = "";

  async function find(query: string): Promise<void> {
    const id = agentId();
    const look = link.has("agents.files.find") ? link.request("agents.files.find", { agentId: id, query: query.slice(0, 100), limit: MOST_FILES }) : undefined;
    const list = agents === undefined ? link.request("agents.list", {}) : undefined;
    const [found, known] = await Promise.all([look?.catch(() => undefined), list?.catch(() => undefined)]);
    agents ??= known?.agents;
    files = found?.files ?? [];
    of = id;
  }
  return {
    find,
    /** What fits, of the last answer. */
    choices(text: string, at: Mentioning, all: boolean): readonly Completion[] {
      const query = at.query.toLowerCase();
      const fitting = of === agentId() ? files.filter(({ path }) => all || (query !== "" && path.toLowerCase().includes(query))) : [];
      return mentionChoices(text, at, agents ?? [], fitting);
    },
  };
}

export function createComposerHelp(options: HelpOptions): ComposerHelp {
  const { context, openPrompts } = options;
  const { link, router } = context;
  const prompts = createPrompts(link);
  const mentions = createMentions(options);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asked = 0;
  let dismissed: string | undefined;
  /** The last look at the prompts. */
  let loading: Promise<unknown> | undefined;

  const stop = (): void => {
    asked += 1;
    clearTimeout(timer);
  };
  /** Names a mention by what stands before it. */
  const nameOf = (text: string, { from }: Mentioning): string => text.slice(0, from + 1);

  function mention(text: string, at: Mentioning, more: (offered: Offered) => void): Offered {
    const mine = asked;
    timer = setTimeout(() => {
      void mentions.find(at.query).then(() => mine === asked && more({ what: "mentions", choices: mentions.choices(text, at, true) }));
    }, TYPING_MS);
    return { what: "mentions", choices: mentions.choices(text, at, false) };
  }

  function slash(text: string, commands: readonly Completion[]): Offered {
    if (!link.has("prompts.list")) return { what: "commands", choices: commands };
    const saved = promptChoices(text, prompts.list.value);
    const own = text === "/" ? [...saved, ...commands] : [...commands, ...saved];
    return { what: "commands", choices: [...own, ...manageChoice(text, openPrompts)] };
  }

  return {
    prompts,
    stop,
    offer(text, caret, commands, more) {
      stop();
      const at = text.startsWith("/") ? undefined : mentionAt(text, caret);
      if (at && dismissed === nameOf(text, at)) return { what: "mentions", choices: [] };
      dismissed = undefined;
      if (at) return mention(text, at, more);
      if (!text.startsWith("/")) return { what: "commands", choices: commands };
      const mine = asked;
      // Once when it begins: other browsers save prompts, too.
      if (text === "/" || !loading) loading = prompts.load().catch(() => undefined);
      void loading.then(() => mine === asked && more(slash(text, commands)));
      return slash(text, commands);
    },
    dismiss(text, caret) {
      const at = mentionAt(text, caret);
      dismissed = at && nameOf(text, at);
      stop();
    },
    filled(before, prompt) {
      const kept = before.trim() === "" ? "" : `${before.trimEnd()}\n\n`;
      const text = kept + prompt;
      const [first] = placeholdersIn(prompt);
      return { text, select: first ? [kept.length + first.from, kept.length + first.to] : [text.length, text.length], open: first !== undefined };
    },
    next(text, from) {
      const found = nextPlaceholder(text, from);
      return found && [found.from, found.to];
    },
    async wanted() {
      const wanted = wantedPrompts(router);
      return wanted === "" ? true : wanted && (await prompts.find(wanted))?.text;
    },
  };
}
