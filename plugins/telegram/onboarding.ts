/** Setting the channel up in conversation with a person. */
import {
  type ChannelOnboardingAdapter,
  DEFAULT_ACCOUNT_ID,
  listTelegramAccountIds,
  promptAccountId,
  resolveDefaultTelegramAccountId,
  telegramOnboardingAdapter,
} from "openclaw/plugin-sdk";
import { bareEntry } from "./access.ts";
import { readAccount } from "./account.ts";
import { config, setup, withAccountKeys } from "./setup.ts";

const HELP = [
  "1. Open a chat with @BotFather in Telegram.",
  "2. Send /newbot and follow it, or /mybots for a bot that exists.",
  "3. Copy the token, which looks like 123456789:AA…",
].join("\n");

const PEOPLE = [
  "Who may write to the bot: numeric ids of users, not their @names, which can change hands.",
  "You do not know yours? Leave it empty and write to the bot: it answers with your id and a code.",
].join("\n");

const idsIn = (text: string): string[] =>
  text
    .split(/[\s,;]+/)
    .map(bareEntry)
    .filter(Boolean);

/** Asks for people by their ids; those who are there stay. */
const promptAllowFrom: NonNullable<NonNullable<ChannelOnboardingAdapter["dmPolicy"]>["promptAllowFrom"]> = async ({ cfg, prompter, accountId }) => {
  const id = accountId ?? resolveDefaultTelegramAccountId(cfg);
  const there = (readAccount(cfg, id).config.allowFrom ?? []).map(String);
  await prompter.note(PEOPLE, "Telegram people");
  const text = await prompter.text({
    message: "Telegram user ids",
    placeholder: "123456789",
    validate: (value) => (idsIn(value).every((entry) => /^\d+$/.test(entry)) ? undefined : "numbers such as 123456789, separated by commas; or nothing"),
  });
  const allowFrom = [...new Set([...there, ...idsIn(text)])];
  return allowFrom.length === there.length ? cfg : withAccountKeys(cfg, id, { allowFrom });
};

export const onboarding: ChannelOnboardingAdapter = {
  ...telegramOnboardingAdapter,
  dmPolicy: { ...telegramOnboardingAdapter.dmPolicy!, promptAllowFrom },
  async getStatus({ cfg }) {
    const configured = config.listAccountIds(cfg).some((id) => readAccount(cfg, id).token !== "");
    const state = configured ? "configured" : "needs a bot token";
    return { channel: "telegram", configured, statusLines: [`Telegram: ${state}`], selectionHint: state, quickstartScore: configured ? 1 : 10 };
  },
  async configure({ cfg, prompter, accountOverrides, shouldPromptAccountIds }) {
    const preset = accountOverrides["telegram"]?.trim();
    const defaultAccountId = resolveDefaultTelegramAccountId(cfg);
    const asked = shouldPromptAccountIds && !preset;
    const accountId = asked
      ? await promptAccountId({ cfg, prompter, label: "Telegram", currentId: defaultAccountId, listAccountIds: listTelegramAccountIds, defaultAccountId })
      : (preset ?? DEFAULT_ACCOUNT_ID);
    const account = readAccount(cfg, accountId);
    const question = account.tokenSource === "env" ? "TELEGRAM_BOT_TOKEN is set. Use it?" : "There is a bot token already. Keep it?";
    if (account.token !== "" && (await prompter.confirm({ message: question, initialValue: true })))
      return { cfg: withAccountKeys(cfg, accountId, {}), accountId };
    await prompter.note(HELP, "Telegram bot token");
    const token = await prompter.text({
      message: "Bot token",
      sensitive: true,
      validate: (value) => setup.validateInput!({ cfg, accountId, input: { token: value } }) ?? undefined,
    });
    return { cfg: setup.applyAccountConfig({ cfg, accountId, input: { token: token.trim() } }), accountId };
  },
};
