/** Questions that onboarding of several channels asks. */
import type { HostConfig, WizardPrompter } from "../../../protocol/index.ts";
import { DEFAULT_ACCOUNT_ID, normalizeAccountId } from "../account-ids.ts";

export interface PromptAccountIdParams {
  cfg: HostConfig;
  prompter: WizardPrompter;
  label: string;
  currentId?: string | undefined;
  listAccountIds(cfg: HostConfig): string[];
  defaultAccountId: string;
}

const NEW_ACCOUNT = "__new__";

/** Which account is set up: one that exists, or a new one. */
export async function promptAccountId(params: PromptAccountIdParams): Promise<string> {
  const { prompter, label } = params;
  const known = params.listAccountIds(params.cfg).map((id) => ({ value: id, label: id === DEFAULT_ACCOUNT_ID ? `${id} (main)` : id }));
  const choice = await prompter.select({
    message: `${label} account`,
    options: [...known, { value: NEW_ACCOUNT, label: "Another account" }],
    initialValue: params.currentId?.trim() || params.defaultAccountId || DEFAULT_ACCOUNT_ID,
  });
  if (choice !== NEW_ACCOUNT) return normalizeAccountId(choice);
  const answer = await prompter.text({ message: `Id of the new ${label} account`, validate: (value) => (value.trim() ? undefined : "An account needs an id") });
  const entered = answer.trim();
  const id = normalizeAccountId(entered);
  if (id !== entered) await prompter.note(`The account id is "${id}".`, `${label} account`);
  return id;
}

export type ChannelAccessPolicy = "allowlist" | "open" | "disabled";

/** Who may write in the groups of a channel. `null`: left as it is. */
export async function promptChannelAccessConfig(params: {
  prompter: WizardPrompter;
  label: string;
  currentPolicy?: ChannelAccessPolicy | undefined;
  currentEntries?: string[] | undefined;
  placeholder?: string | undefined;
  allowOpen?: boolean | undefined;
  allowDisabled?: boolean | undefined;
  defaultPrompt?: boolean | undefined;
  updatePrompt?: boolean | undefined;
}): Promise<{ policy: ChannelAccessPolicy; entries: string[] } | null> {
  const { prompter, label, currentEntries = [] } = params;
  const wanted = await prompter.confirm({
    message: `${params.updatePrompt ? "Change" : "Set up"} access to ${label}?`,
    initialValue: params.defaultPrompt ?? currentEntries.length === 0,
  });
  if (!wanted) return null;
  const options: { value: ChannelAccessPolicy; label: string }[] = [{ value: "allowlist", label: "Only those on a list" }];
  if (params.allowOpen !== false) options.push({ value: "open", label: "All" });
  if (params.allowDisabled !== false) options.push({ value: "disabled", label: "None" });
  const policy = await prompter.select({ message: `Access to ${label}`, options, initialValue: params.currentPolicy ?? "allowlist" });
  if (policy !== "allowlist") return { policy, entries: [] };
  const answer = await prompter.text({
    message: `${label} on the list (separated by commas)`,
    placeholder: params.placeholder,
    initialValue: currentEntries.length > 0 ? currentEntries.join(", ") : undefined,
  });
  const entries = answer
    .split(/[,\n]/)
    .map((entry) => entry.trim())
    .filter(Boolean);
  return { policy, entries };
}
