import { AppError } from "../base/errors.ts";
import { TOOL_POLICY } from "./catalog/tools.ts";
import { createEngine, type HooksDeps } from "./create-hooks.ts";
import type { BeforeToolCallEvent, BeforeToolCallResult, ToolHookContext } from "./events/index.ts";
import { compileFilter } from "./filter.ts";
import type { HookOutcome, HookRunOptions } from "./hooks.ts";
import { Decision } from "./runner/decide.ts";
import { Entry } from "./runner/entry.ts";
import { EntryList } from "./runner/entry-list.ts";
import { fieldsOf } from "./runner/handler-input.ts";
import { Tally, type HookStat } from "./runner/stats.ts";
import { isRecord } from "./view/plain.ts";

/** `allow: false` blocks, `allow: true` decides nothing. */
export type ToolPolicyDecision = BeforeToolCallResult | { allow: boolean; reason?: string } | null | undefined;

/** A host-level gate for tool calls. */
export interface ToolPolicy {
  readonly id: string;
  readonly description?: string;
  /** Only these tools. */
  readonly matcher?: readonly string[];
  evaluate(event: BeforeToolCallEvent, ctx: ToolHookContext): ToolPolicyDecision | Promise<ToolPolicyDecision>;
}

/** Who registers a policy, and its permission to. */
export interface ToolPolicyRegistration {
  readonly pluginId: string;
  readonly source?: string;
  readonly bundled: boolean;
  /** The operator named the plugin. */
  readonly enabledExplicitly: boolean;
  /** `contracts.trustedToolPolicies` of its manifest. */
  readonly declared: readonly string[];
}

export interface ToolPolicies extends Disposable {
  /**
   * Throws `PERMISSION_DENIED` for an installed plugin without permission for the id, `CONFLICT` for an id that the plugin has already registered.
   */
  register(policy: ToolPolicy, registration: ToolPolicyRegistration): Disposable;
  /** Evaluates every policy, bundled ones first, then in the order of registration. Runs before `before_tool_call`; a failing policy blocks. */
  evaluate(
    event: BeforeToolCallEvent,
    ctx: ToolHookContext,
    options?: HookRunOptions,
  ): HookOutcome<"before_tool_call"> | undefined | Promise<HookOutcome<"before_tool_call"> | undefined>;
  stats(): HookStat[];
}

export function createToolPolicies(deps: HooksDeps): ToolPolicies {
  const engine = createEngine(deps);
  const list = new EntryList();
  const known = new Map<string, Entry>();

  return {
    register(policy, registration) {
      const { pluginId, source, bundled } = registration;
      checkPolicy(policy, registration);
      const key = `${pluginId}/${policy.id}`;
      const details = { pluginId, policy: policy.id };
      if (known.has(key)) throw new AppError("CONFLICT", `${pluginId} has already registered the tool policy ${policy.id}; the first one is used`, { details });
      const handler = async (event: unknown, ctx: unknown): Promise<unknown> =>
        translate(await policy.evaluate(event as BeforeToolCallEvent, ctx as ToolHookContext), key);
      const filter = compileFilter(policy.matcher ? { matcher: policy.matcher } : {});
      const facts = { hook: `tool_policy ${policy.id}`, spec: TOOL_POLICY, handler, pluginId, source, authorMs: undefined, filter, tally: new Tally() };
      const entry = new Entry({ ...facts, priority: bundled ? 1 : 0 });
      known.set(key, entry);
      list.add(entry);
      entry.tally.handlers = 1;
      return {
        [Symbol.dispose]() {
          if (list.remove(entry)) known.delete(key);
        },
      };
    },
    evaluate(event, ctx, options) {
      const entries = list.sorted();
      if (entries.length === 0) return undefined;
      const decision = new Decision(engine, TOOL_POLICY, entries, fieldsOf(event), fieldsOf(ctx), options);
      return decision.start() as ReturnType<ToolPolicies["evaluate"]>;
    },
    stats: () => [...known.values()].map((entry) => entry.tally.row(entry.pluginId, entry.hook)),
    [Symbol.dispose]() {
      if (!deps.deadlines) engine.deadlines[Symbol.dispose]();
    },
  };
}

function checkPolicy(policy: ToolPolicy, { pluginId, bundled, enabledExplicitly, declared }: ToolPolicyRegistration): void {
  if (typeof policy.id !== "string" || policy.id === "" || typeof policy.evaluate !== "function") {
    throw new AppError("INVALID_INPUT", `a tool policy of ${pluginId} is refused: expected { id, evaluate }`, { details: { pluginId } });
  }
  if (bundled) return;
  const details = { pluginId, policy: policy.id };
  if (!enabledExplicitly) {
    const advice = `set plugins.entries.${pluginId}.enabled to true if you trust it`;
    throw new AppError("PERMISSION_DENIED", `the tool policy ${policy.id} of ${pluginId} is refused: the plugin is not enabled by name; ${advice}`, {
      details,
    });
  }
  if (!declared.includes(policy.id)) {
    const advice = "add it to contracts.trustedToolPolicies in openclaw.plugin.json";
    throw new AppError("PERMISSION_DENIED", `the tool policy ${policy.id} of ${pluginId} is refused: its manifest does not declare it; ${advice}`, { details });
  }
}

function translate(decision: unknown, key: string): unknown {
  if (!isRecord(decision) || decision["allow"] === undefined) return decision;
  if (decision["allow"] === true) return undefined;
  // Anything but a clear yes blocks.
  return { block: true, blockReason: typeof decision["reason"] === "string" ? decision["reason"] : `the tool policy ${key} does not allow it` };
}
