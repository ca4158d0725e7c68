/** What `channels add` and onboarding ask besides the service account. */
import type { ChannelSetupInput } from "openclaw/plugin-sdk";
import { type ChannelOnboardingSpec, type ChannelProbe, defined, type Fields, trimmedOf } from "openclaw/plugin-sdk/channel-kit";
import type { GoogleChatAccount } from "./account.ts";

type Prompter = Parameters<NonNullable<ChannelOnboardingSpec<GoogleChatAccount, ChannelProbe>["ask"]>>[0];

/** `--token` is the service account itself, `--token-file` its file. */
export function setupKeys(input: ChannelSetupInput): Fields {
  return defined({
    serviceAccountFile: input.useEnv === true ? undefined : trimmedOf(input.tokenFile),
    audienceType: trimmedOf(input.audienceType),
    audience: trimmedOf(input.audience),
    webhookPath: trimmedOf(input.webhookPath),
    webhookUrl: trimmedOf(input.webhookUrl),
  });
}

export async function askAudience(prompter: Prompter, account: GoogleChatAccount): Promise<Fields> {
  const audienceType = await prompter.select({
    message: "Authentication audience, as in the Chat app configuration",
    options: [
      { value: "app-url", label: "HTTP endpoint URL" },
      { value: "project-number", label: "Project number" },
    ],
    initialValue: account.audienceType ?? "app-url",
  });
  const isUrl = audienceType === "app-url";
  const audience = await prompter.text({
    message: isUrl ? "Public address of the webhook" : "Google Cloud project number",
    placeholder: isUrl ? "https://claw.example.com/googlechat" : "123456789012",
    initialValue: account.audience === "" ? undefined : account.audience,
    validate(value) {
      const text = value.trim();
      if (text === "") return "Required";
      if (isUrl) return /^https?:\/\/\S+$/i.test(text) ? undefined : "A URL that starts with https://";
      return /^\d+$/.test(text) ? undefined : "Digits only";
    },
  });
  return { audienceType, audience: audience.trim() };
}
