import type { HookHandler, HookName, InternalHookHandler, ToolPolicy } from "../../hooks/index.ts";
import { checksFor } from "./arguments.ts";
import type { Binding } from "./binding.ts";
import type { RegistryPorts } from "./ports.ts";

/** Options of `api.on` that reach the hooks module; all others are dropped. */
const OPTIONS = ["priority", "timeoutMs", "filter", "matcher", "registrationId", "eligibleTriggers", "eligibleDispatchKinds", "requiresToolAuthority"];

/** Registers a handler of a typed hook. An unknown hook, or one the plugin may not have, is a diagnostic; the rest of the plugin goes on. */
export function registerTypedHook({ ledger, scope }: Binding, hooks: RegistryPorts["hooks"], name: unknown, handler: unknown, given: unknown): void {
  const checks = checksFor("api.on");
  const hook = checks.text("hook", name, 128);
  const fn = scope.bind(checks.fn("handler", handler), `hook ${hook}`) as HookHandler<HookName>;
  const options = checks.options("options", given);
  const { pluginId, source } = ledger.owner;
  const known = Object.fromEntries(OPTIONS.filter((key) => options[key] !== undefined).map((key) => [key, options[key]]));
  ledger.enter({ kind: "hook", name: hook, apply: () => hooks.on(hook as HookName, fn, { ...known, pluginId, source }) });
}

/** Registers an internal hook. Without a name it is ignored, with a diagnostic. */
export function registerInternalHook(binding: Binding, hooks: RegistryPorts["internalHooks"], events: unknown, handler: unknown, given: unknown): void {
  const { ledger, scope, tell } = binding;
  const checks = checksFor("api.registerHook");
  const keys = typeof events === "string" ? [checks.text("events", events)] : checks.texts("events", events);
  const fn = scope.bind(checks.fn("handler", handler), `internal hook ${keys.join(", ")}`) as InternalHookHandler;
  const options = checks.options("options", given);
  const hook = checks.options("options.entry.hook", checks.options("options.entry", options["entry"])["hook"]);
  const named = hook["name"] ?? options["name"];
  if (typeof named !== "string" || named.trim() === "") return tell("warn", "hook-unnamed", "hook registration missing name");
  const name = named.trim();
  const register = options["register"] !== false;
  ledger.enter({ kind: "internal hook", name, apply: () => hooks.register(keys, fn, { pluginId: ledger.owner.pluginId, name, register }) });
}

/** What a plugin was granted by its manifest and its operator. */
export interface PolicyGrants {
  /** `contracts.trustedToolPolicies` of the manifest. */
  readonly declared: readonly string[];
  /** The operator named the plugin. */
  readonly enabledExplicitly: boolean;
}

/** Registers a trusted tool policy. One that came with the gateway may; an installed plugin must be enabled by name and declare the id. */
export function registerToolPolicy({ ledger, scope }: Binding, policies: RegistryPorts["policies"], grants: PolicyGrants, given: unknown): void {
  const checks = checksFor("api.registerTrustedToolPolicy");
  const policy = checks.fields("policy", given);
  const id = checks.text("policy.id", policy["id"], 128);
  const description = checks.text("policy.description", policy["description"] ?? id);
  const evaluate = scope.bind(checks.fn("policy.evaluate", policy["evaluate"]), `tool policy ${id}`) as ToolPolicy["evaluate"];
  const matcher = policy["matcher"] === undefined ? undefined : checks.texts("policy.matcher", policy["matcher"]);
  const { pluginId, source, bundled } = ledger.owner;
  ledger.enter({
    kind: "tool policy",
    name: id,
    apply: () => policies.register({ id, description, evaluate, ...(matcher ? { matcher } : {}) }, { pluginId, source, bundled, ...grants }),
  });
}
