/** Where agents begin. Loaded when one is made, or a workspace. */
import { AppError } from "../../base/errors.ts";
import { nearest } from "../../base/text.ts";
import { coder } from "./coder.ts";
import { family } from "./family.ts";
import { personal } from "./personal.ts";
import { readOnly } from "./read-only.ts";
import type { AgentTemplate } from "./template.ts";

export type { AgentTemplate, TemplateFacts } from "./template.ts";

/** In the order in which they are offered. */
export const TEMPLATES: readonly AgentTemplate[] = [personal, coder, family, readOnly];

/** The template of that name. */
export function templateNamed(written: string): AgentTemplate {
  const id = written.trim().toLowerCase();
  const found = TEMPLATES.find((template) => template.id === id);
  if (found) return found;
  const names = TEMPLATES.map((template) => template.id);
  const close = nearest(id, names);
  const hint = close === undefined ? `available: ${names.join(", ")}` : `did you mean ${close}?`;
  throw new AppError("INVALID_INPUT", `there is no template ${JSON.stringify(written.slice(0, 80))}; ${hint}`);
}
