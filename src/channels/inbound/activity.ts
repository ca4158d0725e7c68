/** When an account last sent and received something. In memory only. */
import type { Clock } from "../../base/clock.ts";

interface AccountRef {
  readonly channel: string;
  readonly accountId?: string | null | undefined;
}

export interface ChannelActivity {
  record(event: AccountRef & { readonly direction: "inbound" | "outbound"; readonly at?: number | undefined }): void;
  get(place: AccountRef): { inboundAt: number | null; outboundAt: number | null };
  /** A send attempt failed for a reason that concerns the account. The next success clears it. */
  sendFailed(event: AccountRef & { readonly why: string }): void;
  trouble(place: AccountRef): { readonly why: string; readonly at: number } | undefined;
}

export function createChannelActivity(clock: Pick<Clock, "now">): ChannelActivity {
  const seen = new Map<string, { inboundAt: number | null; outboundAt: number | null }>();
  const troubles = new Map<string, { readonly why: string; readonly at: number }>();
  const keyOf = ({ channel, accountId }: AccountRef): string => `${channel}\0${accountId?.trim() || "default"}`;
  return {
    record(event) {
      const key = keyOf(event);
      if (event.direction === "outbound") troubles.delete(key);
      const row = seen.get(key) ?? { inboundAt: null, outboundAt: null };
      seen.set(key, { ...row, [event.direction === "inbound" ? "inboundAt" : "outboundAt"]: event.at ?? clock.now() });
    },
    sendFailed: (event) => void troubles.set(keyOf(event), { why: event.why, at: clock.now() }),
    trouble: (place) => troubles.get(keyOf(place)),
    get: (place) => ({ ...(seen.get(keyOf(place)) ?? { inboundAt: null, outboundAt: null }) }),
  };
}
