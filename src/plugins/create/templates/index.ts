import { channel } from "./channel.ts";
import { command } from "./command.ts";
import { hook } from "./hook.ts";
import { tool } from "./tool.ts";

/** What a template is told about the plugin. */
export interface Facts {
  readonly id: string;
  readonly name: string;
  /** The id as a name that models may call. */
  readonly hookKey: string;
}

export interface TemplateFiles {
  readonly description: string;
  /** More fields of the manifest; `configSchema` among them. */
  readonly manifest: (facts: Facts) => Readonly<Record<string, unknown>>;
  readonly code: (facts: Facts) => string;
  readonly test: (facts: Facts) => string;
}

export const TEMPLATES = { tool, hook, command, channel } as const satisfies Readonly<Record<string, TemplateFiles>>;

export type Template = keyof typeof TEMPLATES;
