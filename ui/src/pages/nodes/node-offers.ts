import { t } from "../../words/words.ts";
import type { NodeRequest } from "./node-facts.ts";

/** What commands do, for people. Those of a line that ends with a dot begin so. */
const WORDS: Readonly<Record<string, string>> = {
  "system.run": t("Run programs on it"),
  "system.which": t("See which programs are installed"),
  "system.notify": t("Show notifications"),
  "system.execApprovals.": t("Read and change which programs may run"),
  "browser.": t("Use its browser, with what is signed in there"),
  "file.read": t("Read files"),
  "file.write": t("Write files"),
  "camera.list": t("List its cameras"),
  "camera.": t("Take pictures and videos with its cameras"),
  "screen.": t("Record its screen"),
  "location.": t("Tell where it is"),
  "canvas.": t("Show pages on its screen"),
  "device.": t("Tell its model and state"),
  "contacts.": t("Search the contacts"),
  "calendar.": t("Read the calendar"),
  "reminders.": t("Read the reminders"),
  "photos.": t("See the latest photos"),
  "motion.": t("Tell steps and activity"),
  "sms.": t("Send text messages"),
  "talk.": t("Listen and speak"),
};

const wordsOf = (command: string): string | undefined =>
  WORDS[command] ?? Object.entries(WORDS).find(([name]) => name.endsWith(".") && command.startsWith(name))?.[1];

/** One thing that a node offers, with the commands for it. */
export interface Offer {
  readonly words: string;
  readonly commands: readonly string[];
}

/** What a node that asks to be paired can be asked to do. Capabilities that none of its commands has are named, too. */
export function offersOf({ caps, commands }: Pick<NodeRequest, "caps" | "commands">): readonly Offer[] {
  const byWords = Map.groupBy(commands, (command) => wordsOf(command) ?? t`Other: ${command}`);
  const others = caps.filter((cap) => !commands.some((command) => command.startsWith(`${cap}.`)));
  return [
    // A command that is not known is named by its words already.
    ...[...byWords].map(([words, names]) => ({ words, commands: names.filter((command) => wordsOf(command) !== undefined) })),
    ...others.map((cap) => ({ words: wordsOf(`${cap}.`) ?? t`Other: ${cap}`, commands: [] })),
  ];
}
