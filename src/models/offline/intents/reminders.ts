import { clip } from "../../../base/text.ts";
import { say } from "../reply.ts";
import { call } from "../tool-call.ts";
import type { Intent, Turn } from "../turn.ts";
import { readWhen, type When } from "../when.ts";

interface Reminder {
  readonly what: string;
  readonly when: When | undefined;
}

function reminderIn({ plain, now }: Turn): Reminder | undefined {
  const asked = /^(?:remind me|set (?:a |up a )?reminder|remember|don't let me forget|wake me(?: up)?)\b[,:\s]*([\s\S]+)$/i.exec(plain);
  const [, about] = asked ?? [];
  if (about === undefined || (/^remember\b/i.test(plain) && !/^to\b/i.test(about))) return undefined;
  const when = readWhen(about, now);
  const what = (when?.rest ?? about)
    .trim()
    .replace(/^(?:(?:to|that|about|for|of)\b[:,\s]*)+/i, "")
    .replace(/(?:[\s,]+(?:to|that|about))?[\s.!,]*$/i, "");
  return { what: what === "" ? "you asked me to remind you" : what, when };
}

const remind: Intent = {
  name: "remind",
  begin(turn) {
    const reminder = reminderIn(turn);
    if (!reminder) return undefined;
    const { what, when } = reminder;
    if (!when) return say("When? I understand `in 20 minutes`, `at 15:30`, `tomorrow at 9`, `on 2026-12-24 at 18:00`, `every day at 8`, `every 2 hours`.");
    const job = {
      name: clip(what, 60),
      schedule: when.schedule,
      sessionTarget: "main",
      wakeMode: "now",
      payload: { kind: "systemEvent", text: `Reminder: ${what}` },
    };
    return call(turn, "cron", [
      { names: ["action"], value: "add" },
      { names: ["job"], value: job },
    ]);
  },
  goOn(turn) {
    const { what, when } = reminderIn(turn) ?? {};
    if (turn.steps.at(-1)?.isError || !when) return undefined;
    return say(`I will remind you ${when.text}: ${what}`);
  },
};

const listReminders: Intent = {
  name: "list-reminders",
  begin(turn) {
    if (
      !/^(?:list|show)(?: me)?(?: all)?(?: my| the)? (?:reminders|scheduled jobs|cron jobs)[?.!]*$|^what (?:reminders|jobs) (?:do i have|are (?:set|there))[?.!]*$/i.test(
        turn.plain,
      )
    )
      return undefined;
    return call(turn, "cron", [{ names: ["action"], value: "list" }]);
  },
};

export const reminders: readonly Intent[] = [listReminders, remind];
