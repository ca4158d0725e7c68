/** Setting a channel up in conversation with a person: its credentials one by one, a check that they work, and who may write. */
import type { ChannelOnboardingAdapter, ChannelSetupStep, DmPolicy, HostConfig } from "../../../protocol/index.ts";
import { promptAccountId } from "../config/prompts.ts";
import { applySetupAccountConfigPatch, setTopLevelChannelDmPolicyWithAllowFrom } from "../config/setup-config.ts";
import type { ChannelAccount, CredentialSpec } from "./accounts.ts";
import type { Fields } from "./fields.ts";
import { type ChannelParts, type ChannelPartsSpec, type ChannelProbe, keysFor } from "./parts.ts";

type Prompter = Parameters<ChannelOnboardingAdapter["configure"]>[0]["prompter"];

export interface ChannelOnboardingSpec<A extends ChannelAccount, P extends ChannelProbe> extends ChannelPartsSpec<A, P> {
  /** Before the first question. */
  readonly intro?: readonly string[] | undefined;
  /** Asked before the credentials: what decides which of them and which steps at the platform are needed. `note` is shown below these steps. */
  askFirst?(prompter: Prompter, account: A): Promise<{ readonly keys: Fields; readonly note?: readonly string[] | undefined }>;
  /** What is asked besides credentials, as keys of the account. `entered`: what was entered before. */
  ask?(prompter: Prompter, account: A, entered: Fields): Promise<Fields>;
  /** How the account is called once the probe has found it, for the line that says it works. */
  who?(probe: P): string | undefined;
  /** What an id of a person looks like, for the question who may write. */
  readonly idExample?: string | undefined;
  /** What such ids are called. Default: "<label> ids". */
  readonly idsLabel?: string | undefined;
  /** How near the top of the list it stands while it is not set up. Default 0. */
  readonly quickstartScore?: number | undefined;
}

const CHECK_MS = 10_000;
const entriesIn = (text: string): string[] => text.split(/[\s,;]+/).filter(Boolean);

/** Those that an account with this configuration cannot run without. */
const needed = (credentials: readonly CredentialSpec[], config: Fields): readonly CredentialSpec[] =>
  credentials.filter(({ isOptional }) => (typeof isOptional === "function" ? !isOptional(config) : isOptional !== true));

/** The steps at the platform that these settings call for, and below them what the channel adds. */
async function showSteps(prompter: Prompter, steps: readonly ChannelSetupStep[], settings: Fields, label: string, below: readonly string[]): Promise<void> {
  const fitting = steps.filter(({ when }) => when === undefined || settings[when.path] === when.is);
  if (fitting.length > 0) await prompter.note(fitting.map(({ text }, index) => `${index + 1}. ${text}`).join("\n"), `Set up ${label}`);
  if (below.length > 0) await prompter.note(below.join("\n"), label);
}

async function askCredential(prompter: Prompter, credential: CredentialSpec, account: ChannelAccount, label: string): Promise<Fields> {
  const { key, env, steps, checkEntry = credential.check, placeholder, isPublic } = credential;
  const source = account.sources[key];
  const question = source === "env" ? `${env} is set. Use it?` : `A ${credential.label.toLowerCase()} is already set. Keep it?`;
  // What everybody may see is shown to be changed; a secret stays or is entered again.
  const isShown = isPublic === true && source !== "env" && account.credentials[key] !== "";
  if (source !== "none" && !isShown && (await prompter.confirm({ message: question, initialValue: true }))) return {};
  if (steps) await prompter.note(steps.map((step, index) => `${index + 1}. ${step}`).join("\n"), `${label}: ${credential.label.toLowerCase()}`);
  const mayBeEmpty = needed([credential], account.config).length === 0;
  const value = await prompter.text({
    message: credential.label,
    placeholder,
    initialValue: isShown ? account.credentials[key] : undefined,
    sensitive: isPublic !== true,
    validate: (typed) => (typed.trim() === "" ? (mayBeEmpty ? undefined : "Required") : checkEntry?.(typed.trim())),
  });
  return value.trim() === "" ? {} : keysFor(credential, value.trim());
}

export function createOnboarding<A extends ChannelAccount, P extends ChannelProbe>(
  spec: ChannelOnboardingSpec<A, P>,
  _parts?: Pick<ChannelParts<A, P>, "config">,
): ChannelOnboardingAdapter {
  const { channel, label, accounts, credentials, normalizeEntry, isName } = spec;
  const patched = (cfg: HostConfig, accountId: string, patch: Fields): HostConfig =>
    applySetupAccountConfigPatch({ cfg, channelKey: channel, accountId, patch });

  /** Asks the platform, and says what it answered. What does not work is kept: it can be mended later. */
  async function check(cfg: HostConfig, accountId: string, prompter: Prompter): Promise<void> {
    if (!spec.probe) return;
    const probe = await spec.probe(accounts.read(cfg, accountId), CHECK_MS);
    const who = probe.ok ? spec.who?.(probe) : undefined;
    const failure = `The check failed: ${probe.error ?? "no reason given"}.\nThe settings were saved anyway. Check again with: openclaw channels status --probe`;
    await prompter.note(probe.ok ? `It works${who === undefined ? "" : `: connected as ${who}`}.` : failure, label);
  }

  return {
    channel,
    async getStatus({ cfg }) {
      const configured = accounts.listAccountIds(cfg).some((id) => accounts.read(cfg, id).problems.length === 0);
      const state = configured
        ? "configured"
        : `needs ${needed(credentials, accounts.read(cfg).config)
            .map(({ label: name }) => name.toLowerCase())
            .join(" and ")}`;
      return { channel, configured, statusLines: [`${label}: ${state}`], selectionHint: state, quickstartScore: configured ? 1 : (spec.quickstartScore ?? 0) };
    },
    async configure({ cfg, prompter, accountOverrides, shouldPromptAccountIds, steps = [] }) {
      const preset = accountOverrides[channel]?.trim();
      const defaultAccountId = accounts.defaultAccountId(cfg);
      const accountId =
        shouldPromptAccountIds && !preset
          ? await promptAccountId({ cfg, prompter, label, currentId: defaultAccountId, listAccountIds: accounts.listAccountIds, defaultAccountId })
          : (preset ?? defaultAccountId);
      if (spec.intro) await prompter.note(spec.intro.join("\n"), label);
      const before = accounts.read(cfg, accountId);
      const first = await spec.askFirst?.(prompter, before);
      let keys: Fields = first?.keys ?? {};
      const account = { ...before, config: { ...before.config, ...keys } };
      await showSteps(prompter, steps, account.config, label, first?.note ?? []);
      for (const credential of credentials.filter(({ isAsked, isUsed }) => isAsked !== false && isUsed?.(account.config) !== false))
        keys = { ...keys, ...(await askCredential(prompter, credential, account, label)) };
      const next = patched(cfg, accountId, { ...keys, ...(await spec.ask?.(prompter, account, keys)) });
      await check(next, accountId, prompter);
      return { cfg: next, accountId };
    },
    dmPolicy: {
      label,
      channel,
      policyKey: `channels.${channel}.dmPolicy`,
      allowFromKey: `channels.${channel}.allowFrom`,
      getCurrent: (cfg) => accounts.read(cfg).dmPolicy as DmPolicy,
      setPolicy: (cfg, dmPolicy) => setTopLevelChannelDmPolicyWithAllowFrom({ cfg, channel, dmPolicy }),
      async promptAllowFrom({ cfg, prompter, accountId }) {
        const id = accountId ?? accounts.defaultAccountId(cfg);
        await prompter.note(
          `Who may write to the bot, by id.${spec.idExample === undefined ? "" : ` One looks like ${spec.idExample}.`}\nIf you do not know yours, leave this empty and write to the bot: it answers with your id and a code.`,
          label,
        );
        const text = await prompter.text({
          message: spec.idsLabel ?? `${label} ids`,
          placeholder: spec.idExample,
          validate: (value) =>
            isName && entriesIn(value).some((entry) => isName(normalizeEntry(entry))) ? (spec.nameAdvice ?? "Use ids, not names") : undefined,
        });
        const before = accounts.read(cfg, id).allowFrom;
        const allowFrom = [...new Set([...before, ...entriesIn(text).map(normalizeEntry)])];
        return allowFrom.length === before.length ? cfg : patched(cfg, id, { allowFrom });
      },
    },
  };
}
