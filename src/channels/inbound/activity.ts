/** When an account last sent and got something. In memory: after a restart nothing is known. */
import type { Clock } from "../../base/clock.ts";

interface Place {
  readonly channel: string;
  readonly accountId?: string | null | undefined;
}

export interface ChannelActivity {
  record(event: Place & { readonly direction: "inbound" | "outbound"; readonly at?: number | undefined }): void;
  get(place: Place): { inboundAt: number | null; outboundAt: number | null };
}

export function createChannelActivity(clock: Pick<Clock, "now">): ChannelActivity {
  const seen = new Map<string, { inboundAt: number | null; outboundAt: number | null }>();
  const keyOf = ({ channel, accountId }: Place): string => `${channel}\0${accountId?.trim() || "default"}`;
  return {
    record(event) {
      const key = keyOf(event);
      const row = seen.get(key) ?? { inboundAt: null, outboundAt: null };
      seen.set(key, { ...row, [event.direction === "inbound" ? "inboundAt" : "outboundAt"]: event.at ?? clock.now() });
    },
    get: (place) => ({ ...(seen.get(keyOf(place)) ?? { inboundAt: null, outboundAt: null }) }),
  };
}
