/** Who is answered in groups, and what is said where that is everybody. */
import type { GroupPolicy, HostConfig } from "../../../protocol/index.ts";
import { channelSection } from "../account-ids.ts";
import { sdkState } from "../host-binding.ts";

export const GROUP_POLICY_BLOCKED_LABEL = Object.freeze({
  group: "group messages",
  guild: "guild messages",
  room: "room messages",
  channel: "channel messages",
  space: "space messages",
});

/** `channels.defaults.groupPolicy`. */
export function resolveDefaultGroupPolicy(cfg: HostConfig): GroupPolicy | undefined {
  return channelSection(cfg, "defaults")?.["groupPolicy"] as GroupPolicy | undefined;
}

interface PolicyParams {
  readonly providerConfigPresent: boolean;
  readonly groupPolicy?: GroupPolicy | null | undefined;
  readonly defaultGroupPolicy?: GroupPolicy | null | undefined;
}

interface ResolvedPolicy {
  groupPolicy: GroupPolicy;
  /** Nothing is configured: groups are closed rather than left to a default. */
  providerMissingFallbackApplied: boolean;
}

function policy(params: PolicyParams, fallback: GroupPolicy): ResolvedPolicy {
  const missing = !params.providerConfigPresent && params.groupPolicy == null && params.defaultGroupPolicy == null;
  return { groupPolicy: params.groupPolicy ?? params.defaultGroupPolicy ?? (missing ? "allowlist" : fallback), providerMissingFallbackApplied: missing };
}

/** For a channel whose groups are open unless something else is said. */
export const resolveOpenProviderRuntimeGroupPolicy = (params: PolicyParams): ResolvedPolicy => policy(params, "open");
/** For a channel whose groups need a list unless something else is said. */
export const resolveAllowlistProviderRuntimeGroupPolicy = (params: PolicyParams): ResolvedPolicy => policy(params, "allowlist");

/** Warns once per account while a host runs. True when it did. */
export function warnMissingProviderGroupPolicyFallbackOnce(params: {
  readonly providerMissingFallbackApplied: boolean;
  readonly providerKey: string;
  readonly accountId?: string | undefined;
  readonly blockedLabel?: string | undefined;
  log(line: string): void;
}): boolean {
  const { warned } = sdkState();
  const key = `group policy of ${params.providerKey}:${params.accountId ?? "*"}`;
  if (!params.providerMissingFallbackApplied || warned.has(key)) return false;
  warned.add(key);
  const { providerKey, blockedLabel = "group messages" } = params;
  params.log(`${providerKey}: channels.${providerKey} is not configured, so ${blockedLabel} need an allow list; set channels.${providerKey}.groupPolicy`);
  return true;
}

export const buildOpenGroupPolicyWarning = (params: { readonly surface: string; readonly openBehavior: string; readonly remediation: string }): string =>
  `- ${params.surface}: groupPolicy is "open" ${params.openBehavior}. ${params.remediation}.`;

export const buildOpenGroupPolicyRestrictSendersWarning = (params: {
  readonly surface: string;
  readonly openScope: string;
  readonly groupPolicyPath: string;
  readonly groupAllowFromPath: string;
  readonly mentionGated?: boolean | undefined;
}): string =>
  buildOpenGroupPolicyWarning({
    surface: params.surface,
    openBehavior: `and lets ${params.openScope} trigger the agent${params.mentionGated === false ? "" : " (by mentioning it)"}`,
    remediation: `Set ${params.groupPolicyPath}="allowlist" and list senders in ${params.groupAllowFromPath}`,
  });

interface Account<A> {
  readonly account: A;
  readonly cfg: HostConfig;
  readonly accountId?: string | null | undefined;
}

interface CollectorParams<A> {
  providerConfigPresent(cfg: HostConfig): boolean;
  resolveGroupPolicy(params: { account: A }): GroupPolicy | null | undefined;
  collect(params: Account<A> & { groupPolicy: GroupPolicy }): string[];
}

const collector =
  (resolve: (params: PolicyParams) => ResolvedPolicy) =>
  <A>(params: CollectorParams<A>) =>
  (given: Account<A>): string[] => {
    const { groupPolicy } = resolve({
      providerConfigPresent: params.providerConfigPresent(given.cfg),
      groupPolicy: params.resolveGroupPolicy(given),
      defaultGroupPolicy: resolveDefaultGroupPolicy(given.cfg),
    });
    return params.collect({ ...given, groupPolicy });
  };

export const createOpenProviderGroupPolicyWarningCollector = collector(resolveOpenProviderRuntimeGroupPolicy);
export const createAllowlistProviderGroupPolicyWarningCollector = collector(resolveAllowlistProviderRuntimeGroupPolicy);

type Collect<P> = (params: P) => (string | false | null | undefined)[] | string | false | null | undefined;

function fromRules<P>(...rules: readonly Collect<P>[]): (params: P) => string[] {
  return (params) => rules.flatMap((rule) => rule(params)).filter((line): line is string => typeof line === "string" && line !== "");
}

export interface SecurityFinding {
  checkId: string;
  severity: "info" | "warn" | "critical";
  title: string;
  detail: string;
}

function findings<P>(
  options: { collectWarnings: (params: P) => string[] | Promise<string[]> } & Omit<SecurityFinding, "detail">,
): (params: P) => Promise<SecurityFinding[]> {
  const { collectWarnings, checkId, severity, title } = options;
  return async (params) => (await collectWarnings(params)).map((line) => ({ checkId, severity, title, detail: line.replace(/^-\s*/, "") }));
}

/** Warnings by rules; `.findings` makes findings of a security check out of warnings. */
export const createConditionalWarningCollector = Object.assign(fromRules, { findings });
