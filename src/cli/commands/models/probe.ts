import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import { createIds } from "../../../base/ids.ts";
import { systemRandom } from "../../../base/random.ts";
import { createRedactor } from "../../../base/redaction.ts";
import { clip } from "../../../base/text.ts";
import { loadProbe, loadProfiles, type ModelEntry } from "../../../models/index.ts";
import type { Io } from "../../io.ts";
import type { ModelsView } from "./source.ts";

export interface ProbeReport {
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly durationMs: number;
  readonly totalTargets: number;
  readonly options: { readonly timeoutMs: number; readonly concurrency: number; readonly maxTokens: number };
  readonly results: readonly {
    readonly provider: string;
    readonly model: string | null;
    readonly profileId: string;
    readonly source: string;
    readonly mode: string;
    readonly status: string;
    readonly latencyMs: number;
    readonly trouble?: string;
    readonly error?: string;
  }[];
}

export interface ProbeChoice {
  readonly provider: string | undefined;
  readonly profileIds: readonly string[];
  readonly timeoutMs: number;
  readonly concurrency: number;
  readonly maxTokens: number;
  readonly inUse: readonly string[];
}

/** Folders from which packages that were added beside the program are looked for. */
export const packageFolders = (io: Io): readonly string[] => [dirname(fileURLToPath(import.meta.url)), io.cwd];

/** The model a provider is probed with: the one in use, its own default, any. */
function probeTarget({ choice, catalogue, selection, config }: ModelsView, provider: string): ModelEntry | undefined {
  const aliases = choice.aliasesOf(config);
  const used = [
    choice.standardChoice(selection).ref,
    ...(choice.agentChoice(config, selection.agentId).fallbacks ?? []).flatMap((text) => choice.readRef(text, aliases, provider)?.ref ?? []),
  ];
  const ref = used.find((other) => other.provider === provider);
  const standard = choice.providerFacts(provider)?.defaultModel;
  return (
    (ref && catalogue.find(ref)) ??
    (standard === undefined ? undefined : catalogue.find({ provider, id: standard })) ??
    catalogue.list({ provider, absent: true })[0]
  );
}

/** Asks each provider in use, with each of its credentials. */
export async function probeProviders(io: Io, view: ModelsView, options: ProbeChoice): Promise<ProbeReport> {
  const { probeModel, inParallel } = await loadProbe();
  const { timeoutMs, concurrency, maxTokens } = options;
  const startedAt = io.now();
  const redactor = createRedactor();
  const { createRequestAccess } = await loadProfiles();
  const requestAccess = createRequestAccess({ clock: systemClock, ids: createIds(systemRandom), redactor, version: io.version, folder: view.credentialsDir });
  const wanted = options.provider === undefined ? options.inUse : [view.choice.canonicalProvider(options.provider)];
  const targets = wanted
    .flatMap((provider) => (view.credentials.get(provider) ?? []).map((candidate) => ({ provider, candidate })))
    .filter(({ candidate }) => options.profileIds.length === 0 || options.profileIds.includes(candidate.id));
  const results = await inParallel(targets, concurrency, async ({ provider, candidate }) => {
    const model = probeTarget(view, provider);
    const facts = { provider, model: model ? `${provider}/${model.id}` : null, profileId: candidate.id, source: candidate.source, mode: candidate.type };
    if (!model) return { ...facts, status: "no_model", latencyMs: 0, error: `no model of ${provider} is known` };
    try {
      const { apiKey, baseUrl } = await requestAccess(provider, await view.auth.credential(candidate), model.baseUrl);
      if (apiKey !== undefined) redactor.register(apiKey);
      const target = baseUrl === undefined ? model : { ...model, baseUrl };
      const longTail = { from: packageFolders(io), version: io.version };
      const { status, latencyMs, trouble, error } = await probeModel({
        model: target,
        apiKey,
        timeoutMs,
        maxTokens,
        clock: systemClock,
        signal: io.signal(),
        longTail,
      });
      return {
        ...facts,
        status,
        latencyMs,
        ...(trouble === undefined ? {} : { trouble }),
        ...(error === undefined ? {} : { error: clip(redactor.text(error), 300) }),
      };
    } catch (error) {
      return { ...facts, status: "auth", latencyMs: 0, error: clip(redactor.text(messageOf(error)), 300) };
    }
  });
  const finishedAt = io.now();
  return { startedAt, finishedAt, durationMs: finishedAt - startedAt, totalTargets: targets.length, options: { timeoutMs, concurrency, maxTokens }, results };
}
