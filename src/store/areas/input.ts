/** For kinds without parameters: `{}`. */
export type NoInput = Readonly<Record<string, never>>;
