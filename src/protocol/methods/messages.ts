import { method } from "../method.ts";
import { effect, filled, flag, free, maybe, open, text } from "../pieces.ts";

/** What can be done with messages of a channel besides `send` and `poll`. */
export const messagesMethods = {
  "message.action": method({
    access: "operator.write",
    params: effect({
      action: filled({ maxLength: 100 }),
      channel: maybe(text()),
      accountId: maybe(text()),
      params: free(),
      sessionKey: maybe(text()),
      dryRun: maybe(flag()),
    }),
    result: open({ action: filled(), channel: maybe(text()) }),
    effect: true,
    module: "channels",
    summary: "Sends, reacts, edits, deletes, pins, reads and runs other actions of a channel; `dryRun` only reports what would happen.",
  }),
  "message.resend": method({
    access: "operator.write",
    params: effect({ id: filled({ maxLength: 40 }) }),
    result: open({ runId: filled(), messageId: filled(), channel: text() }),
    effect: true,
    module: "channels",
    summary: "Retries a failed delivery; `id` is its row, such as `out:17`.",
  }),
};
