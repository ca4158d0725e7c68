import { AppError } from "../../../base/errors.ts";
import type { OpenClawConfig } from "../../../config/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { describeEdit, editConfig } from "../../config-edit.ts";
import { loadFor } from "../../config-source.ts";
import { printJson } from "../../io.ts";
import { ACCOUNT_OPTION, accountOf, CHANNEL_OPTION, channelId, openChannels } from "./source.ts";

/** How it is done without the plugin's help. */
function byHand(channel: string, account: string, doDelete: boolean): string {
  const section = account === "default" ? `channels.${channel}` : `channels.${channel}.accounts.${account}`;
  return doDelete ? `openclaw config unset ${section}` : `openclaw config set ${section}.enabled false`;
}

export const remove = defineCommand({
  options: {
    channel: CHANNEL_OPTION,
    account: ACCOUNT_OPTION,
    delete: { type: "boolean", help: "take its settings out of the configuration, credentials included (default: only turn it off)" },
    json: JSON_OPTION,
  },
  examples: [],
  async run({ io, values }) {
    if (values.channel === undefined)
      throw new AppError("INVALID_INPUT", "expected --channel with the channel of the account; openclaw channels list shows them");
    const channel = channelId(values.channel);
    // Its plugin may be off because the account is.
    const evenUnconfigured = loadFor(io).snapshot.config.channels?.[channel] !== undefined;
    await using view = await openChannels(io, { channel, evenUnconfigured });
    const { id, config } = view.find(channel);
    const cfg = view.cfg();
    const accountId = accountOf(view.find(id), cfg, values.account);
    const doDelete = values.delete === true;
    const next = doDelete ? config.deleteAccount?.({ cfg, accountId }) : config.setAccountEnabled?.({ cfg, accountId, enabled: false });
    if (!next) {
      const what = doDelete ? "deleting" : "turning off";
      throw new AppError("UNAVAILABLE", `the plugin of ${id} has no way of ${what} an account; do it by hand: ${byHand(id, accountId, doDelete)}`);
    }
    const result = await editConfig(io, { kind: "update", config: next as OpenClawConfig, base: cfg as OpenClawConfig }, "cli channels remove");
    if (values.json) printJson(io, { ok: true, channel: id, accountId, deleted: doDelete, ...result });
    else io.out(io.runnable(describeEdit(`${doDelete ? "deleted" : "turned off"} ${id} account ${accountId}`, result)));
  },
});
