/** How this page stands with its gateway. */
export type LinkState =
  /** Nothing is known yet, or not any more: what the page showed before is not shown. */
  | { readonly kind: "starting" }
  /** The user has to sign in. */
  | { readonly kind: "login"; readonly message?: string }
  /** This browser has to be approved on the gateway's machine. */
  | { readonly kind: "pairing"; readonly deviceId: string }
  | { readonly kind: "open" }
  | { readonly kind: "lost"; readonly message: string; readonly retryAt: number | undefined };

export interface Credentials {
  readonly token?: string;
  readonly password?: string;
  readonly code?: string;
}

/** True when nothing of the gateway is on the page. */
export const isOut = ({ kind }: LinkState): boolean => kind === "login" || kind === "pairing";
