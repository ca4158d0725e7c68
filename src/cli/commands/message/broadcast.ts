import { AppError, messageOf } from "../../../base/errors.ts";
import { defineCommand } from "../../command.ts";
import { printJson } from "../../io.ts";
import { COMMON_OPTIONS, perform } from "./action.ts";

interface Result {
  readonly target: string;
  readonly channel?: string;
  readonly ok: boolean;
  readonly messageIds?: unknown;
  readonly error?: string;
}

/** One text to many. Each has an outcome of its own; one that fails does not stop the others. */
export const broadcast = defineCommand({
  options: {
    ...COMMON_OPTIONS,
    targets: { type: "string", multiple: true, value: "chat", help: "who gets it; give it as often as needed" },
    message: { type: "string", short: "m", value: "text", help: "the text" },
    media: { type: "string", value: "file", help: "address or path of a file" },
  },
  examples: [{ line: `openclaw message broadcast --channel telegram --targets 1 --targets 2 -m "hello" --dry-run`, does: "the same to two chats" }],
  async run({ io, values, positionals }) {
    const targets = [...(values.targets ?? []), ...positionals];
    const { message, media, account } = values;
    if (targets.length === 0) throw new AppError("INVALID_INPUT", "--targets is missing: say who gets it");
    if (message === undefined && media === undefined) throw new AppError("INVALID_INPUT", "--message or --media is missing");
    const channel = values.channel?.trim().toLowerCase();
    const results: Result[] = [];
    for (const to of targets) {
      const params = { to, ...(message === undefined ? {} : { message }), ...(media === undefined ? {} : { media }) };
      const asked = { action: "send", params, ...(channel === undefined ? {} : { channel }), ...(account === undefined ? {} : { accountId: account }) };
      const named = channel === undefined ? {} : { channel };
      try {
        const { messageIds } = await perform(io, asked, values);
        results.push({ target: to, ...named, ok: true, ...(messageIds === undefined ? {} : { messageIds }) });
      } catch (error) {
        results.push({ target: to, ...named, ok: false, error: messageOf(error) });
      }
    }
    const ok = results.every((result) => result.ok);
    if (values.json) printJson(io, { ok, results, ...(values["dry-run"] ? { dryRun: true } : {}) });
    else for (const { target, ok: done, error } of results) io.out(`${target}: ${done ? (values["dry-run"] ? "would get it" : "sent") : error}\n`);
    return ok ? 0 : 1;
  },
});
