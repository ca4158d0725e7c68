import { AppError } from "../../../base/errors.ts";
import { isTruthy } from "../../../config/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle, type Style } from "../../output/style.ts";
import { formatFacts, formatTable } from "../../output/table.ts";
import { authOverview, type AuthOverview } from "./auth-overview.ts";
import type { ProbeReport } from "./probe.ts";
import { quotaLines, quotaOf } from "./quota.ts";
import { openModels, type ModelsView } from "./source.ts";

interface Status {
  readonly configPath: string;
  readonly agentId?: string;
  readonly agentDir: string;
  readonly defaultModel: string;
  readonly resolvedDefault: string;
  /** Why this one. */
  readonly reason: { readonly source: string; readonly text: string };
  readonly fallbacks: readonly string[];
  readonly imageModel: string | null;
  readonly imageFallbacks: readonly string[];
  readonly aliases: Readonly<Record<string, string>>;
  readonly allowed: readonly string[];
  readonly warnings: readonly string[];
  readonly auth: AuthOverview & { readonly probes?: ProbeReport };
}

/** The model in effect, or the words for why there is none. */
function effective({ choice, selection }: ModelsView): { readonly warnings: readonly string[]; readonly reason: Status["reason"]; readonly ref: string } {
  const { ref, source, text } = choice.standardChoice(selection);
  try {
    const { warnings, reason } = choice.selectModel(selection);
    return { warnings, reason, ref: choice.formatRef(ref) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { warnings: [error.message], reason: { source, text }, ref: choice.formatRef(ref) };
  }
}

/** What is in effect, and who may be let in. */
export async function statusOf(view: ModelsView, now: number): Promise<Status> {
  const { choice, config, selection } = view;
  const { ref, reason, warnings } = effective(view);
  const chosen = choice.agentChoice(config, selection.agentId);
  const image = choice.choiceOf(config.agents?.defaults?.imageModel);
  const aliases = choice.aliasesOf(config);
  const used = [ref, ...(chosen.fallbacks ?? []), ...(image.primary === undefined ? [] : [image.primary]), ...(image.fallbacks ?? [])];
  const providers = [...new Set(used.flatMap((text) => choice.readRef(text, aliases, choice.DEFAULT_REF.provider)?.ref.provider ?? []))];
  return {
    configPath: view.configPath,
    ...(view.agentId === undefined ? {} : { agentId: view.agentId }),
    agentDir: view.agentDir,
    defaultModel: chosen.primary ?? ref,
    resolvedDefault: ref,
    reason,
    fallbacks: chosen.fallbacks ?? [],
    imageModel: image.primary ?? null,
    imageFallbacks: image.fallbacks ?? [],
    aliases: Object.fromEntries([...aliases].map(([name, model]) => [name, choice.formatRef(model)])),
    allowed: Object.keys(config.agents?.defaults?.models ?? {}),
    warnings,
    auth: await authOverview(view, { providers, now, shellEnv: config.env?.shellEnv?.enabled === true || isTruthy(view.env["OPENCLAW_LOAD_SHELL_ENV"]) }),
  };
}

function show(io: Io, status: Status, style: Style): void {
  const { auth } = status;
  const list = (items: readonly string[]): string => (items.length === 0 ? "-" : items.join(", "));
  io.out(
    formatFacts(
      [
        ["Config", status.configPath],
        ["Agent folder", status.agentDir],
        ["Default", `${style.bold(status.resolvedDefault)} ${style.dim(`(${status.reason.text})`)}`],
        [`Fallbacks (${status.fallbacks.length})`, list(status.fallbacks)],
        ["Image model", status.imageModel ?? "-"],
        [`Image fallbacks (${status.imageFallbacks.length})`, list(status.imageFallbacks)],
        [`Aliases (${Object.keys(status.aliases).length})`, list(Object.entries(status.aliases).map(([name, ref]) => `${name} = ${ref}`))],
        [`Configured models (${status.allowed.length})`, status.allowed.length === 0 ? "all" : list(status.allowed)],
        ["Auth store", auth.storePath],
      ],
      style,
    ),
  );
  for (const warning of status.warnings) io.out(`${style.yellow("warning")} ${warning}\n`);
  const known = auth.providers.filter(({ effective: { kind } }) => kind !== "missing");
  if (known.length > 0) {
    io.out(
      `\n${formatTable(
        ["Provider", "Credential", "Detail"],
        known.map(({ provider, effective: { kind, detail } }) => [provider, kind, detail]),
        { style, columns: io.columns },
      )}`,
    );
  }
  if (auth.oauth.profiles.length > 0) {
    const paint = { ok: style.green, static: style.dim, expiring: style.yellow, expired: style.red };
    const rows = auth.oauth.profiles.map((profile) => [profile.profileId, profile.type, paint[profile.status](profile.status)]);
    io.out(`\n${formatTable(["Login", "Kind", "State"], rows, { style, columns: io.columns, whole: true })}`);
  }
  if (auth.missingProvidersInUse.length > 0) {
    io.out(`\n${style.red("Missing auth")}\n`);
    for (const provider of auth.missingProvidersInUse) io.out(io.runnable(`  ${provider}: openclaw models auth add, or set its variable\n`));
  }
  if (auth.probes) {
    const rows = auth.probes.results.map((probe) => [
      probe.provider,
      probe.profileId,
      probe.model ?? "-",
      probe.status === "ok" ? style.green("ok") : style.red(probe.trouble ?? probe.status),
      probe.error ?? `${probe.latencyMs} ms`,
    ]);
    io.out(`\n${formatTable(["Provider", "Credential", "Model", "Probe", "Detail"], rows, { style, columns: io.columns })}`);
  }
}

/** 1: something is missing or over; 2: something will be soon. */
function exitCode({ missingProvidersInUse, oauth }: AuthOverview): number {
  if (missingProvidersInUse.length > 0 || oauth.providers.some(({ status }) => status === "expired" || status === "missing")) return 1;
  return oauth.providers.some(({ status }) => status === "expiring") ? 2 : 0;
}

const words = (texts: readonly string[] | undefined): string[] => (texts ?? []).flatMap((text) => text.split(",")).flatMap((text) => text.trim() || []);

function amount(text: string | undefined, fallback: number, flag: string): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!Number.isInteger(value) || value <= 0) throw new AppError("INVALID_INPUT", `--${flag} takes a whole number above 0, got ${JSON.stringify(text)}`);
  return value;
}

export const status = defineCommand({
  options: {
    json: JSON_OPTION,
    plain: { type: "boolean", help: "Print only the default model" },
    "status-json": { type: "boolean", help: "Same as --json" },
    "status-plain": { type: "boolean", help: "Same as --plain" },
    check: { type: "boolean", help: "Exit code 1 if a credential is missing or expired, 2 if one expires within a day" },
    usage: { type: "boolean", help: "Show usage limits of every provider (default: only of logins)" },
    probe: { type: "boolean", help: "Send a short request to every provider in use; uses tokens" },
    "probe-provider": { type: "string", value: "name", help: "Probe only this provider" },
    "probe-profile": { type: "string", value: "id", multiple: true, help: "Probe only these profiles; repeatable or comma-separated" },
    "probe-timeout": { type: "string", value: "ms", help: "Time to wait for an answer, in ms (default 8000)" },
    "probe-concurrency": { type: "string", value: "n", help: "Number of parallel probes (default 2)" },
    "probe-max-tokens": { type: "string", value: "n", help: "Maximum tokens per answer (default 8)" },
    agent: { type: "string", value: "id", help: "Agent whose models and credentials to show" },
  },
  examples: [
    { line: "openclaw models status", does: "Model in use, why, and its credentials" },
    { line: "openclaw models status --json", does: "Same, as JSON" },
  ],
  async run({ io, values }) {
    const view = await openModels(io, { agent: values.agent, discover: "when-empty" });
    let result = await statusOf(view, io.now());
    if (values.plain || values["status-plain"]) io.out(`${result.resolvedDefault}\n`);
    else {
      if (values.probe) {
        const { probeProviders } = await import("./probe.ts");
        const probes = await probeProviders(io, view, {
          provider: values["probe-provider"],
          profileIds: words(values["probe-profile"]),
          timeoutMs: amount(values["probe-timeout"], 8000, "probe-timeout"),
          concurrency: amount(values["probe-concurrency"], 2, "probe-concurrency"),
          maxTokens: amount(values["probe-max-tokens"], 8, "probe-max-tokens"),
          inUse: result.auth.providers.filter(({ inUse }) => inUse).map(({ provider }) => provider),
        });
        result = { ...result, auth: { ...result.auth, probes } };
      }
      // With --check or --json, providers are queried only on request.
      const asked = values.usage === true || !(values.json || values["status-json"] || values.check);
      const quota = asked ? await quotaOf(io, view, { all: values.usage === true }) : undefined;
      if (values.json || values["status-json"]) printJson(io, quota === undefined ? result : { ...result, usage: quota });
      else {
        const style = createStyle(io.color);
        show(io, result, style);
        if (quota) io.out(quotaLines(quota, { style, columns: io.columns, now: io.now() }));
      }
    }
    return values.check ? exitCode(result.auth) : 0;
  },
});
