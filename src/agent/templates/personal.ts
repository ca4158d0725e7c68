import { FIRST_FILES } from "../workspace/first-files.ts";
import type { AgentTemplate } from "./template.ts";

/** One person's assistant, without limits of its own. */
export const personal: AgentTemplate = {
  id: "personal",
  label: "Personal assistant",
  summary: "One person's assistant with all tools; it gets to know its user in the first conversation.",
  files: () => FIRST_FILES,
  identity: {},
  settings: () => ({}),
  notes: () => [],
};
