/**
 * The model catalogue, wire formats, providers, auth profiles, failover, usage.
 * Entry point of the module. Importing it loads none of them.
 */
export type { CallEvent, CallRequest, CallResult } from "./call/call.ts";
export type { RawCall, RawLog } from "./call/driver.ts";
export type { ModelCost, ModelEntry, ModelSource, WireCompat } from "./entry.ts";
export { OFFLINE_MODEL } from "./offline/entry.ts";
export type { AuthProfiles, CredentialCooldown } from "./auth/profiles.ts";
export type { Attempt } from "./failover/attempts.ts";
export type { FailureClass, Trouble } from "./failover/classify.ts";
export type { ModelEvent } from "./wire/format.ts";
export type { BudgetCheck, BudgetReport, Budgets, BudgetState, Caller } from "./budgets/index.ts";
export type { Catalogue, CatalogueFilter, ModelName, PluginProvider } from "./catalogue/index.ts";
export type { ProviderQuota, Quota, QuotaOptions, QuotaReport, QuotaWindow } from "./quota/index.ts";
export type { Discovery, Found } from "./discovery/index.ts";
export type { DescribedChoice, ModelRef, Selection, SelectionInput } from "./selection/index.ts";

/** Catalogue, selection, providers, discovery: which models there are and how one is chosen. Loaded on first use. */
export const loadChoice = () => import("./choice.ts");

/** Credentials: profiles, their order, logins. Loaded on first use. */
export const loadProfiles = () => import("./auth/index.ts");

/** Short requests that show whether a model can be reached. Loaded on first use. */
export const loadProbe = () => import("./probe/probe.ts");

/** Free models at OpenRouter. Loaded on first use. */
export const loadScan = () => import("./scan/free-models.ts");

/** Limits on what models may cost. Loaded on first use. */
export const loadBudgets = () => import("./budgets/index.ts");

/** Used share of providers' allowances. Loaded on first use. */
export const loadQuota = () => import("./quota/index.ts");

/** The model that needs neither key nor network. Loaded on first use. */
export const loadOffline = () => import("./offline/index.ts");

export type { Models, ModelsDeps, ModelRequest } from "./create-models.ts";

/** Everything that chooses and calls models. Loaded with the first message. */
export const loadModels = () => import("./create-models.ts");

/** Loads all code that calls need, with the catalogue and the model that needs no key. */
export async function loadCallCode(): Promise<void> {
  const [{ loadWire, WIRE_APIS }, { loadTables }] = await Promise.all([import("./wire/index.ts"), import("./catalogue/frozen.ts")]);
  await Promise.all([loadModels(), loadChoice(), loadBudgets(), loadOffline(), loadTables(), ...WIRE_APIS.map(loadWire)]);
}
export { type AnsweringModel, answeringModel } from "./answering-model.ts";
export { type LazyModels, createLazyModels } from "./lazy-models.ts";
