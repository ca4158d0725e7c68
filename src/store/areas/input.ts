/** For kinds that need to be told nothing: `{}`. */
export type NoInput = Readonly<Record<string, never>>;
