/** Types of the SDK that are members of others there, under names of their own. */
import type { ChannelGatewayContext } from "openclaw/plugin-sdk";

export type ChannelInbound = NonNullable<ChannelGatewayContext["inbound"]>;
export type ChannelInboundEvent = Parameters<ChannelInbound["accept"]>[0];
export type Log = NonNullable<ChannelGatewayContext["log"]>;
