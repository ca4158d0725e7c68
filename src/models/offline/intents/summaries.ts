import { say } from "../reply.ts";
import { asksForSummary, summarize, summarizePrompt, utterancesOf } from "../summary.ts";
import { contentText, type Intent } from "../turn.ts";

const compact: Intent = {
  name: "compact",
  begin: ({ raw }) => (asksForSummary(raw) ? say(summarizePrompt(raw)) : undefined),
};

const sumUp: Intent = {
  name: "sum-up",
  begin({ plain, messages }) {
    if (!/^(?:summari[sz]e|sum up|recap)(?: this| the| our)?(?: whole)?(?: conversation| chat| session)?(?: so far| until now)?[?.!]*$/i.test(plain))
      return undefined;
    const before = messages.slice(
      0,
      messages.findLastIndex((message) => message.role === "user"),
    );
    if (before.length === 0) return say("There is nothing to sum up yet.");
    return say(`${summarize(utterancesOf(before, (message) => contentText(message.content)))}\n\n(Sentences of the conversation, picked by rules.)`);
  },
};

export const summaries: readonly Intent[] = [compact, sumUp];
