/** Where on the page one is; all of it is in the address. */
export interface Spot {
  readonly q?: string | undefined;
  readonly note?: string | undefined;
  readonly line?: string | undefined;
  readonly edit?: string | undefined;
  readonly view?: string | undefined;
}

export function spotOf(query: URLSearchParams): Spot {
  const of = (name: string): string | undefined => query.get(name) || undefined;
  return { q: of("q"), note: of("note"), line: of("line"), edit: of("edit"), view: of("view") };
}
