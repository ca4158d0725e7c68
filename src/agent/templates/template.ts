import type { TemplateFacts, WorkspaceFiles } from "../workspace/bootstrap-names.ts";

export type { TemplateFacts } from "../workspace/bootstrap-names.ts";

/** Where an agent begins: the files of its workspace, and what it may do. */
export interface AgentTemplate {
  readonly id: string;
  readonly label: string;
  /** One sentence for lists. */
  readonly summary: string;
  files(facts: TemplateFacts): WorkspaceFiles;
  readonly identity: { readonly emoji?: string; readonly theme?: string };
  /** Keys of its entry in `agents.list`. None of them widens what the rest of the configuration allows. */
  settings(facts: TemplateFacts): Readonly<Record<string, unknown>>;
  /** What the user should know or do next, for what this agent is bound to and where. */
  notes(facts: TemplateFacts): readonly string[];
}

/** Who the agent is, where the template knows it from the start. */
export const identityFile = ({ name, emoji, theme }: TemplateFacts): string => `# Identity

- **Name:** ${name}
- **Theme:** ${theme}
- **Emoji:** ${emoji}
- **Avatar:** (a file in this folder, a web address or data:)
`;
