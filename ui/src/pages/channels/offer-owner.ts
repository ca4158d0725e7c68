import type { PageContext } from "../../shell/context.ts";

/** The first approved sender is usually the operator of the gateway: asks whether to make them its owner. */
export async function offerOwner(
  { link, dialogs, toasts }: Pick<PageContext, "link" | "dialogs" | "toasts">,
  { channel, senderId }: { readonly channel: string; readonly senderId: string },
): Promise<void> {
  if (!link.may("operator.admin") || !link.has("channels.pairing.owner")) return;
  const body =
    "The owner can loosen how commands run, decide about approvals and change the configuration from a chat. Once there is an owner, other senders can use commands only if commands.allowFrom names them.";
  const yes = await dialogs.confirm({ title: `Make ${senderId} the owner?`, body, yes: "Make owner", no: "Not now" });
  if (!yes) return;
  await link.request("channels.pairing.owner", { channel, senderId });
  toasts.say(`${senderId} is the owner of this gateway.`);
}
