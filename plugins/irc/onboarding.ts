/** Setting the channel up in conversation with a person. */
import { type ChannelOnboardingAdapter, type ChannelPlugin, promptAccountId } from "openclaw/plugin-sdk";
import { applySetupAccountConfigPatch, setTopLevelChannelDmPolicyWithAllowFrom } from "openclaw/plugin-sdk/setup";
import { type AccountReader, type IrcAccount, readChannel } from "./account.ts";
import { allowEntry, isChosenName } from "./inbound/sender.ts";
import { NAMES_ADVICE } from "./access.ts";
import { readServer } from "./setup.ts";

const KEY = "irc";
const listOf = (text: string): string[] => text.split(/[\s,;]+/).filter(Boolean);

export function createOnboarding(reader: AccountReader, config: ChannelPlugin<IrcAccount>["config"]): ChannelOnboardingAdapter {
  const { readAccount, listAccountIds } = reader;
  return {
    channel: KEY,
    async getStatus({ cfg }) {
      const configured = listAccountIds(cfg).some((id) => readAccount(cfg, id).problems.length === 0);
      const state = configured ? "configured" : "needs a server and a nick";
      return { channel: KEY, configured, statusLines: [`IRC: ${state}`], selectionHint: state, quickstartScore: configured ? 1 : 0 };
    },
    async configure({ cfg, prompter, accountOverrides, shouldPromptAccountIds }) {
      const preset = accountOverrides[KEY]?.trim();
      const defaultAccountId = reader.defaultAccountId(cfg);
      const accountId =
        shouldPromptAccountIds && !preset
          ? await promptAccountId({ cfg, prompter, label: "IRC", currentId: defaultAccountId, listAccountIds, defaultAccountId })
          : (preset ?? defaultAccountId);
      const account = readAccount(cfg, accountId);
      const server = await prompter.text({
        message: "Server",
        initialValue: account.host || undefined,
        placeholder: "irc.libera.chat",
        validate: (value) => (readServer(value) ? undefined : "a name such as irc.libera.chat, with :port if it is not the usual one"),
      });
      const tls = await prompter.confirm({ message: "Encrypted (TLS)?", initialValue: account.tls });
      const nick = await prompter.text({
        message: "Nick",
        initialValue: account.nick || undefined,
        validate: (value) => (/^[^\s@!,#&:]+$/.test(value.trim()) ? undefined : "one word"),
      });
      const channels = await prompter.text({
        message: "Channels to join",
        placeholder: "#help, #random",
        initialValue: account.channels.map(({ name }) => name).join(", "),
        validate: (value) => (listOf(value).every((entry) => readChannel(entry)) ? undefined : "names with # in front, separated by commas"),
      });
      const patch = { ...readServer(server), tls, nick: nick.trim(), channels: listOf(channels) };
      return { cfg: applySetupAccountConfigPatch({ cfg, channelKey: KEY, accountId, patch }), accountId };
    },
    dmPolicy: {
      label: "IRC",
      channel: KEY,
      policyKey: "channels.irc.dmPolicy",
      allowFromKey: "channels.irc.allowFrom",
      getCurrent: (cfg) => (readAccount(cfg).dmPolicy as "pairing") ?? "pairing",
      setPolicy: (cfg, dmPolicy) => setTopLevelChannelDmPolicyWithAllowFrom({ cfg, channel: KEY, dmPolicy }),
      async promptAllowFrom({ cfg, prompter, accountId }) {
        const text = await prompter.text({
          message: "Who may write (account:<name>, nick@host)",
          validate: (value) => (listOf(value).some(isChosenName) ? `anybody can take a nick: ${NAMES_ADVICE}` : undefined),
        });
        const id = accountId ?? reader.defaultAccountId(cfg);
        const allowFrom = [...new Set([...readAccount(cfg, id).allowFrom, ...listOf(text).map(allowEntry)])];
        return applySetupAccountConfigPatch({ cfg, channelKey: KEY, accountId: id, patch: { allowFrom } });
      },
    },
    disable: (cfg) => config.setAccountEnabled!({ cfg, accountId: reader.defaultAccountId(cfg), enabled: false }),
  };
}
