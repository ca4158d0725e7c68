/** A command that the user allowed permanently. */
export interface AllowedCommand {
  readonly id: string;
  readonly agentId: string;
  /** Path of the program. */
  readonly program: string;
  /** Which calls of the program are allowed; the tools define its format. */
  readonly rule: unknown;
  /** The command line that was approved. */
  readonly command: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

export interface CommandsWrites {
  /** The same rule for the same agent is stored once. */
  "commands.allow": {
    input: { readonly id: string; readonly agentId: string; readonly program: string; readonly rule: unknown; readonly command: string };
    result: void;
  };
  "commands.used": { input: { readonly ids: readonly string[] }; result: void };
  /** False when it did not exist. */
  "commands.remove": { input: { readonly id: string }; result: boolean };
}

export interface CommandsReads {
  /** Of one agent or of all, oldest first. */
  "commands.list": { input: { readonly agentId?: string | undefined }; result: readonly AllowedCommand[] };
}
