/** What the `message` tool can do on a channel, each behind its switch in `channels.<id>.actions`. */
import type { ChannelMessageActionAdapter, ChannelMessageActionContext, ChannelMessageActionName, HostConfig } from "../../../protocol/index.ts";
import { jsonResult, readReactionParams, readStringParam } from "../params.ts";
import type { AccountReader, ChannelAccount } from "./accounts.ts";
import { unfit } from "./failure.ts";
import { fieldsOf, flagOf } from "./fields.ts";

export interface ActionSpec<A extends ChannelAccount> {
  /** Its switch in `channels.<id>.actions`. */
  readonly gate: string;
  /** Where the configuration does not mention the switch. Default true. */
  readonly isOn?: boolean | undefined;
  run(account: A, ctx: ChannelMessageActionContext): Promise<Record<string, unknown>>;
}

export interface ActionsSpec<A extends ChannelAccount> {
  readonly channel: string;
  /** For people: "Mattermost". */
  readonly label: string;
  readonly accounts: AccountReader<A>;
  readonly actions: Partial<Readonly<Record<ChannelMessageActionName, ActionSpec<A>>>>;
  /** Whether messages of the account can have buttons. Without it the channel has none. */
  supportsButtons?(account: A): boolean;
}

/** The chat that is named, else the one that the agent is in. */
export function chatParam({ params, toolContext }: ChannelMessageActionContext, example: string): string {
  const named = ["to", "chatId", "channelId", "target"].map((key) => readStringParam(params, key)).find(Boolean) ?? toolContext?.currentChannelId;
  if (!named) throw unfit("message", `say which chat is meant: give to, such as ${example}`);
  return named;
}

export function messageParam({ params }: ChannelMessageActionContext): string {
  const id = ["messageId", "message_id", "postId"].map((key) => readStringParam(params, key)).find(Boolean);
  if (!id) throw unfit("message", "say which message is meant: give messageId, as in message_id of the conversation");
  return id;
}

/** The emoji of a reaction: empty takes all of ours away, with `remove` the one that is named. */
export function reactionParam({ params }: Pick<ChannelMessageActionContext, "params">): ReturnType<typeof readReactionParams> {
  return readReactionParams(params, { removeErrorMessage: "name the emoji to take away, or give an empty one to take away all of ours" });
}

/** The new text of an edited message. */
export function editedText({ params }: Pick<ChannelMessageActionContext, "params">): string {
  const text = readStringParam(params, "message") ?? readStringParam(params, "text") ?? "";
  if (text.trim() === "") throw unfit("edit", "an edited message needs a text: give message");
  return text;
}

export function createActions<A extends ChannelAccount>(spec: ActionsSpec<A>): ChannelMessageActionAdapter {
  const { channel, label, accounts, actions, supportsButtons } = spec;
  const names = Object.keys(actions) as ChannelMessageActionName[];
  const isOn = (account: A, { gate, isOn: otherwise = true }: ActionSpec<A>): boolean => flagOf(fieldsOf(account.config["actions"])?.[gate]) ?? otherwise;
  const usable = (cfg: HostConfig): A[] =>
    accounts
      .listAccountIds(cfg)
      .map((id) => accounts.read(cfg, id))
      .filter(({ enabled, problems }) => enabled && problems.length === 0);
  return {
    listActions({ cfg }) {
      const usedBy = usable(cfg);
      return names.filter((name) => usedBy.some((account) => isOn(account, actions[name]!)));
    },
    supportsAction: ({ action }) => actions[action] !== undefined,
    ...(supportsButtons
      ? {
          supportsButtons: ({ cfg, accountId }) =>
            (accountId ? [accounts.read(cfg, accountId)] : usable(cfg)).some((account) => supportsButtons.call(spec, account)),
        }
      : {}),
    async handleAction(ctx) {
      const { action, cfg, accountId, params } = ctx;
      const found = actions[action];
      if (!found) throw unfit("message", `${label} has no action "${action}"; there are ${["send", ...names].join(", ")}`);
      const account = accounts.read(cfg, accountId);
      if (!isOn(account, found)) throw unfit("message", `the action "${action}" is off; set channels.${channel}.actions.${found.gate} to true`);
      if (ctx.dryRun === true) return jsonResult({ ok: true, dryRun: true, action, to: params["to"] });
      return jsonResult({ ok: true, ...(await found.run(account, ctx)) });
    },
  };
}
