/** An exclusive right with an expiry. Tokens increase over all leases and are never reused. */
export interface LeaseRow {
  readonly name: string;
  /** Null when it was released. */
  readonly owner: string | null;
  readonly token: number;
  readonly expiresAt: number;
}

export type LeaseAcquired =
  | { readonly acquired: true; readonly token: number; readonly expiresAt: number }
  | { readonly acquired: false; readonly owner: string; readonly expiresAt: number };

export interface LeasesWrites {
  /** Takes a lease that is free, expired, or already this owner's. Its earlier token becomes invalid. */
  "leases.acquire": { input: { readonly name: string; readonly owner: string; readonly ttlMs: number }; result: LeaseAcquired };
  /** `FENCED` when the token is not the current one. */
  "leases.renew": { input: { readonly name: string; readonly token: number; readonly ttlMs: number }; result: { readonly expiresAt: number } };
  /** Releases it; the token becomes invalid. False when it was already lost. */
  "leases.release": { input: { readonly name: string; readonly token: number }; result: { readonly released: boolean } };
}

export interface LeasesReads {
  "leases.get": { input: { readonly name: string }; result: LeaseRow | undefined };
  /** Held leases, by name. */
  "leases.list": { input: { readonly prefix?: string | undefined; readonly owner?: string | undefined }; result: readonly LeaseRow[] };
  /** Leases whose owner did not renew in time: another owner may take over their work. */
  "leases.expired": { input: { readonly now: number; readonly prefix?: string | undefined }; result: readonly LeaseRow[] };
}
