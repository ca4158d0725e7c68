import type { MethodResult } from "openclaw/client";
import type { IconName } from "../../look/icons.ts";
import { t } from "../../words/words.ts";
import type { Completion } from "./composer-commands.ts";

/** A mention that is being typed: its `@` and what follows it up to the caret. */
export interface Mentioning {
  readonly from: number;
  readonly to: number;
  readonly query: string;
}

const LONGEST = 120;
/** Behind a letter or a digit, `@` belongs to an address. */
const MENTION = /(?:^|[\s([{<"'„“«])@([^\s@]{0,100})$/u;

/** The mention that the caret is in. */
export function mentionAt(text: string, caret: number): Mentioning | undefined {
  const query = MENTION.exec(text.slice(Math.max(0, caret - LONGEST), caret))?.[1];
  return query === undefined ? undefined : { from: caret - query.length - 1, to: caret, query };
}

export type Agent = MethodResult<"agents.list">["agents"][number];
export type FoundFile = MethodResult<"agents.files.find">["files"][number];

const MOST_AGENTS = 5;

const agentName = ({ id, name, identity }: Agent): string => identity?.name ?? name ?? id;

/** What the box has once something is put in the place of a mention, and where the caret is then. */
function replaced(text: string, { from, to }: Mentioning, words: string): Pick<Completion, "text" | "select"> {
  const after = text.slice(to);
  const gap = /^\s/.test(after) ? "" : " ";
  const caret = from + words.length + 1;
  return { text: `${text.slice(0, from)}${words}${gap}${after}`, select: [caret, caret] };
}

/** A file as tools of the agent read it: `@` in front of a path is taken away there. */
const reference = (path: string): string => (/[\s"'()]/.test(path) ? `"@${path}"` : `@${path}`);

const fits = (agent: Agent, query: string): boolean =>
  [agentName(agent), agent.id].some((name) => [name, ...name.split(/[\s_-]+/)].some((part) => part.toLowerCase().startsWith(query.toLowerCase())));

/** Agents and files that can stand in the place of a mention: agents by name first. */
export function mentionChoices(text: string, at: Mentioning, agents: readonly Agent[], files: readonly FoundFile[]): readonly Completion[] {
  const choice = (icon: IconName, label: string, detail: string, words: string): Completion => ({
    ...replaced(text, at, words),
    label,
    detail,
    icon,
    whole: false,
  });
  return [
    ...agents
      .filter((agent) => fits(agent, at.query))
      .slice(0, MOST_AGENTS)
      .map((agent) => choice("agents", agentName(agent), t("Agent"), agentName(agent))),
    ...files.map(({ path, kind }) => {
      const isFolder = kind === "folder";
      const name = path.slice(path.lastIndexOf("/") + 1);
      const above = path.slice(0, Math.max(0, path.length - name.length - 1));
      const words = reference(isFolder ? `${path}/` : path);
      return choice(isFolder ? "archive" : "file", isFolder ? `${name}/` : name, above === "" ? (isFolder ? t("Folder") : t("File")) : above, words);
    }),
  ];
}
