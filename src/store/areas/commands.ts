/** A command that somebody allowed for good, as far as the tools could tell it apart from others. */
export interface RememberedCommand {
  readonly id: string;
  readonly agentId: string;
  /** Path of the program. */
  readonly program: string;
  /** Which calls of it are meant; the tools know how to read it. */
  readonly rule: unknown;
  /** As it was approved. */
  readonly command: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

export interface CommandsWrites {
  /** The same rule for the same agent is stored once. */
  "commands.remember": {
    input: { readonly id: string; readonly agentId: string; readonly program: string; readonly rule: unknown; readonly command: string };
    result: void;
  };
  "commands.used": { input: { readonly ids: readonly string[] }; result: void };
  /** False when there was none. */
  "commands.forget": { input: { readonly id: string }; result: boolean };
}

export interface CommandsReads {
  /** Of one agent or of all, the oldest first. */
  "commands.remembered": { input: { readonly agentId?: string | undefined }; result: readonly RememberedCommand[] };
}
