import type { PageContext } from "../../shell/context.ts";
import { t } from "../../words/words.ts";

/** The first approved sender is usually the operator of the gateway: asks whether to make them its owner. */
export async function offerOwner(
  { link, dialogs, toasts }: Pick<PageContext, "link" | "dialogs" | "toasts">,
  { channel, senderId }: { readonly channel: string; readonly senderId: string },
): Promise<void> {
  if (!link.may("operator.admin") || !link.has("channels.pairing.owner")) return;
  const body = t(
    "The owner can relax command restrictions, decide approvals and change the configuration from a chat. Once there is an owner, other senders can use commands only if they are listed in commands.allowFrom.",
  );
  const yes = await dialogs.confirm({ title: t`Make ${senderId} the owner?`, body, yes: t("Make owner"), no: t("Not now") });
  if (!yes) return;
  await link.request("channels.pairing.owner", { channel, senderId });
  toasts.say(t`${senderId} is the owner of this gateway.`);
}
