import type { Static, TSchema } from "typebox";
import type { Access } from "./scopes.ts";

/** What is known about a method besides its shapes. */
export interface MethodFacts {
  readonly access: Access;
  /** It changes something: it takes an `idempotencyKey`, and its answer is remembered under it. */
  readonly effect: boolean;
  /** The module that answers it, named in the error while it is not available. */
  readonly module: string;
  /** One sentence for the generated documentation. */
  readonly summary: string;
  /** False: handled, but not named in `hello-ok`, as documented. */
  readonly advertised?: boolean;
}

/** One method of the gateway: everything that is known about it without its handler. */
export interface MethodSpec<P extends TSchema = TSchema, R extends TSchema = TSchema> extends MethodFacts {
  readonly params: P;
  readonly result: R;
}

/** Declares a method with its types inferred. */
export function method<const P extends TSchema, const R extends TSchema>(spec: MethodSpec<P, R>): MethodSpec<P, R> {
  return spec;
}

/** What crosses the wire is not changed by who reads or answers it. */
export type Frozen<T> = T extends readonly (infer Item)[] ? readonly Frozen<Item>[] : T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> } : T;

export type ParamsOf<S> = S extends MethodSpec<infer P> ? Frozen<Static<P>> : never;
export type ResultOf<S> = S extends MethodSpec<TSchema, infer R> ? Frozen<Static<R>> : never;
