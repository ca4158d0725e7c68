import { AppError, messageOf } from "../../../base/errors.ts";
import { DEFAULT_CHANNEL } from "../../../config/index.ts";
import { defineCommand } from "../../command.ts";
import { runtimeOf } from "../../prompter.ts";
import { ACCOUNT_OPTION, CHANNEL_OPTION, openChannels } from "./source.ts";

export const login = defineCommand({
  options: {
    channel: { ...CHANNEL_OPTION, help: `of this channel (default ${DEFAULT_CHANNEL})` },
    account: ACCOUNT_OPTION,
    verbose: { type: "boolean", help: "say more while it runs" },
  },
  examples: [],
  async run({ io, values }) {
    const channel = values.channel ?? DEFAULT_CHANNEL;
    await using view = await openChannels(io, { channel, evenUnconfigured: true });
    const plugin = view.find(channel);
    const signIn = plugin.auth?.login;
    if (!signIn) {
      throw new AppError("INVALID_INPUT", `${plugin.id} has no login; give its credentials with: openclaw channels add --channel ${plugin.id} (see --help)`);
    }
    try {
      await signIn({
        cfg: view.cfg(),
        accountId: values.account ?? null,
        runtime: runtimeOf(io, "the login"),
        verbose: values.verbose ?? false,
        channelInput: values.channel ?? null,
      });
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw new AppError("PLUGIN_FAILED", `the login to ${plugin.id} failed: ${messageOf(error)}`, { cause: error });
    }
  },
});
