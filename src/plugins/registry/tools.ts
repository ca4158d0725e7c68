import type { Binding } from "./binding.ts";
import type { AnyFunction, Fields } from "./arguments.ts";
import { checksFor, describe } from "./arguments.ts";
import type { RegisteredTool, ToolContext, ToolRegistration } from "./kinds.ts";
import type { Table } from "./table.ts";

const MEMBER = "api.registerTool";

/** Names a model may call. */
const NAME = /^[A-Za-z_][\w-]{0,63}$/;

/** `names` and `name` of the options, and of the tool itself, each once. */
function declaredNames(tool: unknown, options: Fields): readonly string[] {
  const checks = checksFor(MEMBER);
  const names = options["names"] === undefined ? [] : checks.texts("names", options["names"]);
  const name = names.length === 0 ? checks.maybeText("name", options["name"]) : undefined;
  const own = typeof tool === "function" ? [] : [checks.text("tool.name", checks.fields("tool", tool)["name"])];
  const all = [...new Set([...names, ...(name === undefined ? [] : [name]), ...own])];
  for (const found of all) if (!NAME.test(found)) checks.fail("the tool's name", "letters, digits, _ and -, at most 64", found);
  return all;
}

/** The plugin's tool with `execute` running as the plugin, keeping whatever else it has. */
function bindTool(tool: Fields, { scope }: Binding): RegisteredTool {
  const checks = checksFor(MEMBER);
  const name = checks.text("tool.name", tool["name"]);
  if (!NAME.test(name)) checks.fail("the tool's name", "letters, digits, _ and -, at most 64", name);
  const execute = checks.fn("tool.execute", tool["execute"]);
  const copy = Object.assign(Object.create(Object.getPrototypeOf(tool) as object | null) as object, tool, { name });
  return Object.assign(copy, { execute: scope.bindTool((...args) => Reflect.apply(execute, tool, args), `tool ${name}`) });
}

/**
 * Registers a tool or a factory of tools. A name that another plugin has is left to it; the others are registered. A factory is asked for each run;
 * what it returns is checked then.
 */
export function registerTool(binding: Binding, table: Table<ToolRegistration>, tool: unknown, given: unknown): void {
  const { ledger, tell } = binding;
  const checks = checksFor(MEMBER);
  if (typeof tool !== "function") checks.fn("tool.execute", checks.fields("tool", tool)["execute"]);
  const options = checks.options("options", given);
  const names = declaredNames(tool, options);
  const optional = options["optional"] === true;
  const make = typeof tool === "function" ? binding.scope.bind(tool as AnyFunction, "a tool factory") : () => tool;

  function create(context: ToolContext): readonly RegisteredTool[] {
    const made = make(context);
    if (made === null || made === undefined) return [];
    const found: RegisteredTool[] = [];
    for (const one of Array.isArray(made) ? (made as unknown[]) : [made]) {
      try {
        const bound = bindTool(checks.fields("what the factory returns", one), binding);
        const holder = table.reserved(bound.name) ?? table.get(bound.name)?.owner.pluginId;
        if (holder === undefined || holder === ledger.owner.pluginId) found.push(bound);
        else tell("error", "conflict", `tool already registered: ${bound.name} (from ${ledger.owner.pluginId}, used by ${holder})`);
      } catch {
        tell(
          "error",
          "bad-tool",
          `a tool factory (${names.join(", ") || "unnamed"}) returned ${describe(one)}, which is not a tool: name and execute are required`,
        );
      }
    }
    return found;
  }

  const value: ToolRegistration = { names, optional, create, isLive: () => ledger.state !== "retired" };
  if (names.length === 0)
    return ledger.enter({ kind: "tool", name: "(factory)", apply: () => table.add(`factory ${binding.nextNumber()}`, ledger.owner, value) });
  for (const name of names) ledger.enter({ kind: "tool", name, apply: () => table.add(name, ledger.owner, value) });
}

/** A tool, and whose it is. */
export type OwnedTool = RegisteredTool & Pick<ToolRegistration, "optional" | "isLive"> & { readonly pluginId: string };

/** All tools for one run. A factory that throws is left out with a diagnostic; the others are asked. */
export function createTools(table: Table<ToolRegistration>, context: ToolContext, onError: (pluginId: string, error: unknown) => void): readonly OwnedTool[] {
  const made = new Map<string, OwnedTool>();
  const asked = new Set<ToolRegistration>();
  for (const { owner, value } of table.list()) {
    if (asked.has(value)) continue;
    asked.add(value);
    try {
      for (const tool of value.create(context)) {
        if (!made.has(tool.name)) made.set(tool.name, Object.assign(tool, { pluginId: owner.pluginId, optional: value.optional, isLive: value.isLive }));
      }
    } catch (error) {
      onError(owner.pluginId, error);
    }
  }
  return [...made.values()];
}
