/** What the page and a document on its canvas say to each other. Neither side trusts the other: everything is checked where it arrives. */

/** From the page to the document. */
export type ToFrame =
  | { readonly openclaw: "eval"; readonly id: string; readonly javaScript: string }
  | {
      readonly openclaw: "snapshot";
      readonly id: string;
      readonly format: "png" | "jpeg";
      readonly maxWidth: number;
      readonly quality: number;
      readonly delayMs: number;
    }
  | { readonly openclaw: "a2ui"; readonly reset: boolean; readonly messages: readonly unknown[] };

/** From the document to the page. */
export type FromFrame =
  | { readonly openclaw: "ready" }
  | { readonly openclaw: "result"; readonly id: string; readonly ok: boolean; readonly payload?: unknown; readonly error?: string }
  | { readonly openclaw: "action"; readonly action: UserAction };

export interface UserAction {
  readonly name: string;
  readonly surfaceId?: string;
  readonly sourceComponentId?: string;
  readonly context?: Readonly<Record<string, unknown>>;
}
