import { filterExecEnvironment } from "../limits.ts";
import type { FieldSpec, HookSpec } from "../spec.ts";
import { fieldsOf, type Fields } from "./handler-input.ts";
import type { ReadResult } from "./results.ts";

/** Separator between texts of several handlers. */
const BLANK_LINE = "\n\n";

/** The merged results of the handlers so far. */
export class Merged {
  readonly spec: HookSpec;
  fields: Fields | undefined = undefined;
  decidedBy: string | undefined = undefined;
  /** Which plugin set a field that freezes others. */
  private readonly owners = new Map<string, string>();

  constructor(spec: HookSpec) {
    this.spec = spec;
  }

  /** Adds one result. Returns the event's keys that it rewrites; `ignored` gets the fields that another plugin has frozen. */
  add(result: ReadResult, pluginId: string, event: Fields, ignored: (field: string, owner: string) => void): Fields | undefined {
    if (this.spec.whole) {
      if (!this.fields || result.terminal) this.take(result.fields, pluginId);
      return undefined;
    }
    const fields = (this.fields ??= {});
    let rewritten: Fields | undefined;
    for (const name in result.fields) {
      const field = this.spec.fields[name];
      if (!field) continue;
      if (field.withTerminal && !result.terminal) continue;
      const owner = field.frozenBy && this.owners.get(field.frozenBy);
      if (owner !== undefined && owner !== pluginId) {
        ignored(name, owner);
        continue;
      }
      if (field.merge === "first" && fields[name] !== undefined) continue;
      fields[name] = combine(field, name, fields[name], result.fields[name], event, pluginId);
      this.owners.set(name, this.owners.get(name) ?? pluginId);
      if (field.merge === "first") this.decidedBy ??= pluginId;
      if (field.rewrites) (rewritten ??= {})[field.rewrites] = fields[name];
    }
    if (result.terminal) this.decidedBy = pluginId;
    return rewritten;
  }

  /** A block by the host, because a plugin failed. */
  block(reason: string, pluginId: string): void {
    this.take({ ...(this.spec.whole ? {} : this.fields), ...this.spec.blocked?.(reason) }, pluginId);
  }

  outcome(): unknown {
    if (!this.fields) return undefined;
    return this.decidedBy === undefined ? this.fields : { ...this.fields, decidedBy: this.decidedBy };
  }

  private take(fields: Fields, pluginId: string): void {
    this.fields = fields;
    this.decidedBy = pluginId;
  }
}

const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function combine(field: FieldSpec, name: string, before: unknown, next: unknown, event: Fields, pluginId: string): unknown {
  switch (field.merge) {
    case "join":
      return [before, next].filter((text) => text !== undefined && text !== "").join(BLANK_LINE);
    case "append":
      return [...itemsOf(before), ...itemsOf(next)];
    case "narrow":
      return before === undefined ? next : itemsOf(before).filter((item) => itemsOf(next).includes(item));
    case "assign":
      return { ...fieldsOf(before ?? event[field.rewrites ?? name]), ...fieldsOf(next) };
    case "any":
      return before === true || next === true;
    default:
      return field.type === "approval" ? { ...fieldsOf(next), pluginId } : next;
  }
}

/** The merged environment of several plugins; later ones win. */
export class MergedEnvironment {
  private env: Record<string, string> | undefined = undefined;
  private readonly dropped = new Set<string>();

  /** Returns the names that were dropped. */
  add(wanted: Fields): readonly string[] {
    const { env, dropped } = filterExecEnvironment(wanted);
    this.env = { ...this.env, ...env };
    for (const name of dropped) this.dropped.add(name);
    return dropped;
  }

  outcome(): unknown {
    return this.env && { env: this.env, dropped: [...this.dropped] };
  }
}
