/** One generation of a plugin: who registered something. */
export interface Owner {
  readonly pluginId: string;
  /** The plugin's entry file. */
  readonly source: string;
  /** 1 for the first load, one more for each reload. */
  readonly generation: number;
  /** Came with the gateway. */
  readonly bundled: boolean;
}

/** What was registered, and by whom. */
export interface Registration<T> {
  readonly owner: Owner;
  readonly value: T;
}
