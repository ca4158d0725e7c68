import { t } from "../../words/words.ts";

type Sentence = readonly [RegExp, (...values: readonly string[]) => string];

/** What the gateway says of problems: what is behind the colon comes from platforms, providers and plugins, and stays. */
const SENTENCES: readonly Sentence[] = [
  [/^The configuration: (.+)$/s, (why) => t`The configuration: ${why}`],
  [/^The plugin (\S+) is not running: (.+)$/s, (name, why) => t`The plugin ${name} is not running: ${why}`],
  [
    /^(\S+) of the plugin (\S+) failed (\d+) times in a row and is skipped$/,
    (hook, name, count) => t`${hook} of the plugin ${name} failed ${count} times in a row and is skipped`,
  ],
  [/^The disk is nearly full: (.+) of (.+) free at (.+)$/, (free, total, path) => t`The disk is nearly full: ${free} of ${total} free at ${path}`],
  [/^No model can answer: (.+)$/s, (why) => t`No model can answer: ${why}`],
  [/^(\S+) cannot answer: (.+)$/s, (model, why) => t`${model} cannot answer: ${why}`],
  [/^All keys for (\S+) are paused for another (.+): (.+)$/s, (model, time, why) => t`All keys for ${model} are paused for another ${time}: ${why}`],
  [
    /^The scheduled job "(.+)" failed at its only time and is not retried: (.+)$/s,
    (name, why) => t`The scheduled job “${name}” failed at its only time and is not retried: ${why}`,
  ],
  [/^The scheduled job "(.+)" is disabled: (.+)$/s, (name, why) => t`The scheduled job “${name}” is disabled: ${why}`],
  [
    /^The scheduled job "(.+)" failed (\d+) times in a row: (.+)$/s,
    (name, count, why) => t`The scheduled job “${name}” failed ${count} times in a row: ${why}`,
  ],
  [/^(.+): not connected$/, (name) => t`${name}: not connected`],
  [/^Outgoing messages are queued\. Start it with: (.+)$/, (command) => t`Outgoing messages are queued. Start it with: ${command}`],
  [/^Fix this, then run (.+) to check\.$/, (command) => t`Fix this, then run ${command} to check.`],
  [/^It reconnects automatically\.$/, () => t("It reconnects automatically.")],
  [/^Change it on line (\S+) of (.+)\.$/, (line, file) => t`Change it on line ${line} of ${file}.`],
  [/^Fix the problem, then run: (.+)$/, (command) => t`Fix the problem, then run: ${command}`],
  [/^For details, run: (.+)$/, (command) => t`For details, run: ${command}`],
  [/^It is retried automatically\. After fixing the plugin, run: (.+)$/, (command) => t`It is retried automatically. After fixing the plugin, run: ${command}`],
  [/^Free some space: no messages are accepted when the disk is full\.$/, () => t("Free some space: no messages are accepted when the disk is full.")],
  [/^Choose one, or add a key\.$/, () => t("Choose one, or add a key.")],
  [/^Add the key, or choose another model\.$/, () => t("Add the key, or choose another model.")],
  [
    /^It is retried automatically\. To continue now, add another key or choose another model\.$/,
    () => t("It is retried automatically. To continue now, add another key or choose another model."),
  ],
  [/^Run it again with (.+), or remove it\.$/, (command) => t`Run it again with ${command}, or remove it.`],
  [/^Change its schedule, then enable it\.$/, () => t("Change its schedule, then enable it.")],
  [/^Fix the cause, then run it: (.+)$/, (command) => t`Fix the cause, then run it: ${command}`],
];

/** A sentence of the gateway about a problem in the reader's language; one that is not known stays as it is. */
export function problemWords(text: string): string {
  for (const [pattern, words] of SENTENCES) {
    const [found, ...values] = pattern.exec(text) ?? [];
    if (found !== undefined) return words(...values);
  }
  return text;
}
