import type { MethodResult } from "openclaw/client";
import type { Tone } from "../../parts/state.ts";
import { t } from "../../words/words.ts";

export type Audit = MethodResult<"security.audit">;
export type Finding = Audit["findings"][number];
export type Fix = Audit["fixes"][number];
export type Severity = Finding["severity"];

export const SEVERITIES: readonly { readonly severity: Severity; readonly title: string; readonly tone: Tone }[] = [
  { severity: "critical", title: t("Critical"), tone: "bad" },
  { severity: "warn", title: t("Warnings"), tone: "warn" },
  { severity: "info", title: t("Information"), tone: "" },
];

/** The result in a few words. */
export function summaryWords({ summary }: Pick<Audit, "summary">): string {
  const { critical, warn } = summary;
  if (critical > 0) return critical === 1 ? t("1 critical finding") : t`${critical} critical findings`;
  if (warn > 0) return warn === 1 ? t("1 warning") : t`${warn} warnings`;
  return t("No problems found");
}

/** What a fix does, in one sentence. */
export function fixWords({ kind, path, before, after }: Fix): string {
  return kind === "config" ? t`Set ${path} from ${before} to ${after}` : t`Remove other users’ access to ${path}: mode ${before} becomes ${after}`;
}

const TOPICS: Readonly<Record<string, string>> = {
  summary: t("attack surface"),
  files: t("files"),
  secrets: t("secrets"),
  gateway: t("gateway"),
  browser: t("browser"),
  hooks: t("hooks"),
  channels: t("channels"),
  owner: t("owner"),
  tools: t("tools"),
  allowlists: t("allowlists"),
  extensions: t("plugins and skills"),
  models: t("models"),
};

/** The group of checks that runs. */
export const topicWords = (name: string): string => TOPICS[name] ?? name;
